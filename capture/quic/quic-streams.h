/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The streams of a QUIC connection, each put in order and given to HTTP/3. A request stream that is
 * over is remembered, since its frames may be sent again.
 */
#pragma once

#include "capture/quic/http3.h"

typedef struct QuicStreams QuicStreams;

/* client: the side that requests. *n_held counts bytes that wait, *held what HTTP/3 takes, up to
 * most: see http3_new(). */
QuicStreams *quic_streams_new(guint client, gsize *n_held, gsize *held, gsize most);
void quic_streams_free(QuicStreams *t);

/* A frame of side: n bytes at offset; last: after them the stream ends. */
void quic_streams_add(QuicStreams *t, guint side, guint64 id, guint64 offset, const guint8 *bytes,
                      gsize n, gboolean last, Stamp stamp, const Http3Sink *sink);

/* Side sends no more on a stream, or, if it stops, wants nothing more. */
void quic_streams_abort(QuicStreams *t, guint side, guint64 id, guint64 error, gboolean stops,
                        Stamp stamp, const Http3Sink *sink);

/* Lets streams go on that waited for what others have said now. */
void quic_streams_go_on(QuicStreams *t, Stamp stamp, const Http3Sink *sink);

/* Gives up missing bytes: nobody has seen them. */
void quic_streams_give_up(QuicStreams *t, const Http3Sink *sink);

/* The earliest time (ns) of bytes that wait. FALSE: none do. Looks at all streams. */
gboolean quic_streams_wait_since(const QuicStreams *t, gint64 *time);

/* It is no HTTP/3. */
gboolean quic_streams_are_other(const QuicStreams *t);
