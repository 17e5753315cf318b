/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The calls on a connection that wait for their return, oldest first. A return answers the oldest
 * call of the other side, or the call with its key. A connection keeps a bounded number of calls,
 * and so do all connections together. A call without room is counted as unanswered.
 */
#pragma once

#include "capture/packet/account.h"

typedef struct {
        guint64 number; /* of its id */
        guint64 key;    /* by which it is found */
        gint64 time;    /* of its first byte */
        gint64 resent;  /* ns from its last byte until bytes were sent again */
        guint8 call;    /* Parsed.call */
        guint8 side;    /* who called */
        guint8 session;
        guint8 by_run;
        guint8 unsure; /* it may wait for work, or a hole may hide its return */
        guint16 topic; /* Parsed.topic */
} WaitingCall;

/* The calls that wait for a return. */
typedef struct {
        WaitingCall *ring; /* oldest at first */
        guint16 first, n, capacity;
        guint16 n_of[2]; /* by who called */
        guint32 beyond;  /* calls that came after these and are not kept */
} WaitingCalls;

/* The call at this place, from 0 for the oldest to w->n - 1. */
static inline WaitingCall *waiting_call_at(const WaitingCalls *w, guint i)
{
        return &w->ring[(w->first + i) & (w->capacity - 1u)];
}

/* Whether nobody owes the call a return, or it may have been missed. */
static inline gboolean waiting_call_is_excused(const WaitingCall *call)
{
        return call->session || call->by_run || call->unsure;
}

/* Keeps a call that waits. FALSE: there is no room. *all: the capacity of all connections together,
 * in calls (CaptureMemory.calls), which is at most `most`. */
gboolean waiting_calls_push(WaitingCalls *w, WaitingCall call, gboolean keyed, gsize *all,
                            gsize most, Account *account);

/* The number of a call while another with its key waits that has another topic. */
guint64 waiting_call_number(guint64 key, guint16 topic);

/* As waiting_calls_find(), which tries the first before. */
gint waiting_calls_look(const WaitingCalls *w, guint side, gboolean keyed, guint64 key,
                        guint16 topic);

/* The index of the call that a return by side answers, or -1. key and topic: if keyed. */
static inline gint waiting_calls_find(const WaitingCalls *w, guint side, gboolean keyed,
                                      guint64 key, guint16 topic)
{
        if (w->n_of[!side] == 0)
                return -1;
        if (!keyed && waiting_call_at(w, 0)->side != side)
                return 0;
        return waiting_calls_look(w, side, keyed, key, topic);
}

/* Removes the call at this place. */
WaitingCall waiting_calls_take(WaitingCalls *w, guint index);

/* The last call that side made was no call. */
void waiting_calls_withdraw(WaitingCalls *w, guint side);

/* The last call of side waits until there is work, so nobody owes it a return. */
void waiting_calls_excuse(WaitingCalls *w, guint side);
