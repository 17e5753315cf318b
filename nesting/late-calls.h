/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Late calls: a call begins while its parent is open, and outlasts it. The parent did not wait for
 * the return: a hedged request, or a time-out. Such a call lies within no candidate.
 *
 * A root may look the same by accident. Roots begin at any time, some while the node is idle. Their
 * number then tells how many roots look late. Late calls are admitted if there are twice as many.
 */
#pragma once

#include "inference/inference.h"

/* Makes late calls that are admitted end as they start. So calls that are open at their start are
 * their candidates. Stamps are on the node's clock. O(calls). */
void late_calls_admit(NodeProblem *problem);
