/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/network/tunnel.h"

#include <string.h>

#include "base/hash.h"
#include "capture/network/link-layer.h"

enum { IP_IPV4 = 4, IP_IPV6 = 41, IP_GRE = 47, IP_L2TP = 115 };

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
        TYPE_ARP = 0x0806,
        TYPE_IPV6 = 0x86dd,
        TYPE_ETHERNET = 0x6558,
        TYPE_MPLS = 0x8847,
        TYPE_PPP = 0x880b,
        TYPE_ERSPAN = 0x88be, /* I and II */
        TYPE_ERSPAN_III = 0x22eb,
        TYPE_NSH = 0x894f,
};

enum {
        VXLAN_VNI = 0x08,      /* must be set */
        VXLAN_POLICY = 0x80,   /* the extension that names a group and what was done to it */
        VXLAN_PROTOCOL = 0x04, /* VXLAN-GPE: the next protocol is named */
};

enum {
        FLOWS = 4096,   /* that are remembered; a power of 2 */
        TRIES = 16,     /* datagrams of a flow that are looked into, if none is a tunnel's */
        PADDING = 64,   /* most bytes after an IP packet in a frame: to the least size, checksum */
        IS_SAID = 0x80, /* beside a kind: by --tunnel */
};

static TunnelResult other_because(AccountEntry why, TunnelInside *in)
{
        in->reason = why;
        return TUNNEL_OTHER;
}

static TunnelResult frame_of_link(int link_type, TunnelInside *in)
{
        in->link_type = link_type;
        return TUNNEL_FRAME;
}

/* What an EtherType stands for in a tunnel. */
static TunnelResult frame_of(guint16 type, TunnelInside *in)
{
        switch (type) {
        case TYPE_IPV4:
        case TYPE_IPV6:
        case TYPE_ETHERNET:
        case TYPE_MPLS:
        case TYPE_PPP:
        case TYPE_NSH:
                return frame_of_link(LINK_OF_ETHERTYPE(type), in);
        }
        in->unopened = (guint32)LINK_OF_ETHERTYPE(type);
        return other_because(ACCOUNT_NOT_IP, in);
}

/* --- GRE -------------------------------------------------------------------- */

/* Type I has no header of its own, and no sequence number in GRE's. */
static TunnelResult decode_erspan(guint16 type, gboolean sequence, TunnelInside *in)
{
        Cursor *c = &in->frame;
        if (type == TYPE_ERSPAN && !sequence)
                return frame_of_link(LINK_ETHERNET, in);
        const guint8 *p = cursor_take(c, type == TYPE_ERSPAN ? 8 : 12);
        if (!p || p[0] >> 4 != (type == TYPE_ERSPAN ? 1 : 2))
                return other_because(ACCOUNT_BAD_LINK, in);
        if (type == TYPE_ERSPAN)
                return frame_of_link(LINK_ETHERNET, in);
        if (p[11] & 1 && !cursor_skip(c, 8)) /* the platform's own */
                return other_because(ACCOUNT_BAD_LINK, in);
        guint kind = p[10] >> 2 & 0x1f;
        if (kind == 0 || kind == 2)
                return frame_of_link(kind ? LINK_RAW : LINK_ETHERNET, in);
        in->unopened = (guint32)LINK_OF_ETHERTYPE(type);
        return other_because(ACCOUNT_NOT_IP, in);
}

