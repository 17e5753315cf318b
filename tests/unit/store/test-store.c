/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A store is read back with plain SQL, and is there whole or not at all.
 */
#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <sqlite3.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "store/store.h"

typedef struct {
        char *directory, *path;
        NodeTable *nodes;
        PathSet *set;
} Fixture;

static const StoreRun RUN = { .arguments = "nesting -o x y.trace",
                              .parameters = "penalty=2,0,0\n",
                              .seed = 7 };

static void set_up(Fixture *f, gconstpointer unused)
{
        (void)unused;
        f->directory = g_dir_make_tmp("test-store-XXXXXX", NULL);
        f->path = g_build_filename(f->directory, "out.sqlite", NULL);
        f->nodes = node_table_new();
        f->set = path_set_new(f->nodes, SIBLINGS_MULTISET);
}

static guint count_files(const char *directory)
{
        g_autoptr(GDir) dir = g_dir_open(directory, 0, NULL);
        guint n = 0;

        while (g_dir_read_name(dir))
                n++;
        return n;
}

static void tear_down(Fixture *f, gconstpointer unused)
{
        (void)unused;
        g_unlink(f->path);
        g_assert_cmpint(g_rmdir(f->directory), ==, 0); /* nothing else was left there */
        path_set_free(f->set);
        node_table_free(f->nodes);
        g_free(f->path);
        g_free(f->directory);
}

/* client>lb(db,web%2C1): lb is seen at both ends, the others at one. */
static gboolean add_request(Fixture *f, gint64 begin, GError **error)
{
        NodeId client = node_table_add(f->nodes, "client", 6);
        NodeId lb = node_table_add(f->nodes, "lb", 2);
        NodeId web = node_table_add(f->nodes, "web,1", 5);
        NodeId db = node_table_add(f->nodes, "db", 2);
        PathCall calls[] = {
                { NO_PARENT, client, lb, begin,  begin + 5, begin + 95, begin + 100, 15,
                  1,         0.5f,   0,  "id37", 4,         0,          0,           0,
                  0,         0,      0,  7,      0,         0,          0,           0,
                  0,         0,      0,  { 0 },  0,         1,          TRUE,        12 },
                { 0,          lb,         web,        begin + 10,
                  begin + 10, begin + 40, begin + 40, 1 << CALL_SENT | 1 << RET_SENT,
                  0.5f,       1,          3,          "no end",
                  2,          0,          0,          0,
                  0,          0,          0,          0,
                  512,        2048,       0,          10,
                  4,          0,          0,          { 0 },
                  0,          0,          FALSE,      0 },
                { 0,          lb,         db,         begin + 50,
                  begin + 50, begin + 90, begin + 90, 1 << CALL_RECV | 1 << RET_RECV,
                  1,          1,          1,          "of none",
                  0,          0,          0,          0,
                  0,          0,          0,          0,
                  0,          0,          0,          0,
                  0,          0,          0,          { 0 },
                  0,          0,          FALSE,      0 },
        };

        return path_set_add(f->set, calls, G_N_ELEMENTS(calls), error);
}

/* The rows that a query gives, as text: columns by '|', rows by newlines. */
static char *query(const char *path, const char *sql)
{
        sqlite3 *db;
        sqlite3_stmt *statement;
        GString *text = g_string_new(NULL);

        g_assert_cmpint(sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL), ==, SQLITE_OK);
        g_assert_cmpint(sqlite3_prepare_v2(db, sql, -1, &statement, NULL), ==, SQLITE_OK);
        while (sqlite3_step(statement) == SQLITE_ROW) {
                for (int i = 0; i < sqlite3_column_count(statement); i++) {
                        const char *value = (const char *)sqlite3_column_text(statement, i);
                        g_string_append_printf(text, "%s%s", i ? "|" : "", value ? value : "-");
                }
                g_string_append_c(text, '\n');
        }
        g_assert_cmpint(sqlite3_finalize(statement), ==, SQLITE_OK);
        sqlite3_close(db);
        return g_string_free(text, FALSE);
}

