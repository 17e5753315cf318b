/* SPDX-License-Identifier: BSD-2-Clause */
#include "nesting/seam.h"

#include <string.h>

#include "base/digest.h"

Seams seams_new(const KnownCalls *calls, gint64 window)
{
        guint n = node_table_size(calls->nodes);
        Seams s = { calls, window, g_new(guint64, n) };

        for (guint i = 0; i < n; i++) {
                const char *name = node_table_written(calls->nodes, i);

                s.node[i] = digest_bytes(DIGEST_BEGIN, name, strlen(name));
        }
        return s;
}

void seams_clear(Seams *s)
{
        g_free(s->node);
}

guint64 seams_call(const Seams *s, guint32 call)
{
        const CallPairs *c = &s->calls->pairs;
        guint n_edges;
        const Edge *edge = &call_matcher_edges(s->calls->matcher, &n_edges)[c->edge[call] - 1];
        guint32 length;
        const char *id = known_calls_id(s->calls, call, &length);
        guint64 digest = digest_bytes(DIGEST_BEGIN, id, length);

        digest = digest_number(digest, s->node[edge->caller]);
        digest = digest_number(digest, s->node[edge->callee]);
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

static guint64 with_parent(const Seams *s, guint32 call)
{
        Cause cause = s->calls->pairs.cause[call];
        guint64 digest = seams_call(s, call);
        guint32 bits;

        if (cause.parent == NO_PARENT)
                return digest_number(digest, 0);
        memcpy(&bits, &cause.probability, sizeof bits);
        return digest_number(digest_number(digest, seams_call(s, cause.parent)), bits);
}

guint64 seams_parents(const Seams *s, gint64 at)
{
        guint64 sum = 0;

        for (guint32 i = 0; is_seam(at) && i < s->calls->pairs.n; i++) {
                guint32 parent = s->calls->pairs.cause[i].parent;

                if (is_open(s, i, at) ||
                    (parent != NO_PARENT && starts_before(s, i, at) && is_open(s, parent, at)))
                        sum += with_parent(s, i);
        }
        return sum;
}
