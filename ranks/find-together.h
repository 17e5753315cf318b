/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Finds parents node by node in several processes (base/peers.h). All processes have all calls, and
 * run in step.
 */
#ifndef RAVEL_FIND_TOGETHER_H
#define RAVEL_FIND_TOGETHER_H

#include "nesting/node-tasks.h"

/* Does all tasks. The first process gets the answers. */
void find_tasks_together(NodeTasks *s);

#endif
