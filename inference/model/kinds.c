/* SPDX-License-Identifier: BSD-2-Clause */
#include "inference/model/kinds.h"

#include "inference/model/pass-calls.h"

static guint16 distinct_label(const NodeModel *model, guint16 label)
{
        return model->sizes & NOT_BY_LABEL ? 0 : label;
}

/* The sizes that distinguish kinds; the others are 0. */
static guint16 distinct_sizes(const NodeModel *model, const guint8 size[2])
{
        return (model->sizes & BY_CALL_SIZE ? size[0] : 0) |
               (model->sizes & BY_RETURN_SIZE ? size[1] << 8 : 0);
}

static void number_in(Kinds *k, const NodeProblem *node, NodeModel *model)
{
        g_autofree guint16 *label = g_new(guint16, node->n_in), *sizes = g_new(guint16, node->n_in);

        k->kind = g_new(guint32, node->n_in);
        for (guint32 i = 0; i < node->n_in; i++) {
                node_problem_pass(node, i);
                k->kind[i] = node->in[i].caller;
                label[i] = distinct_label(model, node->in[i].label);
                sizes[i] = distinct_sizes(model, node->in[i].size);
        }
        call_kinds_find(&model->in, k->kind, label, sizes, node->n_in);
}

static void number_out(Kinds *k, const NodeProblem *node, NodeModel *model)
{
        g_autofree guint16 *label = g_new(guint16, node->n_out),
                           *sizes = g_new(guint16, node->n_out);

        k->callee = g_new(guint32, node->n_out);
        for (guint32 i = 0; i < node->n_out; i++) {
                node_problem_pass(node, i);
                k->callee[i] = node->out[i].callee;
                label[i] = distinct_label(model, node->out[i].label);
                sizes[i] = distinct_sizes(model, node->out[i].size);
        }
        call_kinds_find(&model->out, k->callee, label, sizes, node->n_out);
        for (guint32 i = 0; i < node->n_out; i++)
                k->callee[i] = MIN(k->callee[i], WALK_MAX_CALLEES - 1);
}

void kinds_number(Kinds *k, const Problem *p, NodeModel *model)
{
        kinds_clear(k);
        number_in(k, p->node, model);
        number_out(k, p->node, model);
}

void kinds_look_up(Kinds *k, const Problem *p, const NodeModel *model)
{
        const NodeProblem *node = p->node;

        kinds_clear(k);
        k->kind = g_new(guint32, node->n_in);
        k->callee = g_new(guint32, node->n_out);
        for (guint32 i = 0; i < node->n_in; i++) {
                const CallIn *in = &node->in[i];
                guint32 kind =
                        call_kinds_look_up(&model->in, in->caller, distinct_label(model, in->label),
                                           distinct_sizes(model, in->size), FALSE);

                node_problem_pass(node, i);
                k->kind[i] = kind == NO_KIND ? model->in.n - 1 : kind;
        }
        for (guint32 i = 0; i < node->n_out; i++) {
                const CallOut *out = &node->out[i];
                guint32 kind = call_kinds_look_up(&model->out, out->callee,
                                                  distinct_label(model, out->label),
                                                  distinct_sizes(model, out->size), TRUE);

                node_problem_pass(node, i);
                k->callee[i] = MIN(kind == NO_KIND ? 0 : kind, model->n_callees - 1);
        }
}

static WalkCall walk_call(const CallOut *out, guint32 callee)
{
        return (WalkCall){ out->start, out->end, callee };
}

void kinds_take(Kinds *k, const Kinds *numbered, const CallRange *ranges, guint n, const Problem *p)
{
        guint32 at_in = 0, at_out = 0;

        kinds_clear(k);
        k->kind = g_new(guint32, p->node->n_in);
        k->calls = g_new(WalkCall, p->node->n_out);
        for (guint r = 0; r < n; r++) {
                for (guint32 i = ranges[r].first_in; i < ranges[r].end_in; i++)
                        k->kind[at_in++] = numbered->kind[i];
                for (guint32 i = ranges[r].first_out; i < ranges[r].end_out; i++, at_out++)
                        k->calls[at_out] = walk_call(&p->node->out[at_out], numbered->callee[i]);
        }
}

void kinds_make_calls(Kinds *k, const Problem *p)
{
        k->calls = g_new(WalkCall, p->node->n_out);
        for (guint32 i = 0; i < p->node->n_out; i++)
                k->calls[i] = walk_call(&p->node->out[i], k->callee[i]);
        g_clear_pointer(&k->callee, g_free);
}

void kinds_find(Kinds *k, const Problem *p, NodeModel *model)
{
        kinds_number(k, p, model);
        kinds_make_calls(k, p);
}

void kinds_clear(Kinds *k)
{
        g_clear_pointer(&k->calls, g_free);
        g_clear_pointer(&k->kind, g_free);
        g_clear_pointer(&k->callee, g_free);
}
