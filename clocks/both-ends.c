/* SPDX-License-Identifier: BSD-2-Clause */
#include "clocks/both-ends.h"

#include "base/hash.h"

enum { MAX_WAITING = 1 << 20 };
#define NONE G_MAXUINT32

/* What is the same at both ends. A long id is its hash here. */
typedef struct {
        guint64 words[4];
} Key;

typedef struct {
        Key key;
        gint64 time;
        guint32 next;         /* of its bucket, later ones last; or the next free one */
        guint32 older, newer; /* of all that wait */
        guint32 is_receivers; /* which end this was */
} Waiting;

typedef struct {
        guint32 first, last;
} Bucket;

struct BothEnds {
        GArray *waiting; /* of Waiting, in use or free */
        guint32 n_waiting, free, oldest, newest;
        Bucket *buckets; /* of each end's observations by hash */
        guint bits;      /* there are 2^bits */
        guint64 given_up;
};

static void make_buckets(BothEnds *ends, guint bits)
{
        ends->bits = bits;
        ends->buckets = g_renew(Bucket, ends->buckets, (gsize)1 << bits);
        for (gsize i = 0; i < (gsize)1 << bits; i++)
                ends->buckets[i] = (Bucket){ NONE, NONE };
}

BothEnds *both_ends_new(void)
{
        BothEnds *ends = g_new0(BothEnds, 1);

        ends->waiting = g_array_new(FALSE, FALSE, sizeof(Waiting));
        ends->free = ends->oldest = ends->newest = NONE;
        make_buckets(ends, 10);
        return ends;
}

void both_ends_free(BothEnds *ends)
{
        if (!ends)
                return;
        g_array_free(ends->waiting, TRUE);
        g_free(ends->buckets);
        g_free(ends);
}

static Waiting *at(const BothEnds *ends, guint32 i)
{
        return &g_array_index(ends->waiting, Waiting, i);
}

static gboolean same_key(const Key *a, const Key *b)
{
        return a->words[0] == b->words[0] && a->words[1] == b->words[1] &&
               a->words[2] == b->words[2] && a->words[3] == b->words[3];
}

/* The two ends have buckets of their own, or what only one of them sees would be
 * walked through for each message. */
static Bucket *stamp_bucket(const BothEnds *ends, const Key *key, gboolean is_receivers)
{
        guint64 hash = hash_words(key->words, G_N_ELEMENTS(key->words));

        return &ends->buckets[hash_word(hash, is_receivers) * HASH_SEED >> (64 - ends->bits)];
}

static void append_stamp(BothEnds *ends, Bucket *bucket, guint32 i)
{
        at(ends, i)->next = NONE;
        if (bucket->last == NONE)
                bucket->first = i;
        else
                at(ends, bucket->last)->next = i;
        bucket->last = i;
}

static void buckets_grow(BothEnds *ends)
{
        make_buckets(ends, ends->bits + 1);
        for (guint32 i = ends->oldest; i != NONE; i = at(ends, i)->newer)
                append_stamp(ends, stamp_bucket(ends, &at(ends, i)->key, at(ends, i)->is_receivers),
                             i);
}

/* Takes i out, which comes after before in its bucket (NONE: it is the first). */
static void take_stamp_out(BothEnds *ends, Bucket *bucket, guint32 before, guint32 i)
{
        Waiting *w = at(ends, i);

        *(before == NONE ? &bucket->first : &at(ends, before)->next) = w->next;
        if (bucket->last == i)
                bucket->last = before;
        *(w->older == NONE ? &ends->oldest : &at(ends, w->older)->newer) = w->newer;
        *(w->newer == NONE ? &ends->newest : &at(ends, w->newer)->older) = w->older;
        w->next = ends->free;
        ends->free = i;
        ends->n_waiting--;
}

static void wait_for_other(BothEnds *ends, const Key *key, gint64 time, gboolean is_receivers)
{
        Waiting w = { .key = *key, .time = time, .is_receivers = is_receivers, .newer = NONE };
        guint32 i = ends->free;

        if (ends->n_waiting == MAX_WAITING) {
                Waiting *oldest = at(ends, ends->oldest);

                /* Nothing in its bucket is older. */
                i = ends->oldest;
                take_stamp_out(ends, stamp_bucket(ends, &oldest->key, oldest->is_receivers), NONE,
                               i);
                ends->given_up++;
        } else if (ends->n_waiting >> ends->bits) {
                buckets_grow(ends);
        }
        if (i == NONE) {
                i = ends->waiting->len;
                g_array_set_size(ends->waiting, i + 1);
        } else {
                ends->free = at(ends, i)->next;
        }
        w.older = ends->newest;
        *at(ends, i) = w;
        *(w.older == NONE ? &ends->oldest : &at(ends, w.older)->newer) = i;
        ends->newest = i;
        ends->n_waiting++;
        append_stamp(ends, stamp_bucket(ends, key, is_receivers), i);
}

gboolean both_ends_add(BothEnds *ends, const Message *m, gint64 *other)
{
        gboolean is_receivers = m->op & 1;
        Key key = { { (guint64)m->sender << 32 | m->receiver, m->id_words[0], m->id_words[1],
                      (guint64)m->id_length << 32 | m->op >> 1 } };
        Bucket *bucket = stamp_bucket(ends, &key, !is_receivers);
        guint32 before = NONE;

        if (m->id_length == 0)
                return FALSE;
        for (guint32 i = bucket->first; i != NONE; before = i, i = at(ends, i)->next)
                if (same_key(&at(ends, i)->key, &key)) {
                        *other = at(ends, i)->time;
                        take_stamp_out(ends, bucket, before, i);
                        return TRUE;
                }
        wait_for_other(ends, &key, m->time, is_receivers);
        return FALSE;
}

guint64 both_ends_given_up(const BothEnds *ends)
{
        return ends->given_up;
}