static void assert_query(Fixture *f, const char *sql, const char *expected)
{
        g_autofree char *found = query(f->path, sql);

        g_assert_cmpstr(found, ==, expected);
}

static void assert_histogram(Fixture *f, const char *column, const Histogram *expected)
{
        g_autofree char *sql = g_strdup_printf("SELECT hex(%s) FROM pattern_node", column);
        g_autofree char *hex = query(f->path, sql);
        g_autoptr(GByteArray) bytes = g_byte_array_new();
        Histogram found = HISTOGRAM_INIT;

        for (const char *c = hex; *c != '\n'; c += 2) {
                guint8 byte =
                        (guint8)(g_ascii_xdigit_value(c[0]) << 4 | g_ascii_xdigit_value(c[1]));
                g_byte_array_append(bytes, &byte, 1);
        }
        g_assert_true(histogram_unpack(&found, bytes->data, bytes->len));
        g_assert_cmpuint(found.count, ==, expected->count);
        g_assert_cmpint(found.min, ==, expected->min);
        g_assert_cmpint(found.max, ==, expected->max);
        g_assert_true(found.sum == expected->sum);
        g_assert_true(found.square == expected->square);
        histogram_clear(&found);
}

static void test_contents(Fixture *f, gconstpointer unused)
{
        g_autoptr(GError) error = NULL;
        char *facts[] = { (char *)"packets: 12", (char *)"drops: 0" };
        Store *store = store_new(f->path, f->set, &RUN, &error);
        g_autoptr(GPtrArray) tags = g_ptr_array_new();

        (void)unused;
        g_ptr_array_add(tags, (char *)"t:a%2Cb,u:c:d,t:e,:f,g,");
        path_set_set_tags(f->set, tags);
        g_assert_no_error(error);
        g_assert_true(store_add_capture(store, "y.trace", "ab12", facts, 2, &error));
        g_assert_true(store_add_capture(store, "-", NULL, NULL, 0, &error));
        g_assert_true(add_request(f, 1000, &error));
        g_assert_true(add_request(f, 2000, &error));
        *path_set_summary(f->set) = (PathSetSummary){
                .method = "paper",
                .messages = 12,
                .calls = 6,
                .unmatched_calls = 1,
                .unmatched_returns = 2,
                .cut_instances = 3,
                .first = G_GINT64_CONSTANT(1047680084482205000),
                .last = G_GINT64_CONSTANT(1047680084482205999),
        };
        g_assert_false(g_file_test(f->path, G_FILE_TEST_EXISTS)); /* not before it is whole */
        g_assert_true(store_finish(store, &error));
        g_assert_cmpuint(count_files(f->directory), ==, 1);

        assert_query(f, "PRAGMA integrity_check", "ok\n");
        assert_query(f, "SELECT * FROM tag", "1|t|a,b\n1|u|c:d\n");
        assert_query(f, "SELECT * FROM request_tag", "1|t|a,b\n1|u|c:d\n2|t|a,b\n2|u|c:d\n");
        assert_query(f, "PRAGMA user_version", "6\n");
        assert_query(f, "PRAGMA application_id", "1920361836\n");
        assert_query(f, "SELECT method, arguments, parameters, seed, messages, calls FROM run",
                     "paper|nesting -o x y.trace|penalty=2,0,0\n|7|12|6\n");
        assert_query(f,
                     "SELECT unmatched_calls, unmatched_returns, cut_paths, first, last FROM run",
                     "1|2|3|1047680084482205000|1047680084482205999\n");
        assert_query(f, "SELECT * FROM capture",
                     "1|y.trace|ab12|packets: 12\ndrops: 0\n\n2|-|-|\n");
        assert_query(f, "SELECT * FROM node",
                     "1|client|client\n2|lb|lb\n3|web,1|web%2C1\n4|db|db\n");
        assert_query(f,
                     "SELECT signature, client, count, total, mean, p50, min, max, probability "
                     "FROM pattern",
                     "client>lb(db,web%2C1)|1|2|200|100|100|100|100|0.5\n");
        assert_query(f,
                     "SELECT pattern, place, parent, depth, node, latency_mean, call_delay_mean, "
                     "own_mean, network_mean FROM pattern_node",
                     "1|0|-|0|2|100|0|20|10\n1|1|0|1|4|40|45|40|0\n1|2|0|1|3|30|5|30|0\n");
        assert_query(
                f, "SELECT workers, own_queued_mean, serving_mean FROM pattern_node ORDER BY place",
                "-|-|-\n-|-|-\n4|10|20\n");
        assert_query(f, "SELECT * FROM path",
                     "1|1|1000|100|1|3|0.5|-|-\n2|1|2000|100|4|3|0.5|-|-\n");
        assert_query(
                f, "SELECT * FROM call WHERE path = 1",
                "1|1|-|0|1|2|1000|1005|1095|1100|20|10|1.0|0|id37|-|-|-|3|-|-|7|-|-|-|-|-|1|12|1\n"
                "2|1|1|2|2|3|1010|-|1040|-|30|0|0.5|3|no|-|-|-|2|512|2048|-|10|10|-|-|-|-|-|-\n"
                "3|1|1|1|2|4|-|1050|-|1090|40|0|1.0|1|-|-|-|-|3|-|-|-|-|-|-|-|-|-|-|-\n");
        assert_query(f, "SELECT * FROM before WHERE request = 1",
                     "1|1|2|lb|web%2C1\n1|1|3|lb|db\n1|2|3|web%2C1|db\n");
        assert_query(f, "SELECT node, own, usual, excess, alike FROM request_excess WHERE id = 3",
                     "db|40|40|0|2\n");
        assert_query(f, "SELECT * FROM node_hour WHERE node = 'db'",
                     "db|1970-01-01 00:00|2|40|40|40\n");
        assert_query(f, "SELECT id, caller, entry, client, depth, start, reply FROM hop LIMIT 2",
                     "1|client|lb|client|0|1000|1095\n2|lb|lb|client|1|1010|1040\n");
        assert_query(f, "SELECT id, parent FROM call WHERE path = 2", "4|-\n5|4\n6|4\n");
        g_autofree char *id = g_strdup_printf("%016" G_GINT64_MODIFIER "x\n",
                                              path_pattern_id(NULL, "client>lb(db,web%2C1)"));
        assert_query(f, "SELECT hash FROM pattern", id);
        assert_histogram(f, "latency", &path_set_pattern(f->set, 0)->nodes[0].latency);
        assert_histogram(f, "own", &path_set_pattern(f->set, 0)->nodes[0].own);
}

