/* SPDX-License-Identifier: BSD-2-Clause */
#include "analysis/trend/trend.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/trend/trend-stores.h"
#include "base/binomial.h"
#include "base/compare.h"
#include "base/each.h"
#include "base/error.h"
#include "base/printable.h"
#include "paths/pattern-text.h"

/* The probability of a wrong finding in one family of tests: half of all. */
#define FAMILY_CHANCE (TREND_CHANCE / 2)

enum {
        MOST_PATTERNS = 20,  /* by time, whose latency and share are compared */
        MOST_SERIES = 200,   /* of nodes, entries or operations */
        FEWEST_CALLS = 10,   /* in a store, of which a mean says something */
        FEWEST_REQUESTS = 5, /* in the mean of stores, for a rate or a share */
        FEWEST_OF_NEW = 10,  /* requests of a pattern that is new or gone */
        DAYS_OF_HOURS = 3,   /* days from which on hours are compared with their like */
};

/* A pattern is new where its share was at most that of what it is: not none, since some requests
 * are put together wrongly. */
#define NEARLY_NONE 0.1

/* What one request counts for where it cannot be measured how they come in bursts: as in diff. */
#define GUESSED_DEPENDENCE 4

/* Beyond this quotient of the mean parallelism parents are not found as well in one store as in
 * another. */
#define PARALLELISM_DIFFERS 1.5

const char *const trend_unit_names[] = { "store", "hour", "day", NULL };
const char *const trend_kind_names[N_TREND_KINDS] = { "own", "latency", "rate", "share" };
const char *const trend_change_names[3] = { "creep", "step", "odd" };

/* --- points ---------------------------------------------------------------- */

static const TrendPoint *trend_point_at(const Trend *t, guint i)
{
        return &g_array_index(t->points, TrendPoint, i);
}

static double point_when(const Trend *t, guint i)
{
        const TrendPoint *p = trend_point_at(t, i), *first = trend_point_at(t, 0);

        return t->timed ? (trend_middle(p->first, p->last) -
                           trend_middle(first->first, first->last)) /
                                  t->spacing
                        : i;
}

/* Hours are compared with their like where there are three days of several points each, and of most
 * hours more than one. */
static void group_hours(Trend *t)
{
        gboolean seen[SERIES_GROUPS] = { FALSE };
        guint n = t->points->len, groups = 0;
        const TrendPoint *first = trend_point_at(t, 0), *last = trend_point_at(t, n - 1);
        /* 24 stores of an hour each are a day, also where they are a little shorter. */
        double whole = trend_middle(last->first, last->last) -
                       trend_middle(first->first, first->last) + 1.5 * t->spacing;

        if (!t->timed || t->by == TREND_BY_DAY || whole < (double)DAYS_OF_HOURS * TREND_DAY ||
            t->spacing > (double)TREND_DAY / 4)
                return;
        for (guint i = 0; i < n; i++) {
                TrendPoint *p = &g_array_index(t->points, TrendPoint, i);
                gint64 middle = (gint64)trend_middle(p->first, p->last);

                p->hour = (guint32)((middle - trend_floor(middle, TREND_DAY)) / TREND_HOUR);
                groups += !seen[p->hour];
                seen[p->hour] = TRUE;
        }
        t->hours = n >= 2 * groups + SERIES_FEWEST;
        for (guint i = 0; i < n && !t->hours; i++)
                g_array_index(t->points, TrendPoint, i).hour = 0;
}

static void measure_points(Trend *t)
{
        guint n = t->points->len;
        const TrendPoint *first = trend_point_at(t, 0), *last = trend_point_at(t, n - 1);

        t->spacing = t->timed ? (trend_middle(last->first, last->last) -
                                 trend_middle(first->first, first->last)) /
                                        (n - 1)
                              : 0;
        t->timed = t->spacing > 0;
        group_hours(t);
}

/* --- series ---------------------------------------------------------------- */

