/* SPDX-License-Identifier: BSD-2-Clause */
#include "analysis/variance/variance-rows.h"

#include <math.h>

#include "base/compare.h"
#include "base/each.h"

/* A replica is named if it has this part of its slot's variance within patterns, and this much more
 * than its part of the requests. Slots below this share of the variance are left out. */
#define REPLICA_PART  0.75
#define REPLICA_MORE  0.2
#define REPLICA_SHARE 0.05

typedef struct {
        VarianceRow row;
        guint factor;
} Found;

/* --- names ----------------------------------------------------------------- */

static void variance_rows_append_names(GString *text, const PlaceSlot *slot, const NodeTable *nodes)
{
        for (guint i = 0; i < slot->nodes->len; i++) {
                g_string_append(text, i > 0 ? "|" : "");
                g_string_append(text,
                                node_table_written(nodes, g_array_index(slot->nodes, NodeId, i)));
        }
        if (slot->mark)
                g_string_append_c(text, slot->mark);
}

/* From below the root on. */
static char *variance_rows_name_slot(const VarianceFactors *f, guint32 slot, guint *depth)
{
        g_autoptr(GArray) way = g_array_new(FALSE, FALSE, sizeof(guint32));
        GString *text = g_string_new(NULL);

        for (guint32 s = slot; s != NO_PARENT; s = place_slots_at(f->slots, s)->parent)
                g_array_append_val(way, s);
        *depth = way->len - 1;
        if (way->len > 1)
                g_array_set_size(way, way->len - 1);
        for (guint i = way->len; i-- > 0;) {
                const PlaceSlot *s = place_slots_at(f->slots, g_array_index(way, guint32, i));

                if (s->goes_on && s->parent != NO_PARENT)
                        g_string_append(text, text->len ? " ~> " : "~> ");
                else
                        g_string_append(text, text->len ? " / " : "");
                variance_rows_append_names(text, s, f->nodes);
        }
        return g_string_free(text, FALSE);
}

static double way_variance(const WaySum *sum, double n)
{
        return sum->square - sum->time * sum->time / n;
}

/* "web1|web2 > auth (resent)": the cause that varies most. */
static char *name_way(const VarianceFactors *f, guint kept)
{
        const WaySum *ways = f->ways + (gsize)kept * N_WAY_CAUSES;
        double n = (double)MAX(f->sums->all.n, 1);
        const PlaceSlot *slot = place_slots_at(f->slots, f->kept[kept]);
        GString *text = g_string_new(NULL);
        WayCause worst = 0;

        for (WayCause i = 1; i < N_WAY_CAUSES; i++)
                if (way_variance(&ways[i], n) > way_variance(&ways[worst], n))
                        worst = i;
        if (slot->parent != NO_PARENT)
                variance_rows_append_names(text, place_slots_at(f->slots, slot->parent), f->nodes);
        g_string_append(text, text->len ? " > " : "> ");
        variance_rows_append_names(text, slot, f->nodes);
        g_string_append_printf(text, " (%s)", way_cause_name(worst));
        return g_string_free(text, FALSE);
}

static char *name_chain(const VarianceFactors *f, guint32 chain)
{
        GString *text = g_string_new(NULL);

        for (guint32 c = chain; c != NO_PARENT; c = place_slots_chain_parent(f->slots, c)) {
                if (text->len > 0 && place_slots_chain_parent(f->slots, c) == NO_PARENT)
                        break;
                g_string_prepend(text, text->len ? " / " : "");
                g_string_prepend(text,
                                 node_table_written(f->nodes, place_slots_chain_node(f->slots, c)));
        }
        return g_string_free(text, FALSE);
}

/* --- a row ----------------------------------------------------------------- */

static double quotient(double part, double whole)
{
        return whole != 0 ? part / whole : 0;
}

static double mean_of(const FactorSums *s, guint factor)
{
        return s->n ? (double)s->sum[factor] / (double)s->n : 0;
}

static double difference(const VarianceSums *s, guint factor)
{
        return mean_of(&s->slow, factor) - mean_of(&s->middle, factor);
}

