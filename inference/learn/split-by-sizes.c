/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The purpose of a call shows in the sizes of the call and its return, as in a label
 * (call-labels.h). The size of a request tells one operation from another, also inside TLS. So
 * calls of different size are of different kinds, where sizes mean something and labels do not
 * tell calls apart.
 *
 * The test needs no parent. A call's parent is among its candidates, and so is chance. If sizes go
 * with what parents do, then some kinds of candidates are more frequent for some kinds of calls.
 * Sizes dealt again among the calls of an edge show how much of that is chance.
 *
 * Kinds go by labels from the beginning. Labels that are as good dealt again only leave fewer calls
 * of each kind to learn from. Such labels are left out.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "base/exact-log.h"
#include "base/hash.h"
#include "inference/learn/learning.h"
#include "inference/learn/splits.h"
#include "inference/model/kinds.h"
#include "inference/model/tuning.h"
#include "inference/search/assign.h"
#include "inference/search/trellis.h"

/* --- sizes or labels dealt again ----------------------------------------------------- */

/* The sizes of a call, or its label: two bytes. */
typedef struct {
        guint64 edge, place;
        gpointer dealt;
} Deal;

COMPARISON(compare_deals, Deal,
           a->edge != b->edge ? COMPARE(a->edge, b->edge) : COMPARE(a->place, b->place))

