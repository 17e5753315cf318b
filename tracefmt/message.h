/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A message: one line of a trace. It is one observation of a call, a return or a one-way message
 * between two nodes (paper, sections 4 and 6.5).
 */
#pragma once

#include "tracefmt/node-table.h"

/* Where an observation was not made. No stamp of a trace has this value. */
#define NO_TIME G_MININT64

/* Stamps lie from -MAX_STAMP to MAX_STAMP, in the year 2116. The difference of any two, and a few
 * days for skew windows, fit 64 bits of ns. */
#define MAX_STAMP ((((gint64)1 << 62) / 1000000000 - 200000) * 1000000000 - 1)

/* The order matters: bit 0 is the side (0 the sender's or a tap's, 1 the
 * receiver's), the rest is what it is. */
typedef enum {
        CALL_SENT,
        CALL_RECV,
        RET_SENT,
        RET_RECV,
        MSG_SENT,
        MSG_RECV,
        N_MESSAGE_OPS,
} MessageOp;

/* Ids up to this long are compared as words. */
enum { SHORT_ID = 16 };

typedef struct {
        gint64 time; /* ns since the Unix epoch */
        NodeId sender, receiver;
        MessageOp op;
        guint32 id_length;    /* bytes; 0 where the message has no id ("-") */
        guint32 attrs_length; /* bytes; 0 where it has no attributes */
        const char *id;       /* not NUL-terminated, as written in the trace */
        const char *attrs;    /* "key=value key=value", as written */
        /* The bytes of an id of at most SHORT_ID bytes, then zeros; for a longer one a hash,
         * which other ids may share. */
        guint64 id_words[SHORT_ID / 8];
} Message; /* id and attrs are borrowed from whoever made the message */

/* "CALL_SENT" and so on. */
const char *message_op_name(MessageOp op);

static inline gboolean message_is_call(const Message *m)
{
        return m->op <= CALL_RECV;
}

static inline gboolean message_is_return(const Message *m)
{
        return m->op == RET_SENT || m->op == RET_RECV;
}

/* The node that saw the message, on whose clock its stamp is. */
static inline NodeId message_observer(const Message *m)
{
        return m->op & 1 ? m->receiver : m->sender;
}

/* Sets all that is of the id; "-" is none. id is borrowed. */
void message_set_id(Message *m, const char *id, gsize n);
