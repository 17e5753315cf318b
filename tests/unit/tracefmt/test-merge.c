/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Several traces into one: what is kept once and what twice, in what order, and what is
 * said of traces that do not fit together.
 */
#include "tracefmt/merge.h"

#include <stdlib.h>
#include <string.h>

#include "tests/unit/scratch.h"
#include "tracefmt/overlap.h"

#define MS G_GINT64_CONSTANT(1000000)

enum { MAX_TRACES = 6 };

static void look(gpointer user, guint trace, const Message *message)
{
        overlap_add(user, trace, message);
}

/* The traces with these texts, merged: a line each message, "1.5 CALL_SENT a b 1 0", the
 * last number that of the trace it is from. */
static char *merge_texts(const char *const *texts, guint n, gint64 window, MergeCounts *counts,
                         Overlap *overlap, NodeTable *nodes)
{
        TraceReaderOptions options = TRACE_READER_DEFAULTS;
        g_autoptr(Merge) merge = merge_new(window, nodes);
        TraceReader *readers[MAX_TRACES];
        g_autoptr(GError) error = NULL;
        GString *lines = g_string_new(NULL);
        Message m;
        guint trace;
        int status;

        options.any_order = TRUE;
        for (guint i = 0; i < n; i++) {
                g_autofree char *name = g_strdup_printf("%u.trace", i);
                g_autofree char *path = scratch_write(name, texts[i], -1);

                readers[i] = trace_reader_new(path, nodes, &options, &error);
                g_assert_no_error(error);
                merge_add(merge, readers[i]);
        }
        if (overlap)
                merge_set_look(merge, look, overlap);
        while ((status = merge_next(merge, &m, &trace, &error)) > 0)
                g_string_append_printf(lines, "%.9g %s %s %s %.*s%s%.*s %u\n", (double)m.time / 1e9,
                                       message_op_name(m.op), node_table_name(nodes, m.sender),
                                       node_table_name(nodes, m.receiver),
                                       m.id_length ? (int)m.id_length : 1, m.id_length ? m.id : "-",
                                       m.attrs_length ? " " : "", (int)m.attrs_length, m.attrs,
                                       trace);
        g_assert_no_error(error);
        g_assert_cmpint(status, ==, 0);
        *counts = *merge_counts(merge);
        for (guint i = 0; i < n; i++)
                trace_reader_free(readers[i]);
        return g_string_free(lines, FALSE);
}

static void check(const char *const *texts, guint n, gint64 window, const char *expected,
                  MergeCounts want)
{
        g_autoptr(NodeTable) nodes = node_table_new();
        MergeCounts counts;
        g_autofree char *lines = merge_texts(texts, n, window, &counts, NULL, nodes);

        g_assert_cmpstr(lines, ==, expected);
        g_assert_cmpuint(counts.dropped, ==, want.dropped);
        g_assert_cmpuint(counts.late, ==, want.late);
        g_assert_cmpint(counts.needed, ==, want.needed);
        g_assert_cmpuint(counts.without_id, ==, want.without_id);
}

/* --- what is the same -------------------------------------------------------- */

static void test_once(void)
{
        static const char *const texts[] = {
                "1 CALL_SENT a b 1 dur=1\n3 RET_SENT b a 1\n4 CALL_SENT a b 2\n",
                "1.1 CALL_SENT a b 1 dur=2\n2 CALL_SENT b c 1\n2.5 RET_SENT c b 1\n",
                "0.9 CALL_RECV a b 1\n1.2 CALL_SENT a c 1\n1.3 MSG_SENT a b 1\n",
        };

        check(texts, 3, 500 * MS,
              "0.9 CALL_RECV a b 1 2\n"
              "1 CALL_SENT a b 1 dur=1 0\n"
              "1.2 CALL_SENT a c 1 2\n"
              "1.3 MSG_SENT a b 1 2\n"
              "2 CALL_SENT b c 1 1\n"
              "2.5 RET_SENT c b 1 1\n"
              "3 RET_SENT b a 1 0\n"
              "4 CALL_SENT a b 2 0\n",
              (MergeCounts){ .dropped = 1 });
}

