/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The parents of all calls that a node makes, found together: a call's parent is more
 * likely the less it leaves the others without.
 *
 * How likely a call into the node has made just these calls, parent-walk.c says. Each call into
 * the node has a claim on each call that it may have made: how likely it is, per ns, that it makes
 * this one then, by all that it may have done with what the others leave it. What they leave it is
 * the share of its claim in the sum of all claims on that call. So claims follow from claims, and
 * they are found by going round, parent by parent: belief propagation (Pearl, 1982; for data
 * association Williams and Lau, 2014).
 *
 * The walks learn from what is believed, and that follows from what the walks say, so both go in
 * rounds: expectation maximisation (Dempster, Laird and Rubin, 1977). The first rounds learn from
 * parents of calm moments, when few calls were open and there is little to mistake.
 */
#include <stdlib.h>

#include "nesting/joint.h"

enum {
        SETTLE = 4,   /* rounds after those of learning */
        DECIDE = 3,   /* rounds that make the likeliest parent of a call likelier */
        WARM_UP = 20, /* sweeps of the chain before its assignments count, */
        DRAWN = 60,   /* and of how many then */
        LEANING = 10, /* so many drawings are beliefs worth, where they leave no doubt, */
        FIRST = 8,    /* and to be the parent at first: what is about as good stays as it was */
};

/* --- kinds of calls -------------------------------------------------------- */

static void find_all_kinds(Joint *j, const CallLabels *labels)
{
        const NodeCalls *node = j->node;
        g_autofree guint16 *label = g_new(guint16, MAX(node->n_in, node->n_out));
        g_autofree guint32 *out_kind = g_new(guint32, node->n_out);

        for (guint32 p = 0; p < node->n_in; p++) {
                j->kind[p] = node->in[p].caller;
                label[p] = call_labels_get(labels, node->in[p].call);
        }
        call_kinds_find(&j->habits->in, j->kind, label, node->n_in);
        for (guint32 i = 0; i < node->n_out; i++) {
                out_kind[i] = node->out[i].callee;
                label[i] = call_labels_get(labels, node->out[i].call);
        }
        call_kinds_find(&j->habits->out, out_kind, label, node->n_out);
        for (guint32 i = 0; i < node->n_out; i++)
                j->calls[i] = (WalkCall){ node->out[i].start, node->out[i].end,
                                          MIN(out_kind[i], WALK_MAX_CALLEES - 1) };
}

/* --- candidates ------------------------------------------------------------ */

/* Of the candidates that were found for a child, those that need no skew window, if there are
 * such: clocks were set right as far as they can be, and what is open only by the window would
 * teach delays that there are not. */
static guint32 drop_unlikely(Candidates *c, const CallOut *child, guint32 n_found)
{
        gint64 end = MAX(child->start, child->end);
        guint32 kept = 0;

        for (guint32 k = 0; k < n_found; k++) {
                guint32 i = c->found[k];

                if (c->active[i].enter < child->start && c->reply[i] >= end)
                        c->found[kept++] = i;
        }
        return kept > 0 ? kept : n_found;
}

static void find_candidates(const Nesting *n, Joint *j, Candidates *candidates)
{
        const NodeCalls *node = j->node;
        gsize n_all = 0, room = node->n_out;
        guint32 next_in = 0;

        j->candidate = g_new(guint32, room);
        for (guint32 i = 0; i < node->n_out; i++) {
                const CallOut *child = &node->out[i];
                gboolean known = nesting_is_decided(n, child->call) && j->from > G_MININT64;
                guint32 n_found;

                for (; next_in < node->n_in && node->in[next_in].enter < child->start + j->window;
                     next_in++)
                        candidates_add(candidates, node->in[next_in].enter, node->in[next_in].reply,
                                       0, next_in);
                n_found = candidates_find(candidates, child->start, child->end);
                if (j->window > 0)
                        n_found = drop_unlikely(candidates, child, n_found);
                if (n_all + n_found > room) {
                        room = 2 * (n_all + n_found);
                        j->candidate = g_renew(guint32, j->candidate, room);
                }
                j->candidates[i] = n_all;
                for (guint32 k = 0; k < n_found; k++) {
                        guint32 parent = candidates->active[candidates->found[k]].which;

                        if (node->in[parent].call != child->call && /* a node that calls itself */
                            (!known || node->in[parent].call == n->calls.cause[child->call].parent))
                                j->candidate[n_all++] = parent;
                }
                n_found = n_all - j->candidates[i];
                j->n_choice += n_found > 1;
                if (!nesting_decides(n, child->call))
                        continue;
                if (n->calls.candidates)
                        n->calls.candidates[child->call] = n_found;
                j->n_children += n_found > 0;
                j->n_nestings += n_found;
        }
        j->candidates[node->n_out] = n_all;
}

