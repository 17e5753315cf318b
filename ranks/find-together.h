/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Node by node, by several processes in step (base/peers.h), all of which have the calls.
 */
#ifndef RAVEL_FIND_TOGETHER_H
#define RAVEL_FIND_TOGETHER_H

#include "nesting/node-tasks.h"

/* Does all tasks. The first process gets what is found. */
void find_tasks_together(NodeTasks *s);

#endif
