/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The bytes of one direction of a QUIC stream (RFC 9000, section 2.2), put in order. Frames say at
 * which offset their bytes belong; they may come late, twice and overlapping.
 */
#pragma once

#include "capture/packet/packet.h"

typedef struct QuicPiece QuicPiece;

typedef struct {
        guint64 next;    /* offset of the first byte that was not taken */
        guint64 end;     /* after the last byte; QUIC_NO_END: not known */
        QuicPiece *held; /* by offset; NULL: none */
} QuicBytes;

#define QUIC_NO_END G_MAXUINT64

/* Bytes that are in order. */
typedef struct {
        const guint8 *bytes; /* NULL: nobody has seen them */
        gsize n;
        Stamp stamp;
} QuicRun;

/* Keeps n bytes at offset that are new. *held counts the memory that all take. */
void quic_bytes_add(QuicBytes *b, guint64 offset, const guint8 *bytes, gsize n, Stamp stamp,
                    gsize *held);

/* The bytes that come next. FALSE: they are not there. */
gboolean quic_bytes_next(const QuicBytes *b, QuicRun *run);

/* n bytes of the run were taken. */
void quic_bytes_take(QuicBytes *b, gsize n, gsize *held);

/* How many bytes are missing before the first that are held; 0: none, or nothing is held. */
guint64 quic_bytes_gap(const QuicBytes *b);

/* The stamp of the earliest bytes that are held. FALSE: there are none. */
gboolean quic_bytes_waits_since(const QuicBytes *b, gint64 *time);

void quic_bytes_clear(QuicBytes *b, gsize *held);
