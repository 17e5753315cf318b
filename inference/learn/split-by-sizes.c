/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The purpose of a call shows in the sizes of the call and its return, as in a label
 * (call-labels.h). The size of a request tells one operation from another, also inside TLS. So
 * calls of different size are of different kinds, where that makes parents likelier.
 *
 * Two questions come before that. First, do sizes go with what parents do? That is asked of the
 * parents found without sizes, or of all candidates where hardly any parent is found. Sizes dealt
 * again among the calls of an edge show the likelihood by chance. Where sizes mean nothing, dealt
 * ones are as good. Second, are the parents found with sizes likelier?
 *
 * Labels mean more than sizes, and kinds go by labels from the beginning. Labels that are as good
 * dealt again only leave fewer calls of each kind to learn from. Such labels are left out.
 * Otherwise sizes tell apart what one operation does: a hit of a cache, and a miss.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/exact-log.h"
#include "base/hash.h"
#include "inference/learn/learning.h"
#include "inference/learn/rounds.h"
#include "inference/learn/splits.h"
#include "inference/learn/worker-trial.h"
#include "inference/model/kinds.h"
#include "inference/model/tuning.h"
#include "inference/search/assign.h"
#include "inference/search/assignment.h"
#include "inference/search/family.h"
#include "inference/search/trellis.h"

/* --- a trial ------------------------------------------------------------------- */

/* The problem with kinds by some sizes, and a model, kinds and parents of its own, so that a trial
 * that fails leaves nothing. */
typedef struct {
        Joint j;
        NodeModel *model;
        Kinds kinds;
        Assignment assignment;
        Trellis trellis;
} Trial;

/* Begins with the present parents. */
static void begin_trial(Trial *t, const Joint *j, guint8 sizes)
{
        static const EvidenceKind *const no_evidence[] = { NULL };
        const NodeProblem *node = j->problem->node;

        memset(t, 0, sizeof *t);
        t->model = node_model_new();
        t->model->sizes = sizes;
        t->j = *j;
        t->j.model = t->model;
        t->j.kinds = &t->kinds;
        t->j.assignment = &t->assignment;
        t->j.trellis = &t->trellis;
        kinds_find(&t->kinds, j->problem, t->model);
        node_model_start(t->model, 0, no_evidence);
        node_model_set_resolution(t->model, j->problem->resolution);
        assignment_init(&t->assignment, node->n_in, node->n_out);
        assignment_take(&t->assignment, j->assignment->parent);
        trellis_begin(&t->trellis, t->model);
        evidence_begin(&t->model->evidence, &t->j);
}

static void end_trial(Trial *t)
{
        evidence_end(&t->model->evidence);
        trellis_clear(&t->trellis);
        assignment_clear(&t->assignment);
        kinds_clear(&t->kinds);
        node_model_free(t->model);
}

/* --- whether sizes, or labels, mean anything --------------------------------------- */

/* The sizes of a call, or its label, two bytes, to be dealt again. */
typedef struct {
        guint64 edge, place;
        gpointer said;
} Deal;

static int compare_deals(const void *a, const void *b)
{
        const Deal *x = a, *y = b;

        if (x->edge != y->edge)
                return x->edge < y->edge ? -1 : 1;
        return (x->place > y->place) - (x->place < y->place);
}

/* Deals sizes again among neighbouring calls of an edge, so that sizes that drift with time go on
 * to do so. */
static void deal(Deal *deals, guint32 n, guint64 seed)
{
        g_autofree guint16 *said = g_new(guint16, n);
        guint32 first = 0;

        qsort(deals, n, sizeof *deals, compare_deals);
        for (guint32 i = 0; i < n; i++) {
                memcpy(&said[i], deals[i].said, sizeof *said);
                if (deals[i].edge != deals[first].edge)
                        first = i;
                deals[i].place = (guint64)((i - first) / tuning.size_neighbours) << 32 |
                                 (guint32)hash_word(seed, deals[i].place);
        }
        qsort(deals, n, sizeof *deals, compare_deals);
        for (guint32 i = 0; i < n; i++)
                memcpy(deals[i].said, &said[i], sizeof *said);
}

