/* SPDX-License-Identifier: BSD-2-Clause */
#include "paths/pattern-text.h"

#include <string.h>

#include "base/printable.h"

/* An open list of siblings: the last sibling that was written, how often it stands there, and where
 * the sibling in hand begins. */
typedef struct {
        gsize last, length, current;
        guint times;
} OpenList;

/* The subtree being written is complete: it goes where the one before it is the same. */
static void end_subtree(OpenList *list, GString *text)
{
        gsize n = text->len - list->current;

        if (list->times > 0 && list->length == n &&
            memcmp(text->str + list->last, text->str + list->current, n) == 0) {
                g_string_truncate(text, list->last + n);
                list->times++;
                return;
        }
        if (list->times > 1) {
                g_autofree char *suffix = g_strdup_printf(" x%u", list->times);

                g_string_insert(text, (gssize)(list->last + list->length), suffix);
                list->current += strlen(suffix);
        }
        *list = (OpenList){ list->current, n, list->current, 1 };
}

char *path_short_signature(const char *signature)
{
        g_autoptr(GArray) lists = g_array_new(FALSE, FALSE, sizeof(OpenList));
        GString *text = g_string_new(NULL);

        for (const char *p = signature; *p; p++) {
                OpenList *list =
                        lists->len > 0 ? &g_array_index(lists, OpenList, lists->len - 1) : NULL;

                if (list && (*p == ',' || *p == ')' || *p == '}'))
                        end_subtree(list, text);
                if (list && (*p == ')' || *p == '}')) {
                        if (list->times > 1)
                                g_string_append_printf(text, " x%u", list->times);
                        g_array_set_size(lists, lists->len - 1);
                }
                g_string_append_c(text, *p);
                if (list && *p == ',')
                        list->current = text->len;
                if (*p == '(' || *p == '{') {
                        OpenList new = { .current = text->len };

                        g_array_append_val(lists, new);
                }
        }
        return g_string_free(text, FALSE);
}

char *path_pattern_title(const char *label, const char *signature)
{
        g_autofree char *path = path_short_signature(signature);
        g_autofree char *operation = label ? printable_new(label, PRINTABLE_TEXT) : NULL;

        return operation ? g_strconcat(operation, " ", path, NULL) : g_steal_pointer(&path);
}

void path_append_label_cell(GString *out, const char *label)
{
        if (label)
                printable_append(out, label, -1, PRINTABLE_TSV);
        else
                g_string_append_c(out, '-');
}

char *path_node_operation(const PatternNode *node)
{
        GString *text;

        if (!node->label)
                return NULL;
        text = g_string_new(NULL);
        printable_append(text, node->label, -1, PRINTABLE_TEXT);
        if (node->n_labels > 1)
                g_string_append_printf(text, " +%u", node->n_labels - 1);
        return g_string_free(text, FALSE);
}
