/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Tables and paragraphs of plain text for people: columns aligned, fitted to the
 * width of a terminal. Widths are in character cells, so that a name in any
 * script lines up.
 */
#pragma once

#include <glib.h>

typedef enum { TEXT_LEFT, TEXT_RIGHT } TextAlign;

typedef struct TextTable TextTable;

TextTable *text_table_new(void);
/* With these columns, none of which is left out. All but the first are aligned to the right. NULL
 * ends headings. */
TextTable *text_table_new_headed(TextAlign first, const char *const *headings);
void text_table_free(TextTable *table);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TextTable, text_table_free)

/* All columns come before the first cell. Where the table is too wide, columns
 * with the greatest drop are left out first; those with drop 0 stay. heading is
 * not copied. */
void text_table_add_column(TextTable *table, const char *heading, TextAlign align, guint drop);

/* The next cell, row by row; takes it. */
void text_table_add(TextTable *table, char *cell);

/* Leaves columns out until the table is at most columns wide, if that can be (0:
 * no limit). Returns its width. */
guint text_table_fit(TextTable *table, guint columns);

/* Whether column i, counted from 0, is still there. */
gboolean text_table_shows(const TextTable *table, guint i);

guint text_table_rows(const TextTable *table);

/* Appends a row, without a newline; row -1 is the headings. */
void text_table_write_row(const TextTable *table, int row, GString *out);

/* Appends the headings and all rows, a line each, which begins with before. */
void text_table_write(const TextTable *table, const char *before, GString *out);

/* How many cells of a terminal a text takes. */
guint text_width(const char *text);

/* A copy that is at most width (3 or more) wide; "..." says that some is missing. */
char *text_shorten(const char *text, guint width);

/* "a > b", at most width (9 or more) wide: both ends stay, the longer is cut first. */
char *text_shorten_edge(const char *a, const char *b, guint width);

/* Appends text and a newline, each line indented and at most columns wide (0: no
 * limit). Lines break after one of the characters in breaks, or, in a stretch
 * without any, anywhere; a blank at the break is left out. */
void text_append_wrapped(GString *out, const char *text, const char *breaks, guint indent,
                         guint columns);

/* The same, of a format of printf(). */
void text_append_line(GString *out, const char *breaks, guint indent, guint columns,
                      const char *format, ...) G_GNUC_PRINTF(5, 6);

/* "1,234 calls": a number, and of what. */
void text_append_count(GString *out, guint64 n, const char *what);
