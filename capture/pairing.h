/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Messages in progress on a connection, one a direction, and the calls that
 * still wait for their return.
 *
 * A message is opened at its first byte, grows, begins when it is known what it
 * is, and ends. A call is stamped at its first byte, a return at its last; that
 * keeps a node's own calls inside the calls into it, also where it streams. A
 * return is paired with the oldest call that waits, or with the one of its key.
 *
 * A hole hides how many messages it held. Where one call is made at a time that
 * does no harm. On a pipelined connection it is not known from there on which call
 * a return answers, and such returns are counted, not paired, until the order is
 * known again: where the client waits for all returns before it calls again (until
 * now it always has), at the next call after a return; else at the first call after
 * a silence of twice the longest time that a return has taken.
 */
#ifndef RAVEL_PAIRING_H
#define RAVEL_PAIRING_H

#include "capture/connection-number.h"
#include "capture/network/sequencer.h"
#include "capture/network/tcp.h"
#include "capture/packet/account.h"
#include "capture/packet/identifiers.h"
#include "capture/pieces.h"
#include "capture/protocol/protocol.h"
#include "capture/tls/opener.h"

/* See links.h, settling.h, streams.h. */
typedef struct LinkTable LinkTable;
typedef struct Settling Settling;
typedef struct StreamPool StreamPool;
typedef struct StreamTable StreamTable;

/* Memory that all connections take together, and that is bounded so. */
typedef struct {
        gsize calls;   /* that there is room for */
        gsize buffers; /* bytes, of those that parsers have yet to settle */
        PieceMemory pieces;
} CaptureMemory;

/* What the stages of a capture share; all borrowed. */
typedef struct {
        Sequencer *sequencer;
        Account *account;
        StreamPool *streams;
        CaptureMemory *memory;
        ConnectionNumbers *numbers;
        GString *label;  /* scratch; NULL where neither labels nor identifiers are wanted */
        GString *values; /* scratch; NULL where no identifiers are wanted */
        Identifiers *identifiers; /* likewise */
        LinkTable *links;
        Settling *settling;
        TlsOpening *tls; /* NULL where nothing is opened */
} CaptureContext;

#define NO_SIDE 2

/* What an OpenItem of a connection belongs to, its kind. */
enum { ITEM_MESSAGE_0, ITEM_MESSAGE_1, ITEM_HELD, ITEM_STREAM, ITEM_TLS };

/* How the end of a message will be known. */
typedef enum {
        END_BY_CONTENT, /* the protocol says */
        END_BY_CLOSE,   /* the connection's end is its end */
        END_BY_SILENCE, /* when the other side talks, or nobody does */
} MessageEnd;

typedef struct {
        OpenItem item;
        Stamp first, last; /* of the bytes that were seen */
        char *label;
        RequestIdentifiers *identifiers; /* of a call; NULL: none */
        Link link;      /* of a call: the first message that carried the same; see links.h */
        Pieces *pieces; /* NULL before the first */
        guint64 number; /* of a call: with the port, its id */
        guint64 bytes;  /* that it has so far */
        gint64 stall;   /* how long its bytes were held up, ns */
        guint32 seq;    /* of the first byte */
        guint8 kind;    /* MessageKind */
        guint8 end;     /* MessageEnd */
        guint8 open, seen, written, keyed, session;
        guint8 lost;        /* it was dropped, as it answers no call */
        guint8 stray;       /* a return: which call it answers is not known */
        guint8 beyond;      /* a call that is not kept */
        guint8 by_run;      /* no parser has begun it, since packets were cut */
        guint8 several;     /* a call by run: more than one, by what is seen of it */
        guint8 unseen;      /* by run, and no byte of its beginning is there */
        guint8 transaction; /* Parsed.transaction */
        guint8 fetch;       /* Carried.fetch */
} MessageInProgress;

typedef struct {
        guint64 number;
        gint64 time;   /* of its first byte */
        gint64 resent; /* how long after its last byte some were sent again, ns */
        guint8 call;   /* Parsed.call */
        guint8 side;   /* who called */
        guint8 session;
        guint8 by_run;
} WaitingCall;

