/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What the verbs share: reporting an error, exit statuses, and the options that
 * every reader of traces has.
 */
#ifndef RAVEL_TOOL_H
#define RAVEL_TOOL_H

#include <glib.h>

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
int tool_nesting(int argc, char **argv);
int tool_stats(int argc, char **argv);

/* Prints "ravel VERB: message" on stderr, in one line with control characters escaped; frees
 * error. Returns the exit status that error's code stands for. */
int tool_fail(GError *error);

/* The same for something worth saying that does not end the run. */
void tool_warn(const char *format, ...) G_GNUC_PRINTF(1, 2);

/* Sets the name that messages begin with ("nesting"). */
void tool_set_verb(const char *verb);

/* Parses options and leaves the arguments in *argc and *argv. TRUE: go on.
 * FALSE: *status is what to exit with (a wrong option was named). */
gboolean tool_parse(GOptionContext *context, int *argc, char ***argv, int *status);

/* "10ms", "2s", "5us", "1.5s", "100" is an error: a duration needs its unit. In ns. */
gboolean tool_duration(const char *text, gint64 *ns, GError **error);

#endif
