/* SPDX-License-Identifier: BSD-2-Clause */
#include "nesting/windows.h"

#include <string.h>

#include "nesting/nesting-run.h"
#include "nesting/nesting.h"
#include "nesting/scoreboard.h"

enum {
        STEPS = 8,          /* the most steps in a window while an earlier one waits to be closed */
        SLACK = 1000000000, /* how late messages of a pipe may come, ns; at most a step */
        LIES = 4,     /* a message may lie in a queue this many times the longest time so far */
        OUTLASTS = 4, /* a call may last this many times the longest duration so far */
        CONTEXT = 4,  /* the time ahead that is in view, in mean durations; see find_context() */
        HISTORY = 1 << 15, /* the first calls are kept, so that nodes can learn from them again */
};

/* The least limit of the time in a queue and of the time in view, ns. */
#define LEAST_CONTEXT G_GINT64_CONSTANT(1000000000)

/* The least limit of a call's duration, ns. A window's length is allowed, too. */
#define LEAST_MAX_CALL G_GINT64_CONSTANT(10000000000)

struct Windows {
        Nesting run;
        gboolean joint; /* parents are found jointly */
        gboolean whole; /* the trace was shorter than a window */
        WindowDone done;
        gpointer data;
        gint64 from, to;         /* the current window; from is G_MININT64 before the first */
        gint64 part;             /* no window lies on both sides of this moment, ns */
        gint64 next_step;        /* the time of the next step */
        guint64 first_instance;  /* of the current window */
        guint64 calls, messages; /* in the paths of the current window */
        MatchCounts before;      /* when the previous window was closed */
        guint64 children, nestings;
        gint64 context;     /* joint: the time after a call that is in view, ns */
        gint64 decided;     /* calls that start before it have a parent, ns */
        NodeModel **models; /* by NodeId: models that outlive a step */
        guint n_models;     /* length of models */
};

/* How late a message may come, ns. */
static gint64 message_slack(const Windows *w)
{
        return MIN(w->run.options.span / STEPS + 1, SLACK);
}

/* Windows begin at multiples of their length. */
static void begin_window(Windows *w, gint64 time)
{
        gint64 span = w->run.options.span, into = time % span;

        w->from = time - (into < 0 ? into + span : into);
        w->to = w->from + span;
        if (w->from < w->part && w->part < w->to)
                *(time < w->part ? &w->to : &w->from) = w->part;
        w->next_step = w->to;
        /* A joint step costs more, so it waits until it may be the last one of the window. */
        if (w->joint)
                w->next_step += w->context + message_slack(w);
}

static void summarise_window(Windows *w)
{
        const KnownCalls *calls = &w->run.calls;
        PathSetSummary *summary = path_set_summary(w->run.paths.set);
        const MatchCounts *counts = call_matcher_counts(calls->matcher);
        guint64 children = calls->children - w->children, nestings = calls->nestings - w->nestings;

        summary->calls = w->calls;
        summary->unmatched_calls = counts->lone_calls - w->before.lone_calls;
        summary->unmatched_returns = counts->lone_returns - w->before.lone_returns;
        summary->messages = w->messages + summary->unmatched_calls + summary->unmatched_returns;
        summary->parallelism = children ? (double)nestings / children : 0;
        summary->first = w->from;
        summary->last = w->to;
        w->before = *counts;
        w->children = calls->children;
        w->nestings = calls->nestings;
}

static gboolean close_window(Windows *w, GError **error)
{
        CallPaths *paths = &w->run.paths;
        PathSet *next;

        w->part = MAX(w->part, w->to);
        if (path_set_instances(paths->set) == 0 && path_set_summary(paths->set)->cut_instances == 0)
                return TRUE;
        summarise_window(w);
        next = w->done(w->data, paths->set, w->first_instance, error);
        if (!next)
                return FALSE;
        call_paths_set(paths, next);
        scoreboard_fade(&w->run.board);
        w->first_instance = paths->number;
        w->calls = w->messages = 0;
        return TRUE;
}

/* InstanceBegins; data: the windows. */
static gboolean begin_instance(gpointer data, const PathCall *path, guint32 n, GError **error)
{
        Windows *w = data;

        if (path[0].start >= w->to) {
                if (!close_window(w, error))
                        return FALSE;
                begin_window(w, path[0].start);
        }
        w->calls += n;
        for (guint32 i = 0; i < n; i++)
                w->messages += (guint)__builtin_popcount(path[i].stamps);
        return TRUE;
}

