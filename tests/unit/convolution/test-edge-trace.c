/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Edge traces: which stamp counts at which end, which two are of one message, and what
 * clients and callers are.
 */
#include "tests/unit/convolution/messages.h"

typedef struct {
        NodeTable *nodes;
        EdgeTraceLoader *loader;
        EdgeTraces *traces;
} Fixture;

static void set_up(Fixture *f, gconstpointer data)
{
        (void)data;
        f->nodes = node_table_new();
        f->loader = edge_trace_loader_new(f->nodes);
        f->traces = NULL;
}

static void tear_down(Fixture *f, gconstpointer data)
{
        (void)data;
        edge_trace_loader_free(f->loader);
        edge_traces_free(f->traces);
        node_table_free(f->nodes);
}

static void add(Fixture *f, gint64 time, MessageOp op, const char *from, const char *to,
                const char *id)
{
        test_add(f->loader, f->nodes, time, op, from, to, id);
}

static void finish(Fixture *f, gboolean fold)
{
        f->traces = edge_trace_loader_finish(g_steal_pointer(&f->loader), fold);
}

static const EdgeTrace *edge(Fixture *f, const char *from, const char *to)
{
        const EdgeTrace *e =
                edge_traces_lookup(f->traces, test_node(f->nodes, from), test_node(f->nodes, to));

        g_assert_nonnull(e);
        return e;
}

static void assert_times(const gint64 *times, guint32 n, const gint64 *expected, guint32 n_expected)
{
        g_assert_cmpmem(times, n * sizeof *times, expected, n_expected * sizeof *expected);
}
#define ASSERT_TIMES(times, n, ...)                                                                \
        assert_times(times, n, (const gint64[]){ __VA_ARGS__ },                                    \
                     sizeof((const gint64[]){ __VA_ARGS__ }) / sizeof(gint64))

/* One end's stamps serve for both, whatever kind of message it is. */
static void test_one_end(Fixture *f, gconstpointer data)
{
        (void)data;
        add(f, 10, CALL_SENT, "a", "b", "x");
        add(f, 11, RET_RECV, "b", "a", "x");
        add(f, 12, MSG_SENT, "a", "b", "-");
        add(f, 15, RET_SENT, "a", "b", "y");
        finish(f, TRUE);
        ASSERT_TIMES(edge(f, "a", "b")->sent, edge(f, "a", "b")->n, 10, 12, 15);
        g_assert_true(edge(f, "a", "b")->received == edge(f, "a", "b")->sent);
        g_assert_null(edge(f, "a", "b")->arrival);
        ASSERT_TIMES(edge(f, "b", "a")->received, edge(f, "b", "a")->n, 11);
        g_assert_cmpint(f->traces->first, ==, 10);
        g_assert_cmpint(f->traces->last, ==, 15);
        g_assert_cmpuint(f->traces->messages, ==, 4);
        g_assert_null(
                edge_traces_lookup(f->traces, test_node(f->nodes, "a"), test_node(f->nodes, "a")));
}

/* Each end's own stamps, on clocks that disagree; the messages overtake each other. */
static void test_both_ends(Fixture *f, gconstpointer data)
{
        const EdgeTrace *e;

        (void)data;
        add(f, 10, MSG_SENT, "a", "b", "one");
        add(f, 20, MSG_SENT, "a", "b", "two");
        add(f, 30, MSG_SENT, "a", "b", "a longer id than sixteen bytes");
        add(f, 5, MSG_RECV, "a", "b", "two");
        add(f, 6, MSG_RECV, "a", "b", "one");
        add(f, 40, MSG_SENT, "a", "b", "lost");
        add(f, 9, MSG_RECV, "a", "b", "a longer id than sixteen bytes");
        add(f, 2, MSG_RECV, "a", "b", "from before");
        finish(f, TRUE);
        e = edge(f, "a", "b");
        g_assert_cmpuint(e->n, ==, 5);
        g_assert_cmpuint(e->both, ==, 3);
        ASSERT_TIMES(e->sent, e->n, 2, 10, 20, 30, 40);
        ASSERT_TIMES(e->received, e->n, 2, 5, 6, 9, 40);
        g_assert_cmpuint(edge_trace_arrival(e, 0), ==, 0);
        g_assert_cmpuint(edge_trace_arrival(e, 1), ==, 2);
        g_assert_cmpuint(edge_trace_arrival(e, 2), ==, 1);
        g_assert_cmpuint(edge_trace_arrival(e, 3), ==, 3);
}

