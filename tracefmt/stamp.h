/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Stamps as text: seconds since the Unix epoch with up to 9 decimals, or for users a date.
 */
#pragma once

#include "tracefmt/message.h"

#define MAX_SECONDS (MAX_STAMP / 1000000000)

/* By number of decimals: the ns of the last one. */
extern const gint64 stamp_units[10];

/* Seconds with 0 to 9 decimals, of any length, with TEXT_PAD readable bytes after them. Returns the
 * end; NULL where the text is something else, or too large for 64 bits of ns. */
const char *stamp_parse(const char *text, gint64 *time);

/* A moment on the command line: seconds since the epoch ("1047680084.5") or UTC
 * ("2026-11-21T10:00:00Z", date and time; "2026-11-21"). In ns. */
gboolean trace_parse_time(const char *text, gint64 *ns, GError **error);
