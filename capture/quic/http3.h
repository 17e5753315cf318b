/* SPDX-License-Identifier: BSD-2-Clause
 *
 * HTTP/3 (RFC 9114): the bytes of the streams of a QUIC connection in, frames as HTTP/2 has them
 * out, which protocol_http3 parses (protocol/http2.c). Labels, tags, bodies and
 * pairing are then those of HTTP/2.
 *
 * A request stream becomes a stream of HTTP/2 of number id / 2 + 1, which is odd. Its header
 * blocks come as HEADERS without a table. The reserved bit marks the one that begins the message.
 * Its data come as DATA of the lengths in which they arrived. Its end is an empty DATA.
 *
 * After a hole in frames the length of the next one is not known: what follows, up to the end of
 * the stream, counts as data. Blocks that cannot be read come without what they said.
 */
#pragma once

#include "capture/quic/quic-bytes.h"

enum { HTTP3_MAX_REQUEST = 0x7ffffffd }; /* the highest id of a request stream */

/* One direction of a stream. Zero at its beginning. */
typedef struct {
        guint64 type, left; /* of the frame, or of the stream; bytes of its payload to come */
        GByteArray *payload;
        guint8 head[16]; /* of the next frame */
        guint8 n_head;
        guint8 within; /* the payload of a frame */
        guint8 typed;  /* of a stream in one direction: its type is known */
        guint8 begun, ended;
        guint8 lost;
} Http3Half;

/* Bytes of frames: n are at hand, and length - n more follow that nobody has seen. */
typedef struct {
        void (*frames)(gpointer user, guint side, const guint8 *bytes, gsize n, gsize length,
                       Stamp stamp);
        gpointer user;
} Http3Sink;

typedef struct Http3 Http3;

/* client: the side that requests. *held, up to most: memory that all take (quic-bytes.h). */
Http3 *http3_new(guint client, gsize *held, gsize most);
void http3_free(Http3 *h);

/* The next bytes of a stream of side. How many were taken: fewer if a header block among them
 * must wait for instructions of another stream. */
gsize http3_add(Http3 *h, guint side, guint64 stream, Http3Half *half, const QuicRun *run,
                const Http3Sink *sink);

/* All of the stream was taken, and it ends. */
void http3_end(Http3 *h, guint side, guint64 stream, Http3Half *half, Stamp stamp,
               const Http3Sink *sink);

/* Side gives up a request stream: its own direction, or the other. */
void http3_abort(Http3 *h, guint side, guint64 stream, Http3Half *half, guint64 error, Stamp stamp,
                 const Http3Sink *sink);

/* Whether streams that wait for others may go on; then they are to be added again. */
gboolean http3_goes_on(Http3 *h);

/* What waits for other streams may wait no longer. */
void http3_give_up(Http3 *h);

/* It turned out to be no HTTP/3. */
gboolean http3_is_other(const Http3 *h);

void http3_half_clear(Http3 *h, Http3Half *half);
