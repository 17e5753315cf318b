/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The convolution algorithm on systems whose paths are plain to see. Checked are the paths, counts
 * and delays it finds, where paths end, and the roots and quanta it chooses. Threads and the way of
 * correlating change nothing.
 */
#include "convolution/convolution.h"

#include <stdlib.h>
#include <string.h>

#include "convolution/joint/node-causes.h"
#include "tests/unit/convolution/messages.h"

typedef struct {
        NodeTable *nodes;
        EdgeTraceLoader *loader;
        EdgeTraces *traces;
        guint64 state;
} Fixture;

#define MS G_GINT64_CONSTANT(1000000)

static void set_up(Fixture *f, gconstpointer data)
{
        (void)data;
        f->nodes = node_table_new();
        f->loader = edge_trace_loader_new(f->nodes);
        f->traces = NULL;
        f->state = 88172645463325252u;
}

static void tear_down(Fixture *f, gconstpointer data)
{
        (void)data;
        edge_trace_loader_free(f->loader);
        edge_traces_free(f->traces);
        node_table_free(f->nodes);
}

static gint64 random_below(Fixture *f, gint64 n)
{
        f->state ^= f->state << 13;
        f->state ^= f->state >> 7;
        f->state ^= f->state << 17;
        return (gint64)((f->state >> 11) % (guint64)n);
}

static void send_message(Fixture *f, gint64 time, const char *from, const char *to)
{
        test_add(f->loader, f->nodes, time, MSG_SENT, from, to, "-");
}

static void finish(Fixture *f)
{
        f->traces = edge_trace_loader_finish(g_steal_pointer(&f->loader), TRUE);
}

/* 2000 requests at random times: half go a>b>c>b>a, half a>b>d. b takes 10 ms to ask c,
 * which takes 20; 30 ms to tell d. */
static void make_system(Fixture *f)
{
        for (guint i = 0; i < 2000; i++) {
                gint64 t = random_below(f, 1000000 * MS);

                send_message(f, t, "a", "b");
                if (i % 2) {
                        send_message(f, t + 10 * MS, "b", "c");
                        send_message(f, t + 30 * MS, "c", "b");
                        send_message(f, t + 35 * MS, "b", "a");
                } else {
                        send_message(f, t + 30 * MS, "b", "d");
                }
        }
        finish(f);
}

static const ConvolutionOptions in_ms = { .quantum = MS,
                                          .max_delay = 500 * MS,
                                          .tolerance = MS,
                                          .spike = 4,
                                          .between = 3,
                                          .min_messages = 50,
                                          .max_depth = 24,
                                          .max_vertices = 1000,
                                          .cache = 1 << 20,
                                          .threads = 1 };

static GArray *one_root(Fixture *f, const char *name)
{
        GArray *roots = g_array_new(FALSE, FALSE, sizeof(NodeId));
        NodeId node = test_node(f->nodes, name);

        g_array_append_val(roots, node);
        return roots;
}

/* All patterns, best first by count: "signature count mean-in-ms" */
static char *find_paths(Fixture *f, const ConvolutionOptions *options)
{
        g_autoptr(Convolution) run = convolution_new(f->traces, options, one_root(f, "a"));
        g_autoptr(PathSet) set = convolution_find_paths(run);
        g_autofree guint32 *rank = path_set_rank(set, RANK_COUNT);
        GString *text = g_string_new(NULL);

        for (guint32 i = 0; i < path_set_size(set); i++) {
                const PathPattern *p = path_set_pattern(set, rank[i]);

                g_string_append_printf(text, "%s %" G_GUINT64_FORMAT " %" G_GINT64_FORMAT "\n",
                                       p->signature, p->count,
                                       histogram_mean(&p->nodes[0].latency) / MS);
        }
        return g_string_free(text, FALSE);
}

