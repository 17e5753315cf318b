/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What the verbs that find paths share: options that say which result goes where, and
 * how it is written.
 */
#pragma once

#include "paths/verdict.h"
#include "store/store.h"
#include "tracefmt/fitness.h"
#include "tracefmt/trace-reader.h"
#include "write/path-write.h"

/* Adds --format, --output, --store, --patterns, --sort and --strict. */
void result_add_options(void);

/* The same without --store and --strict, for what was found before. */
void result_add_show_options(void);

/* After tool_parse(): FALSE with error set where -n is no number of patterns, or a file of -w or
 * -o is none that can be written. */
gboolean result_check_options(GError **error);

/* "text" where the user named none. */
const char *result_format(void);

/* What the output is to be at most wide; 0: no limit. */
guint result_columns(void);

gboolean result_has_store(void);

/* Whether Graphviz draws the result. */
gboolean result_is_drawn(void);

/* What the trace, read to its end, will do for, by its facts and what was counted in it;
 * without_returns: for messages alone. */
Verdict *result_judge(const TraceReader *reader, Fitness *fitness, const EdgeCalls *edges,
                      guint n_edges, gboolean without_returns, NodeTable *nodes);

/* Says which clocks, of ClockOffset, were put right; and of the doubtful ones what looks like them
 * (looks), and by which options they would be (remedy). clocks: NULL where not looked for. */
void result_report_clocks(const GArray *clocks, const NodeTable *nodes, const char *looks,
                          const char *remedy);

/* The exit status once the answer is written: with --strict it says whether there is one, and it
 * is fit. */
int result_status(const Verdict *verdict, guint64 n_paths);

/* Opens the output: the file of --output, or standard output; in_place: see OutputFile. */
OutputFile *result_open(gboolean in_place, GError **error);

/* Begins the store of what will be added to set. NULL and error set where it cannot. */
Store *result_open_store(PathSet *set, const StoreRun *run, GError **error);

/* Adds its one capture, the trace that was read to its end, and finishes the store, or frees
 * it and returns FALSE with error set. */
gboolean result_close_store(Store *store, TraceReader *reader, GError **error);

gboolean result_write(const PathSet *set, GError **error);

/* Writes them as those of one of several windows of time; later: not of the first. */
gboolean result_write_window(const PathSet *set, gboolean later, OutputFile *out, GError **error);

/* FALSE, with error set to: found "value", expected ... */
gboolean usage_error(GError **error, const char *value, const char *expected);