/* --- views ------------------------------------------------------------------ */

static void test_requests(Fixture *f, gconstpointer unused)
{
        Store *store = store_new(f->path, f->set, &RUN, NULL);

        (void)unused;
        g_assert_true(add_request(f, 1000, NULL));
        g_assert_true(add_request(f, 2000, NULL));
        g_assert_true(store_finish(store, NULL));
        assert_query(f, "SELECT id, type, start, end, latency, probability, pattern FROM request",
                     "1|client>lb(db,web%2C1)|1000|1100|100|0.5|1\n"
                     "2|client>lb(db,web%2C1)|2000|2100|100|0.5|1\n");
        assert_query(f, "SELECT nodes FROM request WHERE id = 2",
                     "[{\"node\":\"lb\",\"start\":2005,\"end\":2095,\"own\":20},"
                     "{\"node\":\"web%2C1\",\"start\":2010,\"end\":2040,\"own\":30},"
                     "{\"node\":\"db\",\"start\":2050,\"end\":2090,\"own\":40}]\n");
        assert_query(f, "SELECT * FROM request_node WHERE request = 2",
                     "2|lb|2005|2095|20|-|-|-|-|-\n2|web%2C1|2010|2040|30|-|-|-|10|20\n2|db|2050|"
                     "2090|40|-|-|-|-|-\n");
        assert_query(f, "SELECT * FROM pattern_callee ORDER BY node",
                     "1|db|2|40|40|0.4|client>lb(db,web%2C1)|-|-|-\n"
                     "1|lb|2|100|20|0.2|client>lb(db,web%2C1)|-|-|-\n"
                     "1|web%2C1|2|30|30|0.3|client>lb(db,web%2C1)|-|10|20\n");
        assert_query(f, "SELECT * FROM repeated_call", "");
}

