/* SPDX-License-Identifier: BSD-2-Clause */
#include "calls/call-order.h"

#include <string.h>

#include "base/big-memory.h"
#include "base/compare.h"

static int compare_from(const void *a, const void *b, void *data)
{
        const Span *spans = data;
        guint32 i = *(const guint32 *)a, k = *(const guint32 *)b;

        return COMPARE(spans[i].from, spans[k].from) ?: COMPARE(i, k);
}

static void sort(guint32 *order, guint32 n, const Span *spans)
{
        for (guint32 i = 1; i < n; i++)
                if (spans[order[i]].from < spans[order[i - 1]].from) {
                        qsort_r(order, n, sizeof *order, compare_from, (void *)spans);
                        return;
                }
}

/* NULL where they are in order. */
static guint32 *sort_spans(const Span *spans, guint32 n)
{
        guint32 *order, i = 1;

        while (i < n && spans[i].from >= spans[i - 1].from)
                i++;
        if (i >= n)
                return NULL;
        order = big_renew_in_file(NULL, 0, n * sizeof *order);
        for (i = 0; i < n; i++)
                order[i] = i;
        sort(order, n, spans);
        return order;
}

void call_order_init(CallOrder *o, const CallPairs *calls, gint64 window, gboolean sorted)
{
        memset(o, 0, sizeof *o);
        o->calls = calls;
        o->window = window;
        o->size = o->n_start = o->n_enter = calls->n;
        /* A call then has the place and the moment of its first message. */
        o->at_once = sorted && window == 0 && !calls->both_ends;
        if (o->at_once)
                return;
        o->by_start = sort_spans(calls->at_caller, calls->n);
        o->by_enter = sort_spans(calls->at_callee, calls->n);
}

/* Of flags in calls->progress, those in once are calls' that are in the order no more. */
static void init_before(CallOrder *o, const CallPairs *calls, gint64 window, gint64 before,
                        guint8 once)
{
        memset(o, 0, sizeof *o);
        o->calls = calls;
        o->window = window;
        o->size = calls->n;
        o->by_start = big_renew_in_file(NULL, 0, o->size * sizeof *o->by_start);
        o->by_enter = big_renew_in_file(NULL, 0, o->size * sizeof *o->by_enter);
        for (guint32 i = 0; i < calls->n; i++) {
                if (!calls->edge[i])
                        continue;
                if (!(calls->progress[i] & once & CALL_STARTED) &&
                    calls->at_caller[i].from < before - window) {
                        calls->progress[i] |= once & CALL_STARTED;
                        o->by_start[o->n_start++] = i;
                }
                if (!(calls->progress[i] & once & CALL_ENTERED) &&
                    calls->at_callee[i].from < before) {
                        calls->progress[i] |= once & CALL_ENTERED;
                        o->by_enter[o->n_enter++] = i;
                }
        }
        sort(o->by_start, o->n_start, calls->at_caller);
        sort(o->by_enter, o->n_enter, calls->at_callee);
}

void call_order_init_until(CallOrder *o, const CallPairs *calls, gint64 window, gint64 before)
{
        init_before(o, calls, window, before, CALL_STARTED | CALL_ENTERED);
}

void call_order_init_before(CallOrder *o, const CallPairs *calls, gint64 window, gint64 before)
{
        init_before(o, calls, window, before, 0);
}

void call_order_put_away(const CallOrder *o)
{
        big_put_away(o->by_enter, o->size * sizeof *o->by_enter);
        big_put_away(o->by_start, o->size * sizeof *o->by_start);
}

void call_order_clear(CallOrder *o)
{
        big_free(o->by_enter, o->size * sizeof *o->by_enter);
        big_free(o->by_start, o->size * sizeof *o->by_start);
        memset(o, 0, sizeof *o);
}