static void series_free(gpointer data)
{
        TrendSeries *s = data;

        g_free(s->subject);
        g_free(s->label);
        g_free(s->values);
        g_array_free(s->changes, TRUE);
        g_free(s);
}

static TrendSeries *add_series(Trend *t, TrendKind kind, const char *subject, const char *label)
{
        TrendSeries *s = g_new0(TrendSeries, 1);

        s->kind = kind;
        s->subject = g_strdup(subject);
        s->label = g_strdup(label);
        s->values = g_new0(TrendValue, t->points->len);
        s->p = 1;
        s->changes = g_array_new(FALSE, FALSE, sizeof(SeriesChange));
        g_ptr_array_add(t->series, s);
        return s;
}

/* The logarithms of the values that there are, by point; variances by point. */
static GArray *values_of(const Trend *t, const TrendSeries *s, const double *variances,
                         const double *without)
{
        GArray *values = g_array_new(FALSE, FALSE, sizeof(SeriesValue));

        for (guint i = 0; i < t->points->len; i++) {
                double value = s->values[i].value - (without ? without[i] : 0);
                SeriesValue v = { .when = point_when(t, i),
                                  .variance = variances[i],
                                  .group = trend_point_at(t, i)->hour };

                if (s->values[i].count == 0 || !(value > 0))
                        continue;
                v.value = log(value);
                g_array_append_val(values, v);
        }
        return values;
}

/* A series whose values and variances are known, until all are compared. */
typedef struct {
        TrendSeries *series;
        double *variances; /* by point */
        const MergedPattern *pattern;
        GArray *values; /* of SeriesValue */
        SeriesPrior scatter, prior;
} Candidate;

static void candidate_clear(gpointer data)
{
        Candidate *c = data;

        g_free(c->variances);
        g_array_free(c->values, TRUE);
}

static const SeriesValue *first_value(const GArray *values)
{
        return (const SeriesValue *)(const void *)values->data;
}

static gboolean is_tested(const Candidate *c)
{
        return c->values->len >= SERIES_FEWEST;
}

static void add_candidate(const Trend *t, GArray *candidates, TrendSeries *s, double *variances,
                          const MergedPattern *pattern)
{
        Candidate c = { .series = s,
                        .variances = variances,
                        .pattern = pattern,
                        .values = values_of(t, s, variances, NULL) };
        double sum = 0, weight = 0;

        for (guint i = 0; i < t->points->len; i++) {
                double n = s->kind == TREND_RATE ? 1 : (double)s->values[i].count;

                sum += n * s->values[i].value;
                weight += n;
        }
        s->level = weight > 0 ? sum / weight : 0;
        c.scatter = series_scatter(first_value(c.values), c.values->len);
        g_array_append_val(candidates, c);
}

/* What times have in common, and what counts: the scatter between stores. */
static void test_candidates(GArray *candidates)
{
        g_autofree SeriesPrior *scatters = g_new(SeriesPrior, MAX(candidates->len, 1));

        for (int counts = 0; counts < 2; counts++) {
                guint n = 0;

                EACH (const Candidate, c, candidates)
                        if ((c->series->kind >= TREND_RATE) == counts)
                                scatters[n++] = c->scatter;
                SeriesPrior prior = series_prior(scatters, n);
                EACH (Candidate, c, candidates) {
                        if ((c->series->kind >= TREND_RATE) != counts)
                                continue;
                        c->prior = prior;
                        c->series->p = series_p(first_value(c->values), c->values->len, prior);
                }
        }
}

