/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The headers of QUIC packets (RFC 9000, section 17; RFC 9369), as far as they are not protected.
 * Several packets may share a datagram.
 */
#pragma once

#include "capture/packet/packet.h"

enum {
        QUIC_MAX_ID = 20,
        QUIC_VERSION_1 = 1,
        QUIC_VERSION_2 = 0x6b3343cf,
};

/* What keys protect a packet. */
typedef enum { LEVEL_INITIAL, LEVEL_EARLY, LEVEL_HANDSHAKE, LEVEL_DATA, N_LEVELS } QuicLevel;

typedef struct {
        guint8 n;
        guint8 bytes[QUIC_MAX_ID];
} QuicId;

typedef struct {
        QuicLevel level;
        gboolean is_long;
        guint32 version;    /* of a long header; 0 where none is */
        QuicId to, from;    /* connection ids; from: of a long header */
        gsize number;       /* offset of the packet number */
        gsize length;       /* of the packet, header and all */
        gboolean is_opaque; /* Retry or version negotiation: there is nothing to open */
} QuicHeader;

typedef enum {
        QUIC_NOT,  /* no packet of QUIC, as far as that can be told */
        QUIC_DATA, /* a short header, at the port of HTTPS: the connection was open before */
        QUIC_LONG, /* a long header of a version that cannot be read; another may follow */
        QUIC_V1,
        QUIC_V2,
} QuicKind;

/* What a datagram between these ports is of, whose first n bytes are at hand. */
QuicKind quic_recognise(const guint16 port[2], const guint8 *bytes, gsize n);

/* The header of the packet that these n bytes of a datagram begin with. n_id: bytes of the
 * connection id in a short header. FALSE: it is none of version 1 or 2. */
gboolean quic_header_read(const guint8 *bytes, gsize n, guint n_id, QuicHeader *header);

/* A number of 1, 2, 4 or 8 bytes (RFC 9000, section 16). */
gboolean quic_number_read(Cursor *c, guint64 *value);
