/* SPDX-License-Identifier: BSD-2-Clause */
#include "write/fault-text.h"

#include "paths/path-text.h"

gboolean fault_text_has_errors(const PathPattern *p)
{
        for (guint32 i = 0; i < p->n_nodes; i++)
                if (p->nodes[i].faults.errors > 0)
                        return TRUE;
        return FALSE;
}

char *fault_text_failed(const PathSet *set, const PathPattern *p)
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

char *fault_text_retries(const PathSet *set, const PathPattern *p, const CollapsedCall *v)
{
        const NodeFaults *f = &v->all.faults;
        g_autofree char *errors = path_format_count(f->errors);
        g_autofree char *of = path_format_count(v->all.latency.count);
        g_autofree char *retries = path_format_count(f->retries);
        g_autofree char *lost = path_format_duration((gint64)(f->lost / (gint128)p->count));
        g_autofree char *times = v->n > 1 ? g_strdup_printf(" x%u", v->n) : g_strdup("");
        char outcome[OUTCOME_TEXT + 1];

        if (f->retries == 0)
                return NULL;
        outcome_write(f->outcome, outcome);
        return g_strdup_printf("%s%s: %s of %s calls in error (%s), %s retries, %s lost a path.",
                               node_table_written(path_set_nodes(set), v->all.node), times, errors,
                               of, outcome, retries, lost);
}
