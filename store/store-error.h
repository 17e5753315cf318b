/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What SQLite says of a store that is read, in words that name the file.
 */
#pragma once

#include <glib.h>
#include <sqlite3.h>

/* The most memory that SQLite may take for one. Far above what a legitimate store needs: its own
 * cache has 2 MB, a question 64 MB and its sorting goes to files. */
enum { STORE_HEAP_LIMIT = 512 << 20 };

/* What db says of its last call, which may name what a file has names for; the caller's to
 * free. */
char *store_message(sqlite3 *db);

/* Sets error to what db says of its last call, and returns FALSE. */
gboolean store_set_error(sqlite3 *db, const char *path, GError **error);

/* Read-only, and in one transaction, so that all is of one moment; with the tables,
 * columns and views of today, whatever its version (store-layout.h). Nothing that the
 * file brings is run: no view, trigger or extension. The caller's to close. NULL and
 * error set where path is no store, or one of a later version, is cut short or
 * corrupt, or another program has locked it. */
sqlite3 *store_open(const char *path, gboolean for_questions, GError **error);
