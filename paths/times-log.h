/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Times of path instances that are read late or never: blocks of numbers, one list for each path
 * pattern. They lie one after the other in a temporary file (base/big-memory.h), if there is one.
 */
#pragma once

#include <glib.h>

typedef struct TimesLog TimesLog;

/* A block, by its place in the log; 0: none. */
typedef guint64 TimesBlockAt;

typedef struct {
        TimesBlockAt before; /* in the list */
        guint32 n : 31;
        guint32 is_wide : 1; /* times are gint64, not gint32 */
        gint64 times[];      /* n of them */
} TimesBlock;

TimesLog *times_log_new(void);
void times_log_free(TimesLog *log);

/* Adds a block of n times to a list, whose last one is given, and returns the last one now. */
TimesBlockAt times_log_add(TimesLog *log, TimesBlockAt last, gconstpointer times, guint32 n,
                           gboolean is_wide);

/* Borrowed, until the next one is added; NULL for 0. */
const TimesBlock *times_log_block(TimesLog *log, TimesBlockAt at);

/* Whether more blocks would take memory. */
gboolean times_log_is_in_memory(const TimesLog *log);
