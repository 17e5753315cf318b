/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What of a stranger's text may be written, and how: names, labels and facts come from
 * packets, traces and stores. Every writer asks here. Besides control characters there are
 * those that turn the direction of what follows them, that show nothing, that end
 * a line, and that are no characters at all, which XML forbids.
 */
#ifndef RAVEL_PRINTABLE_H
#define RAVEL_PRINTABLE_H

#include <glib.h>

typedef enum {
        PRINTABLE_TEXT,  /* a terminal, a page: \xHH, \uHHHH or \UHHHHHHHH for each of them */
        PRINTABLE_XML,   /* SVG, HTML: the same, and no markup */
        PRINTABLE_DOT,   /* a label of Graphviz: the same; no escapes of its own, no entities */
        PRINTABLE_CELL,  /* text or TSV of values: the same, and no backslash, \t and \n */
        PRINTABLE_TSV,   /* such a cell, which no spreadsheet takes for a formula */
        PRINTABLE_JSON,  /* the inside of a string: its value is the text as it is, but bytes
                          * that are no UTF-8; it can stand in a page */
        PRINTABLE_PAGE,  /* the inside of such a string that a page shows: of all those, as in text
                          */
        PRINTABLE_FIELD, /* of a trace or a signature: %XX for each of their bytes; '%' stays */
        N_PRINTABLES
} Printable;

/* Appends the n bytes (-1: up to the NUL) at text, which need be no UTF-8. */
void printable_append(GString *out, const char *text, gssize n, Printable as);

/* The same as a text of its own; the caller's to free. */
char *printable_new(const char *text, Printable as);

/* An id of a trace, which has no blanks, as a cell of TSV: in FIELD, and no formula. */
void printable_append_id(GString *out, const char *id, gsize n);

/* Whether a character may stand in a line of text as it is. */
gboolean printable_is_character(gunichar c);

/* Whether a spreadsheet takes a cell that begins so for a formula. */
gboolean printable_begins_formula(char first);

#endif
