/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The assignments that learning begins with: by delays since a parent's entry and until its reply
 * alone; and in order of time, by what a parent has done so far.
 */
#ifndef RAVEL_ASSIGN_H
#define RAVEL_ASSIGN_H

#include "inference/model/joint.h"
#include <glib.h>

/* Assign each child: to the candidate that the bounds alone favour; or, in order of time, to the
 * candidate with the greatest hazard. The first assignment is the true one where it is told. */
void joint_assign_first(Joint *j);
/* The first assignment again, by bounds that are learned anew in so many rounds. */
void joint_assign_anew(Joint *j, guint rounds);
void joint_assign_in_time(Joint *j);

/* The share of each candidate of a call by the bounds that were learned last alone. share: by
 * candidate. */
void joint_share_by_bounds(const Joint *j, float *share);

#endif
