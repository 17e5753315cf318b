/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What a verb shows on a terminal while it works, and how wide lines are there.
 */
#pragma once

#include <glib.h>

/* From now on standard output and error are no terminals, though they seem to be: another program
 * passes on what comes there. */
void tool_be_no_terminal(void);

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

void tool_progress_clear(void);

/* The width that lines on standard output should keep to; 0 where it is no
 * terminal. */
guint tool_columns(void);
