/* SPDX-License-Identifier: BSD-2-Clause */
#include "analysis/diff-rows.h"

#include <string.h>

#include "base/printable.h"

const char *const diff_row_kinds[N_DIFF_ROW_KINDS] = { "latency", "own", "share", "queued" };

static void diff_each_quantile(const Diff *d, DiffRow row, const DiffDelay *delays,
                               DiffRowSink sink, gpointer data)
{
        for (row.quantile = 0; row.quantile < N_DIFF_QUANTILES; row.quantile++) {
                row.delay = &delays[row.quantile];
                sink(d, &row, data);
        }
}

void diff_each_row(const Diff *d, DiffRowSink sink, gpointer data)
{
        DiffRow all = { .kind = DIFF_ROW_LATENCY,
                        .vertex = -1,
                        .count = { d->paths[DIFF_A], d->paths[DIFF_B] } };

        diff_each_quantile(d, all, d->latency, sink, data);
        for (guint i = 0; i < d->by_node->len; i++) {
                const DiffNode *n = &g_array_index(d->by_node, DiffNode, i);
                DiffRow row = { .kind = DIFF_ROW_OWN,
                                .node = n,
                                .vertex = -1,
                                .count = { n->calls[DIFF_A], n->calls[DIFF_B] } };

                if (n->calls[DIFF_A] || n->calls[DIFF_B])
                        diff_each_quantile(d, row, n->own, sink, data);
        }
        for (guint i = 0; i < d->queued->len; i++) {
                const DiffNode *n = &g_array_index(d->queued, DiffNode, i);
                DiffRow row = { .kind = DIFF_ROW_QUEUED,
                                .node = n,
                                .vertex = -1,
                                .count = { n->calls[DIFF_A], n->calls[DIFF_B] } };

                if (n->calls[DIFF_A] || n->calls[DIFF_B])
                        diff_each_quantile(d, row, n->own, sink, data);
        }
        for (guint i = 0; i < d->by_pattern->len; i++) {
                const DiffPattern *p = &g_array_index(d->by_pattern, DiffPattern, i);
                DiffRow row = { .kind = DIFF_ROW_SHARE,
                                .pattern = p,
                                .vertex = -1,
                                .count = { p->count[DIFF_A], p->count[DIFF_B] } };

                for (int side = 0; side < N_SIDES; side++)
                        row.share[side] = p->number[side] / (double)MAX(d->paths[side], 1);
                sink(d, &row, data);
                if (!p->tested)
                        continue;
                row.kind = DIFF_ROW_LATENCY;
                diff_each_quantile(d, row, p->latency, sink, data);
                row.kind = DIFF_ROW_OWN;
                for (guint k = 0; k < p->nodes->len; k++) {
                        row.node = &g_array_index(p->nodes, DiffNode, k);
                        row.vertex = (int)k;
                        diff_each_quantile(d, row, row.node->own, sink, data);
                }
        }
}

gboolean diff_row_beyond(const DiffRow *row)
{
        return row->delay ? row->delay->beyond : row->pattern->beyond;
}

/* "lb>web1>auth>redis": the way from the root to a vertex of the pattern, and which of
 * several that is, where another goes there too. */
static char *diff_vertex_way(const Diff *d, const DiffPattern *p, guint vertex)
{
        GString *way = g_string_new(NULL);

        for (guint i = vertex; i != NO_PARENT; i = g_array_index(p->nodes, DiffNode, i).parent) {
                g_string_prepend(way, way->len ? ">" : "");
                g_string_prepend(way, node_table_written(
                                              d->nodes, g_array_index(p->nodes, DiffNode, i).node));
        }
        return g_string_free(way, FALSE);
}

char *diff_vertex_name(const Diff *d, const DiffPattern *p, guint vertex)
{
        const DiffNode *n = &g_array_index(p->nodes, DiffNode, vertex);
        GString *name = g_string_new(NULL);
        g_autofree char *way = diff_vertex_way(d, p, vertex);
        guint nth = 1;

        for (guint i = 0; i < vertex; i++) {
                g_autofree char *other = NULL;

                if (g_array_index(p->nodes, DiffNode, i).node != n->node)
                        continue;
                other = diff_vertex_way(d, p, i);
                nth += !strcmp(way, other) &&
                       !g_strcmp0(n->label, g_array_index(p->nodes, DiffNode, i).label);
        }
        g_string_append(name, way);
        if (n->label) {
                g_string_append_c(name, ' ');
                printable_append(name, n->label, -1, PRINTABLE_TEXT);
        }
        if (nth > 1)
                g_string_append_printf(name, " #%u", nth);
        if (n->repeats > 1)
                g_string_append_printf(name, " x%u", n->repeats);
        return g_string_free(name, FALSE);
}
