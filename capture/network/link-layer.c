/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/network/link-layer.h"

#include "capture/network/ip.h"

enum {
        ETHERTYPE_IPV4 = 0x0800,
        ETHERTYPE_TRILL = 0x22f3,
        ETHERTYPE_ETHERNET = 0x6558, /* in GRE and Geneve */
        ETHERTYPE_VLAN = 0x8100,
        ETHERTYPE_IPV6 = 0x86dd,
        ETHERTYPE_PPP = 0x880b, /* in GRE */
        ETHERTYPE_MPLS = 0x8847,
        ETHERTYPE_MPLS_UPSTREAM = 0x8848,
        ETHERTYPE_PPPOE_SESSION = 0x8864,
        ETHERTYPE_PROVIDER_VLAN = 0x88a8,
        ETHERTYPE_MACSEC = 0x88e5,
        ETHERTYPE_PBB = 0x88e7,
        ETHERTYPE_FABRIC_PATH = 0x8903,
        ETHERTYPE_VN_TAG = 0x8926,
        ETHERTYPE_E_TAG = 0x893f,
        ETHERTYPE_NSH = 0x894f,
        ETHERTYPE_OLD_VLAN = 0x9100,
        ETHERTYPE_MINIMUM = 0x0600, /* below it, an IEEE 802.3 length */
};

enum { PPP_IPV4 = 0x0021, PPP_IPV6 = 0x0057 };

/* What follows a header: a link type, or one of these. */
enum { NEXT_IP = -1, NEXT_UNKNOWN = -2, NEXT_BROKEN = -3 };

/* --- one header ------------------------------------------------------------- */

/* What follows says by its first half byte which IP it is. */
static int raw_next(const Cursor *c)
{
        if (cursor_left(c) == 0)
                return NEXT_BROKEN;
        return *c->at >> 4 == 4 || *c->at >> 4 == 6 ? NEXT_IP : NEXT_UNKNOWN;
}

/* n bytes, and then what follows. */
static int after(Cursor *c, gsize n, int next)
{
        return cursor_skip(c, n) ? next : NEXT_BROKEN;
}

/* n bytes, and then an EtherType. */
static int ethertype_after(Cursor *c, gsize n)
{
        guint16 type;
        return cursor_skip(c, n) && cursor_u16(c, &type) ? LINK_OF_ETHERTYPE(type) : NEXT_BROKEN;
}

/* IEEE 802.2 LLC with SNAP (RFC 1042). */
static int snap_next(Cursor *c)
{
        if (cursor_left(c) < 8 || c->at[0] != 0xaa || c->at[1] != 0xaa ||
            read_u16(c->at + 6) < ETHERTYPE_MINIMUM)
                return NEXT_UNKNOWN;
        return ethertype_after(c, 6);
}

/* A stack of labels, the last one marked (RFC 3032, 2.1). Below it is IP, or the Ethernet of a
 * pseudowire, with or without a control word (RFC 4448): which one, no label says. */
static int mpls_next(Cursor *c)
{
        guint32 label;
        do {
                if (!cursor_u32(c, &label))
                        return NEXT_BROKEN;
        } while (!(label & 0x100));
        if (cursor_left(c) == 0)
                return NEXT_BROKEN;
        if (*c->at >> 4 == 0)
                return after(c, 4, LINK_ETHERNET);
        if (raw_next(c) != NEXT_IP)
                return LINK_ETHERNET;
        return cursor_left(c) >= 15 && !ip_header_is_sound(c->at, cursor_left(c), TRUE) &&
                               read_u16(c->at + 12) == ETHERTYPE_IPV4 && c->at[14] >> 4 == 4
                       ? LINK_ETHERNET
                       : NEXT_IP;
}

/* The protocol field, one byte where it was compressed (RFC 1661, 2 and 6.5). Cisco's HDLC has
 * other addresses. */
static int ppp_next(Cursor *c)
{
        guint8 first, second = 0;
        if (cursor_left(c) >= 2 && c->at[1] == 0 && (c->at[0] == 0x0f || c->at[0] == 0x8f))
                return LINK_C_HDLC;
        if (cursor_left(c) >= 2 && c->at[0] == 0xff && c->at[1] == 0x03)
                cursor_skip(c, 2); /* address and control (RFC 1662, 3.1) */
        if (!cursor_u8(c, &first))
                return NEXT_BROKEN;
        guint protocol = first;
        if (!(first & 1)) {
                if (!cursor_u8(c, &second))
                        return NEXT_BROKEN;
                protocol = (guint)first << 8 | second;
        }
        return protocol == PPP_IPV4 || protocol == PPP_IPV6 ? LINK_RAW
                                                            : UNOPENED_PPP | (int)protocol;
}

