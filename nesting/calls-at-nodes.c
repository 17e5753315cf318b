/* SPDX-License-Identifier: BSD-2-Clause */
#include "nesting/calls-at-nodes.h"

#include <stdlib.h>

#include "base/big-memory.h"
#include "base/bytes.h"
#include "base/compare.h"
#include "base/fill.h"
#include "base/size-class.h"
#include "calls/node-order.h"
#include "inference/given-model.h"
#include "inference/pass-calls.h"
#include "inference/shared-node.h"
#include "nesting/explanation.h"

/* The indices of all calls, those into a node together and in order; and those
 * out of it. first_in[node] to first_in[node + 1] are the node's. */
typedef struct {
        guint32 *in, *out;
        guint32 *first_in, *first_out;
} CallsByNode;

/* A call whose cause is known from its link is no child that a node needs to be asked about, nor is
 * one that asks for the next; and a message that came to one is no parent of what lies within it.
 */
static gboolean is_out(const NodesSearch *n, guint32 call)
{
        return call_links_parent(&n->calls->links, call) == NO_PARENT &&
               !call_links_is_turn(&n->calls->links, call);
}

static gboolean is_in(const NodesSearch *n, guint32 call)
{
        return !call_is_message(&n->calls->pairs, call);
}

static void index_calls(const NodesSearch *n, CallsByNode *by, guint n_nodes)
{
        const CallPairs *c = &n->calls->pairs;
        gboolean starts, enters;
        guint32 call;

        by->in = big_renew_in_file(NULL, 0, c->n * sizeof *by->in);
        by->out = big_renew_in_file(NULL, 0, c->n * sizeof *by->out);
        /* One longer: while they are filled, [node + 1] is where the next one goes. */
        by->first_in = g_new0(guint32, n_nodes + 2);
        by->first_out = g_new0(guint32, n_nodes + 2);
        while (call_order_next(n->order, &call, &starts, &enters)) {
                known_calls_pass(n->calls, call);
                by->first_in[known_calls_edge(n->calls, call)->callee + 2] +=
                        enters && is_in(n, call);
                by->first_out[known_calls_edge(n->calls, call)->caller + 2] +=
                        starts && is_out(n, call);
        }
        call_order_restart(n->order);
        for (guint i = 0; i < n_nodes; i++) {
                by->first_in[i + 2] += by->first_in[i + 1];
                by->first_out[i + 2] += by->first_out[i + 1];
        }
        while (call_order_next(n->order, &call, &starts, &enters)) {
                const EdgeRole *role = known_calls_edge(n->calls, call);

                known_calls_pass(n->calls, call);
                if (starts && is_out(n, call))
                        by->out[by->first_out[role->caller + 1]++] = call;
                if (enters && is_in(n, call))
                        by->in[by->first_in[role->callee + 1]++] = call;
        }
        call_order_restart(n->order);
}

static int compare_in(const void *a, const void *b)
{
        const CallIn *x = a, *y = b;

        if (x->enter != y->enter)
                return x->enter < y->enter ? -1 : 1;
        return COMPARE(x->call, y->call);
}

static int compare_out(const void *a, const void *b)
{
        const CallOut *x = a, *y = b;

        if (x->start != y->start)
                return x->start < y->start ? -1 : 1;
        return COMPARE(x->call, y->call);
}

static void put_calls_away(const NodesSearch *n, const CallsByNode *by)
{
        big_put_away(by->in, n->calls->pairs.n * sizeof *by->in);
        big_put_away(by->out, n->calls->pairs.n * sizeof *by->out);
}

