/* SPDX-License-Identifier: BSD-2-Clause */
#include "inference/solve/whole.h"

#include "base/compare.h"
#include "inference/evidence/evidence-table.h"
#include "inference/learn/order-trials.h"
#include "inference/model/parts.h"
#include "inference/model/pass-calls.h"
#include "inference/model/roots.h"
#include "inference/model/tuning.h"
#include "inference/search/family.h"
#include "inference/solve/answer.h"
#include "inference/solve/drawings.h"
#include "inference/solve/families.h"
#include "inference/solve/part-search.h"
#include "inference/solve/weigh.h"

/* --- all calls at once -------------------------------------------------------- */

static void learn(Joint *j)
{
        problem_find_concurrency(j->problem);
        problem_find_calm(j->problem);
        joint_learn(j);
}

/* Learns the model, and finds shares and scores with all calls of the node at once. */
static void find_beliefs(Joint *j)
{
        gboolean truth = j->problem->node->truth != NULL;

        nouns_start(j);
        if (truth)
                joint_learn_from_truth(j);
        else if (j->problem->from == G_MININT64)
                learn(j);
        else
                joint_go_on(j);
        if (truth || j->problem->n_stretches > 1)
                nouns_begin_anew(j);
        if (j->problem->n_stretches > 1 || j->problem->from > G_MININT64)
                order_find(j);
        nouns_allow_deciding(j);
        joint_settle(j);
        nouns_assign_best(j);
        if (j->learning->keeps)
                joint_keep_model(j);
}

/* Learns for later steps where no call has a choice of parents. */
static void learn_without_choice(Joint *j)
{
        nouns_start(j);
        nouns_assign_best(j);
        joint_go_on_from_assignment(j);
        joint_keep_model(j);
}

static void find_at_once(Joint *j, Candidates *open, NodeAnswer *answer)
{
        guint32 n_out = j->problem->node->n_out;

        problem_init(j->problem);
        kinds_make_calls(j->kinds, j->problem);
        problem_find_candidates(j->problem, open, 0, 0, n_out, FALSE);
        answer->weights = weigh_list(j->problem, 0, n_out);
        evidence_leases_narrow(&j->model->evidence, j);
        scores_init(j->scores, j->problem);
        if (j->problem->n_choice > 0)
                find_beliefs(j);
        else if ((j->learning->keeps || j->learning->given_away) && j->problem->node->n_in > 0)
                learn_without_choice(j);
        else
                nouns_assign_best(j);
        joint_find_families(j, 0, n_out, answer->family);
        if (j->problem->n_choice > 0 && j->problem->node->draws)
                joint_draw(j, 0, n_out, answer, 0);
        answer_hand_out(j, 0, n_out, answer, 0);
        if (answer->weights)
                weigh(j, answer->weights);
}

/* --- the model ------------------------------------------------------------------ */

/* Returns n: the model is trained by one stretch of parents in n. */
static guint32 find_stretches(const NodeProblem *node, gsize n_beliefs)
{
        guint32 by_parents = node->n_in / tuning.learn_from;
        guint32 by_beliefs = MIN(n_beliefs / LEARN_BELIEFS, node->n_in / STRETCH);

        return MAX(MAX(by_parents, by_beliefs), 1);
}

/* Whether to learn from all calls: no model is there, or far fewer calls trained it. */
static gboolean learns_anew(const NodeModel *model, const NodeProblem *node)
{
        return model->n_parents == 0 ||
               (model->n_parents < tuning.learn_from && node->n_in >= 2 * model->n_known);
}

/* Prepares the model. Keeps it if it has room for the kinds of these calls, else starts anew. */
static void begin_model(Joint *j)
{
        NodeModel *model = j->model;

        if (j->problem->from > G_MININT64) {
                kinds_number(j->kinds, j->problem, model);
                if (node_model_fit(model))
                        return;
                j->problem->from = G_MININT64;
        }
        node_model_clear(model);
        node_model_init(model);
        kinds_number(j->kinds, j->problem, model);
        node_model_start(model, j->learning->keeps ? model->out.n / 2 + 2 : 0, evidence_table);
        model->n_known = j->problem->node->n_in;
}

/* Counts the candidates of all calls but roots. Returns the total. */
static gsize count_candidates(Joint *j, Candidates *open, guint32 *n_candidates)
{
        gsize n = problem_count_candidates(j->problem, open, n_candidates);

        if (roots_find(j->problem->node, n_candidates))
                n = problem_count_candidates(j->problem, open, n_candidates);
        return n;
}

gboolean whole_has_choice(const NodeProblem *node, const guint32 *n_candidates)
{
        for (guint32 i = 0; i < node->n_out; i++)
                if (n_candidates[i] > 1)
                        return TRUE;
        return FALSE;
}

