/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Joint inference: finds the parents of all calls that a node makes together. A call's parent
 * depends on what is left for the other calls. docs/model.md gives the model.
 *
 * The model is learned from beliefs, and beliefs follow from the model, so both are found in
 * rounds, by expectation maximisation (Dempster, Laird and Rubin, 1977). The first rounds learn
 * from calm parents, which lived while the concurrency was low and little could be mistaken.
 *
 * Where there are very many parents, or very many candidates, the model is learned from some
 * training parents. The parents of calls are then found part by part, so that memory never holds
 * the beliefs on all calls.
 */
#include <stdlib.h>

#include "base/compare.h"
#include "base/peers.h"
#include "inference/evidence/evidence-table.h"
#include "inference/given-model.h"
#include "inference/learn/calibrate.h"
#include "inference/learn/learn.h"
#include "inference/learn/order-trials.h"
#include "inference/model/kinds.h"
#include "inference/model/parts.h"
#include "inference/model/pass-calls.h"
#include "inference/model/roots.h"
#include "inference/model/tuning.h"
#include "inference/search/assign.h"
#include "inference/search/assignment.h"
#include "inference/search/beliefs.h"
#include "inference/search/family.h"
#include "inference/search/stretches.h"
#include "inference/shared-node.h"
#include "inference/solve/answer.h"
#include "inference/solve/drawings.h"
#include "inference/solve/families.h"
#include "inference/solve/weigh.h"

/* --- the nouns of one problem ----------------------------------------------- */

/* A Joint and what it points to. */
typedef struct {
        Joint j;
        Problem problem;
        Kinds kinds;
        Assignment assignment;
        Trellis trellis;
        Beliefs beliefs;
        Scores scores;
        Learning learning;
} Nouns;

/* Ties the nouns together. */
static void tie(Nouns *n, NodeModel *model)
{
        n->j = (Joint){ &n->problem, model,       &n->kinds,  &n->assignment,
                        &n->trellis, &n->beliefs, &n->scores, &n->learning };
}

static void clear_nouns(Nouns *n)
{
        problem_clear(&n->problem);
        assignment_clear(&n->assignment);
        trellis_clear(&n->trellis);
        beliefs_clear(&n->beliefs);
        scores_clear(&n->scores);
}

/* Prepares to learn and to infer: the candidates are known. */
static void start(Joint *j)
{
        joint_make_beliefs(j);
        problem_order_outputs(j->problem);
        trellis_begin(j->trellis, j->model);
        evidence_begin(&j->model->evidence, j);
        joint_find_starts(j);
}

/* --- the whole node at once --------------------------------------------------- */

/* Starts beliefs from an assignment in order of time, by the model. */
static void begin_anew(Joint *j)
{
        joint_assign_in_time(j);
        joint_start_beliefs(j);
}

static void assign_best(Joint *j)
{
        assignment_take_best(j->assignment, j->problem, j->scores->score, FALSE);
}

static void learn(Joint *j)
{
        problem_find_concurrency(j->problem);
        problem_find_calm(j->problem);
        joint_learn(j);
}

/* Learns the model and finds shares and scores, with all calls of the node at once; these not where
 * what was learned is rejected. */
static void find_beliefs(Joint *j)
{
        gboolean truth = j->problem->node->truth != NULL;

        start(j);
        if (truth)
                joint_learn_from_truth(j);
        else if (j->problem->from == G_MININT64)
                learn(j);
        else
                joint_go_on(j);
        if (j->learning->rejected)
                return;
        if (truth || j->problem->n_stretches > 1)
                begin_anew(j);
        if (j->problem->n_stretches > 1 || j->problem->from > G_MININT64)
                order_find(j);
        joint_settle(j);
        assign_best(j);
        if (j->learning->keeps)
                joint_keep_model(j);
}

/* No call has a choice of parents, but the model for later steps can learn from them. */
static void learn_without_choice(Joint *j)
{
        start(j);
        assign_best(j);
        joint_go_on_from_assignment(j);
        joint_keep_model(j);
}

