/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/network/link-layer.h"

enum {
        ETHERTYPE_IPV4 = 0x0800,
        ETHERTYPE_VLAN = 0x8100,
        ETHERTYPE_IPV6 = 0x86dd,
        ETHERTYPE_MPLS = 0x8847,
        ETHERTYPE_MPLS_UPSTREAM = 0x8848,
        ETHERTYPE_PPPOE_SESSION = 0x8864,
        ETHERTYPE_PROVIDER_VLAN = 0x88a8,
        ETHERTYPE_OLD_VLAN = 0x9100,
        ETHERTYPE_MINIMUM = 0x0600, /* below it, an IEEE 802.3 length */
};

enum { PPP_IPV4 = 0x0021, PPP_IPV6 = 0x0057 };

/* What follows says by its first half byte which IP it is. */
static AccountEntry decode_raw(const Cursor *c)
{
        if (cursor_left(c) == 0)
                return ACCOUNT_BAD_LINK;
        return *c->at >> 4 == 4 || *c->at >> 4 == 6 ? ACCOUNT_NONE : ACCOUNT_NOT_IP;
}

/* A stack of labels, the last one marked (RFC 3032, 2.1). */
static AccountEntry decode_mpls(Cursor *c)
{
        guint32 label;
        do {
                if (!cursor_u32(c, &label))
                        return ACCOUNT_BAD_LINK;
        } while (!(label & 0x100));
        return decode_raw(c);
}

/* The protocol field, one byte where it was compressed (RFC 1661, 2 and 6.5). */
static AccountEntry decode_ppp(Cursor *c)
{
        guint8 first, second;
        if (cursor_left(c) >= 2 && c->at[0] == 0xff && c->at[1] == 0x03)
                cursor_skip(c, 2); /* address and control (RFC 1662, 3.1) */
        if (!cursor_u8(c, &first))
                return ACCOUNT_BAD_LINK;
        if (!(first & 1)) {
                if (!cursor_u8(c, &second))
                        return ACCOUNT_BAD_LINK;
                first = first ? 0 : second;
        }
        return first == PPP_IPV4 || first == PPP_IPV6 ? decode_raw(c) : ACCOUNT_NOT_IP;
}

static AccountEntry decode_ethertype(guint16 type, Cursor *c)
{
        for (;;) {
                switch (type) {
                case ETHERTYPE_IPV4:
                case ETHERTYPE_IPV6:
                        return decode_raw(c);
                case ETHERTYPE_VLAN:
                case ETHERTYPE_PROVIDER_VLAN:
                case ETHERTYPE_OLD_VLAN:
                        if (!cursor_skip(c, 2) || !cursor_u16(c, &type))
                                return ACCOUNT_BAD_LINK;
                        break;
                case ETHERTYPE_MPLS:
                case ETHERTYPE_MPLS_UPSTREAM:
                        return decode_mpls(c);
                case ETHERTYPE_PPPOE_SESSION: /* RFC 2516, 4 */
                        return cursor_skip(c, 6) ? decode_ppp(c) : ACCOUNT_BAD_LINK;
                default:
                        if (type >= ETHERTYPE_MINIMUM || cursor_left(c) < 8 || c->at[0] != 0xaa ||
                            c->at[1] != 0xaa)
                                return ACCOUNT_NOT_IP;
                        type = read_u16(c->at + 6); /* SNAP (RFC 1042) */
                        if (type < ETHERTYPE_MINIMUM)
                                return ACCOUNT_NOT_IP;
                        cursor_skip(c, 8);
                }
        }
}

/* Type-length-value records, lengths in the byte order of the capturing host;
 * the packet is the record of type 9. */
static AccountEntry decode_nflog(Cursor *c)
{
        if (!cursor_skip(c, 4))
                return ACCOUNT_BAD_LINK;
        for (;;) {
                const guint8 *p = cursor_take(c, 4);
                if (!p)
                        return ACCOUNT_BAD_LINK;
                gboolean big = (p[2] << 8 | p[3]) == 9 && (p[2] | p[3] << 8) != 9;
                guint length = big ? (guint)(p[0] << 8 | p[1]) : (guint)(p[0] | p[1] << 8);
                guint type = big ? 9 : (guint)(p[2] | p[3] << 8);
                if (length < 4)
                        return ACCOUNT_BAD_LINK;
                if (type == 9) {
                        c->end = c->at + MIN(cursor_left(c), length - 4);
                        return decode_raw(c);
                }
                if (!cursor_skip(c, MIN(cursor_left(c), ((length + 3u) & ~3u) - 4)))
                        return ACCOUNT_BAD_LINK;
        }
}

gboolean link_layer_is_known(int link_type)
{
        switch ((LinkType)link_type) {
        case LINK_NULL:
        case LINK_ETHERNET:
        case LINK_PPP:
        case LINK_RAW:
        case LINK_RAW_BSD:
        case LINK_RAW_OTHER:
        case LINK_LOOP:
        case LINK_LINUX_SLL:
        case LINK_MPLS:
        case LINK_IPV4:
        case LINK_IPV6:
        case LINK_NFLOG:
        case LINK_LINUX_SLL2:
                return TRUE;
        }
        return FALSE;
}

AccountEntry link_layer_decode(int link_type, Cursor *frame)
{
        guint16 type;
        switch ((LinkType)link_type) {
        case LINK_ETHERNET:
                if (!cursor_skip(frame, 12) || !cursor_u16(frame, &type))
                        return ACCOUNT_BAD_LINK;
                return decode_ethertype(type, frame);
        case LINK_LINUX_SLL:
                if (!cursor_skip(frame, 14) || !cursor_u16(frame, &type))
                        return ACCOUNT_BAD_LINK;
                return decode_ethertype(type, frame);
        case LINK_LINUX_SLL2:
                if (!cursor_u16(frame, &type) || !cursor_skip(frame, 18))
                        return ACCOUNT_BAD_LINK;
                return decode_ethertype(type, frame);
        case LINK_NULL: /* the address family's number differs between systems */
        case LINK_LOOP:
                return cursor_skip(frame, 4) ? decode_raw(frame) : ACCOUNT_BAD_LINK;
        case LINK_PPP:
                return decode_ppp(frame);
        case LINK_MPLS:
                return decode_mpls(frame);
        case LINK_NFLOG:
                return decode_nflog(frame);
        case LINK_RAW:
        case LINK_RAW_BSD:
        case LINK_RAW_OTHER:
        case LINK_IPV4:
        case LINK_IPV6:
                return decode_raw(frame);
        }
        return ACCOUNT_NOT_IP;
}
