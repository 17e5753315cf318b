/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The store: ravel's own result file, an SQLite database that report, export,
 * score and diff read (docs/store.md names every table and column). Filled while
 * the paths are found.
 */
#pragma once

#include "paths/path-set.h"

/* PRAGMA application_id ("rvel") and user_version. */
#define STORE_APPLICATION 0x7276656c
#define STORE_VERSION     6

typedef struct Store Store;

typedef struct {
        const char *arguments;  /* the command line */
        const char *parameters; /* "key=value" lines, defaults included */
        gint64 seed;            /* 0 where nothing is random */
        gboolean patterns_only; /* leave the path instances and their calls out */
        gint64 least;           /* leave out those with a shorter latency, ns */
        gboolean go_on; /* an error while paths are added is kept for store_finish() to return */
} StoreRun;

/* Creates path under a temporary name. set is borrowed: its sink becomes the
 * store, which with run->patterns_only keeps none of them, and it must outlive store_finish(). NULL
 * and error set where path cannot be written, or is a device, a pipe or standard output, which
 * cannot hold a database.
 */
Store *store_new(const char *path, PathSet *set, const StoreRun *run, GError **error);

/* An input that was read: its name, SHA-256 (may be NULL) and "key: value" facts. */
gboolean store_add_capture(Store *store, const char *name, const char *digest, char *const *facts,
                           guint n_facts, GError **error);

/* Before store_finish(): path is what it is renamed to, in the same folder. */
void store_rename(Store *store, const char *path);

/* Writes nodes, patterns and the summary, and renames the file to its name.
 * The store is freed either way. */
gboolean store_finish(Store *store, GError **error);

/* Gives up: removes what was written; nothing may be added to set after that.
 * NULL is allowed. */
void store_free(Store *store);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Store, store_free)
