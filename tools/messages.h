/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What verbs say on stderr, and the exit statuses.
 */
#pragma once

#include <glib.h>

/* Exit statuses; the manual page says when. */
enum {
        EXIT_DONE = 0,
        EXIT_DIFFERS = 1,
        EXIT_USAGE = 2,
        EXIT_INPUT = 3,
        EXIT_PARTIAL = 4,
        EXIT_TOO_FEW = 5,
        EXIT_INTERRUPTED = 130
};

/* Sets the name that messages begin with ("nesting"). */
void tool_set_verb(const char *verb);
const char *tool_verb(void);

/* From now on nothing is printed on stderr: another process says it. */
void tool_be_quiet(void);

/* The last message that was not printed; "" where there is none. */
const char *tool_last_words(void);

/* Prints "ravel VERB: message" on stderr, in one line with control characters escaped; frees
 * error. Returns the exit status that error's code stands for. A closed pipe needs no message. */
int tool_fail(GError *error);

/* The same for something worth saying that does not end the run. */
void tool_warn(const char *format, ...) G_GNUC_PRINTF(1, 2);
