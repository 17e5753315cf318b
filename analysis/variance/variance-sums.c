/* SPDX-License-Identifier: BSD-2-Clause */
#include "analysis/variance/variance-sums.h"

#include <math.h>

/* Of Student's t with N_BATCHES - 1 degrees of freedom, both tails 5 %. */
#define T_QUANTILE 2.093

RequestFactors *request_factors_new(guint n)
{
        RequestFactors *r = g_new0(RequestFactors, 1);

        r->value = g_new0(gint64, n);
        r->doubtful = g_new0(gint64, n);
        r->used = g_new(guint32, n);
        r->is_used = g_new0(gboolean, n);
        return r;
}

void request_factors_free(RequestFactors *r)
{
        if (!r)
                return;
        g_free(r->value);
        g_free(r->doubtful);
        g_free(r->used);
        g_free(r->is_used);
        g_free(r);
}

static gboolean variance_sums_is_small(gint64 value)
{
        return value > -MOMENT_LIMIT && value < MOMENT_LIMIT;
}

gboolean request_factors_add(RequestFactors *r, guint32 factor, gint64 value, gboolean doubtful)
{
        if (!variance_sums_is_small(value) || !variance_sums_is_small(r->value[factor] + value))
                return FALSE;
        if (!r->is_used[factor]) {
                r->is_used[factor] = TRUE;
                r->used[r->n_used++] = factor;
        }
        r->value[factor] += value;
        if (doubtful)
                r->doubtful[factor] += value;
        return TRUE;
}

static void variance_sums_clear(RequestFactors *r)
{
        for (guint i = 0; i < r->n_used; i++) {
                guint32 f = r->used[i];

                r->value[f] = r->doubtful[f] = 0;
                r->is_used[f] = FALSE;
        }
        r->n_used = 0;
}

static void sums_init(FactorSums *s, guint n_factors)
{
        s->n = 0;
        s->sum = g_new0(gint128, n_factors + 1);
        s->by_time = g_new0(gint128, n_factors + 1);
}

static void sums_clear(FactorSums *s)
{
        g_free(s->sum);
        g_free(s->by_time);
}

VarianceSums *variance_sums_new(guint n_factors, guint n_groups, guint64 requests)
{
        VarianceSums *s = g_new0(VarianceSums, 1);
        FactorSums *const singles[] = { &s->all, &s->slow, &s->middle, &s->doubtful };

        s->n_factors = n_factors;
        s->n_groups = n_groups;
        s->requests = requests;
        for (guint i = 0; i < G_N_ELEMENTS(singles); i++)
                sums_init(singles[i], n_factors);
        for (guint i = 0; i < N_BATCHES; i++)
                sums_init(&s->batches[i], n_factors);
        s->groups = g_new0(FactorSums, n_groups);
        for (guint i = 0; i < n_groups; i++)
                sums_init(&s->groups[i], n_factors);
        s->products = g_new0(gint128, (gsize)n_factors * n_factors);
        return s;
}

void variance_sums_free(VarianceSums *s)
{
        if (!s)
                return;
        sums_clear(&s->all);
        sums_clear(&s->slow);
        sums_clear(&s->middle);
        sums_clear(&s->doubtful);
        for (guint i = 0; i < N_BATCHES; i++)
                sums_clear(&s->batches[i]);
        for (guint i = 0; i < s->n_groups; i++)
                sums_clear(&s->groups[i]);
        g_free(s->groups);
        g_free(s->products);
        g_free(s);
}

static inline void add_factor(FactorSums *s, guint factor, gint64 value, gint64 time)
{
        s->sum[factor] += value;
        s->by_time[factor] += (gint128)value * time;
}

static void variance_sums_add_request(FactorSums *s, const RequestFactors *r, const gint64 *value,
                                      guint n_factors)
{
        s->n++;
        for (guint i = 0; i < r->n_used; i++)
                add_factor(s, r->used[i], value[r->used[i]], r->time);
        add_factor(s, n_factors, r->time, r->time);
}

static void add_products(VarianceSums *s, const RequestFactors *r)
{
        for (guint i = 0; i < r->n_used; i++) {
                guint32 a = r->used[i];
                gint64 value = r->value[a];

                for (guint k = 0; k < r->n_used; k++)
                        if (r->used[k] >= a)
                                s->products[(gsize)a * s->n_factors + r->used[k]] +=
                                        (gint128)value * r->value[r->used[k]];
        }
}

void variance_sums_add(VarianceSums *s, RequestFactors *r, guint group, gboolean slow,
                       gboolean middle)
{
        guint64 batch = MIN(s->all.n * N_BATCHES / MAX(s->requests, 1), N_BATCHES - 1);
        guint n = s->n_factors;

        variance_sums_add_request(&s->all, r, r->value, n);
        variance_sums_add_request(&s->doubtful, r, r->doubtful, n);
        variance_sums_add_request(&s->batches[batch], r, r->value, n);
        variance_sums_add_request(&s->groups[group], r, r->value, n);
        if (slow)
                variance_sums_add_request(&s->slow, r, r->value, n);
        if (middle)
                variance_sums_add_request(&s->middle, r, r->value, n);
        add_products(s, r);
        variance_sums_clear(r);
}

double factor_sums_covariance(const FactorSums *s, guint factor, guint time)
{
        return moment_covariance(s->n, s->sum[factor], s->sum[time], s->by_time[factor]);
}

double variance_sums_within(const VarianceSums *s, guint factor)
{
        gint128 whole = s->all.by_time[factor];
        double rest = 0;

        for (guint i = 0; i < s->n_groups; i++) {
                const FactorSums *g = &s->groups[i];
                MomentQuotient q;

                if (g->n == 0)
                        continue;
                q = moment_product(g->n, g->sum[factor], g->sum[s->n_factors]);
                whole -= q.whole;
                rest += q.rest / (double)g->n;
        }
        return (double)whole - rest;
}

double variance_sums_within_pair(const VarianceSums *s, guint a, guint b)
{
        gint128 whole = s->products[(gsize)a * s->n_factors + b];
        double rest = 0;

        for (guint i = 0; i < s->n_groups; i++) {
                const FactorSums *g = &s->groups[i];
                MomentQuotient q;

                if (g->n == 0 || !g->sum[a] || !g->sum[b])
                        continue;
                q = moment_product(g->n, g->sum[a], g->sum[b]);
                whole -= q.whole;
                rest += q.rest / (double)g->n;
        }
        return (double)whole - rest;
}

/* n times the covariance with the time, of all requests but those of a batch. */
static double covariance_without(const VarianceSums *s, const FactorSums *batch, guint factor)
{
        const FactorSums *all = &s->all;

        return moment_covariance(all->n - batch->n, all->sum[factor] - batch->sum[factor],
                                 all->sum[s->n_factors] - batch->sum[s->n_factors],
                                 all->by_time[factor] - batch->by_time[factor]);
}

double variance_sums_error(const VarianceSums *s, guint factor)
{
        double share[N_BATCHES], mean = 0, square = 0;

        for (guint i = 0; i < N_BATCHES; i++) {
                double all = covariance_without(s, &s->batches[i], s->n_factors);

                if (!(all > 0))
                        return -1;
                share[i] = covariance_without(s, &s->batches[i], factor) / all;
                mean += share[i] / N_BATCHES;
        }
        for (guint i = 0; i < N_BATCHES; i++)
                square += (share[i] - mean) * (share[i] - mean);
        return T_QUANTILE * sqrt(square * (N_BATCHES - 1) / N_BATCHES);
}
