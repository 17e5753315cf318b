/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/network/pair-table.h"

#include "base/hash.h"

typedef struct {
        Endpoint end[2];
        gint64 from;
        guint64 older; /* in its bucket, as in buckets */
        guint32 value;
} Pair;

/* Pairs have numbers from 1 in the order in which they came, and are kept in a ring. A bucket is
 * a list of entries, the newest first. It is over where an entry's number has left the ring. */
struct PairTable {
        Pair *pairs;
        guint64 n; /* pairs that ever came */
        guint limit, capacity;
        guint64 *buckets;
        guint n_buckets; /* a power of 2 */
        guint64 seed;    /* whoever chooses addresses does not know it; no result depends on it */
};

enum { FIRST_BUCKETS = 64 };

PairTable *pair_table_new(guint limit)
{
        PairTable *t = g_new0(PairTable, 1);
        t->limit = limit;
        t->n_buckets = FIRST_BUCKETS;
        t->buckets = g_new0(guint64, t->n_buckets);
        t->seed = (guint64)g_random_int() << 32 | g_random_int();
        return t;
}

void pair_table_limit(PairTable *t, guint limit)
{
        t->limit = (guint)MAX(limit, t->n);
}

void pair_table_free(PairTable *t)
{
        if (!t)
                return;
        g_free(t->pairs);
        g_free(t->buckets);
        g_free(t);
}

static guint64 *pair_table_bucket_of(const PairTable *t, const Endpoint *first,
                                     const Endpoint *second)
{
        guint64 h = hash_word(t->seed, first->address.high);
        h = hash_word(h, first->address.low);
        h = hash_word(h, second->address.high);
        h = hash_word(h, second->address.low);
        h = hash_word(h, (guint64)first->port << 16 | second->port);
        return &t->buckets[h & (t->n_buckets - 1)];
}

static Pair *pair_table_at(const PairTable *t, guint64 number)
{
        return &t->pairs[(number - 1) % t->limit];
}

static void put_in_bucket(PairTable *t, guint64 number)
{
        Pair *pair = pair_table_at(t, number);
        guint64 *bucket = pair_table_bucket_of(t, &pair->end[0], &pair->end[1]);
        pair->older = *bucket;
        *bucket = number;
}

/* The number of the oldest that is kept. */
static guint64 oldest(const PairTable *t)
{
        return t->n > t->limit ? t->n - t->limit + 1 : 1;
}

static void pair_table_grow(PairTable *t)
{
        t->capacity = MIN(t->capacity ? 2 * t->capacity : FIRST_BUCKETS, t->limit);
        t->pairs = g_renew(Pair, t->pairs, t->capacity);
        while (t->n_buckets < t->capacity)
                t->n_buckets *= 2;
        g_free(t->buckets);
        t->buckets = g_new0(guint64, t->n_buckets);
        for (guint64 i = 1; i <= t->n; i++)
                put_in_bucket(t, i);
}

void pair_table_add(PairTable *t, const Endpoint *first, const Endpoint *second, gint64 from,
                    guint32 value)
{
        if (t->n == t->capacity && t->capacity < t->limit)
                pair_table_grow(t);
        t->n++;
        *pair_table_at(t, t->n) = (Pair){ { *first, *second }, from, 0, value };
        put_in_bucket(t, t->n);
}

gboolean pair_table_find(const PairTable *t, const Endpoint *first, const Endpoint *second,
                         gint64 time, guint32 *value)
{
        const Pair *best = NULL;
        if (t->n == 0)
                return FALSE;
        for (guint64 i = *pair_table_bucket_of(t, first, second); i >= oldest(t);
             i = pair_table_at(t, i)->older) {
                const Pair *pair = pair_table_at(t, i);
                if (pair->from <= time && (!best || pair->from > best->from) &&
                    endpoint_equal(&pair->end[0], first) && endpoint_equal(&pair->end[1], second))
                        best = pair;
        }
        if (best)
                *value = best->value;
        return best != NULL;
}
