/* SPDX-License-Identifier: BSD-2-Clause */
#include "nesting/node-calls.h"

#include <stdlib.h>

#include "base/big-memory.h"
#include "base/compare.h"
#include "base/size-class.h"
#include "inference/model/pass-calls.h"
#include "nesting/explanation.h"

/* A node is asked for the parents of its calls. Two kinds are left out: calls with a link to their
 * cause, and requests for the next job. Calls that are one message are no parents. Nor are calls
 * that nobody answered by the end. */
static gboolean is_out(const NodesSearch *n, guint32 call)
{
        return call_links_parent(&n->calls->links, call) == NO_PARENT &&
               !call_links_is_turn(&n->calls->links, call);
}

static gboolean is_in(const NodesSearch *n, guint32 call)
{
        return !call_is_message(&n->calls->pairs, call) &&
               !(call_facts_get(&n->calls->facts, call).unanswered & UNANSWERED_SILENT);
}

void node_calls_index(const NodesSearch *n, CallsByNode *by, guint n_nodes)
{
        const CallPairs *c = &n->calls->pairs;
        gboolean starts, enters;
        guint32 call;

        by->in = big_renew_in_file(NULL, 0, c->n * sizeof *by->in);
        by->out = big_renew_in_file(NULL, 0, c->n * sizeof *by->out);
        /* One entry longer: during filling, [node + 1] is the index of the next call. */
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

void node_calls_clear(const NodesSearch *n, CallsByNode *by)
{
        big_free(by->in, n->calls->pairs.n * sizeof *by->in);
        big_free(by->out, n->calls->pairs.n * sizeof *by->out);
        g_free(by->first_in);
        g_free(by->first_out);
}

COMPARISON(compare_in, CallIn, COMPARE(a->enter, b->enter) ?: COMPARE(a->call, b->call))

COMPARISON(compare_out, CallOut, COMPARE(a->start, b->start) ?: COMPARE(a->call, b->call))

static void put_calls_away(const NodesSearch *n, const CallsByNode *by)
{
        big_put_away(by->in, n->calls->pairs.n * sizeof *by->in);
        big_put_away(by->out, n->calls->pairs.n * sizeof *by->out);
}

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

/* The number of a node in the model that decides, or its own without a model. */
static NodeId node_of(const NodesSearch *n, NodeId node)
{
        return n->given ? n->given->node[node] : node;
}

static guint16 operation_of(const NodesSearch *n, guint32 call)
{
        guint16 label = call_labels_get(&n->calls->labels, call);

        return n->given ? n->given->operation[label] : label;
}

/* The classes of the sizes of a call and its return. */
static void get_sizes(const NodesSearch *n, guint32 call, guint8 size[2])
{
        CallFact fact = call_facts_get(&n->calls->facts, call);

        size[0] = size_class((guint64)fact.call_bytes);
        size[1] = size_class((guint64)fact.ret_bytes);
}

/* How long the caller waited until it sent its SYN again, ns. It had decided on the call before. If
 * the connection was idle (tcp=), the call did not wait. */
static gint64 find_lost(const NodesSearch *n, guint32 call)
{
        CallFact fact = call_facts_get(&n->calls->facts, call);
        const CallDelays *delays = call_facts_delays(&n->calls->facts, &fact);

        return delays && delays->tcp == 0 ? MIN(delays->syn_again, delays->opened) : 0;
}

/* Copies the calls of one node into adjacent arrays. */
static void gather_node(const NodesSearch *n, const CallsByNode *by, NodeId id, NodeProblem *node)
{
        const CallPairs *c = &n->calls->pairs;
        const guint32 *in = by->in + by->first_in[id], *out = by->out + by->first_out[id];
        gboolean any_lost = FALSE;

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
                gint64 lost = find_lost(n, out[i]);

                any_lost |= lost > 0;
                known_calls_pass(n->calls, i);
                node_problem_pass(node, i);
                node->out[i] = (CallOut){
                        .start = c->at_caller[out[i]].from - lost,
                        .lead = MAX(way.lead - lost, 0),
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
        if (any_lost)
                qsort(node->out, node->n_out, sizeof *node->out, compare_out);
        node->identifiers = call_identifiers_lists(&n->calls->identifiers);
        for (guint32 i = 0; n->true_parent && i < node->n_out; i++)
                node->truth[i] = n->true_parent[node->out[i].call];
}

/* Notes the number of candidates of each call that got a parent. */
static void note_candidates(const NodesSearch *n, const NodeAnswer *answer)
{
        for (guint32 i = 0; n->calls->pairs.candidates && i < answer->n_out; i++) {
                known_calls_pass(n->calls, i);
                if (answer->call[i] != NO_PARENT)
                        n->calls->pairs.candidates[answer->call[i]] = answer->n_candidates[i];
        }
}

/* Multiplies the families of calls into a node by the answer's. */
static void multiply_families(const NodesSearch *n, const NodeProblem *node,
                              const NodeAnswer *answer)
{
        for (guint32 p = 0; p < node->n_in; p++) {
                known_calls_pass(n->calls, p);
                node_problem_pass(node, p);
                n->calls->pairs.family[node->in[p].call] *= answer->family[p];
        }
}

void node_calls_note_waits(const NodesSearch *n, const NodeProblem *node, NodeAnswer *answer)
{
        for (guint32 p = 0; answer->wait && p < node->n_in; p++) {
                known_calls_pass(n->calls, p);
                node_problem_pass(node, p);
                call_facts_add_wait(&n->calls->facts, node->in[p].call, answer->n_workers,
                                    answer->wait[p]);
        }
        g_clear_pointer(&answer->wait, g_free);
}

void node_calls_make_problem(const NodesSearch *n, const CallsByNode *by, NodeId id,
                             NodeProblem *problem)
{
        gather_node(n, by, id, problem);
        put_calls_away(n, by);
        late_calls_admit(problem);
}

void node_calls_take_answer(const NodesSearch *n, const NodeProblem *problem, NodeAnswer *answer)
{
        note_candidates(n, answer);
        multiply_families(n, problem, answer);
        g_clear_pointer(&answer->family, g_free);
}

/* --- causes ------------------------------------------------------------------ */

/* Adds the evidence for and against the candidates of a call, relative to its parent. */
static void explain_evidence(const NodeAnswer *found, Explanation *e, guint32 parent)
{
        for (guint i = 0; found->weights && i < found->weights->len; i++) {
                const CandidateWeights *w = &g_array_index(found->weights, CandidateWeights, i);

                if (w->call == e->call)
                        explanation_weigh(e, w);
        }
        explanation_compare(e, parent);
}

static void explain_child(const NodesSearch *n, const NodeAnswer *found, guint32 child)
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

/* The best candidate of a call lies within the call, so the call has another parent. The families
 * of both are corrected. */
static void move_child(const NodesSearch *n, const NodeAnswer *found, gsize first, gsize taken)
{
        n->calls->pairs.family[found->parent[first]] *= 1 - found->share[first];
        if (taken != G_MAXSIZE)
                n->calls->pairs.family[found->parent[taken]] *= found->share[taken];
}

void node_calls_set_causes(const NodesSearch *n, NodeAnswer *found)
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
                        explain_child(n, found, i);
        }
        node_answer_clear(found);
}
