/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Opens the database that a store is, to read it: what stored-run.c and
 * store-query.c share, and nobody else should include.
 */
#pragma once

#include <glib.h>
#include <sqlite3.h>

/* Read-only, and in one transaction, so that all is of one moment; with the tables,
 * columns and views of today, whatever its version (store-layout.h). Nothing that the
 * file brings is run: no view, trigger or extension. The caller's to close. NULL and
 * error set where path is no store, or one of a later version, is cut short or
 * corrupt, or another program has locked it. */
sqlite3 *store_open(const char *path, gboolean for_questions, GError **error);
