/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Opens a store, and reads its run, nodes and labels.
 */
#include "store/store-columns.h"

#include <string.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/printable.h"
#include "store/store-error.h"

/* Stores of requests, of patterns and of one long chain take 0.03 to 0.32 of SQLite's steps
 * for each of their bytes. Far more are of rows or keys that were made to cost. */
enum { STEPS_PER_BYTE = 16, STEPS_AT_LEAST = 10000000, STEPS_PER_LOOK = 1000 };

static int spend_work(void *data)
{
        StoreReader *r = data;

        return (r->work_left -= STEPS_PER_LOOK) < 0;
}

static void limit_work(StoreReader *r)
{
        struct stat st;
        gint64 size = stat(r->path, &st) == 0 ? (gint64)st.st_size : 0;

        r->work_left = STEPS_AT_LEAST + STEPS_PER_BYTE * MIN(size, G_MAXINT64 >> 8);
        sqlite3_progress_handler(r->db, STEPS_PER_LOOK, spend_work, r);
}

static gboolean read_run(StoreReader *r, GError **error)
{
        Row row = row_next(r, RUN, error);
        const char *method = row_text(&row, 0), *parameters = row_text(&row, 1);
        const char *version = row_text(&row, 2);

        if (row.status == 0)
                return store_reader_fail(r, error, "run has no row, expected one");
        if (row.status < 0)
                return FALSE;
        r->method = printable_new(method, PRINTABLE_TEXT);
        r->parameters = g_strdup(parameters);
        r->version = printable_new(version, PRINTABLE_TEXT);
        r->run = (StoredRun){ .version = r->version,
                              .method = r->method,
                              .parameters = r->parameters,
                              .parallelism = sqlite3_column_double(r->select[RUN], 8) };
        r->run.messages = row_count(&row, 3);
        r->run.calls = row_count(&row, 4);
        r->run.unmatched_calls = row_count(&row, 5);
        r->run.unmatched_returns = row_count(&row, 6);
        r->run.cut_paths = row_count(&row, 7);
        r->run.first = row_stamp(&row, 9, NO_TIME);
        r->run.last = row_stamp(&row, 10, NO_TIME);
        return row.status > 0;
}

/* Of a store that says nothing, as if all was fit. */
static gboolean read_judgement(StoreReader *r, GError **error)
{
        Row row = row_next(r, JUDGEMENT, error);

        r->run.judgement = r->judgement = g_strdup(row_some_text(&row, 0));
        r->run.fit = !r->judgement || row_number(&row, 1, 0, 1) == 1;
        return row.status >= 0;
}

static gboolean stored_run_read_nodes(StoreReader *r, NodeTable *nodes, GError **error)
{
        g_autoptr(GArray) ids = g_array_new(FALSE, FALSE, sizeof(NodeId));
        Row row;

        while ((row = row_next(r, NODE, error)).status > 0) {
                const char *name = row_text(&row, 1);
                NodeId node;

                row_check_id(&row);
                if (row.status < 0)
                        return FALSE;
                node = node_table_add(nodes, name, strlen(name));
                g_array_append_val(ids, node);
        }
        r->nodes = (NodeId *)g_array_free(g_steal_pointer(&ids), FALSE);
        return row.status == 0;
}

static gboolean read_labels(StoreReader *r, GError **error)
{
        Row row;

        while ((row = row_next(r, LABEL, error)).status > 0) {
                const char *name = row_text(&row, 1);

                row_check_id(&row);
                if (row.status < 0)
                        return FALSE;
                g_ptr_array_add(r->labels, g_strdup(name));
        }
        return row.status == 0;
}

/* What sql, one truth value, says of the store. */
static gboolean stored_run_ask(StoreReader *r, const char *sql, gboolean *answer, GError **error)
{
        sqlite3_stmt *s;
        gboolean ok = sqlite3_prepare_v2(r->db, sql, -1, &s, NULL) == SQLITE_OK &&
                      sqlite3_step(s) == SQLITE_ROW;

        if (ok)
                *answer = sqlite3_column_int(s, 0) != 0;
        else
                store_set_error(r->db, r->path, error);
        sqlite3_finalize(s);
        return ok;
}

static gboolean read_has_labels(StoreReader *r, GError **error)
{
        return stored_run_ask(r,
                              "SELECT EXISTS (SELECT 1 FROM pattern WHERE label IS NOT NULL) "
                              "OR NOT EXISTS (SELECT 1 FROM pattern)",
                              &r->has_labels, error);
}

static gboolean read_has_causes(StoreReader *r, GError **error)
{
        return stored_run_ask(r, "SELECT user_version >= 6 FROM pragma_user_version",
                              &r->has_causes, error);
}

StoreReader *store_reader_new(const char *path, NodeTable *nodes, GError **error)
{
        g_autoptr(StoreReader) r = g_new0(StoreReader, 1);

        r->path = g_strdup(path);
        r->ids = g_string_new(NULL);
        r->signature = g_string_new(NULL);
        r->labels = g_ptr_array_new_with_free_func(g_free);
        r->next_call = 1;
        if (!(r->db = store_open(path, FALSE, error)))
                return NULL;
        limit_work(r);
        for (guint t = 0; t < N_TABLES; t++)
                if (sqlite3_prepare_v2(r->db, store_tables[t].select, -1, &r->select[t], NULL) !=
                    SQLITE_OK) {
                        store_set_error(r->db, r->path, error);
                        return NULL;
                }
        if (!read_run(r, error) || !read_judgement(r, error) ||
            !stored_run_read_nodes(r, nodes, error) || !read_labels(r, error) ||
            !read_has_labels(r, error) || !read_has_causes(r, error))
                return NULL;
        return g_steal_pointer(&r);
}

void store_reader_free(StoreReader *r)
{
        if (!r)
                return;
        for (guint t = 0; t < N_TABLES; t++)
                sqlite3_finalize(r->select[t]);
        sqlite3_close(r->db);
        g_string_free(r->ids, TRUE);
        g_string_free(r->signature, TRUE);
        g_ptr_array_unref(r->labels);
        g_free(r->nodes);
        g_free(r->method);
        g_free(r->judgement);
        g_free(r->parameters);
        g_free(r->version);
        g_free(r->path);
        g_free(r);
}

const char *store_reader_name(const StoreReader *r)
{
        return r->path;
}

const StoredRun *store_reader_run(const StoreReader *r)
{
        return &r->run;
}

gboolean store_reader_has_labels(const StoreReader *r)
{
        return r->has_labels;
}

gboolean store_reader_has_causes(const StoreReader *r)
{
        return r->has_causes;
}

gboolean store_reader_continues(StoreReader *r)
{
        gboolean goes_on = FALSE;

        stored_run_ask(r, "SELECT EXISTS (SELECT 1 FROM pattern_node WHERE continues IS NOT NULL)",
                       &goes_on, NULL);
        return goes_on;
}

const char *store_reader_label(const StoreReader *r, guint32 label)
{
        return label > 0 && label <= r->labels->len ? r->labels->pdata[label - 1] : NULL;
}

gboolean store_reader_expect_requests(StoreReader *r, GError **error)
{
        gboolean none;

        if (!stored_run_ask(
                    r, "SELECT EXISTS (SELECT 1 FROM pattern) AND NOT EXISTS (SELECT 1 FROM path)",
                    &none, error))
                return FALSE;
        return !none || ravel_fail(error, RAVEL_ERROR_INPUT,
                                   "%s: has patterns only, as of convolution or --no-requests, "
                                   "expected requests",
                                   r->path);
}
