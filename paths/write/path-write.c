/* SPDX-License-Identifier: BSD-2-Clause */
#include "paths/write/path-write.h"

#include <stdlib.h>
#include <string.h>

#include "base/printable.h"

static const struct {
        const char *format;
        PathWriter writer;
} formats[] = {
        { "text", path_write_text }, { "dot", path_write_dot }, { "svg", path_write_svg },
        { "json", path_write_json }, { "tsv", path_write_tsv },
};

PathWriter path_writer_lookup(const char *format)
{
        for (gsize i = 0; i < G_N_ELEMENTS(formats); i++)
                if (!strcmp(formats[i].format, format))
                        return formats[i].writer;
        return NULL;
}

char *path_format_duration(gint64 ns)
{
        /* What the last digit is worth: each is ten times the one before. */
        static const struct {
                guint decimals;
                const char *unit;
        } steps[] = { { 2, "us" }, { 1, "us" }, { 0, "us" }, { 2, "ms" }, { 1, "ms" },
                      { 0, "ms" }, { 2, "s" },  { 1, "s" },  { 0, "s" } };
        static const guint64 scales[] = { 1, 10, 100 };
        const char *sign = ns < 0 ? "-" : "";
        guint64 size = ns < 0 ? -(guint64)ns : (guint64)ns;

        if (size < 1000)
                return g_strdup_printf("%s%" G_GUINT64_FORMAT " ns", sign, size);
        /* The first step that leaves three digits, after rounding. */
        guint64 step = 10;
        gsize i = 0;
        for (; i + 1 < G_N_ELEMENTS(steps) && (size + step / 2) / step >= 1000; i++)
                step *= 10;
        guint64 n = (size + step / 2) / step, scale = scales[steps[i].decimals];
        if (scale == 1)
                return g_strdup_printf("%s%" G_GUINT64_FORMAT " %s", sign, n, steps[i].unit);
        return g_strdup_printf("%s%" G_GUINT64_FORMAT ".%0*" G_GUINT64_FORMAT " %s", sign,
                               n / scale, (int)steps[i].decimals, n % scale, steps[i].unit);
}

char *path_format_count(guint64 n)
{
        char digits[32], text[32];
        int length = g_snprintf(digits, sizeof digits, "%" G_GUINT64_FORMAT, n), to = 0;

        for (int i = 0; i < length; i++) {
                if (i > 0 && (length - i) % 3 == 0)
                        text[to++] = ',';
                text[to++] = digits[i];
        }
        return g_strndup(text, (gsize)to);
}

const char *path_format_integer(gint128 n, char digits[PATH_INTEGER_SIZE])
{
        char *at = digits + PATH_INTEGER_SIZE - 1;
        gboolean negative = n < 0;

        *at = 0;
        do {
                int digit = (int)(n % 10);
                *--at = (char)('0' + ABS(digit));
                n /= 10;
        } while (n != 0);
        if (negative)
                *--at = '-';
        return at;
}

void path_append_json_string(GString *out, const char *text)
{
        g_string_append_c(out, '"');
        printable_append(out, text, -1, PRINTABLE_JSON);
        g_string_append_c(out, '"');
}

char *path_format_share(gint128 part, gint128 whole)
{
        if (whole <= 0)
                return g_strdup("-");
        int percent = (int)((200 * part + whole) / (2 * whole));
        if (percent == 0 && part > 0)
                return g_strdup("<1 %");
        if (percent == 100 && part < whole)
                return g_strdup(">99 %");
        return g_strdup_printf("%d %%", percent);
}

gint128 path_pattern_network(const PathPattern *pattern)
{
        gint128 sum = 0;

        for (guint32 i = 0; i < pattern->n_nodes; i++)
                sum += pattern->nodes[i].network.sum;
        return sum;
}

gint128 path_pattern_total(const PathPattern *pattern)
{
        gint128 sum = path_pattern_network(pattern);

        for (guint32 i = 0; i < pattern->n_nodes; i++)
                sum += pattern->nodes[i].own.sum;
        return sum;
}

/* A list of siblings that is open: what was written of it last, how often it stands there, and
 * where what is being written begins. */
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

                if (list && (*p == ',' || *p == ')'))
                        end_subtree(list, text);
                if (list && *p == ')') {
                        if (list->times > 1)
                                g_string_append_printf(text, " x%u", list->times);
                        g_array_set_size(lists, lists->len - 1);
                }
                g_string_append_c(text, *p);
                if (list && *p == ',')
                        list->current = text->len;
                if (*p == '(') {
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
        GString *text = g_string_new(NULL);

        if (!node->label)
                return NULL;
        printable_append(text, node->label, -1, PRINTABLE_TEXT);
        if (node->n_labels > 1)
                g_string_append_printf(text, " +%u", node->n_labels - 1);
        return g_string_free(text, FALSE);
}

typedef struct {
        guint32 node, parent;
        gint64 delay;
} Sibling;

/* Groups of siblings; of these the one called last first, as a stack wants it. */
static int compare_siblings(const void *va, const void *vb)
{
        const Sibling *a = va, *b = vb;

        if (a->parent != b->parent)
                return a->parent < b->parent ? -1 : 1;
        if (a->delay != b->delay)
                return a->delay > b->delay ? -1 : 1;
        return a->node > b->node ? -1 : a->node < b->node;
}

guint32 *path_pattern_call_order(const PathPattern *pattern)
{
        guint32 n = pattern->n_nodes, n_stack = 0, n_order = 0;
        guint32 *order = g_new(guint32, n);
        g_autofree guint32 *stack = g_new(guint32, n);
        g_autofree guint32 *first_child = g_new(guint32, n); /* into siblings */
        g_autofree Sibling *siblings = g_new(Sibling, n);

        for (guint32 i = 0; i < n; i++) {
                const PatternNode *node = &pattern->nodes[i];
                siblings[i] = (Sibling){ i, node->parent, histogram_mean(&node->call_delay) };
                first_child[i] = n;
        }
        qsort(siblings, n, sizeof *siblings, compare_siblings);
        /* The root comes last: no index is as great as NO_PARENT. */
        for (guint32 i = n - 1; i-- > 0;)
                first_child[siblings[i].parent] = i;
        stack[n_stack++] = 0;
        while (n_stack > 0) {
                guint32 node = stack[--n_stack];
                order[n_order++] = node;
                for (guint32 i = first_child[node]; i < n && siblings[i].parent == node; i++)
                        stack[n_stack++] = siblings[i].node;
        }
        return order;
}