/* An address of two to four bytes, the last one marked (RFC 2427). */
static int frame_relay_next(Cursor *c)
{
        guint8 byte;
        guint n = 0;
        do {
                if (!cursor_u8(c, &byte))
                        return NEXT_BROKEN;
        } while (++n < 4 && !(byte & 1));
        if (cursor_left(c) < 2)
                return NEXT_BROKEN;
        if (c->at[0] != 0x03)
                return ethertype_after(c, 0); /* Cisco's encapsulation */
        cursor_skip(c, 1);
        if (c->at[0] == 0)
                cursor_skip(c, 1); /* padding */
        if (!cursor_u8(c, &byte))
                return NEXT_BROKEN;
        switch (byte) {
        case 0xcc:
        case 0x8e:
                return LINK_RAW;
        case 0xcf:
                return LINK_PPP; /* RFC 1973 */
        case 0x80:
                if (cursor_left(c) < 5)
                        return NEXT_BROKEN;
                if (c->at[0] == 0 && c->at[1] == 0x80 && c->at[2] == 0xc2) /* bridged Ethernet */
                        return c->at[4] == 1 || c->at[4] == 7 ? after(c, 5, LINK_ETHERNET)
                                                              : NEXT_UNKNOWN;
                return ethertype_after(c, 3);
        }
        return NEXT_UNKNOWN;
}

/* RFC 8300. */
static int nsh_next(Cursor *c)
{
        static const int next[] = {
                NEXT_UNKNOWN, LINK_RAW, LINK_RAW, LINK_ETHERNET, LINK_OF_ETHERTYPE(ETHERTYPE_NSH),
                LINK_MPLS
        };
        if (cursor_left(c) < 8)
                return NEXT_BROKEN;
        gsize size = (c->at[1] & 0x3f) * 4u;
        guint8 protocol = c->at[3];
        if (c->at[0] >> 6 != 0 || size < 8 || protocol >= G_N_ELEMENTS(next))
                return NEXT_UNKNOWN;
        return after(c, size, next[protocol]);
}

/* IEEE 802.1AE. Text that is not encrypted lies between the header and its signature. */
static int macsec_next(Cursor *c)
{
        enum { VERSION = 0x80, IDENTIFIER = 0x20, ENCRYPTED = 0x08, CHANGED = 0x04 };
        if (cursor_left(c) < 6)
                return NEXT_BROKEN;
        guint8 control = *c->at;
        if (control & (VERSION | ENCRYPTED | CHANGED))
                return NEXT_UNKNOWN;
        return ethertype_after(c, control & IDENTIFIER ? 14 : 6);
}

/* RFC 6325. */
static int trill_next(Cursor *c)
{
        if (cursor_left(c) < 6)
                return NEXT_BROKEN;
        return after(c, 6 + (read_u16(c->at) >> 6 & 0x1f) * 4u, LINK_ETHERNET);
}

static int ethertype_next(guint16 type, Cursor *c)
{
        switch (type) {
        case ETHERTYPE_IPV4:
        case ETHERTYPE_IPV6:
                return raw_next(c);
        case ETHERTYPE_VLAN:
        case ETHERTYPE_PROVIDER_VLAN:
        case ETHERTYPE_OLD_VLAN:
                return ethertype_after(c, 2);
        case ETHERTYPE_VN_TAG:
                return ethertype_after(c, 4);
        case ETHERTYPE_E_TAG:
                return ethertype_after(c, 6);
        case ETHERTYPE_PBB:
                return after(c, 4, LINK_ETHERNET);
        case ETHERTYPE_FABRIC_PATH:
                return after(c, 2, LINK_ETHERNET);
        case ETHERTYPE_ETHERNET:
                return LINK_ETHERNET;
        case ETHERTYPE_PPP:
                return LINK_PPP;
        case ETHERTYPE_PPPOE_SESSION: /* RFC 2516, 4 */
                return after(c, 6, LINK_PPP);
        case ETHERTYPE_MPLS:
        case ETHERTYPE_MPLS_UPSTREAM:
                return LINK_MPLS;
        case ETHERTYPE_TRILL:
                return trill_next(c);
        case ETHERTYPE_NSH:
                return nsh_next(c);
        case ETHERTYPE_MACSEC:
                return macsec_next(c);
        }
        return type < ETHERTYPE_MINIMUM ? snap_next(c) : NEXT_UNKNOWN;
}

