/* SPDX-License-Identifier: BSD-2-Clause */
#include "inference/learn/splits.h"
#include "inference/model/kinds.h"
#include "inference/model/problem.h"

/* Sets of callees by what they have in common, from the narrowest on. A callee whose sizes vary is
 * several callees here, and only the sum of their calls may be a fixed number. */
typedef enum { SAME_CALLEE, SAME_LABEL, SAME_NODE, ANY_CALLEE, N_WIDTHS } Width;

typedef struct {
        NodeId node;
        guint16 label;
        gboolean used;
} Callee;

static gboolean go_together(const Callee *callees, guint32 one, guint32 other, Width width)
{
        const Callee *x = &callees[one], *y = &callees[other];

        if (!x->used || !y->used)
                return FALSE;
        switch (width) {
        case SAME_CALLEE:
                return one == other;
        case SAME_LABEL:
                return x->node == y->node && x->label == y->label;
        case SAME_NODE:
                return x->node == y->node;
        default:
                return TRUE;
        }
}

/* Finds the callees that go together with this one. Returns whether it is the first of them, and
 * the set is larger than the narrower one. */
static gboolean gather(const Callee *callees, guint32 n, guint32 callee, Width width,
                       guint8 *member)
{
        guint32 n_narrower = 0, n_members = 0;

        for (guint32 i = 0; i < n; i++) {
                member[i] = go_together(callees, i, callee, width);
                if (member[i] && i < callee)
                        return FALSE;
                n_members += member[i];
                n_narrower += width > 0 && go_together(callees, i, callee, width - 1);
        }
        return n_members > n_narrower;
}

/* The kinds of parents (by call into the node), and the callees (by call out). */
typedef struct {
        guint32 *kind, *callee;
        Callee *callees;
} NumberedKinds;

static NumberedKinds number_kinds_of(const Joint *j)
{
        const NodeProblem *node = j->problem->node;
        const NodeModel *h = j->model;
        NumberedKinds t = { g_new(guint32, node->n_in), g_new(guint32, node->n_out),
                            g_new0(Callee, h->n_callees) };

        for (guint32 i = 0; i < node->n_in; i++)
                t.kind[i] = j->kinds->kind[i];
        for (guint32 i = 0; i < node->n_out; i++) {
                t.callee[i] = j->kinds->calls[i].callee;
                t.callees[t.callee[i]] = (Callee){ node->out[i].callee, node->out[i].label, TRUE };
        }
        return t;
}

/* Finds numbers before anything that parents are found by. With numbers, each parent is held to the
 * calls that it makes, even if walks learned from wrong parents. */
void split_by_numbers(Joint *j)
{
        NodeModel *h = j->model;
        guint8 member[NUMBERS_KINDS];
        CallNumbers numbers;
        CallCurve *curve;
        NumberedKinds t;

        if (h->in.n > NUMBERS_KINDS || h->n_callees > NUMBERS_KINDS)
                return;
        t = number_kinds_of(j);
        call_numbers_init(&numbers, h->in.n, h->n_callees);
        curve = call_curve_new(j->problem->node, t.kind, h->in.n, t.callee,
                               j->problem->n_stretches > 1 ? STRETCH : 0);
        for (Width width = SAME_CALLEE; width < N_WIDTHS; width++)
                for (guint32 i = 0; i < h->n_callees; i++)
                        if (gather(t.callees, h->n_callees, i, width, member))
                                call_numbers_find(&numbers, curve, member);
        call_curve_free(curve);
        g_free(t.kind);
        g_free(t.callee);
        g_free(t.callees);
        node_model_tell_numbers(h, &numbers);
}
