/* SPDX-License-Identifier: BSD-2-Clause */
#include "paths/missed-calls.h"

#include <stdlib.h>

#include "base/compare.h"

/* Calls of one operation by one call stand together, in the order of their starts. */
typedef struct {
        guint32 parent, call;
        guint16 label;
} Sibling;

COMPARISON(compare_siblings, Sibling,
           COMPARE(a->parent, b->parent) ?:
           COMPARE(a->label, b->label) ?:
           COMPARE(a->call, b->call))

/* When the connection of one of the siblings was asked for. */
typedef struct {
        gint64 time;
        guint32 sibling;
} Opening;

COMPARISON(compare_openings, Opening, COMPARE(b->time, a->time))

/* --- a tree of moments ------------------------------------------------------ */

/* When the siblings below a node of the tree were asked for; G_MININT64: none. */
typedef struct {
        gint64 last;
        gint64 apart; /* the last that is LEAST_SPAN after all before it */
} Moments;

/* The root is node 1, and the children of i are 2 i and 2 i + 1. */
typedef struct {
        Moments *nodes;
        guint32 leaves;
} MomentTree;

static gboolean is_apart(gint64 asked, gint64 before)
{
        return asked != G_MININT64 && (before == G_MININT64 || asked - before >= LEAST_SPAN);
}

static void moment_tree_init(MomentTree *t, guint32 n)
{
        for (t->leaves = 1; t->leaves < n;)
                t->leaves *= 2;
        t->nodes = g_new(Moments, 2 * (gsize)t->leaves);
        for (guint32 i = 0; i < 2 * t->leaves; i++)
                t->nodes[i] = (Moments){ G_MININT64, G_MININT64 };
}

static void moment_tree_set(MomentTree *t, guint32 sibling, gint64 asked)
{
        guint32 at = t->leaves + sibling;

        t->nodes[at] = (Moments){ asked, asked };
        for (at /= 2; at > 0; at /= 2) {
                Moments a = t->nodes[2 * at], b = t->nodes[2 * at + 1];

                t->nodes[at].last = MAX(a.last, b.last);
                t->nodes[at].apart = is_apart(b.apart, a.last) ? b.apart : a.apart;
        }
}

/* The first moment, from a sibling on, that is LEAST_SPAN after `last` and all moments in between;
 * G_MAXINT64: none. */
static gint64 moment_tree_find_apart(const MomentTree *t, guint32 from, gint64 last)
{
        guint32 at = t->leaves + from;

        while (!is_apart(t->nodes[at].apart, last)) {
                last = MAX(last, t->nodes[at].last);
                while (at % 2 == 1)
                        at /= 2;
                if (at == 0)
                        return G_MAXINT64;
                at++;
        }
        while (at < t->leaves) {
                at *= 2;
                if (!is_apart(t->nodes[at].apart, last)) {
                        last = MAX(last, t->nodes[at].last);
                        at++;
                }
        }
        return t->nodes[at].last;
}

/* --- siblings ---------------------------------------------------------------- */

static guint32 find_openings(const PathCall *calls, const Sibling *same, guint32 n,
                             Opening *openings)
{
        guint32 n_openings = 0;

        for (guint32 i = 0; i < n; i++) {
                const PathCall *c = &calls[same[i].call];

                if (c->delays && c->delays->opened > 0)
                        openings[n_openings++] = (Opening){ c->start - c->delays->opened, i };
        }
        qsort(openings, n_openings, sizeof *openings, compare_openings);
        return n_openings;
}

/* A sibling was asked for when it started or, if that was later than the start of the missed call,
 * when its connection was. Missed calls are looked at from the last one on, so this changes once.
 */
static void find_asked_among(const PathCall *calls, const Sibling *same, guint32 n, gint64 *asked)
{
        g_autofree Opening *openings = g_new(Opening, n);
        guint32 n_openings = find_openings(calls, same, n, openings), opened = 0, later = n;
        MomentTree tree;

        moment_tree_init(&tree, n);
        for (guint32 i = n; i-- > 0;) {
                gint64 start = calls[same[i].call].start;

                if (i + 1 < n && calls[same[i + 1].call].start > start)
                        later = i + 1;
                for (; opened < n_openings && openings[opened].time > start; opened++)
                        moment_tree_set(&tree, openings[opened].sibling, openings[opened].time);
                asked[same[i].call] =
                        later < n ? moment_tree_find_apart(&tree, later, start) : G_MAXINT64;
                moment_tree_set(&tree, i, start);
        }
        g_free(tree.nodes);
}

gint64 *path_find_next_asked(const PathCall *calls, guint32 n)
{
        gboolean missed = FALSE;
        guint32 n_same = 0;

        for (guint32 i = 0; i < n; i++)
                missed |= work_is_missed(calls[i].continues);
        if (G_LIKELY(!missed))
                return NULL;
        g_autofree Sibling *same = g_new(Sibling, n);
        gint64 *asked = g_new(gint64, n);
        for (guint32 i = 0; i < n; i++) {
                asked[i] = G_MAXINT64;
                if (path_call_has_time(&calls[i]))
                        same[n_same++] = (Sibling){ calls[i].parent, i, calls[i].label };
        }
        qsort(same, n_same, sizeof *same, compare_siblings);
        for (guint32 first = 0, end; first < n_same; first = end) {
                for (end = first + 1; end < n_same && same[end].parent == same[first].parent &&
                                      same[end].label == same[first].label;)
                        end++;
                if (end - first > 1)
                        find_asked_among(calls, same + first, end - first, asked);
        }
        return asked;
}

gint64 path_call_missed_until(const PathCall *calls, const gint64 *next_asked, guint32 call)
{
        const PathCall *c = &calls[call];

        if (c->parent == NO_PARENT)
                return c->end;
        return MIN(MIN(c->end, MAX(calls[c->parent].reply, c->start)), next_asked[call]);
}
