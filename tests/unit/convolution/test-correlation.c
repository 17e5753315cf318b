/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Correlation: every way of computing it against the sum that defines it, on random
 * signals from a few messages to several a quantum, and which way is taken.
 */
#include "convolution/correlation.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "convolution/spike.h"

static guint64 state = 88172645463325252u;

static guint64 random_below(guint64 n)
{
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        return (state >> 11) % n;
}

static int compare_times(const void *va, const void *vb)
{
        gint64 a = *(const gint64 *)va, b = *(const gint64 *)vb;

        return (a > b) - (a < b);
}

static const Quanta quanta = { .origin = 0, .quantum = 10 };

/* n messages at random in slots 0 to n_slots - 1, and copies of a share of them delay
 * slots later, one or two more at times. */
static void make_signals(guint n, gint64 n_slots, gint64 delay, SignalValue value,
                         EdgeSignal **cause, EdgeSignal **effect)
{
        g_autofree gint64 *x = g_new(gint64, n), *y = g_new(gint64, n);

        for (guint i = 0; i < n; i++) {
                x[i] = (gint64)random_below((guint64)n_slots * 10);
                y[i] = i % 3 ? x[i] + (delay + (gint64)random_below(3)) * 10
                             : (gint64)random_below((guint64)n_slots * 10);
        }
        qsort(x, n, sizeof *x, compare_times);
        qsort(y, n, sizeof *y, compare_times);
        *cause = edge_signal_new(x, n, &quanta, value);
        *effect = edge_signal_new(y, n, &quanta, value);
}

/* The definition: over all pairs of slots. */
static void correlate_by_definition(const EdgeSignal *x, const EdgeSignal *y, const Lags *lags,
                                    double *c)
{
        memset(c, 0, lags->n * sizeof *c);
        for (gsize i = 0; i < x->n; i++)
                for (gsize k = 0; k < y->n; k++) {
                        gint64 lag = y->slot[k] - x->slot[i] - lags->first;

                        if (lag >= 0 && lag < (gint64)lags->n)
                                c[lag] += (double)x->value[i] * (double)y->value[k];
                }
}

static float *correlate(const EdgeSignal *x, const EdgeSignal *y, const Lags *lags, CorrelateBy by)
{
        g_autoptr(Correlator) c = correlator_new(lags, by, 0);
        float *out = g_new(float, lags->n);

        correlator_run(c, x, y, out);
        return out;
}

static void assert_near(const float *c, const double *expected, gsize n)
{
        double greatest = 0, worst = 0;

        for (gsize i = 0; i < n; i++) {
                greatest = MAX(greatest, expected[i]);
                worst = MAX(worst, fabs((double)c[i] - expected[i]));
        }
        g_assert_cmpfloat(worst, <=, 1e-5 * greatest);
}

static const CorrelateBy ways[] = { CORRELATE_AUTO, CORRELATE_PAIRS, CORRELATE_FFT,
                                    CORRELATE_WHOLE };

static void check_all_ways(guint n, gint64 n_slots, const Lags *lags, SignalValue value)
{
        g_autoptr(EdgeSignal) x = NULL;
        g_autoptr(EdgeSignal) y = NULL;
        g_autofree double *expected = g_new(double, lags->n);

        make_signals(n, n_slots, lags->first + (gint64)lags->n / 2, value, &x, &y);
        correlate_by_definition(x, y, lags, expected);
        for (guint i = 0; i < G_N_ELEMENTS(ways); i++) {
                g_autofree float *c = correlate(x, y, lags, ways[i]);

                assert_near(c, expected, lags->n);
        }
}

/* From one message in a thousand slots to ten a slot; of one value in turn, or with RAVEL_LONG of
 * each. */
static void test_densities(void)
{
        static const struct {
                guint n;
                gint64 n_slots;
        } cases[] = { { 2, 10 },       { 30, 30000 },  { 300, 300000 }, { 3000, 300000 },
                      { 3000, 30000 }, { 3000, 3000 }, { 30000, 3000 } };
        static const Lags lags[] = {
                { 0, 1 }, { 0, 200 }, { -150, 500 }, { 20, 1300 }, { 0, 5000 }
        };

        for (guint i = 0; i < G_N_ELEMENTS(cases); i++)
                for (guint k = 0; k < G_N_ELEMENTS(lags); k++)
                        for (SignalValue value = SIGNAL_ROOT; value <= SIGNAL_COUNT; value++)
                                if ((i + k + value) % 2 || g_getenv("RAVEL_LONG"))
                                        check_all_ways(cases[i].n, cases[i].n_slots, &lags[k],
                                                       value);
}

/* What single precision can lose: a great many blocks, all of them full. */
static void test_long(void)
{
        const Lags lags = { 0, 300 };
        g_autoptr(EdgeSignal) x = NULL;
        g_autoptr(EdgeSignal) y = NULL;
        g_autofree float *pairs = NULL, *fft = NULL;
        g_autofree double *exact = g_new(double, lags.n);

        make_signals(1500000, 2000000, 40, SIGNAL_ROOT, &x, &y);
        pairs = correlate(x, y, &lags, CORRELATE_PAIRS);
        fft = correlate(x, y, &lags, CORRELATE_FFT);
        for (gsize i = 0; i < lags.n; i++)
                exact[i] = (double)pairs[i];
        assert_near(fft, exact, lags.n);
}