/* A repeated id in one trace is two messages; the first goes with the first. */
static void test_repeated(void)
{
        static const char *const texts[] = {
                "1 CALL_SENT a b 1\n1.2 CALL_SENT a b 1\n1.3 CALL_SENT a b 1\n",
                "1.1 CALL_SENT a b 1\n1.25 CALL_SENT a b 1\n",
                ("1.05 CALL_SENT a b 1\n1.06 CALL_SENT a b 1\n1.4 CALL_SENT a b 1\n"
                 "1.45 CALL_SENT a b 1\n"),
        };

        check(texts, 1, 500 * MS,
              "1 CALL_SENT a b 1 0\n1.2 CALL_SENT a b 1 0\n1.3 CALL_SENT a b 1 0\n",
              (MergeCounts){ 0 });
        check(texts, 2, 500 * MS,
              "1 CALL_SENT a b 1 0\n1.2 CALL_SENT a b 1 0\n1.3 CALL_SENT a b 1 0\n",
              (MergeCounts){ .dropped = 2 });
        check(texts, 3, 500 * MS,
              "1 CALL_SENT a b 1 0\n1.06 CALL_SENT a b 1 2\n1.3 CALL_SENT a b 1 0\n"
              "1.45 CALL_SENT a b 1 2\n",
              (MergeCounts){ .dropped = 5 });
}

/* As far apart as the window is the same, and a nanosecond more is not. */
static void test_window(void)
{
        static const char *const texts[] = {
                "1 CALL_SENT a b 1\n5 CALL_SENT a b 2\n",
                "1.5 CALL_SENT a b 1\n5.500000001 CALL_SENT a b 2\n",
        };

        check(texts, 2, 500 * MS,
              "1 CALL_SENT a b 1 0\n5 CALL_SENT a b 2 0\n5.5 CALL_SENT a b 2 1\n",
              (MergeCounts){ .dropped = 1 });
        check(texts, 2, G_MAXINT64, "1 CALL_SENT a b 1 0\n5 CALL_SENT a b 2 0\n",
              (MergeCounts){ .dropped = 2 });
        check(texts, 2, 0,
              "1 CALL_SENT a b 1 0\n1.5 CALL_SENT a b 1 1\n5 CALL_SENT a b 2 0\n"
              "5.5 CALL_SENT a b 2 1\n",
              (MergeCounts){ 0 });
}

/* The stamp of the node's own host counts more than an earlier one. */
static void test_own_stamp(void)
{
        static const char *const texts[] = {
                "1 CALL_SENT a b 1\n1.4 RET_SENT b a 1\n",
                "# captured on host: a\n1.1 CALL_SENT a b 1\n1.6 RET_RECV b a 1\n",
                "# captured on host: b\n1.2 CALL_RECV a b 1\n1.3 RET_SENT b a 1\n",
                "1.15 CALL_SENT a b 1\n",
                "# captured on host: a\n1.17 CALL_SENT a b 1\n",
        };

        check(texts, 5, 500 * MS,
              "1.1 CALL_SENT a b 1 1\n1.2 CALL_RECV a b 1 2\n1.3 RET_SENT b a 1 2\n"
              "1.6 RET_RECV b a 1 1\n",
              (MergeCounts){ .dropped = 4 });
}

/* Without an id only equal stamps make two messages one. */
static void test_without_id(void)
{
        static const char *const texts[] = {
                "1 MSG_SENT a b -\n1 MSG_SENT a b -\n2 MSG_SENT a b -\n",
                "1 MSG_SENT a b -\n2.000001 MSG_SENT a b -\n",
        };

        check(texts, 2, 500 * MS,
              "1 MSG_SENT a b - 0\n1 MSG_SENT a b - 0\n2 MSG_SENT a b - 0\n"
              "2.000001 MSG_SENT a b - 1\n",
              (MergeCounts){ .dropped = 1, .without_id = 4 });
}

/* --- order ------------------------------------------------------------------- */

