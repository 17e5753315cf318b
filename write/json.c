/* SPDX-License-Identifier: BSD-2-Clause */
#include "write/json.h"

#include <string.h>

#include "base/printable.h"
#include "paths/path-text.h"

static void begin_line(Json *j)
{
        g_string_append_c(j->text, '\n');
        for (int i = 0; i < j->line; i++)
                g_string_append_c(j->text, ' ');
        j->line = -1;
}

/* What stands before a key, or a value without one. */
static inline void separate(Json *j)
{
        if (j->after_key) {
                j->after_key = FALSE;
                return;
        }
        if (j->inside)
                g_string_append_c(j->text, ',');
        if (j->line >= 0)
                begin_line(j);
        else if (j->inside && !j->tight)
                g_string_append_c(j->text, ' ');
        j->inside = TRUE;
}

/* A string that needs no escapes, and what is behind it, in one step: half of what is written are
 * keys. */
static inline void append_plain(Json *j, const char *plain, const char *behind, gsize size)
{
        gsize n = strlen(plain), more = n + 1 + size;
        GString *text;
        char *to;

        separate(j);
        text = j->text;
        if (text->len + more < text->allocated_len)
                text->len += more;
        else
                g_string_set_size(text, text->len + more);
        to = text->str + text->len - more;
        *to++ = '"';
        memcpy(to, plain, n);
        memcpy(to + n, behind, size + 1);
}

void json_line(Json *j, guint blanks)
{
        j->line = (int)blanks;
}

void json_key(Json *j, const char *key)
{
        if (j->tight)
                append_plain(j, key, "\":", 2);
        else
                append_plain(j, key, "\": ", 3);
        j->after_key = TRUE;
}

void json_string_key(Json *j, const char *key)
{
        json_string(j, key);
        g_string_append(j->text, j->tight ? ":" : ": ");
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
        if (text)
                json_bytes(j, text, strlen(text));
        else
                json_null(j);
}

void json_bytes(Json *j, const char *text, gsize n)
{
        separate(j);
        g_string_append_c(j->text, '"');
        printable_append(j->text, text, (gssize)n, PRINTABLE_JSON);
        g_string_append_c(j->text, '"');
}

void json_joined(Json *j, const char *first, const char *between, const char *second)
{
        separate(j);
        g_string_append_c(j->text, '"');
        printable_append(j->text, first, -1, PRINTABLE_JSON);
        g_string_append(j->text, between);
        printable_append(j->text, second, -1, PRINTABLE_JSON);
        g_string_append_c(j->text, '"');
}

void json_plain(Json *j, const char *text)
{
        append_plain(j, text, "\"", 1);
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

void json_open_document(Json *j, const char *format)
{
        json_open(j, '{');
        json_line(j, 2);
        json_put_string(j, "format", format);
        json_put_count(j, "version", 1);
        json_line(j, 2);
}
