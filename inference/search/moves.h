/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Moves of calls between two families. A step of the Markov chain proposes them (sampler.h), and
 * evidence is weighed on them (weights.h). The first family has the call. The second belongs to
 * another candidate. A move fails if a family would get a call of which its parent is no candidate,
 * or more than MOST_CHILDREN calls. The families are not to be used after that.
 */
#pragma once

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

/* Calls of two parents that belong together, and which of them the first parent has. */
typedef struct {
        guint32 call[2 * MOST_CHILDREN], n;
        guint8 first[2 * MOST_CHILDREN];
        guint32 n_first;
} Block;

/* Finds the calls that belong together with one, by evidence that has block(). */
void block_find(const Joint *j, Evidence *e, const Family f[2], guint32 call, Block *b);

/* Gives each call of a block to the other parent. */
gboolean move_block(const Joint *j, Family f[2], const Block *b);

/* Whether two blocks can be exchanged. The first family has all of one, the second has all of the
 * other, and they are more than two calls. */
static inline gboolean blocks_face(const Block *a, const Block *b)
{
        return a->n_first == a->n && b->n_first == 0 && a->n + b->n > 2;
}
