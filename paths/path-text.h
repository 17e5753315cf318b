/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Times, counts and shares as people read them.
 */
#pragma once

#include <glib.h>

#include "paths/histogram.h"

/* "12.3 ms": a duration for people, three significant digits, in ns, us, ms or s. */
char *path_format_duration(gint64 ns);

/* A stamp in UTC, as --from takes it, with 6 or 9 digits of a second:
 * "2003-03-07T23:08:04.500000Z".
 */
char *path_format_moment(gint64 time, guint digits);

/* "1,234,567". */
char *path_format_count(guint64 n);

/* "1,189 +-36": a count by drawings, and its standard error. */
char *path_format_drawn(double count, double error);

/* All digits. printf() would take most of the time of a writer of many. */
void path_append_integer(GString *out, gint128 n);
void path_append_hex(GString *out, guint64 n); /* 16 digits */

/* "1047680084.500000000": a stamp in seconds since the epoch. */
void path_append_time(GString *out, gint64 time);

/* By a format of printf() for a double, whatever the locale. */
void path_append_number(GString *out, double number, const char *format);

/* "64 %": a share of a whole, to a whole percent; "<1 %" and ">99 %" instead of a rounded 0 or 100,
 * "-" if there is no whole. */
char *path_format_share(gint128 part, gint128 whole);

/* "0.97": rounded down, so that only what is certain says 1; "<0.01". */
char *path_format_probability(double p);
