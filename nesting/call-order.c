/* SPDX-License-Identifier: BSD-2-Clause */
#include "nesting/call-order.h"

#include <stdlib.h>
#include <string.h>

#include "tracefmt/big-memory.h"

static int compare_from(const void *a, const void *b, void *data)
{
        const Span *spans = data;
        guint32 i = *(const guint32 *)a, k = *(const guint32 *)b;

        if (spans[i].from != spans[k].from)
                return spans[i].from < spans[k].from ? -1 : 1;
        return (i > k) - (i < k);
}

/* NULL where they are in order. */
static guint32 *sort_spans(const Span *spans, guint32 n)
{
        guint32 *order, i = 1;

        while (i < n && spans[i].from >= spans[i - 1].from)
                i++;
        if (i >= n)
                return NULL;
        order = big_renew(NULL, 0, n * sizeof *order);
        for (i = 0; i < n; i++)
                order[i] = i;
        qsort_r(order, n, sizeof *order, compare_from, (void *)spans);
        return order;
}

void call_order_init(CallOrder *o, const CallPairs *calls, gint64 window, gboolean sorted)
{
        memset(o, 0, sizeof *o);
        o->calls = calls;
        o->window = window;
        /* A call then has the place and the moment of its first message. */
        o->at_once = sorted && window == 0 && !calls->both_ends;
        if (o->at_once)
                return;
        o->by_start = sort_spans(calls->at_caller, calls->n);
        o->by_enter = calls->both_ends ? sort_spans(calls->at_callee, calls->n) : o->by_start;
}

void call_order_clear(CallOrder *o)
{
        gsize size = o->calls ? o->calls->n * sizeof *o->by_start : 0;

        if (o->by_enter != o->by_start)
                big_free(o->by_enter, size);
        big_free(o->by_start, size);
        memset(o, 0, sizeof *o);
}