/* With the derived path a>b>a, which the paper's algorithm reports too (section 5.3.1). */
static void test_paths(Fixture *f, gconstpointer data)
{
        g_autofree char *found = NULL;

        (void)data;
        make_system(f);
        found = find_paths(f, &in_ms);
        g_assert_nonnull(strstr(found, "a>b>d 1000 30\n"));
        g_assert_nonnull(strstr(found, "a>b>c>b>a 1000 35\n"));
        g_assert_nonnull(strstr(found, "a>b>a 1000 35\n"));
}

/* Each vertex once, whatever its delays, these by declining count; and each end named. */
static void test_graph(Fixture *f, gconstpointer data)
{
        g_autoptr(Convolution) run = NULL;
        g_autoptr(PathSet) set = NULL;
        const PathGraph *graph;
        const PathVertex *v;
        guint32 a, b, d;

        (void)data;
        for (guint i = 0; i < 3000; i++) {
                gint64 t = random_below(f, 1000000 * MS);

                send_message(f, t, "a", "b");
                send_message(f, t + (i % 3 ? 40 : 15) * MS, "b", "d");
        }
        finish(f);
        run = convolution_new(f->traces, &in_ms, one_root(f, "a"));
        set = convolution_find_paths(run);
        graph = path_set_graph(set);
        g_assert_cmpuint(path_graph_size(graph), ==, 3);
        a = path_graph_lookup(graph, NO_VERTEX, test_node(f->nodes, "a"));
        b = path_graph_lookup(graph, a, test_node(f->nodes, "b"));
        d = path_graph_lookup(graph, b, test_node(f->nodes, "d"));
        g_assert_cmpuint(path_graph_vertex(graph, a)->count, ==, 3000);
        g_assert_cmpuint(path_graph_vertex(graph, b)->count, ==, 3000);
        v = path_graph_vertex(graph, d);
        g_assert_cmpint(v->end, ==, PATH_END_SILENT);
        g_assert_cmpuint(v->delays->len, ==, 2);
        g_assert_cmpint(g_array_index(v->delays, PathDelay, 0).delay, ==, 40 * MS);
        g_assert_cmpint(g_array_index(v->delays, PathDelay, 1).delay, ==, 15 * MS);
        g_assert_cmpfloat(v->probability, >, 0.99);
        g_assert_cmpuint(path_set_size(set), ==, 1);
        g_assert_cmpuint(run->ends[PATH_END_SILENT], ==, path_set_instances(set));
}

static void test_ends(Fixture *f, gconstpointer data)
{
        ConvolutionOptions options = in_ms;
        g_autoptr(Convolution) few = NULL;
        g_autoptr(Convolution) deep = NULL;
        g_autoptr(Convolution) small = NULL;
        g_autoptr(PathSet) few_set = NULL;
        g_autoptr(PathSet) deep_set = NULL;
        g_autoptr(PathSet) small_set = NULL;

        (void)data;
        make_system(f);
        options.min_messages = 1500;
        few = convolution_new(f->traces, &options, one_root(f, "a"));
        few_set = convolution_find_paths(few);
        g_assert_cmpuint(few->ends[PATH_END_FEW], ==, 2000);
        options = in_ms;
        options.max_depth = 2;
        deep = convolution_new(f->traces, &options, one_root(f, "a"));
        deep_set = convolution_find_paths(deep);
        g_assert_cmpuint(deep->ends[PATH_END_DEPTH], >=, 1000);
        options = in_ms;
        options.max_vertices = 3;
        small = convolution_new(f->traces, &options, one_root(f, "a"));
        small_set = convolution_find_paths(small);
        g_assert_cmpuint(small->left_out, >, 0);
        g_assert_cmpuint(path_graph_size(path_set_graph(small_set)), <=, 4);
}

static void test_same(Fixture *f, gconstpointer data)
{
        ConvolutionOptions options = in_ms;
        g_autofree char *found = NULL;

        (void)data;
        make_system(f);
        found = find_paths(f, &options);
        for (options.correlate = CORRELATE_PAIRS; options.correlate <= CORRELATE_WHOLE;
             options.correlate++)
                for (options.threads = 1; options.threads <= 3; options.threads++) {
                        g_autofree char *again = find_paths(f, &options);

                        g_assert_cmpstr(again, ==, found);
                }
}

