/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Joint inference: finds the parents of all calls that a node makes together. A call's parent
 * depends on what is left for the other calls. docs/model.md gives the model.
 *
 * parent-walk.c says how likely a parent made exactly these children. By belief propagation (Pearl,
 * 1982; for data association Williams and Lau, 2014) each parent sends each child that it may have
 * made a message: the rate at which it would make that child then, given what the messages of the
 * other parents leave it. Messages depend on messages, so they are updated in rounds, parent by
 * parent.
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

#include "calls/candidates.h"
#include "inference/evidence-table.h"
#include "inference/joint.h"
#include "inference/roots.h"

enum {
        DECIDE = 3, /* rounds that sharpen beliefs, to choose one of several ways to agree */

        LEARN_BELIEFS = 1 << 18, /* beliefs that are enough to learn from */

        /* A part ends when it is PART_LIVES mean lifetimes of parents long and has PART_BELIEFS
         * beliefs, or when it is LONG_LIVES long and has LONG_BELIEFS, which fit into caches. */
        PART_LIVES = 8,
        PART_BELIEFS = 1 << 20,
        LONG_LIVES = 256,
        LONG_BELIEFS = 1 << 16,
        CONTEXT_LIVES = 3, /* calls so many lifetimes before and after a part are solved with it */
};

/* The answer names a candidate with at least this share of the best candidate's score. */
#define WORTH_NAMING 1e-3

/* --- kinds of calls -------------------------------------------------------- */

static void find_all_kinds(Joint *j)
{
        const NodeProblem *node = j->node;
        g_autofree guint16 *label = g_new(guint16, MAX(node->n_in, node->n_out));
        g_autofree guint32 *out_kind = g_new(guint32, node->n_out);
        g_autofree guint32 *context = g_new(guint32, node->n_in);

        for (guint32 p = 0; p < node->n_in; p++) {
                j->fine[p] = node->in[p].caller;
                label[p] = node->in[p].label;
                context[p] = node->in[p].context;
        }
        call_kinds_find(&j->model->in, j->fine, label, context, node->n_in);
        for (guint32 p = 0; p < node->n_in; p++)
                j->kind[p] = node_model_kind(j->model, j->fine[p]);
        for (guint32 i = 0; i < node->n_out; i++) {
                out_kind[i] = node->out[i].callee;
                label[i] = node->out[i].label;
        }
        call_kinds_find(&j->model->out, out_kind, label, NULL, node->n_out);
        for (guint32 i = 0; i < node->n_out; i++)
                j->calls[i] = (WalkCall){ node->out[i].start, node->out[i].end,
                                          MIN(out_kind[i], WALK_MAX_CALLEES - 1) };
}

/* --- candidates ------------------------------------------------------------ */

/* Keeps the candidates that are open even without the skew window, if there are any. Clocks are
 * corrected as far as they can be, and a candidate that is open only by the window would train the
 * model on delays that do not exist. Returns how many are left. */
static guint32 drop_unlikely(Candidates *c, const CallOut *child, guint32 n_found)
{
        gint64 end = MAX(child->start, child->end);
        guint32 kept = 0;

        for (guint32 k = 0; k < n_found; k++) {
                guint32 i = c->found[k];

                if (c->active[i].enter < child->start && c->reply[i] >= end)
                        c->found[kept++] = i;
        }
        return kept > 0 ? kept : n_found;
}

/* Goes through the calls out of a node in order of start. */
typedef struct {
        const Joint *j;
        Candidates *open;
        guint32 next_in;
} CandidateSearch;

/* Finds the candidates of a call that does not start before the previous one. Puts indices of calls
 * into the node into open->found, and returns how many there are. */