static void test_late(void)
{
        static const char *const texts[] = {
                "1 CALL_SENT a b 1\n2 CALL_SENT a b 2\n1.5 CALL_SENT a b 3\n"
                "9 CALL_SENT a b 4\n9.1 CALL_SENT a b 5\n2.25 CALL_SENT a b 6\n"
                "8 CALL_SENT a b 7\n",
                "9.2 CALL_SENT b c 1\n",
        };

        check(texts, 2, 500 * MS,
              "1 CALL_SENT a b 1 0\n1.5 CALL_SENT a b 3 0\n2 CALL_SENT a b 2 0\n"
              "2.25 CALL_SENT a b 6 0\n8 CALL_SENT a b 7 0\n9 CALL_SENT a b 4 0\n"
              "9.1 CALL_SENT a b 5 0\n9.2 CALL_SENT b c 1 1\n",
              (MergeCounts){ 0 });
}

/* Behind what has been handed out: counted, with the window that it would have needed. */
static void test_too_late(void)
{
        static const char *const texts[] = { "1 CALL_SENT a b 1\n2 CALL_SENT a b 2\n"
                                             "9 CALL_SENT a b 3\n1.5 CALL_SENT a b 4\n" };

        check(texts, 1, 500 * MS,
              "1 CALL_SENT a b 1 0\n2 CALL_SENT a b 2 0\n1.5 CALL_SENT a b 4 0\n"
              "9 CALL_SENT a b 3 0\n",
              (MergeCounts){ .late = 1, .needed = 7500 * MS });
}

static void test_equal_stamps(void)
{
        static const char *const texts[] = {
                "1 RET_SENT b a 1\n1 CALL_SENT a b 2\n",
                "1 RET_SENT d c 1\n1 CALL_SENT c d 2\n",
        };

        check(texts, 2, 500 * MS,
              "1 RET_SENT b a 1 0\n1 CALL_SENT a b 2 0\n1 RET_SENT d c 1 1\n"
              "1 CALL_SENT c d 2 1\n",
              (MergeCounts){ 0 });
}

static void test_empty(void)
{
        static const char *const texts[] = { "", "# ravel trace 1\n# packets: 0\n", "\n" };

        check(texts, 3, 500 * MS, "", (MergeCounts){ 0 });
        check(texts, 0, 500 * MS, "", (MergeCounts){ 0 });
}

typedef struct {
        gint64 time;
        char *text;
} Line;

static int by_time(gconstpointer a, gconstpointer b)
{
        const Line *x = a, *y = b;

        return (x->time > y->time) - (x->time < y->time);
}

/* The lines in the order of their times, which are not their stamps. Frees them. */
static char *text_of(GArray *tap)
{
        GString *text = g_string_new(NULL);

        g_array_sort(tap, by_time);
        for (guint i = 0; i < tap->len; i++) {
                Line *line = &g_array_index(tap, Line, i);

                g_string_append_printf(text, "%s\n", line->text);
                g_free(line->text);
        }
        g_array_unref(tap);
        return g_string_free(text, FALSE);
}

/* What merge_texts() gave, without the digit that ends each line. */
static char *without_traces(const char *lines)
{
        GString *text = g_string_new(NULL);

        for (const char *p = lines, *end; (end = strchr(p, '\n')); p = end + 1) {
                g_string_append_len(text, p, end - p - 2);
                g_string_append_c(text, '\n');
        }
        return g_string_free(text, FALSE);
}

/* Each message of a random trace, with ids that repeat, is seen by one tap at least, and by others
 * a little later. Each tap moves its lines by less than the window. Merging gives the trace. */
