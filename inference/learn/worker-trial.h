/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Whether a node has a few workers, and calls into it wait for one (model/workers.h).
 */
#pragma once

#include "inference/model/joint.h"

/* Tries the number of workers by replies (worker-count.h). Keeps it if the waiting parents get
 * likelier. Needs a first assignment, and leaves another one. */
void workers_try(Joint *j);
