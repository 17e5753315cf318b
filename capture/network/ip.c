/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/network/ip.h"

#include <string.h>

enum {
        MAX_DATAGRAMS = 64,       /* waiting for fragments at a time */
        MAX_DATAGRAM = 65536,     /* bytes */
        UNITS = MAX_DATAGRAM / 8, /* fragments are whole units of 8 bytes, but the last */
};
#define FRAGMENT_PATIENCE (30 * G_GINT64_CONSTANT(1000000000)) /* ns */

enum {
        IPV6_HOP_BY_HOP = 0,
        IPV6_ROUTING = 43,
        IPV6_FRAGMENT = 44,
        AUTHENTICATION = 51, /* of IPv4, too */
        IPV6_ICMP = 58,
        IPV6_NO_NEXT = 59,
        IPV6_DESTINATION = 60,
        IPV6_MOBILITY = 135,
};

typedef struct {
        Address source, destination;
        guint32 id;
        guint8 protocol;
        guint8 used;
        guint32 fragments; /* how many came */
        gint64 time;       /* of the first one */
        guint32 have;      /* bytes, without overlaps */
        guint32 total;     /* bytes of the whole, 0 until the last fragment came */
        guint32 capacity;
        guint8 *bytes;
        guint8 *seen; /* a bit a unit */
} Datagram;

struct IpFragments {
        Datagram datagrams[MAX_DATAGRAMS];
};

IpFragments *ip_fragments_new(void)
{
        return g_new0(IpFragments, 1);
}

void ip_fragments_free(IpFragments *fragments)
{
        for (guint i = 0; fragments && i < MAX_DATAGRAMS; i++) {
                g_free(fragments->datagrams[i].bytes);
                g_free(fragments->datagrams[i].seen);
        }
        g_free(fragments);
}

static void datagram_forget(Datagram *d, Account *account)
{
        if (d->used)
                account->count[ACCOUNT_FRAGMENTS_LOST] += d->fragments;
        d->used = FALSE;
}

void ip_fragments_flush(IpFragments *fragments, Account *account)
{
        for (guint i = 0; i < MAX_DATAGRAMS; i++)
                datagram_forget(&fragments->datagrams[i], account);
}

/* The datagram that the fragment belongs to. A new one takes a free place, or the place of the
 * one that has waited longest. */
static Datagram *datagram_find(IpFragments *fragments, const IpPacket *ip, guint32 id, gint64 time,
                               Account *account)
{
        Datagram *place = NULL;
        for (guint i = 0; i < MAX_DATAGRAMS; i++) {
                Datagram *d = &fragments->datagrams[i];
                if (d->used && time - d->time > FRAGMENT_PATIENCE)
                        datagram_forget(d, account);
                if (d->used && d->id == id && d->protocol == ip->protocol &&
                    address_equal(d->source, ip->source) &&
                    address_equal(d->destination, ip->destination))
                        return d;
                if (!place || (place->used && (!d->used || d->time < place->time)))
                        place = d;
        }
        datagram_forget(place, account);
        place->source = ip->source;
        place->destination = ip->destination;
        place->id = id;
        place->protocol = ip->protocol;
        place->used = TRUE;
        place->time = time;
        place->fragments = place->have = place->total = 0;
        if (!place->seen)
                place->seen = g_malloc(UNITS / 8);
        memset(place->seen, 0, UNITS / 8);
        return place;
}

static void datagram_copy(Datagram *d, guint32 offset, const guint8 *bytes, guint32 n)
{
        if (offset + n > d->capacity) {
                d->capacity = MIN(MAX_DATAGRAM, MAX(offset + n, 2 * d->capacity));
                d->bytes = g_realloc(d->bytes, d->capacity);
        }
        for (guint32 at = 0; at < n; at += 8) {
                guint32 unit = (offset + at) / 8, piece = MIN(8, n - at);
                if (d->seen[unit / 8] & 1 << unit % 8)
                        continue; /* the first to come is kept */
                d->seen[unit / 8] |= (guint8)(1 << unit % 8);
                memcpy(d->bytes + offset + at, bytes + at, piece);
                d->have += piece;
        }
}

