/* SPDX-License-Identifier: BSD-2-Clause */
#include "nesting/nesting.h"

#include <stdlib.h>
#include <string.h>

#include "paths/fold-clients.h"
#include "tracefmt/error.h"

Nesting *nesting_new(NodeTable *nodes, const NestingOptions *options)
{
        Nesting *n = g_new0(Nesting, 1);

        n->options = *options;
        n->nodes = nodes;
        n->matcher = call_matcher_new(options->window);
        if (options->keep_ids)
                n->ids = g_byte_array_new();
        return n;
}

void nesting_free(Nesting *n)
{
        if (!n)
                return;
        call_matcher_free(n->matcher);
        g_free(n->calls);
        g_free(n->stamps);
        g_free(n->candidates);
        g_free(n->first_child);
        g_free(n->next_child);
        g_free(n->fold);
        g_free(n->id_at);
        if (n->ids)
                g_byte_array_free(n->ids, TRUE);
        g_free(n);
}

/* --- FindCallPairs -------------------------------------------------------- */

/* A call's place is its number, so that the array is in the order in which calls
 * were opened; the places of calls that found no return are closed up later. */
static gboolean reserve(Nesting *n, guint64 number, GError **error)
{
        guint32 old = n->calls_size;

        if (number < n->calls_size)
                return TRUE;
        if (number >= NO_PARENT) {
                g_set_error(error, RAVEL_ERROR, RAVEL_ERROR_INPUT,
                            "more than %u calls, expected fewer: narrow it with --from and --to",
                            NO_PARENT - 1);
                return FALSE;
        }
        n->calls_size = MIN(MAX(number + 1, old ? old * (guint64)2 : 4096), NO_PARENT);
        n->calls = g_renew(CallPair, n->calls, n->calls_size);
        n->stamps = g_renew(guint8, n->stamps, n->calls_size);
        memset(n->stamps + old, 0, n->calls_size - old);
        if (n->ids)
                n->id_at = g_renew(guint64, n->id_at, n->calls_size);
        return TRUE;
}

static gboolean take_done(Nesting *n, GError **error)
{
        guint n_done;
        const DoneCall *done = call_matcher_done(n->matcher, &n_done);

        for (guint i = 0; i < n_done; i++) {
                guint64 number = done[i].number;

                if (!reserve(n, number, error))
                        return FALSE;
                n->calls[number] = done[i].pair;
                n->stamps[number] = done[i].stamps;
                n->n_calls = MAX(n->n_calls, number + 1);
                if (n->ids) {
                        g_byte_array_append(n->ids, (const guint8 *)done_call_id(&done[i]),
                                            done[i].id_length);
                        n->id_at[number] = (guint64)n->ids->len << 32 | done[i].id_length;
                }
        }
        return TRUE;
}

gboolean nesting_add(Nesting *n, const Message *message, GError **error)
{
        if (call_matcher_add(n->matcher, message) & MATCH_DONE)
                return take_done(n, error);
        return TRUE;
}

const char *nesting_call_id(const Nesting *n, guint32 call, guint32 *length)
{
        *length = (guint32)n->id_at[call];
        return (const char *)n->ids->data + (n->id_at[call] >> 32) - *length;
}

static void close_up(Nesting *n)
{
        guint32 kept = 0;

        for (guint32 i = 0; i < n->n_calls; i++) {
                if (!n->stamps[i])
                        continue;
                n->calls[kept] = n->calls[i];
                n->stamps[kept] = n->stamps[i];
                if (n->ids)
                        n->id_at[kept] = n->id_at[i];
                kept++;
        }
        n->n_calls = kept;
}

/* --- the calls of each node ----------------------------------------------- */

static void find_fold(Nesting *n)
{
        guint n_edges;
        const Edge *edges = call_matcher_edges(n->matcher, &n_edges);
        g_autofree FoldEdge *fold_edges = g_new(FoldEdge, n_edges);

        for (guint i = 0; i < n_edges; i++)
                fold_edges[i] = (FoldEdge){ edges[i].caller, edges[i].callee };
        n->fold = n->options.fold ? fold_clients(n->nodes, fold_edges, n_edges, &n->folded)
                                  : fold_nothing(n->nodes);
}

typedef enum { BY_ENTER, BY_START } Moment;

static gint64 moment_of(const CallPair *c, Moment moment)
{
        return moment == BY_ENTER ? c->enter : c->start;
}

typedef struct {
        const CallPair *calls;
        Moment moment;
} SortKey;

static int compare_calls(const void *a, const void *b, void *data)
{
        const SortKey *key = data;
        guint32 i = *(const guint32 *)a, j = *(const guint32 *)b;
        gint64 x = moment_of(&key->calls[i], key->moment);
        gint64 y = moment_of(&key->calls[j], key->moment);

        return x != y ? (x > y) - (x < y) : (i > j) - (i < j);
}

