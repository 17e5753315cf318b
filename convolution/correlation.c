/* SPDX-License-Identifier: BSD-2-Clause */
#include "convolution/correlation.h"

#include <fftw3.h>
#include <math.h>
#include <string.h>

#include "base/time-search.h"

/* --- what a correlation costs ---------------------------------------------- */

/* Costs in ns, measured by tests/bench/bench-correlation on an AMD EPYC; only their ratios matter.
 * Pairs: a pair of slots, a slot of the cause, and a lag. Transforms: a number for each of
 * log2(block) levels, and a number of a product. */
static const double PAIR_COST = 0.9, SLOT_COST = 10, LAG_COST = 2;
static const double TRANSFORM_COST = 0.15, PRODUCT_COST = 0.7;

enum {
        LEAST_BLOCK = 4096,
        LONG_LAGS = 1 << 18, /* with more lags blocks are shorter, to save memory */
        PARTIAL_SUM = 64,    /* products added up before their sum is added to the total; small ones
                                would be lost in single precision */
        SAMPLE = 32,         /* slots of the cause sampled to estimate the pairs */
};

typedef float Vector __attribute__((vector_size(16)));
enum { VECTOR = sizeof(Vector) / sizeof(float) };

/* A cached transform of a block: all real parts, then all imaginary ones, so that products are
 * computed four at a time. */
typedef struct {
        const EdgeSignal *signal; /* NULL: the entry is empty */
        gint64 block;
        float *numbers; /* 2 * half floats */
} KeptBlock;

struct Correlator {
        Lags lags;
        CorrelateBy by;
        double *sums; /* the correlation, by lag */

        /* Block i of a cause is its `step` slots from i * step on, then zeros. Block i of an effect
         * is its `block` slots from i * step + lags.first on. Since step + lags.n - 1 = block, no
         * lag wraps around. */
        gsize block, step,
                half; /* half: complex numbers, block / 2 + 1 rounded up to whole vectors */
        fftwf_plan forward, backward;
        float *time;            /* the slots of a block */
        fftwf_complex *complex; /* its transform, in FFTW's layout */
        float *cause, *effect;  /* transforms that are not cached */
        float *sum, *partial;

        /* The cache: n_kept entries for blocks of causes, then n_kept for effects. Each block can
         * be in one entry only. */
        KeptBlock *kept;
        gsize n_kept;
};

/* --- making ---------------------------------------------------------------- */

/* FFTW's planner is shared by the whole process. */
G_LOCK_DEFINE_STATIC(planner);

/* Makes estimated plans. Measured ones take longer than most correlations, and results would differ
 * from run to run in the last bit. */
static void make_plans(Correlator *c)
{
        c->time = fftwf_alloc_real(c->block);
        c->complex = fftwf_alloc_complex(c->half);
        c->cause = fftwf_alloc_real(2 * c->half);
        c->effect = fftwf_alloc_real(2 * c->half);
        c->sum = fftwf_alloc_real(2 * c->half);
        c->partial = fftwf_alloc_real(2 * c->half);
        if (!c->time || !c->complex || !c->cause || !c->effect || !c->sum || !c->partial)
                g_error("out of memory for transforms of %" G_GSIZE_FORMAT " numbers", c->block);
        G_LOCK(planner);
        c->forward = fftwf_plan_dft_r2c_1d((int)c->block, c->time, c->complex, FFTW_ESTIMATE);
        c->backward = fftwf_plan_dft_c2r_1d((int)c->block, c->complex, c->time, FFTW_ESTIMATE);
        G_UNLOCK(planner);
        g_assert(c->forward && c->backward);
}

Correlator *correlator_new(const Lags *lags, CorrelateBy by, gsize cache)
{
        Correlator *c = g_new0(Correlator, 1);
        gsize least = (lags->n < LONG_LAGS ? 4 : 2) * lags->n;

        g_assert(lags->n >= 1);
        c->lags = *lags;
        c->by = by;
        c->sums = g_new(double, lags->n);
        c->block = LEAST_BLOCK;
        while (c->block < least)
                c->block *= 2;
        c->step = c->block - lags->n + 1;
        c->half = (c->block / 2 + 1 + VECTOR - 1) / VECTOR * VECTOR;
        c->n_kept = cache / 2 / (2 * c->half * sizeof(float));
        c->kept = g_new0(KeptBlock, 2 * c->n_kept);
        return c;
}

