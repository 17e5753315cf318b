/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Exporting what is not as the program writes it: an answer or an error, whatever a
 * byte of the store is. What the formats say of a store that is whole, tests/scripts/export.sh
 * looks at.
 */
#include <sqlite3.h>
#include <string.h>

#include "base/error.h"
#include "export/export.h"
#include "store/store.h"
#include "tests/unit/scratch.h"

static const char *const formats[] = { "otlp", "folded", "chrome", "tsv" };

/* client>lb(db,web(db)), n times. */
static char *make_store(guint n)
{
        static const StoreRun run = { .arguments = "", .parameters = "" };
        g_autoptr(NodeTable) nodes = node_table_new();
        g_autoptr(PathSet) set = path_set_new(nodes, SIBLINGS_MULTISET);
        NodeId client = node_table_add(nodes, "client", 6), lb = node_table_add(nodes, "lb", 2);
        NodeId web = node_table_add(nodes, "web", 3), db = node_table_add(nodes, "db", 2);
        char *path = scratch_path("out.sqlite");
        Store *store = store_new(path, set, &run, NULL);

        path_set_summary(set)->method = "paper";
        path_set_summary(set)->first = 0;
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
                          .family = 1,
                          .id = "id",
                          .id_length = 2 },
                        { .parent = 0,
                          .caller = lb,
                          .callee = web,
                          .start = t + 10,
                          .enter = t + 10,
                          .reply = t + 40,
                          .end = t + 40,
                          .stamps = 5,
                          .probability = 0.5f,
                          .family = 1,
                          .candidates = 3,
                          .id = "x",
                          .id_length = 1 },
                        { .parent = 1,
                          .caller = web,
                          .callee = db,
                          .start = t + 20,
                          .enter = t + 20,
                          .reply = t + 30,
                          .end = t + 30,
                          .stamps = 5,
                          .probability = 1,
                          .family = 1,
                          .candidates = 1,
                          .id = "y",
                          .id_length = 1 },
                        { .parent = 0,
                          .caller = lb,
                          .callee = db,
                          .start = t + 50,
                          .enter = t + 50,
                          .reply = t + 90,
                          .end = t + 90,
                          .stamps = 10,
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

static gboolean export(const char *path, const char *format, GError **error)
{
        g_autoptr(NodeTable) nodes = node_table_new();
        g_autoptr(StoreReader) reader = store_reader_new(path, nodes, error);
        g_autoptr(OutputFile) out = NULL;

        return reader && (out = output_file_new("/dev/null", FALSE, error)) &&
               export_writer_lookup(format)(reader, nodes, out, error) &&
               output_file_close(g_steal_pointer(&out), error);
}

/* Each place by one of the formats in turn; with RAVEL_LONG, more places, and by all of them. */
static void test_changed_bytes(void)
{
        g_autofree char *path = make_store(20), *bytes = NULL;
        guint step = g_getenv("RAVEL_LONG") ? 1 : G_N_ELEMENTS(formats);
        guint refused = 0, changed = 0, places = 0;
        gsize n;

        g_assert_true(g_file_get_contents(path, &bytes, &n, NULL));
        for (gsize i = 0; i < n; i += step == 1 ? 61 : 397) {
                bytes[i] ^= 0x55;
                g_free(scratch_write("out.sqlite", bytes, (gssize)n));
                bytes[i] ^= 0x55;
                for (guint k = places++ % step; k < G_N_ELEMENTS(formats); k += step) {
                        g_autoptr(GError) error = NULL;
                        gboolean ok = export(path, formats[k], &error);

                        g_assert_true(ok == (error == NULL));
                        if (error)
                                g_assert_error(error, RAVEL_ERROR, RAVEL_ERROR_INPUT);
                        refused += !ok;
                        changed++;
                }
        }
        g_assert_cmpuint(refused, >, 0);
        g_assert_cmpuint(refused, <, changed);
        scratch_empty();
}

/* Each fault has its message, from every format that reads the faulty rows. */
static void test_wrong(void)
{
        static const struct {
                const char *sql, *format, *message; /* message: NULL where all is written */
        } wrong[] = {
                { "UPDATE call SET parent = 2 WHERE id = 4", "chrome", NULL },
                { "UPDATE call SET parent = 3 WHERE id = 4", "chrome", NULL },
                { "UPDATE call SET parent = 1 WHERE id = 3", "chrome", NULL },
                { "UPDATE call SET parent = 4 WHERE id = 3", "chrome", "wrong parent" },
                { "UPDATE call SET parent = 1 WHERE id = 1", "otlp", "wrong parent" },
                { "UPDATE call SET trace_id = 'a' || char(10) WHERE id = 1", "tsv",
                  "wrong trace_id, expected an id without blanks" },
                { "UPDATE call SET trace_id = x'80ff' WHERE id = 1", "otlp", NULL },
                { "UPDATE call SET own = 'much' WHERE id = 1", "tsv", "wrong own" },
                { "UPDATE call SET probability = 2.0 WHERE id = 1", "otlp", "wrong probability" },
                { "UPDATE path SET calls = 5 WHERE id = 2", "otlp", "4 calls of a path" },
                { "UPDATE path SET first_call = 0 WHERE id = 1", "tsv", "wrong first_call" },
                { "UPDATE pattern_node SET own = x'00' WHERE place = 2", "folded",
                  "row 3 of pattern_node: a distribution cannot be unpacked" },
                { "UPDATE pattern_node SET parent = 2 WHERE place = 2", "folded", "wrong parent" },
        };

        for (guint i = 0; i < G_N_ELEMENTS(wrong); i++) {
                g_autofree char *path = make_store(2);
                g_autoptr(GError) error = NULL;
                sqlite3 *db;

                g_assert_cmpint(sqlite3_open(path, &db), ==, SQLITE_OK);
                g_assert_cmpint(sqlite3_exec(db, wrong[i].sql, NULL, NULL, NULL), ==, SQLITE_OK);
                sqlite3_close(db);
                g_assert_true(export(path, wrong[i].format, &error) == !wrong[i].message);
                if (wrong[i].message && !strstr(error->message, wrong[i].message))
                        g_error("%s: found \"%s\", expected \"%s\"", wrong[i].sql, error->message,
                                wrong[i].message);
        }
        scratch_empty();
}

int main(int argc, char **argv)
{
        int status;

        g_test_init(&argc, &argv, NULL);
        scratch_make();
        g_test_add_func("/export/changed-bytes", test_changed_bytes);
        g_test_add_func("/export/wrong", test_wrong);
        status = g_test_run();
        scratch_remove();
        return status;
}
