/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Runs a program for each alert: without a shell, with no argument, with the facts of the alert on
 * its standard input. One runs at a time; others wait in a bounded queue. A program that hangs is
 * ended. Nothing here blocks.
 */
#pragma once

#include <glib.h>

typedef struct AlertHook AlertHook;

/* program: found in PATH; borrowed. say: tells of programs that fail, hang or are left out. */
AlertHook *alert_hook_new(const char *program,
                          void (*say)(const char *format, ...) G_GNUC_PRINTF(1, 2));

/* Queues a run with this text on standard input, and works. */
void alert_hook_add(AlertHook *hook, const char *facts, gsize n);

/* Takes the status of a program that has ended, ends one that hangs, and starts the next. */
void alert_hook_work(AlertHook *hook);

/* Waits for queued programs, `wait` ns in all; then ends the current one and says what is left
 * out. NULL is allowed. */
void alert_hook_free(AlertHook *hook, gint64 wait);
