/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The path patterns of --method auto, from the causes of messages. Each common prefix of nodes that
 * is a path becomes a vertex of the path graph. If messages end there, it becomes a pattern.
 */
#include <math.h>
#include <stdlib.h>

#include "base/compare.h"
#include "base/hash.h"
#include "convolution/joint/joint-search.h"
#include "convolution/joint/message-causes.h"

/* --- derived correlation --------------------------------------------------- */

/* A test of paths that come back to a node. If messages go A>B>C>B>D, there is a derived
 * correlation (paper, section 5.3.1) of A>B with B>D, whatever happens in between. A path that was
 * put together from pieces of other paths has none. */

enum { SIDES = 8 }; /* ranges before, and again after, that measure accident */

static const double CERTAIN = 4, /* deviations of accident that messages must exceed to be tested */
        SEEN = 0.25;             /* share of the messages that must be seen */

/* Counts pairs of a cause and an effect with a delay from `from` to to - 1. */
static double count_pairs_in_delay(const EdgeTrace *in, const EdgeTrace *out, gint64 from,
                                   gint64 to)
{
        guint32 low = 0, high = 0;
        guint64 n = 0;

        for (guint32 i = 0; i < in->n; i++) {
                while (low < out->n && out->sent[low] < in->received[i] + from)
                        low++;
                high = MAX(high, low);
                while (high < out->n && out->sent[high] < in->received[i] + to)
                        high++;
                n += high - low;
        }
        return (double)n;
}

/* The first message on the path of this one that arrived at its sender; NO_MESSAGE if that is its
 * cause. */
static guint32 first_visit(const MessageCauses *c, guint32 message)
{
        const EdgeTrace *edges = c->traces->edges;
        NodeId node = edges[c->edge[message]].from;
        guint32 found = NO_MESSAGE;

        if (c->cause[message] == NO_MESSAGE)
                return NO_MESSAGE;
        for (guint32 m = c->cause[c->cause[message]]; m != NO_MESSAGE; m = c->cause[m])
                if (edges[c->edge[m]].to == node)
                        found = m;
        return found;
}

/* Whether n messages (1 or more) of one prefix fit. The messages that first led to their sender are
 * correlated with all messages that it sent the same way. FALSE if the n messages should show in
 * that correlation and do not. Also TRUE if the path visits the sender for the first time, or if
 * accident may hide the messages. Linear in the messages of both edges. */
static gboolean derived_correlation_fits(const MessageCauses *c, const guint32 *messages, guint32 n)
{
        guint32 visit = first_visit(c, messages[0]), edge;
        const EdgeTrace *in, *out = &c->traces->edges[c->edge[messages[0]]];
        double around[2 * SIDES], off[2 * SIDES], usual, spread, pairs;
        g_autofree gint64 *delay = NULL;
        gint64 from, width;

        if (visit == NO_MESSAGE)
                return TRUE;
        edge = c->edge[visit];
        in = &c->traces->edges[edge];
        delay = g_new(gint64, n);
        for (guint32 i = 0; i < n; i++) {
                guint32 m = messages[i];

                visit = first_visit(c, m);
                delay[i] = out->sent[m - c->first[c->edge[m]]] -
                           in->received[edge_trace_arrival(in, visit - c->first[edge])];
        }
        qsort(delay, n, sizeof *delay, compare_int64s);
        from = delay[n / 10];
        width = delay[n - 1 - n / 10] - from + 1;
        for (gint64 i = 0; i < SIDES; i++) {
                around[2 * i] = count_pairs_in_delay(in, out, from - (i + 2) * width,
                                                     from - (i + 1) * width);
                around[2 * i + 1] = count_pairs_in_delay(in, out, from + (i + 2) * width,
                                                         from + (i + 3) * width);
        }
        qsort(around, 2 * SIDES, sizeof *around, compare_doubles);
        usual = (around[SIDES - 1] + around[SIDES]) / 2;
        for (guint i = 0; i < 2 * SIDES; i++)
                off[i] = fabs(around[i] - usual);
        qsort(off, 2 * SIDES, sizeof *off, compare_doubles);
        spread = MAX(1.4826 * (off[SIDES - 1] + off[SIDES]) / 2, sqrt(MAX(usual, 1)));
        pairs = count_pairs_in_delay(in, out, from, from + width);
        return 0.8 * n < CERTAIN * spread || pairs - usual >= SEEN * 0.8 * n;
}

