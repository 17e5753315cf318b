/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Drawings of whole assignments. Where the parents of many calls are uncertain, the likeliest
 * parent of each call makes families that no parent has. The chain (sampler.h) draws assignments as
 * often as they are likely. Single parents may be wrong in each. But the kinds of families, and the
 * number of each kind, are about right.
 */
#pragma once

#include "inference/inference.h"
#include "inference/model/joint.h"

/* Draws assignments where parents of the calls from first to end - 1 are uncertain. Starts from the
 * present assignment, which stays. Writes the parents to the answer, from call `at` on. Call it
 * after joint_settle(). */
void joint_draw(Joint *j, guint32 first, guint32 end, NodeAnswer *answer, guint32 at);
