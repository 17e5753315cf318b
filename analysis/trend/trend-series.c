/* SPDX-License-Identifier: BSD-2-Clause */
#include "analysis/trend/trend-series.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/binomial.h"
#include "base/compare.h"

enum {
        N_KINDS = 3,        /* that a p is the least of */
        ODD_SHARE = 6,      /* one value in 6 may be odd, ... */
        MOST_ODD = 20,      /* ... but no more than 20 */
        DEEPEST = 4,        /* steps within levels within levels */
        MOST_BUMPED = 600,  /* values of which a level in between is looked for, in time n^2, ... */
        MOST_SEARCHED = 60, /* ... and in repeated searches */
};

/* No change below 0.01 % is one: stamps, and the delays of a simulator, are that exact and no more.
 */
#define LEAST_DEVIATION 1e-4

/* Of fewer values serial correlation counts only where chance gives one so great in a twentieth of
 * all series; of more it always does. */
#define SERIAL_BOUND 1.645
enum { SERIAL_KNOWN = 30 };

/* The p up to which odd values are no part of the scatter. The least scatter, as a part of what
 * calls explain. The fewest series that tell about others. Series depend on each other, so they
 * tell 4 times less. */
#define ODD_APART     1e-3
#define LEAST_SCATTER 1e-2
enum { FEWEST_ALIKE = 4, DEPENDENT = 4 };

/* An odd value is 3 times as far off as all others. */
#define ODD_FACTOR 3

/* The median of the square of a normal value. */
#define CHI_SQUARE_MEDIAN 0.4549

/* The values that are looked at, those left out apart, with their weights; groups are numbered
 * anew, without gaps. */
typedef struct {
        guint n, n_groups;
        double *when, *value, *weight; /* when and value as they differ from their group's mean */
        guint32 *group, *place;        /* place: index into the series */
        double group_weight[SERIES_GROUPS];
        SeriesPrior prior;
        double squares;  /* of value, weighted */
        double sampling; /* the share of the variance that the calls explain: at least so much is
                          * left */
} Sample;

/* One of three models: a level, a level that creeps, another level from at to end. */
typedef struct {
        SeriesKind kind; /* ODD: a level */
        guint at, end;   /* STEP: indices into the sample; end: the one after the last, or n */
        double change, error, p;
        double squares; /* that are left */
        double freedom;
        double norm; /* of the regressor */
} Model;

static void series_sample_clear(Sample *s)
{
        g_free(s->when);
        g_free(s->value);
        g_free(s->weight);
        g_free(s->group);
        g_free(s->place);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Sample, series_sample_clear)

static double least_variance(double variance)
{
        return MAX(variance, LEAST_DEVIATION * LEAST_DEVIATION);
}

/* The difference between stores beyond their calls: the median difference between a value and the
 * one before in its group. Steps, creeps and odd values hardly change it. */
static double variance_between(const Sample *s)
{
        g_autofree double *squares = g_new(double, s->n);
        gint64 before[SERIES_GROUPS];
        double explained = 0;
        guint n = 0;

        memset(before, -1, sizeof before);
        for (guint i = 0; i < s->n; i++) {
                gint64 k = before[s->group[i]];

                before[s->group[i]] = i;
                if (k < 0)
                        continue;
                squares[n++] = (s->value[i] - s->value[k]) * (s->value[i] - s->value[k]);
                explained += 1 / s->weight[i] + 1 / s->weight[k];
        }
        if (n == 0)
                return 0;
        qsort(squares, n, sizeof *squares, compare_doubles);
        return MAX(0, (squares[n / 2] / CHI_SQUARE_MEDIAN - explained / n) / 2);
}

static void center(const Sample *s, double *values)
{
        double sum[SERIES_GROUPS] = { 0 };

        for (guint i = 0; i < s->n; i++)
                sum[s->group[i]] += s->weight[i] * values[i];
        for (guint i = 0; i < s->n; i++)
                values[i] -= sum[s->group[i]] / s->group_weight[s->group[i]];
}