enum {
        LEAST_PEAK = 8, /* messages that a peak of delays needs */
};

static const double
        BIN_SHARE = 0.02,   /* share of the fullest bin below which a bin separates two peaks */
        PEAK_SHARE = 0.05,  /* least share of a vertex's delays in a peak */
        ANSWER_SHARE = 0.9, /* an edge with a larger share of answers answers */
        END_SHARE = 0.15; /* least share of a vertex's messages that must end there for a pattern */

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
static double weight_of_prefix(const JointSearch *s, guint32 prefix)
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

/* Finds the first peak of n sorted delays: a run of neighbouring bins with at least `least` delays
 * each. Sets from and to; FALSE if there is none. */
static gboolean find_delay_peak(const gint64 *delays, guint32 n, gint64 width, guint32 least,
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
static void add_vertex_delays(const JointSearch *s, PathGraph *graph, guint32 vertex,
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
        while (find_delay_peak(&delays[at], n - at, width, (guint32)(BIN_SHARE * highest) + 2,
                               &from, &to)) {
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
        if (edge_traces_n_out(s->traces, node) == 0)
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

static void add_prefix_pattern(const JointSearch *s, PathSet *set, guint32 prefix,
                               const guint32 *messages, guint32 n_messages, guint64 count,
                               double probability)
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

/* Whether wrong causes alone explain the n messages of a vertex. The vertex before has `before`
 * messages. Of these the share `wrong` belongs to other paths, and goes on like the average message
 * of its edge. */
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

/* Whether the last message of a prefix is an answer: it goes to a node that sent its sender a
 * message before, not answered yet. */
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
static guint edge_of_prefix(const JointSearch *s, guint32 prefix)
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
                edge = edge_of_prefix(s, i);
                all[edge] += p->count;
                answers[edge] += is_answer(tree, i) ? p->count : 0;
        }
        for (guint i = 0; i < s->traces->n_edges; i++)
                answering[i] = answers[i] > ANSWER_SHARE * all[i];
        return answering;
}

/* The vertices of the graph, by prefix of nodes. */
typedef struct {
        PathGraph *graph;
        ByPrefix by;
        guint32 *vertex;   /* NO_VERTEX: no path goes there */
        gboolean *goes_on; /* a vertex follows */
        double *right;     /* the probability that all causes of the path are right */
} Vertices;

/* The mean probability of the causes of the last hop. */
static double mean_probability(const MessageCauses *m, const Prefix *p, const guint32 *messages)
{
        double probability = 0;

        for (guint32 k = 0; k < p->count; k++)
                probability += p->depth == 1 ? 1 : m->probability[messages[k]];
        return probability / p->count;
}

/* Whether a prefix is a path: no accident, with the delays of a path, and with an answer if the
 * edge answers. */
static gboolean is_path(const JointSearch *s, const Vertices *v, const Passed *passed,
                        const gboolean *answering, guint32 i)
{
        const MessageCauses *m = s->messages;
        const Prefix *p = PREFIX(m->tree, i);
        const guint32 *messages = &v->by.message[v->by.first[i]];
        guint without = s->run->options.without;

        if (p->depth > 1 && !(without & JOINT_ACCIDENT) &&
            is_accident(s, passed, messages, p->count, PREFIX(m->tree, p->parent)->count,
                        1 - v->right[p->parent]))
                return FALSE;
        if (!(without & JOINT_RETURN) && !derived_correlation_fits(m, messages, p->count))
                return FALSE;
        return without & JOINT_ANSWER || p->depth <= 1 || !answering[m->edge[messages[0]]] ||
               is_answer(m->tree, i);
}

static void add_root_prefix(const JointSearch *s, Vertices *v, guint32 i)
{
        const Prefix *p = PREFIX(s->messages->tree, i);
        guint32 count = p->count;

        for (guint k = s->traces->first_out[p->node]; k < s->traces->first_out[p->node + 1]; k++)
                count += s->run->traces->edges[k].n;
        v->vertex[i] = path_graph_add(v->graph, NO_VERTEX, p->node, count, 1);
        v->right[i] = 1;
}

/* A prefix stands behind its parent in the tree, so one pass is enough. */
static void add_vertices(const JointSearch *s, Vertices *v)
{
        const MessageCauses *m = s->messages;
        g_autofree gboolean *answering = find_answering(s);
        Passed passed;

        count_passed(m, &passed);
        for (guint32 i = 0; i < m->tree->prefixes->len; i++) {
                const Prefix *p = PREFIX(m->tree, i);
                const guint32 *messages = &v->by.message[v->by.first[i]];
                double probability;

                v->vertex[i] = NO_VERTEX;
                if (p->parent == NO_PREFIX) {
                        add_root_prefix(s, v, i);
                        continue;
                }
                if (v->vertex[p->parent] == NO_VERTEX || p->count < s->windows.least)
                        continue;
                probability = mean_probability(m, p, messages);
                v->right[i] = v->right[p->parent] * probability;
                if (!is_path(s, v, &passed, answering, i))
                        continue;
                v->goes_on[p->parent] = TRUE;
                v->vertex[i] =
                        path_graph_add(v->graph, v->vertex[p->parent], p->node,
                                       weighted(p->count, weight_of_prefix(s, i)), probability);
                if (p->depth > 1)
                        add_vertex_delays(s, v->graph, v->vertex[i], messages, p->count,
                                          weight_of_prefix(s, i));
        }
        g_hash_table_unref(passed.messages);
}

/* Moves the messages that cause nothing to the front. Returns their number. */
static guint32 ending_to_front(const gboolean *caused, guint32 *messages, guint32 n)
{
        guint32 ends = 0;

        for (guint32 k = 0; k < n; k++)
                if (!caused[messages[k]]) {
                        guint32 message = messages[k];

                        messages[k] = messages[ends];
                        messages[ends++] = message;
                }
        return ends;
}

/* Adds the pattern of a prefix if paths end there. */
static void end_paths(const JointSearch *s, Vertices *v, const gboolean *caused, PathSet *set,
                      guint32 i)
{
        const Prefix *p = PREFIX(s->messages->tree, i);
        guint32 *messages = &v->by.message[v->by.first[i]];
        guint32 ends = ending_to_front(caused, messages, p->count);
        double probability = 1;

        if (!v->goes_on[i]) {
                PathEnd end = why_it_ends(s, p->node, ends < p->count);

                path_graph_end(v->graph, v->vertex[i], end);
                s->run->ends[end] += weighted(p->count, weight_of_prefix(s, i));
                ends = p->count;
        } else if (ends < MAX(END_SHARE * p->count, s->windows.least)) {
                return;
        }
        for (guint32 at = v->vertex[i]; at != NO_VERTEX;
             at = path_graph_vertex(v->graph, at)->parent)
                probability *= path_graph_vertex(v->graph, at)->probability;
        add_prefix_pattern(s, set, i, messages, ends, weighted(ends, weight_of_prefix(s, i)),
                           probability);
}

PathSet *collect_joint_paths(JointSearch *s)
{
        const MessageCauses *m = s->messages;
        guint32 n = m->tree->prefixes->len;
        Vertices v = { .graph = path_graph_new(),
                       .vertex = g_new(guint32, MAX(n, 1)),
                       .goes_on = g_new0(gboolean, MAX(n, 1)),
                       .right = g_new0(double, MAX(n, 1)) };
        PathSet *set = path_set_new_linear(s->traces->nodes, v.graph);
        g_autofree gboolean *caused = find_caused(m);

        sort_by_prefix(m, &v.by);
        add_vertices(s, &v);
        for (guint32 i = 0; i < n; i++)
                if (v.vertex[i] != NO_VERTEX && PREFIX(m->tree, i)->parent != NO_PREFIX)
                        end_paths(s, &v, caused, set, i);
        g_free(v.by.first);
        g_free(v.by.message);
        g_free(v.vertex);
        g_free(v.goes_on);
        g_free(v.right);
        return set;
}