static void add_own_times(Trend *t, TrendStores *r, GArray *candidates)
{
        g_autoptr(GArray) nodes = own_times_nodes(r->own);

        for (guint k = 0; k < MIN(nodes->len, MOST_SERIES); k++) {
                NodeId node = g_array_index(nodes, NodeId, k);
                g_autofree OwnTime *times = own_times_of(r->own, node, t->points->len);
                double *variances = g_new0(double, t->points->len);
                TrendSeries *s = add_series(t, TREND_OWN, node_table_written(t->nodes, node), NULL);

                for (guint i = 0; i < t->points->len; i++) {
                        s->values[i] = (TrendValue){ .count = times[i].calls < FEWEST_CALLS
                                                                      ? 0
                                                                      : times[i].calls,
                                                     .value = times[i].adjusted,
                                                     .exact = times[i].mean };
                        variances[i] = times[i].variance;
                }
                add_candidate(t, candidates, s, variances, NULL);
        }
}

static void add_latency_series(Trend *t, const MergedPattern *p, GArray *candidates)
{
        TrendSeries *s = add_series(t, TREND_LATENCY, p->signature, p->label);
        double *variances = g_new0(double, t->points->len);
        double squares = 0, freedom = 0, sum = 0, count = 0;

        s->id = p->id;
        EACH (const MergedCell, c, p->cells) {
                double n = (double)c->count;

                if (c->count == 0)
                        continue;
                sum += c->sum;
                count += n;
                squares += MAX(0, c->square - c->sum * c->sum / n);
                freedom += n - 1;
                if (c->count < FEWEST_CALLS)
                        continue;
                s->values[c->point] = (TrendValue){ c->count, c->sum / n, c->sum / n, c->p99 };
        }
        for (guint i = 0; i < t->points->len; i++)
                if (s->values[i].count && sum > 0)
                        variances[i] = squares / MAX(freedom, 1) / (sum / count) / (sum / count) /
                                       (double)s->values[i].count;
        add_candidate(t, candidates, s, variances, p);
}

/* Whether those with none are the first or the last: then patterns are new or gone. */
static gboolean begins_or_ends(const guint64 *counts, guint n)
{
        return counts[0] == 0 || counts[n - 1] == 0;
}

/* Of the logarithm of a pattern's count: what the drawings that it is by may be off by. */
static double drawn_variance(const Trend *t, guint point)
{
        double error = trend_point_at(t, point)->drawn_error;

        return error * error;
}

/* Of an entry, or of a pattern. */
static void add_rate(Trend *t, const char *subject, const char *label, const guint64 *counts,
                     const MergedPattern *pattern, GArray *candidates)
{
        guint n = t->points->len;
        guint64 all = 0;
        TrendSeries *s;
        double *variances;

        for (guint i = 0; i < n; i++)
                all += counts[i];
        if (all < (guint64)FEWEST_REQUESTS * n || begins_or_ends(counts, n))
                return;
        s = add_series(t, TREND_RATE, subject, label);
        s->id = pattern ? pattern->id : 0;
        variances = g_new0(double, n);
        for (guint i = 0; i < n; i++) {
                double count = (double)counts[i], seconds = trend_point_at(t, i)->seconds;

                if (!(seconds > 0))
                        continue;
                s->values[i] = (TrendValue){ .count = MAX(counts[i], 1),
                                             .value = MAX(count, 0.5) / seconds,
                                             .exact = count / seconds };
                variances[i] = 1 / MAX(count, 0.5) + (pattern ? drawn_variance(t, i) : 0);
        }
        add_candidate(t, candidates, s, variances, pattern);
}

static guint64 *counts_of(const Trend *t, const MergedPattern *p)
{
        guint64 *counts = g_new0(guint64, t->points->len);

        for (guint i = 0; i < p->cells->len; i++)
                counts[g_array_index(p->cells, MergedCell, i).point] =
                        (guint64)llround(g_array_index(p->cells, MergedCell, i).number);
        return counts;
}

/* The only pattern of an entry has its rate. */
static void add_pattern_rate(Trend *t, const TrendStores *r, const MergedPattern *p,
                             GArray *candidates)
{
        g_autofree guint64 *counts = counts_of(t, p);

        if (!p->moved && p->count < trend_stores_entry(r, p->entry)->count)
                add_rate(t, p->signature, p->label, counts, p, candidates);
}

