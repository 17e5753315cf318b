/* SPDX-License-Identifier: BSD-2-Clause */
#include "inference/answer.h"

#include "inference/calibrate.h"
#include "inference/tuning.h"

void answer_init(NodeAnswer *answer, const NodeProblem *problem)
{
        *answer = (NodeAnswer){ .n_in = problem->n_in,
                                .n_out = problem->n_out,
                                .call = g_new(guint32, problem->n_out),
                                .n_candidates = g_new(guint32, problem->n_out),
                                .context = g_new0(guint32, problem->n_out),
                                .family = g_new(float, problem->n_in),
                                .first = g_new0(gsize, problem->n_out + 1) };
        for (guint32 p = 0; p < problem->n_in; p++)
                answer->family[p] = 1;
}

void answer_hand_out(const Joint *j, guint32 first, guint32 end, NodeAnswer *answer, guint32 at)
{
        gsize n_found = answer->first[at],
              room = n_found + j->problem->candidates[end] - j->problem->candidates[first];

        answer->parent = g_renew(guint32, answer->parent, room);
        answer->share = g_renew(float, answer->share, room);
        answer->score = g_renew(float, answer->score, room);
        for (guint32 i = first; i < end; i++, at++) {
                const CallOut *out = &j->problem->node->out[i];
                float least = 0;

                if (!(out->flags & OUT_EXPLAIN))
                        for (gsize k = j->problem->candidates[i]; k < j->problem->candidates[i + 1];
                             k++)
                                least = MAX(least, j->scores->score[k] * (float)WORTH_NAMING);
                for (gsize k = j->problem->candidates[i]; k < j->problem->candidates[i + 1]; k++) {
                        if (j->scores->score[k] < least)
                                continue;
                        answer->parent[n_found] =
                                j->problem->node->in[j->problem->candidate[k]].call;
                        answer->share[n_found] = j->scores->share[k];
                        answer->score[n_found++] = j->scores->score[k];
                }
                answer->call[at] = problem_decides(j->problem, i) ? out->call : NO_PARENT;
                answer->first[at + 1] = n_found;
        }
        answer->parent = g_renew(guint32, answer->parent, n_found);
        answer->share = g_renew(float, answer->share, n_found);
        answer->score = g_renew(float, answer->score, n_found);
}

void node_answer_clear(NodeAnswer *answer)
{
        g_free(answer->call);
        g_free(answer->n_candidates);
        g_free(answer->context);
        g_free(answer->family);
        g_free(answer->first);
        g_free(answer->parent);
        g_free(answer->share);
        g_free(answer->score);
        *answer = (NodeAnswer){ 0 };
}
