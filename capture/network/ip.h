/* SPDX-License-Identifier: BSD-2-Clause
 *
 * From an IP packet to its payload: IPv4 with options (RFC 791), IPv6 with extension headers
 * (RFC 8200). Puts fragments of both together again.
 *
 * Lengths are the header's if they can be right. Bytes after the total length are padding of the
 * link. Segmentation offload leaves a total length of 0, which stands for all there is.
 * Checksums are not looked at, since offload leaves them unfilled. The authentication header
 * (RFC 4302) is an extension header of both.
 */
#pragma once

#include "capture/network/address.h"
#include "capture/packet/account.h"

enum { IP_TCP = 6, IP_UDP = 17 };

typedef struct {
        Address source, destination;
        const guint8 *payload; /* borrowed: the packet's, or the fragments' */
        gsize captured;        /* bytes of the payload at hand */
        gsize length;          /* bytes of the payload on the wire, at least captured */
        guint8 protocol;       /* IP_TCP, ... */
} IpPacket;

/* Fragments that wait for their fellows: a bounded number of datagrams, each
 * for a bounded time. */
typedef struct IpFragments IpFragments;

IpFragments *ip_fragments_new(void);
void ip_fragments_free(IpFragments *fragments);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(IpFragments, ip_fragments_free)

/* Decodes the n bytes at bytes, of length on the wire, seen at time (ns).
 * ACCOUNT_NONE: ip is filled, and valid until the next call. ACCOUNT_FRAGMENTS:
 * a fragment, kept until its datagram is whole. Else why the packet is of no
 * use. Fragments that were given up are counted in account. */
AccountEntry ip_decode(IpFragments *fragments, const guint8 *bytes, gsize n, gsize length,
                       gint64 time, IpPacket *ip, Account *account);

/* Whether the n bytes at bytes begin with an IP header that no other bytes are likely to look like:
 * its fields agree with each other and with the header behind it. strict: the checksum of IPv4 is
 * right, and IPv6 carries TCP or UDP. Otherwise a total length of 0 will do. */
gboolean ip_header_is_sound(const guint8 *bytes, gsize n, gboolean strict);

/* The bytes of such a packet by its header; 0 after offload. */
gsize ip_total_length(const guint8 *bytes);

/* Counts the fragments that still wait as lost, and forgets them. */
void ip_fragments_flush(IpFragments *fragments, Account *account);
