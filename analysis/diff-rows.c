/* SPDX-License-Identifier: BSD-2-Clause */
#include "analysis/diff-rows.h"

#include <string.h>

#include "base/each.h"
#include "base/printable.h"

const char *const diff_row_kinds[N_DIFF_ROW_KINDS] = { "latency", "own",  "share",
                                                       "queued",  "edge", "cause" };

/* The quantiles of a time, and its tail if it was tested. */
static void diff_each_number(const Diff *d, DiffRow row, guint32 times, DiffRowSink sink,
                             gpointer data)
{
        const DiffTimes *t = diff_times(d, times);

        row.times = t;
        for (int side = 0; side < N_SIDES; side++) {
                row.count[side] = t->count[side];
                row.share[side] = t->tail.share[side];
        }
        for (row.quantile = 0; row.quantile < N_DIFF_QUANTILES; row.quantile++) {
                row.delay = &t->quantiles[row.quantile];
                sink(d, &row, data);
        }
        row.delay = NULL;
        row.tail = &t->tail;
        if (t->tail.limit > 0)
                sink(d, &row, data);
}

static void diff_each_node(const Diff *d, DiffRowKind kind, const GArray *nodes, DiffRowSink sink,
                           gpointer data)
{
        EACH (const DiffNode, n, nodes) {
                const DiffTimes *t = diff_times(d, n->times);
                DiffRow row = { .kind = kind, .node = n, .vertex = -1 };

                if (t->count[DIFF_A] || t->count[DIFF_B])
                        diff_each_number(d, row, n->times, sink, data);
        }
}

static void diff_each_of_pattern(const Diff *d, const DiffPattern *p, DiffRowSink sink,
                                 gpointer data)
{
        DiffRow row = { .kind = DIFF_ROW_SHARE,
                        .pattern = p,
                        .vertex = -1,
                        .count = { p->count[DIFF_A], p->count[DIFF_B] } };

        for (int side = 0; side < N_SIDES; side++)
                row.share[side] = p->number[side] / (double)MAX(d->paths[side], 1);
        sink(d, &row, data);
        if (!p->tested)
                return;
        row.kind = DIFF_ROW_LATENCY;
        diff_each_number(d, row, p->latency, sink, data);
        row.kind = DIFF_ROW_OWN;
        for (guint k = 0; k < p->nodes->len; k++) {
                row.node = &g_array_index(p->nodes, DiffNode, k);
                row.vertex = (int)k;
                diff_each_number(d, row, row.node->times, sink, data);
        }
}

void diff_each_row(const Diff *d, DiffRowSink sink, gpointer data)
{
        DiffRow all = { .kind = DIFF_ROW_LATENCY, .vertex = -1 };

        diff_each_number(d, all, d->latency, sink, data);
        diff_each_node(d, DIFF_ROW_OWN, d->by_node, sink, data);
        diff_each_node(d, DIFF_ROW_OWN, d->operations, sink, data);
        diff_each_node(d, DIFF_ROW_QUEUED, d->queued, sink, data);
        diff_each_node(d, DIFF_ROW_EDGE, d->edges, sink, data);
        diff_each_node(d, DIFF_ROW_CAUSE, d->causes, sink, data);
        for (guint i = 0; i < d->by_pattern->len; i++)
                diff_each_of_pattern(d, &g_array_index(d->by_pattern, DiffPattern, i), sink, data);
}

gboolean diff_row_beyond(const DiffRow *row)
{
        return row->delay  ? row->delay->beyond
               : row->tail ? row->tail->beyond
                           : row->pattern->beyond;
}

char *diff_node_name(const Diff *d, const DiffRow *row)
{
        const char *node = node_table_written(d->nodes, row->node->node);
        g_autofree char *label = NULL;

        if (row->kind == DIFF_ROW_QUEUED)
                return g_strdup_printf("(queued for %s)", node);
        if (row->kind == DIFF_ROW_EDGE)
                return g_strdup_printf("%s>%s", node_table_written(d->nodes, row->node->caller),
                                       node);
        if (row->kind == DIFF_ROW_CAUSE)
                return g_strdup_printf("%s>%s (%s)",
                                       node_table_written(d->nodes, row->node->caller), node,
                                       row->node->label);
        if (!row->node->label)
                return g_strdup(node);
        label = printable_new(row->node->label, PRINTABLE_TEXT);
        return g_strdup_printf("%s %s", node, label);
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
