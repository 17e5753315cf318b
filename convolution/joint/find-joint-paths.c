/* SPDX-License-Identifier: BSD-2-Clause
 *
 * --method auto: finds the causes of all messages jointly, node by node, and then the paths.
 *
 * For each node it finds windows of delay in the correlations of in-edges with out-edges, and
 * learns what they explain together (node-causes.h). Then it looks for windows in the correlations
 * of unexplained messages, to find passages that others hid; and last for causes with effects
 * beside others.
 *
 * Then each message has a past, the path that it ends, and a future. The causes at each node are
 * found again with these, a few times. A node that answers where the question came from then gets
 * its causes right, and pasts and futures that do not fit together fall apart.
 *
 * In the end a message that leaves a node is put behind the last message that came in on its path,
 * whichever of them its delay counts from.
 */
#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "base/fill.h"
#include "base/hash.h"
#include "convolution/convolution.h"
#include "convolution/joint/derived-correlation.h"
#include "convolution/joint/message-causes.h"
#include "convolution/joint/node-causes.h"
#include "convolution/joint/trace-sample.h"

enum {
        FIRST_ROUNDS = 26,      /* rounds of learning with the first windows */
        MORE_ROUNDS = 14,       /* rounds of learning after more windows were found */
        PAST_ROUNDS = 12,       /* rounds of learning with pasts and futures */
        BESIDE_SEARCHES = 4,    /* searches for effects beside others */
        MOST_RETURN = 24,       /* hops until a path comes back to a node */
        MOST_VISITS = 24,       /* visits of a path to a node */
        TRACE_AGAIN = 3,        /* times that causes are found with pasts and futures */
        FUTURE_STEPS = 5,       /* hops that a future goes on for */
        LEAST_MESSAGES = 5,     /* messages in the sample that an edge of the graph needs */
        MOST_MESSAGES = 200000, /* messages in the sample, about */
        MOST_LAGS = 8192,       /* lags below the greatest delay; with more, a lag gets wider */
        LEAST_STRETCH = 50,     /* length of a stretch of the sample, in greatest delays */
        LEAST_PEAK = 8,         /* messages that a peak of delays needs */
};

/* A passage beside others needs BESIDE_SHARE of its causes. Fewer are enough, down to BESIDE_LEAST,
 * if it explains BESIDE_EFFECTS of the effects that have no cause. Without that exception a passage
 * that a fifth of the requests take was found or missed depending on the rest of the run. Chosen on
 * captures cut in halves and on random systems 3001 to 3016; with 0.05 in place of 0.1, a loss of 5
 * % of the messages makes some derived paths. */
static const double BESIDE_SHARE = 0.25, BESIDE_LEAST = 0.1, BESIDE_EFFECTS = 0.5;

static const double BIN_SHARE = 0.02, /* of the fullest bin: less lies between two peaks */
        PEAK_SHARE = 0.05,            /* of a vertex's delays: less is no peak */
        ROOT_SHARE = 0.5,             /* of a node's messages explained: with less it is a root */
        ANSWER_SHARE = 0.9,           /* of an edge's messages: with more answers it has answers */
        END_SHARE = 0.15;             /* of a vertex's messages: if fewer end there, no path does */

typedef struct {
        Convolution *run;
        const EdgeTraces *traces; /* or a sample of them */
        Quanta quanta;
        Lags lags;
        gsize search; /* windows lie at lags from 0 to below this */
        DelayWindowOptions windows;
        MessageCauses *messages;
        NodeCauses **nodes;       /* by node; NULL if it passes nothing on */
        GAsyncQueue *correlators; /* one for each thread */
        gboolean first;           /* the threads are finding causes for the first time */
        Work work;
} JointSearch;

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

static guint n_in_edges(const EdgeTraces *t, NodeId node)
{
        return t->first_in[node + 1] - t->first_in[node];
}