/* Both ends stamped, b's clock an hour ahead: the delays at b are as they are. */
static void test_clocks(Fixture *f, gconstpointer data)
{
        const gint64 ahead = 3600000 * MS;
        g_autofree char *found = NULL;

        (void)data;
        for (guint i = 0; i < 1000; i++) {
                gint64 t = random_below(f, 1000000 * MS);
                g_autofree char *id = g_strdup_printf("%u", i);

                test_add(f->loader, f->nodes, t, MSG_SENT, "a", "b", id);
                test_add(f->loader, f->nodes, t + 2 * MS + ahead, MSG_RECV, "a", "b", id);
                test_add(f->loader, f->nodes, t + 12 * MS + ahead, MSG_SENT, "b", "c", id);
                test_add(f->loader, f->nodes, t + 14 * MS, MSG_RECV, "b", "c", id);
                test_add(f->loader, f->nodes, t + 34 * MS, MSG_SENT, "c", "d", id);
        }
        finish(f);
        found = find_paths(f, &in_ms);
        g_assert_cmpstr(found, ==, "a>b>c>d 1000 30\n");
}

/* Calls a>b>c>d and back, b's clock ahead by so much, each message stamped by its sender. */
static void make_chain(Fixture *f, gint64 ahead)
{
        for (guint i = 0; i < 1000; i++) {
                gint64 t = random_below(f, 1000000 * MS);

                test_add(f->loader, f->nodes, t, CALL_SENT, "a", "b", "-");
                test_add(f->loader, f->nodes, t + 10 * MS + ahead, CALL_SENT, "b", "c", "-");
                test_add(f->loader, f->nodes, t + 14 * MS, CALL_SENT, "c", "d", "-");
                test_add(f->loader, f->nodes, t + 24 * MS, RET_SENT, "d", "c", "-");
                test_add(f->loader, f->nodes, t + 30 * MS, RET_SENT, "c", "b", "-");
                test_add(f->loader, f->nodes, t + 35 * MS + ahead, RET_SENT, "b", "a", "-");
        }
        finish(f);
}

static gboolean find_offset(Fixture *f, ClockOffset *found)
{
        g_autoptr(Convolution) run = convolution_new(f->traces, &in_ms, one_root(f, "a"));

        return convolution_find_clock_offset(run, FALSE, found);
}

/* b's clock is early or late: what is off by, within what a shortest delay allows; and put
 * right by that, nothing is off. */
static void test_clock_off(Fixture *f, gconstpointer ahead_ms)
{
        const gint64 ahead = GPOINTER_TO_INT(ahead_ms) * MS;
        ClockOffset found;

        make_chain(f, ahead);
        g_assert_true(find_offset(f, &found));
        g_assert_cmpuint(found.node, ==, test_node(f->nodes, "b"));
        g_assert_cmpint(ABS(found.offset - ahead), <=, 5 * MS);
        g_assert_cmpint(found.least, <=, ahead);
        g_assert_cmpint(found.most, >=, ahead);
        edge_traces_shift(f->traces, found.node, -found.offset);
        g_assert_false(find_offset(f, &found));
}

/* Where nothing says that there are several clocks, b's is proven: it is bounded from both sides.
 */
static void test_clock_proven(Fixture *f, gconstpointer ahead_ms)
{
        g_autoptr(Convolution) run = NULL;
        ClockOffset found;

        make_chain(f, GPOINTER_TO_INT(ahead_ms) * MS);
        run = convolution_new(f->traces, &in_ms, one_root(f, "a"));
        g_assert_true(convolution_find_clock_offset(run, TRUE, &found));
        g_assert_false(found.doubtful);
        g_assert_cmpuint(found.node, ==, test_node(f->nodes, "b"));
}

/* No clock is off where clocks agree. Nor is one where a client asks again as soon as it has its
 * answer, so that each message of a node goes before a message to the node. */
