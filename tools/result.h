/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What the verbs that find paths share: the options that say which result goes where, and
 * the writing of it.
 */
#ifndef RAVEL_RESULT_H
#define RAVEL_RESULT_H

#include "paths/path-write.h"
#include "paths/store.h"
#include "tracefmt/trace-reader.h"

/* Adds --format, --output, --store, --patterns and --sort. */
void result_add_options(GOptionContext *context);

/* After tool_parse(): FALSE with error set where --format names none. */
gboolean result_check_options(GError **error);

/* "text" where the user named none. */
const char *result_format(void);

/* Whether a store is to be written. */
gboolean result_has_store(void);

/* Opens the output: the file of --output, or standard output. */
OutputFile *result_open(GError **error);

/* Begins the store of what will be added to set, with its one capture. NULL and error set
 * where it cannot. */
Store *result_open_store(PathSet *set, TraceReader *reader, const StoreRun *run, GError **error);

/* Writes the patterns. */
gboolean result_write(const PathSet *set, GError **error);

/* FALSE, with error set to: found "value", expected ... */
gboolean usage_error(GError **error, const char *value, const char *expected);

#endif
