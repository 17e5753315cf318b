/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Finds the causes of the messages out of a node, for all its edges together: the joint method's
 * counterpart of FindCausedMessages (paper, Figure 6).
 *
 * A message into the node is a *cause*, a message out of the node an *effect*. A *passage* is an
 * in-edge and an out-edge whose messages are correlated, with the windows of delay in which they
 * are. An effect has one cause or none. A cause has one effect or none. It may have more, *beside*
 * each other, if the node sends several messages for one.
 *
 * A passage has two parameters: the share of causes that have an effect this way, and the density
 * of the delay. An out-edge has one: the rate of effects without a cause. They are learned by
 * expectation maximisation: node-causes.c has the formulas.
 *
 * A better explanation of an effect leaves less for other passages (explaining away). So derived
 * correlations (section 5.3.1) fade.
 */
#pragma once

#include "convolution/edge-trace.h"
#include "convolution/joint/delay-window.h"

/* Elements of the joint method that can be left out, to measure what each is worth. */
typedef enum {
        JOINT_EXPLAINING_AWAY = 1 << 0, /* an explanation of an effect leaves less for others */
        JOINT_LIMIT = 1 << 1,           /* a cause has one effect at most */
        JOINT_BESIDE = 1 << 2,          /* or several, if many effects would else have no cause */
        JOINT_SECOND_LOOK = 1 << 3,     /* correlations of unexplained messages are searched */
        JOINT_PRICE = 1 << 4,           /* each group of a density costs a passage some messages */
        JOINT_PAST = 1 << 5,            /* shares are learned for each past */
        JOINT_FUTURE = 1 << 6,          /* shares are learned for each future */
        JOINT_ACCIDENT = 1 << 7,        /* vertices that wrong causes explain are left out */
        JOINT_RETURN = 1 << 8,  /* vertices that return to a node without a derived correlation are
                                   left out */
        JOINT_ORDER = 1 << 9,   /* effects go on from the last answer */
        JOINT_ANSWER = 1 << 10, /* an answer goes back to a node that sent something */
} JointElement;

typedef struct NodeCauses NodeCauses;

/* traces is borrowed. least is how many messages a passage needs; without: JointElements. */
NodeCauses *node_causes_new(const EdgeTraces *traces, NodeId node, double least, guint without);
void node_causes_free(NodeCauses *causes);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(NodeCauses, node_causes_free)

/* Adds a passage from in-edge `in` to out-edge `out`, each counted at the node, with the windows
 * (at least one) found in c. beside: its effects are beside any others of a cause. */
void node_causes_add_passage(NodeCauses *causes, guint in, guint out, const GArray *windows,
                             const float *c, const float *background, const Lags *lags,
                             const Quanta *quanta, gboolean beside);

/* Learns all parameters, in `rounds` rounds from the present state on. */
void node_causes_learn(NodeCauses *causes, guint rounds);

/* After learning, set times, an array of gint64. The first: when the effects on an out-edge were
 * sent that probably have no cause. The second: when the causes on an in-edge were received that
 * probably have no effect, not counting effects beside others. */
void node_causes_unexplained(const NodeCauses *causes, guint out, GArray *times);
void node_causes_childless(const NodeCauses *causes, guint in, GArray *times);

/* Sets the causes' pasts and the effects' futures (message-causes.h). past is the number of each
 * cause's past below n_pasts, in-edge after in-edge in order of received. future is the number of
 * each effect's future below n_futures, out-edge after out-edge in order of sent. No two in-edges
 * share a past, no two out-edges a future, and each number occurs. From now on shares are learned
 * for each past and future. */
void node_causes_set_history(NodeCauses *causes, const guint32 *past, guint n_pasts,
                             const guint32 *future, guint n_futures);

/* Calls found for each effect with a cause: its index in sent of the out-edge, the cause's in
 * received of the in-edge, and the probability. */
typedef void (*CauseFound)(gpointer data, guint out, guint32 effect, guint in, guint32 cause,
                           double probability);
void node_causes_attribute(NodeCauses *causes, CauseFound found, gpointer data);

/* The share of the messages out of the node that its passages explain. */
double node_causes_explained(const NodeCauses *causes);