static void test_no_clock_off(Fixture *f, gconstpointer closed)
{
        ClockOffset found;
        gint64 t = 0;

        if (!closed)
                make_chain(f, 0);
        for (guint i = 0; closed && i < 2000; i++) {
                gint64 at_b = 10 * MS + random_below(f, 2 * MS), at_c = random_below(f, 30 * MS);

                send_message(f, t, "a", "b");
                send_message(f, t + at_b, "b", "c");
                send_message(f, t + at_b + at_c, "c", "b");
                send_message(f, t + at_b + at_c + 5 * MS, "b", "a");
                t += at_b + at_c + 5 * MS + 1;
        }
        if (closed)
                finish(f);
        g_assert_false(find_offset(f, &found));
}

/* b sends to c 4 ms before a asks b, and c answers after 2 ms. If b's clock were early by 4 ms, c
 * would answer before it is asked. If a's clock were late, d would send before. */
static void test_no_clock_helps(Fixture *f, gconstpointer data)
{
        ClockOffset found;

        (void)data;
        for (guint i = 0; i < 1000; i++) {
                gint64 t = 10 * MS + random_below(f, 1000000 * MS);

                test_add(f->loader, f->nodes, t, CALL_SENT, "a", "b", "-");
                test_add(f->loader, f->nodes, t - 4 * MS, CALL_SENT, "b", "c", "-");
                test_add(f->loader, f->nodes, t - 2 * MS, RET_SENT, "c", "b", "-");
                test_add(f->loader, f->nodes, t + 5 * MS, RET_SENT, "b", "a", "-");
                test_add(f->loader, f->nodes, t, CALL_SENT, "a", "d", "-");
                test_add(f->loader, f->nodes, t + 3 * MS, CALL_SENT, "d", "e", "-");
        }
        finish(f);
        g_assert_false(find_offset(f, &found));
}

/* What --method auto finds without some elements: "signature count" a line. */
static char *find_joint_paths(Fixture *f, guint without)
{
        ConvolutionOptions options = in_ms;
        g_autoptr(Convolution) run = NULL;
        g_autoptr(PathSet) set = NULL;
        GString *text = g_string_new(NULL);

        options.without = without;
        run = convolution_new(f->traces, &options, one_root(f, "a"));
        set = convolution_find_joint_paths(run);
        for (guint32 i = 0; i < path_set_size(set); i++) {
                const PathPattern *p = path_set_pattern(set, i);

                g_string_append_printf(text, "%s %" G_GUINT64_FORMAT "\n", p->signature, p->count);
        }
        return g_string_free(text, FALSE);
}

/* b tells f what c has answered, and d 100 ms after a has asked: when c has answered, so it is on
 * the same path as f. e it tells before. */
static void test_order(Fixture *f, gconstpointer data)
{
        g_autofree char *found = NULL, *beside = NULL;

        (void)data;
        for (guint i = 0; i < 1000; i++) {
                gint64 t = random_below(f, 1000000 * MS);
                gint64 back = t + 3 * MS + random_below(f, 40 * MS);

                send_message(f, t, "a", "b");
                send_message(f, t + MS, "b", "c");
                send_message(f, t + 2 * MS, "b", "e");
                send_message(f, back, "c", "b");
                send_message(f, back + 2 * MS, "b", "f");
                send_message(f, t + 100 * MS, "b", "d");
        }
        finish(f);
        beside = find_joint_paths(f, JOINT_ORDER);
        found = find_joint_paths(f, 0);
        g_assert_nonnull(strstr(beside, "a>b>d "));
        g_assert_nonnull(strstr(found, "a>b>c>b>d "));
        g_assert_null(strstr(found, "a>b>d "));
        g_assert_nonnull(strstr(found, "a>b>e "));
}

/* d answers b and c, but one answer in twenty seems to go to the other. All else that d sends them
 * are answers, so these are taken for mistakes. */
