/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What caused each message of a trace, and what follows from that for the message: the path
 * it ends, its *past*, and what it leads to, its *future*.
 *
 * A past is a path prefix, the nodes from a root to the message's receiver. A future is
 * what the messages that it causes are, what these cause, and so on, some steps on. Only
 * those that many messages have in common are told apart: a rarer past is that of no path,
 * a rarer future ends earlier.
 */
#ifndef RAVEL_MESSAGE_CAUSES_H
#define RAVEL_MESSAGE_CAUSES_H

#include "convolution/edge-trace.h"
#include "convolution/prefix-tree.h"

#define NO_MESSAGE ((guint32)-1)

/* A message is a number: those of an edge follow each other, in the order in which they
 * were sent. */
typedef struct {
        const EdgeTraces *traces; /* borrowed */
        const gboolean *is_root;  /* by node; borrowed */
        guint32 n;                /* messages */
        guint32 *first;           /* by edge, n_edges + 1 of them */
        guint32 *edge;            /* by message */
        guint32 **arrived;        /* by edge: the message that has this index in received; NULL
                                     where that is the index in sent */
        guint32 *cause;           /* by message, or NO_MESSAGE */
        float *probability;       /* by message: of the cause */
        guint32 *prefix;          /* by message, or NO_PREFIX where no root leads to it */
        PrefixTree *tree;
        guint32 *past;      /* by prefix: among those that end at its node; NO_PREFIX: too rare */
        guint32 *n_pasts;   /* by node, of those */
        guint32 *future;    /* by message: among those of the messages out of its sender */
        guint32 *n_futures; /* by node, of those */
} MessageCauses;

/* Without causes. At most 2^32 - 2 messages. */
MessageCauses *message_causes_new(const EdgeTraces *traces, const gboolean *is_root);
void message_causes_free(MessageCauses *causes);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(MessageCauses, message_causes_free)

/* The message that has this index in received of its edge. */
static inline guint32 message_that_arrived(const MessageCauses *c, guint edge, guint32 index)
{
        return c->first[edge] + (c->arrived[edge] ? c->arrived[edge][index] : index);
}

/* How long the sender took after the message that caused this one, which has a cause: ns. */
gint64 message_delay(const MessageCauses *causes, guint32 message);

/* Finds prefixes, pasts and futures from the causes, these for so many steps. A past or a future
 * that fewer than common messages have is not told apart. Linear. */
void message_causes_trace(MessageCauses *causes, guint32 common, guint steps);

#endif
