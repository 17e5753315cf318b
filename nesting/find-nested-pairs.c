/* SPDX-License-Identifier: BSD-2-Clause */
#include "nesting/find-nested-pairs.h"

#include <math.h>

#include "nesting/explanation.h"

/* One run of find_nested_pairs(). */
typedef struct {
        PairSearch of;
        CallTrees *trees;
        float *scores; /* of one call's candidates */
        guint32 scores_size;
        double two_overlap;    /* the penalty for two children at a time */
        gboolean sole_is_sure; /* a call's only candidate is its parent, if no penalty applies */
} Run;

static double count_power(double count, double exponent)
{
        /* The usual exponents without pow(), which differs between libraries. */
        if (exponent == 2)
                return count * count;
        return exponent == 1 ? count : pow(count, exponent);
}

static double penalty(guint32 count, double exponent)
{
        return count <= 1 || exponent == 0 ? 1 : 1 / count_power(count, exponent);
}

/* The factor by which the children of parent lower the score of one more. Kept out of line: the
 * loop that calls it needs the registers. */
G_NO_INLINE static double remaining_penalty(const Run *r, guint32 parent, guint32 child)
{
        const NestingOptions *options = r->of.options;
        const CallTree *trees = r->trees->tree;
        Span span = r->of.calls->pairs.at_caller[child];
        guint32 overlapping = 0, same = 0, any = 0;

        for (guint32 k = trees[parent].link[FIRST_CHILD]; k != NO_TREE;
             k = trees[k].link[NEXT_CHILD]) {
                Span other = r->of.calls->pairs.at_caller[trees[k].call];

                overlapping += (other.from < span.to) & (span.from < other.to);
                same += r->of.calls->pairs.edge[trees[k].call] == r->of.calls->pairs.edge[child];
                any++;
        }
        return penalty(overlapping, options->overlap) * penalty(same, options->same) *
               penalty(any, options->any);
}

/* Drops the child itself and its descendants from the candidates. */
static guint32 drop_descendants(const Run *r, Candidates *at, guint32 n_found, guint32 tree)
{
        guint32 kept = 0;

        for (guint32 k = 0; k < n_found; k++) {
                guint32 up = at->active[at->found[k]].which;

                while (up != NO_TREE && up != tree)
                        up = r->trees->tree[up].parent;
                at->found[kept] = at->found[k];
                kept += up == NO_TREE;
        }
        return kept;
}

static inline void note_child(Waiting *parent, gint64 end)
{
        if (end > parent->busy_until) {
                parent->jammed_until = parent->crowded_until;
                parent->crowded_until = parent->busy_until;
                parent->busy_until = end;
        } else if (end > parent->crowded_until) {
                parent->jammed_until = parent->crowded_until;
                parent->crowded_until = end;
        } else {
                parent->jammed_until = MAX(parent->jammed_until, end);
        }
}

/* The child belongs to one family. The family of the chosen candidate is multiplied by its share of
 * all scores, every other family by 1 less its candidate's share. */
static inline void note_families(Run *r, const Candidates *at, guint32 n_found, guint32 chosen,
                                 double probability, double sum)
{
        const ActiveCall *active = at->active;
        const guint32 *found = at->found;
        float *family = r->trees->family, *scores = r->scores;
        float before = family[active[chosen].which], each = (float)(1 / sum);

        for (guint32 k = 0; k < n_found; k++)
                scores[k] = 1 - scores[k] * each;
        for (guint32 k = 0; k < n_found; k++)
                family[active[found[k]].which] *= scores[k];
        family[active[chosen].which] = before * (float)probability;
}

/* Finds the best of n_found candidates of child, an active call. FALSE if no candidate has a score.
 */
static inline gboolean find_best_candidate(Run *r, const Candidates *at, guint32 n_callers,
                                           guint32 n_found, guint32 call, Span child,
                                           guint32 *parent, double *probability)
{
        const NestingOptions *options = r->of.options;
        const gsize *rows;
        const guint32 *found = at->found;
        gint64 start = child.from + options->window;
        /* Earlier children start earlier. They overlap this child if they end after its start. One
         * alone changes nothing, and the penalty of two is known; only three and more are counted.
         * All are counted if other penalties apply or this child takes no time. */
        double left[] = { 1, r->two_overlap };
        gboolean count = options->same != 0 || options->any != 0 || child.to <= child.from;
        gint64 jammed = count ? G_MININT64 : child.from;
        double best = 0, sum = 0;
        guint32 chosen = 0;
        float *scores;

        /* A sole candidate has the whole score. It is not 0, since this child has added to it. */
        if (n_found == 1 && r->sole_is_sure && !count &&
            at->active[found[0]].waiting.crowded_until <= child.from) {
                *parent = found[0];
                *probability = 1;
                return TRUE;
        }
        rows = scoreboard_rows(r->of.board, r->of.calls->pairs.edge[call] - 1, n_callers);
        if (G_UNLIKELY(n_found > r->scores_size)) {
                r->scores_size = 2 * n_found;
                r->scores = g_renew(float, r->scores, r->scores_size);
        }
        scores = r->scores;
        for (guint32 k = 0; k < n_found; k++) {
                const ActiveCall *p = &at->active[found[k]];
                /* The sum of weights is far below 2^63. */
                double score =
                        (gint64)scoreboard_score(r->of.board, rows[p->caller], start - p->enter);

                if (G_UNLIKELY(p->waiting.jammed_until > jammed))
                        score *= remaining_penalty(r, p->which, call);
                else
                        score *= left[p->waiting.crowded_until > child.from];
                sum += score;
                scores[k] = (float)score;
                /* The best candidate cannot be predicted, so there is no branch on it. */
                chosen ^= (chosen ^ found[k]) & -(guint32)(score > best);
                best = MAX(best, score);
        }
        *parent = chosen;
        *probability = best / sum;
        if (n_found > 1 && best > 0)
                note_families(r, at, n_found, chosen, *probability, sum);
        return best > 0;
}