static void find_at_once(Joint *j, Candidates *open, NodeAnswer *answer)
{
        guint32 n_out = j->problem->node->n_out;

        problem_init(j->problem);
        kinds_tell(j->kinds, j->problem);
        problem_find_candidates(j->problem, open, 0, 0, n_out, FALSE);
        answer->weights = weigh_list(j->problem, 0, n_out);
        evidence_leases_narrow(&j->model->evidence, j);
        scores_init(j->scores, j->problem);
        if (j->problem->n_choice > 0)
                find_beliefs(j);
        else if ((j->learning->keeps || j->learning->given_away) && j->problem->node->n_in > 0)
                learn_without_choice(j);
        else
                assign_best(j);
        if (j->learning->rejected)
                return;
        joint_find_families(j, 0, n_out, answer->family);
        if (j->problem->n_choice > 0 && j->problem->node->draws)
                joint_draw(j, 0, n_out, answer, 0);
        answer_hand_out(j, 0, n_out, answer, 0);
        if (answer->weights)
                weigh(j, answer->weights);
}

/* --- part by part ---------------------------------------------------------- */

/* What a part has found, until those before it are handed out. */
typedef struct {
        NodeAnswer answer; /* of its calls alone */
        float *family;     /* by call into the node from first_in on */
        guint32 first_in, n_in;
        gboolean rejected, done;
} FoundPart;

static void found_part_clear(FoundPart *found)
{
        node_answer_clear(&found->answer);
        g_free(found->family);
        *found = (FoundPart){ 0 };
}

/* Parts go to any thread, and each thread has a copy of the model for itself, which notes what is
 * seen. A part begins with what was learned and no more, so it does not matter which were before.
 */
typedef struct {
        const Joint *whole;
        GArray *parts; /* of Part */
        FoundPart *found;
        GBytes *learned;   /* NULL: no call has a choice */
        NodeModel **model; /* by slot */
        WalkSize *size;    /* likewise: of its walk when it was new */
        NodeAnswer *answer;
        guint32 n_handed; /* of parts */
        GMutex lock;      /* of what follows from parts that are done */
} PartSearch;

/* A part before it is handed out. */
static NodeAnswer begin_answer(const Part *part)
{
        guint32 n = part->before - part->at;

        return (NodeAnswer){ .n_out = n, .call = g_new(guint32, n), .first = g_new0(gsize, n + 1) };
}

