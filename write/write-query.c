/* SPDX-License-Identifier: BSD-2-Clause */
#include "write/write-query.h"

#include <string.h>

#include "base/error.h"
#include "base/printable.h"
#include "write/json.h"
#include "write/text-table.h"

enum { FLUSH_SIZE = 1 << 16 };

static gboolean flush_text(GString *text, gsize size, OutputFile *out, GError **error)
{
        if (text->len < size)
                return TRUE;
        if (!output_file_write(out, text->str, text->len, error))
                return FALSE;
        g_string_truncate(text, 0);
        return TRUE;
}

/* --- values ---------------------------------------------------------------- */

static void append_hex(GString *text, const StoreValue *value)
{
        static const char digits[] = "0123456789abcdef";

        for (gsize i = 0; i < value->n; i++) {
                guchar byte = (guchar)value->text[i];

                g_string_append_c(text, digits[byte >> 4]);
                g_string_append_c(text, digits[byte & 15]);
        }
}

/* Without what would end the cell, move the cursor or be a formula. */
static void append_cell(GString *text, const StoreValue *value, Printable as)
{
        switch (value->type) {
        case STORE_NULL:
                g_string_append_c(text, '-');
                break;
        case STORE_BLOB:
                append_hex(text, value);
                break;
        case STORE_TEXT:
                printable_append(text, value->text, (gssize)value->n, as);
                break;
        default:
                g_string_append_len(text, value->text, (gssize)value->n);
        }
}

/* A reader whose numbers are doubles would round what is beyond 2^53: a stamp is. */
static gboolean is_exact(gint64 integer)
{
        const gint64 limit = (gint64)1 << 53;

        return integer >= -limit && integer <= limit;
}

static void query_put_value(Json *j, const StoreValue *value)
{
        if (value->type == STORE_NULL) {
                json_null(j);
        } else if (value->type == STORE_TEXT) {
                json_bytes(j, value->text, value->n);
        } else if (value->type == STORE_BLOB) {
                g_string_append_c(json_value(j), '"');
                append_hex(j->text, value);
                g_string_append_c(j->text, '"');
        } else if ((value->type == STORE_INTEGER && !is_exact(value->integer)) ||
                   (value->type == STORE_REAL && strstr(value->text, "Inf"))) {
                json_plain(j, value->text);
        } else {
                g_string_append_len(json_value(j), value->text, (gssize)value->n);
        }
}

/* --- formats --------------------------------------------------------------- */

/* A column is as wide as its widest cell, so the table is there before it is written. */
gboolean query_write_text(StoreQuery *query, gboolean later, OutputFile *out, GError **error)
{
        g_autoptr(TextTable) table = text_table_new();
        g_autoptr(GPtrArray) cells = g_ptr_array_new();
        g_autoptr(GString) text = g_string_new(NULL);
        guint n = store_query_columns(query);
        g_autofree TextAlign *align = g_new(TextAlign, n);
        g_autoptr(GPtrArray) headings = g_ptr_array_new_with_free_func(g_free);
        int status;

        for (guint i = 0; i < n; i++)
                align[i] = TEXT_RIGHT;
        while ((status = store_query_next(query, error)) > 0) {
                for (guint i = 0; i < n; i++) {
                        StoreValue value = store_query_value(query, i);

                        if (value.type == STORE_TEXT || value.type == STORE_BLOB)
                                align[i] = TEXT_LEFT;
                        g_string_truncate(text, 0);
                        append_cell(text, &value, PRINTABLE_CELL);
                        g_ptr_array_add(cells, g_strndup(text->str, text->len));
                }
        }
        for (guint i = 0; i < n; i++) {
                g_ptr_array_add(headings,
                                printable_new(store_query_column_name(query, i), PRINTABLE_CELL));
                text_table_add_column(table, headings->pdata[i], align[i], 0);
        }
        for (guint i = 0; i < cells->len; i++)
                text_table_add(table, cells->pdata[i]);
        if (status < 0)
                return FALSE;
        g_string_truncate(text, 0);
        for (int row = later ? 0 : -1; row < (int)text_table_rows(table); row++) {
                text_table_write_row(table, row, text);
                g_string_append_c(text, '\n');
                if (!flush_text(text, FLUSH_SIZE, out, error))
                        return FALSE;
        }
        return flush_text(text, 1, out, error);
}

gboolean query_write_tsv(StoreQuery *query, gboolean later, OutputFile *out, GError **error)
{
        g_autoptr(GString) text = g_string_new(NULL);
        guint n = store_query_columns(query);
        int status;

        for (guint i = 0; i < n && !later; i++) {
                printable_append(text, store_query_column_name(query, i), -1, PRINTABLE_TSV);
                g_string_append_c(text, i + 1 < n ? '\t' : '\n');
        }
        while ((status = store_query_next(query, error)) > 0) {
                for (guint i = 0; i < n; i++) {
                        StoreValue value = store_query_value(query, i);

                        append_cell(text, &value, PRINTABLE_TSV);
                        g_string_append_c(text, i + 1 < n ? '\t' : '\n');
                }
                if (!flush_text(text, FLUSH_SIZE, out, error))
                        return FALSE;
        }
        return status == 0 && flush_text(text, 1, out, error);
}

/* Of two members of one name most readers would lose one. */
static gboolean query_check_names(const StoreQuery *query, GError **error)
{
        g_autoptr(GHashTable) names = g_hash_table_new(g_str_hash, g_str_equal);

        for (guint i = 0; i < store_query_columns(query); i++) {
                const char *name = store_query_column_name(query, i);

                if (g_hash_table_add(names, (gpointer)name))
                        continue;
                return ravel_fail(error, RAVEL_ERROR_USAGE,
                                  "two columns are called \"%s\", expected different names in "
                                  "JSON: give one another with AS",
                                  name);
        }
        return TRUE;
}

gboolean query_write_json(StoreQuery *query, gboolean later, OutputFile *out, GError **error)
{
        g_autoptr(GString) text = g_string_new(NULL);
        guint n = store_query_columns(query);
        int status;

        (void)later;
        if (!query_check_names(query, error))
                return FALSE;
        while ((status = store_query_next(query, error)) > 0) {
                Json json = JSON_IN(text);

                json_open(&json, '{');
                for (guint i = 0; i < n; i++) {
                        StoreValue value = store_query_value(query, i);

                        json_string_key(&json, store_query_column_name(query, i));
                        query_put_value(&json, &value);
                }
                json_close(&json, '}');
                g_string_append_c(text, '\n');
                if (!flush_text(text, FLUSH_SIZE, out, error))
                        return FALSE;
        }
        return status == 0 && flush_text(text, 1, out, error);
}
