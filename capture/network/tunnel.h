/* SPDX-License-Identifier: BSD-2-Clause
 *
 * From an IP packet of a tunnel to the packet in it. Knows IP in IP (RFC 2003, 4213), GRE (RFC
 * 2784, 2890, 2637), ERSPAN I to III in GRE, L2TPv3, and the kinds over UDP that tunnel.c lists.
 * Mirrors send what they see in one of these, and overlay networks send everything in one.
 *
 * A kind over UDP is recognised by content on any port. There the header must be right, and so
 * must an IP header in it, with its lengths and, of IPv4, its checksum. At the kind's own ports,
 * and once a flow has been recognised, the checksum does not count, as offload may leave it
 * unfilled. A flow in which more datagrams are no tunnel's than are is none.
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

/* What is in a packet of a tunnel. */
typedef struct {
        Cursor frame;        /* borrowed; what was cut off the packet is missing at its end, too */
        int link_type;       /* of frame, or LINK_OF_ETHERTYPE() */
        AccountEntry reason; /* TUNNEL_OTHER: why */
        guint32 unopened;    /* and at what (Unopened) */
} TunnelInside;

/* A kind's number from 1 on by its name, as in --tunnel PORT=KIND. 0: there is none. */
guint8 tunnel_kind_lookup(const char *name);

/* "vxlan, geneve, ...". The caller's to free. */
char *tunnel_kind_list(void);

/* What is known of the ports and of the latest flows. */
typedef struct Tunnels Tunnels;

/* kinds: 65536, the kind that is said to be at a UDP port, 0: none; or NULL. Copied. */
Tunnels *tunnels_new(const guint8 *kinds);
void tunnels_free(Tunnels *tunnels);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Tunnels, tunnels_free)

/* TUNNEL_FRAME: inside is filled. */
TunnelResult tunnel_decode(Tunnels *tunnels, const IpPacket *ip, TunnelInside *inside);
