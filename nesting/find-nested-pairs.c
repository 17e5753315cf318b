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
static double penalise(const Nesting *n, double score, guint32 parent, const CallOut *child)
{
        const CallPairs *c = &n->calls;
        NodeId callee = c->callee[child->call];
        guint32 overlapping = 0, same = 0, any = 0;

        for (guint32 k = n->first_child[parent]; k != NO_PARENT; k = n->next_child[k]) {
                overlapping += c->start[k] < child->end && child->start < c->end[k];
                same += c->callee[k] == callee;
                any++;
        }
        return score * penalty(overlapping, n->options.overlap) *
               penalty(same, n->options.same) * penalty(any, n->options.any);
}

/* Is call an ancestor of descendant, or descendant itself? */
static gboolean is_ancestor(const Nesting *n, guint32 call, guint32 descendant)
{
        while (descendant != NO_PARENT && descendant != call)
                descendant = n->calls.parent[descendant];
        return descendant == call;
}

void find_nested_pairs(Nesting *n, const NodeCalls *node, Candidates *candidates,
                       const Scoreboard *board)
{
        gboolean by_kind = n->options.same != 0 || n->options.any != 0;
        /* Only clocks that disagree let two calls enclose each other. */
        gboolean cycles = n->options.window > 0 || n->calls.both_ends;

        candidates_start(candidates, node->in, node->n_in);
        for (guint32 i = 0; i < node->n_out; i++) {
                const CallOut *child = &node->out[i];
                gint64 start = child->start + n->options.window;
                double best = 0, sum = 0;
                CallIn *parent = NULL;

                candidates_find(candidates, child->start, child->end, child->call);
                for (guint32 k = 0; k < candidates->n_found; k++) {
                        CallIn *p = &candidates->active[candidates->found[k]];
                        double score = 1;

                        if (candidates->n_found > 1)
                                score = scoreboard_lookup(board, p->caller, child->callee,
                                                          start - p->enter);
                        /* Only a child that ended later than this one starts overlaps. */
                        if (by_kind || p->busy_until > child->start)
                                score = penalise(n, score, p->call, child);
                        if (cycles && n->first_child[child->call] != NO_PARENT &&
                            is_ancestor(n, child->call, p->call))
                                continue;
                        sum += score;
                        if (score > best) {
                                best = score;
                                parent = p;
                        }
                }
                if (!parent)
                        continue;
                n->calls.parent[child->call] = parent->call;
                n->calls.probability[child->call] = best / sum;
                n->next_child[child->call] = n->first_child[parent->call];
                n->first_child[parent->call] = child->call;
                parent->busy_until = MAX(parent->busy_until, child->end);
        }
}