/* Takes the offsets of the clocks off that the stamps are of. */
static void shift_node(const NodesSearch *n, NodeId id, NodeProblem *node)
{
        const gint64 *offset = n->offset;

        for (guint32 i = 0; i < node->n_in; i++) {
                CallIn *in = &node->in[i];
                SpanClocks clocks =
                        clocks_at_callee(n->calls->pairs.stamps[in->call],
                                         known_calls_edge(n->calls, in->call)->caller, id);

                in->enter -= offset[clocks.from];
                in->reply -= offset[clocks.to];
        }
        for (guint32 i = 0; i < node->n_out; i++) {
                CallOut *out = &node->out[i];
                SpanClocks clocks = clocks_at_caller(n->calls->pairs.stamps[out->call], id,
                                                     known_calls_edge(n->calls, out->call)->callee);

                out->start -= offset[clocks.from];
                out->end -= offset[clocks.to];
        }
        qsort(node->in, node->n_in, sizeof *node->in, compare_in);
        qsort(node->out, node->n_out, sizeof *node->out, compare_out);
}

/* What is known of a call out of a node. */
static guint8 flags_of(const NodesSearch *n, guint32 call)
{
        guint32 parent = n->calls->pairs.cause[call].parent;
        guint8 flags = explanations_lookup(n->explanations, call) ? OUT_EXPLAIN : 0;

        if (!known_calls_is_decided(n->calls, call))
                return flags;
        if (parent >= n->calls->pairs.n ||
            n->calls->pairs.at_callee[parent].to + 2 * n->window < n->view.from)
                flags |= OUT_PAST;
        return flags | OUT_DECIDED;
}

static CallConnection connection_of(const NodesSearch *n, guint32 call)
{
        return call_connections_get(&n->calls->connections, call);
}

/* A node, and an operation, as the model that decides knows them. */
static NodeId node_of(const NodesSearch *n, NodeId node)
{
        return n->given ? n->given->node[node] : node;
}

static guint16 operation_of(const NodesSearch *n, guint32 call)
{
        guint16 label = call_labels_get(&n->calls->labels, call);

        return n->given ? n->given->operation[label] : label;
}

/* The classes of the sizes of a call and of its return. */
static void get_sizes(const NodesSearch *n, guint32 call, guint8 size[2])
{
        CallFact fact = call_facts_get(&n->calls->facts, call);

        size[0] = size_class((guint64)fact.call_bytes);
        size[1] = size_class((guint64)fact.ret_bytes);
}

/* Copies the calls of one node side by side. */
static void gather_node(const NodesSearch *n, const CallsByNode *by, NodeId id, NodeProblem *node)
{
        const CallPairs *c = &n->calls->pairs;
        const guint32 *in = by->in + by->first_in[id], *out = by->out + by->first_out[id];

        for (guint32 i = 0; i < node->n_in; i++) {
                Span stay = call_links_stay(&n->calls->links, c, in[i]);

                known_calls_pass(n->calls, i);
                node_problem_pass(node, i);
                node->in[i] = (CallIn){
                        .enter = stay.from,
                        .reply = stay.to,
                        .call = in[i],
                        .caller = node_of(
                                n, n->calls->roles.fold[known_calls_edge(n->calls, in[i])->caller]),
                        .context = c->context[in[i]],
                        .connection = connection_of(n, in[i]).connection,
                        .identifiers = call_identifiers_get(&n->calls->identifiers, in[i]),
                        .label = operation_of(n, in[i])
                };
                get_sizes(n, in[i], node->in[i].size);
        }
        if (n->calls->links.since)
                qsort(node->in, node->n_in, sizeof *node->in, compare_in);
        for (guint32 i = 0; i < node->n_out; i++) {
                CallConnection way = connection_of(n, out[i]);

                known_calls_pass(n->calls, i);
                node_problem_pass(node, i);
                node->out[i] = (CallOut){
                        .start = c->at_caller[out[i]].from,
                        .lead = way.lead,
                        .end = c->at_caller[out[i]].to,
                        .call = out[i],
                        .callee = node_of(n, known_calls_edge(n->calls, out[i])->callee),
                        .parent = c->cause[out[i]].parent,
                        .label = operation_of(n, out[i]),
                        .flags = flags_of(n, out[i]) | (way.transaction ? OUT_TRANSACTION : 0),
                        .identifiers = call_identifiers_get(&n->calls->identifiers, out[i]),
                        .connection = way.connection
                };
                get_sizes(n, out[i], node->out[i].size);
        }
        node->identifiers = call_identifiers_lists(&n->calls->identifiers);
        for (guint32 i = 0; n->true_parent && i < node->n_out; i++)
                node->truth[i] = n->true_parent[out[i]];
}

