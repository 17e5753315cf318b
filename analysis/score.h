/* SPDX-License-Identifier: BSD-2-Clause
 *
 * How right the paths are that were inferred: two stores of the same trace, one
 * of true paths and one of found paths, compared (paper, section 7.5.1).
 * docs/algorithms.md says what each number is and why it is read so.
 *
 * A call is the same in both where start, caller, callee and id are the same; of
 * several such, in the order of their ends. Patterns are the same by signature, and by the
 * operation of the root where both stores have them.
 */
#pragma once

#include "store/store-reader.h"

typedef struct Score Score;

/* Figure 17: a true pattern may lack this percentage of the instances that would put it among the
 * first N found, and be no false negative. */
enum { SCORE_TOLERANCES = 3 };
extern const guint score_tolerances[SCORE_TOLERANCES]; /* 0, 2, 6 */

/* Of the delays of nodes, over all nodes of the patterns that are both true and
 * found, each counted as often as its pattern is true. */
typedef struct {
        gint128 error; /* the sum of |found - true|, ns */
        gint128 sum;   /* of the true ones, ns */
} ScoreDelay;

/* The N most frequent patterns, ties by signature: the true ones of what is
 * missing (fn), the found ones of what is too much (fp). */
typedef struct {
        guint64 true_patterns, fn_patterns[SCORE_TOLERANCES];
        guint64 found_patterns, fp_patterns;
        guint64 true_instances, fn_instances, found_instances, fp_instances;
        guint64 true_calls, fn_calls, found_calls, fp_calls;
        guint64 right_instances;         /* true ones, found with the same calls and parents */
        guint64 children, right_parents; /* true calls with a parent; found with the same one */
        guint64 delays;                  /* how many delays each of these is over */
        ScoreDelay latency_mean, latency_p99, own_mean, own_p99;
} ScoreRow;

/* What the calls found with a parent said of how likely it is: at least so much, and less than the
 * one before. */
enum { SCORE_CLASSES = 4 };
extern const double score_classes[SCORE_CLASSES]; /* 0.99, 0.9, 0.5, 0 */

typedef struct {
        guint64 calls, right;
} ScoreClass;

/* Of all calls. */
typedef struct {
        guint64 in_both;
        guint64 children;                 /* calls with a parent in the true store */
        guint64 right, other, none, gone; /* of these: found with the same parent, with another,
                                             with none, not found at all */
        guint64 roots, right_roots;       /* calls without one; of these found without */
        ScoreClass said[SCORE_CLASSES];   /* calls in both stores, found with a parent */
} ScoreParents;

/* If patterns of the found store are counted by drawings (docs/paths.md, "Probability"): how many
 * of the most frequent patterns are true, and the share of all counts that agrees with the true
 * counts. Both by drawings, and by the instances found. */
enum { SCORE_DRAWN_FIRST = 10 };
typedef struct {
        guint first; /* patterns that are looked at; 0: there are no drawings */
        guint true_drawn, true_found;
        double overlap_drawn, overlap_found;
} ScoreDrawn;

/* Of the calls that a node makes and that have a parent in the true store. */
typedef struct {
        guint64 calls, right;
        double said; /* the sum of the probabilities that they were found with */
} ScoreNode;

/* Reads both stores to their ends. They have to have the same node table. NULL and
 * error set where one cannot be read. Takes about 60 bytes a call of each store, and
 * the time of sorting them. */
Score *score_new(StoreReader *truth, StoreReader *found, GError **error);
void score_free(Score *score);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Score, score_free)

/* Of the first n patterns; G_MAXUINT32: all. */
void score_row(const Score *score, guint32 n, ScoreRow *row);

const ScoreParents *score_parents(const Score *score);

ScoreDrawn score_drawn(const Score *score);

ScoreNode score_node(const Score *score, NodeId node);
