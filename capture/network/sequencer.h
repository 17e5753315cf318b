/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Messages leave in the order of their time, though some are known later than others. A call is
 * stamped at its first byte, but some bytes pass until it is known for a call, and is complete.
 *
 * Whoever has begun to see a message keeps an *open item* at the earliest stamp that it may get.
 * Messages earlier than every open item go out; the others wait. Items that stay open longer
 * than the patience are overdue, and their owner must settle them, so what waits is bounded in
 * time. It is bounded in number too: when too many messages wait, the patience is over at once.
 */
#pragma once

#include "base/outcome.h"
#include "capture/packet/identifiers.h"
#include "capture/packet/packet.h"
#include "tracefmt/message.h"

/* See request-tags.h. */
typedef struct RequestTags RequestTags;

/* How a call ended that got no return. */
typedef enum {
        ENDING_NONE,   /* it is answered, or nobody knows */
        ENDING_RESET,  /* its connection, or its stream, was reset */
        ENDING_CLOSED, /* its connection was closed */
} CallEnding;

/* The id of a message: the port of whom it is, and a number. */
typedef struct {
        guint32 number;
        guint16 port;
        guint8 some;  /* FALSE: of none */
        guint8 relay; /* the node that passes the message on has taken charge: a mail server */
} Link;

/* How the network delayed a message, ns; 0: not, or not known (docs/trace-format.md). */
typedef struct {
        gint64 opened;          /* of the first call of a connection: since its SYN */
        gint64 tcp, tls, login; /* parts of opened */
        gint64 stall;           /* of a call or a return: its bytes were held up */
        gint64 shut;            /* the part of stall in which the window was 0 */
        gint64 ack;             /* its sender waited for a delayed acknowledgement */
        gint64 pause;           /* in it, its sender had nothing to send */
        gint64 resent; /* of a return: until bytes of its call came again; of a call: its SYN */
        gint64 again;  /* of a return: until its bytes came again */
} NetworkDelays;

typedef struct {
        Stamp stamp;
        MessageOp op; /* the _SENT ones: whose side it is comes later */
        NodeId sender, receiver;
        guint16 port; /* the client's; with number, the id */
        gboolean has_id;
        guint64 number;
        guint64 bytes;         /* of its payload; 0: not known */
        gint64 duration;       /* ns between first and last byte */
        NetworkDelays *delays; /* owned; NULL: none */
        guint32 connection;    /* of a call: its number; 0: none */
        gboolean transaction;  /* of a return: one is open after it */
        guint8 fetch;          /* of a call: FetchKind (protocol.h) */
        Outcome outcome;       /* of a return */
        guint8 ending; /* CallEnding; if not none, it is no return: nobody answers the call */
        Link link;     /* the first message with what this one carries: see links.h */
        char *label;   /* owned; NULL where there is none */
        RequestIdentifiers *identifiers; /* likewise */
        RequestTags *tags;               /* likewise */
} CapturedMessage;

/* Frees what message owns. */
void captured_message_clear(CapturedMessage *message);

typedef struct OpenItem OpenItem;
typedef struct Sequencer Sequencer;
struct OpenItem {
        Sequencer *in; /* NULL when it is not open */
        guint place;   /* there */
        guint kind;    /* the owner's, to know which of its items this is */
        gint64 time;
};

/* patience: ns that an item may stay open. disorder: ns by which a stamp may be
 * earlier than one that came before it, where no item announced it. */
Sequencer *sequencer_new(gint64 patience, gint64 disorder);
/* From now on at most `most` messages wait. Without this there is no bound. */
void sequencer_bound(Sequencer *sequencer, guint most);
void sequencer_free(Sequencer *sequencer);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Sequencer, sequencer_free)

static inline gboolean open_item_is_open(const OpenItem *item)
{
        return item->in != NULL;
}

/* Opens item at time, or moves it there. Constant time when times rise, else that of the
 * logarithm of how many are open. */
void sequencer_open(Sequencer *sequencer, OpenItem *item, gint64 time);

/* item is open. */
void sequencer_remove(OpenItem *item);

/* Nothing where it is not open. */
static inline void sequencer_close(OpenItem *item)
{
        if (item->in)
                sequencer_remove(item);
}

/* Takes message, label, delays, identifiers, tags and all. Returns its number. */
guint64 sequencer_add(Sequencer *sequencer, const CapturedMessage *message);

/* The delays of a message that waits, by its number. An item that was opened at its stamp before it
 * was added, and is open still, holds it. */
NetworkDelays *sequencer_delays(Sequencer *sequencer, guint64 number);

/* An item that has been open for too long at now, or NULL. Its owner closes or
 * moves it before asking again. */
OpenItem *sequencer_overdue(Sequencer *sequencer, gint64 now);

/* The next message in order that nothing can come before, given that it is now.
 * FALSE where there is none. Label, identifiers and tags are the caller's to free. */
gboolean sequencer_next(Sequencer *sequencer, gint64 now, CapturedMessage *message);

/* The clock was set back: what waits goes out before all that comes after. No
 * item may be open. */
void sequencer_start_anew(Sequencer *sequencer);
