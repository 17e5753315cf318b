/* SPDX-License-Identifier: BSD-2-Clause */
#include "nesting/seam.h"

#include <string.h>

#include "base/digest.h"

/* By NodeId: a digest of its name. */
static guint64 *digest_nodes(const NodeTable *nodes)
{
        guint n = node_table_size(nodes);
        guint64 *digest = g_new(guint64, n);

        for (guint i = 0; i < n; i++) {
                const char *name = node_table_written(nodes, i);

                digest[i] = digest_bytes(DIGEST_BEGIN, name, strlen(name));
        }
        return digest;
}

Seams seams_new(const KnownCalls *calls, const Slice *slice, gint64 window, gint64 longest)
{
        g_autofree guint64 *node = digest_nodes(calls->nodes);
        guint n;
        const Edge *edges = call_matcher_edges(calls->matcher, &n);
        Seams s = { .calls = calls,
                    .window = window,
                    .edge = g_new0(guint64, n + (gsize)1),
                    .slice = slice,
                    .longest = longest };

        for (guint i = 0; i < n; i++)
                s.edge[i + 1] = digest_number(node[edges[i].caller], node[edges[i].callee]);
        return s;
}

void seams_clear(Seams *s)
{
        g_free(s->edge);
        if (s->keys)
                g_hash_table_unref(s->keys);
}

/* 0 for calls whose key was forgotten. */
static guint64 key_of(const Seams *s, guint32 call)
{
        const CallPairs *c = &s->calls->pairs;
        const guint64 *key;

        if (!s->keys)
                return c->key[call];
        key = g_hash_table_lookup(s->keys, GUINT_TO_POINTER(call));
        return key ? *key : 0;
}

static guint64 with_stamps(const Seams *s, guint32 call, guint64 digest)
{
        const CallPairs *c = &s->calls->pairs;

        digest = digest_number(digest, (guint64)c->at_caller[call].from);
        digest = digest_number(digest, (guint64)c->at_caller[call].to);
        digest = digest_number(digest, (guint64)c->at_callee[call].from);
        digest = digest_number(digest, (guint64)c->at_callee[call].to);
        return digest_number(digest, c->stamps[call]);
}

guint64 seams_times(const Seams *s, guint32 call)
{
        return with_stamps(s, call, s->edge[s->calls->pairs.edge[call]]);
}

static guint64 with_key(const Seams *s, guint32 call, guint64 key)
{
        return with_stamps(s, call, digest_number(s->edge[s->calls->pairs.edge[call]], key));
}

guint64 seams_call(const Seams *s, guint32 call)
{
        guint32 length;
        const char *id;

        if (!s->calls->ids)
                return with_key(s, call, key_of(s, call));
        id = known_calls_id(s->calls, call, &length);
        return with_stamps(s, call, digest_bytes(s->edge[s->calls->pairs.edge[call]], id, length));
}

static gboolean starts_before(const Seams *s, guint32 call, gint64 at)
{
        const CallPairs *c = &s->calls->pairs;

        return MIN(c->at_caller[call].from, c->at_callee[call].from) - 2 * s->window < at;
}

static gboolean is_open(const Seams *s, guint32 call, gint64 at)
{
        const CallPairs *c = &s->calls->pairs;

        return starts_before(s, call, at) &&
               MAX(c->at_caller[call].to, c->at_callee[call].to) + 2 * s->window >= at;
}

/* Not at an end of the trace, where nothing meets. */
static gboolean is_seam(gint64 at)
{
        return at != G_MININT64 && at != G_MAXINT64;
}

/* The first call whose first stamp is at a moment or later; of one end, where these are in order.
 */
static guint32 find_first(const CallPairs *c, gint64 at)
{
        guint32 low = 0, high = c->n;

        while (low < high) {
                guint32 middle = low + (high - low) / 2;

                if (MIN(c->at_caller[middle].from, c->at_caller[middle].to) < at)
                        low = middle + 1;
                else
                        high = middle;
        }
        return low;
}

