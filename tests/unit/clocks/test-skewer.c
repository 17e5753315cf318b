/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Moving stamps: the arithmetic, and the trace that comes out against one that is sorted
 * as a whole.
 */
#include "clocks/skewer.h"

#include <stdlib.h>
#include <string.h>

#include "tests/unit/scratch.h"
#include "base/error.h"
#include "tracefmt/trace-reader.h"

#define MS G_GINT64_CONSTANT(1000000)

/* 2003-03-14. */
#define BEGIN G_GINT64_CONSTANT(1047680084000000000)

/* --- one stamp --------------------------------------------------------------- */

static void test_apply(void)
{
        Skew skew = { .offset = 30 * MS, .drift = 50 * SKEW_PPM, .since = BEGIN };

        g_assert_cmpint(skew_apply(&skew, BEGIN), ==, BEGIN + 30 * MS);
        g_assert_cmpint(skew_apply(&skew, BEGIN + 1000 * MS), ==, BEGIN + 1030 * MS + 50000);
        g_assert_cmpint(skew_apply(&skew, BEGIN - 1000 * MS), ==, BEGIN - 970 * MS - 50000);
        skew.remove = TRUE;
        g_assert_cmpint(skew_apply(&skew, BEGIN + 1030 * MS + 50000), ==, BEGIN + 1000 * MS);
        skew = (Skew){ .offset = MAX_STAMP, .since = MAX_STAMP };
        g_assert_cmpint(skew_apply(&skew, MAX_STAMP), ==, 2 * MAX_STAMP);
        skew.drift = SKEW_MAX_DRIFT;
        g_assert_cmpint(skew_apply(&skew, MAX_STAMP), ==, 2 * MAX_STAMP);
        skew = (Skew){ .offset = -MAX_STAMP, .drift = SKEW_MAX_DRIFT, .since = MAX_STAMP };
        g_assert_cmpint(skew_apply(&skew, -MAX_STAMP), ==, G_MININT64);
}

/* There and back: the same, or 1 ns off with a slow clock; and never back in time. */
static void test_inverse(void)
{
        g_autoptr(GRand) rand = g_rand_new_with_seed(1);

        for (guint i = 0; i < 200000; i++) {
                Skew skew = { .offset = g_rand_int(rand) * (gint64)g_rand_int_range(rand, -9, 9),
                              .since = BEGIN + g_rand_int(rand) };
                gint64 time = BEGIN + (gint64)(g_rand_double(rand) * 1e17), there, back;

                skew.drift = g_rand_double_range(rand, -1, 1) *
                             (g_rand_boolean(rand) ? SKEW_MAX_DRIFT : 100 * SKEW_PPM);
                there = skew_apply(&skew, time);
                g_assert_cmpint(there, <=, skew_apply(&skew, time + 1));
                skew.remove = TRUE;
                back = skew_apply(&skew, there);
                g_assert_cmpint(ABS(back - time), <=, skew.drift < 0);
                g_assert_cmpint(back, <=, skew_apply(&skew, there + 1));
        }
}

static void test_facts(void)
{
        static const char *const refused[] = {
                "skew added: ",
                "skew added: WS2",
                "skew removed: WS2 +0.03 s +50 ppm since",
                "skew added: WS2 +0.03 s +50 ppm since 1047680084.5 x",
                "skew added: WS2 +0.03 ms +50 ppm since 1047680084.5",
                "skew added: WS2 +0.03x s +50 ppm since 1047680084.5",
                "skew added: WS2 +0.03 s +100001 ppm since 1047680084.5",
                "skew added: WS2 +0.03 s +50 ppm since 99999999999",
                "skew added: %zz +0.03 s +50 ppm since 1047680084.5",
        };
        static const Skew skews[] = {
                { .offset = 30 * MS, .drift = 50 * SKEW_PPM, .since = BEGIN + 192098489 },
                { .offset = -1, .drift = -1, .since = -1, .remove = TRUE },
                { .offset = MAX_STAMP, .drift = -SKEW_MAX_DRIFT, .since = -MAX_STAMP },
        };
        g_autoptr(NodeTable) nodes = node_table_new();
        NodeId node = node_table_add(nodes, "web server", 10);
        Skew back;

        for (guint i = 0; i < G_N_ELEMENTS(skews); i++) {
                Skew skew = skews[i];
                g_autofree char *fact = NULL;
                g_autoptr(GError) error = NULL;

                skew.node = node;
                fact = skew_to_fact(&skew, nodes);
                g_assert_true(skew_is_fact(fact));
                g_assert_true(skew_from_fact(&back, fact, nodes, &error));
                g_assert_no_error(error);
                g_assert_cmpint(back.node, ==, node);
                g_assert_cmpint(back.offset, ==, skew.offset);
                g_assert_cmpint(back.drift, ==, skew.drift);
                g_assert_cmpint(back.since, ==, skew.since);
                g_assert_cmpint(back.remove, ==, skew.remove);
                if (i == 0)
                        g_assert_cmpstr(fact, ==,
                                        "skew added: web%20server +0.030000000 s +50.000000000 "
                                        "ppm since 1047680084.192098489");
        }
        for (guint i = 0; i < G_N_ELEMENTS(refused); i++) {
                g_autoptr(GError) error = NULL;

                g_assert_false(skew_from_fact(&back, refused[i], nodes, &error));
                g_assert_error(error, RAVEL_ERROR, RAVEL_ERROR_INPUT);
        }
        g_assert_false(skew_is_fact("source: shop.pcap"));
}