/* The same id for a call and for a message, and twice for calls. */
static void test_same_ids(Fixture *f, gconstpointer data)
{
        const EdgeTrace *e;

        (void)data;
        add(f, 10, CALL_SENT, "a", "b", "x");
        add(f, 20, MSG_SENT, "a", "b", "x");
        add(f, 21, MSG_RECV, "a", "b", "x");
        add(f, 22, CALL_RECV, "a", "b", "x");
        add(f, 30, CALL_SENT, "a", "b", "x");
        add(f, 33, CALL_RECV, "a", "b", "x");
        finish(f, TRUE);
        e = edge(f, "a", "b");
        ASSERT_TIMES(e->sent, e->n, 10, 20, 30);
        ASSERT_TIMES(e->received, e->n, 21, 22, 33);
        g_assert_cmpuint(edge_trace_arrival(e, 0), ==, 1);
        g_assert_cmpuint(edge_trace_arrival(e, 1), ==, 0);
}

/* Without ids they go in order, if both ends saw as many; else one end has to do. */
static void test_no_ids(Fixture *f, gconstpointer data)
{
        (void)data;
        add(f, 10, MSG_SENT, "a", "b", "-");
        add(f, 12, MSG_RECV, "a", "b", "-");
        add(f, 20, MSG_SENT, "a", "b", "-");
        add(f, 23, MSG_RECV, "a", "b", "-");
        add(f, 30, MSG_SENT, "a", "c", "-");
        add(f, 31, MSG_SENT, "a", "c", "-");
        add(f, 39, MSG_RECV, "a", "c", "-");
        finish(f, TRUE);
        ASSERT_TIMES(edge(f, "a", "b")->sent, edge(f, "a", "b")->n, 10, 20);
        ASSERT_TIMES(edge(f, "a", "b")->received, edge(f, "a", "b")->n, 12, 23);
        ASSERT_TIMES(edge(f, "a", "c")->sent, edge(f, "a", "c")->n, 30, 31);
        ASSERT_TIMES(edge(f, "a", "c")->received, edge(f, "a", "c")->n, 30, 31);
        g_assert_cmpuint(f->traces->unmatched, ==, 1);
}

static void test_disorder(Fixture *f, gconstpointer data)
{
        (void)data;
        add(f, 30, MSG_SENT, "a", "b", "-");
        add(f, 10, MSG_SENT, "a", "b", "-");
        add(f, 20, MSG_SENT, "a", "b", "-");
        finish(f, TRUE);
        ASSERT_TIMES(edge(f, "a", "b")->sent, edge(f, "a", "b")->n, 10, 20, 30);
}

/* More than 16 clients of one server, whose messages do not say that they are calls. */
static void test_fold(Fixture *f, gconstpointer data)
{
        NodeId client, web;

        (void)data;
        for (int i = 0; i < 20; i++) {
                g_autofree char *name = g_strdup_printf("user%d", i);

                add(f, 100 * i, MSG_SENT, name, "web", "-");
                add(f, 100 * i + 5, MSG_SENT, "web", "db", "-");
                add(f, 100 * i + 7, MSG_SENT, "db", "web", "-");
                add(f, 100 * i + 9, MSG_SENT, "web", name, "-");
        }
        finish(f, TRUE);
        client = test_node(f->nodes, "client");
        web = test_node(f->nodes, "web");
        g_assert_cmpuint(f->traces->folded, ==, 20);
        g_assert_cmpuint(f->traces->n_edges, ==, 4);
        g_assert_cmpuint(edge(f, "client", "web")->n, ==, 20);
        g_assert_cmpint(edge(f, "client", "web")->sent[19], ==, 1900);
        g_assert_cmpuint(edge(f, "web", "client")->n, ==, 20);
        g_assert_false(f->traces->spoken_to[client]);
        g_assert_true(f->traces->spoken_to[web]);
        g_assert_false(f->traces->called[web]);
}

