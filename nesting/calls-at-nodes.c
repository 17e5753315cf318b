/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/each.h"
#include "nesting/nodes-search.h"

#include "base/compare.h"
#include "inference/given-model.h"
#include "nesting/node-tasks.h"

COMPARISON(compare_tasks, NodeTask, COMPARE(a->node, b->node))

static void find_parents_of_node(const NodesSearch *n, NodeId id, NodeProblem *problem,
                                 NodeAnswer *answer)
{
        if (n->given)
                find_parents_by_model(problem,
                                      n->given->model[id] ? n->given->model[id] : n->given->nothing,
                                      answer);
        else if (n->learn)
                n->learn->model[id] = learn_parents_jointly(problem, answer);
        else
                find_parents_jointly(problem, n->models ? n->models[id] : NULL, answer);
}

/* CrewDo; data: the tasks. */
static void do_task(gpointer data, gpointer work)
{
        NodeTasks *s = data;
        NodeTask *task = work;
        const NodesSearch *n = s->of;
        g_autofree guint32 *truth = n->true_parent ? g_new(guint32, task->n_out) : NULL;
        WorkPart part = { .work = &s->work, .size = task->work };
        NodeProblem problem = node_task_problem(s, task);

        problem.truth = truth;
        problem.work = &part;
        node_calls_make_problem(n, &s->by, task->node, &problem);
        find_parents_of_node(n, task->node, &problem, &task->found);
        node_task_take_found(s, task, &problem);
        work_part_done(&part, 1);
        node_task_free_problem(task, &problem);
}

static void note_haste(KnownCalls *calls, const NodeTask *task)
{
        calls->hasty += task->n_hasty;
        if (task->n_hasty > 0 && task->most_open > calls->most_open) {
                calls->most_open = task->most_open;
                calls->busiest = task->node;
        }
}

/* Adds up in the order of nodes. If a call may come to lie within itself, its cause depends on
 * causes at other nodes. Causes are set here then. */
static void sum_up(const NodesSearch *n, GArray *tasks, LogLikelihood *log)
{
        g_array_sort(tasks, compare_tasks);
        EACH (NodeTask, task, tasks) {
                n->calls->children += task->children;
                n->calls->nestings += task->nestings;
                note_haste(n->calls, task);
                log->unknown += n->given && !n->given->model[task->node];
                log->found += task->log;
                log->truth += task->true_log;
                if (n->cycles)
                        node_calls_set_causes(n, &task->found);
        }
}

/* A call into a node that makes no calls may wait for a worker, too. */
static void find_waits_at_leaves(NodeTasks *s)
{
        guint n_nodes = node_table_size(s->of->calls->nodes);

        for (NodeId id = 0; id < n_nodes; id++) {
                NodeTask task = { .node = id, .n_in = s->by.first_in[id + 1] - s->by.first_in[id] };
                NodeProblem problem;

                if (!task.n_in || s->by.first_out[id + 1] > s->by.first_out[id])
                        continue;
                problem = node_task_problem(s, &task);
                node_calls_make_problem(s->of, &s->by, id, &problem);
                find_waits(&problem, &task.found);
                node_calls_note_waits(s->of, &problem, &task.found);
                node_task_free_problem(&task, &problem);
        }
}

void find_parents_at_nodes(const NodesSearch *n, LogLikelihood *log)
{
        guint n_nodes = node_table_size(n->calls->nodes);
        g_autoptr(GArray) tasks = g_array_new(FALSE, FALSE, sizeof(NodeTask));
        const CrewList list = { node_tasks_take, do_task, node_tasks_end };
        NodeTasks s = { .of = n, .tasks = tasks };
        double work = 0;

        node_calls_index(n, &s.by, n_nodes);
        node_tasks_list(&s);
        for (guint i = 0; i < tasks->len; i++)
                work += node_task(&s, i)->work;
        work_init(&s.work, n->progress, work);
        g_mutex_init(&s.lock);
        s.crew = crew_new(n->threads);
        if (n->find_together)
                n->find_together(&s);
        else
                crew_run(s.crew, &list, &s);
        crew_free(s.crew);
        g_mutex_clear(&s.lock);
        work_clear(&s.work);
        sum_up(n, tasks, log);
        find_waits_at_leaves(&s);
        node_calls_clear(n, &s.by);
}
