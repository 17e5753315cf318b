/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Whether a node works things off in order, as event loops and queues do: of two calls
 * into it that wait for the same, the one that has waited longer goes on first.
 *
 * What a node puts out are its calls and its replies: outputs, in order of time. Each has a
 * trigger, the event of the same parent since which its delay counts, and a class: the kinds of
 * these two. Two outputs are inverted if the later trigger was served first. How much rarer that is
 * than by their delays alone is learned of each class, and of each two, from outputs of which the
 * trigger is hardly in doubt; each inversion with such others then makes an output less likely by
 * so much.
 */
#ifndef RAVEL_SERVING_ORDER_H
#define RAVEL_SERVING_ORDER_H

#include "inference/delay-density.h"

typedef struct {
        gint64 time;
        gint64 trigger;
        guint32 class;  /* NO_CLASS: nothing believed so far */
        guint32 parent; /* whose it is then */
        guint32 row;    /* of the densities: the delay since the trigger */
        float share;    /* how much that is believed */
} Output;

#define NO_CLASS G_MAXUINT32

/* Pairs of outputs: how many, and how many of them are inverted and would be by their
 * delays. */
typedef struct {
        double n, inverted, expected;
} ServedPairs;

typedef struct {
        Output *outputs; /* in order of time */
        guint32 n, n_classes;
        gboolean in_use;    /* anything was learned */
        double *factor;     /* by class: of an inversion; 1: none */
        float *mixed;       /* by two classes: of an inversion between them; NULL: none */
        ServedPairs *pairs; /* by class: learned from, */
        ServedPairs *kept;  /* of which these of earlier outputs */
} ServingOrder;

/* Without outputs: nothing is known of any class. */
void serving_order_init(ServingOrder *o, guint32 n_classes);
void serving_order_clear(ServingOrder *o);

/* From now on these are the outputs, of which nothing is believed; takes over the array. What was
 * learned stays. */
void serving_order_take(ServingOrder *o, Output *outputs, guint32 n);

/* Those that were learned from latest count as well where it is learned from other outputs; half:
 * half as much. */
void serving_order_keep(ServingOrder *o, gboolean half);

/* Nothing is believed any more. */
void serving_order_forget(ServingOrder *o);

/* Learns the factors from what is believed; those above most are none. */
void serving_order_learn(ServingOrder *o, const DelayDensities *delays, double most);

/* The same, supposing more than is seen: classes for which order is not ruled out are taken for
 * ordered. Where calls might as well be the other way round, beliefs show what was supposed. */
void serving_order_suppose(ServingOrder *o, const DelayDensities *delays);

/* Without any that are seen: all classes have this factor. */
void serving_order_set(ServingOrder *o, double factor);

/* Nothing was learned: no class is in order. */
void serving_order_drop(ServingOrder *o);

/* How many counts of pairs there are: for each class, and where these are not too many, then
 * for each two. */
gsize serving_order_n_counts(const ServingOrder *o);

/* Adds the pairs of what is believed. */
void serving_order_count(const ServingOrder *o, const DelayDensities *delays, ServedPairs *pairs);

/* How likely an inversion was in all these pairs of one class, next to what delays alone say: a
 * ratio of odds. */
double serving_order_odds(const ServingOrder *o, const ServedPairs *pairs);

/* Takes such pairs for what is known, and makes factors of them: that of a class leans on that of
 * all. */
void serving_order_fit(ServingOrder *o, const ServedPairs *pairs);

/* How likely its inversions make an output, as a logarithm in 1/LOG_UNIT; log: those of all
 * factors, in the order of counts. */
gint64 serving_order_log(const ServingOrder *o, guint32 at, const gint32 *log);
void serving_order_get_logs(const ServingOrder *o, gint32 *log);

/* How likely output at of a parent is for a class and a trigger, by inversions alone: 1 without
 * one. */
double serving_order_factor(const ServingOrder *o, guint32 at, guint32 class, gint64 trigger,
                            guint32 parent);

#endif