/* They mostly are in order already. */
static void sort_calls(const Nesting *n, guint32 *calls, guint32 n_calls, Moment moment)
{
        SortKey key = { n->calls, moment };

        for (guint32 i = 1; i < n_calls; i++)
                if (moment_of(&n->calls[calls[i]], moment) <
                    moment_of(&n->calls[calls[i - 1]], moment)) {
                        qsort_r(calls, n_calls, sizeof *calls, compare_calls, &key);
                        return;
                }
}

void nesting_sort_calls(const Nesting *n, guint32 *calls, guint32 n_calls)
{
        sort_calls(n, calls, n_calls, BY_START);
}

/* All calls, those of one node (their callee's or their caller's) together, and
 * of each node in order of the moment; first[node] is where they begin. */
static guint32 *calls_by_node(const Nesting *n, Moment moment, guint32 **first)
{
        guint n_nodes = node_table_size(n->nodes);
        guint32 *order = g_new(guint32, n->n_calls), *at = g_new0(guint32, n_nodes + 2);

        for (guint32 i = 0; i < n->n_calls; i++) {
                const CallPair *c = &n->calls[i];

                at[(moment == BY_ENTER ? c->callee : c->caller) + 2]++;
        }
        for (guint i = 2; i < n_nodes + 2; i++)
                at[i] += at[i - 1];
        /* at[node + 1] is where the node's next one goes; at the end, where the
         * next node's begin. */
        for (guint32 i = 0; i < n->n_calls; i++) {
                const CallPair *c = &n->calls[i];

                order[at[(moment == BY_ENTER ? c->callee : c->caller) + 1]++] = i;
        }
        for (guint node = 0; node < n_nodes; node++)
                sort_calls(n, order + at[node], at[node + 1] - at[node], moment);
        *first = at;
        return order;
}

/* Numbers the callers (folded) and callees of one node, from 0 by first sight.
 * seen_*: by NodeId, the last node, plus one, that had it. */
static void number_edges(const Nesting *n, NodeCalls *node, guint32 *seen_caller,
                         guint32 *seen_callee, guint32 mark)
{
        node->n_callers = node->n_callees = 0;
        for (guint32 i = 0; i < node->n_in; i++) {
                NodeId caller = n->calls[node->in[i]].caller, stands = n->fold[caller];

                if (seen_caller[stands] != mark) {
                        seen_caller[stands] = mark;
                        node->caller_of[stands] = node->n_callers++;
                }
                node->caller_of[caller] = node->caller_of[stands];
        }
        for (guint32 i = 0; i < node->n_out; i++) {
                NodeId callee = n->calls[node->out[i]].callee;

                if (seen_callee[callee] != mark) {
                        seen_callee[callee] = mark;
                        node->callee_of[callee] = node->n_callees++;
                }
        }
}

void nesting_find_parents(Nesting *n)
{
        g_autofree guint32 *in = NULL, *out = NULL, *first_in = NULL, *first_out = NULL;
        g_autofree guint32 *seen_caller = NULL, *seen_callee = NULL;
        guint n_nodes;
        NodeCalls node = { 0 };
        Candidates candidates;
        Scoreboard board;

        if (call_matcher_finish(n->matcher) & MATCH_DONE)
                take_done(n, NULL);
        close_up(n);
        find_fold(n);
        n_nodes = node_table_size(n->nodes);

        n->candidates = g_new0(guint32, n->n_calls);
        n->first_child = g_new(guint32, n->n_calls);
        n->next_child = g_new(guint32, n->n_calls);
        memset(n->first_child, 0xff, n->n_calls * sizeof *n->first_child);
        memset(n->next_child, 0xff, n->n_calls * sizeof *n->next_child);

        in = calls_by_node(n, BY_ENTER, &first_in);
        out = calls_by_node(n, BY_START, &first_out);
        node.caller_of = g_new(guint32, n_nodes);
        node.callee_of = g_new(guint32, n_nodes);
        seen_caller = g_new0(guint32, n_nodes);
        seen_callee = g_new0(guint32, n_nodes);
        candidates_init(&candidates, n->calls, n->options.window);
        scoreboard_init(&board);
        for (NodeId id = 0; id < n_nodes; id++) {
                node.in = in + first_in[id];
                node.n_in = first_in[id + 1] - first_in[id];
                node.out = out + first_out[id];
                node.n_out = first_out[id + 1] - first_out[id];
                if (!node.n_in || !node.n_out)
                        continue;
                number_edges(n, &node, seen_caller, seen_callee, id + 1);
                score_nestings(n, &node, &candidates, &board);
                find_nested_pairs(n, &node, &candidates, &board);
        }
        scoreboard_clear(&board);
        candidates_clear(&candidates);
        g_free(node.caller_of);
        g_free(node.callee_of);
}