static TunnelResult decode_gre(TunnelInside *in)
{
        Cursor *c = &in->frame;
        guint16 flags, type;
        if (!cursor_u16(c, &flags) || !cursor_u16(c, &type))
                return other_because(ACCOUNT_BAD_LINK, in);
        guint version = flags & GRE_VERSION;
        if (version > 1 || (version == 1) != (type == TYPE_PPP) || flags & GRE_ROUTING)
                return other_because(ACCOUNT_NOT_TRANSPORT, in);
        gsize size = (flags & GRE_CHECKSUM ? 4 : 0) + (flags & GRE_KEY ? 4 : 0) +
                     (flags & GRE_SEQUENCE ? 4 : 0) +
                     (version == 1 && flags & GRE_ACKNOWLEDGE ? 4 : 0);
        if (!cursor_skip(c, size))
                return other_because(ACCOUNT_BAD_LINK, in);
        in->unopened = (guint32)LINK_OF_ETHERTYPE(type);
        if (version == 1 && cursor_left(c) == 0)
                return other_because(ACCOUNT_NOT_IP, in); /* an acknowledgement alone */
        if (type == TYPE_ERSPAN || type == TYPE_ERSPAN_III)
                return decode_erspan(type, (flags & GRE_SEQUENCE) != 0, in);
        return frame_of(type, in);
}

/* --- kinds over UDP ----------------------------------------------------------
 *
 * Each narrows the payload of a datagram to the frame in it. TUNNEL_OTHER: it is of the kind, and
 * has no frame. length: of the payload on the wire. */

static TunnelResult vxlan_find(TunnelInside *in, gsize length)
{
        const guint8 *p = cursor_take(&in->frame, 8);
        (void)length;
        if (!p || p[7] != 0)
                return TUNNEL_NONE;
        if (p[0] == (VXLAN_VNI | VXLAN_POLICY) ||
            (p[0] == VXLAN_VNI && p[1] == 0 && read_u16(p + 2) == 0))
                return frame_of_link(LINK_ETHERNET, in);
        return TUNNEL_NONE;
}

/* draft-ietf-nvo3-vxlan-gpe */
static TunnelResult vxlan_gpe_find(TunnelInside *in, gsize length)
{
        static const int links[] = {
                -1, LINK_RAW, LINK_RAW, LINK_ETHERNET, LINK_OF_ETHERTYPE(TYPE_NSH), LINK_MPLS
        };
        const guint8 *p = cursor_take(&in->frame, 8);
        (void)length;
        if (!p || (p[0] & 0xfc) != (VXLAN_VNI | VXLAN_PROTOCOL) || p[1] || p[2] || p[7] ||
            p[3] == 0 || p[3] >= G_N_ELEMENTS(links))
                return TUNNEL_NONE;
        return frame_of_link(links[p[3]], in);
}

/* RFC 8926 */
static TunnelResult geneve_find(TunnelInside *in, gsize length)
{
        const guint8 *p = cursor_take(&in->frame, 8);
        (void)length;
        if (!p || p[0] >> 6 != 0 || p[1] & 0x3f || p[7] != 0 ||
            !cursor_skip(&in->frame, (p[0] & 0x3f) * 4u))
                return TUNNEL_NONE;
        return frame_of(read_u16(p + 2), in) == TUNNEL_FRAME ? TUNNEL_FRAME : TUNNEL_NONE;
}

/* 3GPP TS 29.281 */
static TunnelResult gtp_u_find(TunnelInside *in, gsize length)
{
        enum { VERSION_1 = 0x30, EXTENSION = 4, SEQUENCE = 2, NUMBER = 1, DATA = 255, END = 254 };
        Cursor *c = &in->frame;
        const guint8 *p = cursor_take(c, 8);
        if (!p || (p[0] & 0xf8) != VERSION_1 || read_u16(p + 2) + 8u != length)
                return TUNNEL_NONE;
        if (p[1] != DATA)
                return p[1] == 1 || p[1] == 2 || p[1] == 26 || p[1] == 31 || p[1] == END
                               ? TUNNEL_OTHER
                               : TUNNEL_NONE;
        if (p[0] & (EXTENSION | SEQUENCE | NUMBER)) {
                guint8 next = 0, size;
                if (!cursor_skip(c, 3) || !cursor_u8(c, &next))
                        return TUNNEL_NONE;
                while (p[0] & EXTENSION && next)
                        if (!cursor_u8(c, &size) || size == 0 || !cursor_skip(c, size * 4u - 2) ||
                            !cursor_u8(c, &next))
                                return TUNNEL_NONE;
        }
        return frame_of_link(LINK_RAW, in);
}

