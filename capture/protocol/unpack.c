/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/protocol/unpack.h"

#include <string.h>
#include <zlib.h>
#include <zstd.h>

#include "capture/packet/packet.h"

enum { MAX_WINDOW_LOG = 23 }; /* of zstd: 8 MB of memory */

/* What was unpacked so far. */
typedef struct {
        guint8 *bytes;
        gsize n, most;
} Output;

/* FALSE: the rest is not there, or there is room for no more. */
static gboolean output_literals(Output *out, Cursor *c, gsize n)
{
        gsize kept = MIN(MIN(n, cursor_left(c)), out->most - out->n);

        if (kept > 0)
                memcpy(out->bytes + out->n, c->at, kept);
        out->n += kept;
        return cursor_skip(c, n) && kept == n && out->n < out->most;
}

/* Repeats n bytes that stand distance back, perhaps also new ones. */
static gboolean output_repeat(Output *out, gsize distance, gsize n)
{
        if (distance == 0 || distance > out->n)
                return FALSE;
        for (; n > 0 && out->n < out->most; n--, out->n++)
                out->bytes[out->n] = out->bytes[out->n - distance];
        return out->n < out->most;
}

/* n bytes, the lowest first. */
static gboolean little_read(Cursor *c, guint n, gsize *value)
{
        const guint8 *p = cursor_take(c, n);

        *value = 0;
        for (guint i = 0; p && i < n; i++)
                *value |= (gsize)p[i] << 8 * i;
        return p != NULL;
}

/* One element of snappy: literals, or a copy with an offset of 1, 2 or 4 bytes. */
static gboolean snappy_element(Output *out, Cursor *c)
{
        enum { LITERAL, COPY_1, LONG_LITERAL = 60 };
        guint8 tag;
        gsize n, offset;

        if (!cursor_u8(c, &tag))
                return FALSE;
        guint form = tag & 3;
        n = tag >> 2;
        if (form == LITERAL)
                return (n < LONG_LITERAL || little_read(c, (guint)(n - LONG_LITERAL + 1), &n)) &&
                       output_literals(out, c, n + 1);
        if (!little_read(c, form == COPY_1 ? 1 : form == 2 ? 2 : 4, &offset))
                return FALSE;
        if (form == COPY_1)
                return output_repeat(out, offset | (gsize)(tag >> 5) << 8, (n & 7) + 4);
        return output_repeat(out, offset, n + 1);
}

static void snappy_unpack(Output *out, Cursor c)
{
        guint8 byte;

        do { /* the length of the whole */
                if (!cursor_u8(&c, &byte))
                        return;
        } while (byte & 0x80);
        while (snappy_element(out, &c)) {
        }
}

/* A length that goes on in further bytes. */
static gboolean lz4_length(Cursor *c, gsize first, gsize *length)
{
        guint8 more = 255;

        for (*length = first; first == 15 && more == 255; *length += more)
                if (!cursor_u8(c, &more))
                        return FALSE;
        return TRUE;
}

static void lz4_unpack(Output *out, Cursor c)
{
        guint8 token;
        gsize n, offset;

        while (cursor_u8(&c, &token))
                if (!lz4_length(&c, token >> 4, &n) || !output_literals(out, &c, n) ||
                    !little_read(&c, 2, &offset) || !lz4_length(&c, token & 15, &n) ||
                    !output_repeat(out, offset, n + 4))
                        return;
}

static void zlib_unpack(Output *out, Cursor c)
{
        z_stream z = { .next_in = (guint8 *)c.at,
                       .avail_in = (guint)cursor_left(&c),
                       .next_out = out->bytes,
                       .avail_out = (guint)out->most };

        if (inflateInit(&z) != Z_OK)
                return;
        inflate(&z, Z_SYNC_FLUSH);
        out->n = out->most - z.avail_out;
        inflateEnd(&z);
}

static void zstd_unpack(Output *out, Cursor c)
{
        ZSTD_DCtx *z = ZSTD_createDCtx();
        ZSTD_inBuffer from = { c.at, cursor_left(&c), 0 };
        ZSTD_outBuffer to = { out->bytes, out->most, 0 };
        gsize before;

        if (!z)
                return;
        ZSTD_DCtx_setParameter(z, ZSTD_d_windowLogMax, MAX_WINDOW_LOG);
        do {
                before = from.pos + to.pos;
        } while (!ZSTD_isError(ZSTD_decompressStream(z, &to, &from)) &&
                 from.pos + to.pos > before && to.pos < to.size);
        out->n = to.pos;
        ZSTD_freeDCtx(z);
}

gsize unpack(Packing packing, const guint8 *bytes, gsize n, guint8 *out, gsize most)
{
        Output output = { out, 0, most };

        switch (packing) {
        case PACKED_SNAPPY:
                snappy_unpack(&output, cursor(bytes, n));
                break;
        case PACKED_ZLIB:
                zlib_unpack(&output, cursor(bytes, n));
                break;
        case PACKED_ZSTD:
                zstd_unpack(&output, cursor(bytes, n));
                break;
        case PACKED_LZ4:
                lz4_unpack(&output, cursor(bytes, n));
                break;
        }
        return output.n;
}