/* Notes the candidates that find_best_candidate() chooses from. */
static void explain_scores(Run *r, const Candidates *at, guint32 n_callers, guint32 n_found,
                           guint32 call)
{
        Explanation *e = explanations_lookup(r->of.explanations, call);
        const gsize *rows =
                scoreboard_rows(r->of.board, r->of.calls->pairs.edge[call] - 1, n_callers);
        gint64 start = r->of.calls->pairs.at_caller[call].from + r->of.options->window;
        double scores = 0, sum = 0;

        if (!e)
                return;
        for (guint32 k = 0; k < n_found; k++) {
                const ActiveCall *p = &at->active[at->found[k]];
                PossibleParent parent = {
                        .call = r->trees->tree[p->which].call,
                        .score = (double)(gint64)scoreboard_score(r->of.board, rows[p->caller],
                                                                  start - p->enter),
                        .penalty = remaining_penalty(r, p->which, call),
                };

                scores += parent.score;
                sum += parent.score * parent.penalty;
                g_array_append_val(e->parents, parent);
        }
        for (guint32 k = 0; k < n_found; k++) {
                PossibleParent *p = &g_array_index(e->parents, PossibleParent, k);

                p->probability = sum > 0 ? p->score * p->penalty / sum : 0;
                p->score = scores > 0 ? p->score / scores : 0;
        }
}

/* The tree of the call's parent, or NO_TREE. */
static inline guint32 find_scored_parent(Run *r, const EdgeRole *role, guint32 call, guint32 tree,
                                         double *probability)
{
        Candidates *at = &role->at_caller->open;
        Span child = r->of.calls->pairs.at_caller[call];
        guint32 n_found = candidates_find(at, child.from, child.to), parent;

        if (G_UNLIKELY(r->of.cycles))
                n_found = drop_descendants(r, at, n_found, tree);
        if (G_UNLIKELY(r->of.explanations->len > 0))
                explain_scores(r, at, role->at_caller->n_callers, n_found, call);
        if (n_found == 0 || !find_best_candidate(r, at, role->at_caller->n_callers, n_found, call,
                                                 child, &parent, probability))
                return NO_TREE;
        note_child(&at->active[parent].waiting, child.to);
        if (r->of.calls->pairs.cause)
                call_pairs_set_cause(
                        &r->of.calls->pairs, call,
                        (Cause){ r->trees->tree[at->active[parent].which].call, *probability });
        return at->active[parent].which;
}

static gboolean find_pairs_in_order(Run *r, GError **error)
{
        KnownCalls *calls = r->of.calls;
        gboolean starts, enters;
        guint32 call;

        while (call_order_next(r->of.order, &call, &starts, &enters)) {
                const EdgeRole *role = known_calls_edge(calls, call);
                guint32 tree = call_trees_open(r->trees, call);

                known_calls_pass(calls, call);
                if (starts) {
                        double probability = 1;
                        guint32 parent = NO_TREE;

                        guint32 linked = call_links_parent(&calls->links, call);

                        if (G_UNLIKELY(linked != NO_PARENT)) {
                                parent = call_trees_open(r->trees, linked);
                                probability = (double)calls->links.probability[call];
                        } else if (role->at_caller && !call_links_is_turn(&calls->links, call))
                                parent = find_scored_parent(r, role, call, tree, &probability);
                        if (!call_trees_place(r->trees, tree, parent, probability, error))
                                return FALSE;
                }
                if (enters && role->at_callee) {
                        Span span = call_links_stay(&calls->links, &calls->pairs, call);

                        candidates_add(&role->at_callee->open, span.from, span.to, role->number,
                                       tree);
                }
        }
        return TRUE;
}

gboolean find_nested_pairs(const PairSearch *search, CallTrees *trees, GError **error)
{
        Run r = { .of = *search,
                  .trees = trees,
                  .two_overlap = penalty(2, search->options->overlap),
                  /* Smoothing could round the score to 0, and each closed window halves it. */
                  .sole_is_sure = search->options->smooth == 0 && !search->faded };
        gboolean ok = find_pairs_in_order(&r, error);

        g_free(r.scores);
        return ok;
}
