/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What a store holds is read back as it was, and what is no store, or not whole, or
 * not as it should be, is an error that says so.
 */
#include <sqlite3.h>
#include <string.h>

#include "base/error.h"
#include "store/store-reader.h"
#include "store/store.h"
#include "tests/unit/scratch.h"

/* client>lb(db,web%2C1), n times, into a store. */
static char *make_store(guint n)
{
        static const StoreRun run = { .arguments = "nesting -o x y.trace",
                                      .parameters = "fold=1\nsibling_order=multiset\n" };
        g_autoptr(NodeTable) nodes = node_table_new();
        g_autoptr(PathSet) set = path_set_new(nodes, SIBLINGS_MULTISET);
        NodeId client = node_table_add(nodes, "client", 6), lb = node_table_add(nodes, "lb", 2);
        NodeId web = node_table_add(nodes, "web,1", 5), db = node_table_add(nodes, "db", 2);
        char *path = scratch_path("out.sqlite");
        Store *store = store_new(path, set, &run, NULL);

        g_assert_nonnull(store);
        *path_set_summary(set) = (PathSetSummary){ .method = "cheat",
                                                   .messages = 7,
                                                   .calls = 6,
                                                   .unmatched_calls = 5,
                                                   .unmatched_returns = 4,
                                                   .cut_instances = 3,
                                                   .last = 2000,
                                                   .parallelism = 1.5 };
        g_assert_true(store_add_capture(store, "y.trace", "ab12",
                                        (char *[]){ (char *)"packets: 8" }, 1, NULL));
        g_assert_true(store_add_capture(store, "-", NULL, NULL, 0, NULL));
        for (gint64 t = 0; t < n * 1000; t += 1000) {
                PathCall calls[] = {
                        { .parent = NO_PARENT,
                          .caller = client,
                          .callee = lb,
                          .start = t,
                          .enter = t + 5,
                          .reply = t + 95,
                          .end = t + 100,
                          .stamps = 15,
                          .probability = 1,
                          .family = 0.5f,
                          .id = "id37",
                          .id_length = 4 },
                        { .parent = 0,
                          .caller = lb,
                          .callee = web,
                          .start = t + 10,
                          .enter = t + 10,
                          .reply = t + 40,
                          .end = t + 40,
                          .stamps = 1 << CALL_SENT | 1 << RET_SENT,
                          .probability = 0.5f,
                          .family = 1,
                          .candidates = 3,
                          .id = "x",
                          .id_length = 1 },
                        { .parent = 0,
                          .caller = lb,
                          .callee = db,
                          .start = t + 50,
                          .enter = t + 50,
                          .reply = t + 90,
                          .end = t + 90,
                          .stamps = 1 << CALL_RECV | 1 << RET_RECV,
                          .probability = 1,
                          .family = 1,
                          .candidates = 1,
                          .id = NULL },
                };
                g_assert_true(path_set_add(set, calls, G_N_ELEMENTS(calls), NULL));
        }
        g_assert_true(store_finish(store, NULL));
        return path;
}

/* Parent and node, and the count and mean of each of its delays. */
static gboolean append_node(GString *text, StoreReader *r, const NodeTable *nodes,
                            const StoredPatternNode *node, GError **error)
{
        const StoredHistogram *const stored[] = { &node->latency, &node->call_delay, &node->own,
                                                  &node->network };

        g_string_append_printf(text, "  %d %s", (gint32)node->parent,
                               node_table_name(nodes, node->node));
        for (guint i = 0; i < G_N_ELEMENTS(stored); i++) {
                Histogram h = HISTOGRAM_INIT;
                if (!store_reader_histogram(r, stored[i], &h, error))
                        return FALSE;
                g_string_append_printf(text, " %" G_GUINT64_FORMAT "x%" G_GINT64_FORMAT, h.count,
                                       histogram_mean(&h));
                histogram_clear(&h);
        }
        g_string_append_c(text, '\n');
        return TRUE;
}

