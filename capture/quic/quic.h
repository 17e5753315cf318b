/* SPDX-License-Identifier: BSD-2-Clause
 *
 * One QUIC connection (RFC 9000, RFC 9001, RFC 9369): the datagrams of its two sides in, the
 * requests of HTTP/3 out, where the secrets are known.
 *
 * Anybody can open Initial packets: their keys come from the connection id that the client chose.
 * They hold the hellos of TLS. The client's names the server; the server's says how packets are
 * protected. Packets that come before the keys are held. Without secrets nothing comes out.
 *
 * Bytes of a stream that are missing are waited for: they are sent again, unless only the capture
 * has lost them.
 */
#pragma once

#include "capture/quic/http3.h"
#include "capture/quic/quic-header.h"
#include "capture/tls/key-log.h"

typedef enum {
        QUIC_WAITS, /* nothing is known yet */
        QUIC_OPENED,
        QUIC_NO_KEYS,
        QUIC_NO_HANDSHAKE, /* it was not seen whole */
        QUIC_NO_HTTP,      /* opened, and something else inside */
} QuicResult;

/* What all connections share. */
typedef struct {
        KeyLog *keys;       /* NULL: only names are wanted */
        gsize held, most;   /* bytes that wait, and what tables of HTTP/3 may take */
        guint64 not_opened; /* datagrams of opened connections */
        guint8 *plain;      /* scratch; NULL before the first packet */
} QuicOpening;

/* Where things go. */
typedef struct {
        /* The client's hello, from behind the header of its message. */
        void (*hello)(gpointer user, guint client, const guint8 *bytes, gsize n);
        /* The connection is opened, before any frames. */
        void (*opened)(gpointer user, guint client);
        Http3Sink frames; /* its user is that of all */
        /* An end has a further connection id. */
        void (*has_id)(gpointer user, const QuicId *id);
        /* Side closes the connection; in_order: without an error. */
        void (*closed)(gpointer user, guint side, gboolean in_order, Stamp stamp);
} QuicSink;

typedef struct Quic Quic;

/* client: the side that sent the first datagram, which is to be added first. opening is borrowed.
 */
Quic *quic_new(QuicOpening *opening, guint client);
void quic_free(Quic *q);

/* A datagram of n bytes, all at hand. FALSE: no packet in it could be opened. */
gboolean quic_add(Quic *q, guint side, const guint8 *bytes, gsize n, Stamp stamp,
                  const QuicSink *sink);

QuicResult quic_result(const Quic *q);

/* The earliest time (ns) of what waits. FALSE: nothing does. */
gboolean quic_waits_since(const Quic *q, gint64 *time);

/* What waits may not wait any longer. */
void quic_settle(Quic *q, const QuicSink *sink);

/* Which version is spoken: 1 or 2. */
guint quic_version(const Quic *q);

/* Whether a datagram goes to or comes from this connection by its id: its side; 2: it does not. */
guint quic_side_to(const Quic *q, const QuicId *id);

/* The i-th of the ids that sink.has_id() was told; NULL past the last. Borrowed. */
const QuicId *quic_id(const Quic *q, guint i);

/* Whether packets of side are missing, so that messages may be. */
gboolean quic_has_holes(const Quic *q, guint side);
