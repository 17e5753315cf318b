/* SPDX-License-Identifier: BSD-2-Clause */
#include "paths/path-text.h"

#include <math.h>

#define NS_PER_SECOND G_GINT64_CONSTANT(1000000000)

char *path_format_duration(gint64 ns)
{
        /* What the last digit is worth: each is ten times the one before. */
        static const struct {
                guint decimals;
                const char *unit;
        } steps[] = { { 2, "us" }, { 1, "us" }, { 0, "us" }, { 2, "ms" }, { 1, "ms" },
                      { 0, "ms" }, { 2, "s" },  { 1, "s" },  { 0, "s" } };
        static const guint64 scales[] = { 1, 10, 100 };
        const char *sign = ns < 0 ? "-" : "";
        guint64 size = ns < 0 ? -(guint64)ns : (guint64)ns;

        if (size < 1000)
                return g_strdup_printf("%s%" G_GUINT64_FORMAT " ns", sign, size);
        /* The first step that leaves three digits, after rounding. */
        guint64 step = 10;
        gsize i = 0;
        for (; i + 1 < G_N_ELEMENTS(steps) && (size + step / 2) / step >= 1000; i++)
                step *= 10;
        guint64 n = (size + step / 2) / step, scale = scales[steps[i].decimals];
        if (scale == 1)
                return g_strdup_printf("%s%" G_GUINT64_FORMAT " %s", sign, n, steps[i].unit);
        return g_strdup_printf("%s%" G_GUINT64_FORMAT ".%0*" G_GUINT64_FORMAT " %s", sign,
                               n / scale, (int)steps[i].decimals, n % scale, steps[i].unit);
}

char *path_format_moment(gint64 time, guint digits)
{
        gint64 seconds = time / NS_PER_SECOND - (time % NS_PER_SECOND < 0);
        gint64 rest = time - seconds * NS_PER_SECOND;
        g_autoptr(GDateTime) utc = g_date_time_new_from_unix_utc(seconds);
        g_autofree char *date = g_date_time_format(utc, "%Y-%m-%dT%H:%M:%S");

        return g_strdup_printf("%s.%0*" G_GINT64_FORMAT "Z", date, (int)digits,
                               digits == 6 ? rest / 1000 : rest);
}

char *path_format_count(guint64 n)
{
        char digits[32], text[32];
        int length = g_snprintf(digits, sizeof digits, "%" G_GUINT64_FORMAT, n), to = 0;

        for (int i = 0; i < length; i++) {
                if (i > 0 && (length - i) % 3 == 0)
                        text[to++] = ',';
                text[to++] = digits[i];
        }
        return g_strndup(text, (gsize)to);
}

/* Most fit 64 bits, whose division is much quicker. */
void path_append_integer(GString *out, gint128 n)
{
        guint128 size = n < 0 ? -(guint128)n : (guint128)n;
        char digits[40], *at = digits + sizeof digits;
        guint64 rest;

        for (; size > G_MAXUINT64; size /= 10)
                *--at = (char)('0' + (int)(size % 10));
        rest = (guint64)size;
        do
                *--at = (char)('0' + rest % 10);
        while ((rest /= 10) > 0);
        if (n < 0)
                *--at = '-';
        g_string_append_len(out, at, digits + sizeof digits - at);
}

void path_append_hex(GString *out, guint64 n)
{
        char digits[16];

        for (int i = 15; i >= 0; i--, n >>= 4)
                digits[i] = "0123456789abcdef"[n & 15];
        g_string_append_len(out, digits, sizeof digits);
}

void path_append_number(GString *out, double number, const char *format)
{
        g_string_append_printf(out, format, number);
}

char *path_format_share(gint128 part, gint128 whole)
{
        if (whole <= 0)
                return g_strdup("-");
        int percent = (int)((200 * part + whole) / (2 * whole));
        if (percent == 0 && part > 0)
                return g_strdup("<1 %");
        if (percent == 100 && part < whole)
                return g_strdup(">99 %");
        return g_strdup_printf("%d %%", percent);
}

char *path_format_probability(double p)
{
        if (p >= 1)
                return g_strdup("1");
        if (p > 0 && p < 0.01)
                return g_strdup("<0.01");
        return g_strdup_printf("0.%02d", (int)(p * 100));
}

char *path_format_drawn(double count, double error)
{
        g_autofree char *n = path_format_count((guint64)llround(count)),
                        *e = path_format_count((guint64)llround(error));

        return g_strdup_printf("%s +-%s", n, e);
}

void path_append_time(GString *text, gint64 time)
{
        guint64 t = time < 0 ? -(guint64)time : (guint64)time;

        g_string_append_printf(text, "%s%" G_GUINT64_FORMAT ".%09" G_GUINT64_FORMAT,
                               time < 0 ? "-" : "", t / 1000000000, t % 1000000000);
}
