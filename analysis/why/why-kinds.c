/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The slow requests of a kind against its middle.
 */
#include <math.h>
#include <string.h>

#include "analysis/why/why-model.h"
#include "base/binomial.h"
#include "base/compare.h"
#include "base/each.h"
#include "base/time-search.h"

enum {
        LEAST_OF_SLOW = 20, /* a burst has one in 20 of the slow requests */
        FEWEST_OF_SUMMARY = 100,
        TAIL = 100 /* the slowest one in 100 */
};

#define MIDDLE_FROM 0.4
#define MIDDLE_TO   0.6

/* A replica is named if chance gives it its part in fewer than one in 100 places. */
#define REPLICA_CHANCE 0.01

/* Of a stretch of time with more slow ones than the others there let expect: the log likelihood
 * ratio of a scan statistic. */
static double log_ratio(double n, double expected, double of)
{
        double outside = of - n;

        if (n <= expected)
                return 0;
        return n * log(n / expected) + (outside > 0 ? outside * log(outside / (of - expected)) : 0);
}

/* Finds the stretch between starts of slow ones that is the least likely to be chance. */
static WhyBurst find_burst(GArray *slow, GArray *all)
{
        enum { MOST = 2000 }; /* stretches begin with, or end */
        const gint64 *s, *a;
        WhyBurst best = { .of = slow->len };
        double most = 0;
        guint step = slow->len / MOST + 1;

        g_array_sort(slow, compare_int64s);
        g_array_sort(all, compare_int64s);
        s = (const gint64 *)slow->data;
        a = (const gint64 *)all->data;
        for (guint i = 0; i < slow->len; i += step) {
                guint before = (guint)time_search(a, all->len, s[i]);

                for (guint k = i + 2; k < slow->len; k += step) {
                        guint there = (guint)time_search(a, all->len, s[k] + 1) - before;
                        double n = k - i + 1;
                        double ratio =
                                log_ratio(n, (double)slow->len * there / all->len, slow->len);

                        if (ratio <= most)
                                continue;
                        most = ratio;
                        best = (WhyBurst){ k - i + 1, slow->len, there, s[i], s[k], 0 };
                }
        }
        /* By chance about once in ten thousand kinds: stretches that overlap are no tests of their
         * own, about five of each start are. */
        if (most < log(slow->len * 5 * 1000.0) || best.n * LEAST_OF_SLOW < best.of)
                best.n = 0;
        best.since = best.n ? best.from - a[0] : 0;
        return best;
}

/* Which part of a kind a request is in. */
typedef enum { NEITHER, SLOW, MIDDLE } Part;

/* Its requests, of Keyed, the slowest first. */
static GArray *kind_sort(const Why *w, const Kind *k)
{
        GArray *keyed = g_array_new(FALSE, FALSE, sizeof(Keyed));

        for (guint i = 0; i < k->requests->len; i++) {
                guint32 request = g_array_index(k->requests, guint32, i);
                Keyed key = { why_request_at(w, request)->time, request };

                g_array_append_val(keyed, key);
        }
        g_array_sort(keyed, why_compare_keyed);
        return keyed;
}

static guint8 *why_kinds_divide(const Why *w, const GArray *keyed, guint *n_slow, guint *n_middle)
{
        guint8 *part = g_new0(guint8, w->requests->len);
        guint n = keyed->len;

        *n_slow = (n + TAIL - 1) / TAIL;
        *n_middle = 0;
        for (guint i = 0; i < n; i++) {
                guint32 request = g_array_index(keyed, Keyed, i).request;

                if (i < *n_slow)
                        part[request] = SLOW;
                if (i >= MIDDLE_FROM * n && i < MIDDLE_TO * n) {
                        part[request] = MIDDLE;
                        ++*n_middle;
                }
        }
        return part;
}

