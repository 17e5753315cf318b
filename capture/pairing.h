/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Messages in progress on a connection, one a direction, and the calls that still wait for their
 * return.
 *
 * A message is opened at its first byte, grows, begins when its kind is known, and ends. A call is
 * stamped at its first byte, a return at its last. So a node's own calls lie inside the calls into
 * it, also where it streams. A return is paired with the oldest call that waits, or with the call
 * of its key.
 *
 * A hole hides how many messages it held. That does no harm where one call is made at a time. On a
 * pipelined connection nobody knows from there on which call a return answers. Such returns are
 * counted and not paired, until the order is known again:
 *
 * - at the next call after a return, where the client has always waited for all returns before it
 *   called again;
 * - else at the first call after a silence of twice the longest time that a return has taken.
 */
#pragma once

#include <string.h>

#include "capture/connection-number.h"
#include "capture/held-logins.h"
#include "capture/learned-names.h"
#include "capture/network/sequencer.h"
#include "capture/network/tcp.h"
#include "capture/packet/account.h"
#include "capture/packet/identifiers.h"
#include "capture/pieces.h"
#include "capture/protocol/body-name.h"
#include "capture/protocol/protocol.h"
#include "capture/quic/quic.h"
#include "capture/recent-datagrams.h"
#include "capture/tls/opener.h"
#include "capture/trial.h"
#include "capture/waiting-calls.h"

/* See links.h, settling.h, streams.h. */
typedef struct LinkTable LinkTable;
typedef struct Settling Settling;
typedef struct StreamPool StreamPool;
typedef struct StreamTable StreamTable;

/* Memory that all connections take together. It is bounded. */
typedef struct {
        gdouble share; /* of CAPTURE_MEMORY that there is; 0: all */
        gsize calls;   /* how many waiting calls there is room for */
        gsize buffers; /* bytes that parsers have yet to settle */
        gsize trials;  /* messages that trials keep (choice.h) */
        gsize bodies;  /* of calls that are not written yet */
        PieceMemory pieces;
} CaptureMemory;

/* What of a kind there may be, of which there may be most in CAPTURE_MEMORY. */
static inline gsize capture_memory_share(const CaptureMemory *memory, gsize most)
{
        return memory->share > 0 ? (gsize)((gdouble)most * memory->share) : most;
}

/* What the stages of a capture share; all borrowed. */
typedef struct {
        Sequencer *sequencer;
        Account *account;
        StreamPool *streams;
        CaptureMemory *memory;
        Statements **prepared; /* see Parsed */
        ConnectionNumbers *numbers;
        GString *label;  /* scratch; NULL where no labels, identifiers or tags are wanted */
        GString *values; /* scratch; NULL where no identifiers are wanted */
        Identifiers *identifiers; /* likewise */
        const TagRules *tags;     /* NULL where none are wanted */
        LinkTable *links;
        Settling *settling;
        GHashTable *names;       /* Parsed.names */
        TlsOpening *tls;         /* NULL where nothing is opened */
        QuicOpening *quic;       /* likewise */
        LearnedNames *learned;   /* NULL where no names are wanted */
        gboolean named_by_proxy; /* the PROXY protocol says who calls */
} CaptureContext;

#define NO_SIDE 2

/* The kind of an OpenItem: what of a connection it belongs to. */
enum {
        ITEM_MESSAGE_0,
        ITEM_MESSAGE_1,
        ITEM_HELD,
        ITEM_STREAM,
        ITEM_TLS,
        ITEM_UNACKED,
        ITEM_TRIAL,
        ITEM_LOGINS,
};

/* How the end of a message will be known. */
typedef enum {
        END_BY_CONTENT, /* the protocol says */
        END_BY_CLOSE,   /* the connection's end is its end */
        END_BY_SILENCE, /* when the other side talks, or nobody does */
} MessageEnd;

