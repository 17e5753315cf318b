/* SPDX-License-Identifier: BSD-2-Clause */
#include "write/text-missed.h"

#include "paths/path-text.h"
#include "write/text-table.h"

enum {
        ALIKE_OF = 50, /* waits are alike if they differ by at most one in ALIKE_OF */
        ALIKE_FEW = 5, /* of fewer waits nothing is said */
};

/* The paths of the operation of a pattern. */
static guint64 count_requests(const PathSet *set, const PathPattern *pattern)
{
        guint64 n = 0;

        for (guint32 i = 0; i < path_set_size(set); i++) {
                const PathPattern *p = path_set_pattern(set, i);

                if (p->client == pattern->client && p->nodes[0].node == pattern->nodes[0].node &&
                    !g_strcmp0(p->label, pattern->label))
                        n += p->count;
        }
        return n;
}

/* "always 100 ms: a time-out of web's", if the waits are alike. */
static void append_time_out(GString *text, const Histogram *waits, const char *caller)
{
        g_autofree char *wait = path_format_duration(histogram_mean(waits));

        if (waits->count >= ALIKE_FEW && waits->max - waits->min <= waits->max / ALIKE_OF)
                g_string_append_printf(text, "; always %s: a time-out of %s's", wait, caller);
}

static void append_vertex(GString *text, const PathSet *set, const PathPattern *p,
                          const CollapsedTree *tree, const CollapsedCall *v)
{
        NodeId caller = v->parent == NO_PARENT ? p->client : tree->vertices[v->parent].all.node;
        const char *from = node_table_written(path_set_nodes(set), caller);
        const char *name = node_table_written(path_set_nodes(set), v->all.node);
        gboolean late = v->all.continues == WORK_LATE;
        const Histogram *waits = late ? &v->all.own : &v->all.latency;
        g_autofree char *wait = path_format_duration(histogram_mean(waits));
        g_autofree char *latency = path_format_duration(histogram_mean(&v->all.latency));
        g_autofree char *count = path_format_count(p->count);
        g_autofree char *all = path_format_count(count_requests(set, p));

        if (late)
                g_string_append_printf(text,
                                       "%s answered after %s, when %s had gone on: it cost %s, "
                                       "in %s of %s requests",
                                       name, latency, from, wait, count, all);
        else
                g_string_append_printf(text, "%s gave no answer for %s, in %s of %s requests", name,
                                       wait, count, all);
        append_time_out(text, waits, from);
}

void text_append_missed(GString *out, const PathSet *set, const PathPattern *p,
                        const CollapsedTree *tree, guint columns)
{
        for (guint32 i = 0; i < tree->n_vertices; i++) {
                g_autoptr(GString) text = g_string_new(NULL);

                if (!work_is_missed(tree->vertices[i].all.continues))
                        continue;
                append_vertex(text, set, p, tree, &tree->vertices[i]);
                text_append_wrapped(out, text->str, " ", 4, columns);
        }
}
