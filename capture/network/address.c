/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/network/address.h"

#include <arpa/inet.h>
#include <string.h>

#include "base/digits.h"

static void address_bytes(Address a, guint8 bytes[16])
{
        for (guint i = 0; i < 8; i++) {
                bytes[i] = (guint8)(a.high >> (56 - 8 * i));
                bytes[8 + i] = (guint8)(a.low >> (56 - 8 * i));
        }
}

gboolean address_is_loopback(Address a)
{
        if (address_is_v4(a))
                return (a.low >> 24 & 0xff) == 127;
        return a.high == 0 && a.low == 1;
}

Address address_prefix(Address a, guint bits)
{
        if (bits < 64)
                return (Address){ bits ? a.high & ~(G_MAXUINT64 >> bits) : 0, 0 };
        if (bits < 128)
                a.low &= bits == 64 ? 0 : ~(G_MAXUINT64 >> (bits - 64));
        return a;
}

gboolean address_parse(const char *text, gsize n, Address *address)
{
        char copy[ADDRESS_TEXT_SIZE];
        guint8 bytes[16];
        if (n >= sizeof copy || memchr(text, '\0', n))
                return FALSE;
        memcpy(copy, text, n);
        copy[n] = '\0';
        if (inet_pton(AF_INET, copy, bytes) == 1)
                *address = address_v4(read_u32(bytes));
        else if (inet_pton(AF_INET6, copy, bytes) == 1)
                *address = address_v6(bytes);
        else
                return FALSE;
        return TRUE;
}

const char *address_format(Address a, char buffer[ADDRESS_TEXT_SIZE])
{
        guint8 bytes[16];
        address_bytes(a, bytes);
        if (address_is_v4(a))
                return inet_ntop(AF_INET, bytes + 12, buffer, ADDRESS_TEXT_SIZE);
        return inet_ntop(AF_INET6, bytes, buffer, ADDRESS_TEXT_SIZE);
}

gboolean endpoint_parse(const char *text, gsize n, Endpoint *endpoint)
{
        const char *colon = n > 0 ? memrchr(text, ':', n) : NULL;
        guint64 port;
        if (!colon ||
            !digits_parse(colon + 1, (gsize)(text + n - colon) - 1, 5, G_MAXUINT16, &port))
                return FALSE;
        endpoint->port = (guint16)port;
        n = (gsize)(colon - text);
        if (n > 2 && text[0] == '[' && text[n - 1] == ']')
                return address_parse(text + 1, n - 2, &endpoint->address);
        return address_parse(text, n, &endpoint->address) && address_is_v4(endpoint->address);
}
