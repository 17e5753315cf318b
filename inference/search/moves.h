/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Moves of calls between two families: what a step of the Markov chain proposes (sampler.h), and
 * what evidence is weighed on (weights.h). The first family has the call, the second is that of
 * another candidate of it. A move is not possible if one of the two is no candidate of a call that
 * it would get, or would have more than MOST_CHILDREN; the families are then of no more use.
 */
#ifndef RAVEL_MOVES_H
#define RAVEL_MOVES_H

#include "inference/model/evidence.h"
#include "inference/model/problem.h"

/* Whether a parent is a candidate of a call. */
static inline gboolean move_may(const Joint *j, guint32 parent, guint32 call)
{
        return problem_find_candidate(j->problem, call, parent) != G_MAXSIZE;
}

/* Moves a call alone. */
gboolean move_alone(Family f[2], guint32 call);

/* Exchanges a call for one of the second family, of which the first parent is a candidate. */
void move_exchange(Family f[2], guint32 call, guint32 other);

/* Exchanges the children of both from a call of the first on. */
gboolean move_rest(const Joint *j, Family f[2], guint32 call);

/* Calls of two parents that hang together, and which of them are the first one's. */
typedef struct {
        guint32 call[2 * MOST_CHILDREN], n;
        guint8 first[2 * MOST_CHILDREN];
        guint32 n_first;
} Block;

/* Finds the calls that hang together with one, by evidence that knows (block()). */
void block_find(const Joint *j, Evidence *e, const Family f[2], guint32 call, Block *b);

/* Gives each call of a block to the other parent. */
gboolean move_block(const Joint *j, Family f[2], const Block *b);

/* Whether two blocks can be exchanged: one is all the first family's, the other all the second's,
 * and they are more than two calls. */
static inline gboolean blocks_face(const Block *a, const Block *b)
{
        return a->n_first == a->n && b->n_first == 0 && a->n + b->n > 2;
}

#endif