static guint32 search_candidates(CandidateSearch *s, guint32 child)
{
        const NodeProblem *node = s->j->node;
        const CallOut *out = &node->out[child];
        gint64 window = node->window;
        gboolean known = (out->flags & OUT_DECIDED) && s->j->from > G_MININT64;
        guint32 n_found, kept = 0, *found;

        if (out->flags & OUT_ROOT)
                return 0;
        for (; s->next_in < node->n_in && node->in[s->next_in].enter < out->start + window;
             s->next_in++)
                if (node->in[s->next_in].reply + window >= out->start)
                        candidates_add(s->open, node->in[s->next_in].enter,
                                       node->in[s->next_in].reply, 0, s->next_in);
        n_found = candidates_find(s->open, out->start, out->end);
        if (window > 0)
                n_found = drop_unlikely(s->open, out, n_found);
        found = s->open->found;
        for (guint32 k = 0; k < n_found; k++) {
                guint32 parent = s->open->active[found[k]].which;

                if (node->in[parent].call != out->call && /* a node that calls itself */
                    (!known || node->in[parent].call == out->parent))
                        found[kept++] = parent;
        }
        return kept;
}

/* Counts candidates: all[i] is the number for all calls before i. Returns whether any call has a
 * choice. */
static gboolean count_candidates(const Joint *j, Candidates *open, gsize *all, NodeAnswer *answer)
{
        CandidateSearch search = { j, open, 0 };
        gboolean choice = FALSE;

        candidates_restart(open);
        all[0] = 0;
        for (guint32 i = 0; i < j->node->n_out; i++) {
                guint32 n_found = search_candidates(&search, i);

                all[i + 1] = all[i] + n_found;
                choice |= n_found > 1;
                answer->n_candidates[i] = n_found;
        }
        return choice;
}

static gboolean any_training_parent(const Joint *j, const guint32 *parent, guint32 n)
{
        for (guint32 k = 0; k < n; k++)
                if (is_training_parent(j, parent[k]))
                        return TRUE;
        return FALSE;
}

/* Finds the candidates of calls from first to end - 1. to_learn: only for calls with a training
 * parent among their candidates. */
static void find_candidates(Joint *j, Candidates *open, guint32 first, guint32 end,
                            gboolean to_learn)
{
        CandidateSearch search = { j, open, 0 };
        gsize n_all = 0, room = end - first + 1;

        candidates_restart(open);
        j->candidates = g_new(gsize, room);
        j->candidate = g_new(guint32, room);
        for (guint32 i = first; i < end; i++) {
                guint32 n_found = search_candidates(&search, i);

                j->candidates[i - first] = n_all;
                if (n_found == 0 || (to_learn && !any_training_parent(j, open->found, n_found)))
                        continue;
                if (n_all + n_found > room) {
                        room = 2 * (n_all + n_found);
                        j->candidate = g_renew(guint32, j->candidate, room);
                }
                memcpy(j->candidate + n_all, open->found, n_found * sizeof *open->found);
                n_all += n_found;
                j->n_choice += n_found > 1;
                j->n_sole += n_found == 1;
        }
        j->candidates[end - first] = n_all;
        j->share = g_new(float, n_all + 1);
        j->score = g_new(float, n_all + 1);
        for (gsize k = 0; k < n_all; k++)
                j->share[k] = j->score[k] = 1;
}

gsize joint_find_candidate(const Joint *j, guint32 call, guint32 parent)
{
        gsize from = j->candidates[call], to = j->candidates[call + 1];

        while (from < to) {
                gsize middle = from + (to - from) / 2;

                if (j->candidate[middle] < parent)
                        from = middle + 1;
                else
                        to = middle;
        }
        return from < j->candidates[call + 1] && j->candidate[from] == parent ? from : G_MAXSIZE;
}

typedef struct {
        gint64 time;
        guint32 which;
} OutputTime;

static int compare_outputs(const void *a, const void *b)
{
        const OutputTime *x = a, *y = b;

        if (x->time != y->time)
                return x->time < y->time ? -1 : 1;
        return (x->which > y->which) - (x->which < y->which);
}