static void set_shares(const VarianceFactors *f, guint factor, VarianceRow *row)
{
        const VarianceSums *s = f->sums;
        guint time = s->n_factors;
        double variance = factor_sums_covariance(&s->all, time, time);

        row->all = factor_sums_covariance(&s->all, factor, time) / variance;
        row->same = variance_sums_within(s, factor) / variance;
        row->which = row->all - row->same;
        row->error = variance_sums_error(s, factor);
        row->mean = quotient((double)s->all.sum[factor], (double)s->all.sum[time]);
        row->tail = quotient(difference(s, factor), difference(s, time));
        row->doubtful = factor_sums_covariance(&s->doubtful, factor, time) / variance;
}

static void set_load(const VarianceFactors *f, guint kept, const PlaceSlot *slot, VarianceRow *row)
{
        g_autofree guint32 *cells = g_new(guint32, slot->nodes->len);

        for (guint i = 0; i < slot->nodes->len; i++)
                cells[i] = f->first_cell[kept] + i;
        row->load = node_load_effect(f->load, cells, slot->nodes->len);
}

/* --- which replica --------------------------------------------------------- */

typedef struct {
        guint32 chain;
        guint64 n;        /* requests */
        double share;     /* of the variance, within patterns */
        double own, time; /* sums, ns */
} Replica;

/* The chain's, added where it is new. */
static Replica *find_replica(GArray *replicas, guint32 chain)
{
        Replica new = { .chain = chain };

        for (guint i = 0; i < replicas->len; i++)
                if (g_array_index(replicas, Replica, i).chain == chain)
                        return &g_array_index(replicas, Replica, i);
        g_array_append_val(replicas, new);
        return &g_array_index(replicas, Replica, replicas->len - 1);
}

/* What each chain of a slot has, of patterns with one of them. */
static GArray *variance_rows_find_shares(const VarianceFactors *f, guint kept, double variance)
{
        GArray *replicas = g_array_new(FALSE, FALSE, sizeof(Replica));
        const VarianceSums *s = f->sums;

        for (guint g = 0; g < s->n_groups; g++) {
                guint32 chain = f->chains[(gsize)g * f->n_kept + kept];

                if (chain == NO_CHAIN || chain == MANY_CHAINS)
                        continue;
                Replica *r = find_replica(replicas, chain);
                r->n += s->groups[g].n;
                r->share += factor_sums_covariance(&s->groups[g], factor_own(kept), s->n_factors) /
                            variance;
                r->own += (double)s->groups[g].sum[factor_own(kept)];
                r->time += (double)s->groups[g].sum[s->n_factors];
        }
        return replicas;
}

/* The replica that has most of what is within patterns. */
static void set_most(const VarianceFactors *f, const GArray *replicas, guint64 n, VarianceRow *row)
{
        const Replica *most = &g_array_index(replicas, Replica, 0);

        for (guint i = 1; i < replicas->len; i++)
                if (g_array_index(replicas, Replica, i).share > most->share)
                        most = &g_array_index(replicas, Replica, i);
        if (row->same < REPLICA_SHARE || most->share < REPLICA_PART * row->same ||
            most->share / row->same < (double)most->n / (double)n + REPLICA_MORE)
                return;
        row->replica = name_chain(f, most->chain);
        row->replica_share = most->share;
}

/* What their means have of the variance. */
static void set_means(const VarianceFactors *f, const GArray *replicas, guint64 n, double variance,
                      VarianceRow *row)
{
        const Replica *slow = NULL, *quick = NULL;
        double own = 0, time = 0;

        for (guint i = 0; i < replicas->len; i++) {
                own += g_array_index(replicas, Replica, i).own / (double)n;
                time += g_array_index(replicas, Replica, i).time / (double)n;
        }
        EACH (const Replica, r, replicas) {
                double mean = r->own / (double)r->n;

                row->by_replica +=
                        (r->own - (double)r->n * own) * (r->time / (double)r->n - time) / variance;
                if (!slow || mean > row->slow_mean) {
                        slow = r;
                        row->slow_mean = mean;
                }
                if (!quick || mean < row->quick_mean) {
                        quick = r;
                        row->quick_mean = mean;
                }
        }
        row->slow = name_chain(f, slow->chain);
        row->quick = name_chain(f, quick->chain);
}