/* What a node does for a call, as evidence at the callees that come after it in rank. */
static void set_contexts(const NodesSearch *n, const guint32 *rank, NodeId id,
                         const NodeProblem *node, const NodeAnswer *answer)
{
        for (guint32 i = 0; i < node->n_out; i++) {
                known_calls_pass(n->calls, i);
                node_problem_pass(node, i);
                if (answer->context[i] &&
                    rank[known_calls_edge(n->calls, node->out[i].call)->callee] > rank[id])
                        n->calls->pairs.context[node->out[i].call] = answer->context[i];
        }
}

/* Notes how many candidates calls have that were given a parent. */
static void note_candidates(const NodesSearch *n, const NodeAnswer *answer)
{
        for (guint32 i = 0; n->calls->pairs.candidates && i < answer->n_out; i++) {
                known_calls_pass(n->calls, i);
                if (answer->call[i] != NO_PARENT)
                        n->calls->pairs.candidates[answer->call[i]] = answer->n_candidates[i];
        }
}

/* What is now known of the families of calls into a node. */
static void multiply_families(const NodesSearch *n, const NodeProblem *node,
                              const NodeAnswer *answer)
{
        for (guint32 p = 0; p < node->n_in; p++) {
                known_calls_pass(n->calls, p);
                node_problem_pass(node, p);
                n->calls->pairs.family[node->in[p].call] *= answer->family[p];
        }
}

/* Notes how long calls into the node waited, where that is known. Not on two threads at a time. */
static void note_waits(const NodesSearch *n, const NodeProblem *node, NodeAnswer *answer)
{
        for (guint32 p = 0; answer->wait && p < node->n_in; p++) {
                known_calls_pass(n->calls, p);
                node_problem_pass(node, p);
                call_facts_add_wait(&n->calls->facts, node->in[p].call, answer->n_workers,
                                    answer->wait[p]);
        }
        g_clear_pointer(&answer->wait, g_free);
}

static void find_parents(const NodesSearch *n, NodeId id, NodeProblem *problem, NodeAnswer *answer)
{
        if (n->given)
                find_parents_by_model(problem,
                                      n->given->model[id] ? n->given->model[id] : n->given->nothing,
                                      answer);
        else if (n->learn)
                n->learn->model[id] = learn_parents_jointly(problem, answer);
        else
                find_parents_jointly(problem, n->models ? n->models[id] : NULL, answer);
}

/* Makes the problem of one node, which has room for its calls. */
static void make_problem(const NodesSearch *n, const CallsByNode *by, NodeId id,
                         NodeProblem *problem)
{
        gather_node(n, by, id, problem);
        put_calls_away(n, by);
        if (n->offset)
                shift_node(n, id, problem);
}

/* Takes what was found of one node, but for the causes. */
static void take_answer(const NodesSearch *n, const guint32 *rank, NodeId id,
                        const NodeProblem *problem, NodeAnswer *answer)
{
        set_contexts(n, rank, id, problem, answer);
        note_candidates(n, answer);
        multiply_families(n, problem, answer);
        g_clear_pointer(&answer->family, g_free);
        g_clear_pointer(&answer->context, g_free);
}

/* --- causes ------------------------------------------------------------------ */

/* Adds what the answer says of the evidence on the candidates of a call, against its parent. */
static void explain_evidence(const NodeAnswer *found, Explanation *e, guint32 parent)
{
        for (guint i = 0; found->weights && i < found->weights->len; i++) {
                const CandidateWeights *w = &g_array_index(found->weights, CandidateWeights, i);

                if (w->call == e->call)
                        explanation_weigh(e, w);
        }
        explanation_compare(e, parent);
}

static void explain(const NodesSearch *n, const NodeAnswer *found, guint32 child)
{
        Explanation *e = explanations_lookup(n->explanations, found->call[child]);

        for (gsize k = found->first[child]; e && k < found->first[child + 1]; k++) {
                PossibleParent p = { .call = found->parent[k],
                                     .score = (double)found->score[k],
                                     .penalty = 1,
                                     .probability = (double)found->share[k] };

                g_array_append_val(e->parents, p);
        }
        if (e)
                explain_evidence(found, e, n->calls->pairs.cause[e->call].parent);
}

