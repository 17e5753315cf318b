/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What changed between two runs as the JSON that paths/write/page.js draws, for that script
 * alone, as paths/write/write-report.c's is.
 */
#include "base/printable.h"
#include "paths/diff.h"
#include "paths/write/page.h"
#include "paths/write/path-text.h"
#include "paths/write/path-write.h"
#include "paths/write/write-tree.h"

enum { MAX_SHARES = 1000 }; /* patterns of which only the counts are compared */

/* A, B, lowest and highest change or null, beyond chance. */
static void append_delay(GString *out, const DiffDelay *d)
{
        g_string_append_printf(out, "[%" G_GINT64_FORMAT ",%" G_GINT64_FORMAT ",", d->value[DIFF_A],
                               d->value[DIFF_B]);
        if (d->bounded)
                g_string_append_printf(out, "%" G_GINT64_FORMAT ",%" G_GINT64_FORMAT ",%d]", d->low,
                                       d->high, d->beyond);
        else
                g_string_append(out, "null,null,0]");
}

/* Node, parent, repeats, calls in A and B, mean own times, p50, p99; operation, if any. */
static void append_node(GString *out, const DiffNode *n)
{
        g_string_append_printf(out,
                               "[%u,%d,%u,%" G_GUINT64_FORMAT ",%" G_GUINT64_FORMAT
                               ",%" G_GINT64_FORMAT ",%" G_GINT64_FORMAT ",",
                               n->node, (int)n->parent, n->repeats, n->calls[DIFF_A],
                               n->calls[DIFF_B], n->mean[DIFF_A], n->mean[DIFF_B]);
        append_delay(out, &n->own[DIFF_P50]);
        g_string_append_c(out, ',');
        append_delay(out, &n->own[DIFF_P99]);
        if (n->label) {
                g_string_append_c(out, ',');
                path_append_json_string(out, n->label);
        }
        g_string_append_c(out, ']');
}

static void append_double(GString *out, double number)
{
        char text[G_ASCII_DTOSTR_BUF_SIZE];

        g_string_append(out, g_ascii_formatd(text, sizeof text, "%.6g", number));
}

static gboolean append_tree(GString *out, Drawer *drawer, const Diff *d, const DiffPattern *p,
                            GError **error)
{
        g_autoptr(TreeLayout) layout =
                tree_layout_new_calls(drawer, p->tree, d->nodes, p->client, error);

        if (!layout)
                return FALSE;
        g_string_append(out, ",\"latency\":[");
        append_delay(out, &p->latency[DIFF_P50]);
        g_string_append_c(out, ',');
        append_delay(out, &p->latency[DIFF_P99]);
        g_string_append(out, "],\"vertices\":[");
        for (guint i = 0; i < p->nodes->len; i++) {
                g_string_append(out, i ? "," : "");
                append_node(out, &g_array_index(p->nodes, DiffNode, i));
        }
        g_string_append_printf(out, "],\"hidden\":%u,\"width\":%d,\"height\":%d,\"boxes\":[",
                               p->tree->hidden, layout->width, layout->height);
        for (guint32 i = 0; i < layout->n; i++) {
                const TreeBox *b = &layout->boxes[i];
                g_string_append_printf(out, "%s[%d,%d,%d,%d,\"%s\"]", i ? "," : "", b->x, b->y,
                                       b->width, b->height, b->edge);
        }
        g_string_append_c(out, ']');
        return TRUE;
}