/* Whether a frame with a sound IP packet begins there. */
static gboolean begins_with_ip(int link_type, Cursor c)
{
        guint32 unopened;
        return link_layer_decode(link_type, &c, &unopened) == ACCOUNT_NONE &&
               ip_header_is_sound(c.at, cursor_left(&c), FALSE);
}

/* The cookie and the sublayer of L2TPv3 (RFC 3931) have lengths that no header says. */
static TunnelResult pseudowire_find(TunnelInside *in)
{
        static const int links[] = { LINK_ETHERNET, LINK_PPP };
        for (gsize skip = 0; skip <= 12; skip += 4)
                for (guint i = 0; i < G_N_ELEMENTS(links); i++) {
                        Cursor c = in->frame;
                        if (cursor_skip(&c, skip) && begins_with_ip(links[i], c)) {
                                in->frame = c;
                                return frame_of_link(links[i], in);
                        }
                }
        return TUNNEL_OTHER;
}

/* L2TPv2 (RFC 2661) and v3 over UDP. */
static TunnelResult l2tp_find(TunnelInside *in, gsize length)
{
        enum { CONTROL = 0x8000, LENGTH = 0x4000, SEQUENCE = 0x0800, OFFSET = 0x0200 };
        Cursor *c = &in->frame;
        guint16 flags, offset = 0;
        guint32 session;
        if (!cursor_u16(c, &flags) || cursor_left(c) < 6)
                return TUNNEL_NONE;
        if ((flags & 0xf4ff) == (CONTROL | LENGTH | 2) ||
            (flags & 0xf4ff) == (CONTROL | LENGTH | 3))
                return read_u16(c->at) == length ? TUNNEL_OTHER : TUNNEL_NONE;
        if (flags == 3)
                return cursor_skip(c, 2) && cursor_u32(c, &session) && session ? pseudowire_find(in)
                                                                               : TUNNEL_NONE;
        if ((flags & 0xb4ff) != 2 || (flags & LENGTH && read_u16(c->at) != length))
                return TUNNEL_NONE;
        gsize size = 4 + (flags & LENGTH ? 2 : 0) + (flags & SEQUENCE ? 4 : 0);
        if (!cursor_skip(c, size) ||
            (flags & OFFSET && (!cursor_u16(c, &offset) || !cursor_skip(c, offset))))
                return TUNNEL_NONE;
        return frame_of_link(LINK_PPP, in);
}

/* TaZmen Sniffer Protocol */
static TunnelResult tzsp_find(TunnelInside *in, gsize length)
{
        enum { PADDING_TAG = 0, END_TAG = 1 };
        Cursor *c = &in->frame;
        const guint8 *p = cursor_take(c, 4);
        guint8 tag, size;
        (void)length;
        if (!p || p[0] != 1 || p[1] > 5)
                return TUNNEL_NONE;
        if (p[1] > 1)
                return TUNNEL_OTHER;
        do
                if (!cursor_u8(c, &tag) ||
                    (tag > END_TAG && (!cursor_u8(c, &size) || !cursor_skip(c, size))))
                        return TUNNEL_NONE;
        while (tag != END_TAG);
        switch (read_u16(p + 2)) {
        case 1:
                return frame_of_link(LINK_ETHERNET, in);
        case 18:
                return frame_of_link(LINK_802_11, in);
        case 119:
                return frame_of_link(LINK_PRISM, in);
        case 127:
                return frame_of_link(LINK_AVS, in);
        }
        return TUNNEL_NONE;
}

/* RFC 9300, 5.1: flags of which the reserved one is 0, and two bits that say it is encrypted. */
static TunnelResult lisp_find(TunnelInside *in, gsize length)
{
        const guint8 *p = cursor_take(&in->frame, 8);
        (void)length;
        return p && (p[0] & 0x07) == 0 ? frame_of_link(LINK_RAW, in) : TUNNEL_NONE;
}