static void add_share(Trend *t, const TrendStores *r, const MergedPattern *p, GArray *candidates)
{
        const MergedEntry *e = trend_stores_entry(r, p->entry);
        double all = 0, share;
        TrendSeries *s;
        double *variances;

        for (guint i = 0; i < t->points->len; i++)
                all += (double)e->steady[i];
        share = (double)p->count / MAX(all, 1);
        if (p->moved || share >= 1 || p->count < (guint64)FEWEST_REQUESTS * t->points->len)
                return;
        s = add_series(t, TREND_SHARE, p->signature, p->label);
        s->id = p->id;
        variances = g_new0(double, t->points->len);
        for (guint i = 0; i < t->points->len; i++) {
                double of = (double)e->steady[i];

                s->values[i] = (TrendValue){ .count = e->steady[i], .value = 0.5 / (of + 1) };
                variances[i] = (1 - share) / share / MAX(of, 1) + drawn_variance(t, i);
        }
        EACH (const MergedCell, c, p->cells) {
                TrendValue *v = &s->values[c->point];

                v->value = MIN(c->number + 0.5, (double)v->count) / (double)(v->count + 1);
                v->exact = c->number / (double)v->count;
        }
        add_candidate(t, candidates, s, variances, p);
}

/* --- patterns that begin or end -------------------------------------------- */

/* By how much more the counts of the points from..to vary than by chance. */
static double count_dependence(const guint64 *counts, const guint64 *exposure, guint from, guint to)
{
        double count = 0, all = 0, squares = 0;

        for (guint i = from; i < to; i++) {
                count += (double)counts[i];
                all += (double)exposure[i];
        }
        if (to - from < 2 || !(count > 0) || !(all > 0))
                return GUESSED_DEPENDENCE;
        for (guint i = from; i < to; i++) {
                double expected = count * (double)exposure[i] / all;

                if (expected > 0)
                        squares += ((double)counts[i] - expected) * ((double)counts[i] - expected) /
                                   expected;
        }
        return MAX(1, squares / (to - from - 1));
}

/* Where the pattern begins (or ends, if gone), and how probable that is by chance. exposure: the
 * requests that could have the pattern; error: of counts by drawings, a share of 1. at 0: nowhere.
 */
static double find_begin(double error, const guint64 *counts, const guint64 *exposure, guint n,
                         gboolean gone, guint *at)
{
        double count = 0, all = 0, best = 0;
        double with = 0, exposed = 0;
        guint from, to;

        *at = 0;
        for (guint i = 0; i < n; i++) {
                count += (double)counts[i];
                all += (double)exposure[i];
        }
        double best_with = 0, best_exposed = 0;
        for (guint i = 1; i < n; i++) {
                guint k = gone ? i : n - i; /* the first of the later part */
                guint next = gone ? i - 1 : n - i;
                double share, other, likelihood;

                with += (double)counts[next];
                exposed += (double)exposure[next];
                if (!(exposed > 0) || !(all - exposed > 0))
                        continue;
                share = with / exposed;
                other = (count - with) / (all - exposed);
                likelihood =
                        with * log(MAX(share, 1e-300)) + (count - with) * log(MAX(other, 1e-300));
                if (share <= other || (*at > 0 && likelihood <= best))
                        continue;
                best = likelihood;
                best_with = with;
                best_exposed = exposed;
                *at = k;
        }
        if (*at == 0 ||
            (count - best_with) / (all - best_exposed) > NEARLY_NONE * best_with / best_exposed)
                return 1;
        from = gone ? 0 : *at;
        to = gone ? *at : n;
        double dependence =
                MAX(count_dependence(counts, exposure, from, to), error * error * count);
        return MIN(1, 2.0 * (n - 1) *
                              binomial_tail(count / dependence, best_with / dependence,
                                            best_exposed / all));
}