/* client>lb(db,db,...): latency ns of which the database takes a tenth each time. */
static void add_query(Fixture *f, gint64 begin, gint64 latency, guint32 queries)
{
        NodeId client = node_table_add(f->nodes, "client", 6);
        NodeId lb = node_table_add(f->nodes, "lb", 2), db = node_table_add(f->nodes, "db", 2);
        PathCall calls[4] = { { NO_PARENT,
                                client,
                                lb,
                                begin,
                                begin,
                                begin + latency,
                                begin + latency,
                                15,
                                1,
                                1,
                                0,
                                NULL,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                { 0 },
                                0,
                                0,
                                FALSE,
                                0 } };

        for (guint32 i = 1; i <= queries; i++) {
                gint64 from = begin + (gint64)i * latency / 5, to = from + latency / 10;

                calls[i] = (PathCall){ 0,    lb, db, from, from, to,    to, 15, 1,     1, 1,
                                       NULL, 0,  0,  0,    0,    0,     0,  0,  0,     0, 0,
                                       0,    0,  0,  0,    0,    { 0 }, 0,  0,  FALSE, 0 };
        }
        g_assert_true(path_set_add(f->set, calls, 1 + queries, NULL));
}

static void test_slowest(Fixture *f, gconstpointer unused)
{
        Store *store = store_new(f->path, f->set, &RUN, NULL);

        (void)unused;
        add_query(f, 1000, 500, 1);
        add_query(f, 2000, 900, 1);
        add_query(f, 3000, 700, 2);
        add_query(f, 4000, 900, 3);
        g_assert_true(store_finish(store, NULL));
        assert_query(f, "SELECT * FROM slowest_request LIMIT 3",
                     "2|900|700|lb|810|2000|1.0|1|client>lb(db)|-|900\n"
                     "4|900|900|lb|630|4000|1.0|3|client>lb(db,db,db)|-|900\n"
                     "3|700|700|lb|560|3000|1.0|2|client>lb(db,db)|-|700\n");
        assert_query(f, "SELECT * FROM repeated_call ORDER BY pattern",
                     "2|lb|db|2|1|140|client>lb(db,db)\n"
                     "3|lb|db|3|1|270|client>lb(db,db,db)\n");
        assert_query(f, "SELECT * FROM pattern_callee WHERE pattern = 3 ORDER BY node",
                     "3|db|3|90|270|0.3|client>lb(db,db,db)|-|-|-\n"
                     "3|lb|1|900|630|0.7|client>lb(db,db,db)|-|-|-\n");
}

static int compare_times(const void *a, const void *b)
{
        gint64 x = *(const gint64 *)a, y = *(const gint64 *)b;

        return (x > y) - (x < y);
}

