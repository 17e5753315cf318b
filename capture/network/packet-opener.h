/* SPDX-License-Identifier: BSD-2-Clause
 *
 * From a frame to the innermost IP packet in it, through tunnels in tunnels. Puts fragments
 * together again at each depth.
 */
#pragma once

#include "capture/network/ip.h"
#include "capture/packet/account.h"
#include "capture/packet/packet.h"

typedef struct PacketOpener PacketOpener;

/* kinds: as in tunnels_new(). */
PacketOpener *packet_opener_new(const guint8 *kinds);
void packet_opener_free(PacketOpener *opener);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(PacketOpener, packet_opener_free)

/* ACCOUNT_NONE: ip is filled, and valid until the next call. Else why there is none, such as
 * ACCOUNT_FRAGMENTS for one that is kept until its datagram is whole. time: ns. */
AccountEntry packet_open(PacketOpener *opener, const Packet *packet, gint64 time, IpPacket *ip,
                         Account *account);

/* Counts the fragments that still wait as lost, and forgets them. */
void packet_opener_flush(PacketOpener *opener, Account *account);