/* How long the bytes of a message were held up, ns. */
typedef struct {
        gint64 stall, shut, ack, pause; /* of NetworkDelays */
} HeldUp;

typedef struct {
        OpenItem item;
        Stamp first, last; /* of the bytes that were seen */
        char *label;
        BodyName *body;                  /* of a call, where it is looked at; NULL: it is not */
        RequestIdentifiers *identifiers; /* of a call; NULL: none */
        RequestTags *tags;               /* likewise */
        Link link;       /* of a call: the first message with the same content; see links.h */
        Pieces *pieces;  /* NULL before the first */
        guint64 number;  /* of a call: with the port, its id */
        guint64 key;     /* by which it is paired, if keyed */
        guint64 bytes;   /* so far */
        Outcome outcome; /* of a return */
        HeldUp held_up;
        gint64 gap;    /* ns between its bytes and the next, if these are of this message */
        guint32 seq;   /* of the first byte */
        guint16 topic; /* Parsed.topic */
        guint8 kind;   /* MessageKind */
        guint8 end;    /* MessageEnd */
        guint8 open, seen, written, keyed;
        guint8 session;     /* SessionCall: of a call */
        guint8 lost;        /* a return that answers no call, and was dropped */
        guint8 stray;       /* a return: nobody knows which call it answers */
        guint8 beyond;      /* a call that is not among the waiting calls */
        guint8 by_run;      /* packets were cut, so that no parser has begun it */
        guint8 several;     /* a call by run that may be more than one */
        guint8 unseen;      /* by run, and no byte of its beginning was captured */
        guint8 transaction; /* Parsed.transaction */
        guint8 fetch;       /* Carried.fetch */
        guint8 left;        /* CallEnding: its side sends no more, since `last` */
        guint8 gap_cause;   /* TcpStall of gap: TCP_ACK_DELAYED or TCP_PAUSED */
} MessageInProgress;

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

/* What came before the first call of a connection. NO_TIME: not seen. */
typedef struct {
        gint64 asked;   /* the client's SYN, */
        gint64 again;   /* and its last */
        gint64 ready;   /* the client answers the other SYN */
        gint64 secured; /* the last record of TLS that is no data */
        gint64 greeted; /* the last message of the session: greeting, login */
} ConnectionOpening;

/* A return that may be sent again. Until it is acknowledged it waits in the sequencer. */
typedef struct {
        OpenItem item;
        guint64 message; /* its number there */
        guint32 seq;     /* after its last byte, or after more */
        guint8 fresh;    /* seq is not known yet */
} UnackedReturn;

typedef struct {
        MessageInProgress message[2]; /* by the side that sends */
        WaitingCalls calls;
        CallOrder order;
        StreamTable *streams; /* calls whose messages come in parts; NULL before the first */
        Trial *trial;         /* NULL where there is none */
        OpenItem trial_item;
        HeldLogins *logins; /* NULL before the first */
        NodeId node[2];
        guint16 port[2];
        guint8 client;    /* the side that calls, or NO_SIDE where that is not known */
        guint8 opener;    /* the side that opened the connection, or NO_SIDE: not seen */
        guint8 datagrams; /* messages have no sequence numbers */
        guint8 cut;       /* packets were cut where their bytes had to be seen */
        guint8 by_run;    /* a message has gone on by run, which may be a call that waits */
        guint8 called;    /* a call was written */
        guint32 number;   /* of the connection; 0: see connection-number.h */
        ConnectionOpening opening;
        UnackedReturn unacked[2]; /* by the side that sends */
        gint64 stall[2]; /* ns by which the message that side is about to begin was held up */
        PairingCounts counts;
        struct {
                guint32 segments;
                guint64 bytes;
        } loose[2];      /* segments of a side that may yet turn out to be in no message */
        guint8 heard[2]; /* a side has sent bytes since its last return, and since a call came to it
                            while none waited */
} Pairing;

void pairing_init(Pairing *p, const NodeId node[2], const guint16 port[2]);