guint8 *why_find_slow(const Why *w, guint64 *n_slow)
{
        guint8 *slow = g_new0(guint8, w->requests->len);

        *n_slow = 0;
        for (guint i = 0; i < w->kinds->len; i++) {
                const Kind *k = w->kinds->pdata[i];
                g_autoptr(GArray) order = NULL;
                g_autofree guint8 *part = NULL;
                guint n, n_middle;

                if (k->requests->len < FEWEST_OF_SUMMARY)
                        continue;
                order = kind_sort(w, k);
                part = why_kinds_divide(w, order, &n, &n_middle);
                *n_slow += n;
                for (guint r = 0; r < k->requests->len; r++) {
                        guint32 request = g_array_index(k->requests, guint32, r);

                        slow[request] = part[request] == SLOW;
                }
        }
        return slow;
}

typedef struct {
        double own, calls, load, waiting, there;
} Sums;

/* Requests that a replica served: of the slow ones, of all. */
typedef struct {
        NodeId node;
        guint slow, all;
} Served;

COMPARISON(compare_slow, Served, COMPARE(b->slow, a->slow) ?: COMPARE(b->all, a->all))

/* By replica, and the sums of them. */
static GArray *count_served(const GArray *stays, const PlaceSlot *slot, const guint8 *part,
                            Served *sum)
{
        GArray *served = g_array_new(FALSE, TRUE, sizeof(Served));

        g_array_set_size(served, slot->nodes->len);
        for (guint r = 0; r < served->len; r++)
                g_array_index(served, Served, r).node = g_array_index(slot->nodes, NodeId, r);
        EACH (const Stay, s, stays) {
                EACH (Served, one, served) {
                        if (one->node != s->node)
                                continue;
                        one->all++;
                        sum->all++;
                        one->slow += part[s->request] == SLOW;
                        sum->slow += part[s->request] == SLOW;
                }
        }
        g_array_sort(served, compare_slow);
        return served;
}

/* Whether a replica has k of n by chance, if it has the share p of all. */
static gboolean is_beyond_chance(guint n, guint k, double p, guint replicas)
{
        return n > 0 && binomial_tail(n, k, p) < REPLICA_CHANCE / replicas;
}

/* Which replica has the slow requests at a place, and which most calls if they wait for it. */
static void name_replica(const Why *w, const Kind *k, guint32 slot, const guint8 *part,
                         WhyDifference *d)
{
        guint32 n_slots = place_slots_size(k->slots), at = slot % n_slots;
        const PlaceSlot *s = place_slots_at(k->slots, at);
        Served sum = { 0 }, *first;

        if (slot + 1 == why_n_slots(k) || s->nodes->len < 2)
                return;
        g_autoptr(GArray) served = count_served(k->of_slots[at], s, part, &sum);
        guint n = served->len;
        first = &g_array_index(served, Served, 0);
        if (is_beyond_chance(sum.slow, first->slow, (double)first->all / MAX(sum.all, 1), n)) {
                d->replica = node_table_written(w->nodes, first->node);
                d->replica_slow = first->slow;
                d->slow_there = sum.slow;
        }
        if (slot / n_slots == 1 && is_beyond_chance(sum.all, first->all, 1.0 / n, n)) {
                d->busiest = node_table_written(w->nodes, first->node);
                d->busiest_share = (double)first->all / sum.all;
        }
}

static void add_difference(const Why *w, const Kind *k, guint32 slot, const guint8 *part,
                           guint n_slow, guint n_middle, WhyKind *kind)
{
        const GArray *stays = k->of_slots[slot];
        Sums sums[3] = { { 0 } };

        EACH (const Stay, s, stays) {
                Sums *sum = &sums[part[s->request]];

                sum->own += (double)s->own;
                sum->calls += s->calls;
                sum->load += s->load;
                sum->waiting += (double)(s->queued + s->connecting);
                sum->there++;
        }
        WhyDifference d = { .where = k->where->pdata[slot],
                            .slow = sums[SLOW].own / n_slow,
                            .middle = sums[MIDDLE].own / n_middle,
                            .slow_calls = sums[SLOW].calls / n_slow,
                            .middle_calls = sums[MIDDLE].calls / n_middle,
                            .slow_load = sums[SLOW].load / MAX(sums[SLOW].there, 1),
                            .middle_load = sums[MIDDLE].load / MAX(sums[MIDDLE].there, 1),
                            .slow_waiting = sums[SLOW].waiting / n_slow,
                            .middle_waiting = sums[MIDDLE].waiting / n_middle };
        d.share = kind->slow > kind->middle ? (d.slow - d.middle) / (kind->slow - kind->middle) : 0;
        name_replica(w, k, slot, part, &d);
        if (sums[SLOW].there + sums[MIDDLE].there > 0)
                g_array_append_val(kind->places, d);
}