void correlator_free(Correlator *c)
{
        if (!c)
                return;
        for (gsize i = 0; i < 2 * c->n_kept; i++)
                fftwf_free(c->kept[i].numbers);
        if (c->forward) {
                G_LOCK(planner);
                fftwf_destroy_plan(c->forward);
                fftwf_destroy_plan(c->backward);
                G_UNLOCK(planner);
        }
        fftwf_free(c->time);
        fftwf_free(c->complex);
        fftwf_free(c->cause);
        fftwf_free(c->effect);
        fftwf_free(c->sum);
        fftwf_free(c->partial);
        g_free(c->kept);
        g_free(c->sums);
        g_free(c);
}

void correlator_forget(Correlator *c, const EdgeSignal *signal)
{
        for (gsize i = 0; i < 2 * c->n_kept; i++)
                if (c->kept[i].signal == signal)
                        c->kept[i].signal = NULL;
}

/* --- pairs ----------------------------------------------------------------- */

static void run_pairs(Correlator *c, const EdgeSignal *cause, const EdgeSignal *effect)
{
        const gint64 *slot = effect->slot;
        gsize from = 0;

        memset(c->sums, 0, c->lags.n * sizeof *c->sums);
        for (gsize i = 0; i < cause->n; i++) {
                gint64 first = cause->slot[i] + c->lags.first, end = first + (gint64)c->lags.n;
                double value = (double)cause->value[i];

                while (from < effect->n && slot[from] < first)
                        from++;
                for (gsize k = from; k < effect->n && slot[k] < end; k++)
                        c->sums[slot[k] - first] += value * (double)effect->value[k];
        }
}

/* --- fft ------------------------------------------------------------------- */

/* Transforms the slots of signal from index `from` on that lie before end; first is the first slot
 * of the block. */
static void transform_slots(Correlator *c, const EdgeSignal *signal, gsize from, gint64 first,
                            gint64 end, float *numbers)
{
        gsize half = c->half, n = c->block / 2 + 1;

        memset(c->time, 0, c->block * sizeof *c->time);
        for (gsize i = from; i < signal->n && signal->slot[i] < end; i++)
                c->time[signal->slot[i] - first] = signal->value[i];
        fftwf_execute(c->forward);
        for (gsize i = 0; i < n; i++) {
                numbers[i] = c->complex[i][0];
                numbers[half + i] = c->complex[i][1];
        }
        for (gsize i = n; i < half; i++)
                numbers[i] = numbers[half + i] = 0;
}

/* The cache entry for a block; NULL without a cache. */
static KeptBlock *cache_entry_of(Correlator *c, const EdgeSignal *signal, gboolean is_effect,
                                 gint64 block)
{
        guint64 hash = ((guint64)(gsize)signal >> 4) * G_GUINT64_CONSTANT(0x9e3779b97f4a7c15);

        if (c->n_kept == 0)
                return NULL;
        return &c->kept[(is_effect ? c->n_kept : 0) + ((hash >> 20) + (guint64)block) % c->n_kept];
}

/* The transform of a block, which begins at index `from` of the signal, from the cache if
 * possible. */
static const float *transform_of_block(Correlator *c, const EdgeSignal *signal, gboolean is_effect,
                                       gint64 block, gsize from)
{
        KeptBlock *kept = signal->uses > 1 ? cache_entry_of(c, signal, is_effect, block) : NULL;
        gint64 first = block * (gint64)c->step + (is_effect ? c->lags.first : 0);
        gint64 end = first + (gint64)(is_effect ? c->block : c->step);
        float *numbers = is_effect ? c->effect : c->cause;

        if (kept) {
                if (kept->signal == signal && kept->block == block)
                        return kept->numbers;
                if (!kept->numbers)
                        kept->numbers = fftwf_alloc_real(2 * c->half);
                kept->signal = signal;
                kept->block = block;
                numbers = kept->numbers;
        }
        transform_slots(c, signal, from, first, end, numbers);
        return numbers;
}

