/* SPDX-License-Identifier: BSD-2-Clause */
#include "paths/path-write.h"

#include <string.h>

static const struct {
        const char *format;
        PathWriter writer;
} formats[] = {
        { "text", path_write_text },
};

PathWriter path_writer_lookup(const char *format)
{
        for (gsize i = 0; i < G_N_ELEMENTS(formats); i++)
                if (!strcmp(formats[i].format, format))
                        return formats[i].writer;
        return NULL;
}

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

gint128 path_pattern_network(const PathPattern *pattern)
{
        gint128 sum = 0;

        for (guint32 i = 0; i < pattern->n_nodes; i++)
                sum += pattern->nodes[i].network.sum;
        return sum;
}

gint128 path_pattern_total(const PathPattern *pattern)
{
        gint128 sum = path_pattern_network(pattern);

        for (guint32 i = 0; i < pattern->n_nodes; i++)
                sum += pattern->nodes[i].own.sum;
        return sum;
}
