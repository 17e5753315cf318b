/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Packets that wait, copied, first in, first out. Takes memory as they come, up to a
 * bound, and gives it back.
 */
#pragma once

#include "capture/packet/packet.h"

typedef struct PacketQueue PacketQueue;

/* bytes: about how many it holds. */
PacketQueue *packet_queue_new(gsize size);
void packet_queue_free(PacketQueue *queue);

gboolean packet_queue_is_empty(const PacketQueue *queue);
gboolean packet_queue_is_full(const PacketQueue *queue);

/* Not where it is full. */
void packet_queue_add(PacketQueue *queue, const Packet *packet);

/* The packet's bytes are valid until the next call. FALSE where none waits. */
gboolean packet_queue_next(PacketQueue *queue, Packet *packet);
