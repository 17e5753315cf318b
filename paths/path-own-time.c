/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Own time: which call each moment of a path instance's latency belongs to
 * (path_own_times() in path-set.h; docs/paths.md says it with a drawing).
 *
 * Every call on the walk has a window (lo, hi] on its callee's clock, the time
 * that is its to give away. Calls come in pre-order, so one pass forward hands
 * each window down: no recursion, however deep the calls nest.
 */
#include <stdlib.h>
#include <string.h>

#include "paths/path-set.h"

typedef struct {
        gint64 lo, hi;             /* of the callee, on its clock; lo == hi where off the walk */
        guint32 last_child, older; /* NO_PARENT: none; older is the sibling called before */
} Window;

/* The part of a child's call that lies in its caller's window. */
typedef struct {
        gint64 start, end;
        guint32 call;
} Piece;

/* The order of the walk: ended later first, then started later, then called later. */
static int compare_pieces(const void *va, const void *vb)
{
        const Piece *a = va, *b = vb;

        if (a->end != b->end)
                return a->end > b->end ? -1 : 1;
        if (a->start != b->start)
                return a->start > b->start ? -1 : 1;
        return a->call > b->call ? -1 : a->call < b->call;
}

/* Fills pieces with the children of window in the order of the walk. */
static guint32 find_pieces(const PathCall *calls, const Window *windows, const Window *window,
                           Piece *pieces)
{
        guint32 n = 0;
        gboolean sorted = TRUE;

        for (guint32 i = window->last_child; i != NO_PARENT; i = windows[i].older) {
                Piece p = { MAX(calls[i].start, window->lo), MIN(calls[i].end, window->hi), i };
                if (p.start > p.end || calls[i].start >= window->hi)
                        continue;
                /* Children called one after the other are in order already. */
                if (n > 0 && compare_pieces(&pieces[n - 1], &p) > 0)
                        sorted = FALSE;
                pieces[n++] = p;
        }
        if (!sorted)
                qsort(pieces, n, sizeof *pieces, compare_pieces);
        return n;
}

/* Gives the time (start, end] on the caller's clock to call: what its callee
 * was busy becomes its window, the rest is the network's. */
static inline void enter_callee(PathCall *call, Window *window, gint64 start, gint64 end)
{
        /* Seen at one end, it has no time on the way. */
        if (call->enter == call->start && call->reply == call->end) {
                window->lo = start;
                window->hi = end;
                return;
        }
        gint64 latency = MAX(call->end - call->start, 0);
        gint64 stay = CLAMP(call->reply - call->enter, 0, latency);
        /* Two clocks, so only lengths compare: the stay is put in the middle. */
        gint64 stay_start = call->start + (latency - stay) / 2;
        gint64 stay_end = stay_start + stay;

        gint64 lo = MAX(stay_start, start), hi = MIN(stay_end, end);
        if (lo > hi)
                lo = hi = stay_start;
        call->network = (end - start) - (hi - lo);
        window->lo = call->enter + (lo - stay_start);
        window->hi = call->enter + (hi - stay_start);
}

/* Most calls are seen at one end, lie within their parent's and begin when the one before has
 * ended: then all of them are on the walk, and each has what its children leave of it. FALSE
 * where it is not so. after: room for n moments. */
static gboolean subtract_children(PathCall *calls, guint32 n, gint64 *after)
{
        for (guint32 i = 0; i < n; i++) {
                PathCall *c = &calls[i];
                gint64 latency = c->end - c->start;

                if ((c->enter ^ c->start) | (c->reply ^ c->end) || latency < 0)
                        return FALSE;
                c->own = latency;
                c->network = 0;
                after[i] = c->start;
                if (i == 0)
                        continue;
                if (c->start < after[c->parent] || c->end > calls[c->parent].end)
                        return FALSE;
                after[c->parent] = c->end;
                calls[c->parent].own -= latency;
        }
        return TRUE;
}

static void walk(PathCall *calls, guint32 n, Window *windows, Piece *pieces)
{
        for (guint32 i = 0; i < n; i++) {
                windows[i] = (Window){ 0, 0, NO_PARENT, NO_PARENT };
                calls[i].own = calls[i].network = 0;
                if (i > 0) {
                        windows[i].older = windows[calls[i].parent].last_child;
                        windows[calls[i].parent].last_child = i;
                }
        }
        enter_callee(&calls[0], &windows[0], calls[0].start, MAX(calls[0].end, calls[0].start));
        for (guint32 i = 0; i < n; i++) {
                gint64 t = windows[i].hi;
                if (t == windows[i].lo)
                        continue;
                guint32 n_pieces = find_pieces(calls, windows, &windows[i], pieces);
                for (guint32 k = 0; k < n_pieces; k++) {
                        const Piece *p = &pieces[k];
                        if (p->end > t)
                                continue; /* beside one that ended later */
                        calls[i].own += t - p->end;
                        enter_callee(&calls[p->call], &windows[p->call], p->start, p->end);
                        t = p->start;
                }
                calls[i].own += t - windows[i].lo;
        }
}

void path_own_times(PathCall *calls, guint32 n)
{
        enum { SHORT = 64 }; /* most paths: no memory to ask for */
        Window short_windows[SHORT];
        Piece short_pieces[SHORT];
        gint64 after[SHORT];

        g_assert(n >= 1 && calls[0].parent == NO_PARENT);
        if (n <= SHORT) {
                if (subtract_children(calls, n, after))
                        return;
                walk(calls, n, short_windows, short_pieces);
                return;
        }
        g_autofree Window *windows = g_new(Window, n);
        g_autofree Piece *pieces = g_new(Piece, n);
        walk(calls, n, windows, pieces);
}
