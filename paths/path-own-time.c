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

#include "base/compare.h"
#include "paths/missed-calls.h"
#include "paths/path-own-time.h"

typedef struct {
        gint64 lo, hi;             /* of the callee, on its clock; lo == hi where off the walk */
        guint32 last_child, older; /* NO_PARENT: none; older is the sibling called before */
        guint32 feeder; /* the call above whose bytes it waits for until fed; NO_PARENT */
        gint64 fed;     /* on its clock */
} Window;

/* The part of a child's call that lies in its caller's window. */
typedef struct {
        gint64 start, end;
        guint32 call;
} Piece;

/* The order of the walk: ended later first, then started later, then called later. */
COMPARISON(compare_pieces, Piece,
           COMPARE(b->end, a->end) ?:
           COMPARE(b->start, a->start) ?:
           COMPARE(b->call, a->call))

/* Fills pieces with the children of window in the order of the walk. next_asked: NULL, if no call
 * is missed. */
static guint32 find_pieces(const PathCall *calls, const gint64 *next_asked, const Window *windows,
                           const Window *window, Piece *pieces)
{
        guint32 n = 0;
        gboolean sorted = TRUE;

        for (guint32 i = window->last_child; i != NO_PARENT; i = windows[i].older) {
                if (!path_call_has_time(&calls[i]))
                        continue;
                Piece p = { MAX(calls[i].start, window->lo), MIN(calls[i].end, window->hi), i };
                if (G_UNLIKELY(work_is_missed(calls[i].continues)))
                        p.end = MIN(p.end, path_call_missed_until(calls, next_asked, i));
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

/* --- the way -------------------------------------------------------------------- */

/* What can hold bytes up while a message is sent. */
static const WayCause holds[] = { WAY_DELAYED_ACK, WAY_SHUT, WAY_RESENT };
enum { N_HOLDS = G_N_ELEMENTS(holds) };

/* The three parts of a call, on its callee's clock: it is received until received, and was sent
 * again until taken; its return is sent from served on. What is left to be given away of what held
 * it up. */
typedef struct {
        gint64 received, taken, served;
        gint64 in[N_HOLDS], out[N_HOLDS];
        gint64 paused;     /* of the call, while it was received: its caller sent nothing */
        gint64 sent;       /* of the return: all but its callee's pauses */
        gint64 lost, slow; /* of the time on the way: sent again; of the return, sent slowly */
        gint64 again;      /* of the caller's time after the return: until that was sent again */
} Parts;

static void find_holds(const LegDelays *m, gint64 left[N_HOLDS])
{
        left[0] = m->ack;
        left[1] = m->shut;
        left[2] = m->stall - m->shut;
}

/* From the first byte of a message to its last, at the end that saw it as op, or else at the other.
 * Traces made by hand may have nothing but what held it up. */
static gint64 leg_span(const PathCall *call, const LegDelays *leg, MessageOp op)
{
        gint64 longest = MAX(leg->span[AT_SENDER], leg->span[AT_RECEIVER]);

        if (longest == 0)
                return MAX(leg->stall, leg->ack);
        return call->stamps & 1 << op ? leg->span[op & 1] : longest;
}

static Parts find_parts(const PathCall *call)
{
        const CallDelays *d = call->delays;
        gboolean call_at_one = call->enter == call->start, ret_at_one = call->reply == call->end;
        gint64 reply = MAX(call->reply, call->enter);
        Parts p = { 0 };

        find_holds(&d->call, p.in);
        find_holds(&d->ret, p.out);
        p.received = MIN(call->enter + leg_span(call, &d->call, CALL_RECV), reply);
        p.paused = MIN(d->call.pause, p.received - call->enter);
        p.taken = MIN(p.received + (call_at_one ? d->call.again : 0), reply);
        p.served = MAX(reply - leg_span(call, &d->ret, RET_SENT), p.taken);
        p.sent = MAX(leg_span(call, &d->ret, RET_SENT) - d->ret.pause, 0);
        p.lost = (call_at_one ? 0 : d->call.again) + (ret_at_one ? 0 : d->ret.again);
        p.again = ret_at_one ? d->ret.again : 0;
        if (d->ret.span[AT_RECEIVER] && call->stamps & 1 << RET_SENT)
                p.slow = MAX(d->ret.span[AT_RECEIVER] - d->ret.span[AT_SENDER], 0);
        return p;
}

/* What a walk works on. */
typedef struct {
        PathCall *calls;
        guint32 n;
        Window *windows;
        Piece *pieces;
        Parts *parts;             /* by call, if it has delays; NULL: no call has */
        const gint64 *next_asked; /* NULL: no call is missed */
} Walk;

static inline Parts *parts_of(const Walk *w, guint32 call)
{
        return w->parts && w->calls[call].delays ? &w->parts[call] : NULL;
}

static void give_way(PathCall *call, WayCause cause, gint64 ns)
{
        if (ns == 0)
                return;
        if (call->network == 0) /* what it had before is of no instance */
                memset(call->cause, 0, sizeof call->cause);
        call->network += ns;
        call->cause[cause] += ns;
}

/* Gives ns to what held bytes up, as far as some of that is left, and the rest to the slow way. */
static void give_held(PathCall *call, gint64 left[N_HOLDS], WayCause slow, gint64 ns)
{
        for (guint i = 0; i < N_HOLDS; i++) {
                gint64 held = MIN(left[i], ns);

                give_way(call, holds[i], held);
                left[i] -= held;
                ns -= held;
        }
        give_way(call, slow, ns);
}

/* The time ns on the way of a call that was seen at both ends. */
static void give_trip(const Walk *w, guint32 i, gint64 ns)
{
        PathCall *call = &w->calls[i];
        Parts *p = parts_of(w, i);

        if (p) {
                gint64 lost = MIN(p->lost, ns), slow = MIN(p->slow, ns - lost);

                give_way(call, WAY_RESENT, lost);
                give_held(call, p->out, WAY_SENDING, slow);
                p->lost -= lost;
                p->slow -= slow;
                ns -= lost + slow;
        }
        give_way(call, WAY_ROUND_TRIP, ns);
}

/* A call that is received from a caller that is still receiving: until when, on its callee's clock,
 * it waits for the bytes of the outermost. shift: from its caller's clock to its callee's. */
static void enter_feeder(const Walk *w, guint32 i, gint64 shift)
{
        guint32 parent = w->calls[i].parent;
        const Window *up = parent == NO_PARENT ? NULL : &w->windows[parent];
        const Parts *p = up ? parts_of(w, parent) : NULL;
        Window *window = &w->windows[i];

        window->feeder = NO_PARENT;
        if (up && up->feeder != NO_PARENT) {
                window->feeder = up->feeder;
                window->fed = up->fed + shift;
        }
        if (p && p->received + shift > w->calls[i].enter &&
            (window->feeder == NO_PARENT || window->fed <= w->calls[i].enter)) {
                window->feeder = parent;
                window->fed = p->received + shift;
        }
}

/* Gives the time (start, end] on the caller's clock to call i: what its callee was busy becomes its
 * window, the rest is on the way. */
static inline void enter_callee(const Walk *w, guint32 i, gint64 start, gint64 end)
{
        PathCall *call = &w->calls[i];
        Window *window = &w->windows[i];

        /* Seen at one end, it has no time on the way. */
        if (call->enter == call->start && call->reply == call->end) {
                window->lo = start;
                window->hi = end;
                if (w->parts)
                        enter_feeder(w, i, 0);
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
        give_trip(w, i, (end - start) - (hi - lo));
        window->lo = call->enter + (lo - stay_start);
        window->hi = call->enter + (hi - stay_start);
        if (w->parts)
                enter_feeder(w, i, call->enter - stay_start);
}

/* Most calls are seen at one end, lie within their parent and begin after their sibling has ended.
 * Then all calls are on the walk, and each has the time that its children leave. FALSE for other
 * calls. after: room for n moments. */
static gboolean subtract_children(PathCall *calls, guint32 n, gint64 *after)
{
        for (guint32 i = 0; i < n; i++) {
                PathCall *c = &calls[i];
                gint64 latency = c->end - c->start;

                if ((c->enter ^ c->start) | (c->reply ^ c->end) | c->continues | c->wait ||
                    c->delays || latency < 0)
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
                windows[i] = (Window){ 0, 0, NO_PARENT, NO_PARENT, NO_PARENT, 0 };
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
        gint64 since = call->delays ? call->start - call->delays->opened : call->start;

        if (since < call->start && since >= caller->enter && (!o->call || since < o->since))
                *o = (Opening){ since, call };
}

/* Gives the time (from, to] of the caller to the parts of the opening. Returns where they end: what
 * the caller does before its call is its own. */
static gint64 give_opening(const Opening *o, gint64 from, gint64 to)
{
        static const WayCause parts[] = { WAY_RESENT, WAY_TCP, WAY_TLS, WAY_LOGIN };
        const CallDelays *d = o->call->delays;
        gint64 tcp = d->tcp ? d->tcp : MAX(d->opened - d->tls - d->login, 0);
        gint64 again = MIN(d->syn_again, tcp);
        gint64 length[] = { again, tcp - again, d->tls, d->login }, at = o->since;

        for (guint i = 0; i < G_N_ELEMENTS(parts); i++) {
                gint64 end = MIN(at + length[i], o->call->start);

                give_way(o->call, parts[i], MAX(CLAMP(end, from, to) - CLAMP(at, from, to), 0));
                at = end;
        }
        return at;
}

/* Gives ns in which call i was received: to its caller, as far as that paused and is a node of the
 * path, and to the way. */
static void give_receiving(const Walk *w, guint32 i, Parts *p, gint64 ns)
{
        PathCall *call = &w->calls[i];

        if (call->parent != NO_PARENT) {
                gint64 paused = MIN(p->paused, ns);

                w->calls[call->parent].own += paused;
                p->paused -= paused;
                ns -= paused;
        }
        give_held(call, p->in, WAY_RECEIVING, ns);
}

/* Gives the time (from, to] on its callee's clock to call i: while it is received and its return is
 * sent, to the way. In a pause between the bytes of its return, the callee makes the next ones. */
static inline void give_serving(const Walk *w, guint32 i, gint64 from, gint64 to)
{
        PathCall *call = &w->calls[i];
        Parts *p = parts_of(w, i);
        gint64 waited = call->enter + call->wait;

        if (p) {
                const Window *window = &w->windows[i];
                gint64 fed = window->feeder == NO_PARENT ? from : window->fed, sent;
                gint64 received = CLAMP(p->received, from, to), served = MAX(p->served, from);

                fed = CLAMP(fed, from, received);
                if (fed > from)
                        give_receiving(w, window->feeder, &w->parts[window->feeder], fed - from);
                p->paused = MAX(p->paused - (fed - from), 0);
                give_receiving(w, i, p, received - fed);
                from = CLAMP(p->taken, received, to);
                give_way(call, WAY_RESENT, from - received);
                served = CLAMP(served, from, to);
                sent = MIN(to - served, p->sent);
                give_held(call, p->out, WAY_SENDING, sent);
                p->sent -= sent;
                call->own += to - served - sent;
                to = served;
        }
        call->own += to - from;
        if (call->wait > 0 && from < waited)
                call->own_queued += MIN(to, waited) - from;
}

/* The same, but for the time in which it waited for a connection. */
static inline void give_own(const Walk *w, guint32 i, gint64 from, gint64 to,
                            const Opening *opening)
{
        if (opening->call && opening->since < to) {
                gint64 ready = give_opening(opening, from, to);

                if (ready < to)
                        give_serving(w, i, MAX(ready, from), to);
                to = MAX(opening->since, from);
        }
        give_serving(w, i, from, to);
}

/* Gives the time (from, to] after the return of a child to its caller, call i: it waits until that
 * was sent again. */
static inline void give_after(const Walk *w, guint32 i, guint32 child, gint64 from, gint64 to,
                              const Opening *opening)
{
        const Parts *p = parts_of(w, child);

        if (p && p->again > 0) {
                gint64 again = MIN(p->again, to - from);

                give_way(&w->calls[child], WAY_RESENT, again);
                from += again;
        }
        give_own(w, i, from, to, opening);
}

/* Gives away the windows that there are. */
static void walk(const Walk *w)
{
        PathCall *calls = w->calls;
        Window *windows = w->windows;

        for (guint32 i = 0; i < w->n; i++) {
                gint64 t = windows[i].hi;
                Opening opening = { NO_TIME, NULL };
                if (t == windows[i].lo)
                        continue;
                guint32 n_pieces =
                        find_pieces(calls, w->next_asked, windows, &windows[i], w->pieces);
                for (guint32 k = 0; k < n_pieces; k++) {
                        const Piece *p = &w->pieces[k];
                        if (p->end > t)
                                continue; /* beside one that ended later */
                        give_after(w, i, p->call, p->end, t, &opening);
                        enter_callee(w, p->call, p->start, p->end);
                        note_opening(&opening, &calls[i], &calls[p->call]);
                        t = p->start;
                }
                give_own(w, i, windows[i].lo, t, &opening);
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

        give_way(c, WAY_ROUND_TRIP, take(b, at->reply));
        take_stay(b, call);
        give_way(c, WAY_ROUND_TRIP, take(b, at->start));
        while (call != 0 && b->t > b->least) {
                guint32 parent = c->parent;

                /* What answered for it holds it from then on. */
                if (c->continues == WORK_QUEUED)
                        c->queued += take(b, b->at[parent].reply);
                take_stay(b, parent);
                call = parent;
                c = &b->calls[call];
                give_way(c, WAY_ROUND_TRIP, take(b, b->at[call].start));
        }
}

/* The time after the root's return. */
static void walk_on(const Walk *w)
{
        PathCall *calls = w->calls;
        g_autofree Moments *at = g_new(Moments, w->n);
        guint32 last;

        find_moments(calls, w->n, at);
        last = own_time_find_last(calls, w->n, at);
        for (guint32 i = 0; i < w->n; i++)
                w->windows[i].lo = w->windows[i].hi = 0;
        Back b = { calls, at, w->windows, at[last].end,
                   path_call_is_message(&calls[0]) ? at[0].start : at[0].end };
        give_back(&b, last);
        walk(w);
}

/* NULL: no call has delays. */
static Parts *find_all_parts(const PathCall *calls, guint32 n)
{
        Parts *parts = NULL;

        for (guint32 i = 0; i < n; i++)
                if (calls[i].delays) {
                        if (!parts)
                                parts = g_new(Parts, n);
                        parts[i] = find_parts(&calls[i]);
                }
        return parts;
}

static void give_all(PathCall *calls, guint32 n, Window *windows, Piece *pieces)
{
        g_autofree Parts *parts = find_all_parts(calls, n);
        g_autofree gint64 *next_asked = path_find_next_asked(calls, n);
        Walk w = { calls, n, windows, pieces, parts, next_asked };
        gboolean goes_on = FALSE;

        for (guint32 i = 0; i < n; i++) {
                calls[i].own = calls[i].network = calls[i].queued = calls[i].own_queued = 0;
                goes_on |= work_goes_on(calls[i].continues);
        }
        link_children(calls, n, windows);
        if (!path_call_is_message(&calls[0]))
                enter_callee(&w, 0, calls[0].start, MAX(calls[0].end, calls[0].start));
        walk(&w);
        if (goes_on)
                walk_on(&w);
        for (guint32 i = 0; i < n; i++)
                calls[i].connecting = calls[i].network == 0
                                              ? 0
                                              : calls[i].cause[WAY_TCP] + calls[i].cause[WAY_TLS] +
                                                        calls[i].cause[WAY_LOGIN];
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