static void set_replicas(const VarianceFactors *f, guint kept, VarianceRow *row)
{
        guint time = f->sums->n_factors;
        double variance = factor_sums_covariance(&f->sums->all, time, time);
        g_autoptr(GArray) replicas = variance_rows_find_shares(f, kept, variance);
        guint64 n = 0;

        for (guint i = 0; i < replicas->len; i++)
                n += g_array_index(replicas, Replica, i).n;
        if (replicas->len < 2)
                return;
        set_most(f, replicas, n, row);
        set_means(f, replicas, n, variance, row);
}

/* --- all ------------------------------------------------------------------- */

static Found find_row(const VarianceFactors *f, guint factor)
{
        Found found = { .factor = factor };
        VarianceRow *row = &found.row;
        guint kept = factor % MAX(f->n_kept, 1);

        row->kind = factor == factor_network(f->n_kept)     ? FACTOR_NETWORK
                    : factor == factor_elsewhere(f->n_kept) ? FACTOR_ELSEWHERE
                                                            : (FactorKind)(factor / f->n_kept);
        set_shares(f, factor, row);
        if (row->kind <= FACTOR_WAY)
                row->where = variance_rows_name_slot(f, f->kept[kept], &row->depth);
        if (row->kind == FACTOR_WAY) {
                g_free(row->where);
                row->where = name_way(f, kept);
        }
        if (row->kind == FACTOR_OWN) {
                set_load(f, kept, place_slots_at(f->slots, f->kept[kept]), row);
                set_replicas(f, kept, row);
        }
        return found;
}

COMPARISON(compare_rows, Found, COMPARE(b->row.all, a->row.all) ?: COMPARE(a->factor, b->factor))

/* Whether the factor has a row: own times and the network always have one. */
static gboolean is_there(const VarianceFactors *f, guint factor)
{
        const VarianceSums *s = f->sums;
        gsize at = (gsize)factor * s->n_factors + factor;

        return factor < f->n_kept || factor == factor_network(f->n_kept) || s->products[at] != 0;
}

COMPARISON(compare_pairs, VariancePair,
           COMPARE(b->share, a->share) ?:
           COMPARE(a->a, b->a) ?:
           COMPARE(a->b, b->b))

static void variance_rows_find_pair(const VarianceSums *s, const GArray *found, guint i, guint k,
                                    double variance, GArray *pairs)
{
        guint a = g_array_index(found, Found, i).factor, b = g_array_index(found, Found, k).factor;
        double both = variance_sums_within_pair(s, MIN(a, b), MAX(a, b));
        VariancePair pair = { i, k, 2 * both / variance, 0 };

        if (pair.share < VARIANCE_PAIR)
                return;
        pair.r = quotient(both, sqrt(variance_sums_within_pair(s, a, a) *
                                     variance_sums_within_pair(s, b, b)));
        if (pair.r >= VARIANCE_CORRELATION)
                g_array_append_val(pairs, pair);
}

void variance_rows_find(const VarianceFactors *f, GArray *rows, GArray *pairs)
{
        const VarianceSums *s = f->sums;
        double variance = factor_sums_covariance(&s->all, s->n_factors, s->n_factors);
        g_autoptr(GArray) found = g_array_new(FALSE, FALSE, sizeof(Found));

        if (!(variance > 0))
                return;
        for (guint i = 0; i < s->n_factors; i++)
                if (is_there(f, i)) {
                        Found row = find_row(f, i);
                        g_array_append_val(found, row);
                }
        g_array_sort(found, compare_rows);
        for (guint i = 0; i < found->len; i++) {
                g_array_append_val(rows, g_array_index(found, Found, i).row);
                for (guint k = i + 1; k < found->len; k++)
                        variance_rows_find_pair(s, found, i, k, variance, pairs);
        }
        g_array_sort(pairs, compare_pairs);
}
