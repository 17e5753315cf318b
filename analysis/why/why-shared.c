/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What slow requests share: values of tags, operations, nodes, clients and hours that more of them
 * have than chance explains.
 */
#include <math.h>
#include <string.h>

#include "analysis/why/why-model.h"
#include "base/binomial.h"
#include "base/compare.h"

/* The probability that chance makes a store share anything, at most. */
#define SHARED_CHANCE 0.01

/* How much more frequent a value is among the slow requests, at least. */
#define LEAST_LIFT 1.5

/* The requests that may be the slow ones: the slowest part of all. */
static const double slow_parts[] = { 0.01, 0.02, 0.05, 0.1 };

enum {
        N_PARTS = G_N_ELEMENTS(slow_parts),
        FEWEST = 3, /* slow requests, and requests with a value that is tested */
        HOUR_SECONDS = 3600
};

typedef enum { TRAIT_TAG, TRAIT_OPERATION, TRAIT_NODE, TRAIT_CLIENT, TRAIT_HOUR } TraitKind;

/* A value that requests have. */
typedef struct {
        gint64 key; /* kind and number */
        guint last; /* the last request that has it: its place in the order, from 1 */
        guint all, slow[N_PARTS];
} Trait;

/* Requests in order, the slowest first, and their traits. */
typedef struct {
        const Why *why;
        const GArray *order; /* of Keyed */
        guint size[N_PARTS]; /* of each part; 0: not looked at */
        GHashTable *traits;  /* of Trait by key */
} Traits;

static void trait_add(Traits *t, guint at, TraitKind kind, gint64 number)
{
        gint64 key = number * 8 + (gint64)kind;
        Trait *trait = g_hash_table_lookup(t->traits, &key);

        if (!trait) {
                trait = g_new0(Trait, 1);
                trait->key = key;
                g_hash_table_insert(t->traits, &trait->key, trait);
        }
        if (trait->last == at + 1)
                return;
        trait->last = at + 1;
        trait->all++;
        for (guint p = 0; p < N_PARTS; p++)
                trait->slow[p] += at < t->size[p];
}

static void request_add_traits(Traits *t, guint at)
{
        const Why *w = t->why;
        const Request *r = why_request_at(w, g_array_index(t->order, Keyed, at).request);
        gint64 seconds = r->start / 1000000000 - (r->start % 1000000000 < 0);

        trait_add(t, at, TRAIT_HOUR,
                  (seconds - (seconds % HOUR_SECONDS + HOUR_SECONDS) % HOUR_SECONDS) /
                          HOUR_SECONDS);
        trait_add(t, at, TRAIT_CLIENT, r->client);
        for (guint32 i = r->first; i < r->first + r->n; i++) {
                const Call *c = why_call_at(w, i);

                trait_add(t, at, TRAIT_NODE, c->node);
                if (c->label)
                        trait_add(t, at, TRAIT_OPERATION, c->label);
                for (guint k = 0; c->tags && c->tags < w->tags->first->len; k++) {
                        guint32 from = g_array_index(w->tags->first, guint32, c->tags - 1);

                        if (from + k >= g_array_index(w->tags->first, guint32, c->tags))
                                break;
                        trait_add(t, at, TRAIT_TAG,
                                  g_array_index(w->tags->numbers, guint32, from + k));
                }
        }
}

static void shared_name(const Why *w, const Trait *trait, WhyShared *shared)
{
        static const char *const kinds[] = { "tag", "operation", "node", "client", "hour" };
        gint64 number = trait->key >> 3;

        shared->kind = kinds[trait->key & 7];
        switch ((TraitKind)(trait->key & 7)) {
        case TRAIT_TAG:
                shared->value = g_strdup(w->tags->texts->pdata[number]);
                break;
        case TRAIT_OPERATION:
                shared->value = g_strdup(store_reader_label(w->reader, (guint32)number));
                break;
        case TRAIT_NODE:
        case TRAIT_CLIENT:
                shared->value = g_strdup(node_table_written(w->nodes, (NodeId)number));
                break;
        case TRAIT_HOUR: {
                g_autoptr(GDateTime) hour = g_date_time_new_from_unix_utc(number * HOUR_SECONDS);

                shared->value = g_date_time_format(hour, "%Y-%m-%dT%H:00Z");
                break;
        }
        }
}

/* The part in which a value is the least likely to be as frequent by chance. */
static void shared_test(const Traits *t, const Trait *trait, double tests, GArray *found)
{
        WhyShared best = { .all = trait->all, .requests = t->order->len, .chance = 1 };

        for (guint p = 0; p < N_PARTS; p++) {
                double share = (double)trait->slow[p] / MAX(t->size[p], 1);
                double log_chance;

                if (share < LEAST_LIFT * trait->all / t->order->len || trait->slow[p] < 2)
                        continue;
                log_chance = hypergeometric_log_tail(t->order->len, trait->all, t->size[p],
                                                     trait->slow[p]);
                if (log_chance + log(tests) >= MIN(best.log_chance, log(SHARED_CHANCE)))
                        continue;
                best.log_chance = log_chance + log(tests);
                best.chance = exp(best.log_chance);
                best.slow = trait->slow[p];
                best.slowest = t->size[p];
        }
        if (best.slowest == 0)
                return;
        shared_name(t->why, trait, &best);
        g_array_append_val(found, best);
}

static void shared_clear(gpointer data)
{
        g_free(((WhyShared *)data)->value);
}

COMPARISON(shared_compare, WhyShared,
           COMPARE(a->log_chance, b->log_chance) ?: strcmp(a->kind, b->kind)
                                                 ?: strcmp(a->value, b->value))

static GArray *traits_find_shared(Traits *t, double kinds)
{
        GArray *found = g_array_new(FALSE, FALSE, sizeof(WhyShared));
        double tests = 0;
        GHashTableIter iter;
        gpointer trait;

        g_array_set_clear_func(found, shared_clear);
        t->traits = g_hash_table_new_full(g_int64_hash, g_int64_equal, NULL, g_free);
        for (guint i = 0; i < t->order->len; i++)
                request_add_traits(t, i);
        for (guint pass = 0; pass < 2; pass++) {
                g_hash_table_iter_init(&iter, t->traits);
                while (g_hash_table_iter_next(&iter, NULL, &trait)) {
                        guint all = ((Trait *)trait)->all;

                        if (all < FEWEST || all == t->order->len)
                                continue;
                        if (pass == 0)
                                for (guint p = 0; p < N_PARTS; p++)
                                        tests += t->size[p] > 0;
                        else
                                shared_test(t, trait, tests * kinds, found);
                }
        }
        g_hash_table_unref(t->traits);
        g_array_sort(found, shared_compare);
        return found;
}

GArray *why_shared_of(const Why *w, const GArray *order, guint n, guint kinds)
{
        Traits t = { .why = w, .order = order };

        for (guint p = 0; p < N_PARTS; p++) {
                guint size = n ? (p == 0 ? n : 0) : (guint)ceil(slow_parts[p] * order->len);

                if (size >= FEWEST && size < order->len)
                        t.size[p] = size;
        }
        return traits_find_shared(&t, kinds);
}

GArray *why_shared(Why *w, guint n)
{
        g_autoptr(GArray) order = g_array_new(FALSE, FALSE, sizeof(Keyed));

        for (guint32 i = 0; i < w->requests->len; i++) {
                Keyed k = { why_request_at(w, i)->time, i };

                g_array_append_val(order, k);
        }
        g_array_sort(order, why_compare_keyed);
        return why_shared_of(w, order, n, 1);
}
