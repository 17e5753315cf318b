/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What is found of series that are made up: each change with its size, and of thousands without
 * a change in at most as many as chance may take for one.
 */
#include <glib.h>
#include <math.h>

#include "analysis/trend/trend-series.h"
#include "base/binomial.h"

/* Normal, of variance 1. */
static double normal(GRand *rand)
{
        double u = 1 - g_rand_double(rand), v = g_rand_double(rand);

        return sqrt(-2 * log(u)) * cos(2 * G_PI * v);
}

static void make(GRand *rand, SeriesValue *values, guint n, double deviation)
{
        for (guint i = 0; i < n; i++)
                values[i] = (SeriesValue){ .when = i,
                                           .value = 10 + deviation * normal(rand),
                                           .variance = deviation * deviation };
}

static GArray *find(const SeriesValue *values, guint n)
{
        GArray *changes = g_array_new(FALSE, FALSE, sizeof(SeriesChange));

        series_find(values, n, (SeriesPrior){ 0 }, 1e-4, changes);
        return changes;
}

static void expect(const GArray *changes, guint i, SeriesKind kind, guint at, double change)
{
        g_assert_cmpuint(i, <, changes->len);
        const SeriesChange *c = &g_array_index(changes, SeriesChange, i);

        g_assert_cmpint(c->kind, ==, kind);
        if (kind != SERIES_CREEP)
                g_assert_cmpuint(c->at, ==, at);
        g_assert_cmpfloat(fabs(c->change - change), <, 2 * c->error);
        g_assert_cmpfloat(c->error, <, fabs(change));
}

static void test_student(void)
{
        /* From tables. */
        const struct {
                double t, freedom, tails;
        } known[] = { { 12.706, 1, 0.05 }, { 2.228, 10, 0.05 },  { 4.587, 10, 0.001 },
                      { 2.660, 60, 0.01 }, { 1.960, 1e7, 0.05 }, { 0, 5, 1 } };

        for (guint i = 0; i < G_N_ELEMENTS(known); i++) {
                g_assert_cmpfloat(
                        fabs(student_tails(known[i].t, known[i].freedom) / known[i].tails - 1), <,
                        2e-3);
                if (known[i].t > 0)
                        g_assert_cmpfloat(
                                fabs(student_bound(known[i].tails, known[i].freedom) - known[i].t),
                                <, 2e-3);
        }
        /* With 2 degrees of freedom it is 1 - t / sqrt(2 + t^2). */
        g_assert_cmpfloat(fabs(student_tails(100, 2) * 10003 - 1), <, 1e-3);
}

static void test_changes(void)
{
        g_autoptr(GRand) rand = g_rand_new_with_seed(1);
        SeriesValue v[60];

        for (guint round = 0; round < 20; round++) {
                make(rand, v, 12, 0.004);
                for (guint i = 0; i < 12; i++)
                        v[i].value += 0.004 * i;
                g_autoptr(GArray) creep = find(v, 12);
                g_assert_cmpuint(creep->len, ==, 1);
                expect(creep, 0, SERIES_CREEP, 0, 0.004);

                make(rand, v, 12, 0.003);
                for (guint i = 6; i < 12; i++)
                        v[i].value -= 0.03;
                g_autoptr(GArray) step = find(v, 12);
                g_assert_cmpuint(step->len, ==, 1);
                expect(step, 0, SERIES_STEP, 6, -0.03);

                make(rand, v, 12, 0.003);
                v[4].value += 0.5;
                g_autoptr(GArray) odd = find(v, 12);
                g_assert_cmpuint(odd->len, ==, 1);
                expect(odd, 0, SERIES_ODD, 4, 0.5);

                /* An odd value hides no creep. */
                for (guint i = 0; i < 12; i++)
                        v[i].value += 0.004 * i;
                g_autoptr(GArray) both = find(v, 12);
                g_assert_cmpuint(both->len, ==, 2);
                expect(both, 0, SERIES_CREEP, 0, 0.004);
                expect(both, 1, SERIES_ODD, 4, 0.5);

                make(rand, v, 60, 0.003);
                for (guint i = 20; i < 40; i++)
                        v[i].value += 0.05;
                g_autoptr(GArray) two = find(v, 60);
                g_assert_cmpuint(two->len, ==, 2);
                expect(two, 0, SERIES_STEP, 20, 0.05);
                expect(two, 1, SERIES_STEP, 40, -0.05);
        }
}

/* Five days of hours, of which the days are 30 % slower than the nights: only the creep shows. */
static void test_hours(void)
{
        g_autoptr(GRand) rand = g_rand_new_with_seed(2);
        SeriesValue v[120];

        for (guint round = 0; round < 2; round++) {
                make(rand, v, 120, 0.005);
                for (guint i = 0; i < 120; i++) {
                        v[i].group = i % 24;
                        v[i].value += 0.3 * sin(i * G_PI / 12) + (round ? 0.0005 * i : 0);
                }
                g_autoptr(GArray) changes = find(v, 120);
                g_assert_cmpuint(changes->len, ==, round);
                if (round)
                        expect(changes, 0, SERIES_CREEP, 0, 0.0005);
        }
}

