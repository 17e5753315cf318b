/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What is kept of the two sides of a connection between two segments: see exchange.h.
 */
#ifndef RAVEL_EXCHANGE_STATE_H
#define RAVEL_EXCHANGE_STATE_H

#include "capture/cut-run.h"
#include "capture/pairing.h"

typedef struct {
        guint8 *buffer; /* bytes that the parser has yet to settle */
        guint32 buffered, capacity;
        guint32 seq;                            /* sequence number of the next byte */
        Stamp arrived;                          /* stamp of the last of the buffered bytes */
        guint64 skip;                           /* bytes that need not be shown to the parser */
        guint64 state[PROTOCOL_STATE_SIZE / 8]; /* the parser's */
        guint8 ends_after_skip, switches_after_skip;
        guint8 lost;      /* after a hole: looks for a message boundary */
        guint8 by_run;    /* after a cut: what comes belongs to the open message */
        guint16 part;     /* of the open message: PartFlags */
        guint8 part_kind; /* and MessageKind */
        guint8 piece;     /* what is skipped is the rest of one */
        guint8 aside;     /* what is parsed does not belong to the open message, a run */
} ExchangeSide;

typedef struct {
        const Protocol *protocol; /* NULL while it is undecided */
        gpointer memory;          /* the protocol's: see Parsed */
        Pairing pairing;
        ExchangeSide side[2];
        guint8 run;    /* where messages are runs: the side that talks, or NO_SIDE */
        guint8 probes; /* runs that no protocol recognised */
        guint8 parsed; /* the protocol has parsed a message here */
        guint8 called; /* a run of its records was a call */
        guint8 start_seen;
        guint8 decided; /* the protocol, by --proto */
        CutTalk talk;
} Exchange;

/* Whether the parser may leave n bytes of a side for later. */
gboolean side_has_room(const ExchangeSide *s, gsize n, const CaptureContext *context);

/* Keeps n bytes for later, which may be the last of the buffer's. */
void side_keep(ExchangeSide *s, const guint8 *bytes, gsize n, const CaptureContext *context);

void side_append(ExchangeSide *s, const guint8 *bytes, gsize n, const CaptureContext *context);

void side_drop_buffer(ExchangeSide *s, const CaptureContext *context);

/* Gives back what an empty buffer need not keep. */
void side_trim_buffer(ExchangeSide *s, const CaptureContext *context);

#endif