/* --- steps ------------------------------------------------------------------ */

/* Whether a call is no longer needed. */
static gboolean is_over(const Windows *w, guint32 call)
{
        const CallPairs *c = &w->run.calls.pairs;

        if (!c->edge[call])
                return TRUE;
        return c->progress[call] == (CALL_STARTED | CALL_ENTERED) && !c->tree[call] &&
               !(c->place && c->place[call].instance >= w->first_instance);
}

/* Forgets the first calls that are no longer needed. number: the least number of an open call. */
static void drop_calls(Windows *w, guint64 number)
{
        KnownCalls *calls = &w->run.calls;
        guint64 most = MIN(calls->pairs.n, number - calls->dropped);
        guint32 drop = 0;

        while (drop < most && is_over(w, drop))
                drop++;
        /* Moving the other calls costs as much as visiting them. */
        if (drop == 0 || drop < calls->pairs.n / 2 ||
            (calls->dropped == 0 && calls->pairs.n < HISTORY))
                return;
        known_calls_drop(calls, drop);
        call_trees_drop_calls(&w->run.paths.trees, drop);
}

static void make_models(Windows *w)
{
        guint n_nodes = node_table_size(w->run.calls.nodes);

        w->models = g_renew(NodeModel *, w->models, n_nodes);
        for (; w->n_models < n_nodes; w->n_models++)
                w->models[w->n_models] = node_model_new();
}

/* Asks for the columns of a step by step run. A trace shorter than a window does not need them. */
static void want_steps(Windows *w)
{
        call_pairs_want(&w->run.calls.pairs, WANT_PROGRESS | WANT_TREES);
        w->run.cycles = TRUE; /* stamps of both ends may come at any time */
}

/* For a trace shorter than a window: all calls are known and nothing goes on. Not with links, whose
 * steps differ. */
static void want_whole(Windows *w)
{
        Nesting *n = &w->run;

        w->whole = TRUE;
        known_calls_close_up(&n->calls);
        n->cycles = n->options.window > 0 || n->calls.pairs.both_ends;
        if (w->joint || n->cycles)
                call_pairs_want(&n->calls.pairs, WANT_TREES);
}

static void order_whole(Nesting *n)
{
        call_order_init(&n->order, &n->calls.pairs, n->options.window,
                        !call_matcher_counts(n->calls.matcher)->disorder);
}

/* Decides on calls before a moment. Calls before `until` are in view. */
static void decide_calls(Windows *w, gint64 before, gint64 until)
{
        Nesting *n = &w->run;
        NodesSearch search;

        if (!w->whole)
                make_models(w);
        if (nesting_methods[n->options.method].truth)
                n->true_parent =
                        find_true_parents(&n->calls, before - n->options.window, &n->truth);
        if (w->whole)
                order_whole(n);
        else
                call_order_init_before(&n->order, &n->calls.pairs, n->options.window, until);
        search = nesting_run_nodes_search(n);
        search.view = (View){ w->decided, before };
        search.models = w->models;
        find_parents_at_nodes(&search, &n->log);
        call_order_clear(&n->order);
        g_clear_pointer(&n->true_parent, g_free);
        w->decided = before;
}

/* Finds parents by the paper's method, and builds trees. */
static gboolean find_scored_pairs(Windows *w, GError **error)
{
        Nesting *n = &w->run;
        PairSearch search = nesting_run_pair_search(n);

        score_nestings(&n->calls, &n->order, &n->board, n->options.smooth, n->cycles);
        call_order_restart(&n->order);
        search.faded = !w->whole;
        return find_nested_pairs(&search, &n->paths.trees, error);
}

/* How long a path waits for messages that it put into a queue. */
static gint64 may_lie(const Nesting *n)
{
        gint64 longest = call_links_longest(&n->calls.links);

        return CLAMP(LIES * MIN(longest, G_MAXINT64 / LIES), LEAST_CONTEXT,
                     MAX(n->options.span, LEAST_MAX_CALL));
}

/* Takes everything up to `before` a step further. All calls before `until` are known, and roles
 * are. oldest: the number of the first open call. */
