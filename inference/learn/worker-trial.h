/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Whether a node has a few workers, calls into it wait for one (model/workers.h), and the parents
 * found with them fit.
 */
#ifndef RAVEL_WORKER_TRIAL_H
#define RAVEL_WORKER_TRIAL_H

#include "inference/model/joint.h"

#include <glib.h>

/* Tries the number of workers by replies (worker-count.h). Keeps it if the waiting parents get
 * likelier. Needs a first assignment, and leaves another one. */
void workers_try(Joint *j);

#endif
