/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Finds parents node by node in several processes (base/peers.h). All processes have all calls, and
 * run in step.
 */
#pragma once

#include "nesting/node-tasks.h"

/* Does all tasks. The first process gets the answers. */
void find_tasks_together(NodeTasks *s);
