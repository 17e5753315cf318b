/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A table of the members of a struct, by which a row is written as TSV and as JSON.
 */
#pragma once

#include "write/json.h"

typedef enum {
        FIELD_COUNT,   /* guint64 */
        FIELD_UINT,    /* guint */
        FIELD_NUMBER,  /* double, of six digits */
        FIELD_EXACT,   /* double, of six digits in TSV and of nine in JSON */
        FIELD_KNOWN,   /* the same; null in JSON where it is below 0 */
        FIELD_DECIMAL, /* double, of four decimals */
        FIELD_TIME,    /* gint64, ns */
        FIELD_MEAN,    /* double, ns: in TSV rounded, in JSON cut to a whole number */
        FIELD_CUT,     /* double, ns: cut to a whole number */
        FIELD_TEXT     /* char *; NULL is "-" in TSV and null in JSON */
} FieldType;

typedef struct {
        const char *name; /* in JSON, and of the column */
        FieldType type;
        gsize offset; /* in the struct */
} Field;

/* Cells of TSV, each with a tab behind it: the names of n fields, or what row has of them. */
void fields_append_names(GString *out, const Field *fields, guint n);
void fields_append_cells(GString *out, const Field *fields, guint n, gconstpointer row);

/* One such cell; "-" where text is NULL. */
void field_append_text(GString *out, const char *text);

/* Members of an object in JSON. */
void fields_put(Json *json, const Field *fields, guint n, gconstpointer row);

/* A key and the list of an object for each record of rows. Each begins a line with `blanks` blanks;
 * -1: all are on one line. */
void fields_put_list(Json *json, const char *key, int blanks, const Field *fields, guint n,
                     const GArray *rows);
