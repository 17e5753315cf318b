/* SPDX-License-Identifier: BSD-2-Clause */
#include "paths/write/page-data.h"

#include <math.h>

#include "base/printable.h"
#include "tracefmt/message.h"

void page_key(GString *out, const char *key)
{
        if (out->str[out->len - 1] != '{')
                g_string_append_c(out, ',');
        g_string_append_printf(out, "\"%s\":", key);
}

void page_text(GString *out, const char *key, const char *text)
{
        page_key(out, key);
        g_string_append_c(out, '"');
        printable_append(out, text, -1, PRINTABLE_PAGE);
        g_string_append_c(out, '"');
}

void page_number(GString *out, const char *key, gint64 n)
{
        page_key(out, key);
        g_string_append_printf(out, "%" G_GINT64_FORMAT, n);
}

void page_double(GString *out, double number)
{
        char text[G_ASCII_DTOSTR_BUF_SIZE];

        g_string_append(out, g_ascii_formatd(text, sizeof text, "%.4g", number));
}

/* Of six digits the lower: rounded down once more, it says what other outputs say. */
void page_probability(GString *out, double p)
{
        char text[G_ASCII_DTOSTR_BUF_SIZE];

        g_string_append(out, g_ascii_formatd(text, sizeof text, "%.6g", floor(p * 1e6) / 1e6));
}

/* As a string: a reader whose numbers are doubles would round it. */
void page_time(GString *out, const char *key, gint64 time)
{
        page_key(out, key);
        if (time == NO_TIME)
                g_string_append(out, "null");
        else
                g_string_append_printf(out, "\"%" G_GINT64_FORMAT "\"", time);
}

/* A comma between the elements of an array. */
void page_separator(GString *out)
{
        if (out->str[out->len - 1] != '[')
                g_string_append_c(out, ',');
}