/* The calls of a path: place, parent, nodes, times, and how sure the parent is. */
static gboolean append_path_calls(GString *text, StoreReader *r, const NodeTable *nodes,
                                  const StoredPath *path, GError **error)
{
        g_autoptr(GArray) calls = g_array_new(FALSE, FALSE, sizeof(PathCall));
        g_autoptr(GArray) places = g_array_new(FALSE, FALSE, sizeof(guint32));

        if (!store_reader_path_calls(r, path, calls, places, error))
                return FALSE;
        for (guint i = 0; i < calls->len; i++) {
                const PathCall *c = &g_array_index(calls, PathCall, i);
                g_string_append_printf(text,
                                       "  %u %d %s %" G_GINT64_FORMAT " %" G_GINT64_FORMAT
                                       " %" G_GINT64_FORMAT " %" G_GINT64_FORMAT
                                       " %x %" G_GINT64_FORMAT " %" G_GINT64_FORMAT " %g %u\n",
                                       g_array_index(places, guint32, i), (gint32)c->parent,
                                       node_table_name(nodes, c->callee), c->start, c->enter,
                                       c->reply, c->end, c->stamps, c->own, c->network,
                                       (double)c->probability, c->candidates);
        }
        return TRUE;
}

/* Reads all there is, as text; NULL with error set. */
static char *read_store(const char *path, GError **error)
{
        g_autoptr(NodeTable) nodes = node_table_new();
        g_autoptr(StoreReader) r = NULL;
        g_autoptr(GString) text = g_string_new(NULL);
        g_autoptr(GArray) paths = g_array_new(FALSE, FALSE, sizeof(StoredPath));
        StoredCapture capture;
        StoredPattern pattern;
        StoredPatternNode node;
        StoredPath stored;
        StoredCall call;
        int status;

        node_table_add(nodes, "another store's", 15);
        if (!(r = store_reader_new(path, nodes, error)))
                return NULL;
        const StoredRun *run = store_reader_run(r);
        g_string_append_printf(text, "%s %s", run->method, run->parameters);
        if (run->messages != 7 || run->calls != 6 || run->unmatched_calls != 5 ||
            run->unmatched_returns != 4 || run->cut_paths != 3 || run->parallelism != 1.5 ||
            run->first != 0 || run->last != 2000)
                g_string_append(text, "another summary\n");
        while ((status = store_reader_next_capture(r, &capture, error)) > 0)
                g_string_append_printf(text, "%s %s\n%s", capture.name,
                                       capture.sha256 ? capture.sha256 : "none", capture.facts);
        while (status == 0 && (status = store_reader_next_pattern(r, &pattern, error)) > 0) {
                g_string_append_printf(text,
                                       "%s\n%s %" G_GUINT64_FORMAT " %" G_GINT64_FORMAT
                                       " %" G_GINT64_FORMAT " %" G_GINT64_FORMAT " %g\n",
                                       pattern.signature, node_table_name(nodes, pattern.client),
                                       pattern.count, pattern.total, pattern.p90, pattern.max,
                                       pattern.probability);
                status = 0;
        }
        while (status == 0 && (status = store_reader_next_pattern_node(r, &node, error)) > 0) {
                g_string_append_printf(text,
                                       "%u %u %" G_GINT64_FORMAT " %" G_GINT64_FORMAT
                                       " %" G_GINT64_FORMAT " %" G_GINT64_FORMAT "\n",
                                       node.pattern, node.place, node.latency_mean,
                                       node.latency_p99, node.own_mean, node.own_p99);
                if (!append_node(text, r, nodes, &node, error))
                        return NULL;
                status = 0;
        }
        while (status == 0 && (status = store_reader_next_path(r, &stored, error)) > 0) {
                g_string_append_printf(text, "of %u %" G_GINT64_FORMAT " %" G_GINT64_FORMAT " %g\n",
                                       stored.pattern, stored.start, stored.latency,
                                       stored.probability);
                g_array_append_val(paths, stored);
                status = 0;
        }
        while (status == 0 && (status = store_reader_next_call(r, &call, error)) > 0) {
                g_string_append_printf(
                        text, "%u %d %s %s %" G_GINT64_FORMAT " %" G_GINT64_FORMAT " %.*s\n",
                        call.path, (gint32)call.parent, node_table_name(nodes, call.caller),
                        node_table_name(nodes, call.callee), call.start, call.end,
                        (int)call.id_length, call.id ? call.id : "");
                status = 0;
        }
        for (guint i = 0; i < paths->len && status == 0; i++)
                if (!append_path_calls(text, r, nodes, &g_array_index(paths, StoredPath, i), error))
                        return NULL;
        return status < 0 ? NULL : g_string_free(g_steal_pointer(&text), FALSE);
}

