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
static double penalise(const Nesting *n, const NodeCalls *node, double score, const CallIn *parent,
                       const CallOut *child)
{
        guint32 overlapping = 0, same = 0, any = 0;

        for (guint32 k = parent->children; k != NO_PARENT; k = node->out[k].before) {
                const CallOut *other = &node->out[k];

                overlapping += other->start < child->end && child->start < other->end;
                same += other->callee == child->callee;
                any++;
        }
        return score * penalty(overlapping, n->options.overlap) * penalty(same, n->options.same) *
               penalty(any, n->options.any);
}

/* Is call an ancestor of descendant, or descendant itself? */
static gboolean is_ancestor(const Nesting *n, guint32 call, guint32 descendant)
{
        while (descendant != NO_PARENT && descendant != call)
                descendant = n->calls.cause[descendant].parent;
        return descendant == call;
}

void find_nested_pairs(Nesting *n, NodeCalls *node, Candidates *candidates, const Scoreboard *board)
{
        gboolean by_kind = n->options.same != 0 || n->options.any != 0;

        candidates_start(candidates, node->in, node->n_in);
        for (guint32 i = 0; i < node->n_out; i++) {
                CallOut *child = &node->out[i];
                gint64 start = child->start + n->options.window;
                const guint32 *rows = board->rows_of[child->callee];
                guint32 n_found =
                        candidates_find(candidates, child->start, child->end, child->call);
                double best = 0, sum = 0;
                CallIn *parent = NULL;

                for (guint32 k = 0; k < n_found; k++) {
                        CallIn *p = &candidates->active[candidates->found[k]];
                        /* The sum of weights is far from 2^63. */
                        double score =
                                (gint64)*scoreboard_cell(board, rows[p->caller], start - p->enter);

                        /* Only a child that ended later than this one starts overlaps. */
                        if (by_kind || p->busy_until > child->start)
                                score = penalise(n, node, score, p, child);
                        if (candidates->cycles && is_ancestor(n, child->call, p->call))
                                continue;
                        sum += score;
                        if (score > best) {
                                best = score;
                                parent = p;
                        }
                }
                if (!parent)
                        continue;
                n->calls.cause[child->call] = (Cause){ parent->call, best / sum };
                child->before = parent->children;
                parent->children = i;
                parent->busy_until = MAX(parent->busy_until, child->end);
        }
}
