/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What a node does for a call may depend on why it is called, and what the caller does besides
 * shows that. A call after one to an authentication service may be an order, and a call without one
 * a search. So the parents found at the caller tell kinds of calls apart at the callee, as a label
 * does (call-labels.h).
 *
 * The context of a call is the set of nodes that its parent calls before it, the set that it calls
 * after it, and the parent's own context. Nodes are solved callers first (node-order.h), so no
 * node's contexts depend on its own parents.
 */
#include "base/hash.h"
#include "inference/evidence-table.h"
#include "inference/rounds.h"

/* A context is told apart if that raises the log likelihood of its parents by at least LEAST_GAIN,
 * and by LEAST_GAIN_EACH for each parent. */
#define LEAST_GAIN      5.0
#define LEAST_GAIN_EACH 0.01

/* --- contexts of calls out of the node --------------------------------------- */

/* The bit of a call's callee in a set of nodes. Beyond 64 nodes some share a bit. */
static inline guint64 bit_of(const Joint *j, guint32 call)
{
        return (guint64)1 << j->node->out[call].callee % 64;
}

/* A child, and the set of nodes that its parent calls before it. */
typedef struct {
        guint32 call;
        guint64 before;
} Child;

static guint32 hash_context(guint64 before, guint64 after, guint32 parent)
{
        guint64 h = hash_word(hash_word(hash_word(HASH_SEED, before), after), parent);

        return (guint32)MAX(h >> 32, 1);
}

void joint_set_contexts(const Joint *j, guint32 *context)
{
        g_autoptr(GArray) children = g_array_new(FALSE, FALSE, sizeof(Child));

        for (guint32 p = 0; p < j->node->n_in; p++) {
                guint64 nodes = 0;

                g_array_set_size(children, 0);
                for (guint32 k = j->first[p]; k != NO_PARENT; k = j->next[k]) {
                        Child child = { k, nodes };

                        g_array_append_val(children, child);
                        nodes |= bit_of(j, k);
                }
                nodes = 0;
                for (guint i = children->len; i-- > 0;) {
                        const Child *child = &g_array_index(children, Child, i);

                        context[child->call] =
                                hash_context(child->before, nodes, j->node->in[p].context);
                        nodes |= bit_of(j, child->call);
                }
        }
}

/* --- and of calls into it ----------------------------------------------------- */

/* Adds sign times the log likelihoods of parents to log, by fine kind. Each half of the parents is
 * judged by walks learned from the other half. */
static void add_logs(Joint *j, double sign, double *log)
{
        g_autofree gint64 *judged = g_new(gint64, j->node->n_in);

        joint_judge(j, 2, judged);
        for (guint32 p = 0; p < j->node->n_in; p++)
                log[j->fine[p]] += sign * judged[p] / LOG_UNIT;
}

static void tell_contexts(Evidence *e G_GNUC_UNUSED, Joint *j)
{
        NodeModel *h = j->model;
        gsize size = j->node->n_in * sizeof *j->kind;
        g_autofree double *gain = g_new0(double, h->in.n);
        g_autofree guint32 *n = g_new0(guint32, h->in.n);
        guint8 *told;

        if (!memcmp(j->kind, j->fine, size))
                return;
        for (guint32 p = 0; p < j->node->n_in; p++)
                n[j->fine[p]] += is_training_parent(j, p);
        add_logs(j, -1, gain);
        memcpy(j->kind, j->fine, size);
        add_logs(j, 1, gain);
        told = g_new(guint8, h->in.n);
        for (guint32 k = 0; k < h->in.n; k++)
                told[k] = gain[k] >= MAX(LEAST_GAIN, LEAST_GAIN_EACH * n[k]);
        node_model_tell_kinds(h, told);
        for (guint32 p = 0; p < j->node->n_in; p++)
                j->kind[p] = node_model_kind(h, j->fine[p]);
        joint_begin_trellis(j);
}

const EvidenceKind evidence_contexts = {
        .name = "contexts",
        .try_first = tell_contexts,
        .without_choice = TRUE,
};