/* A call whose best candidate lies within it has another: neither has the family that was found. */
static void move_child(const NodesSearch *n, const NodeAnswer *found, gsize first, gsize taken)
{
        n->calls->pairs.family[found->parent[first]] *= 1 - found->share[first];
        if (taken != G_MAXSIZE)
                n->calls->pairs.family[found->parent[taken]] *= found->share[taken];
}

/* Each call's parent with the best score, of equal ones the earliest. Clears found. */
static void set_causes(const NodesSearch *n, NodeAnswer *found)
{
        for (guint32 i = 0; i < found->n_out; i++) {
                guint32 call = found->call[i];
                Cause best = { NO_PARENT, 0 };
                gsize first = G_MAXSIZE, taken = G_MAXSIZE;
                float most = -1;

                known_calls_pass(n->calls, i);
                if (call == NO_PARENT)
                        continue;
                for (gsize k = found->first[i]; k < found->first[i + 1]; k++) {
                        guint32 parent = found->parent[k];

                        if (first == G_MAXSIZE || found->score[k] > found->score[first])
                                first = k;
                        if (found->score[k] > most &&
                            !(n->cycles && known_calls_is_within(n->calls, parent, call))) {
                                best = (Cause){ parent, found->share[k] };
                                most = found->score[k];
                                taken = k;
                        }
                }
                if (first != taken)
                        move_child(n, found, first, taken);
                if (best.parent != NO_PARENT)
                        call_pairs_set_cause(&n->calls->pairs, call, best);
                if (n->explanations->len > 0)
                        explain(n, found, i);
        }
        node_answer_clear(found);
}

/* --- node by node, on threads ------------------------------------------------ */

typedef struct {
        NodeId node;
        guint32 n_in, n_out;
        guint32 n_waits; /* for so many tasks */
        gboolean taken;
        double work;                /* in proportion to this, about */
        guint64 children, nestings; /* calls with a candidate, and candidates of them */
        double log, true_log;       /* those of the answer */
        NodeAnswer found;
} Task;

typedef struct {
        const NodesSearch *of;
        guint32 *rank; /* by NodeId, where it stands when callers come first */
        CallsByNode by;
        GArray *tasks;   /* the one with the most work first */
        NodeOrder order; /* of tasks */
        guint n_done;
        Crew *crew;
        Work work;
        GMutex lock; /* of what is noted of waits */
} Search;

static inline Task *task_of(const Search *s, guint i)
{
        return &g_array_index(s->tasks, Task, i);
}

static int compare_work(const void *a, const void *b)
{
        double x = ((const Task *)a)->work, y = ((const Task *)b)->work;

        return COMPARE(y, x);
}

static int compare_nodes(const void *a, const void *b)
{
        NodeId x = ((const Task *)a)->node, y = ((const Task *)b)->node;

        return COMPARE(x, y);
}

/* How long calls into a node take together, ns. */
static double time_at(const Search *s, NodeId node)
{
        gint128 time = 0;

        for (guint32 i = s->by.first_in[node]; i < s->by.first_in[node + 1]; i++) {
                Span span = s->of->calls->pairs.at_callee[s->by.in[i]];

                known_calls_pass(s->of->calls, i);
                time += span.to - span.from;
        }
        return (double)time;
}

/* A node's work is that of all nestings that there may be: calls out of it, times the calls into it
 * that are open in the mean. */
static void find_tasks(Search *s, guint n_nodes)
{
        const CallsByNode *by = &s->by;

        for (NodeId id = 0; id < n_nodes; id++) {
                Task task = { .node = id,
                              .n_in = by->first_in[id + 1] - by->first_in[id],
                              .n_out = by->first_out[id + 1] - by->first_out[id] };

                if (!task.n_in || !task.n_out)
                        continue;
                task.work = task.n_out * time_at(s, id);
                g_array_append_val(s->tasks, task);
        }
        g_array_sort(s->tasks, compare_work);
}