static gboolean step_until(Windows *w, gint64 before, gint64 until, guint64 oldest, GError **error)
{
        Nesting *n = &w->run;
        gboolean ok;

        known_calls_step_links(&n->calls, until, oldest);
        n->paths.trees.links = &n->calls.links;
        n->paths.trees.goes_on = may_lie(n);
        call_paths_find_cuts(&n->paths);
        call_paths_set(&n->paths, n->paths.set);
        if (w->joint)
                decide_calls(w, before, until);
        if (w->whole)
                order_whole(n);
        else
                call_order_init_until(&n->order, &n->calls.pairs, n->options.window, before);
        ok = (w->joint ? call_paths_place(&n->paths, &n->order, n->options.progress, error)
                       : find_scored_pairs(w, error)) &&
             call_trees_hand_on(&n->paths.trees, before, error);
        call_order_clear(&n->order);
        return ok;
}

/* The longest duration of a call. Without a limit, a call that never returns would hold up all
 * later windows. */
static gint64 longest_call(const Nesting *n)
{
        guint n_edges;
        const Edge *edges = call_matcher_edges(n->calls.matcher, &n_edges);
        gint64 longest = MAX(n->options.span, LEAST_MAX_CALL);

        if (n->options.max_call)
                return n->options.max_call;
        for (guint i = 0; i < n_edges; i++)
                if (edges[i].longest < G_MAXINT64 / OUTLASTS)
                        longest = MAX(longest, OUTLASTS * edges[i].longest);
        return longest;
}

/* The time in view after a call. Parents of the last calls should be as right as others. So it is a
 * multiple of the mean duration on the edge where that is longest. */
static gint64 find_context(const Nesting *n)
{
        guint n_edges;
        const Edge *edges = call_matcher_edges(n->calls.matcher, &n_edges);
        double longest = 0;

        for (guint i = 0; i < n_edges; i++)
                if (edges[i].pairs && n->calls.roles.calling[edges[i].callee])
                        longest = MAX(longest, (double)edges[i].busy / (double)edges[i].pairs);
        return MIN(CONTEXT * longest, (double)MAX(n->options.span, LEAST_CONTEXT));
}

static gboolean take_window_step(Windows *w, gint64 time, GError **error)
{
        Nesting *n = &w->run;
        gint64 part = n->options.span / STEPS + 1, until, before, next;
        guint64 number;

        want_steps(w);
        if (!known_calls_expire(&n->calls, time, longest_call(n), error))
                return FALSE;
        call_matcher_oldest(n->calls.matcher, &until, &number);
        until = MIN(until, time - message_slack(w));
        nesting_run_find_roles(n, TRUE);
        if (w->joint)
                w->context = find_context(n);
        /* A late call may be open since before the latest decision. */
        before = MAX(until - w->context, w->decided);
        if (!step_until(w, before, MAX(until, before), number, error))
                return FALSE;
        next = MIN(before, call_trees_first_start(&n->paths.trees)); /* no path begins before it */
        if (next >= w->to) {
                if (!close_window(w, error))
                        return FALSE;
                begin_window(w, next);
        }
        w->next_step = MAX(w->next_step, time + MAX(part, 2 * w->context));
        call_matcher_forget_lone(n->calls.matcher, until);
        drop_calls(w, number);
        return TRUE;
}

/* --- the door ---------------------------------------------------------------- */

Windows *windows_new(NodeTable *nodes, const NestingOptions *options, PathSet *first,
                     WindowDone done, gpointer data)
{
        Windows *w = g_new0(Windows, 1);
        Nesting *n = &w->run;

        g_assert(options->span > 0);
        nesting_run_init(n, nodes, options);
        w->joint = nesting_parents_from(options) == PARENTS_JOINT;
        w->done = done;
        w->data = data;
        w->from = w->decided = w->part = G_MININT64;
        n->paths.set = first;
        n->paths.begins = begin_instance;
        n->paths.data = w;
        return w;
}

void windows_free(Windows *w)
{
        if (!w)
                return;
        for (guint i = 0; i < w->n_models; i++)
                node_model_free(w->models[i]);
        g_free(w->models);
        nesting_run_clear(&w->run);
        g_free(w);
}

gboolean windows_add(Windows *w, const Message *message, GError **error)
{
        if (!known_calls_add(&w->run.calls, message, error))
                return FALSE;
        if (G_UNLIKELY(w->from == G_MININT64))
                begin_window(w, message->time);
        return message->time < w->next_step || take_window_step(w, message->time, error);
}