/* A message of side, which has an id of the client's port and a number. */
static inline CapturedMessage pairing_message(const Pairing *p, guint side, MessageOp op,
                                              Stamp stamp, guint16 port, guint64 number)
{
        return (CapturedMessage){ .stamp = stamp,
                                  .op = op,
                                  .sender = p->node[side],
                                  .receiver = p->node[!side],
                                  .port = port,
                                  .has_id = TRUE,
                                  .number = number };
}

/* A message of side opens with the byte of this sequence number. stamp: when it was seen; NULL:
 * nobody saw it. */
void pairing_open(Pairing *p, guint side, guint32 seq, const Stamp *stamp,
                  const CaptureContext *context);

/* If the open message of side is a call, it carries this content: see links.h. */
void pairing_set_content(Pairing *p, guint side, guint64 content, const CaptureContext *context);

/* Appends a word to a label. */
static inline void label_go_on(char **label, const char *word)
{
        char *before = *label;

        *label = g_strconcat(before, " ", word, NULL);
        g_free(before);
}

/* An open message asks for a job of this name. Its label says so, if it has one. */
static inline void message_name(MessageInProgress *m, const char *name)
{
        if (m->label && !m->written)
                label_go_on(&m->label, name);
}

/* Whether a label may go on with the name of an operation: that of a POST without one. */
static inline gboolean label_is_unnamed(const char *label)
{
        return label && strncmp(label, "POST ", 5) == 0 && !strchr(label + 5, ' ');
}

/* The first bytes of the body of a call, if anything in it is looked for; NULL: nothing is. */
BodyName *pairing_body_new(BodyKind kind, const char *label, const CaptureContext *context);

/* Takes from the body of a call that is written the name that its label goes on with, identifiers
 * and tags: into call, which also says when it began. */
void pairing_take_body(BodyName **body, CapturedMessage *call, const CaptureContext *context);

/* The open message of side carries content. Of several, the first that is a link stands for all.
 * known: it is a link only if another node has sent the same content. */
void pairing_link(Pairing *p, guint side, guint64 content, gboolean known,
                  const CaptureContext *context);

/* The open message of side is a return that brings contents out of a queue. Each content is a
 * message, or a call if it will be settled. Its number is the number of the call plus its place; if
 * the call was not seen, the number of the return plus its place. If the call did not wait or was
 * not seen, only contents that another node had put in count. */
void pairing_deliver(Pairing *p, guint side, const Carried *carried, const CaptureContext *context);

/* The open message of side puts contents into a queue, or is the return of a call that has. The
 * call becomes the first message that carried them. */
void pairing_put(Pairing *p, guint side, const Carried *carried, const CaptureContext *context);

/* The open message of side settles, or names, contents that were taken out of a queue. If it
 * settles them it is their return. Whether any was taken. */
gboolean pairing_settle_taken(Pairing *p, guint side, const Carried *carried,
                              const CaptureContext *context);

/* n more bytes belong to the open message, seen or not. */
static inline void pairing_count(Pairing *p, guint side, guint64 n)
{
        p->message[side].bytes += n;
}

/* More bytes of the open message were seen at stamp. */
void pairing_grow(Pairing *p, guint side, Stamp stamp, const CaptureContext *context);

/* Bytes of side were held up for ns. If bytes had been missing, that holds for the open message,
 * or for the one that begins now. If bytes are sent again and no message is open, it holds for
 * the last call of side that waits; if none does, for its return that is not acknowledged. */
void pairing_stall(Pairing *p, guint side, TcpStall stall, gint64 ns,
                   const CaptureContext *context);

/* The last message of side ended in a segment that was seen at time. It could be read ns later. */
void pairing_keep(Pairing *p, guint side, gint64 time, gint64 ns, const CaptureContext *context);