/* Hours from one before 1970 on, with 1, 2, 4, ... requests, against sorted arrays. */
static void test_hours(Fixture *f, gconstpointer unused)
{
        static const char *const names[] = { "1969-12-31 22:00", "1969-12-31 23:00",
                                             "1970-01-01 00:00", "1970-01-01 01:00",
                                             "1970-01-01 02:00", "1970-01-01 03:00",
                                             "1970-01-01 04:00", "1970-01-01 05:00" };
        const gint64 hour = G_GINT64_CONSTANT(3600000000000);
        Store *store = store_new(f->path, f->set, &RUN, NULL);
        g_autoptr(GRand) random = g_rand_new_with_seed(7);
        g_autoptr(GString) expected = g_string_new(NULL);
        gint64 latency[128];

        (void)unused;
        for (gint64 h = 0; h < (gint64)G_N_ELEMENTS(names); h++) {
                gint64 n = 1 << h, sum = 0;

                for (gint64 i = 0; i < n; i++) {
                        latency[i] = g_rand_int_range(random, 1, 1000000) * 10;
                        sum += latency[i];
                        /* The first and the last moment belong to the hour. */
                        add_query(f, (h - 2) * hour + (i & 1 ? hour - 1 : 0), latency[i], 1);
                }
                qsort(latency, (gsize)n, sizeof *latency, compare_times);
                g_string_append_printf(
                        expected,
                        "1|%s|%d|%" G_GINT64_FORMAT "|%" G_GINT64_FORMAT "|%" G_GINT64_FORMAT
                        "|%" G_GINT64_FORMAT "|%" G_GINT64_FORMAT "|client>lb(db)\n",
                        names[h], (int)n, (2 * sum + n) / (2 * n), latency[(n * 50 + 99) / 100 - 1],
                        latency[(n * 90 + 99) / 100 - 1], latency[(n * 99 + 99) / 100 - 1],
                        latency[n - 1]);
        }
        g_assert_true(store_finish(store, NULL));
        assert_query(f, "SELECT * FROM pattern_hour ORDER BY hour", expected->str);
}

static void test_patterns_only(Fixture *f, gconstpointer unused)
{
        StoreRun run = RUN;

        (void)unused;
        run.patterns_only = TRUE;
        Store *store = store_new(f->path, f->set, &run, NULL);
        g_assert_true(add_request(f, 1000, NULL));
        g_assert_true(add_request(f, 2000, NULL));
        g_assert_true(store_finish(store, NULL));
        assert_query(f, "SELECT count, total FROM pattern", "2|200\n");
        assert_query(f, "SELECT own_mean FROM pattern_callee ORDER BY node", "40\n20\n30\n");
        assert_query(f, "SELECT (SELECT count(*) FROM path), (SELECT count(*) FROM call)", "0|0\n");
}

static void test_empty(Fixture *f, gconstpointer unused)
{
        g_autoptr(GError) error = NULL;
        Store *store = store_new(f->path, f->set, &RUN, &error);

        (void)unused;
        g_assert_true(store_finish(store, &error));
        assert_query(f, "SELECT first, last, messages FROM run", "-|-|0\n");
}

/* Of linear patterns the graph as well. */
static void test_linear(Fixture *f, gconstpointer unused)
{
        PathGraph *graph = path_graph_new();
        g_autoptr(PathSet) set = path_set_new_linear(f->nodes, graph);
        g_autoptr(GError) error = NULL;
        Store *store = store_new(f->path, set, &RUN, &error);
        NodeId a = node_table_add(f->nodes, "a", 1), b = node_table_add(f->nodes, "b", 1);
        guint32 root = path_graph_add(graph, NO_VERTEX, a, 9, 1);
        guint32 first = path_graph_add(graph, root, b, 9, 1);
        guint32 last = path_graph_add(graph, first, a, 8, 0.5);
        PathHop hops[] = { { .node = b }, { .node = a } };

        (void)unused;
        path_graph_add_delay(graph, last, 70, 3);
        path_graph_add_delay(graph, last, -40, 5);
        path_graph_end(graph, last, PATH_END_ROOT);
        histogram_add(&hops[0].stay, 1);
        histogram_add(&hops[0].latency, 1);
        histogram_add(&hops[1].latency, 0);
        path_set_add_linear(set, a, hops, 2, 8, 0.5);
        g_assert_true(store_finish(store, &error));
        assert_query(f, "SELECT signature, count, total, probability FROM pattern",
                     "a>b>a|8|8|0.5\n");
        assert_query(f, "SELECT id, parent, node, depth, count, probability, end FROM vertex",
                     "1|-|1|0|9|1.0|-\n2|1|2|1|9|1.0|-\n3|2|1|2|8|0.5|root\n");
        assert_query(f, "SELECT * FROM vertex_delay", "3|-40|5\n3|70|3\n");
        assert_query(f, "SELECT count(*) FROM path", "0\n");
}