static void deal_all(NodeProblem *node, gboolean labels, guint32 number)
{
        g_autofree Deal *in = g_new(Deal, node->n_in), *out = g_new(Deal, node->n_out);
        guint64 seed = hash_word(HASH_SEED, number);

        for (guint32 i = 0; i < node->n_in; i++)
                in[i] = labels ? (Deal){ node->in[i].caller, i, &node->in[i].label }
                               : (Deal){ (guint64)node->in[i].caller << 16 | node->in[i].label, i,
                                         node->in[i].size };
        for (guint32 i = 0; i < node->n_out; i++)
                out[i] = labels ? (Deal){ node->out[i].callee, node->n_in + i, &node->out[i].label }
                                : (Deal){ (guint64)node->out[i].callee << 16 | node->out[i].label,
                                          node->n_in + i, node->out[i].size };
        deal(in, node->n_in, seed);
        deal(out, node->n_out, seed);
}

/* How often parents of a kind did something after something. Counts are by half of the parents,
 * kind, callee before, and callee. The last callee stands for the parent itself: its entry or its
 * reply. */
typedef struct {
        guint32 n_in, n_events;
        guint32 *count[2];
} Pairs;

static inline guint32 *pair_at(const Pairs *p, guint32 half, guint32 kind, guint32 before)
{
        return p->count[half] + ((gsize)kind * p->n_events + before) * p->n_events;
}

static void count_pairs(const Joint *j, const Kinds *kinds, Pairs *p)
{
        for (guint32 i = 0; i < j->problem->node->n_in; i++) {
                guint32 before = p->n_events - 1;

                for (guint32 k = j->assignment->first[i]; k != NO_PARENT;
                     k = j->assignment->next[k]) {
                        pair_at(p, i % 2, kinds->kind[i], before)[kinds->calls[k].callee]++;
                        before = kinds->calls[k].callee;
                }
                pair_at(p, i % 2, kinds->kind[i], before)[p->n_events - 1]++;
        }
}

/* The log likelihood of what one half of the parents did after one event, by the other half. share
 * is how often each event happens. */
static double log_of_row(const guint32 *tested, const guint32 *learned, const double *share,
                         guint32 n)
{
        double all = 0, log = 0;

        for (guint32 i = 0; i < n; i++)
                all += learned[i];
        for (guint32 i = 0; i < n; i++)
                if (tested[i])
                        log += tested[i] * exact_log((learned[i] + tuning.pair_weight * share[i]) /
                                                     (all + tuning.pair_weight));
        return log;
}

static double log_of_pairs(const Pairs *p)
{
        g_autofree double *share = g_new(double, p->n_events);
        gsize rows = (gsize)p->n_in * p->n_events;
        double log = 0, all = p->n_events;

        for (guint32 i = 0; i < p->n_events; i++)
                share[i] = 1;
        for (gsize i = 0; i < rows * p->n_events; i++) {
                share[i % p->n_events] += p->count[0][i] + p->count[1][i];
                all += p->count[0][i] + p->count[1][i];
        }
        for (guint32 i = 0; i < p->n_events; i++)
                share[i] /= all;
        for (gsize i = 0; i < rows; i++)
                for (guint half = 0; half < 2; half++)
                        log += log_of_row(p->count[half] + i * p->n_events,
                                          p->count[1 - half] + i * p->n_events, share, p->n_events);
        return log;
}

/* The log likelihood of parents or candidates, by the kinds of calls into the node and out. share:
 * by candidate, its probability. */
typedef double LogOf(const Joint *j, const Kinds *kinds, const float *share, guint32 n_in,
                     guint32 n_out);

/* The log likelihood of the present parents, by what comes after what. NAN: these kinds are the
 * same as without sizes. */
static double log_of_parents(const Joint *j, const Kinds *kinds, const float *share G_GNUC_UNUSED,
                             guint32 n_in, guint32 n_out)
{
        Pairs p = { .n_in = n_in, .n_events = n_out + 1 };
        double log;

        if (n_in == j->model->in.n && n_out == j->model->out.n)
                return NAN;
        for (guint half = 0; half < 2; half++)
                p.count[half] = g_new0(guint32, (gsize)p.n_in * p.n_events * p.n_events);
        count_pairs(j, kinds, &p);
        log = log_of_pairs(&p);
        g_free(p.count[0]);
        g_free(p.count[1]);
        return log;
}

/* Pairs of a call and a candidate, by their kinds. All candidates of a call count as one. */
typedef struct {
        guint32 n_in, n_out;
        double *count, *of_in, *of_out, all;
} CandidatePairs;

