/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A store answers what is asked in SQL, and nothing that is asked changes it or
 * any other file.
 */
#include <sqlite3.h>
#include <string.h>

#include "base/error.h"
#include "store/store-query.h"
#include "store/store.h"
#include "tests/unit/scratch.h"

/* a>b, n times, the latencies those of latency. */
static char *make_store(const gint64 *latency, guint n)
{
        static const StoreRun run = { .arguments = "", .parameters = "" };
        g_autoptr(NodeTable) nodes = node_table_new();
        g_autoptr(PathSet) set = path_set_new(nodes, SIBLINGS_MULTISET);
        NodeId a = node_table_add(nodes, "a", 1), b = node_table_add(nodes, "b", 1);
        char *path = scratch_path("out.sqlite");
        Store *store = store_new(path, set, &run, NULL);

        path_set_summary(set)->method = "paper";
        for (guint i = 0; i < n; i++) {
                PathCall call = { .parent = NO_PARENT,
                                  .caller = a,
                                  .callee = b,
                                  .reply = latency[i],
                                  .end = latency[i],
                                  .stamps = 15,
                                  .probability = 1,
                                  .family = 1 };
                g_assert_true(path_set_add(set, &call, 1, NULL));
        }
        g_assert_true(store_finish(store, NULL));
        return path;
}

/* The answer as text: columns by '|', rows by newlines; NULL with error set. */
static char *ask(const char *path, const char *sql, GError **error)
{
        g_autoptr(StoreQuery) query = store_query_new(path, sql, error);
        g_autoptr(GString) text = g_string_new(NULL);
        int status;

        if (!query)
                return NULL;
        while ((status = store_query_next(query, error)) > 0)
                for (guint i = 0; i < store_query_columns(query); i++) {
                        StoreValue value = store_query_value(query, i);

                        g_string_append_len(text, value.type == STORE_NULL ? "-" : value.text,
                                            value.type == STORE_NULL ? 1 : (gssize)value.n);
                        g_string_append_c(text, i + 1 < store_query_columns(query) ? '|' : '\n');
                }
        return status < 0 ? NULL : g_string_free(g_steal_pointer(&text), FALSE);
}

static void assert_answer(const char *path, const char *sql, const char *expected)
{
        g_autoptr(GError) error = NULL;
        g_autofree char *found = ask(path, sql, &error);

        g_assert_no_error(error);
        g_assert_cmpstr(found, ==, expected);
}

static int compare_times(const void *a, const void *b)
{
        gint64 x = *(const gint64 *)a, y = *(const gint64 *)b;

        return (x > y) - (x < y);
}

/* Against a sorted array, for one value up to some hundred. */
static void test_quantiles(void)
{
        g_autoptr(GRand) random = g_rand_new_with_seed(3);
        gint64 latency[201];

        for (guint n = 1; n <= G_N_ELEMENTS(latency); n += n < 12 ? 1 : 63) {
                g_autofree char *path = NULL, *expected = NULL;

                for (guint i = 0; i < n; i++)
                        latency[i] = g_rand_int_range(random, 0, 1000);
                path = make_store(latency, n);
                qsort(latency, n, sizeof *latency, compare_times);
                expected = g_strdup_printf("%d|%d|%d\n", (int)latency[(50 * n + 99) / 100 - 1],
                                           (int)latency[(90 * n + 99) / 100 - 1],
                                           (int)latency[(99 * n + 99) / 100 - 1]);
                assert_answer(path, "SELECT p50(latency), p90(latency), p99(latency) FROM path",
                              expected);
        }
        scratch_empty();
}

static void test_values(void)
{
        g_autofree char *path = make_store(NULL, 0);

        assert_answer(path, "SELECT p50(latency), count(*) FROM path", "-|0\n");
        assert_answer(path, "SELECT p50(column1) FROM (VALUES (NULL), (3), (NULL), (1))", "1\n");
        assert_answer(path, "SELECT p90(column1) FROM (VALUES (1), (3), (2.5))", "3.0\n");
        assert_answer(path, "SELECT p50(column1) FROM (VALUES (2.5), (9223372036854775807), (1))",
                      "2.5\n");
        /* Integers that a double would not tell apart. */
        assert_answer(path,
                      "SELECT p50(column1) FROM (VALUES (9223372036854775806), "
                      "(9223372036854775807), (9223372036854775805))",
                      "9223372036854775806\n");
        assert_answer(path,
                      "SELECT column1 % 2, p50(column1) FROM (VALUES (1), (2), (3), (4), (5)) "
                      "GROUP BY 1 -- two groups",
                      "0|2\n1|3\n");
        scratch_empty();
}

static void assert_refused(const char *path, const char *sql, int code, const char *message)
{
        g_autoptr(GError) error = NULL;

        g_assert_null(ask(path, sql, &error));
        g_assert_error(error, RAVEL_ERROR, code);
        if (!strstr(error->message, message))
                g_error("%s: found \"%s\", expected \"%s\"", sql, error->message, message);
}

static void test_wrong(void)
{
        static const char *const wrong[][2] = {
                { "", "the SQL has no statement, expected one" },
                { " -- nothing", "the SQL has no statement, expected one" },
                { "SELECT 1; SELECT 2", "the SQL has several statements, expected one" },
                { "SELECT 1; SELEC 2", "the SQL is wrong: near \"SELEC\": syntax error" },
                { "SELECT 1 FROM paths",
                  "no such table: paths; there are before, call, call_cause, capture, " },
                { "SELECT latncy FROM path", "the SQL is wrong: no such column: latncy" },
                { "SELECT p50('much')", "p50(), p90() and p99() are of numbers" },
                { "SELECT p50(1, 2)", "wrong number of arguments to function p50()" },
                { "SELECT sum(latency) FROM path, (VALUES (1), (1), (1)) ", "integer overflow" },
        };
        const gint64 latency = G_MAXINT64 / 2;
        g_autofree char *path = make_store(&latency, 1), *text = scratch_write("text", "1 2\n", -1);

        for (guint i = 0; i < G_N_ELEMENTS(wrong); i++)
                assert_refused(path, wrong[i][0], RAVEL_ERROR_USAGE, wrong[i][1]);
        assert_refused(text, "SELECT 1", RAVEL_ERROR_INPUT, "text: not a store, expected");
        scratch_empty();
}