/* Of the values from..to that are not odd. */
static void series_sample_init(Sample *s, const SeriesValue *values, guint from, guint to,
                               SeriesPrior prior, const gboolean *odd)
{
        gint64 number[SERIES_GROUPS];

        memset(number, -1, sizeof number);
        *s = (Sample){ .prior = prior,
                       .when = g_new(double, to - from),
                       .value = g_new(double, to - from),
                       .weight = g_new(double, to - from),
                       .group = g_new(guint32, to - from),
                       .place = g_new(guint32, to - from) };
        for (guint i = from; i < to; i++) {
                const SeriesValue *v = &values[i];

                if (odd[i])
                        continue;
                g_assert(v->group < SERIES_GROUPS);
                if (number[v->group] < 0)
                        number[v->group] = s->n_groups++;
                s->group[s->n] = (guint32)number[v->group];
                s->when[s->n] = v->when;
                s->value[s->n] = v->value;
                s->weight[s->n] = 1 / least_variance(v->variance);
                s->place[s->n++] = i;
        }
        double between = variance_between(s);
        for (guint i = 0; i < s->n; i++) {
                double calls = 1 / s->weight[i];

                s->weight[i] = 1 / (calls + between);
                s->sampling += s->weight[i] * calls / s->n;
                s->group_weight[s->group[i]] += s->weight[i];
        }
        center(s, s->when);
        center(s, s->value);
        for (guint i = 0; i < s->n; i++)
                s->squares += s->weight[i] * s->value[i] * s->value[i];
}

/* --- models ---------------------------------------------------------------- */

/* What the model does not explain of each value; and its regressor, whose mean is 0 in each group.
 */
static void model_residuals(const Sample *s, const Model *m, double *residual, double *regressor)
{
        for (guint i = 0; i < s->n; i++)
                regressor[i] = m->kind == SERIES_CREEP  ? s->when[i]
                               : m->kind == SERIES_STEP ? i >= m->at && i < m->end
                                                        : 0;
        if (m->kind == SERIES_STEP)
                center(s, regressor);
        for (guint i = 0; i < s->n; i++)
                residual[i] = s->value[i] - m->change * regressor[i];
}

/* By how much more a mean of the residuals varies than if each was independent of the one before.
 */
static double serial_factor(const Sample *s, const double *residual)
{
        double product = 0, squares = 0, r;

        for (guint i = 0; i < s->n; i++) {
                double e = sqrt(s->weight[i]) * residual[i];

                squares += e * e;
                if (i > 0)
                        product += e * sqrt(s->weight[i - 1]) * residual[i - 1];
        }
        r = squares > 0 ? product / squares : 0;
        if (s->n >= SERIAL_KNOWN)
                r += (1 + 4 * r) / s->n; /* of residuals it is too small by that (Kendall) */
        else if (r < SERIAL_BOUND / sqrt(s->n))
                r = 0;
        r = CLAMP(r, 0, 0.99);
        return (1 + r) / (1 - r);
}

/* The error and p of the change, which product and norm of the regressor give. */
static void model_judge(const Sample *s, Model *m, double product)
{
        g_autofree double *residual = g_new(double, s->n), *regressor = g_new(double, s->n);
        double scale;

        m->p = 1;
        m->freedom = (double)s->n - s->n_groups - 1;
        m->change = m->norm > 0 ? product / m->norm : 0;
        m->squares = MAX(0, s->squares - product * m->change);
        if (m->norm <= 0 || m->freedom < 1)
                return;
        model_residuals(s, m, residual, regressor);
        scale = m->squares * serial_factor(s, residual);
        scale = (s->prior.freedom * s->prior.scatter * s->sampling + scale) /
                (s->prior.freedom + m->freedom);
        m->error = sqrt(MAX(scale, s->sampling) / m->norm);
        m->p = student_tails(fabs(m->change) / m->error, m->freedom + s->prior.freedom);
        m->error *= student_bound(0.05, m->freedom + s->prior.freedom);
}

static Model fit_level(const Sample *s)
{
        return (Model){ .kind = SERIES_ODD,
                        .p = 1,
                        .squares = s->squares,
                        .freedom = (double)s->n - s->n_groups };
}

static Model fit_creep(const Sample *s)
{
        Model m = { .kind = SERIES_CREEP };
        double product = 0;

        for (guint i = 0; i < s->n; i++) {
                m.norm += s->weight[i] * s->when[i] * s->when[i];
                product += s->weight[i] * s->when[i] * s->value[i];
        }
        model_judge(s, &m, product);
        return m;
}

/* The step that leaves least, or the one at only, if that is above 0. p is of the best of all
 * that there are. */
static Model fit_step(const Sample *s, guint only)
{
        Model m = { .kind = SERIES_STEP, .end = s->n };
        double after[SERIES_GROUPS] = { 0 }; /* the weight of each group from i on */
        double norm = 0, product = 0, best = -1, best_product = 0;
        guint n = 0;

        for (guint i = s->n; i-- > SERIES_SHORTEST;) {
                guint g = s->group[i];
                double whole = s->group_weight[g];

                norm -= after[g] * (1 - after[g] / whole);
                after[g] += s->weight[i];
                norm += after[g] * (1 - after[g] / whole);
                product += s->weight[i] * s->value[i];
                if (s->n - i < SERIES_SHORTEST || norm <= 1e-12 * whole)
                        continue;
                n++;
                if (only > 0 ? i == only : product * product / norm > best) {
                        best = product * product / norm;
                        best_product = product;
                        m.norm = norm;
                        m.at = i;
                }
        }
        if (m.at > 0)
                model_judge(s, &m, best_product);
        else
                m.p = 1;
        m.p = MIN(1, m.p * MAX(n, 1));
        return m;
}

