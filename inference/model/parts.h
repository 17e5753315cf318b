/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The parts in which the parents of very many calls are found: memory never holds all beliefs.
 */
#pragma once

#include "inference/inference.h"

/* A part of the calls out of a node. The parents of the calls from `at` to before - 1 are decided;
 * the calls from first to end - 1 are solved with them. */
typedef struct {
        guint32 first, at, before, end;
        guint32 first_in; /* calls into the node before it have replied by then */
} Part;

/* Finds first_in of a part. It is at least the first_in of the previous part, if any. */
void part_find_open(const NodeProblem *node, gint64 window, const Part *before, Part *part);

/* The mean lifetime of calls into the node. */
gint64 parts_mean_life(const NodeProblem *node);

/* The length of parts for a model of this problem, a power of two, ns. n_candidates: by call. */
gint64 parts_length(const NodeProblem *node, const guint32 *n_candidates, gint64 life);

/* Finds the part that begins at a call, by time alone. Times since 1970 are divided into parts of
 * this length. A part with too many beliefs is halved, again if need be. */
Part part_find_by_time(const NodeProblem *node, const guint32 *n_candidates, gint64 life,
                       gint64 length, guint32 at);

/* Finds the part that begins at a call. */
Part part_find(const NodeProblem *node, const guint32 *n_candidates, gint64 life, guint32 at);

/* The first call out of the node, from call `from` on, that starts at a time or later. */
guint32 parts_first_from(const NodeProblem *node, guint32 from, gint64 time);

/* The number of candidates of the calls from one to another, the latter excluded. */
gsize parts_beliefs(const guint32 *n_candidates, guint32 from, guint32 to);
