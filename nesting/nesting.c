/* SPDX-License-Identifier: BSD-2-Clause */
#include "nesting/nesting.h"

#include <stdlib.h>
#include <string.h>

#include "paths/fold-clients.h"
#include "tracefmt/big-memory.h"
#include "tracefmt/error.h"

Nesting *nesting_new(NodeTable *nodes, const NestingOptions *options)
{
        Nesting *n = g_new0(Nesting, 1);

        n->options = *options;
        n->nodes = nodes;
        n->matcher = call_matcher_new(options->window);
        if (options->keep || options->cheat)
                n->ids = g_byte_array_new();
        if (options->cheat)
                n->key = g_string_new(NULL);
        return n;
}

void nesting_free(Nesting *n)
{
        if (!n)
                return;
        call_matcher_free(n->matcher);
        big_free(n->candidates, n->calls.n * sizeof *n->candidates);
        big_free(n->id_at, n->id_size * sizeof *n->id_at);
        call_pairs_clear(&n->calls);
        g_free(n->fold);
        g_free(n->true_parent);
        if (n->ids)
                g_byte_array_free(n->ids, TRUE);
        if (n->key)
                g_string_free(n->key, TRUE);
        g_free(n);
}

/* --- FindCallPairs -------------------------------------------------------- */

static void keep_id(Nesting *n, const DoneCall *done)
{
        if (done->number >= n->id_size) {
                gsize size = MAX(n->calls.size, done->number + 1);

                n->id_at =
                        big_renew(n->id_at, n->id_size * sizeof *n->id_at, size * sizeof *n->id_at);
                n->id_size = size;
        }
        g_byte_array_append(n->ids, (const guint8 *)done->id, done->id_length);
        n->id_at[done->number] = (guint64)n->ids->len << 32 | done->id_length;
}

/* A call's place is its number, so that calls are in the order in which they were
 * opened; the places of those that found no return are closed up later. */
static gboolean take_done(Nesting *n, GError **error)
{
        guint n_done;
        const DoneCall *done = call_matcher_done(n->matcher, &n_done);

        for (guint i = 0; i < n_done; i++, done++) {
                if (G_UNLIKELY(done->number >= NO_PARENT)) {
                        g_set_error(error, RAVEL_ERROR, RAVEL_ERROR_INPUT,
                                    "more than %u calls, expected fewer: narrow the trace with "
                                    "--from and --to",
                                    NO_PARENT - 1);
                        return FALSE;
                }
                call_pairs_put(&n->calls, done->number, &done->pair);
                if (n->ids)
                        keep_id(n, done);
        }
        return TRUE;
}

gboolean nesting_add(Nesting *n, const Message *message, GError **error)
{
        Message with_path;

        if (G_UNLIKELY(n->options.cheat)) {
                with_path = *message;
                true_path_join(n, &with_path);
                message = &with_path;
        }
        if (call_matcher_add(n->matcher, message) & MATCH_DONE)
                return take_done(n, error);
        return TRUE;
}

const char *nesting_call_id(const Nesting *n, guint32 call, guint32 *length)
{
        const char *id;

        *length = (guint32)n->id_at[call];
        if (*length == 0)
                return "";
        id = (const char *)n->ids->data + (n->id_at[call] >> 32) - *length;
        if (n->options.cheat) {
                guint32 path = true_path_length(id, *length) + 1;

                id += path;
                *length -= path;
        }
        return id;
}

static void close_up(Nesting *n)
{
        CallPairs *c = &n->calls;
        guint32 kept = 0;

        if (call_matcher_counts(n->matcher)->pairs == c->n)
                return;
        for (guint32 i = 0; i < c->n; i++) {
                if (c->nodes[i].callee == NO_NODE)
                        continue;
                c->at_caller[kept] = c->at_caller[i];
                if (c->both_ends)
                        c->at_callee[kept] = c->at_callee[i];
                c->nodes[kept] = c->nodes[i];
                c->cause[kept] = c->cause[i];
                c->stamps[kept] = c->stamps[i];
                if (n->ids)
                        n->id_at[kept] = n->id_at[i];
                kept++;
        }
        c->n = kept;
}

