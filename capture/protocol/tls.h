/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What the handshake of TLS says of the protocol inside: which ones the client offers, by
 * ALPN (RFC 7301), and which one the server chose. That is in the clear up to version 1.2; in
 * 1.3 its length is, where the record has nothing else.
 */
#pragma once

#include "capture/packet/packet.h"

/* What is known of the protocol inside. TLS_CHOSE_NOTHING: the server does not say, as if it is
 * not HTTP. */
typedef enum {
        TLS_UNKNOWN,
        TLS_OFFERS_H2,
        TLS_CHOSE_H2,
        TLS_CHOSE_OTHER,
        TLS_CHOSE_NOTHING
} TlsInside;

/* Skips a hello from behind its version to its first extension. FALSE: it is not there. */
gboolean tls_skip_to_extensions(Cursor *c, gboolean client);

/* Of the states of the two sides' parsers. */
TlsInside tls_inside(gconstpointer client, gconstpointer server);