typedef struct {
        gint64 time;
        guint32 which;
} OutputTime;

static int compare_outputs(const void *a, const void *b)
{
        const OutputTime *x = a, *y = b;

        if (x->time != y->time)
                return x->time < y->time ? -1 : 1;
        return (x->which > y->which) - (x->which < y->which);
}

/* Numbers the calls out of the node and, after them, its replies in the order of time. */
static void order_outputs(Joint *j)
{
        guint32 n_in = j->node->n_in, n_out = j->node->n_out;
        g_autofree OutputTime *times = g_new(OutputTime, n_out + n_in);
        Output *outputs = g_new(Output, n_out + n_in);

        for (guint32 i = 0; i < n_out; i++)
                times[i] = (OutputTime){ j->calls[i].start, i };
        for (guint32 p = 0; p < n_in; p++)
                times[n_out + p] = (OutputTime){ j->node->in[p].reply, n_out + p };
        qsort(times, n_out + n_in, sizeof *times, compare_outputs);
        for (guint32 i = 0; i < n_out + n_in; i++) {
                outputs[i].time = times[i].time;
                j->output[times[i].which] = i;
        }
        serving_order_take(&j->habits->order, outputs, n_out + n_in);
}

/* --- all of it ------------------------------------------------------------- */

LatticeParent joint_lattice_parent(const Joint *j, guint32 parent)
{
        const CallIn *in = &j->node->in[parent];

        return (LatticeParent){ parent, j->kind[parent], in->enter, in->reply,
                                j->output[j->node->n_out + parent] };
}

void joint_begin_lattice(Joint *j)
{
        const NodeHabits *h = j->habits;

        walk_lattice_clear(&j->lattice);
        walk_lattice_init(&j->lattice, h->n_callees, h->whole, h->n_whole);
}
static void start_walks(Joint *j)
{
        joint_make_claims(j);
        order_outputs(j);
        joint_begin_lattice(j);
}

/* Shares and scores as what a chain of assignments comes to, beside beliefs: these count for the
 * more, the more parents they leave in doubt, since it would take so many more drawings to tell
 * these apart. Shares then become probabilities. */
static void draw(Joint *j)
{
        gsize n = j->candidates[j->node->n_out];
        g_autofree float *second = g_new(float, n), *both = g_new(float, n);
        g_autofree guint8 *seen = g_new0(guint8, n);
        g_autofree guint32 *first = NULL;
        JointChain *chain;

        joint_ask_again(j, second, both);
        joint_assign_best(j, FALSE);
        first = g_memdup2(j->parent, j->node->n_out * sizeof *first);
        chain = joint_chain_new(j, both, FALSE);
        joint_chain_run(chain, WARM_UP);
        for (guint i = 0; i < DRAWN; i++) {
                joint_chain_run(chain, 1);
                joint_chain_count(chain, seen);
        }
        joint_chain_free(chain);
        for (guint32 i = 0; i < j->node->n_out; i++) {
                double squares = 0, leaning;
                guint drawn = 0;

                for (gsize k = j->candidates[i]; k < j->candidates[i + 1]; k++) {
                        squares += (double)both[k] * both[k];
                        drawn += seen[k];
                }
                leaning = LEANING / (squares * squares);
                for (gsize k = j->candidates[i]; k < j->candidates[i + 1]; k++)
                        j->share[k] = j->score[k] = (seen[k] + leaning * both[k] +
                                                     FIRST * (j->candidate[k] == first[i])) /
                                                    (drawn + leaning + FIRST);
        }
        joint_doubt(j, second);
}

/* Finds shares and scores. */
static void find_beliefs(Joint *j, const Nesting *n)
{
        guint settle = SETTLE;

        start_walks(j);
        if (n->true_parent)
                joint_learn_from_truth(j, n->true_parent);
        else if (j->from == G_MININT64)
                joint_learn(j);
        else
                joint_go_on(j);
        if (n->true_parent || n_stretches(j) > 1) {
                joint_assign_in_time(j);
                joint_start_claims(j);
                settle = SETTLE_ANEW;
        }
        for (guint round = 0; round < settle; round++)
                joint_claim_all(j, FALSE);
        joint_get_shares(j, j->share);
        for (guint round = 0; round < DECIDE; round++)
                joint_claim_all(j, TRUE);
        joint_get_shares(j, j->score);
        draw(j);
        if (j->node->habits) {
                joint_keep_habits(j);
        } else if (n->options.keep) {
                j->lattice.order = NULL;
                joint_assign_best(j, FALSE);
                j->log = joint_log_of_assignment(j);
        }
}

/* Whether a call out of the node matters in a step: its parent is not known, or may have
 * others. */