/* The better of new and gone: p, and what there is to say. */
static double trend_find_pattern(const Trend *t, const TrendStores *r, const MergedPattern *p,
                                 TrendPattern *found)
{
        guint n = t->points->len, at[2];
        g_autofree guint64 *counts = counts_of(t, p), *paths = g_new0(guint64, n);
        const MergedEntry *e = trend_stores_entry(r, trend_stores_entry(r, p->entry)->whole);
        double p_best = 1, error = 0;

        for (guint i = 0; i < n; i++) {
                paths[i] = trend_point_at(t, i)->paths;
                error = MAX(error, trend_point_at(t, i)->drawn_error);
        }
        for (int gone = 0; gone < 2; gone++) {
                /* The requests of its entry; of all where the entry begins with it. */
                double one = find_begin(error, counts, e->counts, n, gone, &at[gone]);

                if (begins_or_ends(e->counts, n)) {
                        guint other;
                        double p_all = find_begin(error, counts, paths, n, gone, &other);

                        if (p_all < one) {
                                one = p_all;
                                at[gone] = other;
                        }
                }
                if (one >= p_best)
                        continue;
                p_best = one;
                *found = (TrendPattern){ .id = p->id, .gone = gone, .at = at[gone], .p = one };
                for (guint i = 0; i < n; i++) {
                        gboolean with = gone ? i < at[gone] : i >= at[gone];

                        found->count += with ? counts[i] : 0;
                        found->others += with ? 0 : counts[i];
                        found->entry += with ? e->counts[i] : 0;
                }
        }
        return p_best;
}

/* --- all together ---------------------------------------------------------- */

COMPARISON_OF_POINTERS(compare_totals, MergedPattern,
                       COMPARE(b->total, a->total) ?:
                       strcmp(a->signature, b->signature) ?:
                       g_strcmp0(a->label, b->label))

COMPARISON_OF_POINTERS(trend_compare_entries, MergedEntry,
                       COMPARE(b->count, a->count) ?:
                       strcmp(a->subject, b->subject) ?:
                       g_strcmp0(a->label, b->label))

static void count_entries(const Trend *t, const TrendStores *r)
{
        for (guint i = 0; i < r->entries->len; i++) {
                trend_stores_entry(r, i)->counts = g_new0(guint64, t->points->len);
                trend_stores_entry(r, i)->steady = g_new0(guint64, t->points->len);
        }
        for (guint i = 0; i < r->patterns->len; i++) {
                const MergedPattern *p = trend_stores_pattern(r, i);
                MergedEntry *part = trend_stores_entry(r, p->entry),
                            *whole = trend_stores_entry(r, part->whole);

                EACH (const MergedCell, c, p->cells) {
                        part->counts[c->point] += c->count;
                        part->count += c->count;
                        if (whole == part)
                                continue;
                        whole->counts[c->point] += c->count;
                        whole->count += c->count;
                }
        }
}

/* Of all requests but those of patterns that are new or gone, which would make the shares of all
 * others change. */
static void count_steady(const TrendStores *r)
{
        for (guint i = 0; i < r->patterns->len; i++) {
                const MergedPattern *p = trend_stores_pattern(r, i);

                for (guint k = 0; k < p->cells->len && !p->moved; k++) {
                        const MergedCell *c = &g_array_index(p->cells, MergedCell, k);
                        trend_stores_entry(r, p->entry)->steady[c->point] +=
                                (guint64)llround(c->number);
                }
        }
}

/* Holm: the p up to which the tests of a family count, so that one of them is wrong with a
 * probability of FAMILY_CHANCE. Sorts ps, of double. */
static double holm_level(GArray *ps)
{
        guint i = 0, n = ps->len;

        g_array_sort(ps, compare_doubles);
        while (i < n && g_array_index(ps, double, i) <= FAMILY_CHANCE / (n - i))
                i++;
        return FAMILY_CHANCE / MAX(n - i, 1);
}

