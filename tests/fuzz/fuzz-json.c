/* SPDX-License-Identifier: BSD-2-Clause
 *
 * JSON of any length, read by pieces: whatever is asked of the reader, it ends, and says the same
 * as the other reader of JSON of where bytes are none.
 */
#include <string.h>

#include "import/json-reader.h"
#include "import/json-text.h"

int LLVMFuzzerTestOneInput(const guint8 *data, gsize n);

typedef struct {
        const guint8 *data;
        gsize n, piece;
        guint seed;
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

/* Every text and number, as json_texts() gives them; TRUE where all is JSON. */
static gboolean read_all(JsonReader *r, GString *texts, guint *n_values)
{
        gboolean is_object[JSON_DEEPEST];

        for (*n_values = 0; json_reader_next_value(r); ++*n_values) {
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

static void take(gpointer user, const char *const *keys, guint n_keys, const char *value)
{
        (void)keys;
        (void)n_keys;
        g_string_append_printf(user, "%s\n", value);
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
        Bytes bytes = { data, n, n > 0 ? 1 + data[n - 1] % 16 : 1, 0 }, again = bytes;
        g_autoptr(JsonReader) r = json_reader_new(read_piece, &bytes);
        g_autoptr(JsonReader) some = json_reader_new(read_piece, &again);
        g_autoptr(GString) texts = g_string_new(NULL), other = g_string_new(NULL);
        guint n_values;
        gboolean ok = read_all(r, texts, &n_values);
        GError *error;

        read_some(some, n > 1 ? data[n - 2] : 0);
        error = (GError *)json_reader_error(some);
        g_assert(!ok == (error != NULL));
        g_assert(ok || g_utf8_validate(json_reader_error(r)->message, -1, NULL));
        /* The other one takes no pairs of \u, any word for a number, and only one value. */
        if (ok && n_values == 1 && !memchr(data, 0, n) && !strstr(texts->str, "\xf0") &&
            json_texts(data, n, take, other) && !g_strstr_len((const char *)data, (gssize)n, "\\u"))
                g_assert_cmpstr(texts->str, ==, other->str);
        parse_numbers(data, n);
        return 0;
}
