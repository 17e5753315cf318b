/* SPDX-License-Identifier: BSD-2-Clause
 *
 * An IP address as a 128-bit number: IPv6, or IPv4 as ::ffff:a.b.c.d (RFC 4291,
 * 2.5.5.2), so that one comparison and one prefix rule serve both.
 */
#pragma once

#include "capture/packet/packet.h"

typedef struct {
        guint64 high, low;
} Address;

#define ADDRESS_TEXT_SIZE 48

/* One end of a connection. */
typedef struct {
        Address address;
        guint16 port;
} Endpoint;

static inline Address address_v4(guint32 value)
{
        return (Address){ 0, G_GUINT64_CONSTANT(0xffff00000000) | value };
}

static inline Address address_v6(const guint8 *bytes)
{
        return (Address){ read_u64(bytes), read_u64(bytes + 8) };
}

static inline gboolean address_is_v4(Address a)
{
        return a.high == 0 && a.low >> 32 == 0xffff;
}

static inline gboolean address_equal(Address a, Address b)
{
        return a.high == b.high && a.low == b.low;
}

static inline int address_compare(Address a, Address b)
{
        if (a.high != b.high)
                return a.high < b.high ? -1 : 1;
        return a.low < b.low ? -1 : a.low > b.low;
}

static inline gboolean endpoint_equal(const Endpoint *a, const Endpoint *b)
{
        return a->port == b->port && address_equal(a->address, b->address);
}

/* 0.0.0.0 and ::, where a server listens at all its addresses. */
static inline gboolean address_is_any(Address a)
{
        return a.high == 0 && (a.low == 0 || a.low == G_GUINT64_CONSTANT(0xffff00000000));
}

/* 127.0.0.0/8 and ::1. */
gboolean address_is_loopback(Address a);

/* Multicast, or the broadcast address of every network. */
static inline gboolean address_is_group(Address a)
{
        if (address_is_v4(a))
                return (a.low >> 28 & 0xf) == 0xe || (guint32)a.low == 0xffffffff;
        return a.high >> 56 == 0xff;
}

/* The first bits bits of a, the rest zero. 128 bits for both families: an IPv4
 * prefix of 8 is one of 104. */
Address address_prefix(Address a, guint bits);

/* Exactly the n bytes at text, dotted or colon form. FALSE where they are not
 * an address. */
gboolean address_parse(const char *text, gsize n, Address *address);

/* As RFC 5952 has it, NUL-terminated. Returns buffer. */
const char *address_format(Address a, char buffer[ADDRESS_TEXT_SIZE]);

/* Exactly the n bytes at text, "addr:port" or "[addr]:port"; the colon of an IPv6 address
 * without brackets is none of a port. FALSE where they are not. */
gboolean endpoint_parse(const char *text, gsize n, Endpoint *endpoint);
