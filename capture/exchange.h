/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What the two sides of a connection say to each other, turned into messages. Comes in: the bytes
 * of both directions, in order, between the directions too (see tcp.h), and how many are missing.
 * Goes out: messages, to the pairing (pairing.h). The top of exchange.c says how it decides.
 */
#pragma once

#include "capture/exchange-state.h"

/* protocol: NULL, or what --proto decides. client: the side that calls, or NO_SIDE where that is
 * not known. start_seen: the connection's bytes are there from the first. */
void exchange_init(Exchange *x, const Protocol *protocol, guint client, gboolean start_seen,
                   const NodeId node[2], const guint16 port[2]);

/* length > 0 bytes of side. The first has sequence number seq. The first n are at hand, and the
 * snapshot length has cut off the others. */
void exchange_bytes(Exchange *x, guint side, guint32 seq, const guint8 *bytes, gsize n,
                    gsize length, Stamp stamp, const CaptureContext *context);

/* n > 0 bytes of side that nobody has seen. */
void exchange_missing(Exchange *x, guint side, guint32 seq, gsize n, const CaptureContext *context);

/* Side will send no more. If each call is owed a return, those of the other side without one end as
 * `how` says. Calls of side may still be answered; they end so if the other side ends, too, or is
 * silent for too long. */
void exchange_end(Exchange *x, guint side, CallEnding how, Stamp stamp,
                  const CaptureContext *context);

/* What side sends was not all seen, so returns may be missing. */
void exchange_doubt_returns(Exchange *x, guint side);

/* What the TLS handshake says about the protocol inside, so far: a TlsInside (protocol/tls.h). */
guint exchange_tls_inside(const Exchange *x);

/* One datagram of side. It had length bytes on the wire, and n are at hand. */
void exchange_datagram(Exchange *x, guint side, const guint8 *bytes, gsize n, gsize length,
                       Stamp stamp, const CaptureContext *context);

/* The message of side has been open for longer than the sequencer's patience (sequencer.h). */
void exchange_settle(Exchange *x, guint side, Stamp stamp, const CaptureContext *context);

/* The sequencer can wait no longer for the trial of the protocol (choice.h). */
void exchange_end_trial(Exchange *x, const CaptureContext *context);

/* The connection is over, or the capture is: writes open messages of a known kind, but no return
 * whose end the protocol would have told. Counts the others, and frees what x holds. */
void exchange_clear(Exchange *x, Stamp stamp, const CaptureContext *context);