/* Callers come first: which of their calls belong together is evidence at the callee. */
static void order_tasks(Search *s, guint n_nodes)
{
        const NodesSearch *n = s->of;
        guint n_tasks = s->tasks->len;
        g_autofree guint32 *number = g_new(guint32, n_nodes);
        g_autoptr(GArray) links = g_array_new(FALSE, FALSE, sizeof(NodeLink));

        fill(number, 0xff, n_nodes * sizeof *number);
        for (guint i = 0; i < n_tasks; i++)
                number[task_of(s, i)->node] = i;
        for (guint i = 0; i < n->calls->roles.n_edges; i++) {
                NodeLink link = { number[n->calls->roles.edge[i].caller],
                                  number[n->calls->roles.edge[i].callee] };

                if (link.caller < n_tasks && link.callee < n_tasks && link.caller != link.callee)
                        g_array_append_val(links, link);
        }
        node_order_init(&s->order, n_tasks, (const NodeLink *)links->data, links->len);
        s->rank = g_new0(guint32, n_nodes);
        for (guint i = 0; i < n_tasks; i++) {
                s->rank[task_of(s, i)->node] = s->order.rank[i];
                task_of(s, i)->n_waits = s->order.n_before[i];
        }
}

/* CrewTake; data: the search. The task with the most work of those that need not wait. */
static CrewNext take_task(gpointer data, gpointer *work)
{
        Search *s = data;

        if (s->n_done == s->tasks->len)
                return CREW_END;
        for (guint i = 0; i < s->tasks->len; i++) {
                Task *task = task_of(s, i);

                if (task->taken || task->n_waits > 0)
                        continue;
                task->taken = TRUE;
                *work = task;
                return CREW_WORK;
        }
        return CREW_WAIT;
}

/* CrewDone; data: the search. */
static void end_task(gpointer data, gpointer work)
{
        Search *s = data;
        const NodeOrder *o = &s->order;
        guint i = (guint)((Task *)work - task_of(s, 0));

        for (guint32 k = o->first[i]; k < o->first[i + 1]; k++)
                if (o->rank[o->callee[k]] > o->rank[i])
                        task_of(s, o->callee[k])->n_waits--;
        s->n_done++;
}

static void sum_candidates(Task *task)
{
        const NodeAnswer *a = &task->found;

        for (guint32 i = 0; i < a->n_out; i++) {
                if (a->call[i] == NO_PARENT)
                        continue;
                task->children += a->n_candidates[i] > 0;
                task->nestings += a->n_candidates[i];
        }
}

/* The problem of a task, with room for its calls. */
static NodeProblem problem_of(const Search *s, const Task *task)
{
        const NodesSearch *n = s->of;

        return (NodeProblem){ .in = big_renew_in_file(NULL, 0, task->n_in * sizeof(CallIn)),
                              .out = big_renew_in_file(NULL, 0, task->n_out * sizeof(CallOut)),
                              .n_in = task->n_in,
                              .n_out = task->n_out,
                              .window = n->window,
                              .from = n->view.from,
                              .decide = n->view.decide,
                              .crew = s->crew,
                              .draws = n->drawn != NULL,
                              .in_files = TRUE,
                              .best_only = !n->cycles, /* else it may lie within its call */
                              .keep_log = n->keep_log };
}

static void free_problem(const Task *task, NodeProblem *problem)
{
        big_free(problem->in, task->n_in * sizeof(CallIn));
        big_free(problem->out, task->n_out * sizeof(CallOut));
}

/* Takes what was found of a task. */
static void take_found(Search *s, Task *task, const NodeProblem *problem)
{
        const NodesSearch *n = s->of;

        take_answer(n, s->rank, task->node, problem, &task->found);
        g_mutex_lock(&s->lock);
        note_waits(n, problem, &task->found);
        if (n->drawn)
                drawn_parents_take(n->drawn, &task->found, n->calls->pairs.n);
        g_mutex_unlock(&s->lock);
        sum_candidates(task);
        task->log = task->found.log;
        task->true_log = task->found.true_log;
        if (!n->cycles)
                set_causes(n, &task->found);
}