static gboolean is_in_view(const Joint *j, const Nesting *n, guint32 call)
{
        guint32 parent = n->calls.cause[call].parent;

        return !nesting_is_decided(n, call) ||
               (parent < n->calls.n && n->calls.at_callee[parent].to + 2 * j->window >= j->from);
}

/* What is to be learned from: where there are habits already, the step's calls, and only these stay
 * in view; where there are none, or far more calls than when learning began, all calls that
 * there are. */
static void find_view(Joint *j, const Nesting *n)
{
        NodeCalls *node = j->node;
        const NodeHabits *h = j->habits;
        guint32 n_in = 0, n_out = 0;

        j->from = G_MININT64;
        j->before = n->view.decide;
        if (h->n_parents == 0 || (h->n_parents < LEARN_FROM && node->n_in >= 2 * h->n_known))
                return;
        j->from = n->view.from;
        for (guint32 p = 0; p < node->n_in; p++)
                if (node->in[p].reply + 2 * j->window >= j->from)
                        node->in[n_in++] = node->in[p];
        for (guint32 i = 0; i < node->n_out; i++)
                if (is_in_view(j, n, node->out[i].call))
                        node->out[n_out++] = node->out[i];
        node->n_in = n_in;
        node->n_out = n_out;
}

/* There is nothing to find out, but something to learn for what comes. */
static void learn_without_choice(Joint *j)
{
        start_walks(j);
        joint_assign_best(j, FALSE);
        joint_go_on_from_assignment(j);
        joint_keep_habits(j);
}

static void joint_init(Joint *j)
{
        guint32 n_in = j->node->n_in, n_out = j->node->n_out;

        j->calls = g_new(WalkCall, n_out);
        j->parent = g_new(guint32, n_out);
        j->output = g_new(guint32, n_out + n_in);
        j->next = g_new(guint32, n_out);
        j->kind = g_new(guint32, n_in);
        j->candidates = g_new(gsize, n_out + 1);
        j->first = g_new(guint32, n_in);
        j->crowd = g_new0(guint64, n_in);
}

/* Begins to learn, where it does not go on or what there is has no room for these calls. */
static void begin_habits(Joint *j, const CallLabels *labels)
{
        NodeHabits *h = j->habits;

        if (j->from > G_MININT64) {
                find_all_kinds(j, labels);
                if (node_habits_fit(h))
                        return;
                j->from = G_MININT64;
        }
        node_habits_clear(h);
        node_habits_init(h);
        find_all_kinds(j, labels);
        node_habits_start(h, j->node->habits ? h->out.n / 2 + 2 : 0);
        h->n_known = j->node->n_in;
}

static void joint_clear(Joint *j)
{
        walk_lattice_clear(&j->lattice);
        g_free(j->calls);
        g_free(j->parent);
        g_free(j->next);
        g_free(j->claimed);
        g_free(j->first);
        g_free(j->first_claim);
        g_free(j->output);
        g_free(j->kind);
        g_free(j->crowd);
        g_free(j->claims);
        g_free(j->offered);
}

/* Hands out the candidates with their shares and scores. */
static void take_found(Joint *j, const Nesting *nesting, NodeParents *found)
{
        const NodeCalls *node = j->node;
        gsize n = j->candidates[node->n_out];

        *found = (NodeParents){ .n_out = node->n_out,
                                .call = g_new(guint32, node->n_out),
                                .first = j->candidates,
                                .parent = j->candidate,
                                .share = j->share,
                                .score = j->score,
                                .children = j->n_children,
                                .nestings = j->n_nestings,
                                .log = j->log,
                                .true_log = j->true_log };
        for (guint32 i = 0; i < node->n_out; i++)
                found->call[i] =
                        nesting_decides(nesting, node->out[i].call) ? node->out[i].call : NO_PARENT;
        for (gsize k = 0; k < n; k++)
                found->parent[k] = node->in[found->parent[k]].call;
}

void find_parents_jointly(const Nesting *n, NodeCalls *node, Candidates *candidates,
                          NodeParents *found)
{
        NodeHabits own;
        Joint j = { .node = node,
                    .window = n->options.window,
                    .habits = node->habits ? node->habits : &own };

        node_habits_init(&own);
        find_view(&j, n);
        joint_init(&j);
        begin_habits(&j, &n->labels);
        find_candidates(n, &j, candidates);
        j.share = g_new(float, j.candidates[node->n_out] + 1);
        j.score = g_new(float, j.candidates[node->n_out] + 1);
        for (gsize k = 0; k < j.candidates[node->n_out]; k++)
                j.share[k] = j.score[k] = 1;
        if (j.n_choice > 0)
                find_beliefs(&j, n);
        else if (node->habits && node->n_in > 0)
                learn_without_choice(&j);
        take_found(&j, n, found);
        joint_clear(&j);
        serving_order_take(&j.habits->order, NULL, 0);
        node_habits_clear(&own);
}
