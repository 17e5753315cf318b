/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The PROXY protocol, versions 1 and 2: a header that a proxy sends before the first bytes of a
 * connection, or of a datagram. It says for whom the proxy calls.
 */
#pragma once

#include "capture/network/address.h"

enum { PROXY_HEADER_SHOWN = 107 }; /* bytes that tell everything: the longest of version 1 */

typedef enum {
        PROXY_HEADER_NONE, /* the bytes are none */
        PROXY_HEADER_MORE, /* they may be one, when more have come; size is set where it is known */
        PROXY_HEADER_READ, /* header is filled */
} ProxyHeaderStatus;

typedef struct {
        gsize size; /* bytes; of version 2 it may be more than are shown */
        gboolean has_ends;
        Endpoint source, destination; /* of the proxy's own caller, where has_ends */
} ProxyHeader;

/* Of n bytes only the first PROXY_HEADER_SHOWN matter. */
ProxyHeaderStatus proxy_header_read(const guint8 *bytes, gsize n, ProxyHeader *header);
