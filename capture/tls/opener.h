/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Opens one TLS connection (RFC 8446, RFC 5246) whose secrets are known: the bytes of its two
 * directions in, what was inside out.
 *
 * From the client's hello on, segments are held until the server's hello has said how records
 * are protected and the first record was opened. Then what is inside follows. Where there are no
 * secrets, or they do not fit, all that was held goes on as it came.
 *
 * Secrets may come late, in a file that grows, so the connection waits for them as long as the
 * sequencer is patient. Early data of a client wait until the server has said whether it takes
 * them. After a hole the next record is looked for, and tried with the numbers that it may have.
 */
#pragma once

#include "capture/packet/packet.h"
#include "capture/tls/key-log.h"

/* What became of a connection. */
typedef enum {
        TLS_WAITS, /* nothing yet */
        TLS_OPENED,
        TLS_NO_KEYS,
        TLS_WRONG_KEYS,
        TLS_UNKNOWN_CIPHER, /* or version */
        TLS_NO_HELLO        /* its handshake was not seen whole */
} TlsResult;

/* A segment as it came. */
typedef struct {
        guint32 seq;
        const guint8 *bytes;
        gsize n, length; /* at hand, on the wire; n = 0 and bytes NULL: nobody has seen them */
        Stamp stamp;
        gboolean ends; /* its side sends no more */
        guint8 mark;   /* the giver's */
} TlsSegment;

/* Where things go. */
typedef struct {
        /* A segment of a connection that is not opened, as it came. */
        void (*closed)(gpointer user, guint side, const TlsSegment *segment);
        /* The connection is opened: all that follows is what was inside. */
        void (*opened)(gpointer user);
        /* n > 0 bytes from inside. The first has number seq on its side. They came with a record
         * from first to last. If nobody saw them bytes is NULL. */
        void (*inside)(gpointer user, guint side, guint32 seq, const guint8 *bytes, gsize n,
                       Stamp first, Stamp last);
        /* All segments of side until now have only what is not data. */
        void (*no_data)(gpointer user, guint side);
        void (*end)(gpointer user, guint side, Stamp stamp);
        gpointer user;
} TlsOpenerSink;

/* What all openers share. */
typedef struct {
        KeyLog *keys;
        gsize held;         /* bytes that wait, of all connections */
        gsize most_held;    /* bytes that may; 0: there is no bound */
        guint64 not_opened; /* records of opened connections that were not */
        guint8 *plain;      /* scratch; NULL before the first record */
} TlsOpening;

typedef struct TlsOpener TlsOpener;

/* Whether a segment begins with a client's hello. */
gboolean tls_opener_recognises(const guint8 *bytes, gsize n);

/* client: the side whose hello was recognised, in the segment that is to be added first. opening
 * is borrowed. */
TlsOpener *tls_opener_new(TlsOpening *opening, guint client);
void tls_opener_free(TlsOpener *opener);

void tls_opener_add(TlsOpener *opener, guint side, const TlsSegment *segment,
                    const TlsOpenerSink *sink);

/* The earliest time (ns) of what waits: for secrets, or for the rest of its record. FALSE
 * where nothing does. */
gboolean tls_opener_waits_since(const TlsOpener *opener, gint64 *time);

/* What waits may not wait any longer. */
void tls_opener_settle(TlsOpener *opener, const TlsOpenerSink *sink);

/* Anything but TLS_WAITS and TLS_OPENED: it is not needed any more. */
TlsResult tls_opener_result(const TlsOpener *opener);

guint tls_opener_client(const TlsOpener *opener);
