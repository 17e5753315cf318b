/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/protocol/mysql-values.h"

#include <string.h>

#include "capture/packet/packet.h"

enum {
        BEFORE_PARAMETERS = 9, /* statement, flags, iterations */
        MAX_PARAMETERS = 255,
        MAX_STRING = 256, /* bytes that are used */
        UNSIGNED = 0x80,
};

/* A statement's types, among its other entries by its number. */
#define STATEMENT_TYPES(number) ((guint64)2 << 32 | (number))

/* A letter for each type: the size of a number, capital if unsigned; 0: unknown. */
static char type_letter(guint8 type, guint8 flags)
{
        gboolean is_unsigned = flags == UNSIGNED;

        if (flags & ~UNSIGNED)
                return 0;
        switch (type) {
        case 1:
                return is_unsigned ? 'A' : 'a'; /* of 1 byte */
        case 2:
        case 13:
                return is_unsigned ? 'B' : 'b';
        case 3:
        case 9:
                return is_unsigned ? 'D' : 'd';
        case 8:
                return is_unsigned ? 'H' : 'h';
        case 4:
                return 'f';
        case 5:
                return 'g';
        case 6: /* NULL */
                return '0';
        case 7:
        case 10:
        case 11:
        case 12:
                return 't'; /* times */
        default:
                return type == 0 || type == 15 || type == 16 || type >= 245 ? 's' : 0;
        }
}

static guint64 read_little(const guint8 *p, gsize n)
{
        guint64 value = 0;

        while (n-- > 0)
                value = value << 8 | p[n];
        return value;
}

/* The length of a string. */
static gboolean length_read(Cursor *c, guint64 *length)
{
        guint8 first;
        const guint8 *p;
        gsize n;

        if (!cursor_u8(c, &first) || first == 0xfb || first == 0xff)
                return FALSE;
        *length = first;
        if (first < 0xfb)
                return TRUE;
        n = first == 0xfc ? 2 : first == 0xfd ? 3 : 8;
        if ((p = cursor_take(c, n)))
                *length = read_little(p, n);
        return p != NULL;
}

static gboolean number_read(Cursor *c, gsize size, gboolean is_signed, GString *text)
{
        const guint8 *p = cursor_take(c, size);
        guint64 value;

        if (!p)
                return FALSE;
        value = read_little(p, size);
        if (is_signed && size < 8 && value >> (8 * size - 1))
                value |= G_MAXUINT64 << (8 * size);
        if (is_signed)
                g_string_append_printf(text, "%" G_GINT64_FORMAT "\n", (gint64)value);
        else
                g_string_append_printf(text, "%" G_GUINT64_FORMAT "\n", value);
        return TRUE;
}

/* Drivers of JavaScript send whole numbers so. Others are no identifiers. */
static gboolean double_read(Cursor *c, GString *text)
{
        const guint8 *p = cursor_take(c, 8);
        guint64 bits;
        gdouble value;

        if (!p)
                return FALSE;
        bits = read_little(p, 8);
        memcpy(&value, &bits, sizeof value);
        if (value > -1e15 && value < 1e15 && value - (gdouble)(gint64)value == 0)
                g_string_append_printf(text, "%" G_GINT64_FORMAT "\n", (gint64)value);
        return TRUE;
}

static gboolean string_read(Cursor *c, GString *text)
{
        guint64 length;
        const guint8 *p;

        if (!length_read(c, &length) || length > cursor_left(c))
                return FALSE;
        p = cursor_take(c, (gsize)length);
        g_string_append_len(text, (const char *)p, (gssize)MIN(length, MAX_STRING));
        g_string_append_c(text, '\n');
        return TRUE;
}

static gboolean value_read(Cursor *c, char type, GString *text)
{
        guint8 length;

        switch (type) {
        case '0':
                return TRUE;
        case 'f':
                return cursor_skip(c, 4);
        case 'g':
                return double_read(c, text);
        case 't':
                return cursor_u8(c, &length) && cursor_skip(c, length);
        case 's':
                return string_read(c, text);
        default:
                return number_read(c, (gsize)(g_ascii_tolower(type) - 'a' + 1),
                                   g_ascii_islower(type), text);
        }
}

/* All values, up to the last byte. nulls: a bit for each that is left out. */
static gboolean values_read(Cursor c, const char *types, const guint8 *nulls, GString *text)
{
        gsize before = text->len;
        gboolean sound = TRUE;

        for (guint i = 0; sound && types[i]; i++)
                if (!(nulls[i / 8] & 1 << i % 8))
                        sound = value_read(&c, types[i], text);
        if (!sound || cursor_left(&c) > 0)
                g_string_truncate(text, before);
        return sound && cursor_left(&c) == 0;
}

/* n parameters, with their types if these are sent. types: MAX_PARAMETERS + 1 bytes. */
static gboolean parameters_read(Cursor c, guint n, gboolean sent, char *types, GString *text)
{
        const guint8 *nulls = cursor_take(&c, (n + 7) / 8), *pairs;
        guint8 bound;

        if (!nulls || !cursor_u8(&c, &bound) || bound != sent)
                return FALSE;
        if (sent) {
                if (!(pairs = cursor_take(&c, 2 * (gsize)n)))
                        return FALSE;
                for (guint i = 0; i < n; i++)
                        if (!(types[i] = type_letter(pairs[2 * i], pairs[2 * i + 1])))
                                return FALSE;
                types[n] = 0;
        }
        return values_read(c, types, nulls, text);
}

gboolean mysql_values_append(GString *text, Statements **statements, const guint8 *bytes, gsize n)
{
        char types[MAX_PARAMETERS + 1];
        Cursor c = cursor(bytes, n);
        const guint8 *head = cursor_take(&c, BEFORE_PARAMETERS);
        guint64 key = head ? STATEMENT_TYPES(read_little(head, 4)) : 0;
        const char *known = head ? statements_lookup(*statements, key) : NULL;

        if (!head)
                return FALSE;
        if (known && parameters_read(c, (guint)strlen(known), FALSE, strcpy(types, known), text))
                return TRUE;
        for (guint i = 1; i <= MAX_PARAMETERS && 2 * (gsize)i < cursor_left(&c); i++) {
                if (parameters_read(c, i, TRUE, types, text)) {
                        statements_put(statements, key, types);
                        return TRUE;
                }
        }
        return FALSE;
}
