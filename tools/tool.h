/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What the verbs share: reporting an error, exit statuses, and the options that
 * every reader of traces has.
 */
#ifndef RAVEL_TOOL_H
#define RAVEL_TOOL_H

#include "base/peers.h"
#include "store/store-reader.h"
#include "tracefmt/trace-reader.h"

/* Exit statuses; the manual page says when. */
enum {
        EXIT_DONE = 0,
        EXIT_DIFFERS = 1,
        EXIT_USAGE = 2,
        EXIT_INPUT = 3,
        EXIT_PARTIAL = 4,
        EXIT_INTERRUPTED = 130
};

/* The verbs: argv[0] is the verb. The result is the exit status. */
int tool_capture(int argc, char **argv);
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
int tool_why(int argc, char **argv);

/* nesting, of which all peers find the parents in step; NULL: one process does it. */
int tool_nesting_together(int argc, char **argv, const Peers *peers);

/* From now on standard output and error are no terminals, though they seem to be: another program
 * passes on what comes there. */
void tool_be_no_terminal(void);

/* From now on nothing is printed on stderr: another process says it. */
void tool_be_quiet(void);

/* The last message that was not printed; "" where there is none. */
const char *tool_last_words(void);

/* Prints "ravel VERB: message" on stderr, in one line with control characters escaped; frees
 * error. Returns the exit status that error's code stands for. A closed pipe needs no message. */
int tool_fail(GError *error);

/* The same for something worth saying that does not end the run. */
void tool_warn(const char *format, ...) G_GNUC_PRINTF(1, 2);

/* What each program does first: signals, the locale, and a full disk noticed at its end. */
void tool_start(void);

/* Becomes the program of ours that has a verb (base/helper.h), which has the same arguments and
 * streams. Returns only where it is missing, with the exit status: it was said. */
int tool_run_helper(const char *program, const char *verb, char **argv);

/* Sets the name that messages begin with ("nesting"). */
void tool_set_verb(const char *verb);

/* An option that takes one of some words, NULL at their end. Completion offers these, and
 * tool_parse() takes no others. */
typedef struct {
        const char *option; /* "--format" */
        char *const *value; /* as the user gave it, or NULL */
        const char *const *words;
} ToolChoice;

/* Before tool_parse(); option NULL ends them. They stay the caller's. */
void tool_add_choices(const ToolChoice *choices);

/* Which of the words it is; 0 where value is NULL or none. */
guint tool_choice_index(const char *value, const char *const *words);

/* Parses options and leaves the arguments in *argc and *argv. TRUE: go on.
 * FALSE: *status is what to exit with (a wrong option was named). */
gboolean tool_parse(GOptionContext *context, int *argc, char ***argv, int *status);

/* The one of names (NULL-terminated) that name may have been meant to be; NULL
 * where it is like none. */
const char *tool_nearest(const char *name, const char *const *names);

/* Adds the options of every reader of traces: --from, --to, --exclude and
 * --keep-going. After tool_parse(), tool_reader_options() says what they were. */
void tool_add_reader_options(GOptionContext *context);
const TraceReaderOptions *tool_reader_options(void);

/* From now on messages and stores call what is read from path by name: it is made of what the user
 * called so. */
void tool_call_input(const char *path, const char *name);

/* Opens the one trace that is named on the command line; "-" is standard input.
 * NULL and error set where there is none, or more than one, or it cannot be
 * opened, or is a packet capture. want_digest: see TraceReaderOptions. Starts to show
 * progress, as of a verb that prints nothing while it reads. */
TraceReader *tool_open_trace(int argc, char **argv, NodeTable *nodes, gboolean want_digest,
                             GError **error);

/* After trace_reader_next() failed with *error. TRUE where that was disorder and
 * reader now begins again, in order: forget what was read, and go on. Says so. */
gboolean tool_sort_trace(TraceReader *reader, GError **error);

/* What there is to say of the reading, at its end: broken lines, late messages, an end that is
 * not that of the trace, and nodes of --exclude that are not there. */
void tool_report_reader(const TraceReader *reader);

/* What to exit with where all went well: EXIT_PARTIAL where a trace was cut, as
 * tool_report_reader() found. */
int tool_done(void);

/* Says that there are no messages, or that --from and --to leave none, and what there is. */
void tool_report_empty(const TraceReader *reader);

/* From the first second on, where standard error is a terminal: how much of paths is read,
 * how fast, and the time left, in one line that the end of the reading or the next
 * message takes away. prints: what is read goes to standard output at once, which must not be
 * a terminal too. tool_reader_options() has the callback for readers; others pass it on. */
void tool_progress_start(const char *const *paths, guint n, gboolean prints);
void tool_progress_read(gsize n);

/* For a verb that shows its own: whether it is time for another line, and the line. */
gboolean tool_progress_due(void);
void tool_progress_say(const char *format, ...) G_GNUC_PRINTF(1, 2);

/* After reading, what takes longer: "finding parents", of which tool_progress_work() says how
 * much is done (0 to 1), from one thread at a time. NULL: that line goes. */
void tool_progress_stage(const char *what);
void tool_progress_work(double share);

/* The width that lines on standard output should keep to; 0 where it is no
 * terminal. */
guint tool_columns(void);

/* Warns where two stores were made with another value of a parameter that shapes
 * patterns or their numbers. */
void tool_compare_parameter(const StoreReader *a, const StoreReader *b, const char *key);

/* Appends "1047680084.500000000": a stamp in seconds since the epoch. */
void tool_append_time(GString *text, gint64 time);

/* The same in UTC: "2003-03-07T23:08:04.500000000Z", as --from takes it. */
void tool_append_moment(GString *text, gint64 time);

/* "10ms", "2s", "5us", "1.5s", "100" is an error: a duration needs its unit. In ns. */
gboolean tool_duration(const char *text, gint64 *ns, GError **error);

/* How many threads -j asks for: all processors where it was not given, which is 0. */
gboolean tool_threads(gint given, guint *n, GError **error);

#endif
