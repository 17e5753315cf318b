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

/* What the children that parent has so far leave of the score of one more. Kept
 * out of the loop that calls it, which needs the registers. */
G_NO_INLINE static double remaining(const NestingOptions *options, const NodeCalls *node,
                                    const CallIn *parent, const CallOut *child)
{
        guint32 overlapping = 0, same = 0, any = 0;

        for (guint32 k = parent->children; k != NO_PARENT; k = node->out[k].before) {
                const CallOut *other = &node->out[k];

                overlapping += (other->start < child->end) & (child->start < other->end);
                same += other->callee == child->callee;
                any++;
        }
        return penalty(overlapping, options->overlap) * penalty(same, options->same) *
               penalty(any, options->any);
}

/* Drops the candidates that child itself has caused, directly or not. */
static guint32 drop_descendants(const Nesting *n, const NodeCalls *node, Candidates *candidates,
                                guint32 n_found, guint32 child)
{
        guint32 kept = 0;

        for (guint32 k = 0; k < n_found; k++) {
                guint32 p = candidates->found[k];

                candidates->found[kept] = p;
                kept += !nesting_is_within(n, node->in[candidates->which[p]].call, child);
        }
        return kept;
}

/* Gives child i to its parent, the active call p. */
static void add_child(NodeCalls *node, Candidates *candidates, guint32 i, guint32 p)
{
        CallOut *child = &node->out[i];
        CallIn *parent = &node->in[candidates->which[p]];

        child->before = parent->children;
        parent->children = i;
        if (child->end > candidates->busy_until[p]) {
                candidates->jammed_until[p] = candidates->crowded_until[p];
                candidates->crowded_until[p] = candidates->busy_until[p];
                candidates->busy_until[p] = child->end;
        } else if (child->end > candidates->crowded_until[p]) {
                candidates->jammed_until[p] = candidates->crowded_until[p];
                candidates->crowded_until[p] = child->end;
        } else {
                candidates->jammed_until[p] = MAX(candidates->jammed_until[p], child->end);
        }
}

/* Finds the best of n_found candidates of child, an active call; FALSE where none
 * has a score. */
static gboolean find_best(const NestingOptions *options, const NodeCalls *node,
                          const Candidates *candidates, guint32 n_found, const Scoreboard *board,
                          const CallOut *child, guint32 *parent, double *probability)
{
        const gsize *rows = board->rows_of[child->callee];
        const guint32 *found = candidates->found, *caller = candidates->caller;
        const gint64 *enter = candidates->enter, *crowded_until = candidates->crowded_until,
                     *jammed_until = candidates->jammed_until;
        gint64 start = child->start + options->window;
        /* Earlier children, which start earlier, overlap this one if they end later than
         * it starts. One alone changes nothing, two always the same; more are counted. So
         * are all where they matter in another way, or this one takes no time. */
        double left[] = { 1, penalty(2, options->overlap) };
        gboolean count = options->same != 0 || options->any != 0 || child->end <= child->start;
        gint64 jammed = count ? G_MININT64 : child->start;
        double best = 0, sum = 0;
        guint32 chosen = 0;

        for (guint32 k = 0; k < n_found; k++) {
                guint32 p = found[k];
                /* The sum of weights is far from 2^63. */
                double score = (gint64)*scoreboard_cell(board, rows[caller[p]], start - enter[p]);

                if (G_UNLIKELY(jammed_until[p] > jammed))
                        score *= remaining(options, node, &node->in[candidates->which[p]], child);
                else
                        score *= left[crowded_until[p] > child->start];
                sum += score;
                /* Which is best cannot be predicted, so there is no branch on it. */
                chosen ^= (chosen ^ p) & -(guint32)(score > best);
                best = MAX(best, score);
        }
        *parent = chosen;
        *probability = best / sum;
        return best > 0;
}

void find_nested_pairs(Nesting *n, NodeCalls *node, Candidates *candidates, const Scoreboard *board)
{
        candidates_start(candidates, node->in, node->n_in);
        for (guint32 i = 0; i < node->n_out; i++) {
                const CallOut *child = &node->out[i];
                guint32 n_found =
                        candidates_find(candidates, child->start, child->end, child->call);
                guint32 parent;
                double probability;

                if (G_UNLIKELY(candidates->cycles))
                        n_found = drop_descendants(n, node, candidates, n_found, child->call);
                if (!find_best(&n->options, node, candidates, n_found, board, child, &parent,
                               &probability))
                        continue;
                n->calls.cause[child->call] =
                        (Cause){ node->in[candidates->which[parent]].call, probability };
                add_child(node, candidates, i, parent);
        }
}
