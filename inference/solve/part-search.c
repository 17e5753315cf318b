/* SPDX-License-Identifier: BSD-2-Clause */
#include "inference/solve/part-search.h"

#include "inference/evidence/evidence-table.h"
#include "inference/learn/order-trials.h"
#include "inference/model/pass-calls.h"
#include "inference/search/family.h"
#include "inference/search/stretches.h"
#include "inference/solve/answer.h"
#include "inference/solve/drawings.h"
#include "inference/solve/families.h"
#include "inference/solve/weigh.h"

void found_part_clear(FoundPart *found)
{
        node_answer_clear(&found->answer);
        g_free(found->family);
        *found = (FoundPart){ 0 };
}

NodeAnswer found_part_begin(const Part *part)
{
        guint32 n = part->before - part->at;

        return (NodeAnswer){ .n_out = n, .call = g_new(guint32, n), .first = g_new0(gsize, n + 1) };
}

FoundPart found_part_find(const Joint *whole, NodeModel *model, const Part *part)
{
        const CallIn *all_in = whole->problem->node->in;
        guint32 n_out = part->end - part->first, at = part->at - part->first,
                before = part->before - part->first;
        NodeProblem slice;
        Candidates open;
        Nouns n = { 0 };
        Joint *j = &n.j;
        FoundPart found = { .answer = found_part_begin(part) };
        CallRange calls;

        node_problem_put_away(whole->problem->node);
        candidates_init(&open, MAX(whole->problem->node->window, problem_tie(whole->problem)));
        n.problem = problem_narrow(whole->problem, &slice, &open, part->first_in, part->first,
                                   part->end);
        candidates_clear(&open);
        nouns_tie(&n, model);
        found.first_in = slice.in - all_in;
        found.n_in = slice.n_in;
        calls = (CallRange){ found.first_in, found.first_in + slice.n_in, part->first, part->end };
        kinds_take(&n.kinds, whole->kinds, &calls, 1, &n.problem);
        found.answer.weights = weigh_list(&n.problem, at, before);
        if (n.problem.n_choice > 0) /* else threads may share the model, which learned nothing */
                evidence_leases_narrow(&model->evidence, j);
        assignment_init(&n.assignment, slice.n_in, n_out);
        scores_init(&n.scores, &n.problem);
        if (n.problem.n_choice > 0) {
                nouns_start(j);
                nouns_begin_anew(j);
                order_find(j);
                nouns_allow_deciding(j);
                joint_settle(j);
        }
        nouns_assign_best(j);
        assignment_take_part(whole->assignment, j->assignment, at, before, part->at,
                             found.first_in);
        found.family = g_new(float, slice.n_in);
        for (guint32 p = 0; p < slice.n_in; p++)
                found.family[p] = 1;
        joint_find_families(j, at, before, found.family);
        if (n.problem.n_choice > 0 && whole->problem->node->draws)
                joint_draw(j, at, before, &found.answer, 0);
        answer_hand_out(j, at, before, &found.answer, 0);
        if (found.answer.weights)
                weigh(j, found.answer.weights);
        kinds_clear(&n.kinds);
        nouns_clear(&n);
        return found;
}

static NodeModel *copy_of(GBytes *learned)
{
        gsize n;
        const guint8 *data = g_bytes_get_data(learned, &n);
        NodeModel *model = node_model_from_bytes(data, n, NULL);

        g_assert(model);
        parent_walk_learn_survival(&model->walk);
        evidence_watch_used(&model->evidence);
        return model;
}

NodeModel *part_search_model(PartSearch *s, guint slot)
{
        if (!s->learned)
                return s->whole->model;
        if (!s->model[slot]) {
                s->model[slot] = copy_of(s->learned);
                s->size[slot] = parent_walk_size(&s->model[slot]->walk);
        }
        parent_walk_take_back(&s->model[slot]->walk, s->size[slot]);
        evidence_watch_used(&s->model[slot]->evidence);
        return s->model[slot];
}

void part_search_hand_out(PartSearch *s, guint32 number)
{
        FoundPart *found = &s->found[number];

        answer_add_part(s->answer, g_array_index(s->parts, Part, number).at, &found->answer);
        for (guint32 p = 0; p < found->n_in; p++)
                s->answer->family[found->first_in + p] *= found->family[p];
        g_clear_pointer(&found->family, g_free);
}

