/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A thread between the kernel and whoever uses packets. It does nothing but take them, so that
 * the kernel's small buffer is emptied in time also while a packet is used. A burst waits in
 * memory of our own. If that is full too, packets stay with the kernel, which counts the packets
 * that it drops.
 */
#pragma once

#include "capture/source/packet-queue.h"

typedef struct PacketRelay PacketRelay;

typedef enum { RELAY_MORE, RELAY_NONE, RELAY_OVER } RelayStatus;

/* Adds some of the packets that are there to queue, without waiting: whether there may be
 * more, there are none now, or will be none. Called in the thread, with the lock; it may set
 * a descriptor to -1, which nobody waits for any more. */
typedef RelayStatus (*RelayTake)(gpointer user, PacketQueue *queue);

/* Calls take when one of the n descriptors fds is readable, and every tenth of a second. About size
 * bytes of packets may wait. fds is borrowed. Signals are never delivered to the thread. NULL and
 * error set where there can be no thread. */
PacketRelay *packet_relay_new(const int *fds, guint n, gsize size, RelayTake take, gpointer user,
                              GError **error);

/* Ends the thread. NULL is allowed. */
void packet_relay_free(PacketRelay *relay);

/* Readable when packets have come, or it is over, since the last time that there were
 * none. */
int packet_relay_fd(const PacketRelay *relay);

/* While packet_relay_next() says that there is none: a monotonic time (us) before which take left
 * nothing behind, however long nobody has looked since. 0: something has come. */
gint64 packet_relay_quiet(PacketRelay *relay);

/* RELAY_MORE: a packet, its bytes valid until the next call. */
RelayStatus packet_relay_next(PacketRelay *relay, Packet *packet);

/* No more packets are taken. Packets that wait are still handed out. May be called from a signal
 * handler. */
void packet_relay_stop(PacketRelay *relay);

/* While it is locked, take is not called. */
void packet_relay_lock(PacketRelay *relay);
void packet_relay_unlock(PacketRelay *relay);
