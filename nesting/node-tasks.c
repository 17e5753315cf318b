/* SPDX-License-Identifier: BSD-2-Clause */
#include "nesting/node-tasks.h"

#include "base/big-memory.h"
#include "base/compare.h"
#include "base/fill.h"

static int compare_work(const void *a, const void *b)
{
        double x = ((const NodeTask *)a)->work, y = ((const NodeTask *)b)->work;

        return COMPARE(y, x);
}

/* How long calls into a node take together, ns. */
static double time_at(const NodeTasks *s, NodeId node)
{
        gint128 time = 0;

        for (guint32 i = s->by.first_in[node]; i < s->by.first_in[node + 1]; i++) {
                Span span = s->of->calls->pairs.at_callee[s->by.in[i]];

                known_calls_pass(s->of->calls, i);
                time += span.to - span.from;
        }
        return (double)time;
}

/* A node's work is that of all nestings that there may be: calls out of it, times the calls into it
 * that are open in the mean. */
static void list_tasks(NodeTasks *s, guint n_nodes)
{
        const CallsByNode *by = &s->by;

        for (NodeId id = 0; id < n_nodes; id++) {
                NodeTask task = { .node = id,
                                  .n_in = by->first_in[id + 1] - by->first_in[id],
                                  .n_out = by->first_out[id + 1] - by->first_out[id] };

                if (!task.n_in || !task.n_out)
                        continue;
                task.work = task.n_out * time_at(s, id);
                g_array_append_val(s->tasks, task);
        }
        g_array_sort(s->tasks, compare_work);
}

/* Callers come first: which of their calls belong together is evidence at the callee. */
static void order_tasks(NodeTasks *s, guint n_nodes)
{
        const NodesSearch *n = s->of;
        guint n_tasks = s->tasks->len;
        g_autofree guint32 *number = g_new(guint32, n_nodes);
        g_autoptr(GArray) links = g_array_new(FALSE, FALSE, sizeof(NodeLink));

        fill(number, 0xff, n_nodes * sizeof *number);
        for (guint i = 0; i < n_tasks; i++)
                number[node_task(s, i)->node] = i;
        for (guint i = 0; i < n->calls->roles.n_edges; i++) {
                NodeLink link = { number[n->calls->roles.edge[i].caller],
                                  number[n->calls->roles.edge[i].callee] };

                if (link.caller < n_tasks && link.callee < n_tasks && link.caller != link.callee)
                        g_array_append_val(links, link);
        }
        node_order_init(&s->order, n_tasks, (const NodeLink *)links->data, links->len);
        s->rank = g_new0(guint32, n_nodes);
        for (guint i = 0; i < n_tasks; i++) {
                s->rank[node_task(s, i)->node] = s->order.rank[i];
                node_task(s, i)->n_waits = s->order.n_before[i];
        }
}

void node_tasks_list(NodeTasks *s)
{
        guint n_nodes = node_table_size(s->of->calls->nodes);

        list_tasks(s, n_nodes);
        order_tasks(s, n_nodes);
}

CrewNext node_tasks_take(gpointer data, gpointer *work)
{
        NodeTasks *s = data;

        if (s->n_done == s->tasks->len)
                return CREW_END;
        for (guint i = 0; i < s->tasks->len; i++) {
                NodeTask *task = node_task(s, i);

                if (task->taken || task->n_waits > 0)
                        continue;
                task->taken = TRUE;
                *work = task;
                return CREW_WORK;
        }
        return CREW_WAIT;
}

void node_tasks_end(gpointer data, gpointer work)
{
        NodeTasks *s = data;
        const NodeOrder *o = &s->order;
        guint i = (guint)((NodeTask *)work - node_task(s, 0));

        for (guint32 k = o->first[i]; k < o->first[i + 1]; k++)
                if (o->rank[o->callee[k]] > o->rank[i])
                        node_task(s, o->callee[k])->n_waits--;
        s->n_done++;
}

static void sum_candidates(NodeTask *task)
{
        const NodeAnswer *a = &task->found;

        for (guint32 i = 0; i < a->n_out; i++) {
                if (a->call[i] == NO_PARENT)
                        continue;
                task->children += a->n_candidates[i] > 0;
                task->nestings += a->n_candidates[i];
        }
}

NodeProblem node_task_problem(const NodeTasks *s, const NodeTask *task)
{
        const NodesSearch *n = s->of;

        return (NodeProblem){ .in = big_renew_in_file(NULL, 0, task->n_in * sizeof(CallIn)),
                              .out = big_renew_in_file(NULL, 0, task->n_out * sizeof(CallOut)),
                              .n_in = task->n_in,
                              .n_out = task->n_out,
                              .window = n->window,
                              .from = n->view.from,
                              .decide = n->view.decide,
                              .crew = s->crew,
                              .draws = n->drawn != NULL,
                              .in_files = TRUE,
                              .best_only = !n->cycles, /* else it may lie within its call */
                              .keep_log = n->keep_log };
}

void node_task_free_problem(const NodeTask *task, NodeProblem *problem)
{
        big_free(problem->in, task->n_in * sizeof(CallIn));
        big_free(problem->out, task->n_out * sizeof(CallOut));
}

void node_task_take_found(NodeTasks *s, NodeTask *task, const NodeProblem *problem)
{
        const NodesSearch *n = s->of;

        node_calls_take_answer(n, s->rank, task->node, problem, &task->found);
        g_mutex_lock(&s->lock);
        node_calls_note_waits(n, problem, &task->found);
        if (n->drawn)
                drawn_parents_take(n->drawn, &task->found, n->calls->pairs.n);
        g_mutex_unlock(&s->lock);
        sum_candidates(task);
        task->log = task->found.log;
        task->true_log = task->found.true_log;
        if (!n->cycles)
                node_calls_set_causes(n, &task->found);
}
