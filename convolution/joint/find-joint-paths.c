/* SPDX-License-Identifier: BSD-2-Clause
 *
 * --method auto: finds the causes of all messages jointly, node by node, and then the paths.
 *
 * For each node it finds windows of delay in the correlations of in-edges with out-edges, and
 * learns what they explain together (node-causes.h). Then it searches the correlations of
 * unexplained messages for passages that others hid. Last it searches for causes with several
 * effects.
 *
 * Then each message has a past, the path that it ends, and a future. The causes at each node are
 * found again with these, a few times. So a node that answers the sender of a request gets its
 * causes right, and pasts and futures that do not fit are separated.
 *
 * In the end the cause of a message becomes the last message into the node on its path
 * (work-order.c).
 */

#include "base/fill.h"
#include "convolution/joint/joint-search.h"

enum {
        FIRST_ROUNDS = 26,      /* rounds of learning with the first windows */
        MORE_ROUNDS = 14,       /* rounds of learning after more windows were found */
        PAST_ROUNDS = 12,       /* rounds of learning with pasts and futures */
        BESIDE_SEARCHES = 4,    /* searches for effects beside others */
        TRACE_AGAIN = 3,        /* times that causes are found with pasts and futures */
        FUTURE_STEPS = 5,       /* hops that a future goes on for */
        LEAST_MESSAGES = 5,     /* messages in the sample that an edge of the graph needs */
        MOST_MESSAGES = 200000, /* messages in the sample, about */
        MOST_LAGS = 8192,       /* lags up to the greatest delay; if more, each gets wider */
        LEAST_STRETCH = 50,     /* length of a stretch of the sample, in greatest delays */
};

/* A passage beside others needs BESIDE_SHARE of its causes. Fewer are enough, down to BESIDE_LEAST,
 * if it explains BESIDE_EFFECTS of the effects without a cause. Without that exception a passage of
 * a fifth of the requests was found or missed depending on the rest of the run. Chosen on captures
 * cut in halves and on random systems 3001 to 3016. With 0.05 for BESIDE_LEAST, a loss of 5 % of
 * the messages makes some derived paths. */
static const double BESIDE_SHARE = 0.25, BESIDE_LEAST = 0.1, BESIDE_EFFECTS = 0.5;

static const double ROOT_SHARE = 0.5; /* least share of explained messages of no root */

/* --- passages ----------------------------------------------------------------- */

/* One thread's work at a node. */
typedef struct {
        const JointSearch *search;
        NodeId node;
        Correlator *correlator;
        float *c, *background;
} NodeSearch;

static const EdgeTrace *in_edge(const NodeSearch *s, guint i)
{
        const EdgeTraces *t = s->search->traces;

        return &t->edges[t->in[t->first_in[s->node] + i]];
}

/* Adds the passage of two edges if causes and effects are correlated. */
static gboolean find_passage(NodeSearch *s, guint in, guint out, const EdgeSignal *causes,
                             const EdgeSignal *effects, double least, gboolean beside)
{
        const JointSearch *search = s->search;
        DelayWindowOptions options = search->windows;
        g_autoptr(GArray) windows = NULL;

        options.least = MAX(options.least, least);
        correlator_run(s->correlator, causes, effects, s->c);
        windows = delay_windows_find(s->c, &search->lags, search->search, &options, s->background);
        if (!windows->len)
                return FALSE;
        node_causes_add_passage(search->nodes[s->node], in, out, windows, s->c, s->background,
                                &search->lags, &search->quanta, beside);
        return TRUE;
}

static void free_signals(NodeSearch *s, EdgeSignal **signals, guint n)
{
        for (guint i = 0; i < n; i++)
                if (signals[i]) {
                        correlator_forget(s->correlator, signals[i]);
                        edge_signal_free(signals[i]);
                }
        g_free(signals);
}

static EdgeSignal *signal_of(const NodeSearch *s, const gint64 *times, gsize n, guint uses)
{
        EdgeSignal *signal = edge_signal_new(times, n, &s->search->quanta, SIGNAL_COUNT);

        signal->uses = uses;
        return signal;
}

