/* SPDX-License-Identifier: BSD-2-Clause */
#pragma once

#include <glib.h>

/* Parses n bytes that are all digits, 1 to `longest` of them (at most 18). FALSE: they are not, or
 * the number is above most. */
static inline gboolean digits_parse(const char *text, gsize n, gsize longest, guint64 most,
                                    guint64 *number)
{
        *number = 0;
        for (gsize i = 0; i < n && i < longest; i++) {
                if (!g_ascii_isdigit(text[i]))
                        return FALSE;
                *number = 10 * *number + (guint64)(text[i] - '0');
        }
        return n > 0 && n <= longest && *number <= most;
}
