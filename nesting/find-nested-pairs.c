/* SPDX-License-Identifier: BSD-2-Clause
 *
 * FindNestedPairs (paper, Figure 4, lines 17 to 26, and section 5.1.1.3): gives
 * each child the candidate parent whose delay scores best, after the penalties
 * for the children that a parent was given already.
 *
 * Children are visited in call order. Where a score is tied the earliest parent
 * has it. A penalty whose count is 0 is a factor of 1, as is count 1: c^-x.
 * A parent's probability is its share of the scores of all candidates.
 */
#include <math.h>

#include "nesting/nesting.h"

static double power(double count, double exponent)
{
        /* The usual exponents without pow(), which differs between libraries. */
        if (exponent == 2)
                return count * count;
        return exponent == 1 ? count : pow(count, exponent);
}

static double penalty(guint32 count, double exponent)
{
        return count <= 1 || exponent == 0 ? 1 : 1 / power(count, exponent);
}

/* What remains of a score of parent's, its children so far considered. */
static double penalise(const Nesting *n, double score, guint32 parent, const CallPair *child)
{
        guint32 overlapping = 0, same = 0, any = 0;

        for (guint32 k = n->first_child[parent]; k != NO_PARENT; k = n->next_child[k]) {
                const CallPair *other = &n->calls[k];

                overlapping += other->start < child->end && child->start < other->end;
                same += other->callee == child->callee;
                any++;
        }
        return score * penalty(overlapping, n->options.overlap) *
               penalty(same, n->options.same) * penalty(any, n->options.any);
}

/* Is call an ancestor of descendant? */
static gboolean is_ancestor(const Nesting *n, guint32 call, guint32 descendant)
{
        while (descendant != NO_PARENT && descendant != call)
                descendant = n->calls[descendant].parent;
        return descendant == call;
}

void find_nested_pairs(Nesting *n, const NodeCalls *node, Candidates *candidates,
                       const Scoreboard *board)
{
        gboolean by_kind = n->options.same != 0 || n->options.any != 0;

        candidates_start(candidates, node->in, node->n_in, node->caller_of);
        for (guint32 i = 0; i < node->n_out; i++) {
                guint32 index = node->out[i];
                CallPair *child = &n->calls[index];
                guint32 callee = node->callee_of[child->callee];
                gint64 start = child->start + n->options.window;
                double best = 0, sum = 0;
                ActiveCall *parent = NULL;

                candidates_find(candidates, index);
                for (guint32 k = 0; k < candidates->n_found; k++) {
                        ActiveCall *p = &candidates->active[candidates->found[k]];
                        double score = 1;

                        if (candidates->n_found > 1)
                                score = scoreboard_lookup(board, p->caller, callee,
                                                          start - p->enter);
                        /* Only a child that ended later than this one starts overlaps. */
                        if (by_kind || p->busy_until > child->start)
                                score = penalise(n, score, p->call, child);
                        /* With clocks that disagree two calls could enclose each other. */
                        if (G_UNLIKELY(n->first_child[index] != NO_PARENT) &&
                            is_ancestor(n, index, p->call))
                                continue;
                        sum += score;
                        if (score > best) {
                                best = score;
                                parent = p;
                        }
                }
                if (!parent)
                        continue;
                child->parent = parent->call;
                child->probability = best / sum;
                n->next_child[index] = n->first_child[parent->call];
                n->first_child[parent->call] = index;
                parent->busy_until = MAX(parent->busy_until, child->end);
        }
}