static void find_first_passages(NodeSearch *s)
{
        const EdgeTraces *t = s->search->traces;
        guint n_in = edge_traces_n_in(t, s->node), n_out = edge_traces_n_out(t, s->node);
        EdgeSignal **in = g_new0(EdgeSignal *, n_in);

        for (guint i = 0; i < n_in; i++)
                in[i] = signal_of(s, in_edge(s, i)->received, in_edge(s, i)->n, n_out);
        for (guint k = 0; k < n_out; k++) {
                const EdgeTrace *out = &t->edges[t->first_out[s->node] + k];
                EdgeSignal **effects = g_new0(EdgeSignal *, 1);

                if (out->n >= s->search->windows.least)
                        effects[0] = signal_of(s, out->sent, out->n, n_in);
                for (guint i = 0; i < n_in && effects[0]; i++)
                        if (in_edge(s, i)->n >= s->search->windows.least)
                                find_passage(s, i, k, in[i], effects[0], 0, FALSE);
                free_signals(s, effects, 1);
        }
        free_signals(s, in, n_in);
}

/* The messages that a passage beside others needs. effects: messages that nothing else explains. */
static double least_beside(guint32 causes, guint effects)
{
        return MIN(BESIDE_SHARE * causes, MAX(BESIDE_LEAST * causes, BESIDE_EFFECTS * effects));
}

/* Finds passages to effects without a cause. They come from causes without an effect, or, if
 * beside, from all causes. */
static gboolean find_more_passages(NodeSearch *s, gboolean beside)
{
        const JointSearch *search = s->search;
        NodeCauses *causes = search->nodes[s->node];
        guint n_in = edge_traces_n_in(search->traces, s->node);
        guint n_out = edge_traces_n_out(search->traces, s->node);
        EdgeSignal **in = g_new0(EdgeSignal *, n_in);
        g_autoptr(GArray) times = g_array_new(FALSE, FALSE, sizeof(gint64));
        gboolean any = FALSE;

        for (guint i = 0; i < n_in; i++) {
                const EdgeTrace *edge = in_edge(s, i);

                if (beside)
                        g_array_set_size(times, 0);
                else
                        node_causes_childless(causes, i, times);
                if (beside && edge->n >= search->windows.least)
                        in[i] = signal_of(s, edge->received, edge->n, n_out);
                else if (times->len >= search->windows.least)
                        in[i] = signal_of(s, (const gint64 *)times->data, times->len, n_out);
        }
        for (guint k = 0; k < n_out; k++) {
                EdgeSignal **effects = g_new0(EdgeSignal *, 1);

                node_causes_unexplained(causes, k, times);
                if (times->len >= search->windows.least)
                        effects[0] = signal_of(s, (const gint64 *)times->data, times->len, n_in);
                for (guint i = 0; i < n_in && effects[0]; i++)
                        if (in[i])
                                any |= find_passage(
                                        s, i, k, in[i], effects[0],
                                        beside ? least_beside(in_edge(s, i)->n, times->len) : 0,
                                        beside);
                free_signals(s, effects, 1);
        }
        free_signals(s, in, n_in);
        return any;
}

/* --- a node --------------------------------------------------------------------- */

typedef struct {
        MessageCauses *messages;
        NodeId node;
} Attribution;

static void set_cause(gpointer data, guint out, guint32 effect, guint in, guint32 cause,
                      double probability)
{
        Attribution *a = data;
        const EdgeTraces *t = a->messages->traces;
        guint32 message = a->messages->first[t->first_out[a->node] + out] + effect;

        a->messages->cause[message] =
                message_that_arrived(a->messages, t->in[t->first_in[a->node] + in], cause);
        a->messages->probability[message] = (float)probability;
}

static void forget_causes(const JointSearch *s, NodeId node)
{
        const EdgeTraces *t = s->traces;
        guint32 first = s->messages->first[t->first_out[node]];
        guint32 end = s->messages->first[t->first_out[node + 1]];

        fill(&s->messages->cause[first], 0xff, (end - first) * sizeof(guint32));
}

static void attribute(const JointSearch *s, NodeId node)
{
        Attribution a = { s->messages, node };

        forget_causes(s, node);
        node_causes_attribute(s->nodes[node], set_cause, &a);
}

