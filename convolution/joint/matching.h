/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Matches effects with causes where each effect has many possible causes. An effect has one cause
 * or none. A cause has one *slot* or several, and a slot has one effect or none.
 *
 * The weight of a pair says how many times as probable it is as that the effect has no cause. A
 * matching is a set of pairs that share no effect and no slot. Its probability is proportional to
 * the product of its weights and of the probabilities that each other slot has no effect. From this
 * the sum-product algorithm (Kschischang, Frey and Loeliger, 2001) finds the probability of each
 * pair: exactly if the pairs form no cycles, approximately else.
 */
#pragma once

#include <glib.h>

typedef struct {
        gsize n, room;
        guint32 n_effects;
        gsize *first;  /* by effect, n_effects + 1 entries: its first pair */
        guint32 *slot; /* by pair, as all below */
        guint32 *kind; /* set by the caller */
        float *weight;
        float *claim;  /* the message from the effect to the slot, from 0 to 1 */
        float *belief; /* the probability of the pair */
} Matching;

typedef enum {
        MATCH_FREE,    /* slots have any number of effects */
        MATCH_LIMITED, /* a slot has one effect at most */
        MATCH_ALONE,   /* as MATCH_FREE, and each pair as if it were its effect's only one */
} MatchBy;

/* Pairs are added effect by effect, in order. */
void matching_start(Matching *matching, guint32 n_effects);
void matching_next_effect(Matching *matching, guint32 effect);
void matching_add(Matching *matching, guint32 slot, guint32 kind);
void matching_end(Matching *matching);
void matching_clear(Matching *matching); /* frees the arrays */

/* Adds the weighted messages to each slot to sum. */
void matching_sum_claims(const Matching *matching, double *sum);

/* One round of messages for the effects from `from` to to - 1. Updates beliefs and claims. sum is,
 * by slot, the sum of all messages to the slot and of the weight of no effect. Returns the expected
 * number of effects without a cause. Ten rounds are about enough. */
double matching_sweep(Matching *matching, guint32 from, guint32 to, const double *sum, MatchBy by);