/* CrewPart; data: the search. */
static void do_part(gpointer data, guint32 number, guint slot)
{
        PartSearch *s = data;
        FoundPart found = found_part_find(s->whole, part_search_model(s, slot),
                                          &g_array_index(s->parts, Part, number));
        const Problem *whole = s->whole->problem;
        double learnt = problem_learnt(whole);

        g_mutex_lock(&s->lock);
        s->found[number] = found;
        s->found[number].done = TRUE;
        for (; s->n_handed < s->parts->len && s->found[s->n_handed].done; s->n_handed++)
                part_search_hand_out(s, s->n_handed);
        problem_done(whole, learnt + (1 - learnt) * s->n_handed / s->parts->len);
        g_mutex_unlock(&s->lock);
}

/* Ends with the model of the first slot in place of the one that it was copied from. */
static void clear_models(PartSearch *s, NodeModel *model)
{
        guint n_slots = crew_size(s->whole->problem->node->crew);

        for (guint i = 0; s->learned && i < n_slots; i++) {
                if (!s->model[i])
                        continue;
                evidence_end(&s->model[i]->evidence);
                parent_walk_take_back(&s->model[i]->walk, s->size[i]);
                if (i > 0) {
                        node_model_free(s->model[i]);
                        continue;
                }
                node_model_move(model, s->model[0]);
        }
}

void part_search_end(PartSearch *s, Joint *j)
{
        clear_models(s, j->model);
        trellis_begin(j->trellis, j->model); /* it is another one now */
}

void part_search_run(Joint *j, GArray *parts, GBytes *learned, NodeAnswer *answer)
{
        guint n_slots = crew_size(j->problem->node->crew);
        g_autofree NodeModel **model = g_new0(NodeModel *, n_slots);
        g_autofree WalkSize *size = g_new(WalkSize, n_slots);
        g_autofree FoundPart *found = g_new0(FoundPart, parts->len + 1);
        PartSearch s = { .whole = j,
                         .parts = parts,
                         .found = found,
                         .learned = learned,
                         .model = model,
                         .size = size,
                         .answer = answer };

        g_mutex_init(&s.lock);
        crew_share(j->problem->node->crew, parts->len, do_part, &s);
        g_mutex_clear(&s.lock);
        part_search_end(&s, j);
}

static GBytes *forget_learned(Joint *j)
{
        GBytes *learned;

        if (j->model->sizes)
                node_model_add_other(j->model);
        learned = node_model_to_bytes(j->model);
        evidence_end(&j->model->evidence);
        return learned;
}

void part_search_number(Joint *j, const NodeModel *model)
{
        if (model->sizes)
                kinds_look_up(j->kinds, j->problem, model);
}

static void learn_from(Joint *j, Candidates *open)
{
        problem_find_candidates(j->problem, open, 0, 0, j->problem->node->n_out, TRUE);
        evidence_leases_narrow(&j->model->evidence, j);
        scores_init(j->scores, j->problem);
        nouns_start(j);
        problem_find_concurrency(j->problem);
        joint_learn(j);
}

GBytes *part_search_learn(Joint *whole, Candidates *open)
{
        Nouns n = { .learning = *whole->learning };
        Stretches s;
        GBytes *learned;

        problem_find_calm(whole->problem);
        stretches_find(&s, whole->problem);
        n.problem = stretches_problem(&s, whole->problem);
        nouns_tie(&n, whole->model);
        assignment_init(&n.assignment, s.node.n_in, s.node.n_out);
        kinds_take(&n.kinds, whole->kinds, (const CallRange *)s.ranges->data, s.ranges->len,
                   &n.problem);
        learn_from(&n.j, open);
        learned = forget_learned(&n.j);
        kinds_clear(&n.kinds);
        nouns_clear(&n);
        stretches_clear(&s);
        part_search_number(whole, whole->model);
        return learned;
}

void part_search_append(GArray *parts, const Problem *p, Part part)
{
        const Part *last = parts->len ? &g_array_index(parts, Part, parts->len - 1) : NULL;

        part_find_open(p->node, MAX(p->node->window, problem_tie(p)), last, &part);
        g_array_append_val(parts, part);
}

GArray *part_search_divide(const Problem *p, const guint32 *n_candidates)
{
        const NodeProblem *node = p->node;
        gint64 life = parts_mean_life(node);
        GArray *parts = g_array_new(FALSE, FALSE, sizeof(Part));

        for (guint32 at = 0; at < node->n_out;) {
                Part part = part_find(node, n_candidates, life, at);

                part_search_append(parts, p, part);
                at = part.before;
        }
        return parts;
}

void part_search_find(Joint *j, Candidates *open, gboolean choice, NodeAnswer *answer)
{
        g_autoptr(GBytes) learned = choice ? part_search_learn(j, open) : NULL;
        g_autoptr(GArray) parts = part_search_divide(j->problem, answer->n_candidates);

        part_search_run(j, parts, learned, answer);
}
