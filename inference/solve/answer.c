/* SPDX-License-Identifier: BSD-2-Clause */
#include "inference/solve/answer.h"

#include <string.h>

#include "base/fill.h"
#include "inference/learn/calibrate.h"
#include "inference/learn/worker-count.h"
#include "inference/model/evidence.h"
#include "inference/model/node-model.h"
#include "inference/model/tuning.h"
#include "inference/search/assignment.h"
#include "inference/search/trellis.h"

void answer_init(NodeAnswer *answer, const NodeProblem *problem)
{
        *answer = (NodeAnswer){ .n_in = problem->n_in,
                                .n_out = problem->n_out,
                                .call = g_new(guint32, problem->n_out),
                                .n_candidates = g_new(guint32, problem->n_out),
                                .family = g_new(float, problem->n_in),
                                .first = g_new0(gsize, problem->n_out + 1) };
        for (guint32 p = 0; p < problem->n_in; p++)
                answer->family[p] = 1;
}

static void name(const Joint *j, gsize candidate, NodeAnswer *answer, gsize at)
{
        answer->parent[at] = j->problem->node->in[j->problem->candidate[candidate]].call;
        answer->share[at] = j->scores->share[candidate];
        answer->score[at] = j->scores->score[candidate];
}

/* Names the candidates of call i that are worth it, from `at` on. Returns the next place. */
static gsize name_some(const Joint *j, guint32 i, NodeAnswer *answer, gsize at)
{
        const gsize *first = &j->problem->candidates[i];
        const float *score = j->scores->score;
        float least = 0;

        if (!(j->problem->node->out[i].flags & OUT_EXPLAIN))
                for (gsize k = first[0]; k < first[1]; k++)
                        least = MAX(least, score[k] * (float)WORTH_NAMING);
        for (gsize k = first[0]; k < first[1]; k++)
                if (score[k] >= least)
                        name(j, k, answer, at++);
        return at;
}

/* Names only the first candidate with the best score. */
static gsize name_best(const Joint *j, guint32 i, NodeAnswer *answer, gsize at)
{
        const gsize *first = &j->problem->candidates[i];
        gsize best = first[0];

        if (first[0] == first[1])
                return at;
        for (gsize k = first[0]; k < first[1]; k++)
                if (j->scores->score[k] > j->scores->score[best])
                        best = k;
        name(j, best, answer, at);
        return at + 1;
}

/* Whether a call was decided with fewer candidates than it has, or by beliefs that were not updated
 * to the end. */
static gboolean is_hasty(const Joint *j, guint32 i)
{
        guint32 n = n_candidates(j->problem, i);

        return n == MOST_CANDIDATES || (n > 1 && j->trellis->hasty);
}

void answer_hand_out(const Joint *j, guint32 first, guint32 end, NodeAnswer *answer, guint32 at)
{
        gsize n_found = answer->first[at];
        gsize room = n_found + j->problem->candidates[end] - j->problem->candidates[first];

        answer->parent = g_renew(guint32, answer->parent, room);
        answer->share = g_renew(float, answer->share, room);
        answer->score = g_renew(float, answer->score, room);
        for (guint32 i = first; i < end; i++, at++) {
                const CallOut *out = &j->problem->node->out[i];
                gboolean one = j->problem->node->best_only && !(out->flags & OUT_EXPLAIN);

                n_found = one ? name_best(j, i, answer, n_found) : name_some(j, i, answer, n_found);
                answer->call[at] = problem_decides(j->problem, i) ? out->call : NO_PARENT;
                answer->n_hasty += problem_decides(j->problem, i) && is_hasty(j, i);
                answer->first[at + 1] = n_found;
        }
        answer->parent = g_renew(guint32, answer->parent, n_found);
        answer->share = g_renew(float, answer->share, n_found);
        answer->score = g_renew(float, answer->score, n_found);
}

void answer_make_room_for_drawings(NodeAnswer *answer)
{
        gsize n = (gsize)answer->n_out * ANSWER_DRAWINGS;

        if (answer->drawn)
                return;
        answer->drawn = g_new(guint32, n);
        fill(answer->drawn, 0xff, n * sizeof *answer->drawn); /* NO_PARENT */
}

void answer_add_part(NodeAnswer *answer, guint32 at, NodeAnswer *part)
{
        gsize n_found = answer->first[at], n = part->first[part->n_out], room = n_found + n;

        answer->parent = g_renew(guint32, answer->parent, room);
        answer->share = g_renew(float, answer->share, room);
        answer->score = g_renew(float, answer->score, room);
        if (n > 0) {
                memcpy(answer->parent + n_found, part->parent, n * sizeof *part->parent);
                memcpy(answer->share + n_found, part->share, n * sizeof *part->share);
                memcpy(answer->score + n_found, part->score, n * sizeof *part->score);
        }
        if (part->weights && !answer->weights)
                answer->weights = g_steal_pointer(&part->weights);
        else if (part->weights)
                g_array_append_vals(answer->weights, part->weights->data, part->weights->len);
        memcpy(answer->call + at, part->call, part->n_out * sizeof *part->call);
        answer->n_hasty += part->n_hasty;
        for (guint32 i = 1; i <= part->n_out; i++)
                answer->first[at + i] = n_found + part->first[i];
        if (part->drawn) {
                answer_make_room_for_drawings(answer);
                memcpy(answer->drawn + (gsize)at * ANSWER_DRAWINGS, part->drawn,
                       (gsize)part->n_out * ANSWER_DRAWINGS * sizeof *part->drawn);
        }
        node_answer_clear(part);
}

static void write_waits(const NodeProblem *node, const guint32 *parent, NodeAnswer *answer)
{
        g_autofree gint64 *wait = NULL;

        if (answer->n_workers == 0)
                return;
        wait = g_new(gint64, node->n_in);
        workers_find_starts(node->in, node->n_in, answer->n_workers, wait);
        if (!workers_fit(node, parent, wait))
                return;
        for (guint32 p = 0; p < node->n_in; p++)
                wait[p] = MAX(MIN(wait[p], node->in[p].reply) - node->in[p].enter, 0);
        answer->wait = g_steal_pointer(&wait);
}

void answer_waits(const Joint *j, NodeAnswer *answer)
{
        answer->n_workers = j->model->evidence.workers.n;
        write_waits(j->problem->node, j->assignment->parent, answer);
}

void find_waits(const NodeProblem *node, NodeAnswer *answer)
{
        *answer = (NodeAnswer){ .n_in = node->n_in,
                                .n_workers = workers_count(node->in, node->n_in) };
        write_waits(node, NULL, answer);
}

void node_answer_clear(NodeAnswer *answer)
{
        g_free(answer->call);
        g_free(answer->n_candidates);
        g_free(answer->family);
        g_free(answer->wait);
        g_free(answer->drawn);
        g_free(answer->first);
        g_free(answer->parent);
        g_free(answer->share);
        g_free(answer->score);
        if (answer->weights)
                g_array_free(answer->weights, TRUE);
        *answer = (NodeAnswer){ 0 };
}