/* The level in between that stands out most from the common level around it. These are two steps
 * that hide each other from a test of one (Olshen and others). As fit_step(). */
static Model fit_bump(const Sample *s, guint most)
{
        Model m = { .kind = SERIES_STEP };
        double best = -1, best_product = 0;
        guint n = 0;

        for (guint at = SERIES_SHORTEST; at + SERIES_SHORTEST < s->n && s->n <= most; at++) {
                double inside[SERIES_GROUPS] = { 0 }, norm = 0, product = 0;

                for (guint i = at; i + SERIES_SHORTEST < s->n; i++) {
                        guint g = s->group[i];
                        double whole = s->group_weight[g];

                        norm -= inside[g] * (1 - inside[g] / whole);
                        inside[g] += s->weight[i];
                        norm += inside[g] * (1 - inside[g] / whole);
                        product += s->weight[i] * s->value[i];
                        if (i + 1 - at < SERIES_SHORTEST || norm <= 1e-12 * whole)
                                continue;
                        n++;
                        if (product * product / norm <= best)
                                continue;
                        best = product * product / norm;
                        best_product = product;
                        m.norm = norm;
                        m.at = at;
                        m.end = i + 1;
                }
        }
        if (n > 0)
                model_judge(s, &m, best_product);
        else
                m.p = 1;
        m.p = MIN(1, m.p * MAX(n, 1));
        return m;
}

/* The likelier of both. most: values that there may be for a level in between. */
static Model fit_levels(const Sample *s, guint most)
{
        Model step = fit_step(s, 0), bump = fit_bump(s, most);
        Model *best = bump.p < step.p ? &bump : &step;

        best->p = MIN(1, 2 * best->p);
        return *best;
}

/* Schwarz's criterion: the less, the better. */
static double criterion(const Sample *s, const Model *m)
{
        guint parameters = m->kind == SERIES_ODD     ? 0
                           : m->kind == SERIES_CREEP ? 1
                           : m->end == s->n          ? 2
                                                     : 3;
        double least = s->sampling * 1e-6;

        return s->n * log(MAX(m->squares, least)) + parameters * log(s->n);
}

/* Of a creep, and of a step. */
static Model better(const Sample *s, const Model *a, const Model *b)
{
        return criterion(s, a) <= criterion(s, b) ? *a : *b;
}

/* --- odd values ------------------------------------------------------------ */

/* The value least like the others, by the model that fits best: its index, how far off it is, and
 * in deviations. */
static double find_odd(const Sample *s, SeriesChange *found)
{
        g_autofree double *residual = g_new(double, s->n), *regressor = g_new(double, s->n);
        Model level = fit_level(s), creep = fit_creep(s), step = fit_levels(s, MOST_SEARCHED);
        Model best = better(s, &level, &creep);
        double most = 0;

        best = better(s, &best, &step);
        double freedom = (double)s->n - s->n_groups - 1 - (best.kind != SERIES_ODD);
        model_residuals(s, &best, residual, regressor);
        found->p = 1;
        for (guint i = 0; i < s->n && freedom >= 2; i++) {
                double w = s->weight[i], rest;
                double own = w / s->group_weight[s->group[i]] +
                             (best.norm > 0 ? w * regressor[i] * regressor[i] / best.norm : 0);

                if (own > 1 - 1e-9)
                        continue;
                rest = MAX(0, best.squares - w * residual[i] * residual[i] / (1 - own));
                double deviation = sqrt(MAX(rest / freedom, s->sampling) / w / (1 - own));
                double off = residual[i] / (1 - own);
                if (fabs(off) / deviation <= most)
                        continue;
                most = fabs(off) / deviation;
                found->at = s->place[i];
                found->change = off;
                found->error = deviation * student_bound(0.05, freedom);
                found->p = MIN(1, N_KINDS * s->n * student_tails(most, freedom));
        }
        return most;
}

/* One after the other, and then all up to the last that counts: two odd values may hide each
 * other (Rosner). It must be three times as far off as the next: where a few calls are very slow,
 * values far off come one behind the other. Marks them in odd, appends them where changes is not
 * NULL, returns the least p. */
