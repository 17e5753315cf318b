/* SPDX-License-Identifier: BSD-2-Clause */
#include "nesting/find-call-paths.h"

#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "base/grow.h"
#include "paths/missed-calls.h"
#include "paths/path-failure.h"

/* --- cuts -------------------------------------------------------------------- */

typedef struct {
        NodeId caller, callee;
        gint64 longest;
} EdgeLength;

COMPARISON(compare_edge_lengths, EdgeLength,
           COMPARE(a->caller, b->caller) ?: COMPARE(a->callee, b->callee))

Cut *cuts_find(CallMatcher *matcher, guint n_nodes)
{
        guint n_edges, n_lone;
        Cut *cuts = g_new(Cut, n_nodes);
        const Edge *edges = call_matcher_edges(matcher, &n_edges);
        const LoneMessage *lone = call_matcher_lone(matcher, &n_lone);
        const MatchCounts *counts = call_matcher_counts(matcher);
        g_autofree EdgeLength *lengths = NULL;

        for (guint i = 0; i < n_nodes; i++)
                cuts[i] = (Cut){ G_MININT64, G_MAXINT64 };
        if (n_lone == 0)
                return cuts;
        lengths = g_new(EdgeLength, n_edges);
        for (guint i = 0; i < n_edges; i++)
                lengths[i] = (EdgeLength){ edges[i].caller, edges[i].callee, edges[i].longest };
        qsort(lengths, n_edges, sizeof *lengths, compare_edge_lengths);
        for (guint i = 0; i < n_lone; i++) {
                const LoneMessage *m = &lone[i];
                EdgeLength key = { m->caller, m->callee, 0 };
                const EdgeLength *length =
                        bsearch(&key, lengths, n_edges, sizeof *lengths, compare_edge_lengths);
                Cut *cut = &cuts[m->callee];

                if (m->is_return && m->time - counts->first <= length->longest)
                        cut->returned = MAX(cut->returned, m->time);
                if (!m->is_return && counts->last - m->time <= length->longest)
                        cut->called = MIN(cut->called, m->time);
        }
        return cuts;
}

/* --- paths ---------------------------------------------------------------------- */

static inline float family_of(const CallPaths *p, const CallTree *tree)
{
        if (p->calls->pairs.family)
                return p->calls->pairs.family[tree->call];
        return p->trees.family ? p->trees.family[tree - p->trees.tree] : 1;
}

static inline void fill_path_call(const CallPaths *p, const CallTree *tree, guint32 parent,
                                  PathCall *to)
{
        const CallPairs *c = &p->calls->pairs;
        guint32 i = tree->call;
        const EdgeRole *edge = known_calls_edge(p->calls, i);
        CallFact fact = call_facts_get(&p->calls->facts, i);
        CallConnection way = call_connections_get(&p->calls->connections, i);

        /* If every field is named, the compiler clears none first. */
        *to = (PathCall){ .parent = parent,
                          .caller = edge->caller,
                          .callee = edge->callee,
                          .start = c->at_caller[i].from,
                          .enter = c->at_callee[i].from,
                          .reply = c->at_callee[i].to,
                          .end = c->at_caller[i].to,
                          .stamps = c->stamps[i],
                          .probability = tree->probability,
                          .family = family_of(p, tree),
                          .candidates = c->candidates ? c->candidates[i] : 0,
                          .id = NULL,
                          .id_length = 0,
                          .call = i,
                          .continues = call_links_continues(&p->calls->links, i),
                          .label = call_labels_get(&p->calls->labels, i),
                          .tags = call_labels_get(&p->calls->tags, i),
                          .connect = 0,
                          .transaction = way.transaction,
                          .connection = way.connection,
                          .delays = call_facts_delays(&p->calls->facts, &fact),
                          .connecting = 0,
                          .call_bytes = fact.call_bytes,
                          .ret_bytes = fact.ret_bytes,
                          .wait = fact.wait,
                          .workers = fact.workers,
                          .outcome = fact.outcome,
                          .own = 0,
                          .network = 0,
                          .queued = 0,
                          .own_queued = 0 };
        if (G_UNLIKELY(to->delays != NULL))
                to->connect = to->delays->opened;
        /* The link to its parent may be wrong. */
        if (G_UNLIKELY(call_links_parent(&p->calls->links, i) != NO_PARENT))
                to->family *= p->calls->links.probability[i];
        if (p->calls->ids)
                to->id = known_calls_id(p->calls, i, &to->id_length);
}

/* Takes the tree below root apart, without recursion: the instance in pre-order, siblings in call
 * order. Returns the number of its calls. */