/* Numbers the outputs of the node, its calls and its replies, in order of time. */
static void order_outputs(Joint *j)
{
        guint32 n_in = j->node->n_in, n_out = j->node->n_out;
        g_autofree OutputTime *times = g_new(OutputTime, n_out + n_in);

        for (guint32 i = 0; i < n_out; i++)
                times[i] = (OutputTime){ j->calls[i].start, i };
        for (guint32 p = 0; p < n_in; p++)
                times[n_out + p] = (OutputTime){ j->node->in[p].reply, n_out + p };
        qsort(times, n_out + n_in, sizeof *times, compare_outputs);
        for (guint32 i = 0; i < n_out + n_in; i++)
                j->output[times[i].which] = i;
}

/* --- all of it ------------------------------------------------------------- */

TrellisParent joint_trellis_parent(const Joint *j, guint32 parent)
{
        const CallIn *in = &j->node->in[parent];

        return (TrellisParent){ .number = parent,
                                .kind = j->kind[parent],
                                .enter = in->enter,
                                .start = j->start[parent],
                                .reply = in->reply,
                                .output = j->output[j->node->n_out + parent] };
}

void joint_begin_trellis(Joint *j)
{
        NodeModel *h = j->model;

        trellis_clear(&j->trellis);
        trellis_init(&j->trellis, h->n_callees, h->whole, h->n_whole);
        j->trellis.evidence = &h->evidence;
}

void joint_make_room(Joint *j, guint32 n)
{
        if (n <= j->offered_room)
                return;
        j->offered_room = MAX(n, 2 * j->offered_room);
        j->offered = g_renew(TrellisCall, j->offered, j->offered_room);
}

void joint_find_starts(Joint *j)
{
        for (guint32 p = 0; p < j->node->n_in; p++)
                j->start[p] = evidence_start(&j->model->evidence, j, p, j->node->in[p].enter);
}

static void start_walks(Joint *j)
{
        joint_make_beliefs(j);
        order_outputs(j);
        joint_begin_trellis(j);
        evidence_begin(&j->model->evidence, j);
        joint_find_starts(j);
}

/* Starts beliefs from an assignment in order of time, by the model. */
static void begin_anew(Joint *j)
{
        joint_assign_in_time(j);
        joint_start_beliefs(j);
}

/* LEARNT and the shares of later rounds were measured at high concurrency. */
void joint_done(const Joint *j, double share)
{
        if (j->node->work && j->n_stretches == 1)
                work_part_done(j->node->work, share);
}

/* Finds shares and scores: belief propagation, then the Markov chain. */
static void settle(Joint *j)
{
        evidence_unwatch_unused(&j->model->evidence);
        for (guint round = 0; round < SETTLE; round++) {
                joint_update_all(j, FALSE);
                joint_done(j, LEARNT + (1 - LEARNT) * (round + 1) / (SETTLE + DECIDE));
        }
        joint_get_shares(j, j->share);
        for (guint round = 0; round < DECIDE; round++) {
                joint_update_all(j, TRUE);
                joint_done(j, LEARNT + (1 - LEARNT) * (SETTLE + round + 1) / (SETTLE + DECIDE));
        }
        joint_get_shares(j, j->score);
        joint_draw(j);
}

/* Learns the model and finds shares and scores, with all calls of the node at once. */
static void find_beliefs(Joint *j)
{
        start_walks(j);
        if (j->node->truth)
                joint_learn_from_truth(j);
        else if (j->from == G_MININT64)
                joint_learn(j);
        else
                joint_go_on(j);
        if (j->node->truth || j->n_stretches > 1)
                begin_anew(j);
        settle(j);
        joint_assign_best(j, FALSE);
        if (j->keeps)
                joint_keep_model(j);
}

/* Decides which calls are learned from. If there is a model, those of this step of --window, and
 * older calls are dropped from the problem. If there is none, or far fewer calls trained it than
 * there are now, all calls. */
