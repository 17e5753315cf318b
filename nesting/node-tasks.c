/* SPDX-License-Identifier: BSD-2-Clause */
#include "nesting/node-tasks.h"

#include "base/big-memory.h"
#include "base/compare.h"

COMPARISON(compare_work, NodeTask, COMPARE(b->work, a->work))

/* The sum of the durations of the calls into a node, ns. */
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

/* A node's work is the number of its possible nestings: the calls from the node, times the mean
 * number of open calls into it. */
void node_tasks_list(NodeTasks *s)
{
        guint n_nodes = node_table_size(s->of->calls->nodes);
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

CrewNext node_tasks_take(gpointer data, gpointer *work)
{
        NodeTasks *s = data;

        if (s->n_taken == s->tasks->len)
                return s->n_done == s->tasks->len ? CREW_END : CREW_WAIT;
        *work = node_task(s, s->n_taken++);
        return CREW_WORK;
}

void node_tasks_end(gpointer data, gpointer work G_GNUC_UNUSED)
{
        ((NodeTasks *)data)->n_done++;
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
                              .best_only = !n->cycles, /* else it may lie in its call */
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

        node_calls_take_answer(n, problem, &task->found);
        g_mutex_lock(&s->lock);
        node_calls_note_waits(n, problem, &task->found);
        if (n->drawn)
                drawn_parents_take(n->drawn, &task->found, n->calls->pairs.n);
        g_mutex_unlock(&s->lock);
        sum_candidates(task);
        task->n_hasty = task->found.n_hasty;
        task->most_open = task->found.most_open;
        task->log = task->found.log;
        task->true_log = task->found.true_log;
        if (!n->cycles)
                node_calls_set_causes(n, &task->found);
}
