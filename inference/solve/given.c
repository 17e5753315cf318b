/* SPDX-License-Identifier: BSD-2-Clause */
#include "inference/given-model.h"

#include <stdlib.h>

#include "base/compare.h"
#include "inference/evidence/evidence-table.h"
#include "inference/solve/answer.h"
#include "inference/solve/part-search.h"
#include "inference/solve/whole.h"

#define LIFE_UNKNOWN ((gint64)1 << 30) /* about a second, ns */

GBytes *learn_parents_jointly(NodeProblem *problem, NodeAnswer *answer)
{
        NodeModel *own = node_model_new();
        GBytes *learned;

        whole_solve(problem, own, (Learning){ .given_away = TRUE }, &learned, answer);
        node_model_free(own);
        return learned;
}

GBytes *node_model_of_nothing(void)
{
        NodeModel *model = node_model_new();
        guint32 kind = G_MAXUINT32;
        guint16 label = 0;
        GBytes *bytes;

        call_kinds_find(&model->in, &kind, &label, NULL, 1);
        kind = G_MAXUINT32;
        call_kinds_find(&model->out, &kind, &label, NULL, 1);
        node_model_start(model, 0, evidence_table);
        parent_walk_learn(&model->walk);
        delay_densities_learn(&model->bounds);
        model->life = LIFE_UNKNOWN;
        model->part = 8 * LIFE_UNKNOWN;
        bytes = node_model_to_bytes(model);
        node_model_free(model);
        return bytes;
}

static NodeModel *model_of(GBytes *bytes, GError **error)
{
        gsize n;
        const guint8 *data = g_bytes_get_data(bytes, &n);

        return node_model_from_bytes(data, n, error);
}

gboolean node_model_may_decide(GBytes *bytes, GError **error)
{
        NodeModel *model = model_of(bytes, error);
        gboolean may;

        if (!model)
                return FALSE;
        may = model->n_callees > 0 && model->part > 0 && node_model_fit(model);
        if (!may)
                g_set_error_literal(error, G_FILE_ERROR, G_FILE_ERROR_INVAL,
                                    "expected a model that was learned to decide by");
        node_model_free(model);
        return may;
}

/* Marks the calls that nobody made, by the learned callees of roots. */
static void mark_roots(NodeProblem *node, const NodeModel *model)
{
        for (guint32 i = 0; i < node->n_out; i++)
                if (model->n_roots > 0 && bsearch(&node->out[i].callee, model->root, model->n_roots,
                                                  sizeof *model->root, compare_uint32s))
                        node->out[i].flags |= OUT_ROOT;
}

/* Lists the parts of a problem that a model decides on. */
static GArray *list_parts(const Problem *p, const guint32 *n_candidates, const NodeModel *model)
{
        const NodeProblem *node = p->node;
        GArray *parts = g_array_new(FALSE, FALSE, sizeof(Part));

        for (guint32 at = 0; at < node->n_out;) {
                Part part = part_find_by_time(node, n_candidates, model->life, model->part, at);

                part_search_append(parts, p, part);
                at = part.before;
        }
        return parts;
}

void find_parents_by_model(NodeProblem *problem, GBytes *bytes, NodeAnswer *answer)
{
        NodeModel *model = model_of(bytes, NULL);
        Nouns n = { .problem = { .node = problem, .n_stretches = 2, .times = 2 } };
        g_autoptr(GArray) parts = NULL;
        g_autoptr(GBytes) learned = NULL;
        Candidates open;
        gboolean choice;

        g_assert(model && node_model_fit(model));
        nouns_tie(&n, model);
        node_model_add_other(model);
        problem_find_view(&n.problem, TRUE);
        n.problem.resolution = model->resolution;
        candidates_init(&open, MAX(problem->window, problem_tie(&n.problem)));
        assignment_init(&n.assignment, problem->n_in, problem->n_out);
        kinds_look_up(&n.kinds, &n.problem, model);
        answer_init(answer, problem);
        mark_roots(problem, model);
        problem_count_candidates(&n.problem, &open, answer->n_candidates);
        choice = whole_has_choice(problem, answer->n_candidates);
        parts = list_parts(&n.problem, answer->n_candidates, model);
        if (choice)
                learned = node_model_to_bytes(model);
        part_search_run(&n.j, parts, learned, answer);
        whole_conclude(&n, open.most, choice && problem->keep_log, answer);
        candidates_clear(&open);
        node_model_free(model);
}
