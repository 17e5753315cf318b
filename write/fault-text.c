/* SPDX-License-Identifier: BSD-2-Clause */
#include "write/text-parts.h"

#include "paths/path-text.h"
#include "write/text-table.h"

enum {
        ALIKE_OF = 50, /* waits are alike if they differ by at most one in ALIKE_OF */
        ALIKE_FEW = 5, /* of fewer waits nothing is said */
};

gboolean fault_text_has_errors(const PathPattern *p)
{
        for (guint32 i = 0; i < p->n_nodes; i++)
                if (p->nodes[i].faults.errors > 0)
                        return TRUE;
        return FALSE;
}

/* "40 of 400 failed, 40 of them by db (500).": the culprit of most. NULL: none failed. */
static char *format_failed(const PathSet *set, const PathPattern *p)
{
        g_autofree char *failed = path_format_count(p->failed), *of = path_format_count(p->count);
        const PatternNode *most = &p->nodes[0];
        char outcome[OUTCOME_TEXT + 1];

        if (p->failed == 0)
                return NULL;
        for (guint32 i = 0; i < p->n_nodes; i++)
                if (p->nodes[i].faults.culprits > most->faults.culprits)
                        most = &p->nodes[i];
        g_autofree char *culprits = path_format_count(most->faults.culprits);
        outcome_write(most->faults.outcome, outcome);
        return g_strdup_printf("%s of %s failed, %s of them by %s (%s).", failed, of, culprits,
                               node_table_written(path_set_nodes(set), most->node), outcome);
}

/* "db x4: 120 of 160 calls in error (503), 120 retries, 90.4 ms lost a path." NULL: there were no
 * retries. */
static char *format_retries(const PathSet *set, const PathPattern *p, const CollapsedCall *v)
{
        const NodeFaults *f = &v->all.faults;
        g_autofree char *errors = path_format_count(f->errors);
        g_autofree char *of = path_format_count(v->all.latency.count);
        g_autofree char *retries = path_format_count(f->retries);
        g_autofree char *lost = path_format_duration((gint64)(f->lost / (gint128)p->count));
        g_autofree char *times = collapsed_call_times(v);
        char outcome[OUTCOME_TEXT + 1];

        if (f->retries == 0)
                return NULL;
        outcome_write(f->outcome, outcome);
        return g_strdup_printf("%s%s: %s of %s calls in error (%s), %s retries, %s lost a path.",
                               node_table_written(path_set_nodes(set), v->all.node), times, errors,
                               of, outcome, retries, lost);
}

void fault_text_append(GString *out, const PathSet *set, const PathPattern *p,
                       const CollapsedTree *tree, guint columns)
{
        for (guint32 i = 0; i < tree->n_vertices + 1; i++) {
                g_autofree char *text = i == 0 ? format_failed(set, p)
                                               : format_retries(set, p, &tree->vertices[i - 1]);

                if (text)
                        text_append_wrapped(out, text, " ", 4, columns);
        }
}

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

static void append_missed(GString *text, const PathSet *set, const PathPattern *p,
                          const CollapsedTree *tree, const CollapsedCall *v)
{
        NodeId caller = collapsed_call_caller(v, tree, p);
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

void fault_text_append_missed(GString *out, const PathSet *set, const PathPattern *p,
                              const CollapsedTree *tree, guint columns)
{
        for (guint32 i = 0; i < tree->n_vertices; i++) {
                g_autoptr(GString) text = g_string_new(NULL);

                if (!work_is_missed(tree->vertices[i].all.continues))
                        continue;
                append_missed(text, set, p, tree, &tree->vertices[i]);
                text_append_wrapped(out, text->str, " ", 4, columns);
        }
}
