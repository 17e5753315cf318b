/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What was taken out of a queue and is settled later. The consumer tells the queue that it is
 * done with it, or has begun, on whatever connection. A tag that came with the thing names it
 * then. Such a message is a call by the queue, which returns then, as a delivery of AMQP is.
 *
 * Where a node settles nothing that it takes from another, what it takes is one-way.
 */
#pragma once

#include "capture/network/sequencer.h"

typedef struct Settling Settling;

/* most: deliveries that are remembered, the last. */
Settling *settling_new(guint most);
void settling_free(Settling *settling);

/* How many deliveries were forgotten. */
guint64 settling_forgotten(const Settling *settling);

/* A consumer has taken the message of this port and number. tag: a hash, not 0. Whether it is
 * likely that it will settle it: not after 1,024 of which it settled none. */
gboolean settling_take(Settling *settling, NodeId queue, NodeId consumer, guint64 tag, guint16 port,
                       guint32 number);

/* Whether it has taken one with this tag, and not settled it. */
gboolean settling_has(const Settling *settling, NodeId queue, NodeId consumer, guint64 tag);

/* It settles one: its id, once; else some is FALSE. Of messages the last million or half a million
 * are known. */
Link settling_settle(Settling *settling, NodeId queue, NodeId consumer, guint64 tag);
