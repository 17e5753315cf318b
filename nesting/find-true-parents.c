/* SPDX-License-Identifier: BSD-2-Clause */
#include "nesting/find-true-parents.h"

#include <string.h>

#include "base/hash.h"

typedef struct {
        const KnownCalls *calls;
        gint64 before;
        TruthCounts *counts;
} Search;

static gboolean is_counted(const Search *s, guint32 call)
{
        return !known_calls_is_decided(s->calls, call) &&
               s->calls->pairs.at_caller[call].from < s->before;
}

/* Calls by position, in a table of open addressing. */
typedef struct {
        guint32 *call; /* NO_PARENT: free */
        gsize mask;
} Positions;

/* The entry of a position, or the free entry where it belongs. */
static guint32 *find_position(const Search *s, const Positions *p, const char *path, guint32 length)
{
        for (gsize i = hash_bytes(path, length) & p->mask;; i = (i + 1) & p->mask) {
                const char *other;
                guint32 other_length;

                if (p->call[i] == NO_PARENT)
                        return &p->call[i];
                other = known_calls_path(s->calls, p->call[i], &other_length);
                if (other_length == length && !memcmp(other, path, length))
                        return &p->call[i];
        }
}

static void index_positions(const Search *s, Positions *p)
{
        p->mask = 15;
        while (p->mask / 2 < s->calls->pairs.n)
                p->mask = p->mask * 2 + 1;
        p->call = g_new(guint32, p->mask + 1);
        memset(p->call, 0xff, (p->mask + 1) * sizeof *p->call);
        for (guint32 i = 0; i < s->calls->pairs.n; i++) {
                guint32 length;
                const char *path;
                guint32 *at;

                if (!s->calls->pairs.edge[i])
                        continue;
                path = known_calls_path(s->calls, i, &length);
                if (length == 0) {
                        s->counts->without += is_counted(s, i);
                        continue;
                }
                at = find_position(s, p, path, length);
                if (*at == NO_PARENT)
                        *at = i;
                else
                        s->counts->repeated += is_counted(s, i);
        }
}

/* The call whose position is one part shorter; NO_PARENT: there is none. */
static guint32 find_true_parent(const Search *s, const Positions *p, guint32 call)
{
        guint32 length, parent;
        const char *path = known_calls_path(s->calls, call, &length);
        const char *dot = memrchr(path, '.', length);

        if (!dot)
                return NO_PARENT;
        parent = *find_position(s, p, path, dot - path);
        if (parent != NO_PARENT &&
            known_calls_edge(s->calls, parent)->callee == known_calls_edge(s->calls, call)->caller)
                return parent;
        s->counts->lost += is_counted(s, call);
        return NO_PARENT;
}

guint32 *find_true_parents(const KnownCalls *calls, gint64 before, TruthCounts *counts)
{
        const Search s = { calls, before, counts };
        guint32 *parent = g_new(guint32, calls->pairs.n);
        Positions positions;

        index_positions(&s, &positions);
        for (guint32 i = 0; i < calls->pairs.n; i++)
                parent[i] = calls->pairs.edge[i] ? find_true_parent(&s, &positions, i) : NO_PARENT;
        g_free(positions.call);
        return parent;
}

void take_true_parents(KnownCalls *calls, TruthCounts *counts)
{
        g_autofree guint32 *parent = find_true_parents(calls, G_MAXINT64, counts);
        CallPairs *c = &calls->pairs;

        for (guint32 i = 0; i < c->n; i++) {
                /* If no position names the parent, the link may. */
                if (parent[i] == NO_PARENT && call_links_parent(&calls->links, i) != NO_PARENT)
                        continue;
                if (parent[i] != NO_PARENT)
                        call_pairs_set_cause(c, i, (Cause){ parent[i], 1 });
                if (c->candidates)
                        c->candidates[i] = parent[i] != NO_PARENT;
        }
}