static void find_view(Joint *j)
{
        NodeProblem *node = j->node;
        const NodeModel *h = j->model;
        guint32 n_in = 0, n_out = 0;

        j->from = G_MININT64;
        j->before = node->decide;
        if (h->n_parents == 0 || (h->n_parents < LEARN_FROM && node->n_in >= 2 * h->n_known))
                return;
        j->from = node->from;
        for (guint32 p = 0; p < node->n_in; p++)
                if (node->in[p].reply + 2 * node->window >= j->from)
                        node->in[n_in++] = node->in[p];
        for (guint32 i = 0; i < node->n_out; i++)
                if (!(node->out[i].flags & OUT_PAST)) {
                        if (node->truth)
                                node->truth[n_out] = node->truth[i];
                        node->out[n_out++] = node->out[i];
                }
        node->n_in = n_in;
        node->n_out = n_out;
}

/* No call has a choice of parents, but the model for later steps can learn from them. */
static void learn_without_choice(Joint *j)
{
        start_walks(j);
        joint_assign_best(j, FALSE);
        if (j->from == G_MININT64)
                evidence_try_first(&j->model->evidence, j);
        joint_go_on_from_assignment(j);
        joint_keep_model(j);
}

static void joint_init(Joint *j)
{
        guint32 n_in = j->node->n_in, n_out = j->node->n_out;

        j->parent = g_new(guint32, n_out);
        j->output = g_new(guint32, n_out + n_in);
        j->next = g_new(guint32, n_out);
        j->start = g_new(gint64, n_in);
        j->first = g_new(guint32, n_in);
        j->concurrency = g_new0(guint64, n_in);
}

/* Prepares the model: keeps it if it has room for the kinds of these calls, else starts a new
 * one. */
static void begin_model(Joint *j)
{
        NodeModel *h = j->model;

        if (j->from > G_MININT64) {
                find_all_kinds(j);
                if (node_model_fit(h))
                        return;
                j->from = G_MININT64;
        }
        node_model_clear(h);
        node_model_init(h);
        find_all_kinds(j);
        node_model_start(h, j->keeps ? h->out.n / 2 + 2 : 0, evidence_table);
        h->n_known = j->node->n_in;
}

/* Frees the candidates and the beliefs on them. */
static void drop_candidates(Joint *j)
{
        g_clear_pointer(&j->candidates, g_free);
        g_clear_pointer(&j->candidate, g_free);
        g_clear_pointer(&j->share, g_free);
        g_clear_pointer(&j->score, g_free);
        g_clear_pointer(&j->drawn, g_free);
        g_clear_pointer(&j->total, g_free);
        g_clear_pointer(&j->first_belief, g_free);
        g_clear_pointer(&j->beliefs, g_free);
}

static void joint_clear(Joint *j)
{
        trellis_clear(&j->trellis);
        drop_candidates(j);
        g_free(j->parent);
        g_free(j->next);
        g_free(j->start);
        g_free(j->first);
        g_free(j->output);
        g_free(j->concurrency);
        g_free(j->offered);
}

/* --- the answer ------------------------------------------------------------ */

/* Writes the calls from first to end - 1 to the answer, as its calls from `at` on. Names the
 * candidates that are worth it; all if OUT_EXPLAIN asks for them. */
static void hand_out(const Joint *j, guint32 first, guint32 end, NodeAnswer *found, guint32 at)
{
        gsize n_found = found->first[at],
              room = n_found + j->candidates[end] - j->candidates[first];

        found->parent = g_renew(guint32, found->parent, room);
        found->share = g_renew(float, found->share, room);
        found->score = g_renew(float, found->score, room);
        for (guint32 i = first; i < end; i++, at++) {
                const CallOut *out = &j->node->out[i];
                float least = 0;

                if (!(out->flags & OUT_EXPLAIN))
                        for (gsize k = j->candidates[i]; k < j->candidates[i + 1]; k++)
                                least = MAX(least, j->score[k] * (float)WORTH_NAMING);
                for (gsize k = j->candidates[i]; k < j->candidates[i + 1]; k++) {
                        if (j->score[k] < least)
                                continue;
                        found->parent[n_found] = j->node->in[j->candidate[k]].call;
                        found->share[n_found] = j->share[k];
                        found->score[n_found++] = j->score[k];
                }
                found->call[at] = joint_decides(j, i) ? out->call : NO_PARENT;
                found->first[at + 1] = n_found;
        }
        found->parent = g_renew(guint32, found->parent, n_found);
        found->share = g_renew(float, found->share, n_found);
        found->score = g_renew(float, found->score, n_found);
}

