/* SPDX-License-Identifier: BSD-2-Clause */
#include "store/store-query.h"

#include <string.h>

#include "base/compare.h"
#include "base/each.h"
#include "base/error.h"
#include "store/store-error.h"
#include "store/store-layout.h"

struct StoreQuery {
        char *path;
        sqlite3 *db;
        sqlite3_stmt *select;
        GPtrArray *names; /* of the columns */
        char **tables;    /* that may be read */
        gboolean has_json;
};

/* --- p50, p90, p99 --------------------------------------------------------- */

typedef union {
        gint64 integer;
        double real;
} Number;

/* The values of one group: integers, until one of them is none. */
typedef struct {
        GArray *numbers; /* of Number */
        gboolean real;
} Sample;

COMPARISON(compare_integers, Number, COMPARE(a->integer, b->integer))

COMPARISON(compare_reals, Number, COMPARE(a->real, b->real))

static void sample_make_real(Sample *sample)
{
        EACH (Number, number, sample->numbers)
                number->real = (double)number->integer;
        sample->real = TRUE;
}

static void sample_step(sqlite3_context *context, int n, sqlite3_value **values)
{
        Sample *sample = sqlite3_aggregate_context(context, sizeof *sample);
        int type = sqlite3_value_type(values[0]);
        Number number;

        (void)n;
        if (!sample || type == SQLITE_NULL)
                return;
        if (type != SQLITE_INTEGER && type != SQLITE_FLOAT) {
                sqlite3_result_error(context, "p50(), p90() and p99() are of numbers", -1);
                return;
        }
        if (!sample->numbers)
                sample->numbers = g_array_new(FALSE, FALSE, sizeof(Number));
        if (type == SQLITE_FLOAT && !sample->real)
                sample_make_real(sample);
        if (sample->real)
                number.real = sqlite3_value_double(values[0]);
        else
                number.integer = sqlite3_value_int64(values[0]);
        g_array_append_val(sample->numbers, number);
}

/* The percentage is the function's own data. */
static void sample_final(sqlite3_context *context)
{
        const guint64 *percent = sqlite3_user_data(context);
        Sample *sample = sqlite3_aggregate_context(context, 0);

        if (!sample || !sample->numbers)
                return; /* NULL */
        guint64 n = sample->numbers->len, rank = (n * *percent + 99) / 100;
        g_array_sort(sample->numbers, sample->real ? compare_reals : compare_integers);
        const Number *quantile = &g_array_index(sample->numbers, Number, rank - 1);
        if (sample->real)
                sqlite3_result_double(context, quantile->real);
        else
                sqlite3_result_int64(context, quantile->integer);
        g_array_free(g_steal_pointer(&sample->numbers), TRUE);
}

static void add_quantiles(sqlite3 *db)
{
        static const struct {
                const char *name;
                guint64 percent;
        } quantiles[] = { { "p50", 50 }, { "p90", 90 }, { "p99", 99 } };

        for (guint i = 0; i < G_N_ELEMENTS(quantiles); i++)
                sqlite3_create_function(
                        db, quantiles[i].name, 1, SQLITE_UTF8 | SQLITE_DETERMINISTIC,
                        (gpointer)&quantiles[i].percent, NULL, sample_step, sample_final);
}

/* --- asking ---------------------------------------------------------------- */

static gboolean is_json_table(const char *name)
{
        return !strcmp(name, "json_each") || !strcmp(name, "json_tree");
}

/* Reading is all that there is to do, and only of what ravel put there: no ATTACH, which
 * would make files, and no virtual tables that the file brings. */
