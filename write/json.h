/* SPDX-License-Identifier: BSD-2-Clause
 *
 * JSON, written into a text piece by piece: commas, keys and lines. Ids and times are strings: a
 * reader whose numbers are doubles would round them.
 */
#pragma once

#include "paths/histogram.h"

typedef struct {
        GString *text;      /* borrowed; what stands in it may be taken out at any time */
        gboolean inside;    /* something stands in the innermost brackets */
        gboolean after_key; /* the next value belongs to a key */
        int line;           /* blanks of the line that the next value or key begins; -1: none */
        gboolean tight;     /* without a blank: programs alone read it */
} Json;

#define JSON_IN(text)       ((Json){ (text), FALSE, FALSE, -1, FALSE })
#define JSON_TIGHT_IN(text) ((Json){ (text), FALSE, FALSE, -1, TRUE })

/* The next value or key begins a line; else it stands after a blank. */
void json_line(Json *json, guint blanks);

/* The key of the next value: one that needs no escapes, or any UTF-8. */
void json_key(Json *json, const char *key);
void json_string_key(Json *json, const char *key);

/* '{' or '['; and its end. */
void json_open(Json *json, char bracket);
void json_close(Json *json, char bracket);

/* For a value that the caller writes himself: what it is to be appended to. */
GString *json_value(Json *json);

void json_null(Json *json);
void json_boolean(Json *json, gboolean value);
void json_count(Json *json, guint64 n);
void json_integer(Json *json, gint64 n);
/* '<' is escaped in strings, too, so that they can stand in a page. */
void json_string(Json *json, const char *text);         /* UTF-8; NULL: null */
void json_bytes(Json *json, const char *text, gsize n); /* the same; what is no UTF-8 is U+FFFD */
/* One string of two; what is between needs no escapes. */
void json_joined(Json *json, const char *first, const char *between, const char *second);
void json_plain(Json *json, const char *text); /* that needs no escapes */
void json_time(Json *json, gint128 ns);
void json_id(Json *json, guint64 id);
void json_number(Json *json, double number, const char *format);

/* A key and its value. */
#define json_put_open(json, key, bracket)  (json_key(json, key), json_open(json, bracket))
#define json_put_boolean(json, key, value) (json_key(json, key), json_boolean(json, value))
#define json_put_count(json, key, n)       (json_key(json, key), json_count(json, n))
#define json_put_integer(json, key, n)     (json_key(json, key), json_integer(json, n))
#define json_put_string(json, key, text)   (json_key(json, key), json_string(json, text))
#define json_put_plain(json, key, text)    (json_key(json, key), json_plain(json, text))
#define json_put_time(json, key, ns)       (json_key(json, key), json_time(json, ns))
#define json_put_id(json, key, id)         (json_key(json, key), json_id(json, id))
#define json_put_number(json, key, number, format)                                                 \
        (json_key(json, key), json_number(json, number, format))

/* The start of a versioned document: "{", its format and version 1. */
void json_open_document(Json *json, const char *format);