/* The index: edges that leave a node, and edges that enter it. */
static void test_index(Fixture *f, gconstpointer data)
{
        NodeId b;
        const EdgeTraces *t;

        (void)data;
        add(f, 1, CALL_SENT, "b", "a", "1");
        add(f, 2, CALL_SENT, "c", "b", "1");
        add(f, 3, CALL_SENT, "b", "c", "1");
        add(f, 4, CALL_SENT, "a", "b", "1");
        add(f, 5, RET_SENT, "b", "d", "1");
        finish(f, FALSE);
        t = f->traces;
        b = test_node(f->nodes, "b");
        g_assert_cmpuint(t->first_out[b + 1] - t->first_out[b], ==, 3);
        for (guint i = t->first_out[b]; i < t->first_out[b + 1]; i++)
                g_assert_cmpuint(t->edges[i].from, ==, b);
        g_assert_cmpuint(t->first_in[b + 1] - t->first_in[b], ==, 2);
        for (guint i = t->first_in[b]; i < t->first_in[b + 1]; i++)
                g_assert_cmpuint(t->edges[t->in[i]].to, ==, b);
        g_assert_true(t->called[b]);
        g_assert_true(t->calls[test_node(f->nodes, "d")]); /* it got a return */
        g_assert_false(t->called[test_node(f->nodes, "d")]);
}

/* What a node stamped moves, at whichever end that was, and nothing else. */
static void test_shift(Fixture *f, gconstpointer data)
{
        (void)data;
        add(f, 10, MSG_SENT, "a", "b", "-");
        add(f, 11, MSG_RECV, "b", "c", "-");
        add(f, 12, MSG_SENT, "b", "d", "one");
        add(f, 13, MSG_RECV, "b", "d", "one");
        add(f, 14, MSG_SENT, "d", "b", "two");
        add(f, 15, MSG_RECV, "d", "b", "two");
        finish(f, TRUE);
        edge_traces_shift(f->traces, test_node(f->nodes, "b"), 100);
        edge_traces_shift(f->traces, test_node(f->nodes, "c"), -9);
        ASSERT_TIMES(edge(f, "a", "b")->received, 1, 10);
        ASSERT_TIMES(edge(f, "b", "c")->sent, 1, 2);
        ASSERT_TIMES(edge(f, "b", "d")->sent, 1, 112);
        ASSERT_TIMES(edge(f, "b", "d")->received, 1, 13);
        ASSERT_TIMES(edge(f, "d", "b")->sent, 1, 14);
        ASSERT_TIMES(edge(f, "d", "b")->received, 1, 115);
        g_assert_cmpint(f->traces->first, ==, 2);
        g_assert_cmpint(f->traces->last, ==, 115);
}

static void test_nothing(Fixture *f, gconstpointer data)
{
        (void)data;
        finish(f, TRUE);
        g_assert_cmpuint(f->traces->n_edges, ==, 0);
        g_assert_cmpint(f->traces->first, ==, NO_TIME);
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
#define TEST(name, function)                                                                       \
        g_test_add("/edge-trace/" name, Fixture, NULL, set_up, function, tear_down)
        TEST("one-end", test_one_end);
        TEST("both-ends", test_both_ends);
        TEST("same-ids", test_same_ids);
        TEST("no-ids", test_no_ids);
        TEST("disorder", test_disorder);
        TEST("fold", test_fold);
        TEST("index", test_index);
        TEST("shift", test_shift);
        TEST("nothing", test_nothing);
        return g_test_run();
}
