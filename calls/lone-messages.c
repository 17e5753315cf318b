/* SPDX-License-Identifier: BSD-2-Clause */
#include "calls/lone-messages.h"

#include <stdlib.h>

#include "base/compare.h"
#include "base/each.h"

enum { MAX_LONE = 100000 }; /* of each kind */

void lone_messages_init(LoneMessages *l)
{
        *l = (LoneMessages){ .list = g_array_new(FALSE, FALSE, sizeof(LoneMessage)) };
}

void lone_messages_clear(LoneMessages *l)
{
        g_array_free(l->list, TRUE);
}

/* Returns from the first on, then calls from the last on. */
static int compare_lone(const void *a, const void *b)
{
        const LoneMessage *x = a, *y = b;

        if (x->is_return != y->is_return)
                return x->is_return ? -1 : 1;
        if (x->time != y->time)
                return x->is_return ? COMPARE(x->time, y->time) : COMPARE(y->time, x->time);
        return COMPARE(x->caller, y->caller) ?: COMPARE(x->callee, y->callee);
}

/* Keeps the MAX_LONE of each kind that come first, whatever the order in which they were found. */
static void thin_lone(LoneMessages *l)
{
        guint n_returns = l->n[TRUE], n_calls = l->n[FALSE];

        qsort(l->list->data, l->list->len, sizeof(LoneMessage), compare_lone);
        l->n[FALSE] = MIN(n_calls, MAX_LONE);
        l->n[TRUE] = MIN(n_returns, MAX_LONE);
        g_array_set_size(l->list, n_returns + l->n[FALSE]);
        g_array_remove_range(l->list, l->n[TRUE], n_returns - l->n[TRUE]);
}

void lone_messages_add(LoneMessages *l, const LoneMessage *message)
{
        g_array_append_vals(l->list, message, 1);
        if (G_UNLIKELY(++l->n[message->is_return] == 2 * MAX_LONE))
                thin_lone(l);
}

LoneMessage *lone_messages_list(LoneMessages *l, guint *n)
{
        if (MAX(l->n[FALSE], l->n[TRUE]) > MAX_LONE)
                thin_lone(l);
        *n = l->list->len;
        return (LoneMessage *)l->list->data;
}

void lone_messages_move(LoneMessages *l, const gint64 *offset)
{
        EACH (LoneMessage, lone, l->list)
                lone->time -= offset[lone->observer];
}

void lone_messages_forget(LoneMessages *l, gint64 before)
{
        guint kept = 0;

        l->n[0] = l->n[1] = 0;
        for (guint i = 0; i < l->list->len; i++) {
                LoneMessage lone = g_array_index(l->list, LoneMessage, i);

                if (lone.time < before)
                        continue;
                g_array_index(l->list, LoneMessage, kept++) = lone;
                l->n[lone.is_return]++;
        }
        g_array_set_size(l->list, kept);
}