/* --- a whole trace ----------------------------------------------------------- */

enum { N_NODES = 5 };

/* Moves the messages, with facts between them, and gives what was written. */
static char *skew_trace(const GArray *messages, NodeTable *nodes, const Skew *skews, guint n,
                        guint64 *most_waiting)
{
        g_autofree char *path = scratch_path("out"), *text = NULL;
        g_autoptr(GError) error = NULL;
        g_autoptr(TraceWriter) out = trace_writer_new(path, nodes, FALSE, &error);
        g_autoptr(Skewer) skewer = skewer_new(skews, n, nodes, out);

        for (guint i = 0; i < messages->len; i++) {
                const Message *m = &g_array_index(messages, Message, i);

                if (m->id_length && m->id[m->id_length - 1] == '7') {
                        g_autofree char *fact =
                                g_strdup_printf("before: %.*s", (int)m->id_length, m->id);

                        skewer_add_fact(skewer, fact);
                }
                g_assert_true(skewer_add(skewer, m, &error));
        }
        skewer_add_fact(skewer, "end:  of it\t ");
        g_assert_true(skewer_finish(skewer, &error));
        g_assert_no_error(error);
        if (most_waiting)
                *most_waiting = skewer_most_waiting(skewer);
        g_assert_true(trace_writer_close(g_steal_pointer(&out), &error));
        g_assert_true(g_file_get_contents(path, &text, NULL, &error));
        return g_steal_pointer(&text);
}

/* Messages at random, with many equal stamps; their texts are in texts. */
static GArray *random_messages(GRand *rand, guint n, int gap, GStringChunk *texts)
{
        GArray *messages = g_array_new(FALSE, FALSE, sizeof(Message));
        gint64 time = BEGIN;

        for (guint i = 0; i < n; i++) {
                g_autofree char *id = g_strdup_printf("%x", i);
                Message m = { .op = g_rand_int_range(rand, 0, N_MESSAGE_OPS),
                              .sender = g_rand_int_range(rand, 0, N_NODES),
                              .receiver = g_rand_int_range(rand, 0, N_NODES) };

                m.time = time += g_rand_int_range(rand, 0, gap);
                message_set_id(&m, g_string_chunk_insert(texts, i % 10 ? id : "-"),
                               i % 10 ? strlen(id) : 1);
                m.attrs = g_rand_boolean(rand) ? "label=GET%20/  x=1" : "";
                m.attrs_length = strlen(m.attrs);
                g_array_append_val(messages, m);
        }
        return messages;
}

static NodeTable *five_nodes(void)
{
        static const char *const names[N_NODES] = { "web", "auth", "db", "client", "cache 1" };
        NodeTable *nodes = node_table_new();

        for (guint i = 0; i < N_NODES; i++)
                node_table_add(nodes, names[i], strlen(names[i]));
        return nodes;
}

/* The order that is meant, in the plainest way. */
typedef struct {
        Message m;
        guint line;
        const char *observer;
} Line;

static int by_order(const void *a, const void *b)
{
        const Line *x = a, *y = b;
        int names = strcmp(x->observer, y->observer);

        if (x->m.time != y->m.time)
                return x->m.time < y->m.time ? -1 : 1;
        if (message_is_return(&x->m) != message_is_return(&y->m))
                return message_is_return(&x->m) ? 1 : -1;
        return names ? names : x->line < y->line ? -1 : 1;
}

static char *sort_trace(const GArray *messages, NodeTable *nodes, const Skew *skews, guint n)
{
        g_autofree Line *lines = g_new0(Line, messages->len + 1);
        GString *text = g_string_new("# ravel trace 1\n");

        for (guint i = 0; i < messages->len; i++) {
                NodeId at;

                lines[i] = (Line){ g_array_index(messages, Message, i), i, NULL };
                at = message_observer(&lines[i].m);
                lines[i].observer = node_table_written(nodes, at);
                for (guint k = 0; k < n; k++)
                        if (skews[k].node == at)
                                lines[i].m.time = skew_apply(&skews[k], lines[i].m.time);
        }
        qsort(lines, messages->len, sizeof *lines, by_order);
        for (guint i = 0; i < messages->len; i++) {
                const Message *m = &lines[i].m;

                if (m->id_length && m->id[m->id_length - 1] == '7')
                        g_string_append_printf(text, "# before: %.*s\n", (int)m->id_length, m->id);
                g_string_append_printf(text, "%" G_GINT64_FORMAT ".%09d\t%s\t%s\t%s\t%.*s%s%.*s\n",
                                       m->time / 1000000000, (int)(m->time % 1000000000),
                                       message_op_name(m->op), node_table_written(nodes, m->sender),
                                       node_table_written(nodes, m->receiver),
                                       m->id_length ? (int)m->id_length : 1,
                                       m->id_length ? m->id : "-", m->attrs_length ? "\t" : "",
                                       (int)m->attrs_length, m->attrs);
        }
        g_string_append(text, "# end:  of it\t \n");
        return g_string_free(text, FALSE);
}