/* RFC 4380, 5.1.1: an authentication and an origin may stand before IPv6. */
static TunnelResult teredo_find(TunnelInside *in, gsize length)
{
        Cursor *c = &in->frame;
        (void)length;
        if (cursor_left(c) >= 4 && read_u16(c->at) == 1 &&
            !cursor_skip(c, 13 + (gsize)c->at[2] + c->at[3]))
                return TUNNEL_NONE;
        if (cursor_left(c) >= 8 && read_u16(c->at) == 0)
                cursor_skip(c, 8);
        return cursor_left(c) > 0 && *c->at >> 4 == 6 ? frame_of_link(LINK_RAW, in) : TUNNEL_NONE;
}

static TunnelResult fou_find(TunnelInside *in, gsize length)
{
        (void)length;
        return cursor_left(&in->frame) > 0 && (*in->frame.at >> 4 == 4 || *in->frame.at >> 4 == 6)
                       ? frame_of_link(LINK_RAW, in)
                       : TUNNEL_NONE;
}

static TunnelResult gre_find(TunnelInside *in, gsize length)
{
        (void)length;
        return decode_gre(in) == TUNNEL_FRAME ? TUNNEL_FRAME : TUNNEL_NONE;
}

/* draft-ietf-intarea-gue: variant 1 is bare IP. */
static TunnelResult gue_find(TunnelInside *in, gsize length)
{
        enum { CONTROL = 0x20 };
        const guint8 *p = in->frame.at;
        if (cursor_left(&in->frame) < 4)
                return TUNNEL_NONE;
        if (p[0] >> 6 == 1)
                return fou_find(in, length);
        if (p[0] >> 6 != 0 || !cursor_skip(&in->frame, 4 + (p[0] & 0x1f) * 4u))
                return TUNNEL_NONE;
        if (p[0] & CONTROL)
                return TUNNEL_OTHER;
        if (p[1] == IP_GRE)
                return gre_find(in, length);
        return p[1] == IP_IPV4 || p[1] == IP_IPV6 ? frame_of_link(LINK_RAW, in) : TUNNEL_NONE;
}

/* RFC 7510: labels, each with a time to live. */
static TunnelResult mpls_find(TunnelInside *in, gsize length)
{
        Cursor c = in->frame;
        guint32 label;
        (void)length;
        do
                if (!cursor_u32(&c, &label) || (label & 0xff) == 0)
                        return TUNNEL_NONE;
        while (!(label & 0x100));
        return frame_of_link(LINK_MPLS, in);
}

/* Mirrors of HP's switches. */
static TunnelResult hp_erm_find(TunnelInside *in, gsize length)
{
        (void)length;
        return cursor_skip(&in->frame, 12) ? frame_of_link(LINK_ETHERNET, in) : TUNNEL_NONE;
}

typedef struct {
        const char *name;
        TunnelResult (*find)(TunnelInside *in, gsize length);
        guint16 ports[3]; /* its own */
        gboolean marked;  /* its header alone is proof at these ports */
} TunnelKind;

/* In the order in which they are tried on other ports. */
static const TunnelKind kinds[] = {
        { "vxlan", vxlan_find, { 4789, 8472, 48879 }, TRUE },
        { "vxlan-gpe", vxlan_gpe_find, { 4790 }, TRUE },
        { "geneve", geneve_find, { 6081 }, TRUE },
        { "gtp-u", gtp_u_find, { 2152 }, TRUE },
        { "l2tp", l2tp_find, { 1701 }, FALSE },
        { "tzsp", tzsp_find, { 37008 }, FALSE },
        { "fou", fou_find, { 5555 }, FALSE },
        { "gue", gue_find, { 6080 }, FALSE },
        { "gre", gre_find, { 4754 }, FALSE },
        { "lisp", lisp_find, { 4341 }, FALSE },
        { "teredo", teredo_find, { 3544 }, FALSE },
        { "mpls", mpls_find, { 6635 }, FALSE },
        { "hp-erm", hp_erm_find, { 7932 }, FALSE },
};