static void test_answers(Fixture *f, gconstpointer data)
{
        g_autofree char *found = NULL, *all = NULL;

        (void)data;
        for (guint i = 0; i < 4000; i++) {
                gint64 t = random_below(f, 1000000 * MS);
                const char *middle = i % 2 ? "b" : "c", *other = i % 2 ? "c" : "b";

                send_message(f, t, "a", middle);
                send_message(f, t + 5 * MS, middle, "d");
                send_message(f, t + 25 * MS, "d", i % 20 == 0 || i % 20 == 7 ? other : middle);
        }
        finish(f);
        all = find_joint_paths(f, JOINT_ANSWER | JOINT_RETURN);
        found = find_joint_paths(f, JOINT_RETURN);
        g_assert_nonnull(strstr(all, "a>b>d>c "));
        g_assert_null(strstr(found, "a>b>d>c "));
        g_assert_nonnull(strstr(found, "a>b>d>b "));
}

/* How many messages paths say took this one, by the line of its signature. */
static guint64 count_of(const char *found, const char *signature)
{
        g_autofree char *line = g_strconcat("\n", signature, " ", NULL);
        g_autofree char *lines = g_strconcat("\n", found, NULL);
        const char *at = strstr(lines, line);

        return at ? g_ascii_strtoull(at + strlen(line), NULL, 10) : 0;
}

/* One request in five asks c and d at once, all others one of the two: whichever is taken for the
 * one effect of these, the other is seen beside it. */
static void test_beside_few(Fixture *f, gconstpointer data)
{
        g_autofree char *found = NULL, *alone = NULL;

        (void)data;
        for (guint i = 0; i < 2000; i++) {
                gint64 t = random_below(f, 1000000 * MS);

                send_message(f, t, "a", "b");
                if (i % 10 < 8)
                        send_message(f, t + 5 * MS + random_below(f, 5 * MS), "b", "c");
                if (i % 10 >= 6)
                        send_message(f, t + 5 * MS + random_below(f, 5 * MS), "b", "d");
        }
        finish(f);
        alone = find_joint_paths(f, JOINT_BESIDE);
        found = find_joint_paths(f, 0);
        g_assert_cmpuint(count_of(alone, "a>b>c") + count_of(alone, "a>b>d"), <=, 2000);
        g_assert_cmpuint(count_of(found, "a>b>c"), >=, 1560);
        g_assert_cmpuint(count_of(found, "a>b>d"), >=, 760);
}

/* b asks c and e at once, and goes on to d 2 ms after the answer of e. That of c comes within these
 * in two of seven requests, where it is the last before d; of the others it is not. */
static void test_order_beside(Fixture *f, gconstpointer data)
{
        g_autofree char *found = NULL;

        (void)data;
        for (guint i = 0; i < 1000; i++) {
                gint64 t = random_below(f, 1000000 * MS);

                send_message(f, t, "a", "b");
                send_message(f, t + MS, "b", "c");
                send_message(f, t + 2 * MS, "b", "e");
                send_message(f, t + 20 * MS + random_below(f, 7 * MS), "c", "b");
                send_message(f, t + 25 * MS, "e", "b");
                send_message(f, t + 27 * MS, "b", "d");
        }
        finish(f);
        found = find_joint_paths(f, 0);
        g_assert_cmpuint(count_of(found, "a>b>c>b>d"), >=, 240);
        g_assert_cmpuint(count_of(found, "a>b>c>b>d"), <=, 330);
        g_assert_cmpuint(count_of(found, "a>b>e>b>d"), >=, 670);
        g_assert_cmpuint(count_of(found, "a>b>e>b>d"), <=, 760);
}

static void assert_roots(Fixture *f, const char *expected)
{
        g_autoptr(GArray) roots = convolution_find_roots(f->traces);
        g_autoptr(GString) names = g_string_new(NULL);

        for (guint i = 0; i < roots->len; i++)
                g_string_append_printf(names, "%s ",
                                       node_table_name(f->nodes, g_array_index(roots, NodeId, i)));
        g_assert_cmpstr(names->str, ==, expected);
}

static void test_root_answered(Fixture *f, gconstpointer data)
{
        (void)data;
        make_system(f);
        assert_roots(f, "a ");
}

/* A message of nobody's doing comes first, so that a seems to be spoken to. */
static void test_root_noise(Fixture *f, gconstpointer data)
{
        (void)data;
        send_message(f, -5, "b", "a");
        make_system(f);
        assert_roots(f, "a ");
}

