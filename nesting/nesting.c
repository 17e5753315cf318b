/* SPDX-License-Identifier: BSD-2-Clause */
#include "nesting/nesting.h"

#include <stdlib.h>
#include <string.h>

#include "base/big-memory.h"
#include "base/error.h"
#include "paths/fold-clients.h"

Nesting *nesting_new(NodeTable *nodes, const NestingOptions *options)
{
        Nesting *n = g_new0(Nesting, 1);

        n->options = *options;
        n->nodes = nodes;
        n->view = (View){ G_MININT64, G_MAXINT64 };
        n->matcher = call_matcher_new(options->window,
                                      options->max_call ? options->max_call : G_MAXINT64);
        nesting_set_clocks(n, CLOCKS_UNKNOWN);
        n->numbers = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
        scoreboard_init(&n->board);
        if (options->keep || options->cheat || options->joint)
                n->calls.wanted |= WANT_CAUSES;
        if (options->joint)
                n->calls.wanted |= WANT_CONTEXTS | WANT_FAMILIES;
        if (options->keep)
                n->calls.wanted |= WANT_CANDIDATES;
        if (options->places)
                n->calls.wanted |= WANT_PLACES;
        if (options->keep || options->cheat)
                n->calls.wanted |= WANT_IDS;
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
        for (guint i = 0; i < n->n_calling; i++)
                if (n->calling[i]) {
                        candidates_clear(&n->calling[i]->scoring);
                        candidates_clear(&n->calling[i]->open);
                        g_free(n->calling[i]);
                }
        g_free(n->calling);
        for (guint i = 0; i < n->n_models; i++)
                if (n->models[i])
                        node_model_free(n->models[i]);
        g_free(n->models);
        g_free(n->roles);
        g_free(n->rank);
        scoreboard_clear(&n->board);
        call_trees_clear(&n->trees);
        call_order_clear(&n->order);
        call_matcher_free(n->matcher);
        call_labels_clear(&n->labels);
        windows_free(n->windows);
        if (n->explanations)
                g_array_free(n->explanations, TRUE);
        g_hash_table_destroy(n->numbers);
        g_free(n->cuts);
        g_free(n->path);
        g_free(n->scores);
        call_pairs_clear(&n->calls);
        g_free(n->fold);
        g_free(n->true_parent);
        if (n->offsets)
                g_array_free(n->offsets, TRUE);
        g_free(n->offset);
        if (n->ids)
                g_byte_array_free(n->ids, TRUE);
        if (n->key)
                g_string_free(n->key, TRUE);
        g_free(n);
}

/* Of one clock no return is earlier than its call. */
void nesting_set_clocks(Nesting *n, TraceClocks clocks)
{
        n->clocks = clocks;
        if (n->options.joint && !n->options.span)
                call_matcher_wait(n->matcher, clocks == CLOCKS_ONE ? 0 : n->options.max_offset);
}

/* --- FindCallPairs -------------------------------------------------------- */

/* A call's place is its number, so that calls are in the order in which they were
 * opened; the places of those that found no return are closed up later. */
gboolean nesting_take_done(Nesting *n, GError **error)
{
        guint n_done;
        const DoneCall *done = call_matcher_done(n->matcher, &n_done);

        for (guint i = 0; i < n_done; i++, done++) {
                guint64 place = done->number - n->dropped;

                if (G_UNLIKELY(place >= NO_PARENT)) {
                        g_set_error(error, RAVEL_ERROR, RAVEL_ERROR_INPUT,
                                    "more than %u calls, expected fewer: narrow the trace with "
                                    "--from and --to, or take it in parts with --window",
                                    NO_PARENT - 1);
                        return FALSE;
                }
                call_pairs_put(&n->calls, place, &done->pair, done->edge);
                if (n->ids) {
                        g_byte_array_append(n->ids, (const guint8 *)done->id, done->id_length);
                        n->calls.id_at[place] = (guint64)n->ids->len << 32 | done->id_length;
                }
        }
        return TRUE;
}

