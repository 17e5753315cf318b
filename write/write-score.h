/* SPDX-License-Identifier: BSD-2-Clause
 *
 * How right paths are, in each format.
 */
#pragma once

#include "analysis/score.h"

/* In place of a number of patterns. */
#define ALL_PATTERNS G_MAXUINT32

/* Appends it. tops, of guint32: how many of the most frequent patterns to score, a row each; NULL:
 * the usual ones. truth and found: the stores that were compared. */
void score_write_text(const Score *score, const GArray *tops, const StoreReader *truth,
                      const StoreReader *found, GString *out);
void score_write_tsv(const Score *score, const GArray *tops, GString *out);
void score_write_json(const Score *score, const GArray *tops, GString *out);

/* The score of one of several stores that were found of a trace. */
typedef struct {
        const char *name; /* of the method that found it */
        Score *score;
} ScoredMethod;

/* Appends tables that compare n methods, and one of the nodes of the first method. */
void score_write_methods(const ScoredMethod *methods, guint n, NodeTable *nodes, GString *out);
