/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Calls in flight on a connection that carries many at a time (HTTP/2, AMQP). Messages come in
 * parts, each with the key of its call. Parts of many messages mix, in both directions at once.
 * If both sides call, the same key may stand for a call of either side. A one-way message in
 * parts is a call that is over with its last part.
 *
 * A call is stamped at the first byte of its first part, its return at the last
 * byte of its last, as everywhere. With its return a call is over, even where
 * its own last part is still to come.
 */
#pragma once

#include "capture/pairing.h"

/* Memory for streams, those of all connections: most in all, 16,384 a
 * connection. Where there is no more, a connection forgets its oldest. For labels
 * see header-labels.h. */
StreamPool *stream_pool_new(guint most);

/* No stream may be in use: see streams_clear(). */
void stream_pool_free(StreamPool *pool);

/* A part of the message of key begins at first. Side sends it. kind: KIND_CALL, KIND_ONE_WAY or
 * KIND_RETURN. seq: the sequence number of its first byte. part: PartFlags. */
void streams_part_begin(Pairing *p, guint side, MessageKind kind, guint part, guint64 key,
                        guint32 seq, Stamp first, const CaptureContext *context);

/* The message of key that side sends carries this content. */
void streams_content(Pairing *p, guint side, guint64 key, const Carried *carried,
                     const CaptureContext *context);

/* The call of key, by side, has the context's values; whole: their last word ends there. */
void streams_values(Pairing *p, guint side, guint64 key, gboolean whole,
                    const CaptureContext *context);

/* Where the first bytes of the body of this call are kept. NULL: nowhere. */
BodyName *streams_body(Pairing *p, guint side, guint64 key, const CaptureContext *context);

/* The same part ends at last. */
void streams_part_end(Pairing *p, guint side, MessageKind kind, guint part, guint64 key, Stamp last,
                      const CaptureContext *context);

/* parsed has a header block, or a piece of one, that names the call of its key and has values.
 * Side makes the call. The context's label and values are scratch. */
void streams_fields(Pairing *p, guint side, const Parsed *parsed, const CaptureContext *context);

/* A segment was shown to its end. */
void streams_segment_end(Pairing *p, const CaptureContext *context);

/* Bytes of side were held up (see TcpSink): so were its messages in flight. There is a stream. */
void streams_hold_up(Pairing *p, guint side, TcpStall stall, gint64 ns);

/* The calls of side that ended in a segment which was seen at time could be read ns later. */
void streams_keep(Pairing *p, guint side, gint64 time, gint64 ns);

/* Side will send no more: returns that it has begun end at stamp. owes: each call is owed a whole
 * return, so streams_give_up() is next, and gives up the calls whose returns are cut short. */
void streams_side_end(Pairing *p, guint side, gboolean owes, Stamp stamp,
                      const CaptureContext *context);

/* Calls by side get no return any more, since stamp: their end is written. */
void streams_give_up(Pairing *p, guint side, CallEnding how, Stamp stamp,
                     const CaptureContext *context);

/* A hole in what side sends may hide returns to the calls that wait. */
void streams_doubt_returns(Pairing *p, guint side);

/* The call of item (ITEM_STREAM) has been open for too long: it is written as far as it is
 * known. */
void streams_settle(OpenItem *item, const CaptureContext *context);

/* Writes the calls that have not been; they will not get a return. */
void streams_clear(Pairing *p, const CaptureContext *context);
