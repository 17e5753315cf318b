/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The parts in which the parents of very many calls are found, so that memory never holds the
 * beliefs on all of them.
 */
#ifndef RAVEL_PARTS_H
#define RAVEL_PARTS_H

#include "inference/inference.h"

/* A part of the calls out of a node. The parents of the calls from `at` to before - 1 are decided;
 * the calls from first to end - 1 are solved with them. */
typedef struct {
        guint32 first, at, before, end;
} Part;

/* The mean lifetime of calls into the node. */
gint64 parts_mean_life(const NodeProblem *node);

/* The length of parts for a model of this problem, a power of two, ns. */
gint64 parts_length(const NodeProblem *node, const gsize *all, gint64 life);

/* Finds the part that begins at a call by time alone: one of that length, counted from 1970, or a
 * half of it, or a half of that. */
Part part_find_by_time(const NodeProblem *node, const gsize *all, gint64 life, gint64 length,
                       guint32 at);

/* Finds the part that begins at a call. all[i] is the number of candidates of all calls before i.
 */
Part part_find(const NodeProblem *node, const gsize *all, gint64 life, guint32 at);

#endif