/* The calls that wait for a return. */
typedef struct {
        WaitingCall *ring; /* oldest at first */
        guint16 first, n, capacity;
        guint16 n_of[2]; /* by who called */
        guint32 beyond;  /* calls that came after these and are not kept */
} WaitingCalls;

/* What is known of the order in which calls and returns come. */
typedef struct {
        guint8 pipelined; /* a call was made while another waited */
        guint8 answered;  /* since the last call something came back */
        guint8 overlaps;  /* after that a call was made while another waited */
        guint8 unsure;    /* a hole hides which calls the returns answer */
        guint8 last_call; /* Parsed.call of the last call */
        guint16 sure;   /* while unsure: the next returns that answer calls from before the hole */
        gint64 longest; /* ns that a return has taken at most */
        gint64 quiet;   /* since when nobody talks */
} CallOrder;

/* What signs.h asks, since it asked last. */
typedef struct {
        guint32 written;          /* calls */
        guint32 doubtful;         /* calls that may be several, or may hide one: packets were cut */
        guint32 shifted, drained; /* returns in order after which one call waited, or none */
        guint32 unseen_segments;  /* segments that are in no message */
        guint64 unseen_bytes;
} PairingCounts;

typedef struct {
        MessageInProgress message[2]; /* by the side that sends */
        WaitingCalls calls;
        CallOrder order;
        StreamTable *streams; /* calls whose messages come in parts; NULL before the first */
        NodeId node[2];
        guint16 port[2];
        guint8 client;    /* the side that calls, or NO_SIDE where that is not known */
        guint8 datagrams; /* messages have no sequence numbers */
        guint8 cut;       /* packets were cut where their bytes had to be seen */
        guint8 called;    /* a call was written */
        guint32 number;   /* of the connection; 0: see connection-number.h */
        gint64 opened;    /* when the client asked for it; NO_TIME: not seen */
        gint64 stall[2];  /* ns by which the message that side is about to begin was held up */
        PairingCounts counts;
        struct {
                guint32 segments;
                guint64 bytes;
        } loose[2]; /* segments of a side that may yet turn out to be in no message */
} Pairing;

void pairing_init(Pairing *p, const NodeId node[2], const guint16 port[2]);

/* The first byte of a message of side, with its sequence number. stamp is NULL
 * where nobody saw it. */
void pairing_open(Pairing *p, guint side, guint32 seq, const Stamp *stamp,
                  const CaptureContext *context);

/* The open message of side is a call that carries content, known by an identifier of it: see
 * links.h. */
void pairing_set_content(Pairing *p, guint side, guint64 content, const CaptureContext *context);

/* A label has one word more. */
static inline void label_go_on(char **label, const char *word)
{
        char *before = *label;

        *label = g_strconcat(before, " ", word, NULL);
        g_free(before);
}

/* The open call of side asks for a job of this name: its label says that, too, if it has one. */
void pairing_name(Pairing *p, guint side, const char *job);

/* The open message of side carries content; of several the first that is a link stands for all.
 * known: it is one only if somebody else had sent the same. */
void pairing_link(Pairing *p, guint side, guint64 content, gboolean known,
                  const CaptureContext *context);

/* The open message of side, a return, brings contents out of a queue: each is a message of its own,
 * with the id of the call and so much more; or a call, if it will be settled. Where the call did
 * not wait, only those that somebody else had put in. */
void pairing_deliver(Pairing *p, guint side, const Carried *carried, const CaptureContext *context);

/* The open message of side settles what was taken, of which it is the return, or names it. Whether
 * there was any. */
gboolean pairing_settle_taken(Pairing *p, guint side, const Carried *carried,
                              const CaptureContext *context);

/* n bytes more of the open message, whether somebody saw them or not. */
static inline void pairing_count(Pairing *p, guint side, guint64 n)
{
        p->message[side].bytes += n;
}

