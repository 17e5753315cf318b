/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The nodes whose parents are to be found, a task each. The tasks run on threads of one process
 * (calls-at-nodes.c) or in several processes (ranks/find-together.c).
 */
#pragma once

#include "nesting/node-calls.h"

typedef struct {
        NodeId node;
        guint32 n_in, n_out;
        double work;                /* an estimate of the CPU time, in any unit */
        guint64 children, nestings; /* calls with a candidate, and all candidates */
        guint32 n_hasty, most_open; /* see NodeAnswer */
        double log, true_log;       /* likelihoods of the answer and the truth */
        NodeAnswer found;
} NodeTask;

struct NodeTasks {
        const NodesSearch *of;
        CallsByNode by;
        GArray *tasks; /* the one with the most work first */
        guint n_taken, n_done;
        Crew *crew;
        Work work;
        GMutex lock; /* for notes of waits and drawings */
};

static inline NodeTask *node_task(const NodeTasks *s, guint i)
{
        return &g_array_index(s->tasks, NodeTask, i);
}

void node_tasks_list(NodeTasks *s);

/* CrewTake, CrewDone; data: the tasks. The task with the most work comes first. */
CrewNext node_tasks_take(gpointer data, gpointer *work);
void node_tasks_end(gpointer data, gpointer work);

/* Makes the problem of a task, with room for its calls; and frees it. */
NodeProblem node_task_problem(const NodeTasks *s, const NodeTask *task);
void node_task_free_problem(const NodeTask *task, NodeProblem *problem);

/* Takes the answer of a task. On any thread. */
void node_task_take_found(NodeTasks *s, NodeTask *task, const NodeProblem *problem);