static void test_contents(void)
{
        g_autofree char *path = make_store(2);
        g_autoptr(GError) error = NULL;
        g_autofree char *text = read_store(path, &error);

        g_assert_no_error(error);
        g_assert_cmpstr(text, ==,
                        "cheat fold=1\nsibling_order=multiset\n"
                        "y.trace ab12\npackets: 8\n- none\n"
                        "client>lb(db,web%2C1)\nclient 2 200 100 100 0.5\n"
                        "0 0 100 100 20 20\n  -1 lb 2x100 2x0 2x20 2x10\n"
                        "0 1 40 40 40 40\n  0 db 2x40 2x45 2x40 2x0\n"
                        "0 2 30 30 30 30\n  0 web,1 2x30 2x5 2x30 2x0\n"
                        "of 0 0 100 0.5\nof 0 1000 100 0.5\n"
                        "0 -1 client lb 0 100 id37\n0 0 lb web,1 10 40 x\n0 0 lb db 50 90 \n"
                        "1 -1 client lb 1000 1100 id37\n1 3 lb web,1 1010 1040 x\n"
                        "1 3 lb db 1050 1090 \n"
                        "  0 -1 lb 0 5 95 100 f 20 10 1 0\n"
                        "  2 0 web,1 10 10 40 40 5 30 0 0.5 3\n"
                        "  1 0 db 50 50 90 90 a 40 0 1 1\n"
                        "  0 -1 lb 1000 1005 1095 1100 f 20 10 1 0\n"
                        "  2 0 web,1 1010 1010 1040 1040 5 30 0 0.5 3\n"
                        "  1 0 db 1050 1050 1090 1090 a 40 0 1 1\n");
}

/* Out of turn: the calls of a path, and a distribution. */
static void test_path_calls(void)
{
        g_autofree char *path = make_store(2);
        g_autoptr(NodeTable) nodes = node_table_new();
        g_autoptr(StoreReader) r = store_reader_new(path, nodes, NULL);
        g_autoptr(GArray) calls = g_array_new(FALSE, FALSE, sizeof(PathCall));
        g_autoptr(GArray) places = g_array_new(FALSE, FALSE, sizeof(guint32));
        g_autoptr(GString) text = g_string_new(NULL);
        StoredPattern pattern;
        StoredPatternNode node;
        StoredPath stored;

        g_assert_true(store_reader_expect_requests(r, NULL));
        g_assert_cmpint(store_reader_next_pattern(r, &pattern, NULL), ==, 1);
        g_assert_cmpstr(node_table_name(nodes, pattern.client), ==, "client");
        g_assert_cmpuint(pattern.count, ==, 2);
        for (guint32 place = 0; place < 3; place++) {
                static const guint32 own[] = { 40, 80, 60 };
                Histogram h = HISTOGRAM_INIT;

                g_assert_cmpint(store_reader_next_pattern_node(r, &node, NULL), ==, 1);
                g_assert_cmpuint(node.parent, ==, place == 0 ? NO_PARENT : 0);
                g_assert_true(store_reader_histogram(r, &node.own, &h, NULL));
                g_assert_true(h.sum == own[place]);
                histogram_clear(&h);
        }
        for (guint32 i = 0; store_reader_next_path(r, &stored, NULL) > 0; i++) {
                g_assert_cmpint(stored.start, ==, 1000 * i);
                g_assert_cmpint(stored.latency, ==, 100);
                g_assert_true(store_reader_path_calls(r, &stored, calls, places, NULL));
                for (guint k = 0; k < calls->len; k++) {
                        const PathCall *c = &g_array_index(calls, PathCall, k);

                        g_string_append_printf(
                                text, "%u at %u below %d: %d %d %d %d (%x) %.*s own %d of %u\n",
                                c->call, g_array_index(places, guint32, k), (gint32)c->parent,
                                (int)c->start, (int)c->enter, (int)c->reply, (int)c->end, c->stamps,
                                (int)c->id_length, c->id ? c->id : "", (int)c->own, c->candidates);
                }
        }
        g_assert_cmpstr(text->str, ==,
                        "0 at 0 below -1: 0 5 95 100 (f) id37 own 20 of 0\n"
                        "1 at 2 below 0: 10 10 40 40 (5) x own 30 of 3\n"
                        "2 at 1 below 0: 50 50 90 90 (a)  own 40 of 1\n"
                        "3 at 0 below -1: 1000 1005 1095 1100 (f) id37 own 20 of 0\n"
                        "4 at 2 below 0: 1010 1010 1040 1040 (5) x own 30 of 3\n"
                        "5 at 1 below 0: 1050 1050 1090 1090 (a)  own 40 of 1\n");
        scratch_empty();
}

