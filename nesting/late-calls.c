/* SPDX-License-Identifier: BSD-2-Clause */
#include "nesting/node-calls.h"

#include "inference/model/pass-calls.h"
#include "inference/model/roots.h"

/* This share of an edge's calls is no sign of roots if it begins while the node is idle. A hedge
 * may be sent just after the reply. Or its parent was not captured. Of 71 hedges that lost in a
 * captured system, 59 get the right parent by it. None does without. */
static const double STRAYS = 0.01;

/* The calls to one callee. */
typedef struct {
        guint32 n;              /* calls */
        guint32 n_late, n_idle; /* calls that outlast all that are open; calls with nothing open */
        gint64 duration;        /* of the late ones together, ns */
        gboolean admitted;
} LateEdge;

static LateEdge *late_edge(GHashTable *edges, NodeId callee)
{
        LateEdge *edge = g_hash_table_lookup(edges, GUINT_TO_POINTER(callee));

        if (!edge) {
                edge = g_new0(LateEdge, 1);
                g_hash_table_insert(edges, GUINT_TO_POINTER(callee), edge);
        }
        return edge;
}

/* The calls into a node so far, in order of entry. */
typedef struct {
        const NodeProblem *of;
        guint32 next;
        gint64 until; /* when the last of them replied, ns */
} EnteredCalls;

static EnteredCalls entered_calls_begin(const NodeProblem *p)
{
        return (EnteredCalls){ p, 0, G_MININT64 / 2 };
}

/* Moves on to a moment. */
static void entered_calls_pass(EnteredCalls *o, gint64 time)
{
        for (; o->next < o->of->n_in && o->of->in[o->next].enter < time; o->next++) {
                node_problem_pass(o->of, o->next);
                o->until = MAX(o->until, o->of->in[o->next].reply);
        }
}

/* Whether a call begins while calls into the node are open, and outlasts these. */
static gboolean is_late(const EnteredCalls *o, const CallOut *out)
{
        gint64 until = o->until + o->of->window;

        return out->start <= until && until < out->end;
}

/* Fills edges, by callee, and late, of guint32: the late calls. */
static void find_late(const NodeProblem *p, GHashTable *edges, GArray *late)
{
        EnteredCalls open = entered_calls_begin(p);

        for (guint32 i = 0; i < p->n_out; i++) {
                const CallOut *out = &p->out[i];

                node_problem_pass(p, i);
                entered_calls_pass(&open, out->start + p->window);
                LateEdge *edge = late_edge(edges, out->callee);

                edge->n++;
                if (is_late(&open, out)) {
                        edge->n_late++;
                        edge->duration += out->end - out->start;
                        g_array_append_val(late, i);
                } else if (out->start > open.until + p->window && open.next > 0) {
                        edge->n_idle++;
                }
        }
}

/* Roots begin at any time. Some begin while the node is idle, and others look late. The numbers of
 * both are as the times in which they do. */
static void admit_edges(const NodeProblem *p, GHashTable *edges)
{
        gint64 from = p->in[0].enter;
        double all = (double)(p->out[p->n_out - 1].start - from);
        double busy = (double)roots_covered_time(p, 0, from, G_MAXINT64);
        GHashTableIter iter;
        gpointer value;

        g_hash_table_iter_init(&iter, edges);
        while (g_hash_table_iter_next(&iter, NULL, &value)) {
                LateEdge *edge = value;

                if (edge->n_late == 0)
                        continue;
                gint64 duration = edge->duration / edge->n_late;
                double late = busy - (double)roots_covered_time(p, duration, from, G_MAXINT64);
                double idle = MAX(edge->n_idle - STRAYS * edge->n, 0);
                edge->admitted = (edge->n_late - 1) * MAX(all - busy, 0) >= 2 * idle * late;
        }
}

void late_calls_admit(NodeProblem *p)
{
        g_autoptr(GHashTable) edges = g_hash_table_new_full(NULL, NULL, NULL, g_free);
        g_autoptr(GArray) late = g_array_new(FALSE, FALSE, sizeof(guint32));

        if (p->n_in == 0 || p->n_out == 0)
                return;
        find_late(p, edges, late);
        if (late->len == 0)
                return;
        admit_edges(p, edges);
        for (guint i = 0; i < late->len; i++) {
                CallOut *out = &p->out[g_array_index(late, guint32, i)];

                node_problem_pass(p, i);
                if (late_edge(edges, out->callee)->admitted)
                        out->end = out->start;
        }
}
