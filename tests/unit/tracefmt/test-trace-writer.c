/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What is written is what is read: every time, operation, name, id and attribute.
 */
#include "tracefmt/trace-writer.h"

#include <string.h>

#include "tests/unit/scratch.h"
#include "base/error.h"
#include "tracefmt/trace-reader.h"

static TraceWriter *open_writer(const char *path, const NodeTable *nodes, gboolean live)
{
        g_autoptr(GError) error = NULL;
        TraceWriter *w = trace_writer_new(path, nodes, live, &error);

        g_assert_no_error(error);
        return w;
}

static Message some_message(const NodeTable *nodes, gint64 time, MessageOp op, const char *id,
                            const char *attrs)
{
        g_assert_cmpuint(node_table_size(nodes), >=, 2);
        return (Message){ .time = time,
                          .op = op,
                          .sender = 0,
                          .receiver = 1,
                          .id = id,
                          .id_length = strlen(id),
                          .attrs = attrs,
                          .attrs_length = strlen(attrs) };
}

static NodeTable *two_nodes(void)
{
        NodeTable *nodes = node_table_new();

        node_table_add(nodes, "web 1", 5);
        node_table_add(nodes, "-", 1);
        return nodes;
}

/* To the letter: what other programs read. */
static void test_text(void)
{
        g_autoptr(NodeTable) nodes = two_nodes();
        g_autofree char *path = scratch_path("trace"), *text = NULL;
        TraceWriter *w = open_writer(path, nodes, FALSE);
        Message call =
                some_message(nodes, G_GINT64_CONSTANT(1047680084482205000), CALL_SENT, "id37", "");
        Message ret = some_message(nodes, -1, RET_RECV, "", "bytes=10 label=GET%20/");

        g_assert_true(trace_writer_fact(w, "source", "a\nb\x7f", NULL));
        g_assert_true(trace_writer_add(w, &call, NULL));
        g_assert_true(trace_writer_add(w, &ret, NULL));
        g_assert_true(trace_writer_fact(w, "end", "yes", NULL));
        g_assert_true(trace_writer_close(w, NULL));
        g_assert_true(g_file_get_contents(path, &text, NULL, NULL));
        g_assert_cmpstr(text, ==,
                        "# ravel trace 1\n"
                        "# source: a%0Ab%7F\n"
                        "1047680084.482205000\tCALL_SENT\tweb%201\t%2D\tid37\n"
                        "-0.000000001\tRET_RECV\tweb%201\t%2D\t-\tbytes=10 label=GET%20/\n"
                        "# end: yes\n");
}

static char *some_word(GRand *rand, const char *prefix)
{
        GString *word = g_string_new(prefix);

        for (int n = g_rand_int_range(rand, 1, 40); n > 0; n--)
                g_string_append_unichar(word, g_rand_int_range(rand, 0, 4) == 0
                                                      ? g_rand_int_range(rand, 0xa1, 0x3000)
                                                      : g_rand_int_range(rand, '!', '$'));
        return g_string_free(word, FALSE);
}

