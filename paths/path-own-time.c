/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Own time: which call each moment of a path instance's latency belongs to
 * (docs/paths.md has a drawing).
 *
 * Every call on the walk has a window (lo, hi] on its callee's clock, the time
 * that is its to give away. Calls come in pre-order, so one pass forward hands
 * each window down: no recursion, however deep the calls nest.
 */
#include <stdlib.h>
#include <string.h>

#include "paths/path-own-time.h"

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

/* Whether it is work of its caller's: nested, or a call that it made after the reply. */
static inline gboolean has_time(const PathCall *call)
{
        return !work_goes_on(call->continues) ||
               (call->continues == WORK_GOES_ON && !path_call_is_message(call));
}

gint64 path_call_missed_until(const PathCall *calls, guint32 n, guint32 call)
{
        const PathCall *c = &calls[call];
        gint64 until;

        if (c->parent == NO_PARENT)
                return c->end;
        until = MIN(c->end, MAX(calls[c->parent].reply, c->start));
        /* Siblings come in the order of their starts. */
        for (guint32 i = call + 1; i < n && calls[i].parent != NO_PARENT; i++) {
                if (calls[i].parent < c->parent)
                        break;
                if (calls[i].parent == c->parent && calls[i].start > c->start &&
                    calls[i].label == c->label && has_time(&calls[i]))
                        return MIN(until, calls[i].start);
        }
        return until;
}

