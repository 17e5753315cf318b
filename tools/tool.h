/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What the verbs share: reporting an error, exit statuses, and the options that
 * every reader of traces has.
 */
#pragma once

#include "base/peers.h"
#include "store/store-reader.h"
#include "tools/messages.h"
#include "tools/options.h"
#include "tools/progress.h"
#include "tools/run-files.h"
#include "tracefmt/trace-reader.h"

/* The verbs: argv[0] is the verb. The result is the exit status. */
int tool_advise(int argc, char **argv);
int tool_capture(int argc, char **argv);
int tool_cut(int argc, char **argv);
int tool_diff(int argc, char **argv);
int tool_convolution(int argc, char **argv);
int tool_export(int argc, char **argv);
int tool_import(int argc, char **argv);
int tool_maketrace(int argc, char **argv);
int tool_merge(int argc, char **argv);
int tool_nesting(int argc, char **argv);
int tool_query(int argc, char **argv);
int tool_report(int argc, char **argv);
int tool_score(int argc, char **argv);
int tool_show(int argc, char **argv);
int tool_skewer(int argc, char **argv);
int tool_stats(int argc, char **argv);
int tool_trend(int argc, char **argv);
int tool_variance(int argc, char **argv);
int tool_watch(int argc, char **argv);
int tool_whatif(int argc, char **argv);
int tool_why(int argc, char **argv);

/* nesting, of which all peers find the parents in step; NULL: one process does it. */
int tool_nesting_together(int argc, char **argv, const Peers *peers);

/* What each program does first: signals, the locale, and a full disk noticed at its end. */
void tool_start(void);

/* Becomes the program of ours that has a verb (base/helper.h), which has the same arguments and
 * streams. Returns only where it is missing, with the exit status: it was said. */
int tool_run_helper(const char *program, const char *verb, char **argv);

/* Adds the options of every reader of traces: --from, --to, --exclude and
 * --keep-going. After tool_parse(), tool_reader_options() says what they were. */
void tool_add_reader_options(void);
const TraceReaderOptions *tool_reader_options(void);

/* From now on messages and stores call what is read from path by name: it is made of what the user
 * called so. */
void tool_call_input(const char *path, const char *name);

/* Opens the one trace that is named on the command line; "-" is standard input.
 * NULL and error set where there is none, or more than one, or it cannot be
 * opened, or is a packet capture. want_digest: see TraceReaderOptions.
 * Enters the sandbox with these needs; NULL: does not. Starts to show
 * progress, as of a verb that prints nothing while it reads. */
TraceReader *tool_open_trace(int argc, char **argv, NodeTable *nodes, gboolean want_digest,
                             const RunNeeds *needs, GError **error);

/* After trace_reader_next() failed with *error. TRUE where that was disorder and
 * reader now begins again, in order: forget what was read, and go on. Says so. */
gboolean tool_sort_trace(TraceReader *reader, GError **error);

/* What there is to say of the reading, at its end: broken lines, late messages, an end that is
 * not that of the trace, and nodes of --exclude that are not there. */
void tool_report_reader(const TraceReader *reader);

/* What to exit with where all went well: EXIT_PARTIAL if a trace was cut, as
 * tool_report_reader() found; EXIT_DIFFERS if it had no messages, as tool_report_empty() found. */
int tool_done(void);

/* Says that there are no messages, or that --from and --to leave none, and what there is. */
void tool_report_empty(const TraceReader *reader);

/* Warns where two stores were made with another value of a parameter that shapes
 * patterns or their numbers. */
void tool_compare_parameter(const StoreReader *a, const StoreReader *b, const char *key);
