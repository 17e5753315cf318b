/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What caused the messages that leave a node: the joint method's part of
 * FindCausedMessages (paper, Figure 6), for all edges into and out of a node together.
 *
 * A message into the node is a *cause*, one out of it an *effect*. A *passage* is an in-edge
 * with an out-edge whose messages are correlated, and the windows of delay in which they
 * are. Each effect has one cause at most, or comes of its own; each cause has at most one
 * effect, or one an out-edge where the node is seen to send several for one. Within
 * that, a passage has the share of its in-edge's messages that go this way and a density of
 * their delay, and an out-edge a rate of messages that nothing explains. All these are
 * learned by expectation maximisation: given them, how likely each pair of cause and effect
 * is, by the sum-product algorithm for matchings; given that, these.
 *
 * So what explains an effect better leaves nothing to explain for others, and derived
 * correlations (section 5.3.1) fade.
 */
#ifndef RAVEL_NODE_CAUSES_H
#define RAVEL_NODE_CAUSES_H

#include "convolution/edge-trace.h"
#include "convolution/joint/delay-window.h"

/* Elements of the joint method that can be left out, to measure what each is worth. */
typedef enum {
        JOINT_EXPLAINING_AWAY = 1 << 0, /* what explains an effect leaves less for others */
        JOINT_LIMIT = 1 << 1,           /* a cause has one effect at most */
        JOINT_BESIDE = 1 << 2,          /* or several, if many effects would have no cause else */
        JOINT_SECOND_LOOK = 1 << 3,     /* correlations of unexplained messages are searched */
        JOINT_PRICE = 1 << 4,           /* each group of a density costs a passage some messages */
        JOINT_PAST = 1 << 5,            /* shares are learned for each past */
        JOINT_FUTURE = 1 << 6,          /* shares are learned for each future */
        JOINT_ACCIDENT = 1 << 7,        /* vertices that wrong causes explain are left out */
        JOINT_RETURN = 1 << 8,  /* vertices that return to a node without a derived correlation are
                                   left out */
        JOINT_ORDER = 1 << 9,   /* effects go on from the last answer */
        JOINT_ANSWER = 1 << 10, /* an answer goes where something came from */
} JointElement;

typedef struct NodeCauses NodeCauses;

/* traces is borrowed. least is how many messages a passage needs; without: JointElements. */
NodeCauses *node_causes_new(const EdgeTraces *traces, NodeId node, double least, guint without);
void node_causes_free(NodeCauses *causes);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(NodeCauses, node_causes_free)

/* A passage from in-edge in to out-edge out, each counted at the node, with windows (at least
 * one) found in c. beside: causes have such an effect beside any others. */
void node_causes_add_passage(NodeCauses *causes, guint in, guint out, const GArray *windows,
                             const float *c, const float *background, const Lags *lags,
                             const Quanta *quanta, gboolean beside);

/* Learns everything in some rounds, from the present state on. */
void node_causes_learn(NodeCauses *causes, guint rounds);

/* After learning: the times when messages of an out-edge were sent that probably have no cause; and
 * the times when messages of an in-edge were received that probably have no effect, not counting
 * effects beside others. times is of gint64. */
void node_causes_unexplained(const NodeCauses *causes, guint out, GArray *times);
void node_causes_childless(const NodeCauses *causes, guint in, GArray *times);

/* What is known of the causes' pasts and the effects' futures (message-causes.h): which of
 * n_pasts each cause has, in-edge after in-edge in order of received, and which of
 * n_futures each effect has, out-edge after out-edge in order of sent. No two in-edges
 * share a past, no two out-edges a future, and each occurs. Shares are from then on learned
 * for each past and future. Borrowed until the next call. */
void node_causes_set_history(NodeCauses *causes, const guint32 *past, guint n_pasts,
                             const guint32 *future, guint n_futures);

/* Calls found for each effect that has a cause: indices in sent of out-edge and in received of
 * in-edge, and how likely it is. */
typedef void (*CauseFound)(gpointer data, guint out, guint32 effect, guint in, guint32 cause,
                           double probability);
void node_causes_attribute(NodeCauses *causes, CauseFound found, gpointer data);

/* The share of the messages out of the node that its passages explain. */
double node_causes_explained(const NodeCauses *causes);

#endif
