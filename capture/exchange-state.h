/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What is kept of a connection and of its two sides between two segments. The states that these
 * fields stand for are explained at the top of exchange.c.
 */
#pragma once

#include "capture/cut-run.h"
#include "capture/pairing.h"

enum {
        MAX_PROBES = 16, /* runs that are shown to every protocol */
        BOTH_SIDES = 3,  /* of a bit a side */
};

typedef struct {
        guint8 *buffer; /* bytes that the parser has seen, and wants to see again with more */
        guint32 buffered, capacity;
        guint32 seq;   /* sequence number of the next byte */
        Stamp arrived; /* stamp of the last of the buffered bytes */
        guint64 skip;  /* how many of the next bytes the parser need not see */
        guint64 body;  /* how many of these, from the first on, may name the operation */
        guint64 state[PROTOCOL_STATE_SIZE / 8]; /* the parser's */
        guint8 ends_after_skip;                 /* the open message ends with the skipped bytes, */
        guint8 switches_after_skip;             /* and the connection speaks something else then */
        guint8 lost;                            /* looks for a boundary between messages */
        guint8 holed;     /* a hole was the reason, and no message has ended since */
        guint8 by_run;    /* all bytes of this run belong to the open message */
        guint16 part;     /* PartFlags of the open message; 0: it is whole */
        guint8 part_kind; /* MessageKind of that part */
        guint8 piece;     /* the skipped bytes are the rest of a piece (pieces.h) */
        guint8 aside;     /* the parsed bytes belong to no message, though a run is open */
} ExchangeSide;

typedef struct {
        const Protocol *protocol; /* NULL while it is undecided */
        gpointer memory;          /* the protocol's own: see Parsed.memory */
        Pairing pairing;
        ExchangeSide side[2];
        guint8 run;    /* the side whose run goes on; NO_SIDE: none, or messages are parsed */
        guint8 probes; /* runs that no protocol has recognised, and choices that were taken back */
        guint8 parsed; /* the protocol has parsed a message on this connection */
        guint8 role_known; /* it had when the protocol was chosen */
        guint8 fitted;     /* a bit a side: a message of the protocol has begun */
        guint8 talked;     /* a bit a side: it has sent bytes */
        guint32 refused;   /* a bit for each of protocols[] that was taken back */
        guint8 called;     /* TLS: a run of data was a call */
        guint8 start_seen; /* the first bytes of the connection are there */
        guint8 decided;    /* --proto says what the protocol is */
        CutTalk talk;      /* what is known where packets were cut */
} Exchange;

/* Whether the parser may leave n bytes of a side for later. */
gboolean side_has_room(const ExchangeSide *s, gsize n, const CaptureContext *context);

/* Keeps n bytes for later. They may lie in the buffer already. */
void side_keep(ExchangeSide *s, const guint8 *bytes, gsize n, const CaptureContext *context);

/* Adds n bytes to the buffer. */
void side_append(ExchangeSide *s, const guint8 *bytes, gsize n, const CaptureContext *context);

/* Empties the buffer and gives its memory back. */
void side_drop_buffer(ExchangeSide *s, const CaptureContext *context);

/* The same, of an empty buffer that is larger than a side may keep. */
void side_trim_buffer(ExchangeSide *s, const CaptureContext *context);
