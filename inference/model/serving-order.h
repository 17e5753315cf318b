/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Whether a node serves in order, as event loops and queues do. Of two calls into the node that
 * wait for the same thing, the call that has waited longer goes on first.
 *
 * The outputs of a node are its calls and its replies, in order of time. The trigger of an output
 * is the event of the same parent since which its delay counts. The class of an output is the kind
 * of the trigger and the output's own kind. Two outputs of different parents are inverted if the
 * output with the later trigger comes first.
 *
 * For each class, and each pair of classes, a factor is learned: how much rarer inversions are than
 * delays alone would make them. It is learned from pairs of outputs whose triggers are nearly
 * certain. Each inversion then multiplies the likelihood of an output by its factor.
 */
#pragma once

#include "inference/inference.h"
#include "inference/model/delay-density.h"
#include "inference/model/placed-family.h"

typedef struct {
        gint64 time;
        gint64 trigger;
        guint32 class;  /* NO_CLASS: nothing is known about this output */
        guint32 parent; /* its likeliest parent, as far as known */
        guint32 row;    /* row of the densities of its delay */
        float share;    /* the share of belief that it has this trigger */
} Output;

#define NO_CLASS G_MAXUINT32

/* An output, as it was before a swap. */
typedef struct {
        guint32 output;
        Output was;
} ReplacedOutput;

/* Pairs of outputs: their number, the number of inverted ones, and the number of inversions
 * expected by the delays. */
typedef struct {
        double n, inverted, expected;
} ServedPairs;

typedef struct {
        Output *outputs; /* in order of time */
        guint32 n, n_classes;
        gboolean in_use;     /* some factor is less than 1 */
        gboolean last_first; /* of two the later goes on first: set while that is tried */
        gboolean *may;       /* by class: whether it may be in order */
        double *factor;      /* by class: the factor of an inversion; 1: no order */
        float *mixed;        /* by pair of classes: the factor of an inversion; NULL: no order */
        ServedPairs *pairs;  /* by class: the pairs learned from */
        ServedPairs *kept;   /* by class: the pairs kept from earlier outputs */
        gboolean watched;    /* it notes the outputs that the trellis and the chain find */
        gboolean by_chain;   /* by order the chain finds parents that beliefs do not come to */
        float *said;  /* by candidate: its ratio by an event loop, while the node is supposed to be
                         one; NULL: it is not */
        gint32 *logs; /* of the factors, while a chain runs */
        ReplacedOutput replaced[2 * (MOST_CHILDREN + 1)]; /* by the latest swap */
        guint32 n_replaced;
} ServingOrder;

static inline gboolean serving_order_counts(const ServingOrder *o)
{
        return o->watched && o->in_use;
}

/* Makes an order with no outputs and no factors. */
void serving_order_init(ServingOrder *o, guint32 n_classes);
/* The same, with the classes of outputs of a node; none if it has over MOST_ORDERED callees. */
void serving_order_init_for(ServingOrder *o, guint32 n_callees);
void serving_order_clear(ServingOrder *o);

/* Writes what was learned to bytes, or reads it into an order with the same number of classes. */
void serving_order_bytes(ServingOrder *o, Bytes *b);

/* Takes over the outputs, whose parents are not known yet. Keeps the factors. */
void serving_order_take(ServingOrder *o, Output *outputs, guint32 n);

/* Makes outputs from the calls and the replies of a node. output: Problem.output. */
void serving_order_begin(ServingOrder *o, const NodeProblem *node, const guint32 *output);

/* Starts to watch, if there are classes. To be called when beliefs have nearly settled. */
void serving_order_watch(ServingOrder *o);

/* Keeps the pairs learned from last. They count again with other outputs; half: by half. */
void serving_order_keep(ServingOrder *o, gboolean half);

/* Forgets what is known about outputs. */
void serving_order_forget(ServingOrder *o);

/* Learns factors from what is known about outputs. */
void serving_order_learn(ServingOrder *o, DelayDensities *delays);

/* The same, but treats each class as ordered. Belief propagation then shows if that is right. */
void serving_order_suppose(ServingOrder *o, DelayDensities *delays);

/* Sets the factor of all classes. */
void serving_order_set(ServingOrder *o, double factor);

/* Sets whether a class may be in order. Pairs of other classes do not count. */
void serving_order_allow(ServingOrder *o, guint32 class, gboolean may);

/* Drops what was learned: no class is in order. */
void serving_order_drop(ServingOrder *o);

/* serving_order_save() returns what was learned, to be freed with g_free(). serving_order_restore()
 * returns to it. */
gpointer serving_order_save(const ServingOrder *o);
void serving_order_restore(ServingOrder *o, gconstpointer saved);

/* The number of counts of pairs. Each class has one. After these, each two classes have one, if
 * there are not too many. */
gsize serving_order_n_counts(const ServingOrder *o);

/* Adds the pairs of outputs to the counts. */
void serving_order_count(const ServingOrder *o, DelayDensities *delays, ServedPairs *pairs);

/* The part of the outputs with a known trigger whose triggers are nearly certain. */
double serving_order_sure(const ServingOrder *o);

/* The ratio of the odds of an inversion in all pairs of one class to the odds by delays alone. */
double serving_order_odds(const ServingOrder *o, const ServedPairs *pairs);

/* Makes factors of counts of pairs. The factor of a class backs off to the factor of all. */
void serving_order_fit(ServingOrder *o, const ServedPairs *pairs);

/* For the trellis. Notes the trigger of an output if its share is greater than the share noted so
 * far. serving_order_clear_note() comes first. It drops what this parent noted about the output in
 * an earlier run. */
void serving_order_clear_note(ServingOrder *o, guint32 output, guint32 parent);
void serving_order_note(ServingOrder *o, const PlacedOutput *placed, double share);

/* For the chain, as in EvidenceKind. serving_order_place() follows serving_order_begin_chain() for
 * each family. */
void serving_order_begin_chain(ServingOrder *o);
void serving_order_place(ServingOrder *o, const Family *f);
gint64 serving_order_swap(ServingOrder *o, const Family f[2]);
void serving_order_undo(ServingOrder *o);

/* The log likelihood, in 1/LOG_UNIT, of the inversions of an output. log: the logs of all factors,
 * in the order of counts, from serving_order_get_logs(). */
gint64 serving_order_log(const ServingOrder *o, guint32 at, const gint32 *log);
void serving_order_get_logs(const ServingOrder *o, gint32 *log);

/* The factor by which inversions change the likelihood that a parent made output `at` with this
 * class and trigger; 1 without inversions. */
double serving_order_factor(const ServingOrder *o, guint32 at, guint32 class, gint64 trigger,
                            guint32 parent);