static void test_taps(void)
{
        const gint64 window = 50 * MS;

        for (guint seed = 0; seed < 200; seed++) {
                g_autoptr(GRand) rand = g_rand_new_with_seed(seed);
                g_autoptr(NodeTable) nodes = node_table_new();
                guint n_taps = (guint)g_rand_int_range(rand, 1, MAX_TRACES);
                GArray *taps[MAX_TRACES];
                char *texts[MAX_TRACES];
                g_autoptr(GString) expected = g_string_new(NULL);
                MergeCounts counts;
                gint64 time = 1000 * MS;

                for (guint t = 0; t < n_taps; t++)
                        taps[t] = g_array_new(FALSE, FALSE, sizeof(Line));
                for (guint i = 0; i < 300; i++) {
                        guint first = (guint)g_rand_int_range(rand, 0, (gint32)n_taps);
                        g_autofree char *rest =
                                g_strdup_printf("%s n%u m i%u", i % 2 ? "CALL_SENT" : "RET_RECV",
                                                i % 20, i % 40 / 20);

                        /* An id comes again only after the window, as not all see it. */
                        time += (i % 20 ? 1 : 120) * MS;
                        g_string_append_printf(expected, "%.9g %s\n", (double)time / 1e9, rest);
                        for (guint t = 0; t < n_taps; t++) {
                                gint64 stamp =
                                        time +
                                        (t == first ? 0 : 1 + g_rand_int_range(rand, 0, 20) * MS);
                                Line line = { stamp + g_rand_int_range(rand, 0, 49) * MS, NULL };

                                if (t != first && g_rand_boolean(rand))
                                        continue;
                                line.text = g_strdup_printf("%" G_GINT64_FORMAT ".%09d %s",
                                                            stamp / 1000000000,
                                                            (int)(stamp % 1000000000), rest);
                                g_array_append_val(taps[t], line);
                        }
                }
                for (guint t = 0; t < n_taps; t++)
                        texts[t] = text_of(taps[t]);
                g_autofree char *lines = merge_texts((const char *const *)texts, n_taps, window,
                                                     &counts, NULL, nodes);
                g_autofree char *found = without_traces(lines);
                g_assert_cmpstr(found, ==, expected->str);
                g_assert_cmpuint(counts.late, ==, 0);
                for (guint t = 0; t < n_taps; t++)
                        g_free(texts[t]);
        }
}

/* --- what does not fit ------------------------------------------------------- */

static Overlap *overlap_of(const char *const *texts, guint n, NodeTable *nodes)
{
        Overlap *overlap = overlap_new(n);
        MergeCounts counts;

        g_free(merge_texts(texts, n, 500 * MS, &counts, overlap, nodes));
        return overlap;
}

static void test_clocks(void)
{
        static const char *const texts[] = {
                "1 CALL_SENT a b 1\n2 CALL_SENT a b 2\n3 RET_SENT b a 2\n4 CALL_SENT a b 4\n",
                "8.2 CALL_SENT a b 1\n9 CALL_SENT a b 2\n10 RET_SENT b a 2\n4.1 CALL_SENT a b 4\n",
                "0.1 CALL_RECV a b 1\n1.1 CALL_RECV a b 2\n",
                "1 CALL_SENT x y 1\n",
                "8.3 CALL_SENT a b 1\n9 CALL_SENT a b 2\n10 RET_SENT b a 2\n",
        };
        g_autoptr(NodeTable) nodes = node_table_new();
        g_autoptr(Overlap) overlap = overlap_of(texts, 5, nodes);
        g_autoptr(GArray) clocks = overlap_find_clocks(overlap, 500 * MS);
        const ClocksApart *c = (const ClocksApart *)clocks->data;

        g_assert_cmpuint(clocks->len, ==, 3);
        g_assert_cmpuint(c[0].trace, ==, 1);
        g_assert_cmpuint(c[0].other, ==, 0);
        g_assert_cmpint(c[0].ahead, ==, 7000 * MS);
        g_assert_cmpuint(c[0].messages, ==, 4);
        g_assert_true(c[0].twice);
        g_assert_cmpuint(c[1].trace, ==, 2);
        g_assert_cmpint(c[1].ahead, ==, -900 * MS);
        g_assert_false(c[1].twice);
        g_assert_cmpuint(c[2].trace, ==, 4); /* it goes with 1, but has as much of 0 */
        g_assert_cmpuint(c[2].other, ==, 0);
        g_array_set_size(clocks, 0);
        g_array_unref(g_steal_pointer(&clocks));
        clocks = overlap_find_clocks(overlap, 8000 * MS);
        g_assert_cmpuint(clocks->len, ==, 0);
}