/* A data frame in clear. Behind its header may stand padding up to a multiple of four. */
static int wireless_next(Cursor *c)
{
        enum { DATA = 0x08, NO_DATA = 0x40, QOS = 0x80 };
        enum { TO_AND_FROM = 0x03, MORE_FRAGMENTS = 0x04, PROTECTED = 0x40, ORDER = 0x80 };
        enum { AGGREGATE = 0x80 };
        if (cursor_left(c) < 24)
                return NEXT_BROKEN;
        const guint8 *p = c->at;
        if ((p[0] & 0x0f) != DATA || p[0] & NO_DATA)
                return NEXT_UNKNOWN;
        if (p[1] & PROTECTED)
                return UNOPENED_ENCRYPTED_802_11;
        if (p[1] & MORE_FRAGMENTS || p[22] & 0x0f)
                return NEXT_UNKNOWN;
        gsize size = 24 + ((p[1] & TO_AND_FROM) == TO_AND_FROM ? 6 : 0);
        gsize of_qos = size;
        if (p[0] & QOS)
                size += 2 + (p[1] & ORDER ? 4 : 0);
        if (!cursor_skip(c, size))
                return NEXT_BROKEN;
        if (p[0] & QOS && p[of_qos] & AGGREGATE) /* frames of 802.3, the first of which counts */
                return LINK_ETHERNET;
        if (size % 4 && cursor_left(c) >= 4 && c->at[0] != 0xaa && c->at[2] == 0xaa)
                cursor_skip(c, 2);
        return snap_next(c);
}

/* Type-length-value records, lengths in the byte order of the capturing host;
 * the packet is the record of type 9. */
static int nflog_next(Cursor *c)
{
        if (!cursor_skip(c, 4))
                return NEXT_BROKEN;
        for (;;) {
                const guint8 *p = cursor_take(c, 4);
                if (!p)
                        return NEXT_BROKEN;
                gboolean big = (p[2] << 8 | p[3]) == 9 && (p[2] | p[3] << 8) != 9;
                guint length = big ? (guint)(p[0] << 8 | p[1]) : (guint)(p[0] | p[1] << 8);
                guint type = big ? 9 : (guint)(p[2] | p[3] << 8);
                if (length < 4)
                        return NEXT_BROKEN;
                if (type == 9) {
                        c->end = c->at + MIN(cursor_left(c), length - 4);
                        return LINK_RAW;
                }
                if (!cursor_skip(c, MIN(cursor_left(c), ((length + 3u) & ~3u) - 4)))
                        return NEXT_BROKEN;
        }
}

/* "MGC", flags, and lengths of what the router adds. */
static int juniper_next(Cursor *c)
{
        enum { NO_LINK_LAYER = 0x02, EXTENDED = 0x80 };
        const guint8 *p = cursor_take(c, 4);
        guint16 more = 0;
        if (!p)
                return NEXT_BROKEN;
        if (memcmp(p, "MGC", 3) != 0)
                return NEXT_UNKNOWN;
        if (p[3] & EXTENDED && (!cursor_u16(c, &more) || !cursor_skip(c, more)))
                return NEXT_BROKEN;
        return p[3] & NO_LINK_LAYER ? after(c, 4, LINK_RAW) : LINK_ETHERNET;
}

static guint32 read_little_u32(const guint8 *p)
{
        return (guint32)p[3] << 24 | (guint32)p[2] << 16 | (guint32)p[1] << 8 | p[0];
}

/* A header that says how long it is and, if at_type is not 0, which link type follows. Both are
 * of 32 bits, in the byte order of the capturing host. */