/* Whole numbers come out the same to the last bit. */
static void test_whole_numbers(void)
{
        const Lags lags = { -100, 1000 };
        g_autoptr(EdgeSignal) x = NULL;
        g_autoptr(EdgeSignal) y = NULL;
        g_autofree float *pairs = NULL, *fft = NULL;

        make_signals(20000, 100000, 40, SIGNAL_COUNT, &x, &y);
        pairs = correlate(x, y, &lags, CORRELATE_PAIRS);
        fft = correlate(x, y, &lags, CORRELATE_FFT);
        g_assert_cmpmem(pairs, lags.n * sizeof *pairs, fft, lags.n * sizeof *fft);
}

static void test_same_spikes(void)
{
        const Lags lags = { 0, 2000 };

        for (guint n = 100; n <= 100000; n *= 10) {
                g_autoptr(EdgeSignal) x = NULL;
                g_autoptr(EdgeSignal) y = NULL;
                g_autofree float *pairs = NULL, *fft = NULL;
                g_autoptr(GArray) a = NULL;
                g_autoptr(GArray) b = NULL;
                Moments moments;

                make_signals(n, 100000, 700, SIGNAL_ROOT, &x, &y);
                pairs = correlate(x, y, &lags, CORRELATE_PAIRS);
                fft = correlate(x, y, &lags, CORRELATE_FFT);
                a = spikes_find(pairs, lags.n, 4, 3, &moments);
                b = spikes_find(fft, lags.n, 4, 3, &moments);
                g_assert_cmpuint(a->len, >=, 1);
                g_assert_cmpuint(a->len, ==, b->len);
                for (guint i = 0; i < a->len; i++)
                        g_assert_cmpuint(g_array_index(a, Spike, i).at, ==,
                                         g_array_index(b, Spike, i).at);
        }
}

/* Transforms that are kept give what new ones do, also where they do not all fit and
 * where a signal was freed and another lies in its place. */
static void test_cache(void)
{
        const Lags lags = { 0, 100 };
        static const gsize sizes[] = { 0, 200000, 1 << 20, 64 << 20 };

        for (guint s = 0; s < G_N_ELEMENTS(sizes); s++) {
                g_autoptr(Correlator) c = correlator_new(&lags, CORRELATE_FFT, sizes[s]);

                for (guint round = 0; round < 20; round++) {
                        g_autoptr(EdgeSignal) x = NULL;
                        g_autoptr(EdgeSignal) y = NULL;
                        g_autofree float *fresh = NULL;
                        float kept[100];

                        make_signals(2000, 60000, 30, SIGNAL_ROOT, &x, &y);
                        x->uses = y->uses = 3;
                        fresh = correlate(x, y, &lags, CORRELATE_FFT);
                        for (guint again = 0; again < 3; again++) {
                                correlator_run(c, x, y, kept);
                                g_assert_cmpmem(kept, sizeof kept, fresh, sizeof kept);
                        }
                        correlator_forget(c, x);
                        correlator_forget(c, y);
                }
        }
}

static void test_nothing(void)
{
        const Lags lags = { 0, 10 };
        const gint64 time = 5;
        g_autoptr(EdgeSignal) none = edge_signal_new(NULL, 0, &quanta, SIGNAL_ROOT);
        g_autoptr(EdgeSignal) one = edge_signal_new(&time, 1, &quanta, SIGNAL_ROOT);

        for (guint i = 0; i < G_N_ELEMENTS(ways); i++) {
                g_autofree float *a = correlate(none, one, &lags, ways[i]);
                g_autofree float *b = correlate(one, none, &lags, ways[i]);
                g_autofree float *c = correlate(one, one, &lags, ways[i]);

                for (gsize k = 0; k < lags.n; k++) {
                        g_assert_cmpfloat((double)a[k], ==, 0);
                        g_assert_cmpfloat((double)b[k], ==, 0);
                        g_assert_cmpfloat((double)c[k], ==, k == 0);
                }
        }
}

/* Few messages in a long time are taken as pairs, many a quantum by transforms. */
static void test_choice(void)
{
        const Lags lags = { 0, 2000 };
        static const struct {
                guint n;
                CorrelateBy by;
        } cases[] = { { 1000, CORRELATE_PAIRS }, { 1000000, CORRELATE_FFT } };
        g_autoptr(Correlator) c = correlator_new(&lags, CORRELATE_AUTO, 0);

        for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autoptr(EdgeSignal) x = NULL;
                g_autoptr(EdgeSignal) y = NULL;

                make_signals(cases[i].n, 1000000, 70, SIGNAL_ROOT, &x, &y);
                g_assert_cmpint(correlator_choose(c, x, y), ==, cases[i].by);
        }
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/correlation/densities", test_densities);
        g_test_add_func("/correlation/long", test_long);
        g_test_add_func("/correlation/whole-numbers", test_whole_numbers);
        g_test_add_func("/correlation/same-spikes", test_same_spikes);
        g_test_add_func("/correlation/cache", test_cache);
        g_test_add_func("/correlation/nothing", test_nothing);
        g_test_add_func("/correlation/choice", test_choice);
        return g_test_run();
}