COMPARISON(compare_differences, WhyDifference,
           COMPARE(b->share, a->share) ?: strcmp(a->where, b->where))

static void add_starts(const Why *w, const Kind *k, const guint8 *part, WhyKind *kind, GArray *slow,
                       GArray *all)
{
        guint n_middle = 0;

        for (guint i = 0; i < k->requests->len; i++) {
                guint32 request = g_array_index(k->requests, guint32, i);
                const Request *r = why_request_at(w, request);

                g_array_append_val(all, r->start);
                if (part[request] == MIDDLE) {
                        kind->middle += (double)r->time;
                        n_middle++;
                }
                if (part[request] != SLOW)
                        continue;
                g_array_append_val(slow, r->start);
                kind->slow += (double)r->time;
                kind->doubtful += r->probability < WHY_SURE;
        }
        kind->slow /= kind->n_slow;
        kind->doubtful /= kind->n_slow;
        kind->middle /= n_middle;
}

static void append_starts(GArray *to, const GArray *from)
{
        g_array_append_vals(to, from->data, from->len);
}

static WhyKind *compare_parts(Why *w, Kind *k, GArray *slow_of_all, GArray *all_of_all)
{
        g_autoptr(GArray) slow = g_array_new(FALSE, FALSE, sizeof(gint64));
        g_autoptr(GArray) all = g_array_new(FALSE, FALSE, sizeof(gint64));
        WhyKind *kind = g_new0(WhyKind, 1);
        guint n_slow, n_middle;
        g_autoptr(GArray) order = kind_sort(w, k);
        g_autofree guint8 *part = why_kinds_divide(w, order, &n_slow, &n_middle);

        why_look_at(w, k);
        kind->client = node_table_written(w->nodes, k->client);
        kind->entry = node_table_written(w->nodes, k->root);
        kind->label = k->label;
        kind->count = k->requests->len;
        kind->n_slow = n_slow;
        add_starts(w, k, part, kind, slow, all);
        append_starts(slow_of_all, slow);
        append_starts(all_of_all, all);
        kind->burst = find_burst(slow, all);
        kind->shared = why_shared_of(w, order, 0, w->kinds->len);
        kind->places = g_array_new(FALSE, FALSE, sizeof(WhyDifference));
        for (guint32 s = 0; s < why_n_slots(k); s++)
                add_difference(w, k, s, part, n_slow, n_middle, kind);
        g_array_sort(kind->places, compare_differences);
        return kind;
}

static void free_why_kind(gpointer data)
{
        WhyKind *k = data;

        g_array_unref(k->places);
        g_array_unref(k->shared);
        g_free(k);
}

COMPARISON_OF_POINTERS(compare_kinds, Kind, COMPARE(b->total, a->total))

GPtrArray *why_kinds(Why *w, WhyBurst *burst)
{
        GPtrArray *kinds = g_ptr_array_new_with_free_func(free_why_kind);
        g_autoptr(GArray) slow = g_array_new(FALSE, FALSE, sizeof(gint64));
        g_autoptr(GArray) all = g_array_new(FALSE, FALSE, sizeof(gint64));
        g_autoptr(GPtrArray) sorted = g_ptr_array_new();

        for (guint i = 0; i < w->kinds->len; i++)
                g_ptr_array_add(sorted, w->kinds->pdata[i]);
        g_ptr_array_sort(sorted, compare_kinds);
        EACH_OF (Kind, k, sorted)
                if (k->requests->len >= FEWEST_OF_SUMMARY)
                        g_ptr_array_add(kinds, compare_parts(w, k, slow, all));
        *burst = find_burst(slow, all);
        return kinds;
}
