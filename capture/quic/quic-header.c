/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/quic/quic-header.h"

enum {
        LONG = 0x80,
        FIXED = 0x40,
        LONG_HEADER = 7, /* the least: first byte, version, two lengths */
        HTTPS = 443,
};

/* Types of long headers, in the order of version 1. */
enum { TYPE_INITIAL, TYPE_EARLY, TYPE_HANDSHAKE, TYPE_RETRY };

/* Drafts, versions that nobody speaks, so that others are agreed on, and those of Google and Meta.
 */
static gboolean is_other_version(guint32 version)
{
        enum {
                DRAFTS = 0xff0000,
                META = 0xfaceb0,
                GOOGLE_Q0 = 'Q' << 8 | '0',
                GOOGLE_T0 = 'T' << 8 | '0'
        };
        return version >> 8 == DRAFTS || version >> 8 == META || version >> 16 == GOOGLE_Q0 ||
               version >> 16 == GOOGLE_T0 || (version & 0x0f0f0f0f) == 0x0a0a0a0a;
}

QuicKind quic_recognise(const guint16 port[2], const guint8 *bytes, gsize n)
{
        if (n < LONG_HEADER)
                return QUIC_NOT;
        if (!(bytes[0] & LONG))
                return bytes[0] & FIXED && (port[0] == HTTPS || port[1] == HTTPS) ? QUIC_DATA
                                                                                  : QUIC_NOT;
        guint32 version = read_u32(bytes + 1);
        return version == QUIC_VERSION_1                       ? QUIC_V1
               : version == QUIC_VERSION_2                     ? QUIC_V2
               : bytes[0] & FIXED && is_other_version(version) ? QUIC_LONG
                                                               : QUIC_NOT;
}

gboolean quic_number_read(Cursor *c, guint64 *value)
{
        guint8 first, byte;
        if (!cursor_u8(c, &first))
                return FALSE;
        *value = first & 0x3f;
        for (guint more = (1u << (first >> 6)) - 1; more > 0; more--) {
                if (!cursor_u8(c, &byte))
                        return FALSE;
                *value = *value << 8 | byte;
        }
        return TRUE;
}

static gboolean quic_id_read(Cursor *c, QuicId *id)
{
        const guint8 *bytes;
        if (!cursor_u8(c, &id->n) || id->n > QUIC_MAX_ID || !(bytes = cursor_take(c, id->n)))
                return FALSE;
        memcpy(id->bytes, bytes, id->n);
        return TRUE;
}

static gboolean long_header_read(const guint8 *bytes, gsize n, QuicHeader *header)
{
        static const QuicLevel levels[] = { LEVEL_INITIAL, LEVEL_EARLY, LEVEL_HANDSHAKE,
                                            LEVEL_INITIAL };
        Cursor c = cursor(bytes + 1, n - 1);
        guint64 token = 0, length;
        if (!cursor_u32(&c, &header->version) || !quic_id_read(&c, &header->to) ||
            !quic_id_read(&c, &header->from))
                return FALSE;
        header->length = n;
        header->is_opaque = header->version == 0;
        if (header->version == 0)
                return TRUE;
        if (header->version != QUIC_VERSION_1 && header->version != QUIC_VERSION_2)
                return FALSE;
        /* Version 2 has each type one higher, and Retry is 0. */
        guint type = (bytes[0] >> 4 & 3) - (header->version == QUIC_VERSION_2);
        header->level = levels[type & 3];
        header->is_opaque = (type & 3) == TYPE_RETRY;
        if (header->is_opaque)
                return TRUE;
        if (header->level == LEVEL_INITIAL &&
            (!quic_number_read(&c, &token) || token > n || !cursor_skip(&c, (gsize)token)))
                return FALSE;
        if (!quic_number_read(&c, &length) || length > cursor_left(&c))
                return FALSE;
        header->number = (gsize)(c.at - bytes);
        header->length = header->number + (gsize)length;
        return TRUE;
}

gboolean quic_header_read(const guint8 *bytes, gsize n, guint n_id, QuicHeader *header)
{
        memset(header, 0, sizeof *header);
        if (n < LONG_HEADER)
                return FALSE;
        header->is_long = bytes[0] & LONG;
        if (header->is_long)
                return long_header_read(bytes, n, header);
        if (n < 1 + n_id) /* the fixed bit may be any (RFC 9287) */
                return FALSE;
        header->level = LEVEL_DATA;
        header->to.n = (guint8)n_id;
        memcpy(header->to.bytes, bytes + 1, n_id);
        header->number = 1 + n_id;
        header->length = n;
        return TRUE;
}