static int authorize(void *data, int action, const char *name, const char *value,
                     const char *database, const char *view)
{
        static const char *const harmless[] = { "table_info", "table_list", NULL };
        static const char *const schema[] = { "sqlite_schema", "sqlite_master",
                                              "sqlite_temp_schema", "sqlite_temp_master", NULL };
        static const char *const harmful[] = { "load_extension", "fts3_tokenizer", NULL };
        const StoreQuery *q = data;

        (void)database;
        (void)view;
        switch (action) {
        case SQLITE_SELECT:
        case SQLITE_RECURSIVE:
                return SQLITE_OK;
        case SQLITE_READ:
                return g_strv_contains((const char *const *)q->tables, name) ||
                                       g_strv_contains(schema, name) ||
                                       (q->has_json && is_json_table(name))
                               ? SQLITE_OK
                               : SQLITE_DENY;
        case SQLITE_FUNCTION:
                return g_strv_contains(harmful, value) ? SQLITE_DENY : SQLITE_OK;
        case SQLITE_PRAGMA:
                return g_strv_contains(harmless, name) ? SQLITE_OK : SQLITE_DENY;
        default:
                return SQLITE_DENY;
        }
}

/* Connecting to them is what the authorizer would take for making a table. They
 * are none of the file's, which might have called one so. */
static gboolean connect_json_tables(sqlite3 *db)
{
        sqlite3_stmt *s = NULL;
        gboolean theirs = TRUE;

        if (sqlite3_prepare_v2(db,
                               "SELECT count(*) FROM main.sqlite_schema "
                               "WHERE lower(name) IN ('json_each', 'json_tree')",
                               -1, &s, NULL) == SQLITE_OK &&
            sqlite3_step(s) == SQLITE_ROW)
                theirs = sqlite3_column_int(s, 0) > 0;
        sqlite3_finalize(s);
        return !theirs && sqlite3_exec(db, "SELECT 1 FROM json_each('[]'), json_tree('[]')", NULL,
                                       NULL, NULL) == SQLITE_OK;
}

static gboolean query_refuse(GError **error)
{
        return ravel_fail(error, RAVEL_ERROR_USAGE,
                          "the SQL does more than read the store's own tables, expected a SELECT");
}

/* SQLite sees that a table is a view, here, before it asks whether it may be written to. */
static gboolean is_about_writing(const char *message)
{
        static const char *const messages[] = {
                "is a view",           "to a view",          "views may not be indexed",
                "DROP VIEW to delete", "may not be altered", "trigger on view"
        };

        for (guint i = 0; i < G_N_ELEMENTS(messages); i++)
                if (strstr(message, messages[i]))
                        return TRUE;
        return FALSE;
}

/* Appends "; call has id, start" for each table and view that sql names. */
static void append_columns(const StoreQuery *q, const char *sql, GString *text)
{
        g_auto(GStrv) words = g_regex_split_simple("\\W+", sql, 0, 0);
        sqlite3_stmt *s = NULL;

        sqlite3_set_authorizer(q->db, NULL, NULL); /* this question is ours, and q is given up */
        sqlite3_prepare_v2(q->db, "SELECT group_concat(name, ', ') FROM pragma_table_info(?)", -1,
                           &s, NULL);
        for (char **table = q->tables; *table; table++) {
                if (!g_strv_contains((const char *const *)words, *table))
                        continue;
                sqlite3_bind_text(s, 1, *table, -1, SQLITE_STATIC);
                if (sqlite3_step(s) == SQLITE_ROW)
                        g_string_append_printf(text, "; %s has %s", *table,
                                               (const char *)sqlite3_column_text(s, 0));
                sqlite3_reset(s);
        }
        sqlite3_finalize(s);
}

/* What SQLite says is wrong: with the question, or with the file. */
static gboolean set_query_error(const StoreQuery *q, const char *sql, GError **error)
{
        g_autofree char *message = store_message(q->db);
        g_autoptr(GString) known = g_string_new(NULL);

        switch (sqlite3_extended_errcode(q->db) & 0xff) {
        case SQLITE_AUTH:
                return query_refuse(error);
        case SQLITE_ERROR:
        case SQLITE_RANGE:
        case SQLITE_TOOBIG:
        case SQLITE_MISMATCH:
                if (is_about_writing(message))
                        return query_refuse(error);
                if (g_str_has_prefix(message, "no such table")) {
                        g_autofree char *tables = g_strjoinv(", ", q->tables);

                        g_string_append_printf(known, "; there are %s", tables);
                } else if (g_str_has_prefix(message, "no such column")) {
                        append_columns(q, sql, known);
                }
                return ravel_fail(error, RAVEL_ERROR_USAGE, "the SQL is wrong: %s%s", message,
                                  known->str);
        default:
                return store_set_error(q->db, q->path, error);
        }
}