static int described_next(Cursor *c, gsize at_length, gsize at_type, int next)
{
        gsize most = MAX(at_length, at_type) + 4;
        if (cursor_left(c) < most)
                return NEXT_BROKEN;
        gboolean big = read_little_u32(c->at + at_length) > read_u32(c->at + at_length);
        guint32 (*read)(const guint8 *) = big ? read_u32 : read_little_u32;
        guint32 size = read(c->at + at_length);
        guint32 type = at_type ? read(c->at + at_type) : (guint32)next;
        if (size < most)
                return NEXT_BROKEN;
        return after(c, size, type < UNOPENED_ETHERTYPE ? (int)type : NEXT_UNKNOWN);
}

/* A header before a frame of 802.11: the length has 16 bits, little-endian, or is as above. */
static int radio_next(int link_type, Cursor *c)
{
        if (cursor_left(c) < 8)
                return NEXT_BROKEN;
        if (link_type == LINK_AVS || link_type == LINK_PRISM)
                return described_next(c, 4, 0, LINK_802_11);
        gsize size = (gsize)(c->at[2] | c->at[3] << 8);
        guint32 type = link_type == LINK_PPI ? read_little_u32(c->at + 4) : LINK_802_11;
        if (size < 8)
                return NEXT_BROKEN;
        return after(c, size, type < UNOPENED_ETHERTYPE ? (int)type : NEXT_UNKNOWN);
}

static int link_next(int link_type, Cursor *c)
{
        switch ((LinkType)link_type) {
        case LINK_ETHERNET:
                return ethertype_after(c, 12);
        case LINK_LINUX_SLL:
                return ethertype_after(c, 14);
        case LINK_LINUX_SLL2: {
                guint16 type;
                return cursor_u16(c, &type) ? after(c, 18, LINK_OF_ETHERTYPE(type)) : NEXT_BROKEN;
        }
        case LINK_NULL: /* the address family's number differs between systems */
        case LINK_LOOP:
                return after(c, 4, LINK_RAW);
        case LINK_PPP:
        case LINK_PPP_SERIAL:
                return ppp_next(c);
        case LINK_C_HDLC:
                return ethertype_after(c, 2);
        case LINK_FRAME_RELAY:
                return frame_relay_next(c);
        case LINK_MPLS:
                return mpls_next(c);
        case LINK_NFLOG:
                return nflog_next(c);
        case LINK_RAW:
        case LINK_RAW_BSD:
        case LINK_RAW_OTHER:
        case LINK_IPV4:
        case LINK_IPV6:
                return raw_next(c);
        case LINK_802_11:
                return wireless_next(c);
        case LINK_PRISM:
        case LINK_RADIOTAP:
        case LINK_AVS:
        case LINK_PPI:
                return radio_next(link_type, c);
        case LINK_JUNIPER_ETHERNET:
                return juniper_next(c);
        case LINK_PKTAP:
                return described_next(c, 0, 8, 0);
        case LINK_DSA_BROADCOM_PREPENDED:
                return after(c, 4, LINK_ETHERNET);
        case LINK_DSA_BROADCOM:
        case LINK_DSA:
                return ethertype_after(c, 16);
        case LINK_DSA_WITH_TYPE:
                return ethertype_after(c, 20);
        }
        return NEXT_UNKNOWN;
}

/* --- from outside ----------------------------------------------------------- */

gboolean link_layer_is_known(int link_type)
{
        Cursor nothing = cursor(NULL, 0);
        return link_next(link_type, &nothing) != NEXT_UNKNOWN;
}

AccountEntry link_layer_decode(int link_type, Cursor *frame, guint32 *unopened)
{
        int next = link_type;
        if (link_type == LINK_ETHERNET && cursor_left(frame) > 14 &&
            read_u16(frame->at + 12) == ETHERTYPE_IPV4 && frame->at[14] >> 4 == 4) { /* for speed */
                frame->at += 14;
                return ACCOUNT_NONE;
        }
        /* A header has at least one byte, or is followed by one that has. */
        while (next >= 0) {
                link_type = next;
                next = link_type >> 16 == UNOPENED_ETHERTYPE >> 16
                               ? ethertype_next((guint16)link_type, frame)
                               : link_next(link_type, frame);
        }
        if (next == NEXT_IP)
                return ACCOUNT_NONE;
        *unopened = (guint32)link_type;
        return next == NEXT_BROKEN ? ACCOUNT_BAD_LINK : ACCOUNT_NOT_IP;
}
