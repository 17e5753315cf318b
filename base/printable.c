/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/printable.h"

#include <string.h>

/* Ranges of code points. GLib's own tables grow with its version, and so would output. The joiners
 * U+200C and U+200D stay printable: some scripts need them. */
static const struct {
        gunichar first, last;
} unprintable[] = {
        { 0, 0x1f },        { 0x7f, 0x9f },       { 0xad, 0xad },     { 0x600, 0x605 },
        { 0x61c, 0x61c },   { 0x6dd, 0x6dd },     { 0x70f, 0x70f },   { 0x180e, 0x180e },
        { 0x200b, 0x200b }, { 0x200e, 0x200f },   { 0x2028, 0x202e }, { 0x2060, 0x206f },
        { 0xd800, 0xdfff }, { 0xfdd0, 0xfdef },   { 0xfeff, 0xfeff }, { 0xfff9, 0xfffb },
        { 0xfffe, 0xffff }, { 0xe0000, 0xe007f },
};

gboolean printable_is_character(gunichar c)
{
        if (c < 0x7f)
                return c >= ' ';
        for (guint i = 0; i < G_N_ELEMENTS(unprintable); i++)
                if (c >= unprintable[i].first && c <= unprintable[i].last)
                        return FALSE;
        return c <= 0x10ffff && (c & 0xfffe) != 0xfffe;
}

gboolean printable_begins_formula(char first)
{
        return first != 0 && strchr("=+-@", first);
}

static void append_code(GString *out, gunichar c)
{
        if (c < 0x100)
                g_string_append_printf(out, "\\x%02x", c);
        else if (c < 0x10000)
                g_string_append_printf(out, "\\u%04x", c);
        else
                g_string_append_printf(out, "\\U%08x", c);
}

static void append_json_code(GString *out, gunichar c)
{
        if (c < 0x10000)
                g_string_append_printf(out, "\\u%04x", c);
        else
                g_string_append_printf(out, "\\u%04x\\u%04x", 0xd7c0 + (c >> 10),
                                       0xdc00 + (c & 0x3ff));
}

static void append_percent_bytes(GString *out, const char *bytes, gsize n)
{
        for (gsize i = 0; i < n; i++)
                g_string_append_printf(out, "%%%02X", (guchar)bytes[i]);
}

/* The text that replaces an ASCII character; NULL if it stays the same. */
static const char *replacement_of(char c, Printable as)
{
        switch (as) {
        case PRINTABLE_XML:
                return c == '<'    ? "&lt;"
                       : c == '>'  ? "&gt;"
                       : c == '&'  ? "&amp;"
                       : c == '"'  ? "&quot;"
                       : c == '\'' ? "&#39;"
                                   : NULL;
        case PRINTABLE_DOT: /* entities and backslash escapes have a meaning */
                return c == '\\' ? "\\\\" : c == '&' ? "&amp;" : NULL;
        case PRINTABLE_CELL:
        case PRINTABLE_TSV:
                return c == '\\' ? "\\\\" : c == '\t' ? "\\t" : c == '\n' ? "\\n" : NULL;
        case PRINTABLE_PAGE:
                if (c == '\n' || c == '\t')
                        return c == '\n' ? "\\n" : "\\t";
                /* fall through */
        case PRINTABLE_JSON: /* '<' might begin "</script>" in a page */
                return c == '"' ? "\\\"" : c == '\\' ? "\\\\" : c == '<' ? "\\u003c" : NULL;
        default:
                return NULL;
        }
}

/* The number of bytes at text that stay the same, most of any text. Letters and digits always
 * do. */
static gsize count_plain(const char *text, gsize n, Printable as)
{
        gsize i = 0;

        while (i < n && (g_ascii_isalnum(text[i]) ||
                         (text[i] >= ' ' && text[i] < 0x7f && !replacement_of(text[i], as))))
                i++;
        return i;
}

static void append_unprintable(GString *out, const char *bytes, gsize n, gunichar c, Printable as)
{
        if (as == PRINTABLE_FIELD)
                append_percent_bytes(out, bytes, n);
        else if (as == PRINTABLE_JSON)
                append_json_code(out, c);
        else {
                if (as == PRINTABLE_DOT ||
                    as == PRINTABLE_PAGE) /* the backslash is itself escaped */
                        g_string_append_c(out, '\\');
                append_code(out, c);
        }
}

void printable_append(GString *out, const char *text, gssize length, Printable as)
{
        gsize n = length < 0 ? strlen(text) : (gsize)length;
        const char *end = text + n;

        if (as == PRINTABLE_TSV && n > 0 && printable_begins_formula(*text))
                append_code(out, (guchar)*text++);
        while (text < end) {
                gsize plain = count_plain(text, (gsize)(end - text), as);
                const char *replaced;
                gunichar c;

                g_string_append_len(out, text, (gssize)plain);
                if ((text += plain) == end)
                        break;
                if ((guchar)*text < 0x80 && (replaced = replacement_of(*text, as))) {
                        g_string_append(out, replaced);
                        text++;
                        continue;
                }
                c = g_utf8_get_char_validated(text, end - text);
                if (c == (gunichar)-1 || c == (gunichar)-2) { /* a byte that is no UTF-8 */
                        if (as == PRINTABLE_JSON)
                                g_string_append(out, "\xef\xbf\xbd");
                        else
                                append_unprintable(out, text, 1, (guchar)*text, as);
                        text++;
                        continue;
                }
                gsize size = (gsize)(g_utf8_next_char(text) - text);
                if (printable_is_character(c))
                        g_string_append_len(out, text, (gssize)size);
                else
                        append_unprintable(out, text, size, c, as);
                text += size;
        }
}

void printable_append_id(GString *out, const char *id, gsize n)
{
        gsize first = n > 1 && printable_begins_formula(*id);

        append_percent_bytes(out, id, first);
        printable_append(out, id + first, (gssize)(n - first), PRINTABLE_FIELD);
}

char *printable_new(const char *text, Printable as)
{
        g_autoptr(GString) out = g_string_new(NULL);

        printable_append(out, text, -1, as);
        return g_string_free(g_steal_pointer(&out), FALSE);
}