static void find_causes(NodeSearch *s)
{
        NodeCauses *causes = s->search->nodes[s->node];
        guint without = s->search->run->options.without;

        find_first_passages(s);
        node_causes_learn(causes, FIRST_ROUNDS);
        if (!(without & JOINT_SECOND_LOOK) && find_more_passages(s, FALSE))
                node_causes_learn(causes, MORE_ROUNDS);
        for (guint i = without & JOINT_BESIDE ? BESIDE_SEARCHES : 0;
             i < BESIDE_SEARCHES && find_more_passages(s, TRUE); i++)
                node_causes_learn(causes, MORE_ROUNDS);
        attribute(s->search, s->node);
}

/* Finds causes again with pasts and futures. Messages of an in-edge without a common past share
 * one. */
static void find_causes_again(const JointSearch *s, NodeId node)
{
        const EdgeTraces *t = s->traces;
        const MessageCauses *m = s->messages;
        guint n_in = edge_traces_n_in(t, node);
        guint32 n = 0, first = m->first[t->first_out[node]];
        g_autofree guint32 *past = NULL, *number = NULL;
        guint32 n_pasts = 0;

        for (guint i = 0; i < n_in; i++)
                n += t->edges[t->in[t->first_in[node] + i]].n;
        past = g_new(guint32, n);
        /* Numbers the pasts that occur, without gaps. */
        number = g_new(guint32, n_in + m->n_pasts[node]);
        fill(number, 0xff, (n_in + m->n_pasts[node]) * sizeof *number);
        n = 0;
        for (guint i = 0; i < n_in; i++) {
                guint edge = t->in[t->first_in[node] + i];

                for (guint32 k = 0; k < t->edges[edge].n; k++) {
                        guint32 prefix = m->prefix[message_that_arrived(m, edge, k)];
                        guint32 which = i;

                        if (prefix != NO_PREFIX && m->past[prefix] != NO_PREFIX)
                                which = n_in + m->past[prefix];
                        if (number[which] == NO_PREFIX)
                                number[which] = n_pasts++;
                        past[n++] = number[which];
                }
        }
        node_causes_set_history(s->nodes[node], past, n_pasts, &m->future[first],
                                m->n_futures[node]);
        node_causes_learn(s->nodes[node], PAST_ROUNDS);
        attribute(s, node);
}

/* The work at a node, about in proportion to its time. */
static double node_work(const JointSearch *s, NodeId node)
{
        const EdgeTraces *t = s->traces;
        double messages = 1;

        for (guint i = t->first_out[node]; i < t->first_out[node + 1]; i++)
                messages += t->edges[i].n;
        return messages;
}

static void search_node(gpointer task, gpointer data)
{
        JointSearch *search = data;
        NodeSearch s = { .search = search, .node = GPOINTER_TO_UINT(task) - 1 };
        WorkPart part = { .work = &search->work, .size = node_work(search, s.node) };

        if (!search->first) {
                find_causes_again(search, s.node);
                work_part_done(&part, 1);
                return;
        }
        s.correlator = g_async_queue_pop(search->correlators);
        s.c = g_new(float, search->lags.n);
        s.background = g_new(float, search->lags.n);
        find_causes(&s);
        g_free(s.c);
        g_free(s.background);
        g_async_queue_push(search->correlators, s.correlator);
        work_part_done(&part, 1);
}

static void search_nodes(JointSearch *s, gboolean first)
{
        GThreadPool *pool =
                g_thread_pool_new(search_node, s, (int)s->run->options.threads, FALSE, NULL);

        s->first = first;
        for (NodeId node = 0; node < s->traces->n_nodes; node++)
                if (s->nodes[node])
                        g_thread_pool_push(pool, GUINT_TO_POINTER(node + 1), NULL);
        g_thread_pool_free(pool, FALSE, TRUE);
}

/* --- roots ---------------------------------------------------------------------- */

/* Whether a node is a root is a guess. Where messages are calls and returns it is certain. */
static gboolean may_be_no_root(const Convolution *run, NodeId node)
{
        const EdgeTraces *t = run->traces;

        return run->options.roots_guessed && !t->called[node] && !t->calls[node];
}

/* Whether most messages out of a node are unexplained, not counting what edges with too few
 * messages may explain. */
static gboolean is_unexplained(const JointSearch *s, NodeId node)
{
        const EdgeTraces *t = s->traces;
        double sent = 0, few = 0;

        for (guint k = t->first_out[node]; k < t->first_out[node + 1]; k++)
                sent += t->edges[k].n;
        for (guint i = t->first_in[node]; i < t->first_in[node + 1]; i++)
                if (t->edges[t->in[i]].n < s->windows.least)
                        few += t->edges[t->in[i]].n;
        return sent > 0 && (!s->nodes[node] ||
                            node_causes_explained(s->nodes[node]) * sent + few < ROOT_SHARE * sent);
}

