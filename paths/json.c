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
        if (j->line >= 0) {
                g_string_append_c(j->text, '\n');
                for (int i = 0; i < j->line; i++)
                        g_string_append_c(j->text, ' ');
        } else if (j->inside && !j->tight) {
                g_string_append_c(j->text, ' ');
        }
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
        g_string_append_c(j->text, '"');
        g_string_append(j->text, key);
        g_string_append(j->text, j->tight ? "\":" : "\": ");
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

GString *json_value(Json *j)
{
        separate(j);
        return j->text;
}

void json_null(Json *j)
{
        g_string_append(json_value(j), "null");
}

void json_boolean(Json *j, gboolean value)
{
        g_string_append(json_value(j), value ? "true" : "false");
}

void json_count(Json *j, guint64 n)
{
        path_append_integer(json_value(j), n);
}

void json_integer(Json *j, gint64 n)
{
        path_append_integer(json_value(j), n);
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
        separate(j);
        g_string_append_c(j->text, '"');
        path_append_integer(j->text, ns);
        g_string_append_c(j->text, '"');
}

void json_id(Json *j, guint64 id)
{
        separate(j);
        g_string_append_c(j->text, '"');
        path_append_hex(j->text, id);
        g_string_append_c(j->text, '"');
}

void json_number(Json *j, double number, const char *format)
{
        path_append_number(json_value(j), number, format);
}

void json_put_count(Json *j, const char *key, guint64 n)
{
        json_key(j, key);
        json_count(j, n);
}

void json_put_integer(Json *j, const char *key, gint64 n)
{
        json_key(j, key);
        json_integer(j, n);
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
