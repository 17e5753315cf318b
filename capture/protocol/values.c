/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/protocol/values.h"

#include <string.h>

#include "capture/packet/packet.h"

enum {
        LEAST_READABLE = 4,
        MOST_DEPTH = 8,
        GRPC_PREFIX = 5 /* whether it is packed, and its length */
};

/* --- headers --------------------------------------------------------------- */

gboolean values_is_common_header(const char *name, gsize n)
{
        /* A name that ends with - stands for all names that begin so. */
        static const struct {
                const char *name;
                gsize n;
        } common[] = {
#define HEADER(name) { name, sizeof name - 1 }
                HEADER("accept"),
                HEADER("accept-"),
                HEADER("cache-control"),
                HEADER("connection"),
                HEADER("content-"),
                HEADER("date"),
                HEADER("dnt"),
                HEADER("expect"),
                HEADER("grpc-accept-encoding"),
                HEADER("grpc-encoding"),
                HEADER("grpc-timeout"),
                HEADER("host"),
                HEADER("http2-settings"),
                HEADER("if-"),
                HEADER("keep-alive"),
                HEADER("pragma"),
                HEADER("priority"),
                HEADER("proxy-connection"),
                HEADER("range"),
                HEADER("sec-"),
                HEADER("te"),
                HEADER("trailer"),
                HEADER("transfer-encoding"),
                HEADER("upgrade"),
                HEADER("upgrade-"),
                HEADER("user-agent"),
                HEADER("via"),
#undef HEADER
        };
        char first = n > 0 ? g_ascii_tolower(name[0]) : 0;

        for (guint i = 0; i < G_N_ELEMENTS(common); i++) {
                const char *other = common[i].name;
                gsize length = common[i].n;

                if (other[0] == first &&
                    (n == length || (n > length && other[length - 1] == '-')) &&
                    g_ascii_strncasecmp(name, other, length) == 0)
                        return TRUE;
        }
        return FALSE;
}

void values_append_headers(GString *text, const guint8 *bytes, gsize n)
{
        const guint8 *end;

        for (gsize at = 0; at < n && (end = memchr(bytes + at, '\n', n - at));
             at = (gsize)(end - bytes) + 1) {
                const char *line = (const char *)bytes + at;
                gsize length = (gsize)(end - bytes) - at;
                const char *colon = memchr(line, ':', length);

                if (!colon)
                        return;
                if (!values_is_common_header(line, (gsize)(colon - line)))
                        g_string_append_len(text, line, (gssize)length + 1);
        }
}

/* --- binary ---------------------------------------------------------------- */

static inline gboolean is_readable(guint8 c)
{
        return c >= 0x20 && c != 0x7f;
}

void values_append_readable(GString *text, const guint8 *bytes, gsize n)
{
        for (gsize at = 0; at < n; at++) {
                gsize from = at;

                while (at < n && is_readable(bytes[at]))
                        at++;
                if (at - from < LEAST_READABLE)
                        continue;
                g_string_append_len(text, (const char *)bytes + from, (gssize)(at - from));
                g_string_append_c(text, '\n');
        }
}

static gboolean varint_read(Cursor *c, guint64 *value)
{
        guint8 byte;

        *value = 0;
        for (guint shift = 0; shift < 64; shift += 7) {
                if (!cursor_u8(c, &byte))
                        return FALSE;
                *value |= (guint64)(byte & 0x7f) << shift;
                if (!(byte & 0x80))
                        return TRUE;
        }
        return FALSE;
}

static gboolean is_all_readable(Cursor c)
{
        while (c.at < c.end)
                if (!is_readable(*c.at++))
                        return FALSE;
        return TRUE;
}

/* The strings of a message; one that is not whole up to where it ends. A field with a length is a
 * string where it is readable; else a message, if it is anything. */
static void message_append(GString *text, Cursor c, guint depth)
{
        guint64 tag, length;

        while (varint_read(&c, &tag)) {
                const guint8 *value;

                switch (tag & 7) {
                case 0:
                        if (!varint_read(&c, &length))
                                return;
                        break;
                case 1:
                        if (!cursor_take(&c, 8))
                                return;
                        break;
                case 5:
                        if (!cursor_take(&c, 4))
                                return;
                        break;
                case 2:
                        if (!varint_read(&c, &length) || length > cursor_left(&c))
                                return;
                        value = cursor_take(&c, (gsize)length);
                        if (is_all_readable(cursor(value, (gsize)length))) {
                                g_string_append_len(text, (const char *)value, (gssize)length);
                                g_string_append_c(text, '\n');
                        } else if (depth < MOST_DEPTH) {
                                message_append(text, cursor(value, (gsize)length), depth + 1);
                        }
                        break;
                default:
                        return;
                }
        }
}

void values_append_grpc(GString *text, const guint8 *bytes, gsize n)
{
        while (n > GRPC_PREFIX && bytes[0] == 0) {
                gsize length = MIN(read_u32(bytes + 1), n - GRPC_PREFIX);

                message_append(text, cursor(bytes + GRPC_PREFIX, length), 0);
                bytes += GRPC_PREFIX + length;
                n -= GRPC_PREFIX + length;
        }
}
