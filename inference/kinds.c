/* SPDX-License-Identifier: BSD-2-Clause */
#include "inference/kinds.h"

void kinds_find(Kinds *k, const Problem *p, NodeModel *model)
{
        const NodeProblem *node = p->node;
        g_autofree guint16 *label = g_new(guint16, MAX(node->n_in, node->n_out));
        g_autofree guint32 *out_kind = g_new(guint32, node->n_out);
        g_autofree guint32 *context = g_new(guint32, node->n_in);

        kinds_clear(k);
        k->calls = g_new(WalkCall, node->n_out);
        k->kind = g_new(guint32, node->n_in);
        k->fine = g_new(guint32, node->n_in);
        for (guint32 i = 0; i < node->n_in; i++) {
                k->fine[i] = node->in[i].caller;
                label[i] = node->in[i].label;
                context[i] = node->in[i].context;
        }
        call_kinds_find(&model->in, k->fine, label, context, node->n_in);
        for (guint32 i = 0; i < node->n_in; i++)
                k->kind[i] = node_model_kind(model, k->fine[i]);
        for (guint32 i = 0; i < node->n_out; i++) {
                out_kind[i] = node->out[i].callee;
                label[i] = node->out[i].label;
        }
        call_kinds_find(&model->out, out_kind, label, NULL, node->n_out);
        for (guint32 i = 0; i < node->n_out; i++)
                k->calls[i] = (WalkCall){ node->out[i].start, node->out[i].end,
                                          MIN(out_kind[i], WALK_MAX_CALLEES - 1) };
}

void kinds_look_up(Kinds *k, const Problem *p, const NodeModel *model)
{
        const NodeProblem *node = p->node;

        kinds_clear(k);
        k->calls = g_new(WalkCall, node->n_out);
        k->kind = g_new(guint32, node->n_in);
        k->fine = g_new(guint32, node->n_in);
        for (guint32 i = 0; i < node->n_in; i++) {
                const CallIn *in = &node->in[i];
                guint32 kind =
                        call_kinds_look_up(&model->in, in->caller, in->label, in->context, FALSE);

                k->fine[i] = kind == NO_KIND ? model->in.n - 1 : kind;
                k->kind[i] = node_model_kind(model, k->fine[i]);
        }
        for (guint32 i = 0; i < node->n_out; i++) {
                const CallOut *out = &node->out[i];
                guint32 kind = call_kinds_look_up(&model->out, out->callee, out->label, 0, TRUE);
                WalkCall call = { out->start, out->end,
                                  MIN(kind == NO_KIND ? 0 : kind, model->n_whole - 1) };

                call.callee = node_model_callee(model, call.callee, duration_of(&call));
                k->calls[i] = call;
        }
}

void kinds_clear(Kinds *k)
{
        g_clear_pointer(&k->calls, g_free);
        g_clear_pointer(&k->kind, g_free);
        g_clear_pointer(&k->fine, g_free);
}

void kinds_split_callees(Kinds *k, const Problem *p, NodeModel *model, DurationLimits *limits)
{
        for (guint32 i = 0; i < p->node->n_out; i++)
                k->calls[i].callee = model->whole[k->calls[i].callee];
        node_model_tell_apart(model, limits);
        for (guint32 i = 0; i < p->node->n_out; i++) {
                WalkCall *call = &k->calls[i];

                call->callee = node_model_callee(model, call->callee, duration_of(call));
        }
}

void kinds_split_all_callers(Kinds *k, const Problem *p)
{
        memcpy(k->kind, k->fine, p->node->n_in * sizeof *k->kind);
}

void kinds_split_callers(Kinds *k, const Problem *p, NodeModel *model, guint8 *told)
{
        node_model_tell_kinds(model, told);
        for (guint32 i = 0; i < p->node->n_in; i++)
                k->kind[i] = node_model_kind(model, k->fine[i]);
}