/* Whether all units before the end are there: bytes after it count for have, too. */
static gboolean datagram_is_whole(const Datagram *d)
{
        if (!d->total || d->have < d->total)
                return FALSE;
        for (guint32 unit = 0; unit < (d->total + 7) / 8; unit++)
                if (!(d->seen[unit / 8] & 1 << unit % 8))
                        return FALSE;
        return TRUE;
}

/* ip holds the fragment's payload; it becomes the whole datagram's. */
static AccountEntry fragment_add(IpFragments *fragments, IpPacket *ip, guint32 id, guint32 offset,
                                 gboolean more, gint64 time, Account *account)
{
        account_add(account, ACCOUNT_FRAGMENTS);
        if (ip->captured < ip->length || ip->length == 0 || offset + ip->length > MAX_DATAGRAM ||
            (more && ip->length % 8 != 0)) {
                account_add(account, ACCOUNT_FRAGMENTS_LOST);
                return ACCOUNT_FRAGMENTS;
        }
        Datagram *d = datagram_find(fragments, ip, id, time, account);
        d->fragments++;
        if (!more && !d->total)
                d->total = offset + (guint32)ip->length;
        datagram_copy(d, offset, ip->payload, (guint32)ip->length);
        if (!datagram_is_whole(d))
                return ACCOUNT_FRAGMENTS;
        d->used = FALSE;
        ip->payload = d->bytes;
        ip->captured = ip->length = d->total;
        return ACCOUNT_NONE;
}

static AccountEntry decode_v4(IpFragments *fragments, const guint8 *bytes, gsize n, gsize length,
                              gint64 time, IpPacket *ip, Account *account)
{
        if (n < 20)
                return ACCOUNT_BAD_IP;
        gsize header = (bytes[0] & 0xf) * 4u, total = read_u16(bytes + 2);
        guint16 fragment = read_u16(bytes + 6);
        if (total == 0)
                total = length;
        if (header < 20 || header > n || total < header)
                return ACCOUNT_BAD_IP;
        ip->source = address_v4(read_u32(bytes + 12));
        ip->destination = address_v4(read_u32(bytes + 16));
        ip->protocol = bytes[9];
        ip->payload = bytes + header;
        ip->captured = MIN(n, total) - header;
        ip->length = total - header;
        if (fragment & 0x3fff)
                return fragment_add(fragments, ip, read_u16(bytes + 4), (fragment & 0x1fff) * 8u,
                                    (fragment & 0x2000) != 0, time, account);
        while (ip->protocol == AUTHENTICATION) {
                if (ip->captured < 12)
                        return ACCOUNT_BAD_IP;
                gsize size = (ip->payload[1] + 2u) * 4;
                if (size > ip->captured)
                        return ACCOUNT_BAD_IP;
                ip->protocol = ip->payload[0];
                ip->payload += size;
                ip->captured -= size;
                ip->length -= size;
        }
        return ACCOUNT_NONE;
}

static AccountEntry decode_v6(IpFragments *fragments, const guint8 *bytes, gsize n, gsize length,
                              gint64 time, IpPacket *ip, Account *account)
{
        if (n < 40)
                return ACCOUNT_BAD_IP;
        gsize total = read_u16(bytes + 4);
        total = total ? total + 40 : length;
        ip->source = address_v6(bytes + 8);
        ip->destination = address_v6(bytes + 24);
        Cursor c = cursor(bytes + 40, MIN(n, total) - 40);
        guint8 next = bytes[6];
        for (;;) {
                const guint8 *p = c.at;
                gsize size;
                ip->protocol = next;
                ip->payload = p;
                ip->captured = cursor_left(&c);
                ip->length = total - (gsize)(p - bytes);
                switch (next) {
                case IPV6_HOP_BY_HOP:
                case IPV6_ROUTING:
                case IPV6_DESTINATION:
                case IPV6_MOBILITY:
                case AUTHENTICATION:
                        if (cursor_left(&c) < 2)
                                return ACCOUNT_BAD_IP;
                        size = next == AUTHENTICATION ? (p[1] + 2u) * 4 : (p[1] + 1u) * 8;
                        next = p[0];
                        if (!cursor_skip(&c, size))
                                return ACCOUNT_BAD_IP;
                        break;
                case IPV6_FRAGMENT:
                        if (!cursor_skip(&c, 8))
                                return ACCOUNT_BAD_IP;
                        next = p[0];
                        guint16 fragment = read_u16(p + 2);
                        if ((fragment & 0xfff9) == 0)
                                break; /* whole: RFC 6946 */
                        ip->protocol = next;
                        ip->payload = c.at;
                        ip->captured -= 8;
                        ip->length -= 8;
                        return fragment_add(fragments, ip, read_u32(p + 4), fragment & 0xfff8,
                                            fragment & 1, time, account);
                case IPV6_NO_NEXT:
                        return ACCOUNT_NOT_TRANSPORT;
                default:
                        return ACCOUNT_NONE;
                }
        }
}