static void count_candidates(const Problem *p, const Kinds *kinds, const float *share,
                             CandidatePairs *pairs)
{
        for (guint32 i = 0; i < p->node->n_out; i++)
                for (gsize k = p->candidates[i]; k < p->candidates[i + 1]; k++) {
                        guint32 in = kinds->kind[p->candidate[k]], out = kinds->calls[i].callee;

                        pairs->count[(gsize)in * pairs->n_out + out] += share[k];
                        pairs->of_in[in] += share[k];
                        pairs->of_out[out] += share[k];
                        pairs->all += share[k];
                }
}

/* The gain in log likelihood over pairs whose kinds have nothing to do with each other. */
static double log_of_candidate_pairs(const CandidatePairs *p)
{
        double log = 0;

        for (guint32 in = 0; in < p->n_in; in++)
                for (guint32 out = 0; out < p->n_out; out++) {
                        double n = p->count[(gsize)in * p->n_out + out];

                        if (n > 0)
                                log += n * exact_log(n * p->all / (p->of_in[in] * p->of_out[out]));
                }
        return log;
}

/* The log likelihood by candidates, where no parent need be known. A call's parent is among its
 * candidates. So kinds whose parents make the call are more frequent there. */
static double log_of_candidates(const Joint *j, const Kinds *kinds, const float *share,
                                guint32 n_in, guint32 n_out)
{
        g_autofree double *count = g_new0(double, (gsize)n_in *n_out);
        g_autofree double *of_in = g_new0(double, n_in), *of_out = g_new0(double, n_out);
        CandidatePairs pairs = { n_in, n_out, count, of_in, of_out, 0 };

        count_candidates(j->problem, kinds, share, &pairs);
        return log_of_candidate_pairs(&pairs);
}

/* The log likelihood with kinds by sizes. NAN: too many kinds, or log_of() has no value. */
static double log_with(const Joint *j, guint8 sizes, const float *share, LogOf *log_of)
{
        NodeModel *model = node_model_new();
        Kinds kinds = { 0 };
        double log = NAN;

        model->sizes = sizes;
        kinds_find(&kinds, j->problem, model);
        if (MAX(model->in.n, model->out.n) <= MOST_SIZED)
                log = log_of(j, &kinds, share, model->in.n, model->out.n);
        kinds_clear(&kinds);
        node_model_free(model);
        return log;
}

/* The log likelihood with sizes dealt again; or with labels, where kinds are by no sizes. */
static double log_dealt(const Joint *j, guint8 sizes, guint32 number, const float *share,
                        LogOf *log_of)
{
        NodeProblem *node = j->problem->node;
        g_autofree CallIn *in = g_memdup2(node->in, node->n_in * sizeof *in);
        g_autofree CallOut *out = g_memdup2(node->out, node->n_out * sizeof *out);
        double log;

        deal_all(node, sizes == 0, number);
        log = log_with(j, sizes, share, log_of);
        memcpy(node->in, in, node->n_in * sizeof *in);
        memcpy(node->out, out, node->n_out * sizeof *out);
        return log;
}

/* The excess of the log likelihood over that with sizes dealt again: the mean over some deals, and
 * the deviation. mean is NAN where it is not known, or below `least` in the first deals. */
typedef struct {
        double mean, deviation;
} Excess;

static Excess find_excess(const Joint *j, guint8 sizes, double least, const float *share,
                          guint32 deals, LogOf *log_of)
{
        double sum = 0, squares = 0, with = log_with(j, sizes, share, log_of), mean;

        for (guint32 n = 0; n < deals; n++) {
                double excess = with - log_dealt(j, sizes, n, share, log_of);

                sum += excess;
                squares += excess * excess;
                if (!(sum >= least * (n + 1)))
                        return (Excess){ NAN, 0 };
        }
        mean = sum / deals;
        return (Excess){ mean, sqrt(MAX(squares / deals - mean * mean, 0)) };
}

/* Whether an excess is at least this many deviations. */
static gboolean is_sure(const Excess *excess, double deviations)
{
        return excess->mean >= deviations * excess->deviation;
}

/* Gives all candidates of a call the same share. */
static void share_alike(const Joint *j, float *share)
{
        const Problem *p = j->problem;

        for (guint32 i = 0; i < p->node->n_out; i++)
                for (gsize k = p->candidates[i]; k < p->candidates[i + 1]; k++)
                        share[k] = 1.0F / (float)n_candidates(p, i);
}

/* --- whether parents become likelier ----------------------------------------------- */

/* The children of one kind, by which half of the parents has them. */
typedef struct {
        double learned, tested;
        NodeId callee;
} KindCount;