static void deal(Deal *deals, guint32 n, guint64 seed)
{
        g_autofree guint16 *before = g_new(guint16, n);

        qsort(deals, n, sizeof *deals, compare_deals);
        for (guint32 i = 0; i < n; i++) {
                memcpy(&before[i], deals[i].dealt, sizeof *before);
                deals[i].place = hash_word(seed, deals[i].place);
        }
        qsort(deals, n, sizeof *deals, compare_deals);
        for (guint32 i = 0; i < n; i++)
                memcpy(deals[i].dealt, &before[i], sizeof *before);
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

/* --- whether they mean anything ------------------------------------------------------ */

/* Pairs of a call and a candidate, by their kinds. All candidates of a call count as one. */
typedef struct {
        guint32 n_in, n_out;
        double *count, *of_in, *of_out, all;
} Pairs;

static void count_pairs(const Problem *p, const Kinds *kinds, Pairs *pairs)
{
        for (guint32 i = 0; i < p->node->n_out; i++)
                for (gsize k = p->candidates[i]; k < p->candidates[i + 1]; k++) {
                        guint32 in = kinds->kind[p->candidate[k]], out = kinds->calls[i].callee;
                        double share = 1.0 / n_candidates(p, i);

                        pairs->count[(gsize)in * pairs->n_out + out] += share;
                        pairs->of_in[in] += share;
                        pairs->of_out[out] += share;
                        pairs->all += share;
                }
}

/* The gain in log likelihood over pairs whose kinds have nothing to do with each other. */
static double log_of_pairs(const Pairs *p)
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

/* The log likelihood of all pairs with kinds by sizes. NAN: there are too many kinds. */
static double log_with(const Joint *j, guint8 sizes)
{
        NodeModel *model = node_model_new();
        Kinds kinds = { 0 };
        double log = NAN;

        model->sizes = sizes;
        kinds_find(&kinds, j->problem, model);
        if (MAX(model->in.n, model->out.n) <= MOST_SIZED) {
                Pairs pairs = { .n_in = model->in.n, .n_out = model->out.n };

                pairs.count = g_new0(double, (gsize)pairs.n_in *pairs.n_out);
                pairs.of_in = g_new0(double, pairs.n_in);
                pairs.of_out = g_new0(double, pairs.n_out);
                count_pairs(j->problem, &kinds, &pairs);
                log = log_of_pairs(&pairs);
                g_free(pairs.count);
                g_free(pairs.of_in);
                g_free(pairs.of_out);
        }
        kinds_clear(&kinds);
        node_model_free(model);
        return log;
}

/* The log likelihood with sizes dealt again; or with labels, where kinds are by no sizes. */
static double log_dealt(const Joint *j, guint8 sizes, guint32 number)
{
        NodeProblem *node = j->problem->node;
        g_autofree CallIn *in = g_memdup2(node->in, node->n_in * sizeof *in);
        g_autofree CallOut *out = g_memdup2(node->out, node->n_out * sizeof *out);
        double log;

        deal_all(node, sizes == 0, number);
        log = log_with(j, sizes);
        memcpy(node->in, in, node->n_in * sizeof *in);
        memcpy(node->out, out, node->n_out * sizeof *out);
        return log;
}

/* The excess of the log likelihood over sizes dealt again, in nats. The mean is NAN where it is
 * below `least` in the first deals, and where there are too many kinds. */
typedef struct {
        double mean, deviation;
} Excess;

static Excess find_excess(const Joint *j, guint8 sizes, double least)
{
        double sum = 0, squares = 0, with = log_with(j, sizes), mean;

        for (guint32 n = 0; n < tuning.size_deals; n++) {
                double excess = with - log_dealt(j, sizes, n);

                sum += excess;
                squares += excess * excess;
                if (!(sum >= least * (n + 1)))
                        return (Excess){ NAN, 0 };
        }
        mean = sum / tuning.size_deals;
        return (Excess){ mean, sqrt(MAX(squares / tuning.size_deals - mean * mean, 0)) };
}

/* Whether pairs are no likelier with labels than with labels dealt again. Where candidates hardly
 * depend on labels, even dealt ones, nothing is known, and labels stay. */
static gboolean labels_mean_nothing(const Joint *j)
{
        Excess excess = find_excess(j, 0, -G_MAXDOUBLE);

        return excess.deviation >= tuning.label_least_deviation &&
               excess.mean < tuning.label_deviations * excess.deviation;
}

/* --- which kinds --------------------------------------------------------------------- */

/* Whether calls have sizes. */
static gboolean have_sizes(const NodeProblem *node)
{
        gboolean sizes = FALSE;

        for (guint32 i = 0; i < node->n_out; i++)
                sizes |= node->out[i].size[0] || node->out[i].size[1];
        return sizes;
}

/* The sizes that go best with candidates; 0: none do. A size that means nothing does harm. So both
 * count only if they gain clearly more than one alone. */
static guint8 find_best_sizes(const Joint *j)
{
        enum { BOTH_SIZES = BY_CALL_SIZE | BY_RETURN_SIZE };
        double most = 0;
        guint8 best = 0;

        for (guint8 sizes = 1; sizes <= BOTH_SIZES; sizes++) {
                Excess excess = find_excess(j, j->model->sizes | sizes, tuning.least_gain);

                if (excess.mean >= tuning.size_deviations * excess.deviation &&
                    excess.mean > most + (sizes == BOTH_SIZES && best ? tuning.least_gain : 0)) {
                        most = excess.mean;
                        best = sizes;
                }
        }
        return best;
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

/* Whether labels tell calls of one edge apart: calls into the node, and calls out. */
typedef struct {
        gboolean in, out;
} ToldApart;

static ToldApart labels_tell_apart(const Joint *j)
{
        NodeModel *model = node_model_new();
        Kinds kinds = { 0 };
        ToldApart tell;

        model->sizes = NOT_BY_LABEL;
        kinds_number(&kinds, j->problem, model);
        tell = (ToldApart){ j->model->in.n > model->in.n, j->model->out.n > model->out.n };
        kinds_clear(&kinds);
        node_model_free(model);
        return tell;
}

void split_by_sizes(Joint *j)
{
        ToldApart by_label = labels_tell_apart(j);
        guint8 best;

        if ((by_label.in || by_label.out) && labels_mean_nothing(j)) {
                begin_by(j, NOT_BY_LABEL);
                by_label.in = FALSE;
        }
        /* Names of parents say what they call. Where all have one name, as in GraphQL, sizes may.
         */
        best = !by_label.in && have_sizes(j->problem->node) ? find_best_sizes(j) : 0;
        if (best)
                begin_by(j, j->model->sizes | best);
}
