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
#include "tracefmt/node-table.h"

/* The output graph of Figure 6 as a tree: a vertex is a path prefix, the nodes from a root
 * to a message's receiver. A node may have many vertices.
 */
#define NO_PREFIX ((guint32)-1)

typedef struct {
        guint32 parent; /* NO_PREFIX for a root */
        guint32 next;   /* the next in the same slot of the table; NO_PREFIX: none */
        NodeId node;
        guint32 depth; /* 0 for a root */
        guint32 count; /* messages */
} Prefix;

typedef struct {
        GArray *prefixes; /* of Prefix; parents before their children */
        guint32 *table;   /* the first vertex of each slot */
        guint32 mask;
} PrefixTree;

PrefixTree *prefix_tree_new(void);
void prefix_tree_free(PrefixTree *tree);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(PrefixTree, prefix_tree_free)

/* The vertex of node below parent; adds a new one if needed. Constant time. */
guint32 prefix_tree_add(PrefixTree *tree, guint32 parent, NodeId node);

#define PREFIX(tree, i) (&g_array_index((tree)->prefixes, Prefix, i))

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