guint8 tunnel_kind_lookup(const char *name)
{
        for (guint8 i = 0; i < G_N_ELEMENTS(kinds); i++)
                if (strcmp(kinds[i].name, name) == 0)
                        return i + 1;
        return 0;
}

char *tunnel_kind_list(void)
{
        GString *text = g_string_new(NULL);
        for (guint i = 0; i < G_N_ELEMENTS(kinds); i++)
                g_string_append_printf(text, "%s%s", i ? ", " : "", kinds[i].name);
        return g_string_free(text, FALSE);
}

/* --- which of them ------------------------------------------------------------ */

/* Why a datagram is believed to be of a kind. */
typedef enum { BY_CONTENT, BY_OWN_PORT, BY_OPTION } KindEvidence;

/* Two addresses and the lower port of datagrams between them. */
typedef struct {
        guint64 key;
        guint16 opened, plain; /* datagrams that are a tunnel's, and that are not */
        guint8 kind;           /* of the opened */
} Flow;

struct Tunnels {
        guint8 kinds[65536]; /* by port: of the table, from 1 on, and IS_SAID */
        Flow flows[FLOWS];   /* by the key's hash */
};

Tunnels *tunnels_new(const guint8 *said)
{
        Tunnels *t = g_new0(Tunnels, 1);
        for (guint8 i = 0; i < G_N_ELEMENTS(kinds); i++)
                for (guint k = 0; k < G_N_ELEMENTS(kinds[i].ports) && kinds[i].ports[k]; k++)
                        t->kinds[kinds[i].ports[k]] = i + 1;
        for (guint port = 0; said && port < G_N_ELEMENTS(t->kinds); port++)
                if (said[port])
                        t->kinds[port] = said[port] | IS_SAID;
        return t;
}

void tunnels_free(Tunnels *t)
{
        g_free(t);
}

/* Whether a frame without IP is of a kind that every link has: ARP, and the control of PPP. */
static gboolean is_of_links(guint32 unopened)
{
        return unopened == (guint32)LINK_OF_ETHERTYPE(TYPE_ARP) ||
               (unopened >= (UNOPENED_PPP | 0x8000) && unopened <= (UNOPENED_PPP | 0xffff));
}

/* Whether there is a packet where the header of a kind says so. length: of the frame on the wire.
 */
static gboolean inside_is_sound(const TunnelInside *in, const TunnelKind *kind, gsize length,
                                gboolean strict)
{
        Cursor c = in->frame;
        guint32 unopened = 0;
        AccountEntry result = link_layer_decode(in->link_type, &c, &unopened);
        if (result == ACCOUNT_NOT_IP)
                return (kind->marked || !strict) && is_of_links(unopened);
        gboolean v6 = result == ACCOUNT_NONE && *c.at >> 4 == 6;
        if (result != ACCOUNT_NONE ||
            !ip_header_is_sound(c.at, cursor_left(&c), strict && !(v6 && kind->marked)))
                return FALSE;
        gsize left = length - (gsize)(c.at - in->frame.at), total = ip_total_length(c.at);
        gsize padding = in->link_type == LINK_RAW ? 0 : PADDING;
        return total <= left && (!strict || total + padding >= left);
}

static TunnelResult kind_try(const TunnelKind *kind, KindEvidence evidence, Cursor payload,
                             gsize length, TunnelInside *in)
{
        in->frame = payload;
        in->reason = ACCOUNT_NOT_IP;
        TunnelResult result = kind->find(in, length);
        if (result == TUNNEL_NONE || evidence == BY_OPTION)
                return result;
        if (evidence == BY_OWN_PORT && (result == TUNNEL_OTHER || kind->marked))
                return result;
        gsize left = length - (gsize)(in->frame.at - payload.at);
        return result == TUNNEL_FRAME && inside_is_sound(in, kind, left, evidence == BY_CONTENT)
                       ? TUNNEL_FRAME
                       : TUNNEL_NONE;
}