/* The calls that may be open at an end of the slice: from first until end. */
static guint32 find_near(const Seams *s, gint64 at, guint32 *end)
{
        const CallPairs *c = &s->calls->pairs;

        *end = is_seam(at) ? c->n : 0;
        if (!is_seam(at) || s->longest == UNKNOWN_LONGEST)
                return 0;
        *end = find_first(c, at + 2 * s->window);
        return find_first(c, at - 2 * s->window - s->longest);
}

guint64 seams_open(const Seams *s, gint64 at)
{
        guint64 sum = 0;
        guint32 end;

        for (guint32 i = find_near(s, at, &end); i < end; i++)
                if (is_open(s, i, at))
                        sum += seams_call(s, i);
        return sum;
}

/* Keeps the keys of calls that are open at an end. */
static void take_keys(Seams *s, const CallPairs *c, gint64 at)
{
        guint32 end;

        for (guint32 i = find_near(s, at, &end); i < end; i++)
                if (is_open(s, i, at))
                        g_hash_table_insert(s->keys, GUINT_TO_POINTER(i),
                                            g_memdup2(&c->key[i], sizeof c->key[i]));
}

/* A call that begins now is over at the end of the slice, and its parent, which began before it but
 * for the skew window, too. */
static gint64 find_quiet(const Seams *s, const CallPairs *c)
{
        gboolean known = s->longest != UNKNOWN_LONGEST;
        gint64 longest = known ? s->longest : 0, before;

        if (!is_seam(s->slice->to))
                return G_MAXINT64;
        for (guint32 i = 0; !known && i < c->n; i++)
                longest = MAX(longest, MAX(c->at_caller[i].to, c->at_callee[i].to) -
                                               MIN(c->at_caller[i].from, c->at_callee[i].from));
        before = longest + 8 * s->window;
        return s->slice->to > G_MININT64 + before ? s->slice->to - before : G_MININT64;
}

void seams_begin(Seams *s, CallPairs *c)
{
        g_assert(!s->keys);
        s->quiet = (Span){ is_seam(s->slice->from) ? s->slice->from + 2 * s->window : G_MININT64,
                           find_quiet(s, c) };
        if (s->quiet.to > s->longest + G_MININT64 && s->longest != UNKNOWN_LONGEST) {
                s->first_quiet = find_first(c, s->quiet.from);
                s->end_quiet = find_first(c, s->quiet.to - s->longest);
        }
        if (!c->key)
                return;
        s->keys = g_hash_table_new_full(NULL, NULL, NULL, g_free);
        take_keys(s, c, s->slice->from);
        take_keys(s, c, s->slice->to);
        call_pairs_forget_keys(c);
}

/* Of a call that is over by then without key, which the slice beyond may not have kept. */
static guint64 call_at(const Seams *s, guint32 call, gint64 at)
{
        return s->keys && !is_open(s, call, at) ? with_key(s, call, 0) : seams_call(s, call);
}

static guint64 with_parent(const Seams *s, guint32 call, guint32 parent, double probability,
                           gint64 at)
{
        guint64 digest = call_at(s, call, at), bits;

        if (parent == NO_PARENT)
                return digest_number(digest, 0);
        memcpy(&bits, &probability, sizeof bits);
        return digest_number(digest_number(digest, call_at(s, parent, at)), bits);
}

static gboolean is_at(const Seams *s, guint32 call, guint32 parent, gint64 at)
{
        return is_open(s, call, at) ||
               (parent != NO_PARENT && starts_before(s, call, at) && is_open(s, parent, at));
}

void seams_note_parent(Seams *s, guint32 call, guint32 parent, double probability)
{
        const gint64 at[2] = { s->slice->from, s->slice->to };
        const CallPairs *c = &s->calls->pairs;
        gint64 start = MIN(c->at_caller[call].from, c->at_callee[call].from);

        if (G_LIKELY(start >= s->quiet.from && start < s->quiet.to))
                return;
        for (guint i = 0; i < 2; i++)
                if (is_seam(at[i]) && is_at(s, call, parent, at[i]))
                        s->parents[i] += with_parent(s, call, parent, probability, at[i]);
}