/* A segment of TLS came before the first call. Unless it has begun a message, it is handshake. */
static inline void pairing_see_handshake(Pairing *p, gint64 time)
{
        if (p->opening.greeted == NO_TIME && !p->message[0].open && !p->message[1].open)
                p->opening.secured = time;
}

static inline void held_up_add(HeldUp *h, TcpStall stall, gint64 ns)
{
        gint64 *sum = stall == TCP_ACK_DELAYED ? &h->ack
                      : stall == TCP_PAUSED    ? &h->pause
                                               : &h->stall;

        *sum = MAX(*sum + ns, 0);
        if (stall == TCP_WINDOW)
                h->shut += ns;
}

void held_up_put(const HeldUp *held_up, gint64 resent, CapturedMessage *message);

/* What held the message up; resent: NetworkDelays.resent. */
static inline void held_up_write(const HeldUp *h, gint64 resent, CapturedMessage *message)
{
        if (G_UNLIKELY(h->stall | h->ack | h->pause | resent))
                held_up_put(h, resent, message);
}

static inline gboolean pairing_has_unacked(const Pairing *p)
{
        return open_item_is_open(&p->unacked[0].item) || open_item_is_open(&p->unacked[1].item);
}

/* All bytes of side up to next were seen, and up to acked acknowledged. Its return that is not
 * acknowledged waits no longer if it is now, or if acknowledgements are not seen. */
static inline void pairing_see_ack(Pairing *p, guint side, guint32 next, guint32 acked,
                                   gboolean acks_seen)
{
        UnackedReturn *u = &p->unacked[side];
        if (!open_item_is_open(&u->item))
                return;
        if (u->fresh)
                u->seq = next;
        u->fresh = FALSE;
        if (!acks_seen || (gint32)(acked - u->seq) >= 0)
                sequencer_close(&u->item);
}

/* The open message begins: its kind is known, and how it will end. parsed has its key and its
 * call, and the context's label is its name; NULL: there was no parser. FALSE: it repeats a call
 * that waits, and is to be abandoned. */
gboolean pairing_begin(Pairing *p, guint side, MessageKind kind, MessageEnd end,
                       const Parsed *parsed, Stamp stamp, const CaptureContext *context);

/* The open message is only a part of the message of key: see streams.h. */
void pairing_begin_part(Pairing *p, guint side, guint64 key, Stamp stamp);

/* The context's values are in the open message of side, a call. whole: their last word ends
 * there. */
void pairing_values(Pairing *p, guint side, gboolean whole, const CaptureContext *context);

/* A piece of the open message begins at stamp; it ends. endless: the message says that it has no
 * end. See pieces.h. */
void pairing_piece_begin(Pairing *p, guint side, guint32 seq, gboolean endless, Stamp stamp,
                         const CaptureContext *context);
void pairing_piece_end(Pairing *p, guint side, Stamp stamp, const CaptureContext *context);

/* Writes a piece of a message of side as a message: a WritePiece, whose user is a PieceUser. */
typedef struct {
        Pairing *pairing;
        guint side;
        const CaptureContext *context;
} PieceUser;
void pairing_piece_write(gpointer user, const Piece *piece);

/* How the open message will end, if that changes. */
void pairing_set_end(Pairing *p, guint side, MessageEnd end, const CaptureContext *context);

/* The open message is complete at stamp. If none is open, nothing happens. */
void pairing_end(Pairing *p, guint side, Stamp stamp, const CaptureContext *context);

/* The open message was none. Unless it is written, it does not wait for a return, either. */
void pairing_abandon(Pairing *p, guint side, const CaptureContext *context);

/* The open message of side was taken for a call or a return, and is of this kind. If it is written
 * already it stays what it was. */
void pairing_recast(Pairing *p, guint side, MessageKind kind, const CaptureContext *context);

/* The trace can wait for the open message of side no longer. It is written as far as it is
 * known, or else it will be stamped later than its bytes. */
void pairing_settle(Pairing *p, guint side, const CaptureContext *context);