gboolean nesting_add(Nesting *n, const Message *message, GError **error)
{
        Message with_path;
        guint did;

        if (G_UNLIKELY(n->options.cheat)) {
                with_path = *message;
                true_path_join(n, &with_path);
                message = &with_path;
        }
        did = call_matcher_add(n->matcher, message);
        if (n->options.joint && message_is_call(message))
                call_labels_add(&n->labels, call_matcher_latest(n->matcher) - n->dropped, message);
        if ((did & MATCH_DONE) && !nesting_take_done(n, error))
                return FALSE;
        return !n->windows || windows_add(n, message->time, error);
}

const char *nesting_call_id(const Nesting *n, guint32 call, guint32 *length)
{
        const char *id;

        *length = (guint32)n->calls.id_at[call];
        if (*length == 0)
                return "";
        id = (const char *)n->ids->data + (n->calls.id_at[call] >> 32) - *length;
        if (n->options.cheat) {
                guint32 path = true_path_length(id, *length) + 1;

                id += path;
                *length -= path;
        }
        return id;
}

/* Moves calls to the place of those without a return before them, a run of them at a time. */
static void close_up(Nesting *n)
{
        CallPairs *c = &n->calls;
        guint32 kept = 0, first = 0, end;

        if (call_matcher_counts(n->matcher)->pairs == c->n)
                return;
        for (; first < c->n; first = end + 1) {
                for (end = first; end < c->n && c->edge[end]; end++)
                        ;
                if (kept < first) {
                        call_labels_move(&n->labels, kept, first, end - first);
                        call_pairs_move(c, kept, first, end - first);
                }
                kept += end - first;
        }
        c->n = kept;
}

/* --- what edges and nodes are ---------------------------------------------- */

static void find_fold(Nesting *n, const Edge *edges, guint n_edges)
{
        g_autofree FoldEdge *fold_edges = g_new(FoldEdge, n_edges);
        guint n_calling = 0;

        for (guint i = 0; i < n_edges; i++)
                if (edges[i].kinds)
                        fold_edges[n_calling++] = (FoldEdge){ edges[i].caller, edges[i].callee };
        g_free(n->fold);
        n->fold = n->options.fold ? fold_clients(n->nodes, fold_edges, n_calling, &n->folded)
                                  : fold_nothing(n->nodes);
}

/* Only nodes that are called and call have nestings. */
static void find_calling(Nesting *n, const Edge *edges, guint n_edges, gboolean all)
{
        guint n_nodes = node_table_size(n->nodes);
        g_autofree guint8 *part = g_new0(guint8, n_nodes);

        n->calling = g_renew(CallingNode *, n->calling, n_nodes);
        while (n->n_calling < n_nodes)
                n->calling[n->n_calling++] = NULL;
        for (guint i = 0; i < n_edges; i++)
                if (edges[i].pairs) {
                        part[edges[i].caller] |= 1;
                        part[edges[i].callee] |= all ? 3 : 2;
                }
        for (guint i = 0; i < n_nodes; i++)
                if (part[i] == 3 && !n->calling[i]) {
                        n->calling[i] = g_new0(CallingNode, 1);
                        candidates_init(&n->calling[i]->scoring, n->options.window);
                        candidates_init(&n->calling[i]->open, n->options.window);
                }
}

/* Those that are folded into one have one number. */
static guint32 number_caller(Nesting *n, CallingNode *at_callee, NodeId shown, NodeId callee)
{
        gint64 key = (gint64)callee << 32 | shown;
        gpointer number;

        if (!g_hash_table_lookup_extended(n->numbers, &key, NULL, &number)) {
                number = GUINT_TO_POINTER(at_callee->n_callers++);
                g_hash_table_insert(n->numbers, g_memdup2(&key, sizeof key), number);
        }
        return GPOINTER_TO_UINT(number);
}