/* CrewDo; data: the search. */
static void do_task(gpointer data, gpointer work)
{
        Search *s = data;
        Task *task = work;
        const NodesSearch *n = s->of;
        g_autofree guint32 *truth = n->true_parent ? g_new(guint32, task->n_out) : NULL;
        WorkPart part = { .work = &s->work, .size = task->work };
        NodeProblem problem = problem_of(s, task);

        problem.truth = truth;
        problem.work = &part;
        make_problem(n, &s->by, task->node, &problem);
        find_parents(n, task->node, &problem, &task->found);
        take_found(s, task, &problem);
        work_part_done(&part, 1);
        free_problem(task, &problem);
}

/* --- node by node, by several processes ---------------------------------------- */

/* A task of a wave: of nodes whose callers are done, at most one for each thread of each process.
 * The first process puts the parts of nodes together, as it needs all that is found. */
typedef struct {
        Task *task;
        guint learner;   /* the process that learns */
        double load;     /* what that learning takes */
        GBytes *learned; /* what parts need of it; NULL: all parents were found */
        gboolean in_parts;
        NodeProblem problem; /* where it is known here */
        SharedNode *node;    /* likewise */
        GBytes *share;       /* of the parts, that was found here; NULL: none, or kept */
} Together;

static Together *together_at(GArray *wave, guint i)
{
        return &g_array_index(wave, Together, i);
}

/* The next tasks, those with the most work first. */
static GArray *next_wave(Search *s, const double *load)
{
        const Peers *peers = s->of->peers;
        guint n_threads = crew_size(s->crew);
        GArray *wave = g_array_new(FALSE, TRUE, sizeof(Together));
        g_autofree guint *n_learn = g_new0(guint, peers->n);
        g_autofree gboolean *is_full = g_new0(gboolean, peers->n);
        gpointer task;

        while (wave->len < peers->n * n_threads && take_task(s, &task) == CREW_WORK) {
                Together t = { .task = task,
                               .learner = peers_least_loaded(load, is_full, peers->n) };

                is_full[t.learner] = ++n_learn[t.learner] == n_threads;
                g_array_append_val(wave, t);
        }
        return wave;
}

/* What is done for each node of a wave, on threads. */
typedef struct {
        Search *search;
        GArray *wave;
        void (*run)(Search *s, Together *t);
        guint n_taken, n_done;
} WaveStep;

/* CrewTake, CrewDo, CrewDone; data: the step. */
static CrewNext take_in_step(gpointer data, gpointer *work)
{
        WaveStep *step = data;

        if (step->n_taken == step->wave->len)
                return step->n_done == step->wave->len ? CREW_END : CREW_WAIT;
        *work = together_at(step->wave, step->n_taken++);
        return CREW_WORK;
}

static void do_in_step(gpointer data, gpointer work)
{
        const WaveStep *step = data;

        step->run(step->search, work);
}

static void end_in_step(gpointer data, gpointer work)
{
        WaveStep *step = data;

        (void)work;
        step->n_done++;
}

static void run_step(Search *s, GArray *wave, void (*run)(Search *s, Together *t))
{
        const CrewList list = { take_in_step, do_in_step, end_in_step };
        WaveStep step = { .search = s, .wave = wave, .run = run };

        crew_run(s->crew, &list, &step);
}

static void begin_node(Search *s, Together *t)
{
        t->problem = problem_of(s, t->task);
        make_problem(s->of, &s->by, t->task->node, &t->problem);
        t->node = shared_node_new(&t->problem);
}

/* The same to all. */
static GPtrArray *tell_all(const Peers *peers, Bytes *b)
{
        g_autoptr(GBytes) bytes = bytes_written(b);
        g_autofree GBytes **to = g_new(GBytes *, peers->n);

        for (guint i = 0; i < peers->n; i++)
                to[i] = bytes;
        return peers->swap(to);
}