static void test_round_trip(void)
{
        enum { N = 5000 };
        GRand *rand = g_rand_new_with_seed(2);
        g_autoptr(NodeTable) nodes = node_table_new(), found_nodes = node_table_new();
        g_autoptr(GPtrArray) texts = g_ptr_array_new_with_free_func(g_free);
        g_autofree Message *messages = g_new0(Message, N);
        g_autofree char *path = scratch_path("trace");
        TraceWriter *w = open_writer(path, nodes, FALSE);
        TraceReaderOptions options = TRACE_READER_DEFAULTS;
        g_autoptr(TraceReader) reader = NULL;
        gint64 time = -G_GINT64_CONSTANT(4611486017999999999);
        Message found;

        for (guint i = 0; i < 50; i++) {
                char name[8];

                for (guint k = 0; k < sizeof name; k++)
                        name[k] = g_rand_int_range(rand, 1, 128);
                node_table_add(nodes, name, sizeof name);
        }
        for (guint i = 0; i < N; i++) {
                char *id = some_word(rand, "x"), *attrs = some_word(rand, "key=");

                g_ptr_array_add(texts, id);
                g_ptr_array_add(texts, attrs);
                messages[i] = some_message(nodes, time, g_rand_int_range(rand, 0, N_MESSAGE_OPS),
                                           i % 7 ? id : "", i % 3 ? attrs : "");
                messages[i].sender = g_rand_int_range(rand, 0, node_table_size(nodes));
                messages[i].receiver = g_rand_int_range(rand, 0, node_table_size(nodes));
                g_assert_true(trace_writer_add(w, &messages[i], NULL));
                time += (gint64)(g_rand_double(rand) * 3.6e15);
        }
        g_assert_true(trace_writer_close(w, NULL));

        reader = trace_reader_new(path, found_nodes, &options, NULL);
        for (guint i = 0; i < N; i++) {
                g_autoptr(GError) error = NULL;
                const Message *m = &messages[i];

                trace_reader_next(reader, &found, &error);
                g_assert_no_error(error);
                g_assert_cmpint(found.time, ==, m->time);
                g_assert_cmpint(found.op, ==, m->op);
                g_assert_cmpstr(node_table_name(found_nodes, found.sender), ==,
                                node_table_name(nodes, m->sender));
                g_assert_cmpstr(node_table_name(found_nodes, found.receiver), ==,
                                node_table_name(nodes, m->receiver));
                g_assert_cmpmem(found.id, found.id_length, m->id, m->id_length);
                g_assert_cmpmem(found.attrs, found.attrs_length, m->attrs, m->attrs_length);
        }
        g_assert_cmpint(trace_reader_next(reader, &found, NULL), ==, 0);
        g_rand_free(rand);
}

/* Lines are there by the final name, all of them after a flush, never a part of one. */
static void test_live(void)
{
        g_autoptr(NodeTable) nodes = two_nodes();
        g_autofree char *path = NULL, *part = NULL, *before = NULL, *text = NULL;
        Message m = some_message(nodes, 0, MSG_SENT, "", "");
        TraceWriter *w;

        scratch_empty();
        path = scratch_path("live");
        w = open_writer(path, nodes, TRUE);
        for (guint i = 0; i < 10000; i++)
                g_assert_true(trace_writer_add(w, &m, NULL));
        g_assert_true(g_file_get_contents(path, &part, NULL, NULL));
        g_assert_true(g_str_has_suffix(part, "\n"));
        g_assert_true(trace_writer_flush(w, NULL));
        g_assert_true(g_file_get_contents(path, &before, NULL, NULL));
        g_assert_cmpuint(strlen(before), >, strlen(part));
        g_assert_true(g_str_has_suffix(before, "0.000000000\tMSG_SENT\tweb%201\t%2D\t-\n"));
        trace_writer_free(w);
        g_assert_true(g_file_get_contents(path, &text, NULL, NULL));
        g_assert_cmpstr(text, ==, before);
}

static void test_given_up(void)
{
        g_autoptr(NodeTable) nodes = two_nodes();
        g_autofree char *path = NULL;

        scratch_empty();
        path = scratch_path("trace");
        trace_writer_free(open_writer(path, nodes, FALSE));
        g_assert_cmpuint(scratch_count(), ==, 0);
        trace_writer_free(NULL);
}

static void test_full_disk(void)
{
        g_autoptr(NodeTable) nodes = two_nodes();
        Message m = some_message(nodes, 0, MSG_SENT, "", "");
        g_autoptr(GError) error = NULL, live = NULL;
        TraceWriter *w = open_writer("/dev/full", nodes, FALSE);

        g_assert_true(trace_writer_add(w, &m, NULL));
        g_assert_false(trace_writer_close(w, &error));
        g_assert_error(error, RAVEL_ERROR, RAVEL_ERROR_OUTPUT);
        w = trace_writer_new("/dev/full", nodes, TRUE, &live);
        if (w) {
                g_assert_true(trace_writer_add(w, &m, NULL));
                g_assert_false(trace_writer_flush(w, &live));
                trace_writer_free(w);
        }
        g_assert_error(live, RAVEL_ERROR, RAVEL_ERROR_OUTPUT);
}

int main(int argc, char **argv)
{
        int status;

        g_test_init(&argc, &argv, NULL);
        scratch_make();
        g_test_add_func("/trace-writer/text", test_text);
        g_test_add_func("/trace-writer/round-trip", test_round_trip);
        g_test_add_func("/trace-writer/live", test_live);
        g_test_add_func("/trace-writer/given-up", test_given_up);
        g_test_add_func("/trace-writer/full-disk", test_full_disk);
        status = g_test_run();
        scratch_remove();
        return status;
}