/* More bytes of the open message, seen at stamp. */
void pairing_grow(Pairing *p, guint side, Stamp stamp, const CaptureContext *context);

/* What side sends was held up for ns: the open message, or the one that begins now, where bytes had
 * been missing; or the last call, which waits, where they are sent again. */
void pairing_stall(Pairing *p, guint side, TcpStall stall, gint64 ns);

/* What the open message is, and how it will end. parsed gives key and call, and
 * the context's label is what was parsed with it; NULL where there was no parser. FALSE where it is
 * a call that was already made, to be forgotten. */
gboolean pairing_begin(Pairing *p, guint side, MessageKind kind, MessageEnd end,
                       const Parsed *parsed, Stamp stamp, const CaptureContext *context);

/* It is a part of the message of key, and none itself. */
void pairing_begin_part(Pairing *p, guint side, guint64 key, Stamp stamp);

/* The open message of side, a call, has the context's values; whole: their last word ends there. */
void pairing_values(Pairing *p, guint side, gboolean whole, const CaptureContext *context);

/* A piece of the open message, a return or a call, begins at stamp; it ends. endless: the message
 * says that it has no end. */
void pairing_piece_begin(Pairing *p, guint side, guint32 seq, gboolean endless, Stamp stamp,
                         const CaptureContext *context);
void pairing_piece_end(Pairing *p, guint side, Stamp stamp, const CaptureContext *context);

/* A piece of a message of side is a message itself. */
void pairing_piece_write(Pairing *p, guint side, const Piece *piece, const CaptureContext *context);

/* How it will end, when that is known later or changes. */
void pairing_set_end(Pairing *p, guint side, MessageEnd end, const CaptureContext *context);

/* The open message is complete, at stamp. Nothing where none is open. */
void pairing_end(Pairing *p, guint side, Stamp stamp, const CaptureContext *context);

/* The open message was none, nor does it wait for a return, unless it is written. */
void pairing_abandon(Pairing *p, guint side, const CaptureContext *context);

/* The open message of side, taken for a call, is of this kind, unless it is written. */
void pairing_recast(Pairing *p, guint side, MessageKind kind, const CaptureContext *context);

/* The open message of side may not wait any longer: it is written with what is
 * known of it, or will be stamped later than its bytes. */
void pairing_settle(Pairing *p, guint side, const CaptureContext *context);

/* What side says has a hole, in which there may be any number of messages. */
void pairing_lose_order(Pairing *p, guint side);

/* One call is in doubt: it may be more than one, or one may be missing, since packets were cut. */
void pairing_doubt(Pairing *p, const CaptureContext *context);

/* The calls that wait will not get a return. */
void pairing_forget_calls(Pairing *p, const CaptureContext *context);

/* What the oldest call that side answers set in Parsed.call, or CALL_NONE. */
guint8 pairing_call(const Pairing *p, guint side);

/* Whether the oldest call that side answers was a run, for no parser has seen it. */
gboolean pairing_call_is_run(const Pairing *p, guint side);

/* Takes the oldest call that waits for side, and its number. FALSE where none does. */
gboolean pairing_take_call(Pairing *p, guint side, guint64 *number);

/* A segment with n bytes of side is about to be shown. */
static inline void pairing_see_payload(Pairing *p, guint side, gsize n)
{
        p->loose[side].segments++;
        p->loose[side].bytes += n;
}

/* All segments of side that were shown since the last time are in a message or are known
 * to be none; or are not. */
static inline void pairing_account(Pairing *p, guint side, gboolean seen)
{
        if (!seen) {
                p->counts.unseen_segments += p->loose[side].segments;
                p->counts.unseen_bytes += p->loose[side].bytes;
        }
        p->loose[side].segments = 0;
        p->loose[side].bytes = 0;
}

/* The call in out, of client, is about to be written: what it says of its connection. */
void pairing_mark_call(Pairing *p, guint client, CapturedMessage *out,
                       const CaptureContext *context);

void pairing_clear(Pairing *p, const CaptureContext *context);

#endif
