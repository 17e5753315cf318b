/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Plain data to bytes and back. One function says what a thing consists of, and serves both ways:
 * it gives the address of each field, which is written, or read into. Numbers are little-endian.
 *
 * Bytes may come from a stranger. After the first that is not as expected every read gives 0, and
 * bytes_wrong() says what it was.
 */
#ifndef RAVEL_BYTES_H
#define RAVEL_BYTES_H

#include <glib.h>

typedef struct {
        GByteArray *out; /* NULL: reading */
        const guint8 *data;
        gsize n, at;
        char *wrong; /* what was found and expected, and where; NULL: nothing yet */
} Bytes;

Bytes bytes_to_write(void);
Bytes bytes_to_read(const guint8 *data, gsize n);

/* The bytes written; whether all were read as expected, else with an error. Both end it. */
GBytes *bytes_written(Bytes *b);
gboolean bytes_end(Bytes *b, GError **error);

static inline gboolean bytes_reads(const Bytes *b)
{
        return !b->out;
}

/* Whether everything was as expected so far. */
static inline gboolean bytes_good(const Bytes *b)
{
        return !b->wrong;
}

/* What was read is wrong unless this holds. Returns whether all was as expected so far. */
gboolean bytes_expect(Bytes *b, gboolean holds, const char *what);

/* The same word, or something else is wrong: a format, its version, a name. */
void bytes_word(Bytes *b, const char *word);

void bytes_u8(Bytes *b, guint8 *x);
void bytes_u16(Bytes *b, guint16 *x);
void bytes_u32(Bytes *b, guint32 *x);
void bytes_u64(Bytes *b, guint64 *x);
void bytes_i64(Bytes *b, gint64 *x);
void bytes_bool(Bytes *b, gboolean *x);
void bytes_float(Bytes *b, float *x);   /* neither infinite nor a NaN */
void bytes_double(Bytes *b, double *x); /* likewise */

/* A number of things, each of which takes at least so many bytes. 0 if that is more than there are.
 */
void bytes_count(Bytes *b, guint32 *n, gsize each);

/* n numbers. When reading, makes the array first; NULL if there are not so many. */
void bytes_u8s(Bytes *b, guint8 **array, gsize n);
void bytes_u32s(Bytes *b, guint32 **array, gsize n);
void bytes_floats(Bytes *b, float **array, gsize n);

/* Bytes of any kind; when reading, the caller's to unref. */
void bytes_blob(Bytes *b, GBytes **blob);

/* Text: its length and its bytes. When reading, the caller's to free; "" where it is wrong. */
void bytes_text(Bytes *b, char **text);

/* Makes room for n things of `size` bytes when reading; each must take at least `each` bytes.
 * Returns n, or 0 if there are not so many. */
gsize bytes_room(Bytes *b, gpointer array, gsize n, gsize size, gsize each);

#endif