static FoundPart find_in_part(const Joint *whole, NodeModel *model, const Part *part)
{
        const CallIn *all_in = whole->problem->node->in;
        guint32 n_out = part->end - part->first, at = part->at - part->first,
                before = part->before - part->first;
        NodeProblem slice;
        Candidates open;
        Nouns n = { 0 };
        Joint *j = &n.j;
        FoundPart found = { .answer = begin_answer(part) };
        CallRange calls;

        node_problem_put_away(whole->problem->node);
        candidates_init(&open, MAX(whole->problem->node->window, problem_tie(whole->problem)));
        n.problem = problem_narrow(whole->problem, &slice, &open, part->first_in, part->first,
                                   part->end);
        candidates_clear(&open);
        tie(&n, model);
        found.first_in = slice.in - all_in;
        found.n_in = slice.n_in;
        calls = (CallRange){ found.first_in, found.first_in + slice.n_in, part->first, part->end };
        kinds_take(&n.kinds, whole->kinds, &calls, 1, &n.problem);
        found.answer.weights = weigh_list(&n.problem, at, before);
        if (n.problem.n_choice > 0) /* else threads may share the model: nothing was learned */
                evidence_leases_narrow(&model->evidence, j);
        assignment_init(&n.assignment, slice.n_in, n_out);
        scores_init(&n.scores, &n.problem);
        if (n.problem.n_choice > 0) {
                start(j);
                begin_anew(j);
                order_find(j);
                joint_settle(j);
        }
        assign_best(j);
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
        found.rejected = n.scores.rejected;
        kinds_clear(&n.kinds);
        clear_nouns(&n);
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

/* A model that knows what was learned and no more. */
static NodeModel *model_for(PartSearch *s, guint slot)
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

/* Adds what a part has found to the answer. Families are multiplied in the order of parts. */
static void hand_out(PartSearch *s, guint32 number)
{
        FoundPart *found = &s->found[number];

        answer_add_part(s->answer, g_array_index(s->parts, Part, number).at, &found->answer);
        for (guint32 p = 0; p < found->n_in; p++)
                s->answer->family[found->first_in + p] *= found->family[p];
        g_clear_pointer(&found->family, g_free);
        s->whole->scores->rejected |= found->rejected;
}

/* CrewPart; data: the search. */
static void do_part(gpointer data, guint32 number, guint slot)
{
        PartSearch *s = data;
        FoundPart found =
                find_in_part(s->whole, model_for(s, slot), &g_array_index(s->parts, Part, number));
        const Problem *whole = s->whole->problem;
        double learnt = problem_learnt(whole);

        g_mutex_lock(&s->lock);
        s->found[number] = found;
        s->found[number].done = TRUE;
        for (; s->n_handed < s->parts->len && s->found[s->n_handed].done; s->n_handed++)
                hand_out(s, s->n_handed);
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

/* After all parts. */
static void end_parts(PartSearch *s, Joint *j)
{
        clear_models(s, j->model);
        trellis_begin(j->trellis, j->model); /* it is another one now */
}

/* Finds the parents of calls part by part, by what was learned. */
static void find_parts(Joint *j, GArray *parts, GBytes *learned, NodeAnswer *answer)
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
        end_parts(&s, j);
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

/* Where sizes were found to tell kinds apart, the kinds are others than before, and only those of
 * calls that were learned from are known. */
static void number_by_size(Joint *j, const NodeModel *model)
{
        if (model->sizes)
                kinds_look_up(j->kinds, j->problem, model);
}

static void learn_from(Joint *j, Candidates *open)
{
        problem_find_candidates(j->problem, open, 0, 0, j->problem->node->n_out, TRUE);
        evidence_leases_narrow(&j->model->evidence, j);
        scores_init(j->scores, j->problem);
        start(j);
        problem_find_concurrency(j->problem);
        joint_learn(j);
}

/* Learns from the training parents. */
static GBytes *learn_for_parts(Joint *whole, Candidates *open)
{
        Nouns n = { .learning = *whole->learning };
        Stretches s;
        GBytes *learned;

        problem_find_calm(whole->problem);
        stretches_find(&s, whole->problem);
        n.problem = stretches_problem(&s, whole->problem);
        tie(&n, whole->model);
        assignment_init(&n.assignment, s.node.n_in, s.node.n_out);
        kinds_take(&n.kinds, whole->kinds, (const CallRange *)s.ranges->data, s.ranges->len,
                   &n.problem);
        learn_from(&n.j, open);
        whole->learning->rejected = n.learning.rejected;
        learned = forget_learned(&n.j);
        kinds_clear(&n.kinds);
        clear_nouns(&n);
        stretches_clear(&s);
        number_by_size(whole, whole->model);
        return learned;
}

/* Adds a part to others. */
static void append_part(GArray *parts, const Problem *p, Part part)
{
        const Part *last = parts->len ? &g_array_index(parts, Part, parts->len - 1) : NULL;

        part_find_open(p->node, MAX(p->node->window, problem_tie(p)), last, &part);
        g_array_append_val(parts, part);
}

/* The parts in which the parents of all calls are found. */
static GArray *divide(const Problem *p, const guint32 *n_candidates)
{
        const NodeProblem *node = p->node;
        gint64 life = parts_mean_life(node);
        GArray *parts = g_array_new(FALSE, FALSE, sizeof(Part));

        for (guint32 at = 0; at < node->n_out;) {
                Part part = part_find(node, n_candidates, life, at);

                append_part(parts, p, part);
                at = part.before;
        }
        return parts;
}

/* Learns from the training parents, then finds the parents of calls part by part. */
static void find_in_parts(Joint *j, Candidates *open, gboolean choice, NodeAnswer *answer)
{
        g_autoptr(GBytes) learned = choice ? learn_for_parts(j, open) : NULL;
        g_autoptr(GArray) parts = NULL;

        if (j->learning->rejected)
                return;
        parts = divide(j->problem, answer->n_candidates);
        find_parts(j, parts, learned, answer);
}

/* The model is trained by one stretch of parents in this number. */
static guint32 find_stretches(const NodeProblem *node, gsize n_beliefs)
{
        guint32 by_parents = node->n_in / tuning.learn_from;
        guint32 by_beliefs = MIN(n_beliefs / LEARN_BELIEFS, node->n_in / STRETCH);

        return MAX(MAX(by_parents, by_beliefs), 1);
}

/* Whether all calls are learned from: if there is no model, or far fewer calls trained it than
 * there are now. */
static gboolean learns_anew(const NodeModel *model, const NodeProblem *node)
{
        return model->n_parents == 0 ||
               (model->n_parents < tuning.learn_from && node->n_in >= 2 * model->n_known);
}

/* Prepares the model: keeps it if it has room for the kinds of these calls, else starts a new
 * one. */
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

/* Counts the candidates of all calls, without those of roots. Returns how many they are. */
static gsize count_candidates(Joint *j, Candidates *open, guint32 *n_candidates)
{
        gsize n = problem_count_candidates(j->problem, open, n_candidates);

        if (roots_find(j->problem->node, n_candidates))
                n = problem_count_candidates(j->problem, open, n_candidates);
        return n;
}

/* Whether any call has more than one candidate. */
static gboolean have_choice(const NodeProblem *node, const guint32 *n_candidates)
{
        for (guint32 i = 0; i < node->n_out; i++)
                if (n_candidates[i] > 1)
                        return TRUE;
        return FALSE;
}

/* Which callees are of roots. */
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

/* What later problems are to be decided by in parts. */
static void note_parts(const NodeProblem *node, const guint32 *n_candidates, NodeModel *model)
{
        model->life = parts_mean_life(node);
        model->part = parts_length(node, n_candidates, model->life);
        note_roots(node, model);
}

/* Parents that were found in parts have a likelihood by what all calls have. */
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

/* Ends with the answer, but for the parents. */
static void conclude(Nouns *n, gboolean keep_log, NodeAnswer *answer)
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
        answer_waits(j, n->scores.rejected, answer);
        evidence_end(&j->model->evidence);
        kinds_clear(&n->kinds);
        clear_nouns(n);
}

/* One node, before anything is found. */
typedef struct {
        Nouns n;
        Candidates open;
        gsize n_beliefs; /* of all calls */
        gboolean choice; /* a call has more than one */
        gboolean ended;
} Begun;

static void begin(Begun *b, NodeProblem *problem, NodeModel *model, Learning learning,
                  NodeAnswer *answer)
{
        Nouns *n = &b->n;

        *b = (Begun){ .n = { .problem.node = problem, .learning = learning } };
        tie(n, model);
        problem_find_view(&n->problem, learns_anew(model, problem));
        problem_find_resolution(&n->problem, model->resolution);
        candidates_init(&b->open, MAX(problem->window, problem_tie(&n->problem)));
        assignment_init(&n->assignment, problem->n_in, problem->n_out);
        begin_model(&n->j);
        node_model_set_resolution(model, n->problem.resolution);
        evidence_unwatch(&model->evidence);
        answer_init(answer, problem);
        b->n_beliefs = count_candidates(&n->j, &b->open, answer->n_candidates);
        b->choice = have_choice(problem, answer->n_candidates);
        n->problem.n_stretches = n->problem.times = find_stretches(problem, b->n_beliefs);
}

static void find_whole(Begun *b, NodeAnswer *answer)
{
        b->n.problem.n_stretches = b->choice ? b->n.problem.n_stretches : 1;
        find_at_once(&b->n.j, &b->open, answer);
}

/* Frees what was begun, but for the model and the answer. */
static void abandon(Begun *b)
{
        kinds_clear(&b->n.kinds);
        clear_nouns(&b->n);
        candidates_clear(&b->open);
}

/* Where what was learned is rejected, begins again, to learn with more workers than were supposed,
 * if there may be more, or else without a queue, and returns TRUE. */
static gboolean begins_again(Begun *b, NodeAnswer *answer)
{
        NodeProblem *problem = b->n.problem.node;
        NodeModel *model = b->n.j.model;
        Learning learning = b->n.learning;
        gint64 resolution = model->resolution;

        if (!learning.rejected)
                return FALSE;
        learning.rejected_k = MAX(model->evidence.workers.n, learning.rejected_k + 1);
        abandon(b);
        node_answer_clear(answer);
        evidence_end(&model->evidence);
        node_model_clear(model);
        node_model_init(model);
        model->resolution = resolution;
        learning.rejected = FALSE;
        begin(b, problem, model, learning, answer);
        return TRUE;
}

static void end(Begun *b, NodeAnswer *answer)
{
        const NodeProblem *problem = b->n.problem.node;

        conclude(&b->n, b->choice && problem->keep_log && !b->n.learning.keeps, answer);
        candidates_clear(&b->open);
        b->ended = TRUE;
}

/* At once or in parts. */
static void find(Begun *b, NodeAnswer *answer)
{
        const Learning *learning = &b->n.learning;

        if (b->n.problem.n_stretches > 1 && !learning->keeps && !b->n.problem.node->truth &&
            (b->choice || !learning->given_away))
                find_in_parts(&b->n.j, &b->open, b->choice, answer);
        else
                find_whole(b, answer);
}

static void solve(NodeProblem *problem, NodeModel *model, Learning learning, GBytes **learned,
                  NodeAnswer *answer)
{
        Begun b;

        begin(&b, problem, model, learning, answer);
        do
                find(&b, answer);
        while (begins_again(&b, answer));
        if (learned) {
                note_parts(problem, answer->n_candidates, model);
                parent_walk_forget_survival(&model->walk);
                *learned = node_model_to_bytes(model);
        }
        end(&b, answer);
}

void find_parents_jointly(NodeProblem *problem, NodeModel *model, NodeAnswer *answer)
{
        NodeModel *own = model ? NULL : node_model_new();

        solve(problem, model ? model : own, (Learning){ .keeps = model != NULL }, NULL, answer);
        if (own)
                node_model_free(own);
}

#define LIFE_UNKNOWN ((gint64)1 << 30) /* about a second, ns */

/* --- by several processes -------------------------------------------------------- */

struct SharedNode {
        Begun begun;
        NodeModel *model;
        NodeAnswer answer;
        GArray *parts; /* NULL: all is found at once */
        guint32 *mine; /* the numbers of those that are found here, n_mine */
        guint32 n_mine;
        NodeModel **own; /* for parts, by slot */
        WalkSize *size;  /* of their walks when they were new */
        PartSearch search;
};

SharedNode *shared_node_new(NodeProblem *problem)
{
        SharedNode *s = g_new0(SharedNode, 1);

        g_assert(!problem->truth);
        s->model = node_model_new();
        begin(&s->begun, problem, s->model, (Learning){ 0 }, &s->answer);
        g_mutex_init(&s->search.lock);
        return s;
}

void shared_node_free(SharedNode *s)
{
        if (!s)
                return;
        for (guint32 i = 0; s->parts && i < s->parts->len; i++)
                found_part_clear(&s->search.found[i]);
        g_free(s->search.found);
        if (s->search.learned)
                g_bytes_unref(s->search.learned);
        if (s->parts)
                g_array_free(s->parts, TRUE);
        for (guint i = 0; s->own && i < crew_size(s->begun.n.problem.node->crew); i++) {
                if (!s->own[i])
                        continue;
                evidence_end(&s->own[i]->evidence);
                node_model_free(s->own[i]);
        }
        g_free(s->own);
        g_free(s->size);
        g_free(s->mine);
        if (!s->begun.ended) /* another one ends it */
                abandon(&s->begun);
        node_answer_clear(&s->answer);
        node_model_free(s->model);
        g_mutex_clear(&s->search.lock);
        g_free(s);
}

static void begin_parts(SharedNode *s)
{
        guint n_slots = crew_size(s->begun.n.problem.node->crew);

        s->parts = divide(&s->begun.n.problem, s->answer.n_candidates);
        s->mine = g_new(guint32, s->parts->len + 1);
        s->own = g_new0(NodeModel *, n_slots);
        s->size = g_new(WalkSize, n_slots);
        s->search.whole = &s->begun.n.j;
        s->search.parts = s->parts;
        s->search.found = g_new0(FoundPart, s->parts->len + 1);
        s->search.model = s->own;
        s->search.size = s->size;
        s->search.answer = &s->answer;
}

/* What was learned. */
static void learned_bytes(SharedNode *s, Bytes *b)
{
        gboolean choice = s->search.learned != NULL;

        bytes_bool(b, &choice);
        if (choice)
                bytes_blob(b, &s->search.learned);
}

GBytes *shared_node_learn(SharedNode *s)
{
        Joint *j = &s->begun.n.j;
        Bytes b;

        do {
                g_clear_pointer(&s->search.learned, g_bytes_unref);
                if (j->problem->n_stretches == 1)
                        find_whole(&s->begun, &s->answer);
                else if (s->begun.choice)
                        s->search.learned = learn_for_parts(j, &s->begun.open);
        } while (begins_again(&s->begun, &s->answer));
        if (j->problem->n_stretches == 1)
                return NULL;
        b = bytes_to_write();
        learned_bytes(s, &b);
        begin_parts(s);
        return bytes_written(&b);
}

void shared_node_take(SharedNode *s, GBytes *learned)
{
        gsize n;
        const guint8 *data = g_bytes_get_data(learned, &n);
        Bytes b = bytes_to_read(data, n);

        learned_bytes(s, &b);
        g_assert(bytes_end(&b, NULL));
        begin_parts(s);
        if (s->search.learned)
                number_by_size(&s->begun.n.j, model_for(&s->search, 0));
}

/* The parents that a part has given to its calls, in the assignment of all. */
static void parents_bytes(SharedNode *s, const Part *part, Bytes *b)
{
        guint32 *of = s->begun.n.assignment.parent + part->at, n = part->before - part->at;
        guint32 *parent = of;

        bytes_u32s(b, &parent, n);
        if (!bytes_reads(b) || !parent)
                return;
        memcpy(of, parent, n * sizeof *of);
        g_free(parent);
}

static void found_bytes(SharedNode *s, guint32 number, Bytes *b)
{
        FoundPart *f = &s->search.found[number];
        const Part *part = &g_array_index(s->parts, Part, number);
        NodeAnswer *a = &f->answer;
        guint32 n = part->before - part->at, n_named;
        gboolean drawn;

        if (bytes_reads(b))
                *a = begin_answer(part);
        n_named = (guint32)a->first[n];
        drawn = a->drawn != NULL;
        parents_bytes(s, part, b);
        bytes_bool(b, &f->rejected);
        bytes_u32(b, &f->first_in);
        bytes_count(b, &f->n_in, 4);
        bytes_floats(b, &f->family, f->n_in);
        for (guint32 i = 0; i < n; i++) {
                guint32 end_of = (guint32)a->first[i + 1];

                bytes_u32(b, &a->call[i]);
                bytes_u32(b, &end_of);
                a->first[i + 1] = end_of;
        }
        bytes_count(b, &n_named, 12);
        bytes_u32s(b, &a->parent, n_named);
        bytes_floats(b, &a->share, n_named);
        bytes_floats(b, &a->score, n_named);
        bytes_bool(b, &drawn);
        if (drawn)
                bytes_u32s(b, &a->drawn, (gsize)n * ANSWER_DRAWINGS);
        f->done = TRUE;
}

double shared_node_learning(const SharedNode *s)
{
        const Begun *b = &s->begun;

        return b->choice ? LEARNING_ROUNDS * (double)b->n_beliefs / b->n.problem.n_stretches : 0;
}

void shared_node_assign(SharedNode *s, guint mine, double *load, guint n)
{
        for (guint32 i = 0; i < s->parts->len; i++) {
                const Part *part = &g_array_index(s->parts, Part, i);
                guint who = peers_least_loaded(load, NULL, n);

                load[who] += (double)parts_beliefs(s->answer.n_candidates, part->at, part->before);
                if (who == mine)
                        s->mine[s->n_mine++] = i;
        }
}

/* The parts that are found here. */
typedef struct {
        SharedNode *node;
        Bytes *bytes; /* NULL: they are kept */
} Share;

/* CrewPart; data: the share. */
static void do_mine(gpointer data, guint32 number, guint slot)
{
        Share *share = data;
        PartSearch *s = &share->node->search;
        guint32 i = share->node->mine[number];

        s->found[i] = find_in_part(s->whole, model_for(s, slot), &g_array_index(s->parts, Part, i));
        if (!share->bytes)
                return;
        g_mutex_lock(&s->lock);
        bytes_u32(share->bytes, &i);
        found_bytes(share->node, i, share->bytes);
        g_mutex_unlock(&s->lock);
        found_part_clear(&s->found[i]);
}

GBytes *shared_node_find(SharedNode *s, gboolean keep)
{
        Bytes b = bytes_to_write();
        Share share = { s, keep ? NULL : &b };

        crew_share(s->begun.n.problem.node->crew, s->n_mine, do_mine, &share);
        return bytes_written(&b);
}

void shared_node_add(SharedNode *s, GBytes *share)
{
        gsize n;
        const guint8 *data = g_bytes_get_data(share, &n);
        Bytes b = bytes_to_read(data, n);

        while (b.at < n && bytes_good(&b)) {
                guint32 number = 0;

                bytes_u32(&b, &number);
                g_assert(number < s->parts->len);
                found_bytes(s, number, &b);
        }
        g_assert(bytes_end(&b, NULL));
}

void shared_node_end(SharedNode *s, NodeAnswer *answer)
{
        Joint *j = &s->begun.n.j;

        if (s->parts) {
                model_for(&s->search, 0); /* where all parts were found elsewhere */
                for (guint32 i = 0; i < s->parts->len; i++)
                        hand_out(&s->search, i);
                end_parts(&s->search, j);
                g_clear_pointer(&s->own, g_free); /* the first is the model now */
        }
        end(&s->begun, &s->answer);
        *answer = s->answer;
        s->answer = (NodeAnswer){ 0 };
}

/* --- with models in bytes --------------------------------------------------------- */

GBytes *learn_parents_jointly(NodeProblem *problem, NodeAnswer *answer)
{
        NodeModel *own = node_model_new();
        GBytes *learned;

        solve(problem, own, (Learning){ .given_away = TRUE }, &learned, answer);
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

/* Calls that nobody made, by what was learned. */
static void mark_roots(NodeProblem *node, const NodeModel *model)
{
        for (guint32 i = 0; i < node->n_out; i++)
                if (model->n_roots > 0 && bsearch(&node->out[i].callee, model->root, model->n_roots,
                                                  sizeof *model->root, compare_uint32s))
                        node->out[i].flags |= OUT_ROOT;
}

/* The parts of a problem that a model decides on. */
static GArray *list_parts(const Problem *p, const guint32 *n_candidates, const NodeModel *model)
{
        const NodeProblem *node = p->node;
        GArray *parts = g_array_new(FALSE, FALSE, sizeof(Part));

        for (guint32 at = 0; at < node->n_out;) {
                Part part = part_find_by_time(node, n_candidates, model->life, model->part, at);

                append_part(parts, p, part);
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
        tie(&n, model);
        node_model_add_other(model);
        problem_find_view(&n.problem, TRUE);
        n.problem.resolution = model->resolution;
        candidates_init(&open, MAX(problem->window, problem_tie(&n.problem)));
        assignment_init(&n.assignment, problem->n_in, problem->n_out);
        kinds_look_up(&n.kinds, &n.problem, model);
        answer_init(answer, problem);
        mark_roots(problem, model);
        problem_count_candidates(&n.problem, &open, answer->n_candidates);
        choice = have_choice(problem, answer->n_candidates);
        parts = list_parts(&n.problem, answer->n_candidates, model);
        if (choice)
                learned = node_model_to_bytes(model);
        find_parts(&n.j, parts, learned, answer);
        conclude(&n, choice && problem->keep_log, answer);
        candidates_clear(&open);
        node_model_free(model);
}