/* Adds the p of the candidates that are own times, or of all others. */
static void add_ps(const GArray *candidates, gboolean own, GArray *ps)
{
        EACH (const Candidate, c, candidates)
                if (is_tested(c) && (c->series->kind == TREND_OWN) == own)
                        g_array_append_val(ps, c->series->p);
}

static void find_changes(const Trend *t, const Candidate *c, double level)
{
        TrendSeries *s = c->series;
        g_autofree guint *point = g_new(guint, t->points->len + 1);
        guint n = 0;

        if (s->p > level)
                return;
        for (guint i = 0; i < t->points->len; i++)
                if (s->values[i].count > 0 && s->values[i].value > 0)
                        point[n++] = i;
        point[n] = t->points->len;
        series_find(first_value(c->values), c->values->len, c->prior, level, s->changes);
        EACH (SeriesChange, change, s->changes) {
                change->at = point[change->at];
                change->from = point[change->from];
                change->to = change->to == n ? point[n - 1] + 1 : point[change->to];
        }
}

/* Whether own times explain the change of a latency: without them it has none. */
static gboolean follows_own_times(const Trend *t, const Candidate *c, const TrendSeries *const *own,
                                  double level)
{
        g_autofree double *without = g_new0(double, t->points->len);
        g_autoptr(GArray) values = NULL;
        gboolean any = FALSE;

        EACH (const MergedPlace, place, c->pattern->places) {
                const TrendSeries *s = own[place->node];

                if (!s || s->changes->len == 0 || !(s->level > 0))
                        continue;
                any = TRUE;
                for (guint i = 0; i < t->points->len; i++)
                        if (s->values[i].count)
                                without[i] += place->own / (double)c->pattern->count *
                                              (s->values[i].value / s->level - 1);
        }
        if (!any)
                return FALSE;
        values = values_of(t, c->series, c->variances, without);
        return series_p(first_value(values), values->len, c->prior) > level;
}

/* Whether the rate of a pattern changed where that of its entry or its share did. */
static gboolean follows_entry(const Trend *t, const TrendStores *r, const MergedPattern *p)
{
        const MergedEntry *part = trend_stores_entry(r, p->entry),
                          *whole = trend_stores_entry(r, part->whole);

        EACH_OF (const TrendSeries, s, t->series) {
                gboolean entry = s->kind == TREND_RATE && !s->id &&
                                 !strcmp(s->subject, whole->subject) &&
                                 (!s->label || !g_strcmp0(s->label, part->label));
                gboolean share = s->kind == TREND_SHARE && s->id == p->id;

                if (s->changes->len > 0 && (entry || share))
                        return TRUE;
        }
        return FALSE;
}

static void find_following(Trend *t, const TrendStores *r, const GArray *candidates, double level)
{
        guint n = node_table_size(t->nodes);
        g_autofree const TrendSeries **own = g_new0(const TrendSeries *, MAX(n, 1));

        for (NodeId node = 0; node < n; node++)
                EACH_OF (const TrendSeries, s, t->series) {
                        if (s->kind != TREND_OWN)
                                break;
                        if (!strcmp(s->subject, node_table_written(t->nodes, node)))
                                own[node] = s;
                }
        EACH (const Candidate, c, candidates) {
                if (!c->pattern || c->series->changes->len == 0)
                        continue;
                if (c->series->kind == TREND_LATENCY)
                        c->series->follows = follows_own_times(t, c, own, level);
                else if (c->series->kind == TREND_RATE)
                        c->series->follows = follows_entry(t, r, c->pattern);
        }
}

/* Patterns that may be new or gone: their p, 1 where there are too few requests to tell. */
static double *test_patterns(const Trend *t, const TrendStores *r, TrendPattern *found,
                             guint *tests)
{
        double *ps = g_new(double, MAX(r->patterns->len, 1));

        for (guint i = 0; i < r->patterns->len; i++) {
                const MergedPattern *p = trend_stores_pattern(r, i);

                ps[i] = 1;
                if (p->count < FEWEST_OF_NEW)
                        continue;
                ps[i] = trend_find_pattern(t, r, p, &found[i]);
                (*tests)++;
        }
        return ps;
}