static guint32 gather_instance(CallPaths *g, guint32 root)
{
        CallTrees *trees = &g->trees;
        guint32 tree = root, up = NO_PARENT, n = 0; /* up: the place of the parent of tree */

        for (;;) {
                const CallTree *t = &trees->tree[tree];
                guint32 next;

                if (G_UNLIKELY(n == g->path_size))
                        GROW(g->path, g->path_size, 64);
                fill_path_call(g, t, up, &g->path[n++]);
                if (t->link[FIRST_CHILD] != NO_TREE) {
                        up = n - 1;
                        tree = t->link[FIRST_CHILD];
                        continue;
                }
                while (tree != root && trees->tree[tree].link[NEXT_CHILD] == NO_TREE) {
                        guint32 parent = trees->tree[tree].parent;

                        call_trees_free_one(trees, tree);
                        tree = parent;
                        up = g->path[up].parent;
                }
                if (tree == root)
                        break;
                next = trees->tree[tree].link[NEXT_CHILD];
                call_trees_free_one(trees, tree);
                tree = next;
        }
        call_trees_free_one(trees, root);
        return n;
}

/* Work that a message started and nobody ended is taken to end with the last of its calls. */
static void end_open_work(CallPaths *p, guint32 n)
{
        CallPairs *c = &p->calls->pairs;

        for (guint32 i = 0; i < n; i++)
                if (call_links_is_open(&p->calls->links, p->path[i].call))
                        p->path[i].reply = p->path[i].enter;
        for (guint32 i = n; i-- > 0;) {
                PathCall *call = &p->path[i], *up = i > 0 ? &p->path[call->parent] : NULL;

                if (call_links_is_open(&p->calls->links, call->call)) {
                        call->end = call->start + (call->reply - call->enter);
                        c->at_callee[call->call].to = call->reply;
                        c->at_caller[call->call].to = call->end;
                }
                if (up && call_links_is_open(&p->calls->links, up->call))
                        up->reply = MAX(up->reply,
                                        call->continues == WORK_NESTED ? call->end : call->start);
        }
}

/* Whether a call returned after its parent had replied. */
static gboolean is_late(const CallPaths *p, guint32 call, guint32 parent)
{
        const CallPairs *c = &p->calls->pairs;

        /* Nobody waits for the reply to work that goes on. */
        return !call_is_message(c, parent) &&
               !work_goes_on(call_links_continues(&p->calls->links, parent)) &&
               c->at_caller[call].to > c->at_callee[parent].to + p->trees.window;
}

WorkContinues call_paths_continues(const CallPaths *p, guint32 call, guint32 parent)
{
        WorkContinues continues = call_links_continues(&p->calls->links, call);

        if (continues != WORK_NESTED || call_is_message(&p->calls->pairs, call))
                return continues;
        if (call_facts_get(&p->calls->facts, call).unanswered)
                return WORK_UNANSWERED;
        return parent != NO_PARENT && is_late(p, call, parent) ? WORK_LATE : WORK_NESTED;
}

/* A call without a return is in a path. */
static void take_silent(PathSetSummary *summary)
{
        summary->calls++;
        summary->unmatched_calls--;
}

/* Marks late and unanswered calls. A call without an answer ends when its caller goes on. */
static void mark_missed(const CallPaths *p, guint32 n)
{
        g_autofree gint64 *next_asked = NULL;

        for (guint32 i = 0; i < n; i++) {
                PathCall *call = &p->path[i];

                call->continues = call_paths_continues(
                        p, call->call, i > 0 ? p->path[call->parent].call : NO_PARENT);
                if (call->continues == WORK_UNANSWERED)
                        call->outcome = outcome_named("NO_ANSWER");
        }
        next_asked = path_find_next_asked(p->path, n);
        for (guint32 i = 1; next_asked && i < n; i++) {
                PathCall *call = &p->path[i];
                CallPairs *c = &p->calls->pairs;
                gint64 before = call->end;

                if (call->continues != WORK_UNANSWERED)
                        continue;
                if (call_facts_get(&p->calls->facts, call->call).unanswered & UNANSWERED_SILENT)
                        take_silent(path_set_summary(p->set));
                call->end = path_call_missed_until(p->path, next_asked, i);
                call->reply -= before - call->end;
                c->at_callee[call->call].to = call->reply;
                c->at_caller[call->call].to = call->end;
        }
}

/* Whether a call is a query of DNS. A query, or its answer, may be lost on the way: nobody sends it
 * again but its caller. */
static gboolean is_query(const CallPaths *p, guint32 call)
{
        guint16 label = call_labels_get(&p->calls->labels, call);

        return label && g_str_has_prefix(p->calls->labels.names->pdata[label - 1], "DNS ");
}

/* A query without an answer was lost if it was answered when asked again. Until then its caller
 * waited for the way. */
