/* SPDX-License-Identifier: BSD-2-Clause */
#include "calls/call-labels.h"

#include <string.h>

#include "base/hash.h"

void call_labels_init(CallLabels *l)
{
        *l = (CallLabels){ .names = g_ptr_array_new_with_free_func(g_free),
                           .written = g_ptr_array_new() };
}

void call_labels_clear(CallLabels *l)
{
        g_ptr_array_unref(l->names);
        g_ptr_array_unref(l->written);
        if (l->numbers)
                g_hash_table_unref(l->numbers);
        call_column_clear(&l->column);
}

static guint16 label_number(CallLabels *l, const char *label, gsize length)
{
        g_autofree char *text = g_strndup(label, length);
        guint number;

        if (!l->numbers)
                l->numbers = g_hash_table_new_full(hash_text, g_str_equal, g_free, NULL);
        number = GPOINTER_TO_UINT(g_hash_table_lookup(l->numbers, text));
        if (number == 0 && g_hash_table_size(l->numbers) < G_MAXUINT16) {
                number = g_hash_table_size(l->numbers) + 1;
                g_ptr_array_add(l->names, attribute_unescape(text));
                g_ptr_array_add(l->written, text);
                g_hash_table_insert(l->numbers, g_steal_pointer(&text), GUINT_TO_POINTER(number));
        }
        return number;
}

/* The number of a label, quickly if the label was looked for lately. */
static guint16 label_number_cached(CallLabels *l, const char *label, gsize length)
{
        guint16 *known = &l->cache[hash_bytes(label, length) % G_N_ELEMENTS(l->cache)];
        const char *written = *known ? l->written->pdata[*known - 1] : NULL;

        if (!written || strncmp(written, label, length) != 0 || written[length])
                *known = label_number(l, label, length);
        return *known;
}

void call_labels_know(CallLabels *l, const char *written)
{
        label_number(l, written, strlen(written));
}

void call_labels_add(CallLabels *l, guint64 call, AttributeText label)
{
        guint16 *place;

        if (label.length == 0 || call >= G_MAXUINT32)
                return;
        place = call_column_place(&l->column, sizeof *place, call);
        if (*place == 0)
                *place = label_number_cached(l, label.at, label.length);
}
