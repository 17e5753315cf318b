/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/bytes.h"

#include <math.h>
#include <string.h>

Bytes bytes_to_write(void)
{
        return (Bytes){ .out = g_byte_array_new() };
}

Bytes bytes_to_read(const guint8 *data, gsize n)
{
        return (Bytes){ .data = data, .n = n };
}

GBytes *bytes_written(Bytes *b)
{
        return g_byte_array_free_to_bytes(g_steal_pointer(&b->out));
}

gboolean bytes_expect(Bytes *b, gboolean holds, const char *what)
{
        if (!holds && !b->wrong && bytes_reads(b))
                b->wrong = g_strdup_printf("byte %" G_GSIZE_FORMAT ": expected %s", b->at, what);
        return !b->wrong;
}

gboolean bytes_end(Bytes *b, GError **error)
{
        bytes_expect(b, b->at == b->n, "the end");
        if (!b->wrong)
                return TRUE;
        g_set_error_literal(error, G_FILE_ERROR, G_FILE_ERROR_INVAL, b->wrong);
        g_clear_pointer(&b->wrong, g_free);
        return FALSE;
}

/* Writes or reads the low n bytes of a number. */
static guint64 code_number(Bytes *b, guint64 x, guint n)
{
        guint8 byte[8];

        if (!bytes_reads(b)) {
                for (guint i = 0; i < n; i++)
                        byte[i] = x >> 8 * i;
                g_byte_array_append(b->out, byte, n);
                return x;
        }
        if (!bytes_expect(b, b->n - b->at >= n, "more bytes"))
                return 0;
        x = 0;
        for (guint i = 0; i < n; i++)
                x |= (guint64)b->data[b->at++] << 8 * i;
        return x;
}

void bytes_u8(Bytes *b, guint8 *x)
{
        *x = code_number(b, *x, 1);
}

void bytes_u16(Bytes *b, guint16 *x)
{
        *x = code_number(b, *x, 2);
}

void bytes_u32(Bytes *b, guint32 *x)
{
        *x = code_number(b, *x, 4);
}

void bytes_u64(Bytes *b, guint64 *x)
{
        *x = code_number(b, *x, 8);
}

void bytes_i64(Bytes *b, gint64 *x)
{
        *x = (gint64)code_number(b, (guint64)*x, 8);
}

void bytes_bool(Bytes *b, gboolean *x)
{
        guint8 byte = *x != 0;

        bytes_u8(b, &byte);
        bytes_expect(b, byte <= 1, "0 or 1");
        *x = byte;
}

void bytes_float(Bytes *b, float *x)
{
        guint32 bits;

        memcpy(&bits, x, sizeof bits);
        bytes_u32(b, &bits);
        memcpy(x, &bits, sizeof bits);
        if (!bytes_expect(b, isfinite(*x), "a number"))
                *x = 0;
}

void bytes_double(Bytes *b, double *x)
{
        guint64 bits;

        memcpy(&bits, x, sizeof bits);
        bytes_u64(b, &bits);
        memcpy(x, &bits, sizeof bits);
        if (!bytes_expect(b, isfinite(*x), "a number"))
                *x = 0;
}

void bytes_word(Bytes *b, const char *word)
{
        gsize n = strlen(word);

        if (!bytes_reads(b)) {
                g_byte_array_append(b->out, (const guint8 *)word, n);
                return;
        }
        if (bytes_expect(b, b->n - b->at >= n && !memcmp(b->data + b->at, word, n), word))
                b->at += n;
}

void bytes_count(Bytes *b, guint32 *n, gsize each)
{
        bytes_u32(b, n);
        if (bytes_reads(b) && !bytes_expect(b, *n <= (b->n - b->at) / each, "fewer of these"))
                *n = 0;
}

gsize bytes_room(Bytes *b, gpointer array, gsize n, gsize size, gsize each)
{
        gpointer *at = array;

        if (!bytes_reads(b))
                return n;
        *at = NULL;
        if (!bytes_expect(b, n <= (b->n - b->at) / each, "more of these"))
                return 0;
        *at = g_malloc0_n(MAX(n, 1), size);
        return n;
}

/* Writes or reads n bytes as they are. The caller has checked that n bytes are left. */
static void code_block(Bytes *b, gpointer data, gsize n)
{
        if (!bytes_reads(b)) {
                g_byte_array_append(b->out, data, (guint)n);
                return;
        }
        memcpy(data, b->data + b->at, n);
        b->at += n;
}

void bytes_u8s(Bytes *b, guint8 **array, gsize n)
{
        n = bytes_room(b, array, n, sizeof **array, 1);
        if (n > 0)
                code_block(b, *array, n);
}

void bytes_u32s(Bytes *b, guint32 **array, gsize n)
{
        n = bytes_room(b, array, n, sizeof **array, 4);
        if (G_BYTE_ORDER == G_LITTLE_ENDIAN && n > 0)
                code_block(b, *array, 4 * n);
        for (gsize i = 0; G_BYTE_ORDER != G_LITTLE_ENDIAN && i < n; i++)
                bytes_u32(b, &(*array)[i]);
}

void bytes_floats(Bytes *b, float **array, gsize n)
{
        n = bytes_room(b, array, n, sizeof **array, 4);
        for (gsize i = 0; i < n; i++)
                bytes_float(b, &(*array)[i]);
}

void bytes_blob(Bytes *b, GBytes **blob)
{
        gsize size = 0;
        gconstpointer data = bytes_reads(b) ? NULL : g_bytes_get_data(*blob, &size);
        guint32 n = size;

        bytes_count(b, &n, 1);
        if (!bytes_reads(b)) {
                g_byte_array_append(b->out, data, n);
                return;
        }
        *blob = g_bytes_new(b->data + b->at, n);
        b->at += n;
}

void bytes_text(Bytes *b, char **text)
{
        guint32 n = bytes_reads(b) ? 0 : (guint32)strlen(*text);
        guint8 *bytes = bytes_reads(b) ? NULL : (guint8 *)*text;

        bytes_count(b, &n, 1);
        bytes_u8s(b, &bytes, n);
        if (!bytes_reads(b))
                return;
        for (guint32 i = 0; bytes && i < n; i++)
                bytes_expect(b, bytes[i] >= ' ', "text");
        *text = g_strndup(bytes_good(b) ? (char *)bytes : "", n);
        g_free(bytes);
}
