/* SPDX-License-Identifier: BSD-2-Clause */
#include "calls/call-labels.h"

#include <string.h>

#include "base/big-memory.h"

void call_labels_clear(CallLabels *l)
{
        if (l->numbers)
                g_hash_table_unref(l->numbers);
        big_free(l->label, l->size * sizeof *l->label);
}

static guint16 number_of(CallLabels *l, const char *label, gsize length)
{
        g_autofree char *text = g_strndup(label, length);
        guint number;

        if (!l->numbers)
                l->numbers = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
        number = GPOINTER_TO_UINT(g_hash_table_lookup(l->numbers, text));
        if (number == 0 && g_hash_table_size(l->numbers) < G_MAXUINT16) {
                number = g_hash_table_size(l->numbers) + 1;
                g_hash_table_insert(l->numbers, g_steal_pointer(&text), GUINT_TO_POINTER(number));
        }
        return number;
}

void call_labels_add(CallLabels *l, guint64 call, const Message *message)
{
        gsize length = 0;
        const char *label = message_attribute(message, "label", &length);

        if (length == 0 || call >= G_MAXUINT32)
                return;
        if (call >= l->size) {
                guint32 size = MIN(MAX(1024, 2 * call), G_MAXUINT32);

                l->label = big_renew(l->label, l->size * sizeof *l->label, size * sizeof *l->label);
                l->size = size;
        }
        for (; l->n <= call; l->n++)
                l->label[l->n] = 0;
        if (l->label[call] == 0)
                l->label[call] = number_of(l, label, length);
}

void call_labels_move(CallLabels *l, guint32 to, guint32 from, guint32 n)
{
        for (guint32 i = 0; i < n && to + i < l->n; i++)
                l->label[to + i] = call_labels_get(l, from + i);
}

void call_labels_drop(CallLabels *l, guint32 n)
{
        guint32 drop = MIN(n, l->n);

        l->n -= drop;
        if (l->n > 0)
                memmove(l->label, l->label + drop, l->n * sizeof *l->label);
}
