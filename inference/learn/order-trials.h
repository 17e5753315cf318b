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
#ifndef RAVEL_ORDER_TRIALS_H
#define RAVEL_ORDER_TRIALS_H

#include "inference/model/joint.h"

#include <glib.h>

/* Beliefs are learned. TRUE: there is order, and the model has been learned with it; FALSE: all is
 * as it was. */
gboolean order_try(Joint *j);

/* A part of a problem is decided by what was learned, and beliefs have begun: finds parents to go
 * on from (Scores.learned) as they were found when an event loop was learned. Learns nothing. */
void order_find(Joint *j);

#endif