static void count_kinds(const Joint *j, KindCount *kinds)
{
        for (guint32 i = 0; i < j->problem->node->n_out; i++) {
                KindCount *kind = &kinds[j->kinds->calls[i].callee];
                guint32 parent = j->assignment->parent[i];

                kind->callee = j->problem->node->out[i].callee;
                if (parent == NO_PARENT || !is_training_parent(j->problem, parent))
                        continue;
                *(parent % 2 ? &kind->tested : &kind->learned) += 1;
        }
}

/* The log likelihood of the kinds that callees are split into. The children of every other parent
 * are judged by the frequencies among the rest. A split must pay for it. */
static double log_of_kinds(const Joint *j)
{
        guint32 n = j->model->n_callees;
        g_autofree KindCount *kinds = g_new0(KindCount, n);
        double log = 0;

        count_kinds(j, kinds);
        for (guint32 k = 0; k < n; k++) {
                double all = 0;

                for (guint32 i = 0; i < n; i++)
                        if (kinds[i].callee == kinds[k].callee)
                                all += kinds[i].learned + 1;
                log += kinds[k].tested * exact_log((kinds[k].learned + 1) / all);
        }
        return log;
}

/* Finds parents with these kinds, in a few rounds; queue: with workers where they are likelier. */
static void find_own(Trial *t, const Joint *j, guint8 sizes, gboolean queue)
{
        begin_trial(t, j, sizes);
        joint_assign_first(&t->j);
        if (queue)
                workers_try(&t->j);
        for (guint round = 0; round < tuning.size_rounds; round++) {
                joint_learn_from_assigned(&t->j, G_MAXUINT64);
                joint_assign_in_time(&t->j);
        }
}

/* The log likelihood of parents found with these kinds, beyond that of the kinds. Every other
 * parent is judged by walks learned from the rest. */
static double log_of_own(const Joint *j, guint8 sizes)
{
        double log;
        Trial t;

        find_own(&t, j, sizes, FALSE);
        log = (double)joint_judge_all(&t.j, 1) / LOG_UNIT - log_of_kinds(&t.j);
        end_trial(&t);
        return log;
}

/* Whether labels go with candidates no more than labels dealt again. Nor may they go with what
 * parents do, if found without labels. At a queue, hardly any right parent is found without the
 * queue. */
static gboolean labels_mean_nothing(Joint *j)
{
        g_autofree float *share = g_new(float, problem_n_all(j->problem));
        Excess excess;
        Trial t;

        share_alike(j, share);
        excess = find_excess(j, 0, tuning.least_gain, share, tuning.size_deals, log_of_candidates);
        if (is_sure(&excess, tuning.size_deviations))
                return FALSE;
        find_own(&t, j, NOT_BY_LABEL, TRUE);
        excess = find_excess(&t.j, 0, -G_MAXDOUBLE, NULL, tuning.size_deals, log_of_parents);
        end_trial(&t);
        joint_find_starts(j);
        return excess.mean < tuning.size_deviations * excess.deviation; /* FALSE for NAN */
}

/* Whether calls have sizes. */
static gboolean have_sizes(const NodeProblem *node)
{
        gboolean sizes = FALSE;

        for (guint32 i = 0; i < node->n_out; i++)
                sizes |= node->out[i].size[0] || node->out[i].size[1];
        return sizes;
}

static guint32 n_training(const Joint *j)
{
        guint32 n = 0;

        for (guint32 p = 0; p < j->problem->node->n_in; p++)
                n += is_training_parent(j->problem, p);
        return n;
}

/* --- which sizes ------------------------------------------------------------------------ */

enum { BOTH_SIZES = BY_CALL_SIZE | BY_RETURN_SIZE };

/* How much sizes go with what parents do that were found without sizes; 0: not beyond chance. */
static double go_with_parents(const Joint *j)
{
        double least = MAX(tuning.least_gain, tuning.size_excess * j->problem->node->n_out);
        Excess excess = find_excess(j, j->model->sizes | BOTH_SIZES, least, NULL, tuning.size_deals,
                                    log_of_parents);

        return is_sure(&excess, tuning.size_deviations) ? excess.mean : 0;
}

/* The sizes by which parents are likeliest, if the gain is at most most_gain; 0: none make them
 * likelier. */