static void find_fold(Nesting *n)
{
        guint n_edges;
        const Edge *edges = call_matcher_edges(n->matcher, &n_edges);
        g_autofree FoldEdge *fold_edges = g_new(FoldEdge, n_edges);
        guint n_calling = 0;

        for (guint i = 0; i < n_edges; i++)
                if (edges[i].kinds)
                        fold_edges[n_calling++] = (FoldEdge){ edges[i].caller, edges[i].callee };
        n->fold = n->options.fold ? fold_clients(n->nodes, fold_edges, n_calling, &n->folded)
                                  : fold_nothing(n->nodes);
}

/* --- the calls of each node ----------------------------------------------- */

/* The indices of all calls, those into a node together and in order; and those
 * out of it. first_in[node] to first_in[node + 1] are the node's. */
typedef struct {
        guint32 *in, *out;
        guint32 *first_in, *first_out;
} CallsByNode;

static void index_calls(const Nesting *n, CallsByNode *by, guint n_nodes)
{
        const CallPairs *c = &n->calls;
        guint n_edges;
        const Edge *edges = call_matcher_edges(n->matcher, &n_edges);

        by->in = big_renew(NULL, 0, c->n * sizeof *by->in);
        by->out = big_renew(NULL, 0, c->n * sizeof *by->out);
        /* One longer: while they are filled, [node + 1] is where the next one goes. */
        by->first_in = g_new0(guint32, n_nodes + 2);
        by->first_out = g_new0(guint32, n_nodes + 2);
        for (guint i = 0; i < n_edges; i++) {
                by->first_in[edges[i].callee + 2] += edges[i].pairs;
                by->first_out[edges[i].caller + 2] += edges[i].pairs;
        }
        for (guint i = 0; i < n_nodes; i++) {
                by->first_in[i + 2] += by->first_in[i + 1];
                by->first_out[i + 2] += by->first_out[i + 1];
        }
        for (guint32 i = 0; i < c->n; i++) {
                by->in[by->first_in[c->nodes[i].callee + 1]++] = i;
                by->out[by->first_out[c->nodes[i].caller + 1]++] = i;
        }
}

/* Numbers things of one node from 0 by first sight, without forgetting those of
 * other nodes one by one. */
typedef struct {
        guint32 *number, *seen; /* by NodeId; seen: the mark of the node it is for */
        guint32 mark, n;
} Numbering;

static inline guint32 number_of(Numbering *g, NodeId node)
{
        if (g->seen[node] != g->mark) {
                g->seen[node] = g->mark;
                g->number[node] = g->n++;
        }
        return g->number[node];
}

static int compare_in(const void *a, const void *b)
{
        const CallIn *x = a, *y = b;

        return x->enter != y->enter ? (x->enter > y->enter) - (x->enter < y->enter)
                                    : (x->call > y->call) - (x->call < y->call);
}

static int compare_out(const void *a, const void *b)
{
        const CallOut *x = a, *y = b;

        return x->start != y->start ? (x->start > y->start) - (x->start < y->start)
                                    : (x->call > y->call) - (x->call < y->call);
}

/* Copies the calls of one node side by side, in order, which they mostly are
 * already: the sweeps then run through them without a miss. */
static void gather_node(const Nesting *n, const CallsByNode *by, NodeId id, NodeCalls *node,
                        Numbering *callers, Numbering *callees)
{
        const CallPairs *c = &n->calls;
        const guint32 *in = by->in + by->first_in[id], *out = by->out + by->first_out[id];
        gint64 last = G_MININT64;
        gboolean sorted = TRUE;

        callers->mark = callees->mark = id + 1;
        callers->n = callees->n = 0;
        node->longest = 0;
        for (guint32 i = 0; i < node->n_in; i++) {
                guint32 call = in[i];
                Span span = c->at_callee[call];

                node->in[i] =
                        (CallIn){ .enter = span.from,
                                  .reply = span.to,
                                  .call = call,
                                  .caller = number_of(callers, n->fold[c->nodes[call].caller]),
                                  .children = NO_PARENT };
                sorted &= span.from >= last;
                last = span.from;
                node->longest = MAX(node->longest, span.to - span.from);
        }
        if (!sorted)
                qsort(node->in, node->n_in, sizeof *node->in, compare_in);
        sorted = TRUE;
        last = G_MININT64;
        for (guint32 i = 0; i < node->n_out; i++) {
                guint32 call = out[i];
                Span span = c->at_caller[call];

                node->out[i] = (CallOut){ span.from, span.to, call,
                                          number_of(callees, c->nodes[call].callee), NO_PARENT };
                sorted &= span.from >= last;
                last = span.from;
        }
        if (!sorted)
                qsort(node->out, node->n_out, sizeof *node->out, compare_out);
        node->n_callers = callers->n;
        node->n_callees = callees->n;
}