/* Adds the product of the effect's and the conjugate of the cause's transform. */
static void add_product(float *sum, const float *cause, const float *effect, gsize half)
{
        Vector *sr = (Vector *)sum, *si = (Vector *)(sum + half);
        const Vector *xr = (const Vector *)cause, *xi = (const Vector *)(cause + half);
        const Vector *yr = (const Vector *)effect, *yi = (const Vector *)(effect + half);

        for (gsize i = 0; i < half / VECTOR; i++) {
                sr[i] += xr[i] * yr[i] + xi[i] * yi[i];
                si[i] += xr[i] * yi[i] - xi[i] * yr[i];
        }
}

static void add_partial(Correlator *c)
{
        for (gsize i = 0; i < 2 * c->half; i++)
                c->sum[i] += c->partial[i];
        memset(c->partial, 0, 2 * c->half * sizeof *c->partial);
}

/* A walk through the blocks in which both signals have a slot. */
typedef struct {
        gsize cause, effect,
                next; /* indices of the block's first slots; of the cause's next block */
        gint64 block;
} BlockWalk;

static gboolean next_shared_block(const Correlator *c, BlockWalk *w, const EdgeSignal *cause,
                                  const EdgeSignal *effect)
{
        while (w->next < cause->n) {
                gint64 first, end;

                w->cause = w->next;
                w->block = cause->slot[w->cause] / (gint64)c->step;
                end = (w->block + 1) * (gint64)c->step;
                while (w->next < cause->n && cause->slot[w->next] < end)
                        w->next++;
                first = w->block * (gint64)c->step + c->lags.first;
                while (w->effect < effect->n && effect->slot[w->effect] < first)
                        w->effect++;
                if (w->effect < effect->n && effect->slot[w->effect] < first + (gint64)c->block)
                        return TRUE;
        }
        return FALSE;
}

static void run_fft(Correlator *c, const EdgeSignal *cause, const EdgeSignal *effect)
{
        BlockWalk w = { 0 };
        guint n_partial = 0;

        if (!c->forward)
                make_plans(c);
        memset(c->sum, 0, 2 * c->half * sizeof *c->sum);
        memset(c->partial, 0, 2 * c->half * sizeof *c->partial);
        while (next_shared_block(c, &w, cause, effect)) {
                const float *x = transform_of_block(c, cause, FALSE, w.block, w.cause);
                const float *y = transform_of_block(c, effect, TRUE, w.block, w.effect);

                add_product(c->partial, x, y, c->half);
                if (++n_partial % PARTIAL_SUM == 0)
                        add_partial(c);
        }
        add_partial(c);
        for (gsize i = 0; i < c->block / 2 + 1; i++) {
                c->complex[i][0] = c->sum[i];
                c->complex[i][1] = c->sum[c->half + i];
        }
        fftwf_execute(c->backward);
        for (gsize i = 0; i < c->lags.n; i++)
                c->sums[i] = (double)c->time[i] / (double)c->block;
}

/* --- whole ----------------------------------------------------------------- */

static void fill_whole(double *time, gsize size, const EdgeSignal *signal, gint64 first)
{
        memset(time, 0, size * sizeof *time);
        for (gsize i = 0; i < signal->n; i++)
                time[signal->slot[i] - first] = (double)signal->value[i];
}