/* A message of one of them. */
static Bytes bytes_from(GPtrArray *all, guint peer)
{
        gsize n;
        const guint8 *data = g_bytes_get_data(all->pdata[peer], &n);

        return bytes_to_read(data, n);
}

/* --- learning */

static void learn_mine(Search *s, Together *t)
{
        if (t->learner != s->of->peers->mine)
                return;
        begin_node(s, t);
        t->learned = shared_node_learn(t->node);
        t->load = shared_node_learning(t->node);
}

static void learned_bytes(Together *t, Bytes *b)
{
        t->in_parts = t->learned != NULL;
        bytes_double(b, &t->load);
        bytes_bool(b, &t->in_parts);
        if (t->in_parts)
                bytes_blob(b, &t->learned);
}

/* All get to know what was learned of each node. */
static void tell_learned(const Peers *peers, GArray *wave)
{
        Bytes b = bytes_to_write();
        g_autoptr(GPtrArray) all = NULL;
        g_autofree Bytes *from = g_new(Bytes, peers->n);

        for (guint i = 0; i < wave->len; i++)
                if (together_at(wave, i)->learner == peers->mine)
                        learned_bytes(together_at(wave, i), &b);
        all = tell_all(peers, &b);
        for (guint i = 0; i < peers->n; i++)
                from[i] = bytes_from(all, i);
        for (guint i = 0; i < wave->len; i++) {
                Together *t = together_at(wave, i);

                if (t->learner != peers->mine)
                        learned_bytes(t, &from[t->learner]);
        }
        for (guint i = 0; i < peers->n; i++)
                g_assert(bytes_end(&from[i], NULL));
}

static void take_learned(Search *s, Together *t)
{
        if (t->in_parts && t->learner != s->of->peers->mine) {
                begin_node(s, t);
                shared_node_take(t->node, t->learned);
        }
        g_clear_pointer(&t->learned, g_bytes_unref);
}

/* Each node of the wave is learned by a process. */
static void learn_wave(Search *s, GArray *wave, double *load)
{
        run_step(s, wave, learn_mine);
        tell_learned(s->of->peers, wave);
        run_step(s, wave, take_learned);
        for (guint i = 0; i < wave->len; i++)
                load[together_at(wave, i)->learner] += together_at(wave, i)->load;
}

/* --- finding */

static void find_share(Search *s, Together *t)
{
        if (t->in_parts)
                t->share = shared_node_find(t->node, s->of->peers->mine == 0);
}

/* Each process finds some parts of all nodes of the wave. */
static void find_wave(Search *s, GArray *wave, double *load)
{
        for (guint i = 0; i < wave->len; i++) {
                Together *t = together_at(wave, i);

                if (t->in_parts)
                        shared_node_assign(t->node, s->of->peers->mine, load, s->of->peers->n);
        }
        run_step(s, wave, find_share);
}

/* Sends something to the first process; what it gets, by process. */
static GPtrArray *tell_first(const Peers *peers, GBytes *bytes)
{
        g_autofree GBytes **to = g_new0(GBytes *, peers->n);

        if (peers->mine > 0)
                to[0] = bytes;
        return peers->swap(to);
}

/* The first process gets the shares of all. */
static void gather_shares(const Peers *peers, Together *t)
{
        g_autoptr(GPtrArray) all = tell_first(peers, t->share);

        g_clear_pointer(&t->share, g_bytes_unref);
        for (guint i = 1; peers->mine == 0 && i < peers->n; i++) {
                shared_node_add(t->node, all->pdata[i]);
                g_clear_pointer((GBytes **)&all->pdata[i], g_bytes_unref);
        }
}

/* The first process gets the answer of the one that found all parents. */
static void gather_answer(const Peers *peers, Together *t)
{
        g_autoptr(GBytes) answer = NULL;
        g_autoptr(GPtrArray) all = NULL;
        Bytes b;

        if (t->learner == peers->mine) {
                shared_node_end(t->node, &t->task->found);
                answer = node_answer_to_bytes(&t->task->found);
        }
        if (t->learner == 0)
                return;
        all = tell_first(peers, answer);
        if (peers->mine > 0)
                return;
        b = bytes_from(all, t->learner);
        g_assert(node_answer_from_bytes(&t->task->found, b.data, b.n, NULL));
}

