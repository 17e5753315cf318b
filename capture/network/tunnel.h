/* SPDX-License-Identifier: BSD-2-Clause
 *
 * From a packet of a tunnel to the packet in it. Knows IP in IP (RFC 2003, 4213), GRE (RFC 2784,
 * 2890, 2637), and ERSPAN I to III in GRE. Over UDP it knows VXLAN (RFC 7348) and Geneve (RFC
 * 8926). Mirrors send what they see in one of these, and overlay networks send everything in
 * one.
 */
#pragma once

#include "capture/network/ip.h"
#include "capture/packet/account.h"

/* Tunnels in tunnels that are looked into. */
enum { TUNNEL_DEPTH = 4 };

typedef enum {
        TUNNEL_NONE,  /* the packet is no tunnel's */
        TUNNEL_FRAME, /* there is a frame in it */
        TUNNEL_OTHER  /* it is a tunnel's, with no frame in it that can carry IP */
} TunnelResult;

/* TUNNEL_FRAME: link_type and frame are the inner packet's. Its bytes are borrowed from ip. What
 * was cut off ip's payload is missing at its end, too. reason: where it is TUNNEL_OTHER, why. */
TunnelResult tunnel_decode(const IpPacket *ip, int *link_type, Cursor *frame, AccountEntry *reason);
