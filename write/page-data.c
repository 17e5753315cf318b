/* SPDX-License-Identifier: BSD-2-Clause */
#include "write/page-data.h"

#include <math.h>

#include "base/printable.h"
#include "tracefmt/message.h"

void page_number_array(Json *j, const gint64 *numbers, gsize n)
{
        for (gsize i = 0; i < n; i++)
                json_integer(j, numbers[i]);
}

void page_double(Json *j, double number)
{
        json_number(j, number, "%.4g");
}

void page_exact(Json *j, double number)
{
        json_number(j, number, "%.6g");
}

/* Of six digits the lower: rounded down once more, it says what other outputs say. */
void page_probability(Json *j, double p)
{
        json_number(j, floor(p * 1e6) / 1e6, "%.6g");
}

void page_string(Json *j, const char *text)
{
        g_string_append_c(json_value(j), '"');
        printable_append(j->text, text, -1, PRINTABLE_PAGE);
        g_string_append_c(j->text, '"');
}

void page_text(Json *j, const char *key, const char *text)
{
        json_key(j, key);
        page_string(j, text);
}

void page_time(Json *j, const char *key, gint64 time)
{
        json_key(j, key);
        if (time == NO_TIME)
                json_null(j);
        else
                json_time(j, time);
}
