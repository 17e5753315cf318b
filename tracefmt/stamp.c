/* SPDX-License-Identifier: BSD-2-Clause */
#include "tracefmt/stamp.h"

#include <string.h>

#include "base/error.h"
#include "tracefmt/text-words.h"

const gint64 stamp_units[10] = { 1000000000, 100000000, 10000000, 1000000, 100000,
                                 10000,      1000,      100,      10,      1 };

const char *stamp_parse(const char *p, gint64 *time)
{
        gboolean negative = *p == '-';
        guint64 seconds, more, fraction = 0;
        guint n;

        p += negative;
        n = word_digits(word_load(p), &seconds);
        if (n == 0)
                return NULL;
        p += n;
        if (n == 8) {
                static const guint64 scale[] = {
                        1, 10, 100, 1000, 10000, 100000, 1000000, 10000000
                };

                n = word_digits(word_load(p), &more);
                if (n == 8)
                        return NULL;
                seconds = seconds * scale[n] + more;
                p += n;
        }
        if (seconds > MAX_SECONDS)
                return NULL;
        if (*p == '.') {
                n = word_digits(word_load(++p), &fraction);
                p += n;
                if (n == 8 && (guchar)(*p - '0') < 10) {
                        fraction = fraction * 10 + (*p++ - '0');
                        n = 9;
                }
                fraction *= stamp_units[n];
        }
        *time = (gint64)(seconds * 1000000000 + fraction);
        if (negative)
                *time = -*time;
        return p;
}

gboolean trace_parse_time(const char *text, gint64 *ns, GError **error)
{
        g_autofree char *padded = g_strdup_printf("%s%*s", text, 2 * TEXT_PAD, "");
        const char *end = stamp_parse(padded, ns);

        if (end && end == padded + strlen(text))
                return TRUE;
        if (strlen(text) >= 10) {
                g_autoptr(GTimeZone) utc = g_time_zone_new_utc();
                g_autofree char *date =
                        g_strconcat(text, strlen(text) == 10 ? "T00:00:00" : "", NULL);
                g_autoptr(GDateTime) moment = g_date_time_new_from_iso8601(date, utc);

                if (moment && ABS(g_date_time_to_unix(moment)) <= MAX_SECONDS) {
                        *ns = g_date_time_to_unix(moment) * 1000000000 +
                              g_date_time_get_microsecond(moment) * (gint64)1000;
                        return TRUE;
                }
        }
        return ravel_fail(error, RAVEL_ERROR_USAGE,
                          "\"%s\" is not a time: expected seconds since the epoch, or UTC as in "
                          "2026-11-21T10:00:00Z",
                          text);
}
