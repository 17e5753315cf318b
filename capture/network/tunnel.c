/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/network/tunnel.h"

#include "capture/network/link-layer.h"

enum { IP_IPV4 = 4, IP_IPV6 = 41, IP_GRE = 47 };

enum { PORT_VXLAN = 4789, PORT_GENEVE = 6081 };

enum {
        GRE_CHECKSUM = 0x8000,
        GRE_ROUTING = 0x4000,
        GRE_KEY = 0x2000,
        GRE_SEQUENCE = 0x1000,
        GRE_ACKNOWLEDGE = 0x0080, /* version 1 only */
        GRE_VERSION = 0x0007,
};

enum {
        TYPE_IPV4 = 0x0800,
        TYPE_IPV6 = 0x86dd,
        TYPE_ETHERNET = 0x6558,
        TYPE_MPLS = 0x8847,
        TYPE_PPP = 0x880b,
        TYPE_ERSPAN = 0x88be, /* I and II */
        TYPE_ERSPAN_III = 0x22eb,
};

enum {
        VXLAN_VNI = 0x08,    /* must be set */
        VXLAN_POLICY = 0x80, /* the extension that names a group and what was done to it */
};

static TunnelResult none_because(AccountEntry why, AccountEntry *reason)
{
        *reason = why;
        return TUNNEL_OTHER;
}

/* What an EtherType stands for in a tunnel. */
static TunnelResult frame_of(guint16 type, int *link_type, AccountEntry *reason)
{
        switch (type) {
        case TYPE_IPV4:
        case TYPE_IPV6:
                *link_type = LINK_RAW;
                return TUNNEL_FRAME;
        case TYPE_ETHERNET:
                *link_type = LINK_ETHERNET;
                return TUNNEL_FRAME;
        case TYPE_MPLS:
                *link_type = LINK_MPLS;
                return TUNNEL_FRAME;
        case TYPE_PPP:
                *link_type = LINK_PPP;
                return TUNNEL_FRAME;
        }
        return none_because(ACCOUNT_NOT_IP, reason);
}

/* Type I has no header of its own, and no sequence number in GRE's. */
static TunnelResult decode_erspan(guint16 type, gboolean sequence, Cursor *c, int *link_type,
                                  AccountEntry *reason)
{
        *link_type = LINK_ETHERNET;
        if (type == TYPE_ERSPAN && !sequence)
                return TUNNEL_FRAME;
        const guint8 *p = cursor_take(c, type == TYPE_ERSPAN ? 8 : 12);
        if (!p || p[0] >> 4 != (type == TYPE_ERSPAN ? 1 : 2))
                return none_because(ACCOUNT_BAD_LINK, reason);
        if (type == TYPE_ERSPAN)
                return TUNNEL_FRAME;
        if (p[11] & 1 && !cursor_skip(c, 8)) /* the platform's own */
                return none_because(ACCOUNT_BAD_LINK, reason);
        guint kind = p[10] >> 2 & 0x1f;
        if (kind == 2)
                *link_type = LINK_RAW;
        return kind == 0 || kind == 2 ? TUNNEL_FRAME : none_because(ACCOUNT_NOT_IP, reason);
}

static TunnelResult decode_gre(Cursor *c, int *link_type, AccountEntry *reason)
{
        guint16 flags, type;
        if (!cursor_u16(c, &flags) || !cursor_u16(c, &type))
                return none_because(ACCOUNT_BAD_LINK, reason);
        guint version = flags & GRE_VERSION;
        if (version > 1 || (version == 1) != (type == TYPE_PPP) || flags & GRE_ROUTING)
                return none_because(ACCOUNT_NOT_TRANSPORT, reason);
        gsize size = (flags & GRE_CHECKSUM ? 4 : 0) + (flags & GRE_KEY ? 4 : 0) +
                     (flags & GRE_SEQUENCE ? 4 : 0) +
                     (version == 1 && flags & GRE_ACKNOWLEDGE ? 4 : 0);
        if (!cursor_skip(c, size))
                return none_because(ACCOUNT_BAD_LINK, reason);
        if (version == 1 && cursor_left(c) == 0)
                return none_because(ACCOUNT_NOT_IP, reason); /* an acknowledgement alone */
        if (type == TYPE_ERSPAN || type == TYPE_ERSPAN_III)
                return decode_erspan(type, (flags & GRE_SEQUENCE) != 0, c, link_type, reason);
        return frame_of(type, link_type, reason);
}

static TunnelResult decode_vxlan(Cursor *c, int *link_type)
{
        const guint8 *p = cursor_take(c, 8);
        if (!p || p[7] != 0)
                return TUNNEL_NONE;
        *link_type = LINK_ETHERNET;
        if (p[0] == (VXLAN_VNI | VXLAN_POLICY))
                return TUNNEL_FRAME;
        return p[0] == VXLAN_VNI && p[1] == 0 && read_u16(p + 2) == 0 ? TUNNEL_FRAME : TUNNEL_NONE;
}

static TunnelResult decode_geneve(Cursor *c, int *link_type)
{
        AccountEntry reason;
        const guint8 *p = cursor_take(c, 8);
        if (!p || p[0] >> 6 != 0 || p[1] & 0x3f || p[7] != 0 || !cursor_skip(c, (p[0] & 0x3f) * 4u))
                return TUNNEL_NONE;
        return frame_of(read_u16(p + 2), link_type, &reason) == TUNNEL_FRAME ? TUNNEL_FRAME
                                                                             : TUNNEL_NONE;
}

/* A port is no proof: what has not the header stays a datagram as any other. */
static TunnelResult decode_udp(Cursor *c, int *link_type)
{
        const guint8 *p = cursor_take(c, 8);
        if (!p)
                return TUNNEL_NONE;
        switch (read_u16(p + 2)) {
        case PORT_VXLAN:
                return decode_vxlan(c, link_type);
        case PORT_GENEVE:
                return decode_geneve(c, link_type);
        }
        return TUNNEL_NONE;
}

TunnelResult tunnel_decode(const IpPacket *ip, int *link_type, Cursor *frame, AccountEntry *reason)
{
        if (ip->protocol == IP_TCP)
                return TUNNEL_NONE;
        *frame = cursor(ip->payload, ip->captured);
        switch (ip->protocol) {
        case IP_UDP:
                return decode_udp(frame, link_type);
        case IP_IPV4:
        case IP_IPV6:
                *link_type = LINK_RAW;
                return TUNNEL_FRAME;
        case IP_GRE:
                return decode_gre(frame, link_type, reason);
        }
        return TUNNEL_NONE;
}