/* Notes the callees of roots. */
static void note_roots(const NodeProblem *node, NodeModel *model)
{
        g_autoptr(GHashTable) seen = g_hash_table_new(NULL, NULL);
        g_autoptr(GArray) roots = g_array_new(FALSE, FALSE, sizeof(guint32));

        for (guint32 i = 0; i < node->n_out; i++)
                if ((node->out[i].flags & OUT_ROOT) &&
                    g_hash_table_add(seen, GUINT_TO_POINTER(node->out[i].callee)))
                        g_array_append_val(roots, node->out[i].callee);
        g_array_sort(roots, compare_uint32s);
        g_free(model->root);
        model->n_roots = roots->len;
        model->root = (guint32 *)g_array_free(g_steal_pointer(&roots), FALSE);
}

/* Notes how later problems are divided into parts, and the callees of roots. */
static void note_parts(const NodeProblem *node, const guint32 *n_candidates, NodeModel *model)
{
        model->life = parts_mean_life(node);
        model->part = parts_length(node, n_candidates, model->life);
        note_roots(node, model);
}

/* Prepares the log likelihood of parents that were found in parts, for all calls together. */
static void prepare_log(Nouns *n)
{
        const NodeProblem *node = n->problem.node;
        CallRange all = { 0, node->n_in, 0, node->n_out };
        guint32 n_workers = n->j.model->evidence.workers.n;
        Kinds kinds = { 0 };

        problem_init(&n->problem);
        problem_order_outputs(&n->problem);
        kinds_take(&kinds, &n->kinds, &all, 1, &n->problem);
        kinds_clear(&n->kinds);
        n->kinds = kinds;
        joint_find_starts(&n->j);
        if (n_workers > 0)
                workers_find_starts(node->in, node->n_in, n_workers, n->problem.start);
}

void whole_conclude(Nouns *n, guint32 most_open, gboolean keep_log, NodeAnswer *answer)
{
        Joint *j = &n->j;

        if (!keep_log)
                kinds_clear(&n->kinds);
        assignment_link(j->assignment);
        if (keep_log) {
                evidence_unwatch(&j->model->evidence);
                if (!n->problem.start)
                        prepare_log(n);
                answer->log = joint_log_of_assignment(j);
        }
        answer->true_log = n->learning.true_log;
        answer->most_open = most_open;
        answer_waits(j, answer);
        evidence_end(&j->model->evidence);
        kinds_clear(&n->kinds);
        nouns_clear(n);
}

void whole_begin(Whole *b, NodeProblem *problem, NodeModel *model, Learning learning,
                 NodeAnswer *answer)
{
        Nouns *n = &b->n;

        *b = (Whole){ .n = { .problem.node = problem, .learning = learning } };
        nouns_tie(n, model);
        problem_find_view(&n->problem, learns_anew(model, problem));
        problem_find_resolution(&n->problem, model->resolution);
        candidates_init(&b->open, MAX(problem->window, problem_tie(&n->problem)));
        assignment_init(&n->assignment, problem->n_in, problem->n_out);
        begin_model(&n->j);
        node_model_set_resolution(model, n->problem.resolution);
        evidence_unwatch(&model->evidence);
        answer_init(answer, problem);
        b->n_beliefs = count_candidates(&n->j, &b->open, answer->n_candidates);
        b->choice = whole_has_choice(problem, answer->n_candidates);
        n->problem.n_stretches = n->problem.times = find_stretches(problem, b->n_beliefs);
}

void whole_find_at_once(Whole *b, NodeAnswer *answer)
{
        b->n.problem.n_stretches = b->choice ? b->n.problem.n_stretches : 1;
        find_at_once(&b->n.j, &b->open, answer);
}

void whole_abandon(Whole *b)
{
        kinds_clear(&b->n.kinds);
        nouns_clear(&b->n);
        candidates_clear(&b->open);
}

void whole_end(Whole *b, NodeAnswer *answer)
{
        const NodeProblem *problem = b->n.problem.node;

        whole_conclude(&b->n, b->open.most, b->choice && problem->keep_log && !b->n.learning.keeps,
                       answer);
        candidates_clear(&b->open);
        b->ended = TRUE;
}

/* Finds all parents, at once or in parts. */
static void whole_find(Whole *b, NodeAnswer *answer)
{
        const Learning *learning = &b->n.learning;

        if (b->n.problem.n_stretches > 1 && !learning->keeps && !b->n.problem.node->truth &&
            (b->choice || !learning->given_away))
                part_search_find(&b->n.j, &b->open, b->choice, answer);
        else
                whole_find_at_once(b, answer);
}

void whole_solve(NodeProblem *problem, NodeModel *model, Learning learning, GBytes **learned,
                 NodeAnswer *answer)
{
        Whole b;

        whole_begin(&b, problem, model, learning, answer);
        whole_find(&b, answer);
        if (learned) {
                note_parts(problem, answer->n_candidates, model);
                parent_walk_forget_survival(&model->walk);
                *learned = node_model_to_bytes(model);
        }
        whole_end(&b, answer);
}

void find_parents_jointly(NodeProblem *problem, NodeModel *model, NodeAnswer *answer)
{
        NodeModel *own = model ? NULL : node_model_new();

        whole_solve(problem, model ? model : own, (Learning){ .keeps = model != NULL }, NULL,
                    answer);
        if (own)
                node_model_free(own);
}
