/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Whether a node serves in order: trials, one after the other, each of which learns the model with
 * an order that it supposes (learn/order.h).
 *
 *      loop        all outputs, from the parents that calls have if the node is an event loop
 *      plain       all outputs, from the parents that beliefs came to
 *      dispatched  the first calls of requests alone: threads begin in order and end out of it
 *      reverse     these, last in first out: a control, which must not show as well
 *
 * The first that holds stays, with the model that was learned with it.
 */
#pragma once

#include "inference/model/joint.h"

#include <glib.h>

/* Tries order after beliefs were learned. TRUE: there is order, and the model was learned with it.
 * FALSE: nothing has changed. */
gboolean order_try(Joint *j);

/* Finds the parents from which a part of a problem goes on (Scores.learned), after its beliefs
 * began. Finds them as for an event loop during learning. Learns nothing. */
void order_find(Joint *j);