static void test_roots_called(Fixture *f, gconstpointer data)
{
        (void)data;
        for (guint i = 0; i < 10; i++) {
                test_add(f->loader, f->nodes, 10 * i, CALL_SENT, "y", "web", "-");
                test_add(f->loader, f->nodes, 10 * i + 1, CALL_SENT, "web", "db", "-");
                test_add(f->loader, f->nodes, 10 * i + 2, RET_SENT, "db", "web", "-");
                test_add(f->loader, f->nodes, 10 * i + 3, RET_SENT, "web", "y", "-");
                test_add(f->loader, f->nodes, 10 * i + 5, CALL_SENT, "x", "web", "-");
        }
        finish(f);
        assert_roots(f, "x y ");
}

/* Delays of 5 to 30 ms: a quantum of no more than a fifth of the least and no less than a
 * fiftieth, and lags that go beyond the greatest. */
static void test_choice(Fixture *f, gconstpointer data)
{
        ConvolutionOptions options = CONVOLUTION_DEFAULTS;
        g_autoptr(GArray) roots = NULL;

        (void)data;
        make_system(f);
        roots = convolution_find_roots(f->traces);
        convolution_choose(f->traces, roots, &options);
        g_assert_cmpint(options.quantum, >=, MS / 10);
        g_assert_cmpint(options.quantum, <=, MS);
        g_assert_cmpint(options.max_delay, >=, 60 * MS);
        g_assert_cmpuint(options.min_messages, ==, 10);
}

/* Stamps of whole seconds: no quantum can be less. Delays of none but a second, in a trace of
 * eleven days: no correlation after an hour says anything. */
static void test_choice_seconds(Fixture *f, gconstpointer data)
{
        ConvolutionOptions options = CONVOLUTION_DEFAULTS;
        g_autoptr(GArray) roots = NULL;

        (void)data;
        for (guint i = 0; i < 1000; i++) {
                gint64 t = random_below(f, 1000000) * 1000 * MS;

                send_message(f, t, "a", "b");
                send_message(f, t + 1000 * MS * random_below(f, 2), "b", "c");
        }
        finish(f);
        roots = convolution_find_roots(f->traces);
        convolution_choose(f->traces, roots, &options);
        g_assert_cmpint(options.quantum, ==, 1000 * MS);
        g_assert_cmpint(options.max_delay, >=, 100 * options.quantum);
        g_assert_cmpint(options.max_delay, <=, 3600 * options.quantum);
}

/* The same where some stamps are finer, and a node's clock is 300 ms off. */
static void test_choice_coarse(Fixture *f, gconstpointer data)
{
        ConvolutionOptions options = CONVOLUTION_DEFAULTS;
        g_autoptr(GArray) roots = NULL;

        (void)data;
        for (guint i = 0; i < 1000; i++) {
                gint64 t = random_below(f, 1000000) * 1000 * MS;
                gint64 finer = i % 10 ? 0 : random_below(f, 1000 * MS);

                send_message(f, t + finer, "a", "b");
                send_message(f, t + 1300 * MS + finer, "b", "c");
        }
        finish(f);
        roots = convolution_find_roots(f->traces);
        convolution_choose(f->traces, roots, &options);
        g_assert_cmpint(options.quantum, ==, 1000 * MS);
}

/* A hundred mails at once, and a hundred others a day or nine later, once in sixty days. They say
 * nothing about the delay. Mails that are passed on within two seconds all through the trace do. */
static void test_choice_burst(Fixture *f, gconstpointer data)
{
        const gint64 second = 1000 * MS, day = 24 * 3600 * second;
        ConvolutionOptions options = CONVOLUTION_DEFAULTS;
        g_autoptr(GArray) roots = NULL;

        (void)data;
        for (guint i = 0; i < 1000; i++) {
                gint64 t = random_below(f, 60 * 24 * 3600) * second;

                send_message(f, t, "a", "b");
                send_message(f, t + second * random_below(f, 3), "b", "c");
        }
        for (guint i = 0; i < 100; i++) {
                send_message(f, 30 * day + i % 7 * second, "a", "b");
                send_message(f, (i % 2 ? 31 : 39) * day + i % 9 * second, "b", "c");
        }
        finish(f);
        roots = convolution_find_roots(f->traces);
        convolution_choose(f->traces, roots, &options);
        g_assert_cmpint(options.max_delay, <=, 3600 * second);
}