/* In how many of rounds series without a change one is found with p 0.01. */
static guint alarms(guint n, guint rounds, double (*noise)(GRand *), gboolean serial)
{
        g_autoptr(GRand) rand = g_rand_new_with_seed(n);
        g_autofree SeriesValue *v = g_new0(SeriesValue, n);
        guint found = 0;

        for (guint round = 0; round < rounds; round++) {
                double before = 0;

                for (guint i = 0; i < n; i++) {
                        before = noise(rand) + (serial ? 0.5 * before : 0);
                        v[i] = (SeriesValue){ .when = i, .value = before, .variance = 0.25 };
                }
                found += series_p(v, n, (SeriesPrior){ 0 }) <= 0.01;
        }
        return found;
}

/* One in a hundred is expected; where each value is half of the one before, more of few values: a
 * wave of twelve looks like a creep. */
static void test_alarms(void)
{
        const struct {
                guint n, rounds;
                gboolean serial;
                guint most;
        } known[] = { { 6, 2000, FALSE, 30 },  { 12, 2000, FALSE, 30 }, { 60, 400, FALSE, 10 },
                      { 12, 1000, TRUE, 100 }, { 60, 200, TRUE, 14 },   { 300, 60, TRUE, 4 } };

        const guint part = g_getenv("RAVEL_LONG") ? 1 : 2;

        for (guint i = 0; i < G_N_ELEMENTS(known); i++)
                g_assert_cmpuint(
                        alarms(known[i].n, known[i].rounds / part, normal, known[i].serial), <=,
                        known[i].most / part);
}

/* Thirty series whose stores vary as their calls do, or twice or up to ten times as much. Checked
 * are the errors that result, and how often one series is found to change although none does. */
static void test_prior(void)
{
        enum { SERIES = 30, N = 12 };
        const guint rounds = g_getenv("RAVEL_LONG") ? 60 : 20;
        const struct {
                double factor, spread;
                double least, most;
        } known[] = { { 1, 0, 20, 1e3 }, { 2, 0, 20, 1e3 }, { 1, 2.3, 0.5, 8 } };

        for (guint k = 0; k < G_N_ELEMENTS(known); k++) {
                g_autoptr(GRand) rand = g_rand_new_with_seed(100 + k);
                double freedom = 0, scatter = 0;
                guint found = 0;

                for (guint round = 0; round < rounds; round++) {
                        SeriesValue v[SERIES][N];
                        SeriesPrior scatters[SERIES];

                        for (guint i = 0; i < SERIES; i++) {
                                double factor = known[k].factor *
                                                exp(known[k].spread * g_rand_double(rand));

                                make(rand, v[i], N, 0.01 * factor);
                                for (guint j = 0; j < N; j++)
                                        v[i][j].variance = 1e-4;
                                scatters[i] = series_scatter(v[i], N);
                        }
                        SeriesPrior prior = series_prior(scatters, SERIES);
                        freedom += prior.freedom / rounds;
                        scatter += prior.scatter / rounds;
                        for (guint i = 0; i < SERIES; i++)
                                found += series_p(v[i], N, prior) <= 0.01 / SERIES;
                }
                g_test_message("factor %g: freedom %.1f, scatter %.2f, %u of %u", known[k].factor,
                               freedom, scatter, found, rounds);
                g_assert_cmpfloat(freedom, >, known[k].least);
                g_assert_cmpfloat(freedom, <, known[k].most);
                g_assert_cmpuint(found, <=, rounds / 20);
        }
        g_assert_cmpfloat(series_prior(NULL, 0).freedom, ==, 0);
}

static void test_degenerate(void)
{
        SeriesValue v[12] = { { .when = 0 } };
        g_autoptr(GArray) changes = NULL;

        g_assert_cmpfloat(series_p(v, 0, (SeriesPrior){ 0 }), ==, 1);
        g_assert_cmpfloat(series_p(v, 5, (SeriesPrior){ 0 }), ==, 1);
        /* All equal, at one time. */
        g_assert_cmpfloat(series_p(v, 12, (SeriesPrior){ 0 }), ==, 1);
        for (guint i = 0; i < 12; i++)
                v[i] = (SeriesValue){ .when = i, .value = 1, .variance = 0, .group = i };
        g_assert_cmpfloat(series_p(v, 12, (SeriesPrior){ 0 }), ==, 1);
        for (guint i = 0; i < 12; i++)
                v[i].group = 0;
        v[7].value = 1.00001;
        g_assert_cmpfloat(series_p(v, 12, (SeriesPrior){ 0 }), >, 0.5);
        changes = find(v, 12);
        g_assert_cmpuint(changes->len, ==, 0);
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/trend-series/student", test_student);
        g_test_add_func("/trend-series/changes", test_changes);
        g_test_add_func("/trend-series/hours", test_hours);
        g_test_add_func("/trend-series/alarms", test_alarms);
        g_test_add_func("/trend-series/prior", test_prior);
        g_test_add_func("/trend-series/degenerate", test_degenerate);
        return g_test_run();
}
