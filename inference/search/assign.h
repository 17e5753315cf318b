/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The assignments that learning begins with. One goes by delays alone: since a parent's entry and
 * until its reply. The other goes in order of time, by what a parent has done so far.
 */
#pragma once

#include "inference/model/joint.h"
#include <glib.h>

/* Assigns each child to the candidate that the bounds alone favour. Where the truth is known, the
 * assignment is the true one. */
void joint_assign_first(Joint *j);
/* Assigns by bounds again. They are learned anew, in this number of rounds. */
void joint_assign_anew(Joint *j, guint rounds);
/* Assigns each child, in order of time, to the candidate with the greatest hazard. */
void joint_assign_in_time(Joint *j);
