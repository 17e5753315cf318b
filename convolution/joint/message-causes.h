/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The cause of each message of a trace, and two consequences. The *past* of a message is the path
 * that it ends. Its *future* is the messages that it leads to.
 *
 * A past is a path prefix: the nodes from a root to the message's receiver. A future consists of
 * the messages that it causes, the messages that these cause, and so on, for some steps. Only
 * common pasts and futures are told apart. A rare past is the past of no path, and a rare future
 * ends earlier.
 */
#pragma once

#include "convolution/edge-trace.h"
#include "convolution/prefix-tree.h"

#define NO_MESSAGE ((guint32)-1)

/* A message is a number. Messages of one edge follow each other in the order in which they were
 * sent. */
typedef struct {
        const EdgeTraces *traces; /* borrowed */
        const gboolean *is_root;  /* by node; borrowed */
        guint32 n;                /* messages */
        guint32 *first;           /* by edge, n_edges + 1 of them */
        guint32 *edge;            /* by message */
        guint32 **arrived;  /* by edge: index in received -> message; NULL if the order of sent is
                               the same */
        guint32 *cause;     /* by message, or NO_MESSAGE */
        float *probability; /* by message: the probability of its cause */
        guint32 *prefix;    /* by message; NO_PREFIX if no root leads to it */
        PrefixTree *tree;
        guint32 *past;    /* by prefix: its number among pasts that end at its node; NO_PREFIX: too
                             rare */
        guint32 *n_pasts; /* by node: the number of its pasts */
        guint32 *future;  /* by message: its number among futures of messages from its sender */
        guint32 *n_futures; /* by node: the number of its futures */
} MessageCauses;

/* Makes the messages of traces, at most 2^32 - 2, without causes. */
MessageCauses *message_causes_new(const EdgeTraces *traces, const gboolean *is_root);
void message_causes_free(MessageCauses *causes);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(MessageCauses, message_causes_free)

/* The message with this index in received of its edge. */
static inline guint32 message_that_arrived(const MessageCauses *c, guint edge, guint32 index)
{
        return c->first[edge] + (c->arrived[edge] ? c->arrived[edge][index] : index);
}

/* The delay of the sender between the cause of a message, which it must have, and the message, in
 * ns. */
gint64 message_delay(const MessageCauses *causes, guint32 message);

/* Finds prefixes, pasts and futures from the causes. Futures go on for `steps` steps. A past or a
 * future with fewer than `common` messages is not told apart. Linear. */
void message_causes_trace(MessageCauses *causes, guint32 common, guint steps);
