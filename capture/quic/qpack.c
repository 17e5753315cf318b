/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/quic/qpack.h"

#include <nghttp3/nghttp3.h>
#include <string.h>

enum {
        MAX_BLOCKED = 65536, /* streams; who reads them bounds the memory */
        MAX_PLAIN = 60000,   /* bytes of fields that are passed on */
};

struct Qpack {
        nghttp3_qpack_decoder *decoder;
};

Qpack *qpack_new(gsize capacity)
{
        Qpack *q = g_new0(Qpack, 1);
        if (nghttp3_qpack_decoder_new(&q->decoder, capacity, MAX_BLOCKED, nghttp3_mem_default()) !=
            0)
                g_clear_pointer(&q, g_free);
        return q;
}

void qpack_free(Qpack *q)
{
        if (q)
                nghttp3_qpack_decoder_del(q->decoder);
        g_free(q);
}

/* What the decoder would acknowledge is not sent. */
static void acknowledgements_drop(Qpack *q)
{
        gsize n = nghttp3_qpack_decoder_get_decoder_streamlen(q->decoder);
        if (n == 0)
                return;
        g_autofree guint8 *bytes = g_malloc(n);
        nghttp3_buf buffer = { bytes, bytes + n, bytes, bytes };
        nghttp3_qpack_decoder_write_decoder(q->decoder, &buffer);
}

gboolean qpack_instruct(Qpack *q, const guint8 *bytes, gsize n)
{
        nghttp3_ssize used = nghttp3_qpack_decoder_read_encoder(q->decoder, bytes, n);
        acknowledgements_drop(q);
        return used == (nghttp3_ssize)n;
}

gboolean qpack_needs_table(const guint8 *bytes, gsize n)
{
        return n > 0 && bytes[0] != 0;
}

/* RFC 7541, section 5: a string, not packed. */
static void string_append(GByteArray *plain, nghttp3_vec text)
{
        guint8 length[8];
        gsize n = 0, rest = text.len;
        length[n++] = (guint8)MIN(rest, 127);
        if (rest >= 127) {
                for (rest -= 127; rest >= 128; rest >>= 7)
                        length[n++] = (guint8)(rest & 127) | 128;
                length[n++] = (guint8)rest;
        }
        g_byte_array_append(plain, length, (guint)n);
        g_byte_array_append(plain, text.base, (guint)text.len);
}

/* A field that no table has, but for the names of pseudo-headers. */
static void field_append(GByteArray *plain, const nghttp3_qpack_nv *field)
{
        static const struct {
                const char *name;
                guint8 index;
        } pseudo[] = { { ":authority", 1 },
                       { ":method", 2 },
                       { ":path", 4 },
                       { ":scheme", 6 },
                       { ":status", 8 } };
        nghttp3_vec name = nghttp3_rcbuf_get_buf(field->name);
        guint8 index = 0;
        for (guint i = 0; i < G_N_ELEMENTS(pseudo); i++)
                if (name.len == strlen(pseudo[i].name) &&
                    memcmp(name.base, pseudo[i].name, name.len) == 0)
                        index = pseudo[i].index;
        g_byte_array_append(plain, &index, 1);
        if (index == 0)
                string_append(plain, name);
        string_append(plain, nghttp3_rcbuf_get_buf(field->value));
}

static QpackResult fields_read(Qpack *q, nghttp3_qpack_stream_context *context, const guint8 *bytes,
                               gsize n, GByteArray *plain)
{
        for (;;) {
                nghttp3_qpack_nv field;
                guint8 flags = 0;
                nghttp3_ssize used = nghttp3_qpack_decoder_read_request(q->decoder, context, &field,
                                                                        &flags, bytes, n, TRUE);
                if (used < 0)
                        return QPACK_BROKEN;
                bytes += used;
                n -= (gsize)used;
                if (flags & NGHTTP3_QPACK_DECODE_FLAG_BLOCKED)
                        return QPACK_BLOCKED;
                if (flags & NGHTTP3_QPACK_DECODE_FLAG_EMIT) {
                        gsize more = nghttp3_rcbuf_get_buf(field.name).len +
                                     nghttp3_rcbuf_get_buf(field.value).len;
                        if (plain->len + more < MAX_PLAIN)
                                field_append(plain, &field);
                        nghttp3_rcbuf_decref(field.name);
                        nghttp3_rcbuf_decref(field.value);
                }
                if (flags & NGHTTP3_QPACK_DECODE_FLAG_FINAL)
                        return QPACK_READ;
                if (used == 0 && !(flags & NGHTTP3_QPACK_DECODE_FLAG_EMIT))
                        return QPACK_BROKEN;
        }
}

QpackResult qpack_read(Qpack *q, gint64 stream, const guint8 *bytes, gsize n, GByteArray *plain)
{
        nghttp3_qpack_stream_context *context;
        guint before = plain->len;
        if (nghttp3_qpack_stream_context_new(&context, stream, nghttp3_mem_default()) != 0)
                return QPACK_BROKEN;
        QpackResult result = fields_read(q, context, bytes, n, plain);
        nghttp3_qpack_stream_context_del(context);
        acknowledgements_drop(q);
        if (result != QPACK_READ)
                g_byte_array_set_size(plain, before);
        return result;
}
