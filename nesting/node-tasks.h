/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Nodes whose parents are to be found, each a task that waits for those of its callers. On
 * threads of one process (calls-at-nodes.c), or by several (find-together.c).
 */
#ifndef RAVEL_NODE_TASKS_H
#define RAVEL_NODE_TASKS_H

#include "calls/node-order.h"
#include "nesting/node-calls.h"

typedef struct {
        NodeId node;
        guint32 n_in, n_out;
        guint32 n_waits; /* for so many tasks */
        gboolean taken;
        double work;                /* in proportion to this, about */
        guint64 children, nestings; /* calls with a candidate, and candidates of them */
        double log, true_log;       /* those of the answer */
        NodeAnswer found;
} NodeTask;

typedef struct {
        const NodesSearch *of;
        guint32 *rank; /* by NodeId, where it stands when callers come first */
        CallsByNode by;
        GArray *tasks;   /* the one with the most work first */
        NodeOrder order; /* of tasks */
        guint n_done;
        Crew *crew;
        Work work;
        GMutex lock; /* of what is noted of waits */
} NodeTasks;

static inline NodeTask *node_task(const NodeTasks *s, guint i)
{
        return &g_array_index(s->tasks, NodeTask, i);
}

/* Of the calls by node: which tasks there are, and what each waits for. */
void node_tasks_list(NodeTasks *s);

/* CrewTake, CrewDone; data: the tasks. The one with the most work of those that need not wait. */
CrewNext node_tasks_take(gpointer data, gpointer *work);
void node_tasks_end(gpointer data, gpointer work);

/* The problem of a task, with room for its calls; and frees it. */
NodeProblem node_task_problem(const NodeTasks *s, const NodeTask *task);
void node_task_free_problem(const NodeTask *task, NodeProblem *problem);

/* Takes what was found of a task. On any thread. */
void node_task_take_found(NodeTasks *s, NodeTask *task, const NodeProblem *problem);

#endif
