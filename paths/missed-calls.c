/* SPDX-License-Identifier: BSD-2-Clause */
#include "paths/missed-calls.h"

#include <stdlib.h>

#include "base/compare.h"

/* When the caller of a call asked for it, or for its connection, if that was after a moment. */
static gint64 asked_after(const PathCall *call, gint64 moment)
{
        gint64 opened = call->delays ? call->start - call->delays->opened : call->start;

        return opened > moment ? opened : call->start;
}

/* A call of one operation by one call. */
typedef struct {
        guint32 parent, call;
        guint16 label;
} Asked;

static int compare_asked(const void *va, const void *vb)
{
        const Asked *a = va, *b = vb;

        return COMPARE(a->parent, b->parent) ?:
               COMPARE(a->label, b->label) ?:
               COMPARE(a->call, b->call);
}

/* By call, its next sibling of the same operation, in the order of their starts. NO_PARENT: none.
 */
static guint32 *find_next_same(const PathCall *calls, guint32 n)
{
        guint32 *next = g_new(guint32, n), n_asked = 0;
        g_autofree Asked *asked = g_new(Asked, n);

        for (guint32 i = 0; i < n; i++) {
                next[i] = NO_PARENT;
                if (path_call_has_time(&calls[i]))
                        asked[n_asked++] = (Asked){ calls[i].parent, i, calls[i].label };
        }
        qsort(asked, n_asked, sizeof *asked, compare_asked);
        for (guint32 i = 1; i < n_asked; i++)
                if (asked[i].parent == asked[i - 1].parent && asked[i].label == asked[i - 1].label)
                        next[asked[i - 1].call] = asked[i].call;
        return next;
}

/* Those of the later calls are known. opens: a call has opened its connection. */
static gint64 find_next_asked(const PathCall *calls, const guint32 *next, const gint64 *later,
                              gboolean opens, guint32 call)
{
        gint64 start = calls[call].start, beside = start;

        for (guint32 k = next[call]; k != NO_PARENT; k = next[k]) {
                gint64 asked = asked_after(&calls[k], start);

                if (calls[k].start > start && asked - beside >= LEAST_SPAN)
                        return asked;
                if (!opens)
                        return later[k];
                if (calls[k].start > start)
                        beside = MAX(asked, beside); /* its caller did not wait in between */
        }
        return G_MAXINT64;
}

gint64 *path_find_next_asked(const PathCall *calls, guint32 n)
{
        gboolean missed = FALSE, opens = FALSE;
        gint64 *asked;

        for (guint32 i = 0; i < n; i++) {
                missed |= work_is_missed(calls[i].continues);
                opens |= calls[i].delays && calls[i].delays->opened > 0;
        }
        if (G_LIKELY(!missed))
                return NULL;
        g_autofree guint32 *next = find_next_same(calls, n);
        asked = g_new(gint64, n);
        for (guint32 i = n; i-- > 0;)
                if (!opens || work_is_missed(calls[i].continues))
                        asked[i] = find_next_asked(calls, next, asked, opens, i);
        return asked;
}

gint64 path_call_missed_until(const PathCall *calls, const gint64 *next_asked, guint32 call)
{
        const PathCall *c = &calls[call];

        if (c->parent == NO_PARENT)
                return c->end;
        return MIN(MIN(c->end, MAX(calls[c->parent].reply, c->start)), next_asked[call]);
}
