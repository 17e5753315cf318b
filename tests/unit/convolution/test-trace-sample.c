/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Samples of traces: which messages are in them, and that each keeps both of its stamps.
 */
#include "convolution/joint/joint-search.h"

#include "tests/unit/convolution/messages.h"

enum { N = 10000, STEP = 100 }; /* messages of a>b, and ns between them */

typedef struct {
        NodeTable *nodes;
        EdgeTraces *all, *sample;
} Fixture;

/* From 20 to 1019 ns: many messages overtake others. */
static gint64 network_of(gint64 sent)
{
        return 20 + sent / STEP * 379 % 1000;
}

/* a>b stamped at both ends; b>c at one; c>d once, at the very start. */
static void set_up(Fixture *f, gconstpointer data)
{
        EdgeTraceLoader *loader;

        (void)data;
        f->nodes = node_table_new();
        f->sample = NULL;
        loader = edge_trace_loader_new(f->nodes);
        test_add(loader, f->nodes, 0, MSG_SENT, "c", "d", "-");
        for (gint64 i = 0; i < N; i++) {
                g_autofree char *id = g_strdup_printf("%d", (int)i);

                test_add(loader, f->nodes, i * STEP, MSG_SENT, "a", "b", id);
                test_add(loader, f->nodes, i * STEP + network_of(i * STEP), MSG_RECV, "a", "b", id);
                test_add(loader, f->nodes, i * STEP + 50, MSG_SENT, "b", "c", "-");
        }
        f->all = edge_trace_loader_finish(loader, FALSE);
}

static void tear_down(Fixture *f, gconstpointer data)
{
        (void)data;
        edge_traces_free(f->sample);
        edge_traces_free(f->all);
        node_table_free(f->nodes);
}

static const EdgeTrace *edge(const Fixture *f, const char *from, const char *to)
{
        const EdgeTrace *e =
                edge_traces_lookup(f->sample, test_node(f->nodes, from), test_node(f->nodes, to));

        g_assert_nonnull(e);
        return e;
}

/* How many stretches without a gap there are, and whether all are as long and as far apart as the
 * others, give or take a message. */
static guint count_stretches(const EdgeTrace *e)
{
        guint n = 1, first = 0, length = 0;

        for (guint32 i = 1; i <= e->n; i++) {
                if (i < e->n && e->sent[i] - e->sent[i - 1] == STEP)
                        continue;
                if (length)
                        g_assert_cmpint(ABS((gint)(i - first) - (gint)length), <=, 1);
                length = i - first;
                first = i;
                n += i < e->n;
        }
        return n;
}

/* About as many as wanted, spread over all of the trace, with their edges as they were. */
static void test_spread(Fixture *f, gconstpointer data)
{
        const EdgeTrace *e;

        (void)data;
        f->sample = trace_sample_new(f->all, 2000, 10 * STEP);
        g_assert_cmpuint(f->sample->n_edges, ==, f->all->n_edges);
        g_assert_cmpuint(f->sample->messages, >=, 1960);
        g_assert_cmpuint(f->sample->messages, <=, 2040);
        e = edge(f, "b", "c");
        g_assert_cmpuint(count_stretches(e), ==, 16);
        g_assert_cmpint(e->sent[0], >, 0);
        g_assert_cmpint(e->sent[0], <, N * STEP / 16);
        g_assert_cmpint(e->sent[e->n - 1], >, (gint64)N * STEP * 15 / 16);
        g_assert_true(e->sent == e->received);
        /* the time that it covers is a tenth of all */
        g_assert_cmpint(
                ABS((f->sample->last - f->sample->first) * 10 - (f->all->last - f->all->first)), <,
                N * STEP / 20);
}

/* Stretches are not cut shorter than a delay may be; if all is less, there is one, in the middle.
 */
static void test_shortest(Fixture *f, gconstpointer data)
{
        const EdgeTrace *e;

        (void)data;
        f->sample = trace_sample_new(f->all, 2000, 300 * STEP);
        g_assert_cmpuint(count_stretches(edge(f, "b", "c")), ==, 3);
        edge_traces_free(f->sample);
        f->sample = trace_sample_new(f->all, 2000, N * (gint64)STEP);
        e = edge(f, "b", "c");
        g_assert_cmpuint(count_stretches(e), ==, 1);
        g_assert_cmpint(ABS(e->sent[0] + e->sent[e->n - 1] - N * STEP), <, N * STEP / 50);
}

/* Messages that overtook others keep their own receptions; these are in order. */
static void test_both_stamps(Fixture *f, gconstpointer data)
{
        const EdgeTrace *e;
        gboolean overtaken = FALSE;

        (void)data;
        f->sample = trace_sample_new(f->all, 2000, 10 * STEP);
        e = edge(f, "a", "b");
        g_assert_cmpuint(e->n, >, 900);
        g_assert_nonnull(e->arrival);
        for (guint32 i = 0; i < e->n; i++) {
                g_assert_cmpint(e->received[edge_trace_arrival(e, i)] - e->sent[i], ==,
                                network_of(e->sent[i]));
                overtaken |= edge_trace_arrival(e, i) != i;
                if (i > 0) {
                        g_assert_cmpint(e->sent[i], >, e->sent[i - 1]);
                        g_assert_cmpint(e->received[i], >=, e->received[i - 1]);
                }
        }
        g_assert_true(overtaken);
}

/* An edge without a message in any stretch is still there, and what is looked up of nodes. */
static void test_empty_edge(Fixture *f, gconstpointer data)
{
        NodeId c, d;

        (void)data;
        f->sample = trace_sample_new(f->all, 100, 10 * STEP);
        c = test_node(f->nodes, "c");
        d = test_node(f->nodes, "d");
        g_assert_cmpuint(edge(f, "c", "d")->n, ==, 0);
        g_assert_cmpuint(f->sample->first_out[c + 1] - f->sample->first_out[c], ==, 1);
        g_assert_cmpuint(f->sample->first_in[d + 1] - f->sample->first_in[d], ==, 1);
        g_assert_true(f->sample->spoken_to[d]);
        g_assert_cmpuint(f->sample->messages, ==, edge(f, "a", "b")->n + edge(f, "b", "c")->n);
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
#define TEST(name, function)                                                                       \
        g_test_add("/trace-sample/" name, Fixture, NULL, set_up, function, tear_down)
        TEST("spread", test_spread);
        TEST("shortest", test_shortest);
        TEST("both-stamps", test_both_stamps);
        TEST("empty-edge", test_empty_edge);
        return g_test_run();
}
