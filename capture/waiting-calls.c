/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/waiting-calls.h"

enum {
        MAX_KEYED_CALLS = 1024, /* a connection; the oldest is dropped for another */
        MAX_CALLS = 16384,      /* in order, where none can be dropped */
};

/* The oldest call is gone. */
static void waiting_calls_shift(WaitingCalls *w)
{
        w->n_of[waiting_call_at(w, 0)->side]--;
        w->first = (guint16)((w->first + 1) & (w->capacity - 1));
        w->n--;
}

/* Makes room for one more call. FALSE: there may be no more. */
static gboolean waiting_calls_grow(WaitingCalls *w, gsize *all, gsize most)
{
        guint16 capacity = w->capacity ? 2 * w->capacity : 2; /* a power of 2 */
        if (capacity > MAX_CALLS || *all + capacity - w->capacity > most)
                return FALSE;
        *all += capacity - w->capacity;
        WaitingCall *calls = g_new(WaitingCall, capacity);
        for (guint i = 0; i < w->n; i++)
                calls[i] = *waiting_call_at(w, i);
        g_free(w->ring);
        w->ring = calls;
        w->first = 0;
        w->capacity = capacity;
        return TRUE;
}

gboolean waiting_calls_push(WaitingCalls *w, WaitingCall call, gboolean keyed, gsize *all,
                            gsize most, Account *account)
{
        if (keyed && w->n >= MAX_KEYED_CALLS) {
                account_add(account, ACCOUNT_UNANSWERED);
                waiting_calls_shift(w);
        }
        if (w->beyond > 0 || (w->n == w->capacity && !waiting_calls_grow(w, all, most))) {
                account_add(account, ACCOUNT_UNANSWERED);
                w->beyond += !keyed;
                return FALSE;
        }
        *waiting_call_at(w, w->n++) = call;
        w->n_of[call.side]++;
        return TRUE;
}

guint64 waiting_call_number(guint64 key, guint16 topic)
{
        return key | (guint64)topic << 32;
}

static gboolean waiting_call_is_of(const WaitingCall *call, guint64 key, guint16 topic)
{
        if (call->key == key)
                return !topic || !call->topic || call->topic == topic;
        return topic && call->topic == topic && call->key == waiting_call_number(key, topic);
}

gint waiting_calls_look(const WaitingCalls *w, guint side, gboolean keyed, guint64 key,
                        guint16 topic)
{
        for (guint i = 0; i < w->n && w->n_of[!side]; i++)
                if (waiting_call_at(w, i)->side != side &&
                    (!keyed || waiting_call_is_of(waiting_call_at(w, i), key, topic)))
                        return (gint)i;
        return -1;
}

WaitingCall waiting_calls_take(WaitingCalls *w, guint index)
{
        WaitingCall call = *waiting_call_at(w, index);
        if (index == 0) {
                waiting_calls_shift(w);
                return call;
        }
        for (; index > 0; index--)
                *waiting_call_at(w, index) = *waiting_call_at(w, index - 1);
        *waiting_call_at(w, 0) = call;
        waiting_calls_shift(w);
        return call;
}

void waiting_calls_withdraw(WaitingCalls *w, guint side)
{
        for (guint i = w->n; i-- > 0;)
                if (waiting_call_at(w, i)->side == side) {
                        waiting_calls_take(w, i);
                        return;
                }
}

void waiting_calls_excuse(WaitingCalls *w, guint side)
{
        for (guint i = w->n; i-- > 0;)
                if (waiting_call_at(w, i)->side == side) {
                        waiting_call_at(w, i)->unsure = TRUE;
                        return;
                }
}
