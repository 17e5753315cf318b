/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A question to a store in SQL. It can only read: whatever would write, also to
 * another file, is refused before it begins. There are also the aggregates p50(x), p90(x) and
 * p99(x): the number of rank ceil(q n) among n numbers, exactly. NULLs do not count, and the
 * quantile of none is NULL.
 */
#pragma once

#include <glib.h>

typedef struct StoreQuery StoreQuery;

/* sql is one statement. NULL and error set where path is no store (see
 * store_reader_new()), or sql is wrong: RAVEL_ERROR_USAGE. */
StoreQuery *store_query_new(const char *path, const char *sql, GError **error);
void store_query_free(StoreQuery *query);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(StoreQuery, store_query_free)

/* Columns are numbered from 0, and there is one at least. The name is valid UTF-8,
 * borrowed until the query is freed. */
guint store_query_columns(const StoreQuery *query);
const char *store_query_column_name(const StoreQuery *query, guint column);

/* The next row: 1, 0 after the last, or -1 with error set. A row costs what SQLite
 * takes to find it; none is kept. */
int store_query_next(StoreQuery *query, GError **error);

typedef enum { STORE_NULL, STORE_INTEGER, STORE_REAL, STORE_TEXT, STORE_BLOB } StoreType;

/* A value of the row in hand; text is borrowed until the next row. */
typedef struct {
        StoreType type;
        gint64 integer;   /* STORE_INTEGER */
        const char *text; /* a text as it stands in the store, which may be no UTF-8; a number in
                           * digits, or "Inf", "-Inf"; the bytes of a blob; NULL of NULL */
        gsize n;          /* bytes of text */
} StoreValue;

StoreValue store_query_value(StoreQuery *query, guint column);