/* Fills pieces with the children of window in the order of the walk. */
static guint32 find_pieces(const PathCall *calls, guint32 n_calls, const Window *windows,
                           const Window *window, Piece *pieces)
{
        guint32 n = 0;
        gboolean sorted = TRUE;

        for (guint32 i = window->last_child; i != NO_PARENT; i = windows[i].older) {
                if (!has_time(&calls[i]))
                        continue;
                Piece p = { MAX(calls[i].start, window->lo), MIN(calls[i].end, window->hi), i };
                if (G_UNLIKELY(work_is_missed(calls[i].continues)))
                        p.end = MIN(p.end, path_call_missed_until(calls, n_calls, i));
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
        call->network += (end - start) - (hi - lo);
        window->lo = call->enter + (lo - stay_start);
        window->hi = call->enter + (hi - stay_start);
}

/* Most calls are seen at one end, lie within their parent and begin after their sibling has ended.
 * Then all calls are on the walk, and each has the time that its children leave. FALSE for other
 * calls. after: room for n moments. */
static gboolean subtract_children(PathCall *calls, guint32 n, gint64 *after)
{
        for (guint32 i = 0; i < n; i++) {
                PathCall *c = &calls[i];
                gint64 latency = c->end - c->start;

                if ((c->enter ^ c->start) | (c->reply ^ c->end) | c->continues | c->wait |
                            (i > 0 ? c->connect : 0) | c->stall | c->ret_stall ||
                    latency < 0)
                        return FALSE;
                c->own = latency;
                c->network = c->queued = c->own_queued = c->connecting = 0;
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

static void link_children(const PathCall *calls, guint32 n, Window *windows)
{
        for (guint32 i = 0; i < n; i++) {
                windows[i] = (Window){ 0, 0, NO_PARENT, NO_PARENT };
                if (i > 0) {
                        windows[i].older = windows[calls[i].parent].last_child;
                        windows[calls[i].parent].last_child = i;
                }
        }
}

/* A connection that was opened for a call: since when its caller waits for it. */
typedef struct {
        gint64 since; /* NO_TIME: there is none */
        PathCall *call;
} Opening;

/* Of the calls that were taken, the one whose connection was asked for first; no connection from
 * before the call of caller was asked for by it. */
static inline void note_opening(Opening *o, const PathCall *caller, PathCall *call)
{
        gint64 since = call->start - call->connect;

        if (call->connect > 0 && since >= caller->enter && (!o->call || since < o->since))
                *o = (Opening){ since, call };
}

/* Gives the time (*from, *to] on its callee's clock, in which the network held bytes of call or of
 * its return up, to that; the rest is left. Seen at both ends, it is on the way already. */
static inline void give_stalls(PathCall *call, gint64 *from, gint64 *to)
{
        gint64 whole = call->enter + (call->enter == call->start ? call->stall : 0);
        gint64 held = call->reply - (call->reply == call->end ? call->ret_stall : 0);

        call->network += *to - *from;
        *from = CLAMP(whole, *from, *to);
        *to = CLAMP(held, *from, *to);
        call->network -= *to - *from;
}

/* Gives the time (from, to] on its callee's clock to call, but for what it waited in it for
 * the network. */
static inline void give_own(PathCall *call, gint64 from, gint64 to, const Opening *opening)
{
        gint64 taken = call->enter + call->wait;

        if (opening->call && opening->since < to) {
                gint64 since = MAX(opening->since, from);

                opening->call->network += to - since;
                opening->call->connecting += to - since;
                to = since;
        }
        if (call->stall | call->ret_stall)
                give_stalls(call, &from, &to);
        call->own += to - from;
        if (call->wait > 0 && from < taken)
                call->own_queued += MIN(to, taken) - from;
}

/* Gives away the windows that there are. */
static void walk(PathCall *calls, guint32 n, Window *windows, Piece *pieces)
{
        for (guint32 i = 0; i < n; i++) {
                gint64 t = windows[i].hi;
                Opening opening = { NO_TIME, NULL };
                if (t == windows[i].lo)
                        continue;
                guint32 n_pieces = find_pieces(calls, n, windows, &windows[i], pieces);
                for (guint32 k = 0; k < n_pieces; k++) {
                        const Piece *p = &pieces[k];
                        if (p->end > t)
                                continue; /* beside one that ended later */
                        give_own(&calls[i], p->end, t, &opening);
                        enter_callee(&calls[p->call], &windows[p->call], p->start, p->end);
                        note_opening(&opening, &calls[i], &calls[p->call]);
                        t = p->start;
                }
                give_own(&calls[i], windows[i].lo, t, &opening);
        }
}

/* --- work that goes on --------------------------------------------------------- */

/* The moments of a call on the clock of the root's caller. */
typedef struct {
        gint64 start, enter, reply, end;
        gint64 shift; /* from the callee's clock to that one */
} Moments;

static void find_moments(const PathCall *calls, guint32 n, Moments *at)
{
        for (guint32 i = 0; i < n; i++) {
                const PathCall *c = &calls[i];
                gint64 shift = i == 0 ? 0 : at[c->parent].shift;
                gint64 latency = MAX(c->end - c->start, 0);
                gint64 stay = CLAMP(c->reply - c->enter, 0, latency);
                gint64 way = path_call_is_message(c) ? MAX(c->enter - c->start, 0)
                                                     : (latency - stay) / 2;

                at[i].start = c->start + shift;
                at[i].enter = at[i].start + way;
                at[i].reply = at[i].enter + stay;
                at[i].end = path_call_is_message(c) ? at[i].enter : at[i].start + latency;
                at[i].shift = at[i].enter - c->enter;
        }
}

/* The continuation that ends last; of several the one that starts later, then the one called later.
 * The root where none ends after it. */
static guint32 own_time_find_last(const PathCall *calls, guint32 n, const Moments *at)
{
        guint32 last = 0;

        for (guint32 i = 1; i < n; i++)
                if (work_goes_on(calls[i].continues) && at[i].end > at[0].end &&
                    (at[i].end > at[last].end ||
                     (at[i].end == at[last].end && at[i].start >= at[last].start)))
                        last = i;
        return last;
}

/* The walk back from the end of what goes on: all before *t is to be given away, down to least. */
typedef struct {
        PathCall *calls;
        const Moments *at;
        Window *windows;
        gint64 t, least;
} Back;

/* How much of what is left lies after a moment, which is where it goes on from. */
static gint64 take(Back *b, gint64 from)
{
        gint64 before = b->t;

        b->t = MIN(b->t, MAX(from, b->least));
        return before - b->t;
}

/* What is left of the stay at call's callee becomes its window. */
static void take_stay(Back *b, guint32 call)
{
        Window *w = &b->windows[call];

        w->hi = b->t - b->at[call].shift;
        w->lo = w->hi - take(b, b->at[call].enter);
}

static void give_back(Back *b, guint32 call)
{
        PathCall *c = &b->calls[call];
        const Moments *at = &b->at[call];

        c->network += take(b, at->reply);
        take_stay(b, call);
        c->network += take(b, at->start);
        while (call != 0 && b->t > b->least) {
                guint32 parent = c->parent;

                /* What answered for it holds it from then on. */
                if (c->continues == WORK_QUEUED)
                        c->queued += take(b, b->at[parent].reply);
                take_stay(b, parent);
                call = parent;
                c = &b->calls[call];
                c->network += take(b, b->at[call].start);
        }
}

/* The time after the root's return. */
static void walk_on(PathCall *calls, guint32 n, Window *windows, Piece *pieces)
{
        g_autofree Moments *at = g_new(Moments, n);
        guint32 last;

        find_moments(calls, n, at);
        last = own_time_find_last(calls, n, at);
        for (guint32 i = 0; i < n; i++)
                windows[i].lo = windows[i].hi = 0;
        Back b = { calls, at, windows, at[last].end,
                   path_call_is_message(&calls[0]) ? at[0].start : at[0].end };
        give_back(&b, last);
        walk(calls, n, windows, pieces);
}

static void give_all(PathCall *calls, guint32 n, Window *windows, Piece *pieces)
{
        gboolean goes_on = FALSE;

        for (guint32 i = 0; i < n; i++) {
                calls[i].own = calls[i].network = calls[i].queued = calls[i].own_queued = 0;
                calls[i].connecting = 0;
                goes_on |= work_goes_on(calls[i].continues);
        }
        link_children(calls, n, windows);
        if (!path_call_is_message(&calls[0]))
                enter_callee(&calls[0], &windows[0], calls[0].start,
                             MAX(calls[0].end, calls[0].start));
        walk(calls, n, windows, pieces);
        if (goes_on)
                walk_on(calls, n, windows, pieces);
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
                give_all(calls, n, short_windows, short_pieces);
                return;
        }
        g_autofree Window *windows = g_new(Window, n);
        g_autofree Piece *pieces = g_new(Piece, n);
        give_all(calls, n, windows, pieces);
}

gint64 path_completion(const PathCall *calls, guint32 n)
{
        gint64 sum = 0;

        for (guint32 i = 0; i < n; i++)
                sum += calls[i].own + calls[i].network + calls[i].queued;
        return sum;
}
