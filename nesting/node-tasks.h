/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Nodes whose parents are to be found, a task each. On threads of one process (calls-at-nodes.c),
 * or by several (ranks/find-together.c).
 */
#ifndef RAVEL_NODE_TASKS_H
#define RAVEL_NODE_TASKS_H

#include "nesting/node-calls.h"

typedef struct {
        NodeId node;
        guint32 n_in, n_out;
        double work;                /* in proportion to this, about */
        guint64 children, nestings; /* calls with a candidate, and candidates of them */
        double log, true_log;       /* those of the answer */
        NodeAnswer found;
} NodeTask;

struct NodeTasks {
        const NodesSearch *of;
        CallsByNode by;
        GArray *tasks; /* the one with the most work first */
        guint n_taken, n_done;
        Crew *crew;
        Work work;
        GMutex lock; /* of what is noted of waits */
};

static inline NodeTask *node_task(const NodeTasks *s, guint i)
{
        return &g_array_index(s->tasks, NodeTask, i);
}

/* Of the calls by node: which tasks there are. */
void node_tasks_list(NodeTasks *s);

/* CrewTake, CrewDone; data: the tasks. The task with the most work comes first. */
CrewNext node_tasks_take(gpointer data, gpointer *work);
void node_tasks_end(gpointer data, gpointer work);

/* The problem of a task, with room for its calls; and frees it. */
NodeProblem node_task_problem(const NodeTasks *s, const NodeTask *task);
void node_task_free_problem(const NodeTask *task, NodeProblem *problem);

/* Takes what was found of a task. On any thread. */
void node_task_take_found(NodeTasks *s, NodeTask *task, const NodeProblem *problem);

#endif
