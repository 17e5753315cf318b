/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What the two sides of a connection say, turned into messages: recognises the
 * protocol, drives its parser over the bytes of each direction, finds the way
 * back after a hole, and hands messages to the pairing.
 *
 * A connection is undecided until a protocol recognises the first bytes of a run
 * (a run: bytes of one direction that no byte of the other interrupts). What
 * nothing recognises follows the generic rule: a run is a message. Runs of the
 * side that opened the connection are calls, those of the other their returns;
 * where it is not known who calls, or a run answers nothing, it is one-way.
 *
 * Bytes come in order, between the directions too (see tcp.h).
 *
 * Where the snapshot length has cut what a parser must see, where its message ends is not
 * known, nor how many follow: the message goes on to the end of the run, by the generic rule,
 * and the parser begins anew with the next. A run that no parser has begun is what cut-run.h
 * says; and a call that is a run is answered by one.
 */
#ifndef RAVEL_EXCHANGE_H
#define RAVEL_EXCHANGE_H

#include "capture/exchange-state.h"

/* protocol: NULL, or what --proto decides. client: the side that calls, or
 * NO_SIDE. start_seen: its bytes are there from the first. */
void exchange_init(Exchange *x, const Protocol *protocol, guint client, gboolean start_seen,
                   const NodeId node[2], const guint16 port[2]);

/* length > 0 bytes of side, of which the first has sequence number seq; n are at hand, and the
 * others were cut off by the snapshot length. */
void exchange_bytes(Exchange *x, guint side, guint32 seq, const guint8 *bytes, gsize n,
                    gsize length, Stamp stamp, const CaptureContext *context);

/* n > 0 bytes of side that nobody has seen. */
void exchange_missing(Exchange *x, guint side, guint32 seq, gsize n, const CaptureContext *context);

/* Side will send no more. */
void exchange_end(Exchange *x, guint side, Stamp stamp, const CaptureContext *context);

/* What the handshake has told so far; the protocol is TLS. */
guint exchange_tls_inside(const Exchange *x);

/* One datagram of side; length as there was on the wire. */
void exchange_datagram(Exchange *x, guint side, const guint8 *bytes, gsize n, gsize length,
                       Stamp stamp, const CaptureContext *context);

/* The message of side has been open for too long (see sequencer.h). */
void exchange_settle(Exchange *x, guint side, Stamp stamp, const CaptureContext *context);

/* The connection is over, or the capture is: writes what is complete, counts
 * what is not, and frees what x holds. */
void exchange_clear(Exchange *x, Stamp stamp, const CaptureContext *context);

#endif
