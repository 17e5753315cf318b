/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The order in which calls are visited, by time: once to score nestings, and once to find parents.
 * Each call comes twice: as a child, when it starts at its caller; and as a possible parent, when
 * it enters its callee.
 *
 * A child comes after all of its candidates. With a skew window, it therefore waits until the
 * window has passed. At equal times, children come before parents. Children come in order of start,
 * ties in the order of the trace.
 */
#pragma once

#include "calls/call-pair.h"

typedef struct {
        const CallPairs *calls; /* borrowed */
        gint64 window;          /* the skew window, ns */
        gboolean at_once;       /* each call enters when it starts, and they are in order */
        guint32 *by_start;      /* indices of the calls; NULL: all of them, in order */
        guint32 *by_enter;
        guint32 n_start, n_enter;       /* how many those are */
        guint32 size;                   /* room in each that is not NULL */
        guint32 next_start, next_enter; /* into them */
} CallOrder;

/* Of all calls, none of which is without an edge. sorted: the messages of the trace came in
 * time order. O(n) for a trace of one tap, else O(n log n). */
void call_order_init(CallOrder *order, const CallPairs *calls, gint64 window, gboolean sorted);

/* Of what comes before a moment and was in no order before, as calls->progress notes. */
void call_order_init_until(CallOrder *order, const CallPairs *calls, gint64 window, gint64 before);

/* Of what comes before a moment, again and again. */
void call_order_init_before(CallOrder *order, const CallPairs *calls, gint64 window, gint64 before);
void call_order_clear(CallOrder *order);

/* In calls->progress. */
enum { CALL_STARTED = 1, CALL_ENTERED = 2 };

/* Gives back the memory of the parts that lie in files, until they are looked at again. */
void call_order_put_away(const CallOrder *order);

static inline void call_order_restart(CallOrder *order)
{
        order->next_start = order->next_enter = 0;
}

/* The next call; whether it starts, or enters its callee, or both, the start first. FALSE at
 * the end. */
static inline gboolean call_order_next(CallOrder *o, guint32 *call, gboolean *starts,
                                       gboolean *enters)
{
        const CallPairs *c = o->calls;
        guint32 i = NO_PARENT, k = NO_PARENT;

        if (G_LIKELY(o->at_once)) {
                *call = o->next_start++;
                *starts = *enters = TRUE;
                return *call < o->n_start;
        }
        if (o->next_start < o->n_start)
                i = o->by_start ? o->by_start[o->next_start] : o->next_start;
        if (o->next_enter < o->n_enter)
                k = o->by_enter ? o->by_enter[o->next_enter] : o->next_enter;
        if (i == NO_PARENT && k == NO_PARENT)
                return FALSE;
        if (G_UNLIKELY((o->next_start + o->next_enter) % (1 << 16) == 0))
                call_order_put_away(o);
        *starts = k == NO_PARENT ||
                  (i != NO_PARENT && c->at_caller[i].from + o->window <= c->at_callee[k].from);
        *enters = !*starts;
        *call = *starts ? i : k;
        o->next_start += *starts;
        o->next_enter += *enters;
        return TRUE;
}
