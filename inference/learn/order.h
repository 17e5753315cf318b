/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Learning with serving order (model/serving-order.h): the factors of inversions and the model are
 * learned together, by expectation maximisation. order-trials.h decides whether order stays.
 */
#pragma once

#include "inference/model/joint.h"

#include <glib.h>

/* Which outputs may be in order. */
typedef enum {
        ALL_OUTPUTS,
        DISPATCHED /* calls that a call into the node triggers: the first that each request makes */
} Ordered;

/* Whether beliefs show that there is no order. That is so if hardly a trigger is uncertain, and the
 * odds of inversions are high. The few uncertain ones cannot hide order then. */
gboolean order_is_plainly_absent(Joint *j, Ordered which);

/* Supposes order, and learns from the assignments of a chain how rare inversions are. Returns the
 * ratio of the odds of inversions to their odds by delays alone. The ratio falls where there is
 * order, and rises where there is none. */
double order_learn(Joint *j, Ordered which);

/* Whether these odds are of a node that serves in order. */
gboolean order_shows(double odds);

/* The assignment is the truth, and walks have learned from it. */
void order_learn_truth(Joint *j);

/* While order is supposed of an event loop, beliefs also weigh these chances of candidates. The
 * order owns them from now on. order_learn() drops them. */
void order_weigh_by_loop(Joint *j, float *chance);
void order_drop_loop_weights(Joint *j);