static double find_all_odd(const SeriesValue *values, guint from, guint to, double level,
                           gboolean *odd, GArray *changes)
{
        guint most = MIN((to - from) / ODD_SHARE, MOST_ODD), n = 0, counted = 0;
        SeriesChange found[MOST_ODD + 1];
        double least = 1, before = 0;

        for (; n <= most; n++) {
                g_auto(Sample) s = { 0 };
                SeriesChange *c = &found[n];

                *c = (SeriesChange){ .kind = SERIES_ODD, .from = from, .to = to };
                series_sample_init(&s, values, from, to, (SeriesPrior){ 0 }, odd);
                double off = find_odd(&s, c);
                if (n > 0 && before >= ODD_FACTOR * off) {
                        least = MIN(least, found[n - 1].p);
                        if (found[n - 1].p <= level)
                                counted = n;
                }
                if (c->p >= 1 || s.n <= SERIES_FEWEST - 1)
                        break;
                before = off;
                odd[c->at] = TRUE;
        }
        for (guint k = counted; k < MIN(n, most + 1); k++)
                odd[found[k].at] = FALSE;
        if (changes)
                g_array_append_vals(changes, found, counted);
        return least;
}

/* --- what series have in common --------------------------------------------- */

/* The derivative of the logarithm of the gamma function, and its derivative. */
static double digamma(double x)
{
        double sum = 0, y;

        for (; x < 10; x++)
                sum -= 1 / x;
        y = 1 / (x * x);
        return sum + log(x) - 0.5 / x - y * (1.0 / 12 - y * (1.0 / 120 - y / 252));
}

static double trigamma(double x)
{
        double sum = 0, y;

        for (; x < 10; x++)
                sum += 1 / (x * x);
        y = 1 / (x * x);
        return sum + 1 / x + y / 2 + y / x * (1.0 / 6 - y * (1.0 / 30 - y / 42));
}

/* The x of which that is the trigamma, which falls. */
static double trigamma_inverse(double value)
{
        double low = 1e-6, high = 1e6;

        for (int i = 0; i < 80; i++) {
                double middle = sqrt(low * high);
                *(trigamma(middle) > value ? &low : &high) = middle;
        }
        return low;
}

SeriesPrior series_scatter(const SeriesValue *values, guint n)
{
        g_autofree gboolean *odd = g_new0(gboolean, MAX(n, 1));
        g_autofree double *residual = g_new(double, MAX(n, 1)),
                          *regressor = g_new(double, MAX(n, 1));
        g_auto(Sample) s = { 0 };

        if (n < SERIES_FEWEST)
                return (SeriesPrior){ 0 };
        find_all_odd(values, 0, n, ODD_APART, odd, NULL);
        series_sample_init(&s, values, 0, n, (SeriesPrior){ 0 }, odd);
        Model level = fit_level(&s), creep = fit_creep(&s), step = fit_levels(&s, MOST_BUMPED);
        Model best = better(&s, &level, &creep);
        best = better(&s, &best, &step);
        if (best.freedom < 1)
                return (SeriesPrior){ 0 };
        model_residuals(&s, &best, residual, regressor);
        return (SeriesPrior){
                best.squares / best.freedom * serial_factor(&s, residual) / s.sampling, best.freedom
        };
}

SeriesPrior series_prior(const SeriesPrior *scatters, guint n)
{
        SeriesPrior prior = { 0 };
        double sum = 0, squares = 0, expected = 0, freedom = 0;
        guint known = 0;

        for (guint i = 0; i < n; i++) {
                double half = scatters[i].freedom / 2;

                if (!(half > 0))
                        continue;
                double e = log(MAX(scatters[i].scatter, LEAST_SCATTER)) - digamma(half) + log(half);

                known++;
                sum += e;
                squares += e * e;
                expected += trigamma(half);
                freedom += scatters[i].freedom;
        }
        if (known < FEWEST_ALIKE)
                return prior;
        double mean = sum / known;
        double variance = (squares - sum * mean) / (known - 1) - expected / known;
        double most = freedom / DEPENDENT;
        prior.freedom = variance > 0 ? MIN(2 * trigamma_inverse(variance), most) : most;
        prior.scatter = exp(
                mean + (variance > 0 ? digamma(prior.freedom / 2) - log(prior.freedom / 2) : 0));
        return prior;
}

/* --- changes --------------------------------------------------------------- */

