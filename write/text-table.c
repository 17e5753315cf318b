/* SPDX-License-Identifier: BSD-2-Clause */
#include "write/text-table.h"

#include <string.h>

#include "base/each.h"
#include "paths/path-text.h"

enum { GAP = 2 }; /* blanks between two columns */

typedef struct {
        const char *heading;
        TextAlign align;
        guint drop;
        guint width;
        gboolean hidden;
} Column;

struct TextTable {
        GArray *columns;  /* of Column */
        GPtrArray *cells; /* row by row */
};

TextTable *text_table_new(void)
{
        TextTable *table = g_new0(TextTable, 1);

        table->columns = g_array_new(FALSE, FALSE, sizeof(Column));
        table->cells = g_ptr_array_new_with_free_func(g_free);
        return table;
}

TextTable *text_table_new_headed(TextAlign first, const char *const *headings)
{
        TextTable *table = text_table_new();

        for (guint i = 0; headings[i]; i++)
                text_table_add_column(table, headings[i], i == 0 ? first : TEXT_RIGHT, 0);
        return table;
}

void text_table_free(TextTable *table)
{
        if (!table)
                return;
        g_array_free(table->columns, TRUE);
        g_ptr_array_free(table->cells, TRUE);
        g_free(table);
}

void text_table_add_column(TextTable *table, const char *heading, TextAlign align, guint drop)
{
        Column column = { heading, align, drop, text_width(heading), FALSE };

        g_assert(table->cells->len == 0);
        g_array_append_val(table->columns, column);
}

void text_table_add(TextTable *table, char *cell)
{
        guint at = table->cells->len % table->columns->len;
        Column *column = &g_array_index(table->columns, Column, at);

        column->width = MAX(column->width, text_width(cell));
        g_ptr_array_add(table->cells, cell);
}

static guint visible_width(const TextTable *table)
{
        guint width = 0;

        EACH (const Column, c, table->columns)
                if (!c->hidden && c->width > 0)
                        width += c->width + (width > 0 ? GAP : 0);
        return width;
}

guint text_table_fit(TextTable *table, guint columns)
{
        guint width;

        while ((width = visible_width(table)) > columns && columns > 0) {
                Column *drop = NULL;
                EACH (Column, c, table->columns)
                        if (!c->hidden && c->drop > (drop ? drop->drop : 0))
                                drop = c;
                if (!drop)
                        break;
                drop->hidden = TRUE;
        }
        return width;
}

gboolean text_table_shows(const TextTable *table, guint i)
{
        return !g_array_index(table->columns, Column, i).hidden;
}

guint text_table_rows(const TextTable *table)
{
        return table->cells->len / table->columns->len;
}

static void append_blanks(GString *out, guint n)
{
        gsize old = out->len;

        g_string_set_size(out, old + n);
        memset(out->str + old, ' ', n);
}

void text_table_write_row(const TextTable *table, int row, GString *out)
{
        gsize start = out->len;

        for (guint i = 0; i < table->columns->len; i++) {
                const Column *c = &g_array_index(table->columns, Column, i);
                const char *cell = c->heading;
                if (c->hidden || c->width == 0)
                        continue;
                if (row >= 0)
                        cell = table->cells->pdata[(guint)row * table->columns->len + i];
                if (out->len > start)
                        append_blanks(out, GAP);
                guint blanks = c->width - text_width(cell);
                if (c->align == TEXT_RIGHT)
                        append_blanks(out, blanks);
                g_string_append(out, cell);
                if (c->align == TEXT_LEFT && i + 1 < table->columns->len)
                        append_blanks(out, blanks);
        }
        gsize end = out->len;
        while (end > start && out->str[end - 1] == ' ')
                end--;
        g_string_truncate(out, end);
}

static guint char_width(const char *c)
{
        gunichar u = g_utf8_get_char(c);

        return g_unichar_iszerowidth(u) ? 0 : g_unichar_iswide(u) ? 2 : 1;
}

void text_table_write(const TextTable *t, const char *before, GString *out)
{
        for (int row = -1; row < (int)text_table_rows(t); row++) {
                g_string_append(out, before);
                text_table_write_row(t, row, out);
                g_string_append_c(out, '\n');
        }
}

guint text_width(const char *text)
{
        guint width = 0;

        for (const char *c = text; *c; c = g_utf8_next_char(c))
                width += char_width(c);
        return width;
}

char *text_shorten(const char *text, guint width)
{
        const char *c = text;
        guint used = 0;

        if (text_width(text) <= width)
                return g_strdup(text);
        for (; used + char_width(c) + 3 <= width; c = g_utf8_next_char(c))
                used += char_width(c);
        return g_strdup_printf("%.*s...", (int)(c - text), text);
}

char *text_shorten_edge(const char *a, const char *b, guint width)
{
        guint room = width - 3, half = room / 2, width_a = text_width(a), width_b = text_width(b);
        g_autofree char *from = text_shorten(a, width_b < half ? room - width_b : half);
        g_autofree char *to = text_shorten(b, width_a < half ? room - width_a : room - half);

        return g_strdup_printf("%s > %s", from, to);
}

void text_append_wrapped(GString *out, const char *text, const char *breaks, guint indent,
                         guint columns)
{
        /* Room for a word or two, however narrow the terminal claims to be. */
        guint room = columns == 0 ? G_MAXUINT : columns > indent + 10 ? columns - indent : 10;

        do {
                const char *c = text, *end = NULL;
                guint width = 0;
                for (; *c && width + char_width(c) <= room; c = g_utf8_next_char(c)) {
                        width += char_width(c);
                        if (strchr(breaks, *c))
                                end = c + 1;
                }
                if (!*c || *c == ' ' || !end)
                        end = c;
                gsize n = (gsize)(end - text);
                append_blanks(out, indent);
                g_string_append_len(out, text, (gssize)(n > 0 && end[-1] == ' ' ? n - 1 : n));
                g_string_append_c(out, '\n');
                text = end;
                while (*text == ' ')
                        text++;
        } while (*text);
}

void text_append_line(GString *out, const char *breaks, guint indent, guint columns,
                      const char *format, ...)
{
        g_autofree char *text = NULL;
        va_list args;

        va_start(args, format);
        text = g_strdup_vprintf(format, args);
        va_end(args);
        text_append_wrapped(out, text, breaks, indent, columns);
}

void text_append_count(GString *out, guint64 n, const char *what)
{
        g_autofree char *text = path_format_count(n);

        g_string_append_printf(out, "%s %s", text, what);
}
