/* SPDX-License-Identifier: BSD-2-Clause */
#include "paths/json.h"

#include "paths/write/path-text.h"

/* What stands before a key, or a value without one. */
static void separate(Json *j)
{
        if (j->after_key) {
                j->after_key = FALSE;
                return;
        }
        if (j->inside)
                g_string_append_c(j->text, ',');
        if (j->line >= 0)
                g_string_append_printf(j->text, "\n%*s", j->line, "");
        else if (j->inside)
                g_string_append_c(j->text, ' ');
        j->inside = TRUE;
        j->line = -1;
}

void json_line(Json *j, guint blanks)
{
        j->line = (int)blanks;
}

void json_key(Json *j, const char *key)
{
        separate(j);
        g_string_append_printf(j->text, "\"%s\": ", key);
        j->after_key = TRUE;
}

void json_open(Json *j, char bracket)
{
        separate(j);
        g_string_append_c(j->text, bracket);
        j->inside = FALSE;
}

void json_close(Json *j, char bracket)
{
        g_string_append_c(j->text, bracket);
        j->inside = TRUE;
}

void json_null(Json *j)
{
        separate(j);
        g_string_append(j->text, "null");
}

void json_boolean(Json *j, gboolean value)
{
        separate(j);
        g_string_append(j->text, value ? "true" : "false");
}

void json_count(Json *j, guint64 n)
{
        separate(j);
        g_string_append_printf(j->text, "%" G_GUINT64_FORMAT, n);
}

void json_string(Json *j, const char *text)
{
        separate(j);
        if (text)
                path_append_json_string(j->text, text);
        else
                g_string_append(j->text, "null");
}

void json_time(Json *j, gint128 ns)
{
        char digits[PATH_INTEGER_SIZE];

        separate(j);
        g_string_append_printf(j->text, "\"%s\"", path_format_integer(ns, digits));
}

void json_id(Json *j, guint64 id)
{
        separate(j);
        g_string_append_printf(j->text, "\"%016" G_GINT64_MODIFIER "x\"", id);
}

void json_number(Json *j, double number, const char *format)
{
        separate(j);
        path_append_number(j->text, number, format);
}

void json_put_count(Json *j, const char *key, guint64 n)
{
        json_key(j, key);
        json_count(j, n);
}

void json_put_string(Json *j, const char *key, const char *text)
{
        json_key(j, key);
        json_string(j, text);
}

void json_put_time(Json *j, const char *key, gint128 ns)
{
        json_key(j, key);
        json_time(j, ns);
}

void json_put_number(Json *j, const char *key, double number, const char *format)
{
        json_key(j, key);
        json_number(j, number, format);
}
