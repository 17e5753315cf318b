/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Which cause each effect has, where many may be: how likely each pair of them is, given how
 * likely each would be by itself. An effect has one cause or none. A cause is a *slot* here,
 * or several, and a slot has one effect or none.
 *
 * The weight of a pair says how many times as likely it is as that the effect has no cause;
 * that is its chance to be there, and so long after. A set of pairs that share no effect and
 * no slot is as likely as the product of their weights and of the chances of all other slots
 * to have no effect. The sum-product algorithm (Kschischang, Frey and Loeliger, 2001) finds
 * from that how likely each pair is: exactly where pairs make no circles, and well else.
 */
#ifndef RAVEL_MATCHING_H
#define RAVEL_MATCHING_H

#include <glib.h>

typedef struct {
        gsize n, room;
        guint32 n_effects;
        gsize *first;  /* by effect, n_effects + 1 of them: its pairs; those of the next end them */
        guint32 *slot; /* by pair, as all below */
        guint32 *kind; /* the caller's */
        float *weight;
        float *claim;  /* of its slot, from 0 to 1: what sweeps pass on */
        float *belief; /* how likely it is */
} Matching;

typedef enum {
        MATCH_FREE,    /* slots have any number of effects */
        MATCH_LIMITED, /* as above */
        MATCH_ALONE,   /* free, and each pair as if its effect had no other */
} MatchBy;

/* Pairs are added effect by effect, in order. */
void matching_start(Matching *matching, guint32 n_effects);
void matching_next_effect(Matching *matching, guint32 effect);
void matching_add(Matching *matching, guint32 slot, guint32 kind);
void matching_end(Matching *matching);
void matching_clear(Matching *matching); /* frees the arrays */

/* Adds to sum, by slot, what effects claim of each. */
void matching_sum_claims(const Matching *matching, double *sum);

/* One round for the effects from..to, to not included: beliefs and claims. sum is what effects
 * claim of each slot, all of them, and its chance to have no effect. Returns how many
 * of the effects have no cause, as expected. Some ten rounds will do. */
double matching_sweep(Matching *matching, guint32 from, guint32 to, const double *sum, MatchBy by);

#endif