void nesting_find_roles(Nesting *n, gboolean all)
{
        guint n_edges;
        const Edge *edges = call_matcher_edges(n->matcher, &n_edges);
        gint64 longest = 0;

        find_fold(n, edges, n_edges);
        find_calling(n, edges, n_edges, all);
        n->roles = g_renew(EdgeRole, n->roles, n_edges);
        for (guint i = 0; i < n_edges; i++) {
                NodeId caller = edges[i].caller, callee = edges[i].callee;
                EdgeRole *role = &n->roles[i];

                if (i >= n->n_roles)
                        *role = (EdgeRole){ caller, callee, NO_NODE, 0, NULL, NULL };
                role->at_caller = n->calling[caller];
                role->at_callee = n->calling[callee];
                if (!role->at_callee)
                        continue;
                longest = MAX(longest, edges[i].longest_stay);
                if (role->shown == n->fold[caller])
                        continue;
                role->shown = n->fold[caller];
                role->number = number_caller(n, role->at_callee, role->shown, callee);
        }
        n->n_roles = n_edges;
        /* How long after its parent's call a child can start. */
        scoreboard_extend(&n->board, n_edges, longest + 2 * n->options.window);
}

/* --- the order of it all --------------------------------------------------- */

void nesting_end_calls(Nesting *n)
{
        if (n->ended)
                return;
        n->ended = TRUE;
        if (call_matcher_finish(n->matcher) & MATCH_DONE)
                nesting_take_done(n, NULL);
        close_up(n);
        nesting_find_roles(n, FALSE);
}

static void explanation_clear(gpointer explanation)
{
        g_array_free(((Explanation *)explanation)->parents, TRUE);
}

void nesting_explain(Nesting *n, guint32 call)
{
        Explanation e = { call, g_array_new(FALSE, FALSE, sizeof(PossibleParent)) };

        if (!n->explanations) {
                n->explanations = g_array_new(FALSE, FALSE, sizeof(Explanation));
                g_array_set_clear_func(n->explanations, explanation_clear);
        }
        g_array_append_val(n->explanations, e);
}

Explanation *nesting_explanation(const Nesting *n, guint32 call)
{
        for (guint i = 0; n->explanations && i < n->explanations->len; i++) {
                Explanation *e = &g_array_index(n->explanations, Explanation, i);

                if (e->call == call)
                        return e;
        }
        return NULL;
}

/* What the clocks of nodes are off by. */
static void find_offsets(Nesting *n)
{
        guint n_edges;
        const Edge *edges = call_matcher_edges(n->matcher, &n_edges);

        nesting_find_cuts(n);
        n->offsets = clock_offsets_find(&n->calls, edges, n_edges, n->cuts,
                                        node_table_size(n->nodes), n->options.max_offset,
                                        n->clocks == CLOCKS_UNKNOWN && n->options.window == 0);
        for (guint i = 0; i < n->offsets->len; i++) {
                const ClockOffset *c = &g_array_index(n->offsets, ClockOffset, i);

                if (c->doubtful)
                        continue;
                if (!n->offset)
                        n->offset = g_new0(gint64, node_table_size(n->nodes));
                n->offset[c->node] = c->offset;
        }
}

void nesting_find_parents(Nesting *n)
{
        nesting_end_calls(n);
        if (n->options.joint && n->options.max_offset > 0 && n->clocks != CLOCKS_ONE)
                find_offsets(n);
        n->cycles = n->options.window > 0 || n->calls.both_ends || n->offset;
        call_order_init(&n->order, &n->calls, n->options.window,
                        !call_matcher_counts(n->matcher)->disorder);
        if (n->options.cheat && n->options.joint)
                n->true_parent = find_true_parents(n);
        else if (n->options.cheat)
                take_true_parents(n);
        if (n->options.joint)
                find_parents_at_nodes(n);
        else if (!n->options.cheat)
                score_nestings(n);
        call_order_restart(&n->order);
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
