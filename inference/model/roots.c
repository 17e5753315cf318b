/* SPDX-License-Identifier: BSD-2-Clause */
#include "inference/model/roots.h"
#include "inference/model/pass-calls.h"
#include "inference/model/tuning.h"

/* The calls to one callee. */
typedef struct {
        guint32 n, n_without; /* calls; calls that have no candidate */
        gint64 duration;      /* of all together, ns */
        gboolean roots;       /* all of them are */
} Edge;

static Edge *get_edge(GHashTable *edges, NodeId callee)
{
        Edge *edge = g_hash_table_lookup(edges, GUINT_TO_POINTER(callee));

        if (!edge) {
                edge = g_new0(Edge, 1);
                g_hash_table_insert(edges, GUINT_TO_POINTER(callee), edge);
        }
        return edge;
}

gint64 roots_covered_time(const NodeProblem *p, gint64 duration, gint64 from, gint64 to)
{
        gint64 time = 0, until = from;

        for (guint32 i = 0; i < p->n_in; i++) {
                gint64 first = MAX(p->in[i].enter, until);
                gint64 last = MIN(p->in[i].reply - duration, to);

                node_problem_pass(p, i);
                if (last > first) {
                        time += last - first;
                        until = last;
                }
        }
        return time;
}

/* The share of the time in which a call of this duration would have a candidate by accident. */
static double busy_share(const NodeProblem *p, gint64 duration)
{
        gint64 from = p->out[0].start, to = p->out[p->n_out - 1].start;

        return to > from ? (double)roots_covered_time(p, duration, from, to) / (double)(to - from)
                         : 0;
}

/* Whether the calls of an edge are roots: most have no candidate, and accident explains half of the
 * others or more. */
static gboolean are_roots(const NodeProblem *p, const Edge *edge)
{
        guint32 n_with = edge->n - edge->n_without;
        double busy;

        if (n_with == 0 || edge->n_without < n_with)
                return FALSE;
        busy = busy_share(p, edge->duration / edge->n);
        /* Of n calls, n (1 - busy) are without a candidate. */
        return edge->n_without * busy >= tuning.roots_by_accident * n_with * (1 - busy);
}

gboolean roots_find(NodeProblem *p, const guint32 *n_candidates)
{
        g_autoptr(GHashTable) edges = g_hash_table_new_full(NULL, NULL, NULL, g_free);
        gboolean any = FALSE;

        for (guint32 i = 0; i < p->n_out; i++) {
                Edge *edge = get_edge(edges, p->out[i].callee);

                node_problem_pass(p, i);
                edge->n++;
                edge->n_without += n_candidates[i] == 0;
                edge->duration += MAX(p->out[i].end - p->out[i].start, 0);
        }
        GHashTableIter iter;
        gpointer value;

        g_hash_table_iter_init(&iter, edges);
        while (g_hash_table_iter_next(&iter, NULL, &value)) {
                Edge *edge = value;

                edge->roots = are_roots(p, edge);
                any |= edge->roots;
        }
        for (guint32 i = 0; any && i < p->n_out; i++)
                if (get_edge(edges, p->out[i].callee)->roots)
                        p->out[i].flags |= OUT_ROOT;
        return any;
}
