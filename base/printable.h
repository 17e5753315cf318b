/* SPDX-License-Identifier: BSD-2-Clause
 *
 * How a stranger's text is escaped for output: names, labels and facts come from packets, traces
 * and stores. Every writer calls these functions. Unprintable are control characters, characters
 * that change the direction of text, show nothing or end a line, and noncharacters, which XML
 * forbids.
 */
#pragma once

#include <glib.h>

typedef enum {
        PRINTABLE_TEXT,  /* a terminal or page: \xHH, \uHHHH or \UHHHHHHHH for each unprintable */
        PRINTABLE_XML,   /* SVG, HTML: as TEXT, with markup escaped */
        PRINTABLE_DOT,   /* a label of Graphviz: as TEXT, with its escapes and entities escaped */
        PRINTABLE_CELL,  /* a value in text or TSV: as TEXT, also backslash, tab and newline */
        PRINTABLE_TSV,   /* as CELL, and never a formula to a spreadsheet */
        PRINTABLE_JSON,  /* the inside of a JSON string with the text as its value, but for bytes
                            that are no UTF-8; safe inside an HTML page */
        PRINTABLE_PAGE,  /* the inside of a JSON string that a page shows: as JSON, and unprintables
                            as in TEXT */
        PRINTABLE_FIELD, /* a field of a trace or signature: %XX for each byte of an unprintable;
                            '%' stays */
        N_PRINTABLES
} Printable;

/* Appends the n bytes (-1: up to the NUL) at text, which need be no UTF-8. */
void printable_append(GString *out, const char *text, gssize n, Printable as);

/* The same as a new text, the caller's to free. */
char *printable_new(const char *text, Printable as);

/* Appends an id of a trace, which has no blanks, as a cell of TSV: as FIELD, and never a
 * formula. */
void printable_append_id(GString *out, const char *id, gsize n);

/* Whether a character is printable: it may stand in a line of text as it is. */
gboolean printable_is_character(gunichar c);

/* Whether a spreadsheet takes a cell for a formula that begins with this character. */
gboolean printable_begins_formula(char first);