/* What comes to s on four edges is on each of them too little to look for causes in: that s has
 * none is no sign that it is a root. */
static void test_root_few(Fixture *f, gconstpointer data)
{
        static const char *const before[] = { "b", "c", "d", "e" };
        ConvolutionOptions options = in_ms;
        g_autoptr(Convolution) run = NULL;
        g_autoptr(PathSet) set = NULL;

        (void)data;
        for (guint i = 0; i < 1200; i++) {
                gint64 t = random_below(f, 1000000 * MS);
                const char *next = before[i % 4];

                send_message(f, t, "a", next);
                send_message(f, t + 10 * MS, next, i % 12 < 4 ? "s" : "z");
                if (i % 12 < 4)
                        send_message(f, t + 20 * MS, "s", "h");
        }
        finish(f);
        options.roots_guessed = TRUE;
        options.min_messages = 150;
        run = convolution_new(f->traces, &options, convolution_find_roots(f->traces));
        set = convolution_find_joint_paths(run);
        g_assert_cmpuint(run->roots->len, ==, 1);
        g_assert_cmpuint(g_array_index(run->roots, NodeId, 0), ==, test_node(f->nodes, "a"));
}

static void test_nothing(Fixture *f, gconstpointer data)
{
        ConvolutionOptions options = CONVOLUTION_DEFAULTS;
        g_autoptr(Convolution) run = NULL;
        g_autoptr(PathSet) set = NULL;
        GArray *roots;

        (void)data;
        finish(f);
        roots = convolution_find_roots(f->traces);
        convolution_choose(f->traces, roots, &options);
        run = convolution_new(f->traces, &options, roots);
        set = convolution_find_paths(run);
        g_assert_cmpuint(path_set_size(set), ==, 0);
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
#define TEST(name, function)                                                                       \
        g_test_add("/convolution/" name, Fixture, NULL, set_up, function, tear_down)
        TEST("paths", test_paths);
        TEST("graph", test_graph);
        TEST("ends", test_ends);
        TEST("same", test_same);
        TEST("clocks", test_clocks);
        g_test_add("/convolution/clock-early", Fixture, GINT_TO_POINTER(-20), set_up,
                   test_clock_off, tear_down);
        g_test_add("/convolution/clock-early-a-little", Fixture, GINT_TO_POINTER(-12), set_up,
                   test_clock_off, tear_down);
        g_test_add("/convolution/clock-proven-early", Fixture, GINT_TO_POINTER(-20), set_up,
                   test_clock_proven, tear_down);
        g_test_add("/convolution/clock-proven-late", Fixture, GINT_TO_POINTER(20), set_up,
                   test_clock_proven, tear_down);
        g_test_add("/convolution/clock-late", Fixture, GINT_TO_POINTER(20), set_up, test_clock_off,
                   tear_down);
        TEST("no-clock-off", test_no_clock_off);
        g_test_add("/convolution/no-clock-off-closed", Fixture, GINT_TO_POINTER(TRUE), set_up,
                   test_no_clock_off, tear_down);
        TEST("no-clock-helps", test_no_clock_helps);
        TEST("beside-few", test_beside_few);
        TEST("order", test_order);
        TEST("order-beside", test_order_beside);
        TEST("answers", test_answers);
        TEST("root-answered", test_root_answered);
        TEST("root-noise", test_root_noise);
        TEST("roots-called", test_roots_called);
        TEST("root-few", test_root_few);
        TEST("choice", test_choice);
        TEST("choice-seconds", test_choice_seconds);
        TEST("choice-coarse", test_choice_coarse);
        TEST("choice-burst", test_choice_burst);
        TEST("nothing", test_nothing);
        return g_test_run();
}
