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

Seams seams_new(const KnownCalls *calls, const Slice *slice, gint64 window)
{
        g_autofree guint64 *node = digest_nodes(calls->nodes);
        guint n;
        const Edge *edges = call_matcher_edges(calls->matcher, &n);
        Seams s = { calls, window, g_new0(guint64, n + (gsize)1), slice, { 0, 0 } };

        for (guint i = 0; i < n; i++)
                s.edge[i + 1] = digest_number(node[edges[i].caller], node[edges[i].callee]);
        return s;
}

void seams_clear(Seams *s)
{
        g_free(s->edge);
}

guint64 seams_call(const Seams *s, guint32 call)
{
        const CallPairs *c = &s->calls->pairs;
        guint64 digest = s->edge[c->edge[call]];

        if (s->calls->ids) {
                guint32 length;
                const char *id = known_calls_id(s->calls, call, &length);

                digest = digest_bytes(digest, id, length);
        } else {
                digest = digest_number(digest, c->key[call]);
        }
        digest = digest_number(digest, (guint64)c->at_caller[call].from);
        digest = digest_number(digest, (guint64)c->at_caller[call].to);
        digest = digest_number(digest, (guint64)c->at_callee[call].from);
        digest = digest_number(digest, (guint64)c->at_callee[call].to);
        return digest_number(digest, c->stamps[call]);
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

guint64 seams_open(const Seams *s, gint64 at)
{
        guint64 sum = 0;

        for (guint32 i = 0; is_seam(at) && i < s->calls->pairs.n; i++)
                if (is_open(s, i, at))
                        sum += seams_call(s, i);
        return sum;
}

static guint64 with_parent(const Seams *s, guint32 call, guint32 parent, double probability)
{
        guint64 digest = seams_call(s, call), bits;

        if (parent == NO_PARENT)
                return digest_number(digest, 0);
        memcpy(&bits, &probability, sizeof bits);
        return digest_number(digest_number(digest, seams_call(s, parent)), bits);
}

static gboolean is_at(const Seams *s, guint32 call, guint32 parent, gint64 at)
{
        return is_open(s, call, at) ||
               (parent != NO_PARENT && starts_before(s, call, at) && is_open(s, parent, at));
}

void seams_note_parent(Seams *s, guint32 call, guint32 parent, double probability)
{
        const gint64 at[2] = { s->slice->from, s->slice->to };

        for (guint i = 0; i < 2; i++)
                if (is_seam(at[i]) && is_at(s, call, parent, at[i]))
                        s->parents[i] += with_parent(s, call, parent, probability);
}