/* Nothing but reading, here or in another file. */
static void test_read_only(void)
{
        static const char *const writing[] = {
                "DELETE FROM path",
                "INSERT INTO path SELECT * FROM path",
                "UPDATE run SET seed = 1",
                "DROP TABLE call",
                "ALTER TABLE call ADD COLUMN x",
                "CREATE TRIGGER t AFTER INSERT ON call BEGIN SELECT 1; END",
                "CREATE TABLE more (x)",
                "CREATE TEMP TABLE more (x)",
                "CREATE INDEX i ON call (path)",
                "ATTACH 'other.sqlite' AS other",
                "VACUUM",
                "VACUUM INTO 'other.sqlite'",
                "PRAGMA user_version = 2",
                "PRAGMA journal_mode = WAL",
                "PRAGMA temp_store_directory = '/'",
                "COMMIT",
                "REINDEX",
                "ANALYZE",
        };
        const gint64 latency = 7;
        g_autofree char *path = make_store(&latency, 1), *before = NULL, *after = NULL;
        gsize n_before, n_after;

        g_assert_true(g_file_get_contents(path, &before, &n_before, NULL));
        for (guint i = 0; i < G_N_ELEMENTS(writing); i++)
                assert_refused(path, writing[i], RAVEL_ERROR_USAGE, "the SQL does more than read");
        g_assert_true(g_file_get_contents(path, &after, &n_after, NULL));
        g_assert_cmpmem(before, n_before, after, n_after);
        g_assert_false(g_file_test("other.sqlite", G_FILE_TEST_EXISTS));
        scratch_empty();
}

/* Other programs, or enemies, put things into a store. None is read or run. */
static void test_strange(void)
{
        static const char *const strange =
                "CREATE TABLE theirs (x); INSERT INTO theirs VALUES (1);"
                "DROP VIEW request; CREATE VIEW request AS WITH RECURSIVE n (x) AS "
                "(SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT x AS id FROM n;"
                "CREATE VIEW theirs_too AS SELECT * FROM theirs;";
        const gint64 latency = 7;
        g_autofree char *path = make_store(&latency, 1);
        sqlite3 *db;

        g_assert_cmpint(sqlite3_open(path, &db), ==, SQLITE_OK);
        g_assert_cmpint(sqlite3_exec(db, strange, NULL, NULL, NULL), ==, SQLITE_OK);
        sqlite3_close(db);
        assert_answer(path, "SELECT id, latency FROM request", "1|7\n");
        assert_refused(path, "SELECT id FROM main.request", RAVEL_ERROR_USAGE, "the SQL is wrong");
        assert_refused(path, "SELECT * FROM theirs_too", RAVEL_ERROR_USAGE, "prohibited");
        assert_refused(path, "SELECT * FROM theirs", RAVEL_ERROR_USAGE, "more than read");
        assert_answer(path, "SELECT sum(value) FROM json_each('[1, 2]')", "3\n");
        assert_answer(path, "SELECT count(*) FROM request, json_each(nodes)", "1\n");
        assert_refused(path, "SELECT load_extension('x')", RAVEL_ERROR_USAGE, "not authorized");
        assert_refused(path, "SELECT fts3_tokenizer('x')", RAVEL_ERROR_USAGE, "the SQL is wrong");
        assert_refused(path, "SELECT hex(zeroblob(100000000))", RAVEL_ERROR_USAGE, "too big");

        g_assert_cmpint(sqlite3_open(path, &db), ==, SQLITE_OK);
        g_assert_cmpint(sqlite3_exec(db, "CREATE TABLE json_each (x)", NULL, NULL, NULL), ==,
                        SQLITE_OK);
        sqlite3_close(db);
        assert_refused(path, "SELECT x FROM json_each", RAVEL_ERROR_USAGE, "more than read");
        scratch_empty();
}

/* A store whose pages are not what they should be is the input's fault, not the question's. */
static void test_corrupt(void)
{
        gint64 latency[2000];
        g_autofree char *path = NULL, *bytes = NULL;
        gsize n;

        for (guint i = 0; i < G_N_ELEMENTS(latency); i++)
                latency[i] = i;
        path = make_store(latency, G_N_ELEMENTS(latency));
        g_assert_true(g_file_get_contents(path, &bytes, &n, NULL));
        memset(bytes + n / 2, 0xff, n / 4);
        g_free(scratch_write("out.sqlite", bytes, (gssize)n));
        assert_refused(path, "SELECT sum(own) FROM call", RAVEL_ERROR_INPUT,
                       "out.sqlite: cannot read the store: database disk image is malformed");
        scratch_empty();
}

int main(int argc, char **argv)
{
        int status;

        g_test_init(&argc, &argv, NULL);
        scratch_make();
        g_test_add_func("/store-query/quantiles", test_quantiles);
        g_test_add_func("/store-query/values", test_values);
        g_test_add_func("/store-query/wrong", test_wrong);
        g_test_add_func("/store-query/read-only", test_read_only);
        g_test_add_func("/store-query/strange", test_strange);
        g_test_add_func("/store-query/corrupt", test_corrupt);
        status = g_test_run();
        scratch_remove();
        return status;
}