static gboolean append_pattern(GString *out, Drawer *drawer, const Diff *d, const DiffPattern *p,
                               GError **error)
{
        g_string_append_printf(out, "{\"id\":\"%016" G_GINT64_MODIFIER "x\",\"signature\":", p->id);
        path_append_json_string(out, p->signature);
        if (p->label) {
                g_string_append(out, ",\"label\":");
                path_append_json_string(out, p->label);
        }
        g_string_append_printf(out,
                               ",\"client\":%u,\"count\":[%" G_GUINT64_FORMAT ",%" G_GUINT64_FORMAT
                               "],\"mean\":[%" G_GINT64_FORMAT ",%" G_GINT64_FORMAT "],\"share\":[",
                               p->client, p->count[DIFF_A], p->count[DIFF_B], p->mean[DIFF_A],
                               p->mean[DIFF_B]);
        append_double(out, p->low);
        g_string_append_c(out, ',');
        append_double(out, p->high);
        g_string_append_printf(out, ",%d]", p->beyond);
        if (p->tested && !append_tree(out, drawer, d, p, error))
                return FALSE;
        g_string_append_c(out, '}');
        return TRUE;
}

/* Those that are compared in full or differ in count; then the rest, most first. */
static gboolean append_patterns(GString *out, const Diff *d, GError **error)
{
        g_autoptr(Drawer) drawer = drawer_new();
        guint shown = 0, rest = 0;

        g_string_append(out, ",\"patterns\":[");
        for (guint i = 0; i < d->by_pattern->len; i++) {
                const DiffPattern *p = &g_array_index(d->by_pattern, DiffPattern, i);

                if (!p->tested && !p->beyond && ++rest > MAX_SHARES)
                        continue;
                g_string_append(out, shown++ ? "," : "");
                if (!append_pattern(out, drawer, d, p, error))
                        return FALSE;
        }
        g_string_append_printf(out, "],\"patternCount\":%u", d->by_pattern->len);
        return TRUE;
}

/* Those that have calls. */
static void append_nodes(GString *out, const char *key, const GArray *nodes)
{
        g_string_append_printf(out, ",\"%s\":[", key);
        for (guint i = 0, shown = 0; i < nodes->len; i++) {
                const DiffNode *n = &g_array_index(nodes, DiffNode, i);

                if (!n->calls[DIFF_A] && !n->calls[DIFF_B])
                        continue;
                g_string_append(out, shown++ ? "," : "");
                append_node(out, n);
        }
        g_string_append_c(out, ']');
}

gboolean diff_write_page(const Diff *d, const char *const names[N_SIDES], OutputFile *file,
                         GError **error)
{
        g_autoptr(GString) out = g_string_new("{\"kind\":\"diff\",\"stores\":[");

        for (int side = 0; side < N_SIDES; side++) {
                g_string_append(out, side ? "," : "");
                g_string_append_c(out, '"');
                printable_append(out, names[side], -1, PRINTABLE_PAGE);
                g_string_append_c(out, '"');
        }
        g_string_append(out, "],\"nodes\":[");
        for (NodeId i = 0; i < node_table_size(d->nodes); i++) {
                g_string_append(out, i ? "," : "");
                path_append_json_string(out, node_table_written(d->nodes, i));
        }
        g_string_append_printf(out,
                               "],\"paths\":[%" G_GUINT64_FORMAT ",%" G_GUINT64_FORMAT
                               "],\"patternCounts\":[%" G_GUINT64_FORMAT ",%" G_GUINT64_FORMAT
                               "],\"dependence\":[",
                               d->paths[DIFF_A], d->paths[DIFF_B], d->patterns[DIFF_A],
                               d->patterns[DIFF_B]);
        append_double(out, d->dependence[DIFF_A]);
        g_string_append_c(out, ',');
        append_double(out, d->dependence[DIFF_B]);
        g_string_append_printf(out, "],\"measured\":[%d,%d],\"latency\":[", d->has_paths[DIFF_A],
                               d->has_paths[DIFF_B]);
        append_delay(out, &d->latency[DIFF_P50]);
        g_string_append_c(out, ',');
        append_delay(out, &d->latency[DIFF_P99]);
        g_string_append_c(out, ']');
        append_nodes(out, "byNode", d->by_node);
        append_nodes(out, "queued", d->queued);
        if (!append_patterns(out, d, error))
                return FALSE;
        g_string_append_c(out, '}');
        return page_write(file, "ravel diff", out, error);
}