/* The same bytes for the same answer. */
static void test_same_bytes(Fixture *f, gconstpointer unused)
{
        g_autofree char *contents[2] = { NULL, NULL };
        gsize size[2];

        (void)unused;
        for (int i = 0; i < 2; i++) {
                PathSet *set = path_set_new(f->nodes, SIBLINGS_MULTISET);
                Store *store = store_new(f->path, set, &RUN, NULL);
                path_set_free(f->set);
                f->set = set;
                for (int k = 0; k < 1000; k++)
                        g_assert_true(add_request(f, k * 1000, NULL));
                g_assert_true(store_finish(store, NULL));
                g_assert_true(g_file_get_contents(f->path, &contents[i], &size[i], NULL));
        }
        g_assert_cmpmem(contents[0], size[0], contents[1], size[1]);
        g_free(g_steal_pointer(&contents[1]));
}

static void test_given_up(Fixture *f, gconstpointer unused)
{
        (void)unused;
        g_assert_true(g_file_set_contents(f->path, "old", -1, NULL));
        Store *store = store_new(f->path, f->set, &RUN, NULL);
        g_assert_true(add_request(f, 1000, NULL));
        store_free(store);
        path_set_set_sink(f->set, NULL, NULL);
        g_autofree char *contents = NULL;
        g_assert_true(g_file_get_contents(f->path, &contents, NULL, NULL));
        g_assert_cmpstr(contents, ==, "old");
        g_assert_cmpuint(count_files(f->directory), ==, 1);
}

static void test_killed(Fixture *f, gconstpointer unused)
{
        pid_t child = fork();
        int status;

        (void)unused;
        if (child == 0) {
                Store *store = store_new(f->path, f->set, &RUN, NULL);
                for (int k = 0; store && k < 100000; k++)
                        add_request(f, k, NULL);
                kill(getpid(), SIGKILL);
        }
        g_assert_cmpint(waitpid(child, &status, 0), ==, child);
        g_assert_true(WIFSIGNALED(status));
        g_assert_false(g_file_test(f->path, G_FILE_TEST_EXISTS));
        /* Nobody could remove what it had begun. */
        g_autoptr(GDir) dir = g_dir_open(f->directory, 0, NULL);
        g_autofree char *left = g_build_filename(f->directory, g_dir_read_name(dir), NULL);
        g_assert_true(g_str_has_prefix(left, f->path));
        g_unlink(left);
}

/* Writes a store of many requests with causes, and is killed after a while. FALSE: it was whole. */
static gboolean write_until_killed(Fixture *f, gulong microseconds)
{
        enum { REQUESTS = 2000 };
        pid_t child = fork();
        int status;

        if (child == 0) {
                Store *store = store_new(f->path, f->set, &RUN, NULL);
                for (int k = 0; store && k < REQUESTS; k++)
                        add_request(f, k, NULL);
                _exit(!store || !store_finish(store, NULL));
        }
        g_usleep(microseconds);
        kill(child, SIGKILL);
        g_assert_cmpint(waitpid(child, &status, 0), ==, child);
        if (WIFSIGNALED(status) && !g_file_test(f->path, G_FILE_TEST_EXISTS))
                return TRUE;
        assert_query(f, "PRAGMA integrity_check", "ok\n");
        assert_query(f, "SELECT count(*), sum(time) FROM call_cause", "2000|20000\n");
        assert_query(f, "SELECT cause, count, total FROM pattern_cause", "round trip|2000|20000\n");
        return FALSE;
}