/* Finds the roots again: nodes most of whose messages are unexplained. There may be none, as with
 * one client that asks again soon after each answer. Then the roots are the nodes that were not
 * spoken to first. */
static void find_roots_again(JointSearch *s)
{
        const EdgeTraces *t = s->traces;
        gboolean *is_root = s->run->is_root, any = FALSE;

        for (NodeId node = 0; node < t->n_nodes; node++) {
                if (may_be_no_root(s->run, node))
                        is_root[node] = is_unexplained(s, node);
                any |= is_root[node];
        }
        for (NodeId node = 0; node < t->n_nodes; node++) {
                if (!any)
                        is_root[node] = edge_traces_n_out(t, node) && !t->spoken_to[node];
                if (is_root[node] && s->nodes[node]) {
                        forget_causes(s, node);
                        node_causes_free(g_steal_pointer(&s->nodes[node]));
                }
        }
        convolution_set_roots(s->run, is_root);
}

PathSet *convolution_find_joint_paths(Convolution *run)
{
        EdgeTraces *sample = NULL;
        const EdgeTraces *t = run->traces;
        JointSearch s = { .run = run, .correlators = g_async_queue_new() };
        guint steps = run->options.without & JOINT_FUTURE ? 0 : FUTURE_STEPS;
        double work = 0;
        PathSet *set;
        gint64 lags;

        if (t->messages > MOST_MESSAGES)
                t = sample =
                        trace_sample_new(t, MOST_MESSAGES, LEAST_STRETCH * run->options.max_delay);
        run->looked_at = sample ? sample->messages : 0;
        s.traces = t;
        s.quanta = run->quanta;
        s.quanta.quantum *= 1 + run->options.max_delay / run->options.quantum / MOST_LAGS;
        lags = MAX(quanta_lag(&s.quanta, run->options.max_delay), 1);
        s.search = (gsize)lags;
        s.lags = (Lags){ -(lags / 2), (gsize)(2 * lags) };
        s.windows.deviations = run->options.spike;
        s.windows.least = MAX((double)run->options.min_messages * (double)t->messages /
                                      (double)run->traces->messages,
                              LEAST_MESSAGES);
        s.messages = message_causes_new(t, run->is_root);
        s.nodes = g_new0(NodeCauses *, t->n_nodes);
        for (NodeId node = 0; node < t->n_nodes; node++)
                if ((!run->is_root[node] || may_be_no_root(run, node)) &&
                    edge_traces_n_in(t, node) && edge_traces_n_out(t, node))
                        s.nodes[node] =
                                node_causes_new(t, node, s.windows.least, run->options.without);
        for (guint i = 0; i < run->options.threads; i++)
                g_async_queue_push(s.correlators,
                                   correlator_new(&s.lags, run->options.correlate,
                                                  run->options.cache / run->options.threads));
        for (NodeId node = 0; node < t->n_nodes; node++)
                work += s.nodes[node] ? node_work(&s, node) : 0;
        work_init(&s.work, run->options.progress, work * (1 + TRACE_AGAIN));
        search_nodes(&s, TRUE);
        if (run->options.roots_guessed)
                find_roots_again(&s);
        for (guint i = run->options.without & JOINT_PAST ? TRACE_AGAIN : 0; i < TRACE_AGAIN; i++) {
                message_causes_trace(s.messages, (guint32)s.windows.least, steps);
                search_nodes(&s, FALSE);
        }
        if (!(run->options.without & JOINT_ORDER))
                put_work_in_order(s.messages);
        message_causes_trace(s.messages, (guint32)s.windows.least, steps);
        set = collect_joint_paths(&s);
        for (guint i = 0; i < run->options.threads; i++)
                correlator_free(g_async_queue_pop(s.correlators));
        g_async_queue_unref(s.correlators);
        for (NodeId node = 0; node < t->n_nodes; node++)
                node_causes_free(s.nodes[node]);
        g_free(s.nodes);
        message_causes_free(s.messages);
        work_clear(&s.work);
        edge_traces_free(sample);
        return set;
}