static void keep_patterns(Trend *t, const TrendStores *r, const TrendPattern *found,
                          const double *ps, double level)
{
        for (guint i = 0; i < r->patterns->len; i++) {
                MergedPattern *p = trend_stores_pattern(r, i);
                TrendPattern kept = found[i];

                if (ps[i] > level || p->count < FEWEST_OF_NEW)
                        continue;
                p->moved = TRUE;
                kept.signature = g_strdup(p->signature);
                kept.label = g_strdup(p->label);
                g_array_append_val(t->patterns, kept);
        }
}

/* Own times are a family of tests, and all else is one. New patterns come first, since shares are
 * of the others. */
static void compare_all(Trend *t, TrendStores *r)
{
        g_autoptr(GArray) candidates = g_array_new(FALSE, FALSE, sizeof(Candidate));
        g_autofree TrendPattern *found = g_new0(TrendPattern, MAX(r->patterns->len, 1));
        g_autoptr(GPtrArray) entries = g_ptr_array_new();
        g_autoptr(GArray) own_ps = g_array_new(FALSE, FALSE, sizeof(double));
        g_autoptr(GArray) ps = g_array_new(FALSE, FALSE, sizeof(double));
        guint tests = 0, top, n_own;

        g_array_set_clear_func(candidates, candidate_clear);
        g_ptr_array_sort(r->patterns, compare_totals);
        count_entries(t, r);
        g_autofree double *pattern_ps = test_patterns(t, r, found, &tests);
        add_own_times(t, r, candidates);
        n_own = candidates->len;
        for (guint i = 0; i < MIN(r->patterns->len, MOST_PATTERNS); i++)
                add_latency_series(t, trend_stores_pattern(r, i), candidates);
        for (guint i = 0; i < r->entries->len; i++) {
                MergedEntry *e = trend_stores_entry(r, i);

                /* The only operation of an entry has its rate. */
                if (e->whole == i || trend_stores_entry(r, e->whole)->parts > 1)
                        g_ptr_array_add(entries, e);
        }
        g_ptr_array_sort(entries, trend_compare_entries);
        for (guint i = 0; i < MIN(entries->len, MOST_SERIES); i++) {
                const MergedEntry *e = g_ptr_array_index(entries, i);
                add_rate(t, e->subject, e->label, e->counts, NULL, candidates);
        }
        /* Shares are counted once patterns are known to be new; their number is known before. */
        top = MIN(r->patterns->len, MOST_PATTERNS);
        keep_patterns(t, r, found, pattern_ps,
                      FAMILY_CHANCE / MAX(tests + candidates->len - n_own + 2 * top, 1));
        count_steady(r);
        for (guint i = 0; i < top; i++)
                add_pattern_rate(t, r, trend_stores_pattern(r, i), candidates);
        for (guint i = 0; i < top; i++)
                add_share(t, r, trend_stores_pattern(r, i), candidates);

        test_candidates(candidates);
        for (guint i = 0; i < r->patterns->len; i++)
                if (trend_stores_pattern(r, i)->count >= FEWEST_OF_NEW)
                        g_array_append_val(ps, pattern_ps[i]);
        add_ps(candidates, TRUE, own_ps);
        add_ps(candidates, FALSE, ps);
        t->tests = own_ps->len + ps->len;
        double own_level = holm_level(own_ps), level = holm_level(ps);
        for (guint i = 0; i < candidates->len; i++)
                find_changes(t, &g_array_index(candidates, Candidate, i),
                             i < n_own ? own_level : level);
        find_following(t, r, candidates, level);
}

/* --- what to mind ---------------------------------------------------------- */