double series_p(const SeriesValue *values, guint n, SeriesPrior prior)
{
        g_autofree gboolean *odd = g_new0(gboolean, MAX(n, 1));
        g_auto(Sample) s = { 0 };

        if (n < SERIES_FEWEST)
                return 1;
        series_sample_init(&s, values, 0, n, prior, odd);
        Model creep = fit_creep(&s), step = fit_levels(&s, MOST_BUMPED);
        double change = MIN(1, N_KINDS * MIN(creep.p, step.p));
        return MIN(change, find_all_odd(values, 0, n, 0, odd, NULL));
}

/* Whether the pairs of a group agree that values rise, or fall, as the creep says: Mann and
 * Kendall's test, of which no single value can change much (Hirsch and others: by season). */
static gboolean pairs_agree(const Sample *s, double change)
{
        guint count[SERIES_GROUPS] = { 0 };
        double variance = 0;
        gint64 sum = 0;

        for (guint i = 0; i < s->n; i++) {
                count[s->group[i]]++;
                for (guint k = 0; k < i; k++)
                        if (s->group[k] == s->group[i])
                                sum += COMPARE(s->value[i], s->value[k]);
        }
        for (guint g = 0; g < s->n_groups; g++)
                variance += count[g] * (count[g] - 1.0) * (2.0 * count[g] + 5) / 18;
        return (sum > 0) == (change > 0) && llabs(sum) >= 1 + 2 * sqrt(variance);
}

static void find_between(const SeriesValue *values, guint from, guint to, SeriesPrior prior,
                         double level, gboolean *odd, guint depth, GArray *changes)
{
        g_auto(Sample) s = { 0 };

        if (to - from < SERIES_FEWEST || depth > DEEPEST)
                return;
        find_all_odd(values, from, to, level, odd, changes);
        series_sample_init(&s, values, from, to, prior, odd);
        if (s.n < SERIES_FEWEST - 1)
                return;
        Model creep = fit_creep(&s), step = fit_levels(&s, MOST_BUMPED), best;
        gboolean creeps = N_KINDS * creep.p <= level && pairs_agree(&s, creep.change);
        gboolean steps = N_KINDS * step.p <= level;
        if (!creeps && !steps)
                return;
        best = !steps ? creep : !creeps ? step : better(&s, &creep, &step);
        SeriesChange c = { .kind = best.kind,
                           .from = from,
                           .to = to,
                           .at = best.kind == SERIES_STEP ? s.place[best.at] : from,
                           .change = best.change,
                           .error = best.error,
                           .p = MIN(1, N_KINDS * best.p) };
        g_array_append_val(changes, c);
        if (best.kind != SERIES_STEP)
                return;
        find_between(values, from, c.at, prior, level, odd, depth + 1, changes);
        if (best.end < s.n) {
                guint at = c.at;

                c.at = s.place[best.end];
                c.change = -c.change;
                g_array_append_val(changes, c);
                find_between(values, at, c.at, prior, level, odd, depth + 1, changes);
        }
        find_between(values, c.at, to, prior, level, odd, depth + 1, changes);
}

COMPARISON(compare_changes, SeriesChange, COMPARE(a->at, b->at) ?: COMPARE(a->kind, b->kind))

/* A step is from the level right before to the one right after it, where there are several. */
static void measure_steps(const SeriesValue *values, guint n, SeriesPrior prior,
                          const gboolean *odd, GArray *changes)
{
        guint from = 0;

        for (guint i = 0; i < changes->len; i++) {
                SeriesChange *c = &g_array_index(changes, SeriesChange, i);
                g_auto(Sample) s = { 0 };
                guint at = 0;

                if (c->kind != SERIES_STEP)
                        continue;
                c->from = from;
                c->to = n;
                for (guint k = i + 1; k < changes->len; k++)
                        if (g_array_index(changes, SeriesChange, k).kind == SERIES_STEP) {
                                c->to = g_array_index(changes, SeriesChange, k).at;
                                break;
                        }
                series_sample_init(&s, values, c->from, c->to, prior, odd);
                while (at < s.n && s.place[at] < c->at)
                        at++;
                Model m = fit_step(&s, at);
                if (m.norm > 0) {
                        c->change = m.change;
                        c->error = m.error;
                }
                from = c->at;
        }
}

void series_find(const SeriesValue *values, guint n, SeriesPrior prior, double level,
                 GArray *changes)
{
        g_autofree gboolean *odd = g_new0(gboolean, MAX(n, 1));
        g_autoptr(GArray) found = g_array_new(FALSE, FALSE, sizeof(SeriesChange));

        find_between(values, 0, n, prior, level, odd, 0, found);
        g_array_sort(found, compare_changes);
        measure_steps(values, n, prior, odd, found);
        g_array_append_vals(changes, found->data, found->len);
}