static void test_empty(void)
{
        g_autofree char *path = make_store(0);
        g_autofree char *text = read_store(path, NULL);

        g_assert_cmpstr(text, ==,
                        "cheat fold=1\nsibling_order=multiset\ny.trace ab12\npackets: 8\n- none\n");
}

static void assert_refused(const char *path, const char *message)
{
        g_autoptr(GError) error = NULL;

        g_assert_null(read_store(path, &error));
        g_assert_error(error, RAVEL_ERROR, RAVEL_ERROR_INPUT);
        g_assert_true(g_str_has_prefix(error->message, path));
        if (!strstr(error->message, message))
                g_error("found \"%s\", expected \"%s\"", error->message, message);
}

static void run_sql(sqlite3 *db, const char *sql)
{
        if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK)
                g_error("%s: %s", sql, sqlite3_errmsg(db));
}

static sqlite3 *open_database(const char *path)
{
        sqlite3 *db;

        g_assert_cmpint(sqlite3_open(path, &db), ==, SQLITE_OK);
        return db;
}

static void test_no_store(void)
{
        g_autofree char *nowhere = scratch_path("nowhere");
        g_autofree char *text = scratch_write("text", "1.0 CALL_SENT a b 1\n", -1);
        g_autofree char *empty = scratch_write("empty", "", 0);

        assert_refused(nowhere, ": cannot open: No such file");
        assert_refused(scratch, ": not a store, expected a regular file");
        assert_refused("/dev/null", ": not a store, expected a regular file");
        assert_refused(text, ": not a store, expected an SQLite database made with -o");
        assert_refused(empty, ": not a store, the file is empty");
        scratch_empty();
}

