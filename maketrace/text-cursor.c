/* SPDX-License-Identifier: BSD-2-Clause */
#include "maketrace/text-cursor.h"

#include <string.h>

#include "base/error.h"

enum { LONGEST_FOUND = 40 }; /* bytes of the found text that a message shows */

/* Whether a name or a unit may go on with this byte: all but blanks, control characters and
 * ()[]{},>~*"|?. */
static gboolean text_is_name_byte(guint8 byte)
{
        return byte > ' ' && byte != 0x7f && !strchr("()[]{},>~*\"|?", byte);
}

void text_cursor_skip_blanks(TextCursor *c)
{
        while (c->at < c->n && (c->data[c->at] == ' ' || c->data[c->at] == '\t'))
                c->at++;
}

gboolean text_cursor_accept(TextCursor *c, const char *text)
{
        gsize length = strlen(text);

        text_cursor_skip_blanks(c);
        if (c->n - c->at < length || memcmp(c->data + c->at, text, length) != 0)
                return FALSE;
        c->at += length;
        return TRUE;
}

/* In UTF-8 the later bytes of a character begin with the bits 10. */
static gboolean begins_character(guint8 byte)
{
        return (byte & 0xc0) != 0x80;
}

gboolean text_cursor_fail(const TextCursor *c, gsize at, gsize n, GError **error,
                          const char *expected, ...)
{
        g_autoptr(GString) text = g_string_new(NULL);
        guint column = c->column;
        va_list arguments;

        for (gsize i = 0; i < at; i++)
                column += begins_character(c->data[i]);
        g_string_printf(text, "%s:%u:%u: found ", c->file, c->line, column);
        n = MIN(n, c->n - at);
        if (n == 0) {
                g_string_append(text, "the end of the line");
        } else {
                gsize shown = MIN(n, LONGEST_FOUND);

                while (shown < n && !begins_character(c->data[at + shown]))
                        shown--;
                g_string_append_printf(text, "\"%.*s%s\"", (int)shown, c->data + at,
                                       shown < n ? "..." : "");
        }
        g_string_append(text, ", expected ");
        va_start(arguments, expected);
        g_string_append_vprintf(text, expected, arguments);
        va_end(arguments);
        return ravel_fail(error, RAVEL_ERROR_INPUT, "%s", text->str);
}

gsize text_cursor_word(const TextCursor *c)
{
        gsize n = 0;

        while (c->at + n < c->n && text_is_name_byte(c->data[c->at + n]))
                n++;
        return n;
}

gboolean text_cursor_fail_here(TextCursor *c, GError **error, const char *expected)
{
        text_cursor_skip_blanks(c);
        return text_cursor_fail(c, c->at, MAX(text_cursor_word(c), 1), error, "%s", expected);
}

gboolean text_cursor_expect(TextCursor *c, const char *text, GError **error)
{
        return text_cursor_accept(c, text) ||
               text_cursor_fail(c, c->at, MAX(text_cursor_word(c), 1), error, "\"%s\"", text);
}

gboolean text_cursor_number(TextCursor *c, double *number)
{
        char digits[48];
        gsize n = 0, at = c->at;
        gboolean point = FALSE;

        while (at < c->n && (g_ascii_isdigit(c->data[at]) ||
                             (n > 0 && !point && c->data[at] == '.' && at + 1 < c->n &&
                              g_ascii_isdigit(c->data[at + 1])))) {
                if (n + 1 == sizeof digits)
                        return FALSE;
                point |= c->data[at] == '.';
                digits[n++] = c->data[at++];
        }
        if (n == 0)
                return FALSE;
        digits[n] = 0;
        *number = g_ascii_strtod(digits, NULL);
        c->at = at;
        return TRUE;
}

gboolean text_cursor_integer(TextCursor *c, guint64 *number)
{
        guint64 value = 0;
        gsize at = c->at;

        for (; at < c->n && g_ascii_isdigit(c->data[at]); at++)
                if (!g_uint64_checked_mul(&value, value, 10) ||
                    !g_uint64_checked_add(&value, value, c->data[at] - '0'))
                        return FALSE;
        if (at == c->at)
                return FALSE;
        c->at = at;
        *number = value;
        return TRUE;
}

gboolean text_cursor_duration(TextCursor *c, double *ns)
{
        static const struct {
                const char *name;
                double ns;
        } units[] = { { "ns", 1 },  { "us", 1e3 },   { "\xc2\xb5s", 1e3 }, { "ms", 1e6 },
                      { "s", 1e9 }, { "min", 60e9 }, { "h", 3600e9 } };
        TextCursor after = *c;
        gsize unit;
        double value;

        if (!text_cursor_number(&after, &value))
                return FALSE;
        unit = after.at;
        after.at += text_cursor_word(&after);
        for (guint i = 0; i < G_N_ELEMENTS(units); i++) {
                if (after.at - unit != strlen(units[i].name) ||
                    memcmp(after.data + unit, units[i].name, after.at - unit) != 0)
                        continue;
                value *= units[i].ns;
                if (value > 366 * 24 * 3600e9)
                        return FALSE;
                *ns = value;
                *c = after;
                return TRUE;
        }
        return FALSE;
}
