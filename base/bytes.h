/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Serialization: plain data to bytes and back. One function per type lists its fields and serves
 * both directions: it passes the address of each field, which is written or read into. Numbers are
 * little-endian.
 *
 * Bytes may come from a stranger. After the first wrong byte every read gives 0, and bytes_end()
 * reports the place and what was expected there.
 */
#pragma once

#include <glib.h>

typedef struct {
        GByteArray *out; /* NULL: reading */
        const guint8 *data;
        gsize n, at;
        char *wrong; /* the first error: its place and the expected bytes; NULL: none so far */
} Bytes;

Bytes bytes_to_write(void);
Bytes bytes_to_read(const guint8 *data, gsize n);

/* End the writing and the reading: the bytes written; whether all bytes were read as expected, else
 * error is set. */
GBytes *bytes_written(Bytes *b);
gboolean bytes_end(Bytes *b, GError **error);

static inline gboolean bytes_reads(const Bytes *b)
{
        return !b->out;
}

/* Whether no error has been found so far. */
static inline gboolean bytes_good(const Bytes *b)
{
        return !b->wrong;
}

/* Notes an error unless holds is TRUE; what names the expected bytes. Returns bytes_good(). */
gboolean bytes_expect(Bytes *b, gboolean holds, const char *what);

/* A fixed word, such as the name of a format and its version. Reading another word is an error. */
void bytes_word(Bytes *b, const char *word);

void bytes_u8(Bytes *b, guint8 *x);
void bytes_u16(Bytes *b, guint16 *x);
void bytes_u32(Bytes *b, guint32 *x);
void bytes_u64(Bytes *b, guint64 *x);
void bytes_i64(Bytes *b, gint64 *x);
void bytes_bool(Bytes *b, gboolean *x);
void bytes_float(Bytes *b, float *x);   /* neither infinite nor a NaN */
void bytes_double(Bytes *b, double *x); /* likewise */

/* The length of a list whose items take at least `each` bytes. An error, and 0, if fewer bytes are
 * left than that. */
void bytes_count(Bytes *b, guint32 *n, gsize each);

/* Arrays of n numbers. Reading allocates the array; NULL if the bytes are too few. */
void bytes_u8s(Bytes *b, guint8 **array, gsize n);
void bytes_u32s(Bytes *b, guint32 **array, gsize n);
void bytes_floats(Bytes *b, float **array, gsize n);

/* Raw bytes with their length. After reading, the caller's to unref. */
void bytes_blob(Bytes *b, GBytes **blob);

/* A text: its length and its bytes. After reading, the caller's to free; "" if it is wrong. */
void bytes_text(Bytes *b, char **text);

/* Before reading n items of at least `each` bytes: allocates an array of n times `size` bytes.
 * Returns n, or 0 if the bytes are too few. */
gsize bytes_room(Bytes *b, gpointer array, gsize n, gsize size, gsize each);
