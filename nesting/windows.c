/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Windows of time (paper, section 8): the paths that begin in each are ranked by
 * themselves, and calls are kept no longer than they are needed.
 *
 * Now and then, what has come so far is taken a step further. All calls that are over are
 * known up to a moment, which is the first one of a call that is still open; up to it
 * nestings are scored, parents are found and paths put together, as in a trace that is
 * whole. What goes beyond it is carried over as it is: calls that were not gone through,
 * candidates that are open, trees that may get more children. So where a window ends makes
 * no difference to parents, but for what the scoreboard has learned by then.
 *
 * Where parents are found jointly, parents of the calls before a moment are found with the calls of
 * some time after it in view, and what nodes have learned is carried over as well.
 *
 * A window is closed when all paths that began in it are complete. What was learned counts
 * half from then on, and half of that after the next one.
 */
#include "nesting/nesting.h"

enum {
        STEPS = 8,          /* in a window, at most, while one waits to be closed */
        SLACK = 1000000000, /* ns that messages of a pipe may come late; at most a step */
        OUTLASTS = 4,       /* a call may last so many times as long as the longest so far */
        CONTEXT = 4,        /* times as long as calls last, see find_context() */
        HISTORY = 1 << 15,  /* calls that are not dropped at first, to be learned from anew */
};

/* So long it may always be, ns. */
#define LEAST_CONTEXT G_GINT64_CONSTANT(1000000000)

/* A call may always last as long as a window, and so long, ns. */
#define LEAST_MAX_CALL G_GINT64_CONSTANT(10000000000)

struct Windows {
        WindowDone done;
        gpointer data;
        gint64 from, to;         /* the window in hand; from is G_MININT64 before the first */
        gint64 next_step;        /* when to look whether it is over */
        guint64 first_instance;  /* of the window in hand */
        guint64 calls, messages; /* of its paths */
        MatchCounts before;      /* until the one before it was closed */
        guint64 children, nestings;
        gint64 context; /* ns that are looked ahead of a call, where parents are found jointly */
};

void windows_free(Windows *windows)
{
        g_free(windows);
}

void nesting_begin_windows(Nesting *n, PathSet *first, WindowDone done, gpointer data)
{
        Windows *w = n->windows = g_new0(Windows, 1);

        g_assert(n->options.span > 0);
        w->done = done;
        w->data = data;
        w->from = G_MININT64;
        n->set = first;
        n->calls.wanted |= WANT_PROGRESS | WANT_TREES;
        n->cycles = TRUE; /* stamps of both ends may come at any time */
        call_trees_init(&n->trees, &n->calls, n->options.window, nesting_take_instance, n);
        if (!n->options.joint)
                call_trees_keep_families(&n->trees);
}

/* How late a message may come. */
static gint64 slack(const Nesting *n)
{
        return MIN(n->options.span / STEPS + 1, SLACK);
}

/* Windows begin at multiples of their length. */
static void begin_window(Nesting *n, gint64 time)
{
        Windows *w = n->windows;
        gint64 span = n->options.span, into = time % span;

        w->from = time - (into < 0 ? into + span : into);
        w->to = w->from + span;
        w->next_step = w->to;
        /* Such a step costs more, so it waits until it may be the last one of the window. */
        if (n->options.joint)
                w->next_step += w->context + slack(n);
}

static void summarise(Nesting *n)
{
        Windows *w = n->windows;
        PathSetSummary *summary = path_set_summary(n->set);
        const MatchCounts *counts = call_matcher_counts(n->matcher);
        guint64 children = n->children - w->children, nestings = n->nestings - w->nestings;

        summary->calls = w->calls;
        summary->unmatched_calls = counts->lone_calls - w->before.lone_calls;
        summary->unmatched_returns = counts->lone_returns - w->before.lone_returns;
        summary->messages = w->messages + summary->unmatched_calls + summary->unmatched_returns;
        summary->parallelism = children ? (double)nestings / children : 0;
        summary->first = w->from;
        summary->last = w->to;
        w->before = *counts;
        w->children = n->children;
        w->nestings = n->nestings;
}

static gboolean close_window(Nesting *n, GError **error)
{
        Windows *w = n->windows;

        if (path_set_instances(n->set) == 0 && path_set_summary(n->set)->cut_instances == 0)
                return TRUE;
        summarise(n);
        n->set = w->done(w->data, n->set, w->first_instance, error);
        if (!n->set)
                return FALSE;
        path_set_set_fold(n->set, n->fold);
        scoreboard_fade(&n->board);
        w->first_instance = n->number;
        w->calls = w->messages = 0;
        return TRUE;
}

gboolean windows_begin_instance(Nesting *n, guint32 n_path, GError **error)
{
        Windows *w = n->windows;

        if (n->path[0].start >= w->to) {
                if (!close_window(n, error))
                        return FALSE;
                begin_window(n, n->path[0].start);
        }
        w->calls += n_path;
        for (guint32 i = 0; i < n_path; i++)
                w->messages += (guint)__builtin_popcount(n->path[i].stamps);
        return TRUE;
}

/* Whether a call that was gone through is needed no more. */
static gboolean is_over(const Nesting *n, guint32 call)
{
        const CallPairs *c = &n->calls;

        if (!c->edge[call])
                return TRUE;
        return c->progress[call] == (CALL_STARTED | CALL_ENTERED) && !c->tree[call] &&
               !(c->place && c->place[call].instance >= n->windows->first_instance);
}

static void drop_ids(Nesting *n)
{
        CallPairs *c = &n->calls;
        gsize first = G_MAXSIZE;

        for (guint32 i = 0; i < c->n; i++)
                if (c->edge[i])
                        first = MIN(first, (c->id_at[i] >> 32) - (guint32)c->id_at[i]);
        first = MIN(first, n->ids->len);
        if (first > 0)
                g_byte_array_remove_range(n->ids, 0, first);
        for (guint32 i = 0; i < c->n; i++)
                c->id_at[i] -= (guint64)first << 32;
}