AccountEntry ip_decode(IpFragments *fragments, const guint8 *bytes, gsize n, gsize length,
                       gint64 time, IpPacket *ip, Account *account)
{
        if (n == 0)
                return ACCOUNT_BAD_IP;
        if (bytes[0] >> 4 == 4)
                return decode_v4(fragments, bytes, n, length, time, ip, account);
        if (bytes[0] >> 4 == 6)
                return decode_v6(fragments, bytes, n, length, time, ip, account);
        return ACCOUNT_NOT_IP;
}

/* --- recognised by content --------------------------------------------------- */

/* Of an IPv4 header. */
static gboolean checksum_is_right(const guint8 *bytes, gsize header)
{
        guint32 sum = 0;
        for (gsize i = 0; i < header; i += 2)
                sum += read_u16(bytes + i);
        return sum % 0xffff == 0;
}

static gboolean v4_is_sound(const guint8 *bytes, gsize n, gboolean checksum)
{
        gsize header = (bytes[0] & 0xf) * 4u, total = read_u16(bytes + 2);
        if (header < 20 || header > n || (total < header && (checksum || total > 0)))
                return FALSE;
        gboolean fields = !(bytes[6] & 0x80) && bytes[8] > 0 && read_u32(bytes + 12) != 0;
        return fields && (!checksum || checksum_is_right(bytes, header));
}

/* The first byte of an address of one end: global, or of a site or link (RFC 4291, 4193). */
static gboolean may_talk_v6(guint8 first)
{
        return first >> 5 == 1 || first >= 0xfc;
}

/* IPv6 has no checksum: its lengths must agree with those of the header behind it. */
static gboolean v6_is_sound(const guint8 *bytes, gsize n, gboolean strict)
{
        if (n < 40 || bytes[7] == 0 || bytes[8] == 0xff)
                return FALSE;
        if (strict && (!may_talk_v6(bytes[8]) || !may_talk_v6(bytes[24])))
                return FALSE;
        gsize total = read_u16(bytes + 4), left = n - 40;
        const guint8 *p = bytes + 40;
        switch (bytes[6]) {
        case IP_TCP:
                return left < 14 || (p[12] >= 0x50 && (p[12] & 0x0e) == 0 &&
                                     (total == 0 || (p[12] >> 4) * 4u <= total));
        case IP_UDP:
                return left < 8 || read_u16(p + 4) == total || read_u16(p + 4) == 0;
        case IPV6_HOP_BY_HOP:
        case IPV6_ROUTING:
        case IPV6_FRAGMENT:
        case IPV6_DESTINATION:
        case IPV6_NO_NEXT:
        case IPV6_ICMP:
        case AUTHENTICATION:
                return !strict;
        }
        return FALSE;
}

gboolean ip_header_is_sound(const guint8 *bytes, gsize n, gboolean strict)
{
        if (n >= 20 && bytes[0] >> 4 == 4)
                return v4_is_sound(bytes, n, strict);
        return n >= 40 && bytes[0] >> 4 == 6 && v6_is_sound(bytes, n, strict);
}

gsize ip_total_length(const guint8 *bytes)
{
        if (bytes[0] >> 4 == 4)
                return read_u16(bytes + 2);
        gsize length = read_u16(bytes + 4);
        return length ? length + 40 : 0;
}