/* The bytes of side have a hole, in which there may be any number of messages. */
void pairing_lose_order(Pairing *p, guint side);

/* Packets were cut, so that one call may be more than one, or may be missing. */
void pairing_doubt(Pairing *p, const CaptureContext *context);

/* A hole in what side sends may hide returns to the calls that wait. */
void pairing_doubt_returns(Pairing *p, guint side);

/* Writes, for each call by side that waits, that it got no return, and when that was known. Not if
 * its return may only have been missed. */
void pairing_give_up(Pairing *p, guint side, CallEnding how, Stamp stamp,
                     const CaptureContext *context);

/* Side ends within a return that it sends. Without the rest its call has no answer, unless bytes
 * may have been missed, the other side had left, or the return tells of a failure: then it stands
 * as it is. */
void pairing_cut_short(Pairing *p, guint side, const CaptureContext *context);

/* The calls that wait will not get a return. */
void pairing_forget_calls(Pairing *p, const CaptureContext *context);

/* Parsed.call of the oldest call that side may answer, or CALL_NONE. */
guint8 pairing_call(const Pairing *p, guint side);

/* Whether the oldest call that side may answer was a run that no parser has seen. */
gboolean pairing_call_is_run(const Pairing *p, guint side);

/* Forgets the calls that wait, but for the first n. */
void pairing_keep_calls(Pairing *p, guint n);

/* Gives out and counts a call or a one-way message. */
static inline void pairing_give(Pairing *p, const CapturedMessage *out,
                                const CaptureContext *context)
{
        account_add(context->account, out->op == CALL_SENT ? ACCOUNT_CALLS : ACCOUNT_ONE_WAY);
        p->counts.written += out->op == CALL_SENT;
        sequencer_add(context->sequencer, out);
}

/* The trial of the protocol is over: its messages are given out (choice.h). Nothing where there is
 * none. */
static inline void pairing_pass_trial(Pairing *p, const CaptureContext *context)
{
        Trial *t = g_steal_pointer(&p->trial);
        if (!t)
                return;
        for (guint i = 0; i < t->n_messages; i++)
                pairing_give(p, &t->messages[i], context);
        context->memory->trials -= t->n_messages;
        t->n_messages = 0;
        trial_free(t);
        sequencer_close(&p->trial_item);
}

/* The connection ends: logins that were all it did are calls. */
void pairing_give_logins(Pairing *p, const CaptureContext *context);

/* Takes the oldest call that side may answer, and its number. FALSE: there is none. */
gboolean pairing_take_call(Pairing *p, guint side, guint64 *number);

/* A segment with n bytes of side is about to be shown. */
static inline void pairing_see_payload(Pairing *p, guint side, gsize n)
{
        p->loose[side].segments++;
        p->loose[side].bytes += n;
        p->heard[side] = TRUE;
}

/* Accounts for the segments of side since the last time. seen: they are in a message, or are
 * known to be in none. */
static inline void pairing_account(Pairing *p, guint side, gboolean seen)
{
        if (!seen) {
                p->counts.unseen_segments += p->loose[side].segments;
                p->counts.unseen_bytes += p->loose[side].bytes;
        }
        p->loose[side].segments = 0;
        p->loose[side].bytes = 0;
}

/* The call out, of client, is about to be written. Fills in what it says of its connection. */
void pairing_mark_call(Pairing *p, guint client, CapturedMessage *out,
                       const CaptureContext *context);

void pairing_clear(Pairing *p, const CaptureContext *context);

/* A segment of the connection, before its first call. */
static inline void pairing_see_opening(ConnectionOpening *o, const TcpSegment *segment, gint64 time)
{
        if (o->asked == NO_TIME)
                return;
        if ((segment->flags & (TCP_SYN | TCP_ACK)) == TCP_SYN && time - o->asked >= COPY_TIME)
                o->again = time;
        else if (!(segment->flags & TCP_SYN) && o->ready == NO_TIME)
                o->ready = time;
}
