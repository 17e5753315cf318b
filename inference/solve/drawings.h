/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Drawings of whole assignments. Where the parents of many calls are in doubt, giving each call its
 * likeliest parent makes families that no parent has. The chain (sampler.h) draws assignments as
 * likely as they are: which call is whose may be wrong in each, but what families there are, and
 * how many of each, is about right.
 */
#ifndef RAVEL_DRAWINGS_H
#define RAVEL_DRAWINGS_H

#include "inference/inference.h"
#include "inference/model/joint.h"

/* Where parents of the calls from first to end - 1 are in doubt, draws assignments from the one
 * that there is, which stays, and hands their parents out, from call `at` of the answer on. After
 * joint_settle(). */
void joint_draw(Joint *j, guint32 first, guint32 end, NodeAnswer *answer, guint32 at);

#endif