static guint n_out_edges(const EdgeTraces *t, NodeId node)
{
        return t->first_out[node + 1] - t->first_out[node];
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
        guint n_in = n_in_edges(t, s->node), n_out = n_out_edges(t, s->node);
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

/* Finds passages to effects without a cause: from causes without an effect, or, beside, from causes
 * with other effects. */
static gboolean find_more_passages(NodeSearch *s, gboolean beside)
{
        const JointSearch *search = s->search;
        NodeCauses *causes = search->nodes[s->node];
        guint n_in = n_in_edges(search->traces, s->node);
        guint n_out = n_out_edges(search->traces, s->node);
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
        guint n_in = n_in_edges(t, node);
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

/* --- order ---------------------------------------------------------------------- */

/* A message into a node led to a later one into it, which came in at this time. */
typedef struct {
        guint32 message, later;
        gint64 time;
} Return;

static int compare_returns(gconstpointer va, gconstpointer vb)
{
        const Return *a = va, *b = vb;

        if (a->message != b->message)
                return a->message < b->message ? -1 : 1;
        if (a->time != b->time)
                return a->time < b->time ? -1 : 1;
        return COMPARE(a->later, b->later);
}

/* The message into the node that led to this one into it, over messages that the node sent; or
 * NO_MESSAGE. */
static guint32 visit_before(const MessageCauses *m, NodeId node, guint32 message)
{
        for (guint hops = 0; hops < MOST_RETURN && message != NO_MESSAGE; hops++) {
                message = m->cause[message];
                if (message != NO_MESSAGE && m->traces->edges[m->edge[message]].from == node)
                        return m->cause[message];
        }
        return NO_MESSAGE;
}

/* The cause of the request that this message into the node answers; NO_MESSAGE if it is no
 * answer. */
static guint32 asked_because_of(const MessageCauses *m, NodeId node, guint32 answer)
{
        const EdgeTrace *edges = m->traces->edges;
        guint32 sent = m->cause[answer];

        for (guint hops = 1; hops < MOST_RETURN && sent != NO_MESSAGE; hops++) {
                if (edges[m->edge[sent]].from == node)
                        break;
                sent = m->cause[sent];
        }
        if (sent == NO_MESSAGE || edges[m->edge[sent]].from != node ||
            edges[m->edge[sent]].to != edges[m->edge[answer]].from)
                return NO_MESSAGE;
        return m->cause[sent];
}

/* The message that began the work at the node that this message into it belongs to. */
static guint32 first_of_work(const MessageCauses *m, NodeId node, guint32 message)
{
        for (guint visits = 0; visits < MOST_VISITS; visits++) {
                guint32 before = asked_because_of(m, node, message);

                if (before == NO_MESSAGE)
                        break;
                message = before;
        }
        return message;
}

/* Finds the returns to a node: a GArray of Return. */
static GArray *find_returns(const MessageCauses *m, NodeId node)
{
        const EdgeTraces *t = m->traces;
        GArray *returns = g_array_new(FALSE, FALSE, sizeof(Return));

        for (guint i = t->first_in[node]; i < t->first_in[node + 1]; i++) {
                const EdgeTrace *edge = &t->edges[t->in[i]];

                for (guint32 k = 0; k < edge->n; k++) {
                        Return r = { .later = message_that_arrived(m, t->in[i], k),
                                     .time = edge->received[k] };

                        r.message = r.later;
                        for (guint visits = 0; visits < MOST_VISITS; visits++) {
                                r.message = visit_before(m, node, r.message);
                                if (r.message == NO_MESSAGE)
                                        break;
                                g_array_append_val(returns, r);
                        }
                }
        }
        g_array_sort(returns, compare_returns);
        return returns;
}

static gint64 arrival_time(const MessageCauses *m, guint32 message)
{
        guint edge = m->edge[message];
        const EdgeTrace *e = &m->traces->edges[edge];

        return e->received[edge_trace_arrival(e, message - m->first[edge])];
}

/* The last message into the node before `time` that belongs to the same work as `message`. Of
 * messages at the same moment only `message` is taken, since the others may follow from what left
 * then. */
static guint32 last_of_work(const MessageCauses *m, NodeId node, const GArray *returns,
                            guint32 message, gint64 time)
{
        guint32 first = first_of_work(m, node, message);
        guint low = 0, high = returns->len;
        const Return *last;

        while (low < high) {
                guint middle = low + (high - low) / 2;
                const Return *r = &g_array_index(returns, Return, middle);

                if (r->message < first || (r->message == first && r->time < time))
                        low = middle + 1;
                else
                        high = middle;
        }
        if (low == 0)
                return message;
        last = &g_array_index(returns, Return, low - 1);
        return last->message == first && last->time > arrival_time(m, message) ? last->later
                                                                               : message;
}

/* A node that asks several others at once goes on after the last of their answers, whichever the
 * delays point to. What leaves it is put behind the last message of the same work, so that a path
 * is all that happened to a request in turn. */
static void put_in_order(MessageCauses *m)
{
        const EdgeTraces *t = m->traces;
        guint32 *cause = g_memdup2(m->cause, m->n * sizeof *cause);

        for (NodeId node = 0; node < t->n_nodes; node++) {
                g_autoptr(GArray) returns = NULL;

                if (!n_out_edges(t, node) || !n_in_edges(t, node) || m->is_root[node])
                        continue;
                returns = find_returns(m, node);
                for (guint k = t->first_out[node]; k < t->first_out[node + 1]; k++)
                        for (guint32 i = 0; i < t->edges[k].n; i++) {
                                guint32 z = m->first[k] + i;

                                if (m->cause[z] != NO_MESSAGE)
                                        cause[z] = last_of_work(m, node, returns, m->cause[z],
                                                                t->edges[k].sent[i]);
                        }
        }
        g_free(m->cause);
        m->cause = cause;
}

/* --- paths ---------------------------------------------------------------------- */

static gboolean *find_caused(const MessageCauses *m)
{
        gboolean *caused = g_new0(gboolean, m->n);

        for (guint32 i = 0; i < m->n; i++)
                if (m->cause[i] != NO_MESSAGE)
                        caused[m->cause[i]] = TRUE;
        return caused;
}

/* The messages of each prefix, one after the other. */
typedef struct {
        guint32 *first, *message;
} ByPrefix;

static void sort_by_prefix(const MessageCauses *m, ByPrefix *by)
{
        guint32 n = m->tree->prefixes->len;

        by->first = g_new0(guint32, n + 2);
        for (guint32 i = 0; i < m->n; i++)
                if (m->prefix[i] != NO_PREFIX)
                        by->first[m->prefix[i] + 2]++;
        for (guint32 i = 0; i < n; i++)
                by->first[i + 2] += by->first[i + 1];
        by->message = g_new(guint32, MAX(by->first[n + 1], 1));
        for (guint32 i = 0; i < m->n; i++)
                if (m->prefix[i] != NO_PREFIX)
                        by->message[by->first[m->prefix[i] + 1]++] = i;
}

/* The number of messages that one message of the sample stands for. It is found from the edge that
 * leaves the root of the prefix. */
static double weight_of(const JointSearch *s, guint32 prefix)
{
        const PrefixTree *tree = s->messages->tree;
        const EdgeTrace *all;

        while (PREFIX(tree, prefix)->depth > 1)
                prefix = PREFIX(tree, prefix)->parent;
        all = edge_traces_lookup(s->run->traces, PREFIX(tree, PREFIX(tree, prefix)->parent)->node,
                                 PREFIX(tree, prefix)->node);
        return (double)all->n / PREFIX(tree, prefix)->count;
}

static guint64 weighted(double count, double weight)
{
        return MAX((guint64)(count * weight + 0.5), 1);
}

static guint32 cube_root(guint32 n)
{
        guint32 root = 1;

        while ((guint64)(root + 1) * (root + 1) * (root + 1) <= n)
                root++;
        return root;
}

/* Finds a peak among n sorted delays: a bin with at least `least` delays, and the bins beside it as
 * long as they have as many. Sets from and to; FALSE if there is no such bin. */
static gboolean find_peak(const gint64 *delays, guint32 n, gint64 width, guint32 least,
                          guint32 *from, guint32 *to)
{
        gint64 before = 0; /* where the last bin of the peak ends */
        gboolean peak = FALSE;

        for (guint32 i = 0; i < n;) {
                gint64 end = delays[i] - (delays[i] % width + width) % width + width;
                guint32 first = i;

                while (i < n && delays[i] < end)
                        i++;
                if (peak && (i - first < least || end - width > before))
                        return TRUE;
                if (i - first < least)
                        continue;
                if (!peak)
                        *from = first;
                peak = TRUE;
                *to = i;
                before = end;
        }
        return peak;
}

/* Adds the delays of a vertex: the median of each peak with enough messages. The width of bins is
 * that of Freedman and Diaconis (1981), but at least the user's quantum. */
static void add_delays(const JointSearch *s, PathGraph *graph, guint32 vertex,
                       const guint32 *messages, guint32 n, double weight)
{
        g_autofree gint64 *delays = g_new(gint64, n);
        guint32 highest = 0, at = 0, from, to, peaks = 0;
        gint64 width;

        for (guint32 i = 0; i < n; i++)
                delays[i] = message_delay(s->messages, messages[i]);
        qsort(delays, n, sizeof *delays, compare_int64s);
        /* the nearer quartile, as the other may lie in another peak */
        width = MIN(delays[n / 2] - delays[n / 4], delays[n - 1 - n / 4] - delays[n / 2]);
        width = MAX(4 * width / cube_root(n), s->run->quanta.quantum);
        for (guint32 i = 0, first = 0; i < n; i++) {
                while (delays[i] - delays[first] >= width)
                        first++;
                highest = MAX(highest, i - first + 1);
        }
        while (find_peak(&delays[at], n - at, width, (guint32)(BIN_SHARE * highest) + 2, &from,
                         &to)) {
                if (to - from >= MAX(PEAK_SHARE * n, LEAST_PEAK)) {
                        path_graph_add_delay(graph, vertex, delays[at + from + (to - from) / 2],
                                             weighted(to - from, weight));
                        peaks++;
                }
                at += to;
        }
        if (!peaks)
                path_graph_add_delay(graph, vertex, delays[n / 2], weighted(n, weight));
}

static PathEnd why_it_ends(const JointSearch *s, NodeId node, gboolean goes_on)
{
        if (s->run->is_root[node])
                return PATH_END_ROOT;
        if (n_out_edges(s->traces, node) == 0)
                return PATH_END_SILENT;
        return goes_on ? PATH_END_FEW : PATH_END_UNEXPLAINED;
}

/* Sets the n hops of the path that a message ends. */
static void add_hops(const MessageCauses *m, guint32 message, PathHop *hops, guint32 n)
{
        gint64 latency = 0, stay = 0;

        for (guint32 i = n; i-- > 0;) {
                guint edge = m->edge[message];
                const EdgeTrace *e = &m->traces->edges[edge];
                guint32 at = message - m->first[edge];
                gint64 network = e->received[edge_trace_arrival(e, at)] - e->sent[at];

                latency += network + stay;
                histogram_add(&hops[i].network, network);
                histogram_add(&hops[i].stay, stay);
                histogram_add(&hops[i].latency, latency);
                if (i > 0) {
                        stay = message_delay(m, message);
                        message = m->cause[message];
                }
        }
}

static void add_pattern(const JointSearch *s, PathSet *set, guint32 prefix, const guint32 *messages,
                        guint32 n_messages, guint64 count, double probability)
{
        const PrefixTree *tree = s->messages->tree;
        guint32 n = PREFIX(tree, prefix)->depth, root = prefix;
        g_autofree PathHop *hops = g_new0(PathHop, n);

        for (guint32 i = n; i-- > 0;) {
                hops[i].node = PREFIX(tree, root)->node;
                root = PREFIX(tree, root)->parent;
        }
        for (guint32 i = 0; i < n_messages; i++)
                add_hops(s->messages, messages[i], hops, n);
        path_set_add_linear(set, PREFIX(tree, root)->node, hops, n, count, probability);
}

/* By in-edge and out-edge: the number of messages with a cause that came this way. */
typedef struct {
        GHashTable *messages;
} Passed;

static gint64 *passed_key(guint in, guint out)
{
        gint64 key = (gint64)((guint64)in << 32 | out);

        return g_memdup2(&key, sizeof key);
}

static void count_passed(const MessageCauses *m, Passed *passed)
{
        passed->messages = g_hash_table_new_full(hash_int64, g_int64_equal, g_free, NULL);
        for (guint32 i = 0; i < m->n; i++)
                if (m->cause[i] != NO_MESSAGE) {
                        gint64 *key = passed_key(m->edge[m->cause[i]], m->edge[i]);
                        gpointer n = g_hash_table_lookup(passed->messages, key);

                        g_hash_table_replace(passed->messages, key,
                                             GUINT_TO_POINTER(GPOINTER_TO_UINT(n) + 1));
                }
}

/* Whether wrong causes alone explain the n messages of a vertex. The vertex before it has `before`
 * messages, of which the share `wrong` belongs to other paths and goes on as the messages of its
 * edge do on average. */
static gboolean is_accident(const JointSearch *s, const Passed *passed, const guint32 *messages,
                            guint32 n, guint32 before, double wrong)
{
        const MessageCauses *m = s->messages;
        guint out = m->edge[messages[0]], in = m->edge[m->cause[messages[0]]];
        g_autofree gint64 *key = passed_key(in, out);
        double all = GPOINTER_TO_UINT(g_hash_table_lookup(passed->messages, key));
        double expected = wrong * before * all / s->traces->edges[in].n;

        return n < expected;
}

/* Whether the last message of a prefix is an answer: it goes to a node that sent a message to its
 * sender on the way, which is not answered yet. */
static gboolean is_answer(const PrefixTree *tree, guint32 prefix)
{
        NodeId to = PREFIX(tree, prefix)->node, from;
        gint open = 0;

        prefix = PREFIX(tree, prefix)->parent;
        from = PREFIX(tree, prefix)->node;
        for (guint32 p = PREFIX(tree, prefix)->parent; p != NO_PREFIX;
             p = PREFIX(tree, p)->parent) {
                open += PREFIX(tree, prefix)->node == from && PREFIX(tree, p)->node == to;
                open -= PREFIX(tree, prefix)->node == to && PREFIX(tree, p)->node == from;
                prefix = p;
        }
        return open > 0;
}

/* The last edge of a prefix, which has a parent. */
static guint edge_of(const JointSearch *s, guint32 prefix)
{
        const PrefixTree *tree = s->messages->tree;
        NodeId from = PREFIX(tree, PREFIX(tree, prefix)->parent)->node;

        return (guint)(edge_traces_lookup(s->traces, from, PREFIX(tree, prefix)->node) -
                       s->traces->edges);
}

/* Finds by edge whether nearly all its messages are answers. */
static gboolean *find_answering(const JointSearch *s)
{
        const PrefixTree *tree = s->messages->tree;
        gboolean *answering = g_new(gboolean, s->traces->n_edges);
        g_autofree guint32 *all = g_new0(guint32, s->traces->n_edges);
        g_autofree guint32 *answers = g_new0(guint32, s->traces->n_edges);

        for (guint32 i = 0; i < tree->prefixes->len; i++) {
                const Prefix *p = PREFIX(tree, i);
                guint edge;

                if (p->parent == NO_PREFIX || p->depth < 2)
                        continue;
                edge = edge_of(s, i);
                all[edge] += p->count;
                answers[edge] += is_answer(tree, i) ? p->count : 0;
        }
        for (guint i = 0; i < s->traces->n_edges; i++)
                answering[i] = answers[i] > ANSWER_SHARE * all[i];
        return answering;
}

static PathSet *collect_paths(JointSearch *s)
{
        const MessageCauses *m = s->messages;
        PathGraph *graph = path_graph_new();
        PathSet *set = path_set_new_linear(s->traces->nodes, graph);
        guint without = s->run->options.without;
        guint32 n = m->tree->prefixes->len;
        g_autofree gboolean *caused = find_caused(m);
        g_autofree guint32 *vertex = g_new(guint32, MAX(n, 1));
        g_autofree gboolean *goes_on = g_new0(gboolean, MAX(n, 1));
        g_autofree double *right = g_new0(
                double, MAX(n, 1)); /* the probability that all causes of the path are right */
        g_autofree gboolean *answering = find_answering(s);
        Passed passed;
        ByPrefix by;

        sort_by_prefix(m, &by);
        count_passed(m, &passed);
        for (guint32 i = 0; i < n; i++) {
                const Prefix *p = PREFIX(m->tree, i);
                const guint32 *messages = &by.message[by.first[i]];
                guint32 count = p->count;
                double probability = 0;

                vertex[i] = NO_VERTEX;
                if (p->parent == NO_PREFIX) {
                        for (guint k = s->traces->first_out[p->node];
                             k < s->traces->first_out[p->node + 1]; k++)
                                count += s->run->traces->edges[k].n;
                        vertex[i] = path_graph_add(graph, NO_VERTEX, p->node, count, 1);
                        right[i] = 1;
                        continue;
                }
                if (vertex[p->parent] == NO_VERTEX || count < s->windows.least)
                        continue;
                for (guint32 k = 0; k < count; k++)
                        probability += p->depth == 1 ? 1 : m->probability[messages[k]];
                probability /= count;
                right[i] = right[p->parent] * probability;
                if (p->depth > 1 && !(without & JOINT_ACCIDENT) &&
                    is_accident(s, &passed, messages, count, PREFIX(m->tree, p->parent)->count,
                                1 - right[p->parent]))
                        continue;
                if (!(without & JOINT_RETURN) && !derived_correlation_fits(m, messages, count))
                        continue;
                if (!(without & JOINT_ANSWER) && p->depth > 1 && answering[m->edge[messages[0]]] &&
                    !is_answer(m->tree, i))
                        continue;
                goes_on[p->parent] = TRUE;
                vertex[i] = path_graph_add(graph, vertex[p->parent], p->node,
                                           weighted(count, weight_of(s, i)), probability);
                if (p->depth > 1)
                        add_delays(s, graph, vertex[i], messages, count, weight_of(s, i));
        }
        for (guint32 i = 0; i < n; i++) {
                guint32 *messages = &by.message[by.first[i]], ends = 0;
                const Prefix *p = PREFIX(m->tree, i);
                double probability = 1;

                if (vertex[i] == NO_VERTEX || p->parent == NO_PREFIX)
                        continue;
                for (guint32 k = 0; k < p->count; k++)
                        if (!caused[messages[k]]) {
                                guint32 message = messages[k];

                                messages[k] = messages[ends];
                                messages[ends++] = message;
                        }
                if (!goes_on[i]) {
                        PathEnd end = why_it_ends(s, p->node, ends < p->count);

                        path_graph_end(graph, vertex[i], end);
                        s->run->ends[end] += weighted(p->count, weight_of(s, i));
                        ends = p->count;
                } else if (ends < MAX(END_SHARE * p->count, s->windows.least))
                        continue;
                for (guint32 v = vertex[i]; v != NO_VERTEX; v = path_graph_vertex(graph, v)->parent)
                        probability *= path_graph_vertex(graph, v)->probability;
                add_pattern(s, set, i, messages, ends, weighted(ends, weight_of(s, i)),
                            probability);
        }
        g_hash_table_unref(passed.messages);
        g_free(by.first);
        g_free(by.message);
        return set;
}

/* --- roots ---------------------------------------------------------------------- */

/* Whether a node is a root is a guess. Where messages are calls and returns it is certain. */
static gboolean may_be_no_root(const Convolution *run, NodeId node)
{
        const EdgeTraces *t = run->traces;

        return run->options.roots_guessed && !t->called[node] && !t->calls[node];
}

/* Whether most messages of a node are unexplained: no cause was found for them, and they are not on
 * edges with too few messages to find any. */
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

/* Finds the roots again: nodes most of whose messages are unexplained. If there is none, as with
 * one client that asks again soon after each answer, the nodes that were not spoken to first. */
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
                        is_root[node] = n_out_edges(t, node) && !t->spoken_to[node];
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
                if ((!run->is_root[node] || may_be_no_root(run, node)) && n_in_edges(t, node) &&
                    n_out_edges(t, node))
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
                put_in_order(s.messages);
        message_causes_trace(s.messages, (guint32)s.windows.least, steps);
        set = collect_paths(&s);
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