static Flow *flow_find(Tunnels *t, const IpPacket *ip, guint16 port)
{
        guint64 of_addresses = hash_word(ip->source.low, ip->source.high) +
                               hash_word(ip->destination.low, ip->destination.high);
        guint64 key = hash_word(of_addresses, (guint64)port << 48 | HASH_SEED >> 16);
        Flow *flow = &t->flows[key & (FLOWS - 1)];
        if (flow->key != key)
                *flow = (Flow){ .key = key };
        return flow;
}

static gboolean flow_is_tunnel(const Flow *flow)
{
        return flow->opened > 0 && flow->opened >= flow->plain;
}

static void flow_count(Flow *flow, guint8 kind)
{
        if (kind)
                flow->kind = kind;
        if (++*(kind ? &flow->opened : &flow->plain) < G_MAXUINT16)
                return;
        flow->opened /= 2;
        flow->plain /= 2;
}

/* The first kind that the payload shows. *kind: its number. */
static TunnelResult kind_recognise(const Flow *flow, guint8 own, Cursor payload, gsize length,
                                   TunnelInside *in, guint8 *kind)
{
        TunnelResult result = TUNNEL_NONE;
        if ((*kind = own))
                result = kind_try(&kinds[own - 1], BY_OWN_PORT, payload, length, in);
        if (result == TUNNEL_NONE && flow_is_tunnel(flow) && (*kind = flow->kind) != own)
                result = kind_try(&kinds[*kind - 1], BY_OWN_PORT, payload, length, in);
        if (flow->plain > flow->opened + TRIES)
                return result;
        for (guint8 i = 0; result == TUNNEL_NONE && i < G_N_ELEMENTS(kinds); i++) {
                *kind = i + 1;
                result = kind_try(&kinds[i], BY_CONTENT, payload, length, in);
        }
        return result;
}

/* A port is no proof: what has not the header stays a datagram as any other. */
static TunnelResult decode_udp(Tunnels *t, const IpPacket *ip, TunnelInside *in)
{
        Cursor payload = cursor(ip->payload, ip->captured);
        const guint8 *p = cursor_take(&payload, 8);
        if (!p)
                return TUNNEL_NONE;
        guint16 source = read_u16(p), destination = read_u16(p + 2), size = read_u16(p + 4);
        gsize length = (size >= 8 && size <= ip->length ? size : ip->length) - 8;
        guint8 own = t->kinds[destination] ? t->kinds[destination] : t->kinds[source], kind;
        payload.end = payload.at + MIN(cursor_left(&payload), length);
        in->unopened = UNOPENED_UDP_PORT | MIN(source, destination);
        if (own & IS_SAID)
                return kind_try(&kinds[(own & ~IS_SAID) - 1], BY_OPTION, payload, length, in);
        Flow *flow = flow_find(t, ip, MIN(source, destination));
        TunnelResult result = kind_recognise(flow, own, payload, length, in, &kind);
        flow_count(flow, result == TUNNEL_NONE ? 0 : kind);
        if (result == TUNNEL_NONE && flow_is_tunnel(flow))
                return other_because(ACCOUNT_NOT_IP, in);
        return result;
}

TunnelResult tunnel_decode(Tunnels *t, const IpPacket *ip, TunnelInside *in)
{
        guint32 session;
        switch (ip->protocol) {
        case IP_UDP:
                return decode_udp(t, ip, in);
        case IP_IPV4:
        case IP_IPV6:
                in->frame = cursor(ip->payload, ip->captured);
                return frame_of_link(LINK_RAW, in);
        case IP_GRE:
                in->frame = cursor(ip->payload, ip->captured);
                in->unopened = UNOPENED_IP_PROTOCOL | IP_GRE;
                return decode_gre(in);
        case IP_L2TP:
                in->frame = cursor(ip->payload, ip->captured);
                in->unopened = UNOPENED_IP_PROTOCOL | IP_L2TP;
                if (!cursor_u32(&in->frame, &session))
                        return other_because(ACCOUNT_BAD_LINK, in);
                in->reason = ACCOUNT_NOT_IP;
                return session ? pseudowire_find(in) : TUNNEL_OTHER;
        }
        return TUNNEL_NONE;
}