/* Each fault of a store has its message. */
static void test_wrong(void)
{
        static const char *const wrong[][2] = {
                { "PRAGMA application_id = 1", "an SQLite database of another program" },
                { "PRAGMA user_version = 999", "a store of version 999, expected version 1 to " },
                { "PRAGMA user_version = 0", "a store of version 0, expected version 1 to " },
                { "DROP TABLE path", "the store is corrupt: it has no table path" },
                { "ALTER TABLE call RENAME caller TO c", "row 1 of call: wrong caller" },
                { "ALTER TABLE call RENAME id TO c", "call is not the table that ravel makes" },
                { "ALTER TABLE path RENAME TO p; ALTER TABLE p RENAME TO Path",
                  "path is not the table that ravel makes" },
                { "ALTER TABLE path ADD COLUMN x AS (latency + 1)",
                  "path is not the table that ravel makes" },
                { "PRAGMA legacy_alter_table = ON; CREATE TABLE c AS SELECT * FROM call; "
                  "DROP TABLE call; "
                  "ALTER TABLE c RENAME TO call",
                  "call is not the table that ravel makes" },
                { "PRAGMA legacy_alter_table = ON; CREATE TABLE p AS SELECT * FROM pattern; "
                  "DROP TABLE pattern; "
                  "CREATE VIEW pattern AS WITH RECURSIVE n (x) AS "
                  "(SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT p.* FROM p, n",
                  "pattern is not the table that ravel makes" },
                { "UPDATE node SET name = zeroblob(70000000)", "string or blob too big" },
                { "UPDATE path SET first_call = 1, calls = 6", "row 2 of path: wrong first_call" },
                { "DELETE FROM run", "run has no row, expected one" },
                { "UPDATE run SET parameters = NULL", "row 1 of run: wrong parameters" },
                { "UPDATE run SET method = x'ff'", "row 1 of run: wrong method, expected text" },
                { "UPDATE capture SET sha256 = x'c0' WHERE id = 1",
                  "row 1 of capture: wrong sha256" },
                { "DELETE FROM node WHERE id = 2",
                  "row 2 of node: wrong id, expected a number from 2 to 2" },
                { "UPDATE pattern SET id = 7", "row 1 of pattern: wrong id" },
                { "UPDATE pattern SET signature = x'ff'", "row 1 of pattern: wrong signature" },
                { "DELETE FROM pattern_node WHERE place = 1",
                  "row 2 of pattern_node: wrong place" },
                { "UPDATE pattern_node SET pattern = 2",
                  "row 1 of pattern_node: wrong pattern, expected a number from 1 to 1" },
                { "UPDATE pattern_node SET own_p99 = 0.5", "wrong own_p99, expected a number" },
                { "UPDATE path SET pattern = 0", "row 1 of path: wrong pattern" },
                { "UPDATE run SET messages = -1", "row 1 of run: wrong messages" },
                { "UPDATE capture SET facts = x'ff'", "row 1 of capture: wrong facts" },
                { "UPDATE pattern SET client = 5", "row 1 of pattern: wrong client" },
                { "UPDATE pattern SET count = -1", "row 1 of pattern: wrong count" },
                { "UPDATE pattern SET probability = 1.5",
                  "row 1 of pattern: wrong probability, expected a probability" },
                { "UPDATE pattern_node SET parent = 0 WHERE place = 0",
                  "row 1 of pattern_node: wrong parent" },
                { "UPDATE pattern_node SET parent = 2 WHERE place = 2",
                  "row 3 of pattern_node: wrong parent, expected a number from 0 to 1" },
                { "UPDATE pattern_node SET own = x'ffff' WHERE place = 1",
                  "row 2 of pattern_node: a distribution cannot be unpacked" },
                { "UPDATE path SET first_call = 0 WHERE id = 1",
                  "row 1 of path: wrong first_call" },
                { "UPDATE path SET calls = 9 WHERE id = 2", "3 calls of a path, expected 9" },
                { "UPDATE path SET calls = 4 WHERE id = 1; UPDATE path SET first_call = 5, "
                  "calls = 2 WHERE id = 2",
                  "row 4 of call: wrong parent" },
                { "UPDATE path SET calls = 2 WHERE id = 1; UPDATE path SET first_call = 3, "
                  "calls = 4 WHERE id = 2",
                  "row 3 of call: wrong parent, expected none" },
                { "UPDATE call SET candidates = -1 WHERE id = 2",
                  "row 2 of call: wrong candidates" },
                { "DELETE FROM path WHERE id = 1", "row 1 of path: wrong id" },
                { "DELETE FROM path WHERE id = 2",
                  "row 4 of call: wrong path, expected no such row" },
                { "DELETE FROM call WHERE id > 3", "calls of 1 paths, expected of 2" },
                { "DELETE FROM call", "calls of 0 paths, expected of 2" },
                { "UPDATE call SET id = 9 WHERE id = 6", "row 6 of call: wrong id" },
                { "UPDATE call SET parent = 3 WHERE id = 1; UPDATE call SET path = 0 WHERE id = 1",
                  "row 1 of call: wrong path" },
                { "UPDATE call SET parent = 1 WHERE id = 5",
                  "row 5 of call: wrong parent, expected a number from 4 to 4" },
                { "UPDATE call SET parent = 3 WHERE id = 3", "row 3 of call: wrong parent" },
                { "UPDATE call SET parent = NULL WHERE id = 3", "row 3 of call: wrong path" },
                { "UPDATE call SET path = 2 WHERE id = 2", "row 2 of call: wrong path" },
                { "UPDATE call SET caller = 5 WHERE id = 1",
                  "wrong caller, expected a number from 1 to 4" },
                { "UPDATE call SET callee = 0 WHERE id = 1", "wrong callee" },
                { "UPDATE call SET callee = 'lb' WHERE id = 1", "wrong callee" },
                { "UPDATE call SET call_sent = NULL, call_recv = NULL WHERE id = 1",
                  "row 1 of call: wrong call_sent" },
                { "UPDATE call SET ret_sent = 'x', ret_recv = NULL WHERE id = 1",
                  "row 1 of call: wrong ret_recv" },
                { "UPDATE pattern_node SET errors = 1 << 62", "wrong errors" },
                { "UPDATE call SET connect = (1 << 62) WHERE id = 1", "wrong connect" },
                { "UPDATE call SET own = ~(1 << 63), wait = 1, own_queued = own, queued = 1 "
                  "WHERE id = 1; UPDATE call SET own_queued = own WHERE id = 1",
                  "wrong own_queued" },
                { "DELETE FROM call_cause; UPDATE call SET network = 5 WHERE id = 1; "
                  "INSERT INTO call_cause VALUES (1, 'resent', 3), (1, 'sending', 3)",
                  "row 1 of call: wrong causes, expected causes and their times" },
        };

        for (guint i = 0; i < G_N_ELEMENTS(wrong); i++) {
                g_autofree char *path = make_store(2);
                sqlite3 *db = open_database(path);

                run_sql(db, wrong[i][0]);
                sqlite3_close(db);
                assert_refused(path, wrong[i][1]);
        }
        scratch_empty();
}

