/* SPDX-License-Identifier: BSD-2-Clause
 *
 * JSON (RFC 8259) of any length, value by value, from bytes that come in pieces. Only the text in
 * hand is kept. Several values may follow each other, as in files with one on each line.
 *
 * A value is pending once a function below said that there is one. It is entered or read; the next
 * question passes over it where it was not. So a caller reads what it knows:
 *
 *     while (json_reader_next_value(r))
 *             if (json_reader_enter_object(r))
 *                     while (json_reader_next_key(r))
 *                             if (json_reader_key_is(r, "id") && json_reader_scalar(r))
 *                                     take(json_reader_text(r), json_reader_length(r));
 *
 * What is passed over is checked as well. After an error every question is answered with FALSE.
 */
#ifndef RAVEL_JSON_READER_H
#define RAVEL_JSON_READER_H

#include <glib.h>

enum {
        JSON_DEEPEST = 128,      /* objects and arrays in each other; what is deeper is an error */
        JSON_LONGEST = 16 << 20, /* bytes of one text; what is longer is an error */
};

typedef struct JsonReader JsonReader;

/* Up to n bytes into buffer; 0 at the end, -1 with error set. */
typedef gssize (*JsonFill)(gpointer user, void *buffer, gsize n, GError **error);

JsonReader *json_reader_new(JsonFill fill, gpointer user);
void json_reader_free(JsonReader *r); /* NULL is allowed */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(JsonReader, json_reader_free)

/* Whether another value follows, after the end of the one before. FALSE at the end, too. */
gboolean json_reader_next_value(JsonReader *r);

/* Where the pending value is an object or array: goes into it. Else FALSE, and it stays pending. */
gboolean json_reader_enter_object(JsonReader *r);
gboolean json_reader_enter_array(JsonReader *r);

/* In an object: the next key, whose value is then pending. FALSE: it ended, and was left. */
gboolean json_reader_next_key(JsonReader *r);
gboolean json_reader_key_is(const JsonReader *r, const char *key);
const char *json_reader_key(const JsonReader *r,
                            gsize *length); /* until the next json_reader_next_key() */

/* In an array: whether there is another value, which is then pending. FALSE: it ended, and was
 * left. */
gboolean json_reader_next_element(JsonReader *r);

/* The pending value, where it is a text, or a number, true, false or null, which then is given as
 * it stands. Else FALSE, and it stays pending. The bytes are not NUL-terminated, need be no UTF-8,
 * and are there until the next call. */
gboolean json_reader_scalar(JsonReader *r);
const char *json_reader_text(const JsonReader *r);
gsize json_reader_length(const JsonReader *r);
gboolean json_reader_text_is(const JsonReader *r, const char *text);
gboolean json_reader_is_null(const JsonReader *r); /* null, and not a text of these letters */

/* The first byte of the pending value, or 0 where there is none. */
char json_reader_peek(JsonReader *r);

/* What went wrong: "LINE: byte COLUMN: ...", of the code RAVEL_ERROR_INPUT, or RAVEL_ERROR_PARTIAL
 * where the bytes end within a value; NULL: nothing. Borrowed. */
const GError *json_reader_error(const JsonReader *r);

/* A number of any form that JSON has, with the point moved right by places and cut to a whole,
 * exact. FALSE where text is none, or it does not fit 64 bits. */
gboolean json_parse_number(const char *text, gsize n, guint places, gint64 *value);

#endif