static void run_whole(Correlator *c, const EdgeSignal *cause, const EdgeSignal *effect)
{
        gint64 first = MIN(cause->slot[0], effect->slot[0]);
        gint64 last = MAX(cause->slot[cause->n - 1], effect->slot[effect->n - 1]);
        gint64 reach = MAX(ABS(c->lags.first), ABS(c->lags.first + (gint64)c->lags.n));
        gsize size = 1, half;
        double *time;
        fftw_complex *x, *y;
        fftw_plan forward, backward;

        while (size < (guint64)(last - first + 1 + reach))
                size *= 2;
        half = size / 2 + 1;
        time = fftw_alloc_real(size);
        x = fftw_alloc_complex(half);
        y = fftw_alloc_complex(half);
        if (size > G_MAXINT || !time || !x || !y)
                g_error("out of memory for transforms of %" G_GSIZE_FORMAT " numbers", size);
        G_LOCK(planner);
        forward = fftw_plan_dft_r2c_1d((int)size, time, x, FFTW_ESTIMATE);
        backward = fftw_plan_dft_c2r_1d((int)size, x, time, FFTW_ESTIMATE);
        G_UNLOCK(planner);
        fill_whole(time, size, cause, first);
        fftw_execute(forward);
        fill_whole(time, size, effect, first);
        fftw_execute_dft_r2c(forward, time, y);
        for (gsize i = 0; i < half; i++) {
                double re = x[i][0] * y[i][0] + x[i][1] * y[i][1];

                x[i][1] = x[i][0] * y[i][1] - x[i][1] * y[i][0];
                x[i][0] = re;
        }
        fftw_execute(backward);
        for (gsize i = 0; i < c->lags.n; i++)
                c->sums[i] = time[(c->lags.first + (gint64)i) & (gint64)(size - 1)] / (double)size;
        G_LOCK(planner);
        fftw_destroy_plan(forward);
        fftw_destroy_plan(backward);
        G_UNLOCK(planner);
        fftw_free(time);
        fftw_free(x);
        fftw_free(y);
}

/* --- which ----------------------------------------------------------------- */

/* Estimates the pairs of slots within the lags, from a sample of the cause's slots. */
static double estimate_pairs(const Correlator *c, const EdgeSignal *cause, const EdgeSignal *effect)
{
        gsize n = MIN(cause->n, SAMPLE);
        double pairs = 0;

        for (gsize i = 0; i < n; i++) {
                gint64 first = cause->slot[i * (cause->n / n)] + c->lags.first;

                pairs += (double)(time_search(effect->slot, effect->n, first + (gint64)c->lags.n) -
                                  time_search(effect->slot, effect->n, first));
        }
        return pairs / (double)n * (double)cause->n;
}

CorrelateBy correlator_choose(const Correlator *c, const EdgeSignal *cause,
                              const EdgeSignal *effect)
{
        double block = (double)c->block, pairs, fft, blocks;
        double transform_cost = block * TRANSFORM_COST * log2(block);

        pairs = PAIR_COST * estimate_pairs(c, cause, effect) + SLOT_COST * (double)cause->n +
                LAG_COST * (double)c->lags.n;
        blocks = (double)((cause->slot[cause->n - 1] - cause->slot[0]) / (gint64)c->step + 1);
        fft = MIN(blocks, (double)cause->n) *
                      (transform_cost / cause->uses + transform_cost / effect->uses +
                       PRODUCT_COST * block) +
              transform_cost;
        return pairs <= fft ? CORRELATE_PAIRS : CORRELATE_FFT;
}

/* --- correlating ----------------------------------------------------------- */

static double sum_of_signal(const EdgeSignal *s)
{
        double sum = 0;

        for (gsize i = 0; i < s->n; i++)
                sum += (double)s->value[i];
        return sum;
}

/* The unit to which results are rounded. It is a power of two, well above the error of single
 * precision and well below 1e-5 of the greatest number. That number is at least 1, and at least the
 * mean. */
static double rounding_of(const EdgeSignal *cause, const EdgeSignal *effect)
{
        gint64 first = MIN(cause->slot[0], effect->slot[0]);
        gint64 last = MAX(cause->slot[cause->n - 1], effect->slot[effect->n - 1]);
        double mean = sum_of_signal(cause) * sum_of_signal(effect) / (double)(last - first + 1);

        return exp2(floor(log2(4e-6 * MAX(mean, 1))));
}

void correlator_run(Correlator *c, const EdgeSignal *cause, const EdgeSignal *effect, float *out)
{
        CorrelateBy by = c->by;
        double unit;

        if (cause->n == 0 || effect->n == 0) {
                memset(out, 0, c->lags.n * sizeof *out);
                return;
        }
        if (by == CORRELATE_AUTO)
                by = correlator_choose(c, cause, effect);
        if (by == CORRELATE_PAIRS)
                run_pairs(c, cause, effect);
        else if (by == CORRELATE_FFT)
                run_fft(c, cause, effect);
        else
                run_whole(c, cause, effect);
        unit = rounding_of(cause, effect);
        for (gsize i = 0; i < c->lags.n; i++)
                out[i] = (float)(rint(c->sums[i] / unit) * unit);
}
