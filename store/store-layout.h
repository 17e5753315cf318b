/* SPDX-License-Identifier: BSD-2-Clause
 *
 * How a store is laid out, and how one of any version is read as if it were of
 * today's. What store.c, store-open.c and store-query.c share, and nobody else should
 * include.
 *
 * A store may come from anybody. So each table that is read is an ordinary table with the columns,
 * types and keys that the program gives it. Then every statement takes the time of its rows. Views
 * are the reader's own.
 */
#pragma once

#include <glib.h>
#include <sqlite3.h>

/* Creates the tables, as they are today. */
extern const char *const store_schema;

/* Creates the views: in the store, for other programs; or in the reader's temporary
 * schema, where they come before those of the store. The caller's to free. */
char *store_views_sql(gboolean temporary);

/* Puts a view before each table of db, an open store called path, with all of today's columns. A
 * column that the store lacks is NULL, and a table of a later version is empty. for_questions: for
 * statements of a user, so that filters are quick and there are the views; else values are as they
 * stand. FALSE and error set where a table is not as the program makes it. */
gboolean store_layout_adopt(sqlite3 *db, const char *path, gboolean for_questions, GError **error);

/* The names of all tables and views, sorted; the caller's to free. */
char **store_layout_names(sqlite3 *db);