static guint8 find_likeliest(const Joint *j, double most_gain)
{
        double least = MAX(tuning.least_gain, tuning.least_gain_each * n_training(j));
        guint8 base = j->model->sizes, best = 0;
        double without = log_of_own(j, base), most = without + least;

        for (guint8 sizes = 1; sizes <= BOTH_SIZES; sizes++) {
                double log = log_of_own(j, base | sizes);

                if (log > most && log - without <= most_gain) {
                        most = log;
                        best = sizes;
                }
        }
        return best;
}

/* The sizes that go best with candidates, if far beyond chance; 0: none do. A size that means
 * nothing does harm. So both count only if they gain clearly more than one alone. */
static guint8 find_surest(const Joint *j, const float *share)
{
        double most = 0;
        guint8 best = 0;

        for (guint8 sizes = 1; sizes <= BOTH_SIZES; sizes++) {
                Excess excess = find_excess(j, j->model->sizes | sizes, tuning.least_gain, share,
                                            tuning.candidate_deals, log_of_candidates);

                if (!is_sure(&excess, tuning.candidate_deviations) ||
                    excess.mean <= most + (sizes == BOTH_SIZES && best ? tuning.least_gain : 0))
                        continue;
                most = excess.mean;
                best = sizes;
        }
        return best;
}

/* The surest sizes, by candidates that count alike, and by the bounds. Where bounds are sharp, the
 * pairs of true parents stand out. If both find some, the sizes that make parents likelier win. */
static guint8 find_by_candidates(const Joint *j)
{
        g_autofree float *share = g_new(float, problem_n_all(j->problem));
        guint8 alike, near, base = j->model->sizes;

        share_alike(j, share);
        alike = find_surest(j, share);
        joint_share_by_bounds(j, share);
        near = find_surest(j, share);
        if (!alike || !near || alike == near)
                return alike | near;
        return log_of_own(j, base | near) > log_of_own(j, base | alike) ? near : alike;
}

/* The sizes that tell kinds apart; 0: none. Where most parents are wrong, sizes may neither make
 * them likelier nor go with what they do. Candidates may still show that sizes mean something. With
 * labels most parents are right. If sizes then gain far more for new parents than their excess with
 * these, they only fit the new ones. */
static guint8 find_best(const Joint *j, gboolean by_label)
{
        double excess = go_with_parents(j), share = (double)n_training(j) / j->problem->node->n_in;
        gboolean known = excess > 0, crowded = problem_n_all(j->problem) >=
                                               tuning.crowded * (gsize)j->problem->node->n_out;
        guint8 best =
                known ? find_likeliest(j, by_label ? tuning.size_fit * share * excess : G_MAXDOUBLE)
                      : 0;

        return best || by_label || !(known || crowded) ? best : find_by_candidates(j);
}

/* Begins the model anew, with kinds by these sizes. */
static void begin_by(Joint *j, guint8 sizes)
{
        NodeModel *h = j->model;
        guint32 n_known = h->n_known;
        const EvidenceKind *table[EVIDENCE_MOST + 1] = { NULL };

        for (guint i = 0; i < h->evidence.n; i++)
                table[i] = h->evidence.of[i]->kind;
        evidence_end(&h->evidence);
        node_model_clear(h);
        node_model_init(h);
        h->sizes = sizes;
        kinds_find(j->kinds, j->problem, h);
        node_model_start(h, j->learning->keeps ? h->out.n / 2 + 2 : 0, table);
        h->n_known = n_known;
        node_model_set_resolution(h, j->problem->resolution);
        evidence_unwatch(&h->evidence);
        trellis_begin(j->trellis, h);
        evidence_begin(&h->evidence, j);
        joint_assign_first(j);
}

/* Whether labels tell calls of one edge apart, into the node or out. */
static gboolean labels_tell_apart(const Joint *j)
{
        NodeModel *model = node_model_new();
        Kinds kinds = { 0 };
        gboolean tell;

        model->sizes = NOT_BY_LABEL;
        kinds_number(&kinds, j->problem, model);
        tell = j->model->in.n > model->in.n || j->model->out.n > model->out.n;
        kinds_clear(&kinds);
        node_model_free(model);
        return tell;
}

void split_by_sizes(Joint *j)
{
        guint8 best;
        gboolean by_label = labels_tell_apart(j);

        if (by_label && labels_mean_nothing(j)) {
                begin_by(j, NOT_BY_LABEL);
                by_label = FALSE;
        }
        best = have_sizes(j->problem->node) ? find_best(j, by_label) : 0;
        if (best)
                begin_by(j, j->model->sizes | best);
}