static void mark_lost(const CallPaths *p, guint32 n)
{
        g_autofree guint32 *retried = NULL;
        CallFacts *facts = &p->calls->facts;
        gboolean any = FALSE;

        for (guint32 i = 1; i < n; i++)
                any |= p->path[i].continues == WORK_UNANSWERED && is_query(p, p->path[i].call);
        if (G_LIKELY(!any))
                return;
        retried = path_find_retried(p->path, n);
        for (guint32 i = n; i-- > 1;) {
                PathCall *call = retried[i] == NO_PARENT ? NULL : &p->path[retried[i]];

                if (!call || p->path[i].continues == WORK_UNANSWERED ||
                    call->continues != WORK_UNANSWERED || !is_query(p, call->call))
                        continue;
                call->continues = WORK_NESTED;
                call->outcome = OUTCOME_OK;
                call_facts_set_lost(facts, call->call, call->end - call->start);
        }
        for (guint32 i = 0; i < n; i++) { /* they may have moved */
                CallFact fact = call_facts_get(facts, p->path[i].call);

                p->path[i].delays = call_facts_delays(facts, &fact);
        }
}

/* CallTreeDone; data: the paths. */
static gboolean take_instance(gpointer data, guint32 root, GError **error)
{
        CallPaths *p = data;
        guint32 n = gather_instance(p, root);
        CallPlace *place = p->calls->pairs.place;
        gboolean is_cut;

        if (G_UNLIKELY(p->calls->links.starts != NULL))
                end_open_work(p, n);
        mark_missed(p, n);
        mark_lost(p, n);
        if (call_links_only_waits(&p->calls->links, p->path[0].call))
                return TRUE; /* the work that it waits for has a path of its own */
        if (call_facts_get(&p->calls->facts, p->path[0].call).unanswered & UNANSWERED_SILENT)
                return TRUE; /* it has no parent, so nobody knows how long it waited */
        is_cut = cut_is_in(&p->cuts[p->path[0].caller], p->path[0].start, p->path[0].end);
        if (p->begins && !p->begins(p->data, p->path, n, error))
                return FALSE;
        if (is_cut)
                path_set_summary(p->set)->cut_instances++;
        else if (!path_set_add(p->set, p->path, n, error))
                return FALSE;
        for (guint32 k = 0; place && k < n; k++)
                place[p->path[k].call] =
                        (CallPlace){ p->number, is_cut ? NO_PATTERN : path_set_latest(p->set) };
        if (p->roots && !is_cut)
                g_array_append_val(p->roots, p->path[0].call);
        p->number += !is_cut;
        return TRUE;
}

/* --- the order of it ------------------------------------------------------- */

void call_paths_init(CallPaths *p, KnownCalls *calls, gint64 window, gboolean families)
{
        memset(p, 0, sizeof *p);
        p->calls = calls;
        call_trees_init(&p->trees, &calls->pairs, window, take_instance, p);
        if (families)
                call_trees_keep_families(&p->trees);
}

void call_paths_clear(CallPaths *p)
{
        call_trees_clear(&p->trees);
        g_free(p->cuts);
        g_free(p->path);
}

void call_paths_set(CallPaths *p, PathSet *set)
{
        p->set = set;
        path_set_set_fold(set, p->calls->roles.fold);
        path_set_set_labels(set, p->calls->labels.names);
        path_set_set_tags(set, p->calls->tags.written);
}

void call_paths_find_cuts(CallPaths *p)
{
        g_free(p->cuts);
        p->cuts = cuts_find(p->calls->matcher, node_table_size(p->calls->nodes));
}

/* The tree of a call; without a column of trees it has the call's number. */
static inline guint32 tree_of(CallPaths *p, guint32 call)
{
        if (call == NO_PARENT)
                return NO_TREE;
        return p->calls->pairs.tree ? call_trees_open(&p->trees, call) : call;
}

gboolean call_paths_place(CallPaths *p, CallOrder *order, WorkShow progress, GError **error)
{
        enum { SHOWN = 1 << 12 };
        gboolean starts, enters;
        guint32 call, done = 0;

        while (call_order_next(order, &call, &starts, &enters)) {
                const Cause *cause = &p->calls->pairs.cause[call];
                double probability = cause->parent == NO_PARENT ? 1 : cause->probability;

                known_calls_pass(p->calls, call);
                if (starts && !call_trees_place(&p->trees, tree_of(p, call),
                                                tree_of(p, cause->parent), probability, error))
                        return FALSE;
                if (progress && starts && ++done % SHOWN == 0)
                        progress((double)done / p->calls->pairs.n);
        }
        return TRUE;
}

gboolean call_paths_place_all(CallPaths *p, CallOrder *order, WorkShow progress, GError **error)
{
        for (guint32 i = 0; i < p->calls->pairs.n; i++)
                call_trees_open(&p->trees, i);
        return call_paths_place(p, order, progress, error);
}
