/* SPDX-License-Identifier: BSD-2-Clause
 *
 * ravel nesting over several ranks: the paper's method on slices of time, one a rank.
 */
#ifndef RAVEL_NESTING_RANKS_H
#define RAVEL_NESTING_RANKS_H

#include "tools/elsewhere.h"

/* What is asked for, done by all ranks, each its part (a NestingElsewhere). */
gboolean nesting_on_ranks(const NestingJob *job, int *status);

#endif
