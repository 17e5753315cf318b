/* SPDX-License-Identifier: BSD-2-Clause */
#include "inference/solve/drawings.h"

#include "inference/learn/calibrate.h"
#include "inference/model/tuning.h"
#include "inference/search/assignment.h"
#include "inference/search/sampler.h"
#include "inference/solve/answer.h"

/* Whether the parents of these calls are right with a mean probability below tuning.drawn_below. */
static gboolean is_in_doubt(const Joint *j, guint32 first, guint32 end)
{
        double right = 0;
        guint32 n = 0;

        for (guint32 i = first; i < end; i++) {
                if (n_candidates(j->problem, i) == 0)
                        continue;
                right += (double)j->scores
                                 ->share[problem_best_candidate(j->problem, i, j->scores->score)];
                n++;
        }
        return right < tuning.drawn_below * n;
}

void joint_draw(Joint *j, guint32 first, guint32 end, NodeAnswer *answer, guint32 at)
{
        const NodeProblem *node = j->problem->node;
        g_autofree guint32 *found = NULL;
        Sampler *chain;

        if (!is_in_doubt(j, first, end))
                return;
        answer_make_room_for_drawings(answer);
        found = g_memdup2(j->assignment->parent, node->n_out * sizeof *found);
        chain = sampler_new(j, j->scores->score, FALSE);
        sampler_open_all(chain);
        sampler_run(chain, tuning.draw_warm_up);
        for (guint d = 0; d < ANSWER_DRAWINGS; d++) {
                sampler_run(chain, tuning.draw_sweeps);
                for (guint32 i = first; i < end; i++)
                        if (j->assignment->parent[i] != NO_PARENT)
                                answer->drawn[(gsize)(at + i - first) * ANSWER_DRAWINGS + d] =
                                        node->in[j->assignment->parent[i]].call;
        }
        sampler_free(chain);
        assignment_take(j->assignment, found);
}