/* --- part by part ---------------------------------------------------------- */

/* A part of the calls out of a node. The parents of the calls from `at` to before - 1 are decided;
 * the calls from first to end - 1 are solved with them. */
typedef struct {
        guint32 first, at, before, end;
} Part;

/* The mean lifetime of calls into the node. */
static gint64 mean_life(const NodeProblem *node)
{
        double sum = 0;

        for (guint32 p = 0; p < node->n_in; p++)
                sum += (double)MAX(node->in[p].reply - node->in[p].enter, 0);
        return (gint64)(sum / MAX(node->n_in, 1));
}

static gboolean is_enough(gsize beliefs, gint64 time, gint64 life)
{
        return (time >= PART_LIVES * life && beliefs >= PART_BELIEFS) ||
               (time >= LONG_LIVES * life && beliefs >= LONG_BELIEFS);
}

/* Finds the part that begins at a call. */
static Part find_part(const NodeProblem *node, const gsize *all, gint64 life, guint32 at)
{
        const CallOut *out = node->out;
        Part part = { at, at, at + 1, 0 };

        while (part.before < node->n_out &&
               !is_enough(all[part.before] - all[at], out[part.before].start - out[at].start, life))
                part.before++;
        while (part.first > 0 && out[part.first - 1].start >= out[at].start - CONTEXT_LIVES * life)
                part.first--;
        part.end = part.before;
        while (part.end < node->n_out &&
               out[part.end].start <= out[part.before - 1].start + CONTEXT_LIVES * life)
                part.end++;
        return part;
}

/* Narrows the node problem to the calls of a part and their candidates. */
static void narrow(Joint *j, NodeProblem *slice, const Part *part)
{
        gsize n = j->candidates[part->end - part->first];
        guint32 first_in = slice->n_in, end_in = 0;

        for (gsize k = 0; k < n; k++) {
                first_in = MIN(first_in, j->candidate[k]);
                end_in = MAX(end_in, j->candidate[k] + 1);
        }
        first_in = MIN(first_in, end_in);
        for (gsize k = 0; k < n; k++)
                j->candidate[k] -= first_in;
        slice->in += first_in;
        slice->out += part->first;
        slice->n_in = end_in - first_in;
        slice->n_out = part->end - part->first;
        j->calls += part->first;
        j->kind += first_in;
}

static void find_in_part(Joint *whole, Candidates *open, const Part *part, NodeAnswer *found)
{
        NodeProblem slice = *whole->node; /* reports no progress of its own */
        Joint j = { .node = &slice,
                    .from = whole->from,
                    .before = whole->before,
                    .n_stretches = 1,
                    .model = whole->model,
                    .calls = whole->calls,
                    .kind = whole->kind };

        slice.work = NULL;
        find_candidates(&j, open, part->first, part->end, FALSE);
        narrow(&j, &slice, part);
        joint_init(&j);
        if (j.n_choice > 0) {
                start_walks(&j);
                begin_anew(&j);
                settle(&j);
        }
        joint_assign_best(&j, FALSE);
        for (guint32 i = part->at; i < part->before; i++) {
                guint32 parent = j.parent[i - part->first];

                whole->parent[i] =
                        parent == NO_PARENT ? NO_PARENT : parent + (slice.in - whole->node->in);
        }
        joint_find_families(&j, part->at - part->first, part->before - part->first,
                            found->family + (slice.in - whole->node->in));
        hand_out(&j, part->at - part->first, part->before - part->first, found, part->at);
        joint_clear(&j);
}