static void test_locked(void)
{
        g_autofree char *path = make_store(2);
        sqlite3 *db = open_database(path);

        run_sql(db, "BEGIN EXCLUSIVE");
        assert_refused(path, ": cannot read the store: database is locked");
        sqlite3_close(db);
        scratch_empty();
}

/* Wherever it ends. */
static void test_truncated(void)
{
        g_autofree char *path = make_store(500);
        g_autofree char *bytes = NULL;
        gsize n;

        g_assert_true(g_file_get_contents(path, &bytes, &n, NULL));
        for (gsize length = 1; length < n; length += 509) {
                g_free(scratch_write("out.sqlite", bytes, length));
                assert_refused(path, ": ");
        }
        scratch_empty();
}

/* Whatever a byte is: an answer or an error. */
/* Some places of each page; with RAVEL_LONG, more. */
static void test_changed_bytes(void)
{
        gsize step = g_getenv("RAVEL_LONG") ? 37 : 337;
        g_autofree char *path = make_store(20);
        g_autofree char *bytes = NULL;
        guint refused = 0;
        gsize n;

        g_assert_true(g_file_get_contents(path, &bytes, &n, NULL));
        for (gsize i = 0; i < n; i += i < 100 ? 1 : step) {
                g_autoptr(GError) error = NULL;
                g_autofree char *text = NULL;

                bytes[i] ^= 0x55;
                g_free(scratch_write("out.sqlite", bytes, n));
                bytes[i] ^= 0x55;
                text = read_store(path, &error);
                g_assert_true((text != NULL) != (error != NULL));
                if (error)
                        g_assert_error(error, RAVEL_ERROR, RAVEL_ERROR_INPUT);
                refused += error != NULL;
        }
        g_assert_cmpuint(refused, >, 20);
        scratch_empty();
}

int main(int argc, char **argv)
{
        int status;

        g_test_init(&argc, &argv, NULL);
        scratch_make();
        g_test_add_func("/store-reader/contents", test_contents);
        g_test_add_func("/store-reader/path-calls", test_path_calls);
        g_test_add_func("/store-reader/empty", test_empty);
        g_test_add_func("/store-reader/no-store", test_no_store);
        g_test_add_func("/store-reader/wrong", test_wrong);
        g_test_add_func("/store-reader/locked", test_locked);
        g_test_add_func("/store-reader/truncated", test_truncated);
        g_test_add_func("/store-reader/changed-bytes", test_changed_bytes);
        status = g_test_run();
        scratch_remove();
        return status;
}
