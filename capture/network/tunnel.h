/* SPDX-License-Identifier: BSD-2-Clause
 *
 * From a packet of a tunnel to the packet in it: IP in IP (RFC 2003, 4213), GRE
 * (RFC 2784, 2890, 2637), ERSPAN I to III in GRE, and over UDP VXLAN (RFC 7348)
 * and Geneve (RFC 8926). Mirrors send what they see in one of
 * these, and overlay networks send everything in one.
 */
#ifndef RAVEL_TUNNEL_H
#define RAVEL_TUNNEL_H

#include "capture/network/ip.h"
#include "capture/packet/account.h"

/* Tunnels in tunnels that are looked into. */
enum { TUNNEL_DEPTH = 4 };

typedef enum {
        TUNNEL_NONE,  /* the packet is no tunnel's */
        TUNNEL_FRAME, /* there is a frame in it */
        TUNNEL_OTHER  /* it is a tunnel's, with no frame in it that can carry IP */
} TunnelResult;

/* TUNNEL_FRAME: link_type and frame are the inner packet's; its bytes are borrowed
 * from ip, and as many are missing at its end as of ip's payload. reason: where it is
 * TUNNEL_OTHER, why. */
TunnelResult tunnel_decode(const IpPacket *ip, int *link_type, Cursor *frame, AccountEntry *reason);

#endif