static void test_order(void)
{
        for (guint seed = 0; seed < 300; seed++) {
                g_autoptr(GRand) rand = g_rand_new_with_seed(seed);
                g_autoptr(NodeTable) nodes = five_nodes();
                GStringChunk *texts = g_string_chunk_new(4096);
                g_autoptr(GArray) messages = random_messages(rand, g_rand_int_range(rand, 0, 400),
                                                             seed % 2 ? 3 : 100000, texts);
                Skew skews[6];
                guint n = g_rand_int_range(rand, 0, 7);

                for (guint i = 0; i < n; i++)
                        skews[i] = (Skew){ .node = g_rand_int_range(rand, 0, N_NODES),
                                           .offset = g_rand_int_range(rand, -200, 200) *
                                                     (seed % 2 ? 1 : 10000),
                                           .drift = g_rand_int_range(rand, -1, 2) * SKEW_PPM *
                                                    (gint64)g_rand_int_range(rand, 0, 100000),
                                           .since = BEGIN,
                                           .remove = g_rand_boolean(rand) };
                g_autofree char *text = skew_trace(messages, nodes, skews, n, NULL);
                g_autofree char *expected = sort_trace(messages, nodes, skews, n);

                g_assert_cmpstr(text, ==, expected);
                g_string_chunk_free(texts);
        }
}

/* Memory is for the window, not for the trace. */
static void test_waiting(void)
{
        g_autoptr(GRand) rand = g_rand_new_with_seed(1);
        g_autoptr(NodeTable) nodes = five_nodes();
        GStringChunk *texts = g_string_chunk_new(4096);
        g_autoptr(GArray) messages = random_messages(rand, 100000, 200000, texts);
        Skew skews[] = { { .node = 0, .offset = 30 * MS }, { .node = 1, .offset = -30 * MS } };
        guint64 most;

        g_free(skew_trace(messages, nodes, NULL, 0, &most));
        g_assert_cmpuint(most, <=, 20); /* equal stamps, and one more */
        g_free(skew_trace(messages, nodes, skews, 2, &most));
        /* One in 0.1 ms, and 60 ms: at most 600 and what chance adds. */
        g_assert_cmpuint(most, >, 300);
        g_assert_cmpuint(most, <, 800);
        g_string_chunk_free(texts);
}

/* The limits are those of the reader: what is just inside is written and read again. */
static void test_range(void)
{
        for (int past = 0; past < 2; past++)
                for (int sign = -1; sign <= 1; sign += 2) {
                        g_autoptr(NodeTable) nodes = five_nodes();
                        g_autofree char *path = scratch_path("out");
                        g_autoptr(GError) error = NULL;
                        g_autoptr(TraceWriter) out = trace_writer_new(path, nodes, FALSE, &error);
                        TraceReaderOptions options = TRACE_READER_DEFAULTS;
                        g_autoptr(TraceReader) reader = NULL;
                        Message m = { .time = sign, .id = "", .attrs = "" };
                        Skew skew = { .offset = sign * (MAX_STAMP - 1 + past) };
                        g_autoptr(Skewer) skewer = skewer_new(&skew, 1, nodes, out);

                        g_assert_cmpint(skewer_add(skewer, &m, &error), ==, !past);
                        if (past) {
                                g_assert_error(error, RAVEL_ERROR, RAVEL_ERROR_USAGE);
                                continue;
                        }
                        g_assert_true(skewer_finish(skewer, &error));
                        g_assert_true(trace_writer_close(g_steal_pointer(&out), &error));
                        reader = trace_reader_new(path, nodes, &options, &error);
                        g_assert_cmpint(trace_reader_next(reader, &m, &error), ==, 1);
                        g_assert_cmpint(m.time, ==, sign * MAX_STAMP);
                        g_assert_false(trace_parse_time("4611486018", &m.time, NULL));
                }
}

int main(int argc, char **argv)
{
        int status;

        g_test_init(&argc, &argv, NULL);
        scratch_make();
        g_test_add_func("/skew/apply", test_apply);
        g_test_add_func("/skew/inverse", test_inverse);
        g_test_add_func("/skew/facts", test_facts);
        g_test_add_func("/skewer/order", test_order);
        g_test_add_func("/skewer/waiting", test_waiting);
        g_test_add_func("/skewer/range", test_range);
        status = g_test_run();
        scratch_remove();
        return status;
}