static void test_names(void)
{
        static const char *const texts[] = {
                "1 CALL_SENT a web 1\n1.1 CALL_SENT web db 2\n1.2 CALL_SENT a c 3\n"
                "1.3 CALL_SENT a c 4\n",
                /* 10.0.0.2 is web. c is a c here, too; and x and y are not to be told. */
                "1 CALL_SENT a 10.0.0.2 1\n1.1 CALL_RECV 10.0.0.2 db 2\n1.2 CALL_SENT a b 3\n"
                "1.3 CALL_SENT c a 9\n",
                "1 CALL_SENT x y 1\n1.2 CALL_SENT y x 2\n",
                /* Two that have no name in common. */
                "1 CALL_SENT p q 9c40.2de59\n",
                "1 CALL_SENT 10.0.0.8 10.0.0.9 9c40.2de59\n",
        };
        g_autoptr(NodeTable) nodes = node_table_new();
        g_autoptr(Overlap) overlap = overlap_of(texts, 5, nodes);
        g_autoptr(GArray) names = overlap_find_names(overlap);
        const NamesApart *n = (const NamesApart *)names->data;

        g_assert_cmpuint(names->len, ==, 3);
        g_assert_cmpuint(n->trace, ==, 1);
        g_assert_cmpuint(n->other, ==, 0);
        g_assert_cmpstr(node_table_name(nodes, n->node), ==, "10.0.0.2");
        g_assert_cmpstr(node_table_name(nodes, n->other_node), ==, "web");
        g_assert_cmpuint(n->messages, ==, 2);
        g_assert_cmpstr(node_table_name(nodes, n[1].node), ==, "10.0.0.8");
        g_assert_cmpstr(node_table_name(nodes, n[1].other_node), ==, "p");
        g_assert_cmpstr(node_table_name(nodes, n[2].node), ==, "10.0.0.9");
        g_assert_cmpstr(node_table_name(nodes, n[2].other_node), ==, "q");
}

/* Many more ids than the sample holds: what is in it is in it for both traces. */
static void test_sample(void)
{
        g_autoptr(Overlap) overlap = overlap_new(2);
        g_autoptr(GArray) clocks = NULL;

        for (guint trace = 0; trace < 2; trace++)
                for (guint i = 0; i < 100000; i++) {
                        char id[16];
                        Message m = { .time = i * MS + trace * 5000 * MS, .receiver = 1 };

                        message_set_id(&m, id, (gsize)g_snprintf(id, sizeof id, "%x", i));
                        overlap_add(overlap, trace, &m);
                }
        clocks = overlap_find_clocks(overlap, 500 * MS);
        g_assert_cmpuint(clocks->len, ==, 1);
        g_assert_cmpint(g_array_index(clocks, ClocksApart, 0).ahead, ==, 5000 * MS);
        g_assert_cmpuint(g_array_index(clocks, ClocksApart, 0).messages, >, 8000);
        g_assert_cmpuint(g_array_index(clocks, ClocksApart, 0).messages, <=, 16384);
}

int main(int argc, char **argv)
{
        int status;

        g_test_init(&argc, &argv, NULL);
        scratch_make();
        g_test_add_func("/merge/once", test_once);
        g_test_add_func("/merge/repeated", test_repeated);
        g_test_add_func("/merge/window", test_window);
        g_test_add_func("/merge/own-stamp", test_own_stamp);
        g_test_add_func("/merge/without-id", test_without_id);
        g_test_add_func("/merge/late", test_late);
        g_test_add_func("/merge/too-late", test_too_late);
        g_test_add_func("/merge/equal-stamps", test_equal_stamps);
        g_test_add_func("/merge/empty", test_empty);
        g_test_add_func("/merge/taps", test_taps);
        g_test_add_func("/merge/clocks", test_clocks);
        g_test_add_func("/merge/names", test_names);
        g_test_add_func("/merge/sample", test_sample);
        status = g_test_run();
        scratch_remove();
        return status;
}