static void note_points(Trend *t)
{
        double least = 0, most = 0;
        guint n = t->points->len, at_least = 0, at_most = 0;
        const TrendPoint *first = trend_point_at(t, 0), *last = trend_point_at(t, n - 1);

        for (guint i = 0; i < n; i++) {
                double one = trend_point_at(t, i)->parallelism;

                if (!(one > 0))
                        continue;
                if (!(least > 0) || one < least) {
                        least = one;
                        at_least = i;
                }
                if (one > most) {
                        most = one;
                        at_most = i;
                }
        }
        if (most > PARALLELISM_DIFFERS * least) {
                g_autofree char *a =
                        printable_new(trend_point_at(t, at_least)->name, PRINTABLE_TEXT);
                g_autofree char *b =
                        printable_new(trend_point_at(t, at_most)->name, PRINTABLE_TEXT);

                trend_add_note(
                        t,
                        "The mean parallelism is from %.2f (%s) to %.2f (%s): parents are found "
                        "less well under load, and own times and patterns may differ for that "
                        "alone.",
                        least, a, most, b);
        }
        if (!t->timed)
                trend_add_note(t,
                               "The stores are compared in the order in which they are named, as "
                               "their times overlap.");
        else if (t->hours)
                trend_add_note(t, "Each is compared with those of the same hour of other days.");
        else if (t->by != TREND_BY_DAY && t->spacing < (double)TREND_DAY / 4 &&
                 (double)last->last - (double)first->first > (double)TREND_DAY / 4)
                trend_add_note(
                        t, "With less than three days the course of a day is not told from what "
                           "lasts.");
}

/* --- the answer ------------------------------------------------------------ */

static void point_clear(gpointer data)
{
        g_free(((TrendPoint *)data)->name);
}

static void trend_pattern_clear(gpointer data)
{
        g_free(((TrendPattern *)data)->signature);
        g_free(((TrendPattern *)data)->label);
}

Trend *trend_new(char *const *paths, guint n, TrendBy by, GError **error)
{
        g_autoptr(Trend) t = g_new0(Trend, 1);
        g_auto(TrendStores) r = { .trend = NULL };

        t->nodes = node_table_new();
        t->by = by;
        t->points = g_array_new(FALSE, FALSE, sizeof(TrendPoint));
        g_array_set_clear_func(t->points, point_clear);
        t->series = g_ptr_array_new_with_free_func(series_free);
        t->patterns = g_array_new(FALSE, FALSE, sizeof(TrendPattern));
        g_array_set_clear_func(t->patterns, trend_pattern_clear);
        t->notes = g_ptr_array_new_with_free_func(g_free);
        if (!trend_stores_read(&r, t, paths, n, error))
                return NULL;
        trend_stores_make_points(&r, t);
        trend_stores_note(&r, t);
        if (t->points->len < SERIES_FEWEST) {
                static const char *const units[] = { "stores", "hours", "days" };

                g_set_error(error, RAVEL_ERROR, RAVEL_ERROR_INPUT,
                            "%s that can be compared: %u, expected %d or more%s%s", units[by],
                            t->points->len, SERIES_FEWEST, t->notes->len ? ". " : "",
                            t->notes->len ? (char *)g_ptr_array_index(t->notes, 0) : "");
                return NULL;
        }
        measure_points(t);
        note_points(t);
        compare_all(t, &r);
        return g_steal_pointer(&t);
}

void trend_free(Trend *t)
{
        if (!t)
                return;
        g_array_free(t->points, TRUE);
        g_ptr_array_unref(t->series);
        g_array_free(t->patterns, TRUE);
        g_ptr_array_unref(t->notes);
        node_table_free(t->nodes);
        g_free(t);
}

double trend_change_in_all(const Trend *t, const SeriesChange *c)
{
        double change = c->change;

        if (c->kind == SERIES_CREEP)
                change *= point_when(t, c->to - 1) - point_when(t, c->from);
        return expm1(change);
}

char *trend_series_title(const TrendSeries *s)
{
        return path_pattern_title(s->label, s->subject);
}