/* Forgets the first calls, as far as they are over. number: the least of an open call. */
static void drop_calls(Nesting *n, guint64 number)
{
        guint64 most = MIN(n->calls.n, number - n->dropped);
        guint32 drop = 0;

        while (drop < most && is_over(n, drop))
                drop++;
        /* Moving the others costs as much as having gone through them. */
        if (drop == 0 || drop < n->calls.n / 2 || (n->dropped == 0 && n->calls.n < HISTORY))
                return;
        call_pairs_drop(&n->calls, drop);
        call_trees_drop_calls(&n->trees, drop);
        for (guint i = 0; i < n->n_calling; i++)
                for (guint32 k = 0; n->calling[i] && k < n->calling[i]->scoring.end; k++)
                        n->calling[i]->scoring.active[k].which -= drop;
        if (n->options.joint)
                call_labels_drop(&n->labels, drop);
        n->dropped += drop;
        if (n->ids)
                drop_ids(n);
}

static void make_models(Nesting *n)
{
        guint n_nodes = node_table_size(n->nodes);

        n->models = g_renew(NodeModel *, n->models, n_nodes);
        for (; n->n_models < n_nodes; n->n_models++)
                n->models[n->n_models] = node_model_new();
}

/* Decides on calls before a moment, with those before the other in view. */
static void decide(Nesting *n, gint64 before, gint64 until)
{
        make_models(n);
        n->view.decide = before;
        if (n->options.cheat)
                n->true_parent = find_true_parents(n);
        call_order_init_before(&n->order, &n->calls, n->options.window, until);
        find_parents_at_nodes(n);
        call_order_clear(&n->order);
        g_clear_pointer(&n->true_parent, g_free);
        n->view.from = before;
}

/* Takes everything up to a moment a step further; all calls before the later one are known, and
 * roles are. */
static gboolean step(Nesting *n, gint64 before, gint64 until, GError **error)
{
        gboolean ok;

        nesting_find_cuts(n);
        path_set_set_fold(n->set, n->fold);
        if (n->options.joint)
                decide(n, before, until);
        call_order_init_until(&n->order, &n->calls, n->options.window, before);
        if (!n->options.joint) {
                score_nestings(n);
                call_order_restart(&n->order);
        }
        ok = (n->options.joint ? place_nested_pairs(n, error) : find_nested_pairs(n, error)) &&
             call_trees_hand_on(&n->trees, before, error);
        call_order_clear(&n->order);
        return ok;
}

/* How long a call may last: without a limit, one that never returns would hold up all
 * windows after it. */
static gint64 max_call(const Nesting *n)
{
        guint n_edges;
        const Edge *edges = call_matcher_edges(n->matcher, &n_edges);
        gint64 longest = MAX(n->options.span, LEAST_MAX_CALL);

        if (n->options.max_call)
                return n->options.max_call;
        for (guint i = 0; i < n_edges; i++)
                if (edges[i].longest < G_MAXINT64 / OUTLASTS)
                        longest = MAX(longest, OUTLASTS * edges[i].longest);
        return longest;
}

/* How far to look ahead, for parents to be as right at the end of what is there as elsewhere: some
 * times as long as calls last in the mean, where they last longest. */
static gint64 find_context(const Nesting *n)
{
        guint n_edges;
        const Edge *edges = call_matcher_edges(n->matcher, &n_edges);
        double longest = 0;

        for (guint i = 0; i < n_edges; i++)
                if (edges[i].pairs && n->calling[edges[i].callee])
                        longest = MAX(longest, edges[i].busy / (double)edges[i].pairs);
        return MIN(CONTEXT * longest, (double)MAX(n->options.span, LEAST_CONTEXT));
}

static gboolean take_step(Nesting *n, gint64 time, GError **error)
{
        Windows *w = n->windows;
        gint64 part = n->options.span / STEPS + 1, until, before, next;
        guint64 number;

        if ((call_matcher_expire(n->matcher, time, max_call(n)) & MATCH_DONE) &&
            !nesting_take_done(n, error))
                return FALSE;
        call_matcher_oldest(n->matcher, &until, &number);
        until = MIN(until, time - slack(n));
        nesting_find_roles(n, TRUE);
        if (n->options.joint)
                w->context = find_context(n);
        /* A call that comes late may be open before what was decided. */
        before = MAX(until - w->context, n->view.from);
        if (!step(n, before, MAX(until, before), error))
                return FALSE;
        next = MIN(before, call_trees_first_start(&n->trees)); /* no path begins before it */
        if (next >= w->to) {
                if (!close_window(n, error))
                        return FALSE;
                begin_window(n, next);
        }
        w->next_step = MAX(w->next_step, time + MAX(part, 2 * w->context));
        call_matcher_forget_lone(n->matcher, until);
        drop_calls(n, number);
        return TRUE;
}

gboolean windows_add(Nesting *n, gint64 time, GError **error)
{
        Windows *w = n->windows;

        if (G_UNLIKELY(w->from == G_MININT64))
                begin_window(n, time);
        return time < w->next_step || take_step(n, time, error);
}

gboolean nesting_finish_windows(Nesting *n, GError **error)
{
        if ((call_matcher_finish(n->matcher) & MATCH_DONE) && !nesting_take_done(n, error))
                return FALSE;
        if (n->calls.n == 0)
                return TRUE;
        nesting_find_roles(n, TRUE);
        return step(n, G_MAXINT64, G_MAXINT64, error) && close_window(n, error);
}
