/* SPDX-License-Identifier: BSD-2-Clause */
#include "nesting/node-habits.h"

#include <string.h>

/* --- kinds of calls -------------------------------------------------------- */

/* Fewer calls than that share of a node's are of no kind of their own for their label. */
enum { RARE_SHARE = 100 };

static GHashTable *new_numbers(void)
{
        return g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
}

void call_kinds_init(CallKinds *k)
{
        k->numbers = new_numbers();
}

void call_kinds_clear(CallKinds *k)
{
        g_hash_table_unref(k->numbers);
}

static guint32 number_kind(GHashTable *numbers, guint32 number, guint32 label)
{
        gint64 key = (gint64)number << 32 | label;
        gpointer kind;

        if (!g_hash_table_lookup_extended(numbers, &key, NULL, &kind)) {
                kind = GUINT_TO_POINTER(g_hash_table_size(numbers));
                g_hash_table_insert(numbers, g_memdup2(&key, sizeof key), kind);
        }
        return GPOINTER_TO_UINT(kind);
}

void call_kinds_find(CallKinds *k, guint32 *kind, const guint16 *label, guint32 n)
{
        g_autoptr(GHashTable) all = new_numbers();
        g_autofree guint32 *times = g_new0(guint32, n);

        for (guint32 i = 0; i < n; i++)
                times[number_kind(all, kind[i], label[i])]++;
        for (guint32 i = 0; i < n; i++) {
                gboolean rare = times[number_kind(all, kind[i], label[i])] < n / RARE_SHARE;

                kind[i] = number_kind(k->numbers, kind[i], rare ? 0 : label[i]);
        }
}

/* --- habits ------------------------------------------------------------------ */

void node_habits_init(NodeHabits *h)
{
        memset(h, 0, sizeof *h);
        call_kinds_init(&h->in);
        call_kinds_init(&h->out);
}

void node_habits_start(NodeHabits *h)
{
        h->n_callees = MIN(call_kinds_n(&h->out), WALK_MAX_CALLEES);
        parent_walk_init(&h->walk, call_kinds_n(&h->in), h->n_callees);
        delay_densities_init(&h->bounds);
        h->enter_row = g_new(guint32, h->n_callees);
        h->reply_row = g_new(guint32, h->n_callees);
        for (guint32 i = 0; i < h->n_callees; i++) {
                h->enter_row[i] = delay_densities_add_row(&h->bounds, 0);
                h->reply_row[i] = delay_densities_add_row(&h->bounds, 0);
        }
        serving_order_init(&h->order, h->n_callees > MOST_ORDERED
                                              ? 0
                                              : (2 * h->n_callees + 1) * (h->n_callees + 1));
}

void node_habits_clear(NodeHabits *h)
{
        call_kinds_clear(&h->in);
        call_kinds_clear(&h->out);
        parent_walk_clear(&h->walk);
        delay_densities_clear(&h->bounds);
        g_free(h->enter_row);
        g_free(h->reply_row);
        serving_order_clear(&h->order);
        memset(h, 0, sizeof *h);
}