/* Learns from the training parents, then finds the parents of calls part by part, so that memory
 * never holds the beliefs on all calls. */
static void find_in_parts(Joint *j, Candidates *open, const gsize *all, gboolean choice,
                          NodeAnswer *found)
{
        gint64 life = mean_life(j->node);

        if (choice) {
                find_candidates(j, open, 0, j->node->n_out, TRUE);
                start_walks(j);
                joint_learn(j);
                drop_candidates(j);
        }
        for (guint32 at = 0; at < j->node->n_out;) {
                Part part = find_part(j->node, all, life, at);

                find_in_part(j, open, &part, found);
                at = part.before;
                if (j->node->work)
                        work_part_done(j->node->work, (double)at / j->node->n_out);
        }
        joint_link_children(j);
}

/* Solves the whole node at once. */
static void find_at_once(Joint *j, Candidates *open, NodeAnswer *found)
{
        find_candidates(j, open, 0, j->node->n_out, FALSE);
        if (j->n_choice > 0)
                find_beliefs(j);
        else if (j->keeps && j->node->n_in > 0)
                learn_without_choice(j);
        else
                joint_assign_best(j, FALSE);
        joint_find_families(j, 0, j->node->n_out, found->family);
        hand_out(j, 0, j->node->n_out, found, 0);
}

/* The model is trained by one stretch of parents in this number. */
static guint32 find_stretches(const NodeProblem *node, gsize n_beliefs)
{
        guint32 by_parents = node->n_in / LEARN_FROM;
        guint32 by_beliefs = MIN(n_beliefs / LEARN_BELIEFS, node->n_in / STRETCH);

        return MAX(MAX(by_parents, by_beliefs), 1);
}

void find_parents_jointly(NodeProblem *problem, NodeModel *model, NodeAnswer *answer)
{
        NodeModel own;
        Joint j = { .node = problem, .keeps = model != NULL, .model = model ? model : &own };
        g_autofree gsize *all = NULL;
        Candidates open;
        gboolean choice;

        node_model_init(&own);
        candidates_init(&open, problem->window);
        find_view(&j);
        joint_init(&j);
        j.calls = g_new(WalkCall, problem->n_out);
        j.kind = g_new(guint32, problem->n_in);
        j.fine = g_new(guint32, problem->n_in);
        begin_model(&j);
        evidence_unwatch(&j.model->evidence);
        *answer = (NodeAnswer){ .n_out = problem->n_out,
                                .call = g_new(guint32, problem->n_out),
                                .n_candidates = g_new(guint32, problem->n_out),
                                .context = g_new0(guint32, problem->n_out),
                                .first = g_new0(gsize, problem->n_out + 1) };
        all = g_new(gsize, problem->n_out + 1);
        answer->family = g_new(float, problem->n_in);
        for (guint32 p = 0; p < problem->n_in; p++)
                answer->family[p] = 1;
        choice = count_candidates(&j, &open, all, answer);
        if (roots_find(problem, answer->n_candidates))
                choice = count_candidates(&j, &open, all, answer);
        j.n_stretches = find_stretches(problem, all[problem->n_out]);
        if (j.n_stretches > 1 && !j.keeps && !problem->truth)
                find_in_parts(&j, &open, all, choice, answer);
        else
                find_at_once(&j, &open, answer);
        joint_set_contexts(&j, answer->context);
        if (choice && problem->keep_log && !j.keeps) {
                evidence_unwatch(&j.model->evidence);
                answer->log = joint_log_of_assignment(&j);
        }
        answer->true_log = j.true_log;
        g_free(j.calls);
        g_free(j.kind);
        g_free(j.fine);
        joint_clear(&j);
        answer->n_workers = evidence_n_workers(&j.model->evidence);
        evidence_end(&j.model->evidence);
        node_model_clear(&own);
        candidates_clear(&open);
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
