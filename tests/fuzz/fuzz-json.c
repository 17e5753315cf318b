/* SPDX-License-Identifier: BSD-2-Clause
 *
 * JSON of any length, read by pieces: whatever is asked of the reader, it ends, and says the same
 * as the other reader of JSON of where bytes are none.
 */
#include <string.h>

#include "base/json-reader.h"

int LLVMFuzzerTestOneInput(const guint8 *data, gsize n);

typedef struct {
        const guint8 *data;
        gsize n, piece;
} Bytes;

static gssize read_piece(gpointer user, void *buffer, gsize n, GError **error)
{
        Bytes *b = user;
        gsize size = MIN(MIN(n, b->piece), b->n);

        (void)error;
        if (size == 0)
                return 0;
        memcpy(buffer, b->data, size);
        b->data += size;
        b->n -= size;
        return (gssize)size;
}

/* Every text and number; TRUE where all is JSON. */
static gboolean read_all(JsonReader *r, GString *texts)
{
        gboolean is_object[JSON_DEEPEST];

        while (json_reader_next_value(r)) {
                guint depth = 0;

                do {
                        if (json_reader_enter_object(r)) {
                                is_object[depth++] = TRUE;
                        } else if (json_reader_enter_array(r)) {
                                is_object[depth++] = FALSE;
                        } else if (json_reader_scalar(r)) {
                                g_string_append_len(texts, json_reader_text(r),
                                                    (gssize)json_reader_length(r));
                                g_string_append_c(texts, '\n');
                        }
                        while (depth > 0 && !(is_object[depth - 1] ? json_reader_next_key(r)
                                                                   : json_reader_next_element(r)))
                                depth--;
                } while (depth > 0);
        }
        return !json_reader_error(r);
}

/* Some values are entered and some are not. */
static void read_some(JsonReader *r, guint seed)
{
        while (json_reader_next_value(r)) {
                if ((seed = seed * 1103515245 + 12345) & 1 << 16 && json_reader_enter_object(r))
                        while (json_reader_next_key(r))
                                if (json_reader_key_is(r, "a") && json_reader_enter_array(r))
                                        while (json_reader_next_element(r))
                                                json_reader_scalar(r);
        }
}

static void parse_numbers(const guint8 *data, gsize n)
{
        gint64 value, more;

        if (json_parse_number((const char *)data, n, 0, &value) && value != 0 &&
            json_parse_number((const char *)data, n, 3, &more))
                g_assert(more / 1000 == value);
}

int LLVMFuzzerTestOneInput(const guint8 *data, gsize n)
{
        Bytes bytes = { data, n, n > 0 ? 1 + data[n - 1] % 16 : 1 }, again = bytes;
        Bytes whole = { data, n, MAX(n, 1) };
        g_autoptr(JsonReader) r = json_reader_new(read_piece, &bytes);
        g_autoptr(JsonReader) some = json_reader_new(read_piece, &again);
        g_autoptr(JsonReader) once = json_reader_new(read_piece, &whole);
        g_autoptr(GString) texts = g_string_new(NULL), other = g_string_new(NULL);
        gboolean ok = read_all(r, texts);

        read_some(some, n > 1 ? data[n - 2] : 0);
        g_assert(ok == (json_reader_error(some) == NULL));
        g_assert(ok == read_all(once, other) && g_string_equal(texts, other));
        if (!ok) {
                const char *error = json_reader_error(r)->message;

                g_assert(g_utf8_validate(error, -1, NULL));
                g_assert_cmpstr(error, ==, json_reader_error(once)->message);
        }
        parse_numbers(data, n);
        return 0;
}
