/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A place in the text of a configuration: one value, with the line and column it
 * stands at, so that an error can say where.
 */
#pragma once

#include <glib.h>

typedef struct {
        const char *file;   /* for messages; borrowed */
        const guint8 *data; /* of one line, UTF-8, no NUL; borrowed */
        gsize n, at;        /* bytes in all, bytes read */
        guint line, column; /* of data[0], from 1; a column is a character */
} TextCursor;

void text_cursor_skip_blanks(TextCursor *c);

/* The byte at the cursor, 0 at the end. */
static inline guint8 text_cursor_peek(const TextCursor *c)
{
        return c->at < c->n ? c->data[c->at] : 0;
}

/* Skips blanks, and text if it follows. */
gboolean text_cursor_accept(TextCursor *c, const char *text);

/* Sets error to "FILE:LINE:COLUMN: found "...", expected ...". It shows the n bytes from at, or the
 * end of the line. Always returns FALSE. */
gboolean text_cursor_fail(const TextCursor *c, gsize at, gsize n, GError **error,
                          const char *expected, ...) G_GNUC_PRINTF(5, 6);

/* The same for the next word, or else the next character; skips blanks. */
gboolean text_cursor_fail_here(TextCursor *c, GError **error, const char *expected);

/* Skips blanks and text, which must follow; else FALSE and error set. */
gboolean text_cursor_expect(TextCursor *c, const char *text, GError **error);

/* The number of name bytes that follow the cursor. */
gsize text_cursor_word(const TextCursor *c);

/* A number in decimal: digits, and a fraction if it has one.
 * After it there may be anything. */
gboolean text_cursor_number(TextCursor *c, double *number);

/* Digits alone; FALSE also where the number does not fit. */
gboolean text_cursor_integer(TextCursor *c, guint64 *number);

/* A number and its unit: ns, us, ms, s, min or h. In ns, at most 366 days.
 * Leaves the cursor where it was unless it succeeds. */
gboolean text_cursor_duration(TextCursor *c, double *ns);