gboolean windows_finish(Windows *w, GError **error)
{
        Nesting *n = &w->run;

        if (!known_calls_finish(&n->calls, error))
                return FALSE;
        if (n->calls.pairs.n == 0)
                return TRUE;
        if (n->calls.pairs.progress || n->calls.links.linked)
                want_steps(w);
        else
                want_whole(w);
        nesting_run_find_roles(n, !w->whole);
        return step_until(w, G_MAXINT64, G_MAXINT64, G_MAXUINT64, error) && close_window(w, error);
}

gboolean windows_idle(Windows *w, gint64 time, GError **error)
{
        return w->from == G_MININT64 || time < w->next_step || take_window_step(w, time, error);
}

void windows_set_length(Windows *w, gint64 span)
{
        w->run.options.span = span;
}

void windows_part_at(Windows *w, gint64 time)
{
        w->part = time;
}

/* --- models for another process ----------------------------------------------  */

/* The names of nodes or operations, in the order of their numbers. */
static void learned_names(Bytes *b, GPtrArray *names)
{
        guint32 n = names->len;

        bytes_count(b, &n, 4);
        for (guint32 i = 0; i < n && bytes_good(b); i++) {
                if (bytes_reads(b))
                        g_ptr_array_add(names, NULL);
                bytes_text(b, (char **)&names->pdata[i]);
        }
}

static void learned_model(Bytes *b, NodeModel **model)
{
        gboolean known = *model != NULL;
        g_autoptr(GBytes) bytes = known ? node_model_to_bytes(*model) : NULL;
        g_autoptr(GError) error = NULL;
        gconstpointer data;
        gsize n;

        bytes_bool(b, &known);
        if (!known)
                return;
        bytes_blob(b, &bytes);
        if (!bytes_reads(b) || !bytes_good(b))
                return;
        data = g_bytes_get_data(bytes, &n);
        *model = node_model_from_bytes(data, n, &error);
        bytes_expect(b, *model != NULL, error ? error->message : NULL);
}

static void learned_bytes(Bytes *b, GPtrArray *nodes, GPtrArray *labels, NodeModel ***models,
                          guint32 *n_models)
{
        bytes_word(b, "ravel windows 1");
        learned_names(b, nodes);
        learned_names(b, labels);
        bytes_count(b, n_models, 1);
        bytes_expect(b, *n_models <= nodes->len, "at most a model a node");
        if (bytes_reads(b) && bytes_good(b))
                *models = g_new0(NodeModel *, *n_models + 1);
        for (guint32 i = 0; i < *n_models && bytes_good(b); i++)
                learned_model(b, &(*models)[i]);
}

GBytes *windows_learned(const Windows *w)
{
        const NodeTable *nodes = w->run.calls.nodes;
        g_autoptr(GPtrArray) names = g_ptr_array_new();
        NodeModel **models = w->models;
        guint32 n = w->n_models;
        Bytes b = bytes_to_write();

        for (NodeId i = 0; i < node_table_size(nodes); i++)
                g_ptr_array_add(names, (gpointer)node_table_written(nodes, i));
        learned_bytes(&b, names, w->run.calls.labels.written, &models, &n);
        return bytes_written(&b);
}

gboolean windows_take_learned(Windows *w, const guint8 *data, gsize n, GError **error)
{
        g_autoptr(GPtrArray) nodes = g_ptr_array_new_with_free_func(g_free);
        g_autoptr(GPtrArray) labels = g_ptr_array_new_with_free_func(g_free);
        Bytes b = bytes_to_read(data, n);

        learned_bytes(&b, nodes, labels, &w->models, &w->n_models);
        for (guint i = 0; i < nodes->len && bytes_good(&b); i++) {
                const char *name = nodes->pdata[i];

                bytes_expect(&b,
                             node_table_add_written((NodeTable *)w->run.calls.nodes, name,
                                                    strlen(name), NULL) == i,
                             "the written name of another node");
        }
        for (guint i = 0; i < labels->len && bytes_good(&b); i++)
                call_labels_know(&w->run.calls.labels, labels->pdata[i]);
        return bytes_end(&b, error);
}

/* --- the run ------------------------------------------------------------------- */

Nesting *windows_run(Windows *w)
{
        return &w->run;
}