/* What calls of later nodes depend on goes to all. */
static void share_contexts(const Peers *peers, Task *task)
{
        Bytes b = bytes_to_write();
        g_autoptr(GPtrArray) all = NULL;

        if (peers->mine == 0)
                bytes_u32s(&b, &task->found.context, task->n_out);
        all = tell_all(peers, &b);
        if (peers->mine == 0)
                return;
        node_answer_clear(&task->found);
        b = bytes_from(all, 0);
        bytes_u32s(&b, &task->found.context, task->n_out);
        g_assert(bytes_end(&b, NULL));
}

/* What was found of a node, and no more at a time: it is long. */
static void gather_found(const Peers *peers, Together *t)
{
        if (t->in_parts)
                gather_shares(peers, t);
        else
                gather_answer(peers, t);
        if (t->in_parts && peers->mine == 0)
                shared_node_end(t->node, &t->task->found);
        share_contexts(peers, t->task);
}

static void end_node(Search *s, Together *t)
{
        if (!t->problem.in) {
                t->problem = problem_of(s, t->task);
                make_problem(s->of, &s->by, t->task->node, &t->problem);
        }
        if (s->of->peers->mine == 0)
                take_found(s, t->task, &t->problem);
        else
                set_contexts(s->of, s->rank, t->task->node, &t->problem, &t->task->found);
        if (s->of->peers->mine > 0)
                node_answer_clear(&t->task->found);
        shared_node_free(t->node);
        free_problem(t->task, &t->problem);
        end_task(s, t->task);
}

static void find_together(Search *s)
{
        g_autofree double *load = g_new0(double, s->of->peers->n);

        while (s->n_done < s->tasks->len) {
                g_autoptr(GArray) wave = next_wave(s, load);

                learn_wave(s, wave, load);
                find_wave(s, wave, load);
                for (guint i = 0; i < wave->len; i++) {
                        gather_found(s->of->peers, together_at(wave, i));
                        end_node(s, together_at(wave, i));
                }
        }
}

/* Adds up in the order of nodes. Where a call may come to lie within itself, its cause depends on
 * those at other nodes, and is set now. */
static void sum_up(const NodesSearch *n, GArray *tasks, LogLikelihood *log)
{
        g_array_sort(tasks, compare_nodes);
        for (guint i = 0; i < tasks->len; i++) {
                Task *task = &g_array_index(tasks, Task, i);

                n->calls->children += task->children;
                n->calls->nestings += task->nestings;
                log->unknown += n->given && !n->given->model[task->node];
                log->found += task->log;
                log->truth += task->true_log;
                if (n->cycles)
                        set_causes(n, &task->found);
        }
}

void find_parents_at_nodes(const NodesSearch *n, LogLikelihood *log)
{
        guint n_nodes = node_table_size(n->calls->nodes);
        g_autoptr(GArray) tasks = g_array_new(FALSE, FALSE, sizeof(Task));
        const CrewList list = { take_task, do_task, end_task };
        Search s = { .of = n, .tasks = tasks };
        double work = 0;

        index_calls(n, &s.by, n_nodes);
        find_tasks(&s, n_nodes);
        order_tasks(&s, n_nodes);
        for (guint i = 0; i < tasks->len; i++)
                work += task_of(&s, i)->work;
        work_init(&s.work, n->progress, work);
        g_mutex_init(&s.lock);
        s.crew = crew_new(n->threads);
        if (n->peers)
                find_together(&s);
        else
                crew_run(s.crew, &list, &s);
        crew_free(s.crew);
        g_mutex_clear(&s.lock);
        work_clear(&s.work);
        node_order_clear(&s.order);
        sum_up(n, tasks, log);
        big_free(s.by.in, n->calls->pairs.n * sizeof *s.by.in);
        big_free(s.by.out, n->calls->pairs.n * sizeof *s.by.out);
        g_free(s.rank);
        g_free(s.by.first_in);
        g_free(s.by.first_out);
}