/* Whenever that is, the store is whole or not there. */
static void test_killed_at_any_time(Fixture *f, gconstpointer unused)
{
        (void)unused;
        for (gulong wait = 500; write_until_killed(f, wait); wait += wait / 4) {
                g_autoptr(GDir) dir = g_dir_open(f->directory, 0, NULL);
                const char *name;

                while ((name = g_dir_read_name(dir))) {
                        g_autofree char *left = g_build_filename(f->directory, name, NULL);
                        g_unlink(left);
                }
        }
}

static void test_link(Fixture *f, gconstpointer unused)
{
        g_autofree char *target = g_build_filename(f->directory, "target", NULL);

        (void)unused;
        g_assert_true(g_file_set_contents(target, "what was there before", -1, NULL));
        g_assert_cmpint(symlink("target", f->path), ==, 0);
        Store *store = store_new(f->path, f->set, &RUN, NULL);
        g_assert_nonnull(store);
        g_assert_true(add_request(f, 1000, NULL));
        g_assert_true(store_finish(store, NULL));
        assert_query(f, "SELECT count(*) FROM call", "3\n");
        g_assert_true(g_file_test(f->path, G_FILE_TEST_IS_SYMLINK));
        g_unlink(target);
}

static void test_no_file(Fixture *f, gconstpointer unused)
{
        g_autofree char *nowhere = g_build_filename(f->directory, "no", "such", NULL);
        const char *paths[] = { "-", "/dev/null", "/dev/full", f->directory, nowhere };

        (void)unused;
        for (gsize i = 0; i < G_N_ELEMENTS(paths); i++) {
                g_autoptr(GError) error = NULL;
                g_assert_null(store_new(paths[i], f->set, &RUN, &error));
                g_assert_error(error, RAVEL_ERROR, RAVEL_ERROR_OUTPUT);
                g_assert_true(g_str_has_prefix(error->message, paths[i]));
        }
}

/* On a file system of 256 KB the disk is full soon, wherever that is noticed. */
static void test_full_disk(Fixture *f, gconstpointer unused)
{
        (void)unused;
        if (mount("none", f->directory, "tmpfs", 0, "size=256k") < 0) {
                g_test_skip("cannot mount a small file system (not root)");
                return;
        }
        for (int n = 200; n <= 20000; n *= 10) {
                g_autoptr(GError) error = NULL;
                Store *store = store_new(f->path, f->set, &RUN, &error);
                g_assert_no_error(error);
                gboolean ok = TRUE;
                for (int k = 0; k < n && ok; k++)
                        ok = add_request(f, k * 1000, &error);
                if (ok)
                        ok = store_finish(store, &error);
                else
                        store_free(store);
                path_set_set_sink(f->set, NULL, NULL);
                if (n == 200) {
                        g_assert_no_error(error);
                        g_unlink(f->path);
                        continue;
                }
                g_assert_false(ok);
                g_assert_error(error, RAVEL_ERROR, RAVEL_ERROR_OUTPUT);
                g_assert_nonnull(strstr(error->message, "full"));
                g_assert_cmpuint(count_files(f->directory), ==, 0);
        }
        g_assert_cmpint(umount2(f->directory, MNT_DETACH), ==, 0);
}

#define ADD(name, test) g_test_add("/store/" name, Fixture, NULL, set_up, test, tear_down)

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        ADD("contents", test_contents);
        ADD("requests", test_requests);
        ADD("slowest", test_slowest);
        ADD("hours", test_hours);
        ADD("patterns-only", test_patterns_only);
        ADD("empty", test_empty);
        ADD("linear", test_linear);
        ADD("same-bytes", test_same_bytes);
        ADD("given-up", test_given_up);
        ADD("killed", test_killed);
        ADD("killed-at-any-time", test_killed_at_any_time);
        ADD("link", test_link);
        ADD("no-file", test_no_file);
        ADD("full-disk", test_full_disk);
        return g_test_run();
}
