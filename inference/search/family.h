/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A family: one parent, a call into the node, with the children that it is given. Its likelihood is
 * found here alone; the trellis sums over families that are not given.
 */
#pragma once

#include "inference/model/evidence.h"
#include "inference/search/trellis.h"

/* Sets the starts of parents: when they enter, or a worker takes them. */
void joint_find_starts(Joint *j);

/* Gets the family of a parent in the assignment. FALSE if it has too many children. */
gboolean family_gather(const Joint *j, guint32 parent, Family *f);

/* Finds the log likelihood of a family, and the outputs of its parent. */
void family_walk(Joint *j, Family *f);

/* Two parts of the log likelihood of a family that was walked, in 1/LOG_UNIT. The first is the part
 * of its delays. The second is the part of the first event, for a parent that waited for a worker.
 * That event is its start, or anything that it did before. */
gint64 family_log_of_delays(Joint *j, const Family *f);
gint64 family_log_of_start(Joint *j, const Family *f);

/* Removes a child. Adds a child, for which there must be room. */
void family_take_out(Family *f, guint32 call);
void family_put_in(Family *f, guint32 call);

/* A parent as the trellis takes it. */
TrellisParent family_trellis_parent(const Joint *j, guint32 parent);

/* The log likelihood, in 1/LOG_UNIT, of a parent with the children that the assignment gives it,
 * and no others. count: the model counts what the parent did. */
gint64 family_learn(Joint *j, guint32 parent, gboolean count);

/* Counts the delays from the parent's entry to the child's start and from the child's end to the
 * parent's reply. count is in units of DENSITY_COUNT. */
void joint_count_bounds(Joint *j, guint32 child, guint32 parent, guint32 count);

/* The natural logarithm of the likelihood of the assignment. */
double joint_log_of_assignment(Joint *j);

/* The same, without families of more than MOST_CHILDREN children. Serving order notes nothing. */
double joint_log_of_families(Joint *j);
