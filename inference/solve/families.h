/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The probability of a family: a call into the node made exactly the children that it was given.
 */
#pragma once

#include <glib.h>

#include "inference/model/joint.h"

/* Multiplies family[p] by the probability of p's family in the assignment, among the decided calls
 * from first to end - 1. */
void joint_find_families(const Joint *j, guint32 first, guint32 end, float *family);