/* One statement, and nothing but blanks and comments after it. */
static gboolean query_prepare(StoreQuery *q, const char *sql, GError **error)
{
        sqlite3_stmt *more = NULL;
        const char *rest;

        if (sqlite3_prepare_v2(q->db, sql, -1, &q->select, &rest) != SQLITE_OK)
                return set_query_error(q, sql, error);
        while (q->select && *rest && !more)
                if (sqlite3_prepare_v2(q->db, rest, -1, &more, &rest) != SQLITE_OK)
                        return set_query_error(q, sql, error);
        if (q->select && !more) /* VACUUM INTO asks nobody */
                return sqlite3_stmt_readonly(q->select) || query_refuse(error);
        g_set_error(error, RAVEL_ERROR, RAVEL_ERROR_USAGE, "the SQL has %s, expected one",
                    q->select ? "several statements" : "no statement");
        sqlite3_finalize(more);
        return FALSE;
}

StoreQuery *store_query_new(const char *path, const char *sql, GError **error)
{
        g_autoptr(StoreQuery) q = g_new0(StoreQuery, 1);

        q->path = g_strdup(path);
        if (!(q->db = store_open(path, TRUE, error)))
                return NULL;
        /* What is sorted stays in memory up to 64 MB, and then goes to files. */
        sqlite3_exec(q->db, "PRAGMA cache_size = -65536", NULL, NULL, NULL);
        add_quantiles(q->db);
        q->tables = store_layout_names(q->db);
        q->has_json = connect_json_tables(q->db);
        sqlite3_set_authorizer(q->db, authorize, q);
        if (!query_prepare(q, sql, error))
                return NULL;
        q->names = g_ptr_array_new_with_free_func(g_free);
        for (int i = 0; i < sqlite3_column_count(q->select); i++)
                g_ptr_array_add(q->names, g_utf8_make_valid(sqlite3_column_name(q->select, i), -1));
        return g_steal_pointer(&q);
}

void store_query_free(StoreQuery *q)
{
        if (!q)
                return;
        g_clear_pointer(&q->names, g_ptr_array_unref);
        sqlite3_finalize(q->select);
        sqlite3_close(q->db);
        g_strfreev(q->tables);
        g_free(q->path);
        g_free(q);
}

guint store_query_columns(const StoreQuery *q)
{
        return q->names->len;
}

const char *store_query_column_name(const StoreQuery *q, guint column)
{
        return q->names->pdata[column];
}

int store_query_next(StoreQuery *q, GError **error)
{
        switch (sqlite3_step(q->select)) {
        case SQLITE_ROW:
                return 1;
        case SQLITE_DONE:
                return 0;
        default:
                set_query_error(q, sqlite3_sql(q->select), error);
                return -1;
        }
}

StoreValue store_query_value(StoreQuery *q, guint column)
{
        static const StoreType types[] = { [SQLITE_INTEGER] = STORE_INTEGER,
                                           [SQLITE_FLOAT] = STORE_REAL,
                                           [SQLITE_TEXT] = STORE_TEXT,
                                           [SQLITE_BLOB] = STORE_BLOB,
                                           [SQLITE_NULL] = STORE_NULL };
        int i = (int)column;
        StoreValue value = { .type = types[sqlite3_column_type(q->select, i)] };

        value.integer = value.type == STORE_INTEGER ? sqlite3_column_int64(q->select, i) : 0;
        value.text = value.type == STORE_BLOB ? sqlite3_column_blob(q->select, i)
                                              : (const char *)sqlite3_column_text(q->select, i);
        value.n = (gsize)sqlite3_column_bytes(q->select, i);
        return value;
}