static void find_parents_at_nodes(Nesting *n, const CallsByNode *by, guint n_nodes)
{
        Numbering callers = { g_new(guint32, n_nodes), g_new0(guint32, n_nodes), 0, 0 };
        Numbering callees = { g_new(guint32, n_nodes), g_new0(guint32, n_nodes), 0, 0 };
        gsize room_in = 0, room_out = 0;
        NodeCalls node = { 0 };
        Candidates candidates;
        Scoreboard board;

        candidates_init(&candidates, n->options.window,
                        n->options.window > 0 || n->calls.both_ends);
        scoreboard_init(&board);
        for (NodeId id = 0; id < n_nodes; id++) {
                node.n_in = by->first_in[id + 1] - by->first_in[id];
                node.n_out = by->first_out[id + 1] - by->first_out[id];
                if (!node.n_in || !node.n_out)
                        continue;
                if (node.n_in > room_in) {
                        node.in = big_renew(node.in, room_in * sizeof *node.in,
                                            node.n_in * sizeof *node.in);
                        room_in = node.n_in;
                }
                if (node.n_out > room_out) {
                        node.out = big_renew(node.out, room_out * sizeof *node.out,
                                             node.n_out * sizeof *node.out);
                        room_out = node.n_out;
                }
                gather_node(n, by, id, &node, &callers, &callees);
                if (n->options.joint) {
                        find_parents_jointly(n, &node, &candidates);
                        continue;
                }
                score_nestings(n, &node, &candidates, &board);
                find_nested_pairs(n, &node, &candidates, &board);
        }
        scoreboard_clear(&board);
        candidates_clear(&candidates);
        big_free(node.in, room_in * sizeof *node.in);
        big_free(node.out, room_out * sizeof *node.out);
        g_free(callers.number);
        g_free(callers.seen);
        g_free(callees.number);
        g_free(callees.seen);
}

/* Keeps the true parents for the oracle to learn from; calls have none again. */
static void take_truth(Nesting *n)
{
        n->true_parent = g_new(guint32, n->calls.n);
        for (guint32 i = 0; i < n->calls.n; i++) {
                n->true_parent[i] = n->calls.cause[i].parent;
                n->calls.cause[i].parent = NO_PARENT;
        }
}

void nesting_find_parents(Nesting *n)
{
        CallsByNode by;
        guint n_nodes;

        if (call_matcher_finish(n->matcher) & MATCH_DONE)
                take_done(n, NULL);
        close_up(n);
        find_fold(n);
        n_nodes = node_table_size(n->nodes);
        if (n->options.keep)
                n->candidates = big_renew(NULL, 0, n->calls.n * sizeof *n->candidates);
        if (n->options.cheat)
                find_true_parents(n);
        if (n->options.cheat && !n->options.joint)
                return;
        if (n->options.cheat)
                take_truth(n);
        index_calls(n, &by, n_nodes);
        find_parents_at_nodes(n, &by, n_nodes);
        big_free(by.in, n->calls.n * sizeof *by.in);
        big_free(by.out, n->calls.n * sizeof *by.out);
        g_free(by.first_in);
        g_free(by.first_out);
}

static int compare_starts(const void *a, const void *b, void *data)
{
        const CallPairs *c = data;
        guint32 i = *(const guint32 *)a, j = *(const guint32 *)b;
        gint64 x = c->at_caller[i].from, y = c->at_caller[j].from;

        return x != y ? (x > y) - (x < y) : (i > j) - (i < j);
}

void nesting_sort_calls(const Nesting *n, guint32 *calls, guint32 n_calls)
{
        const CallPairs *c = &n->calls;

        for (guint32 i = 1; i < n_calls; i++)
                if (c->at_caller[calls[i]].from < c->at_caller[calls[i - 1]].from) {
                        qsort_r(calls, n_calls, sizeof *calls, compare_starts, (void *)c);
                        return;
                }
}
