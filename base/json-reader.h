/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A streaming reader of JSON (RFC 8259), value by value. Memory does not grow with the input: only
 * the current text is kept. Several values may follow each other, as in files with one value a
 * line.
 *
 * A value is *pending* after a function below has announced it. The caller enters it or reads it,
 * or else the next call skips it. So a caller reads only the keys it knows:
 *
 *     while (json_reader_next_value(r))
 *             if (json_reader_enter_object(r))
 *                     while (json_reader_next_key(r))
 *                             if (json_reader_key_is(r, "id") && json_reader_scalar(r))
 *                                     take(json_reader_text(r), json_reader_length(r));
 *
 * Skipped values are checked as well. After an error every function returns FALSE.
 */
#pragma once

#include <glib.h>

enum {
        JSON_DEEPEST = 128,      /* levels of objects and arrays; deeper ones are an error */
        JSON_LONGEST = 16 << 20, /* bytes of one text; longer ones are an error */
};

typedef struct JsonReader JsonReader;

/* Reads up to n bytes into buffer. Returns their number, 0 at the end, or -1 with error set. */
typedef gssize (*JsonFill)(gpointer user, void *buffer, gsize n, GError **error);

JsonReader *json_reader_new(JsonFill fill, gpointer user);
JsonReader *json_reader_new_text(gconstpointer text, gsize n); /* of n bytes, which are borrowed */
void json_reader_free(JsonReader *r);                          /* NULL is allowed */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(JsonReader, json_reader_free)

/* Whether another value follows at the top level; it is then pending. */
gboolean json_reader_next_value(JsonReader *r);

/* Enters the pending value if it is an object, or an array. Else FALSE, and the value stays
 * pending. */
gboolean json_reader_enter_object(JsonReader *r);
gboolean json_reader_enter_array(JsonReader *r);

/* In an object: reads the next key, whose value is then pending. FALSE at the object's end, which
 * leaves it. */
gboolean json_reader_next_key(JsonReader *r);
gboolean json_reader_key_is(const JsonReader *r, const char *key);
/* Whether the key is this field of a protobuf, as its JSON has it or by its own name: spanId or
 * span_id. */
gboolean json_reader_key_is_field(const JsonReader *r, const char *field);
const char *json_reader_key(const JsonReader *r,
                            gsize *length); /* until the next json_reader_next_key() */

/* In an array: whether there is another value, which is then pending. FALSE at the array's end,
 * which leaves it. */
gboolean json_reader_next_element(JsonReader *r);

/* Reads the pending value if it is a text, a number, true, false or null. Else FALSE, and the value
 * stays pending. Numbers and words are given as written. The bytes are not NUL-terminated, may be
 * no UTF-8, and are valid until the next call. */
gboolean json_reader_scalar(JsonReader *r);
const char *json_reader_text(const JsonReader *r);
gsize json_reader_length(const JsonReader *r);
void json_reader_keep_text(const JsonReader *r, GString *to); /* in place of the old contents */
gboolean json_reader_text_is(const JsonReader *r, const char *text);
gboolean json_reader_is_null(const JsonReader *r); /* null, not the text "null" */

/* The first byte of the pending value, or 0 if there is none. */
char json_reader_peek(JsonReader *r);

/* The error, "LINE: byte COLUMN: ...", or NULL. Its code is RAVEL_ERROR_PARTIAL if the input ends
 * within a value, else RAVEL_ERROR_INPUT. Borrowed. */
const GError *json_reader_error(const JsonReader *r);

/* Parses a JSON number in any form, times 10^places, truncated to an integer, exactly. FALSE if the
 * text is no number, or the value does not fit 64 bits. */
gboolean json_parse_number(const char *text, gsize n, guint places, gint64 *value);
