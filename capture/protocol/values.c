/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/protocol/values.h"

#include <string.h>

#include "capture/protocol/json-text.h"

enum {
        LEAST_READABLE = 4,
        MOST_DEPTH = 8,
        MAX_JSON = 4096,   /* bytes of JSON that are looked at, */
        MAX_PACKED = 1024, /* and of a string that packs some */
        GRPC_PREFIX = 5    /* whether it is packed, and its length */
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

static void number_append(GString *text, guint64 value)
{
        g_string_append_printf(text, "%" G_GUINT64_FORMAT "\n", value);
}

/* The strings and numbers of a message; one that is not whole up to where it ends. A field with a
 * length is a string where it is readable; else a message, if it is anything. */
static void message_append(GString *text, Cursor c, guint depth)
{
        guint64 tag, length;

        while (varint_read(&c, &tag)) {
                const guint8 *value;

                switch (tag & 7) {
                case 0:
                        if (!varint_read(&c, &length))
                                return;
                        number_append(text, length);
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

/* --- bodies ---------------------------------------------------------------- */

/* A text that was cut, without its last word, which may be longer. */
static Cursor text_cut(Cursor c)
{
        while (c.end > c.at && g_ascii_isalnum(c.end[-1]))
                c.end--;
        return c;
}

/* A text of which only letters and digits count. escape: with which other characters are written.
 */
static void text_append(GString *text, Cursor c, guint8 escape)
{
        if (cursor_left(&c) > MAX_ARGUMENT)
                c = text_cut(cursor(c.at, MAX_ARGUMENT));
        for (; c.at < c.end; c.at++) {
                gboolean escapes = escape && *c.at == escape;
                gsize digits = escape == '%' ? 2 : c.at + 1 < c.end && c.at[1] == 'u' ? 5 : 1;

                g_string_append_c(text, escapes ? ' ' : (char)*c.at);
                if (escapes)
                        c.at += MIN(digits, cursor_left(&c) - 1);
        }
        g_string_append_c(text, '\n');
}

/* A whole number, unless it has a fraction or may go on where the bytes end. */
static void json_number_append(GString *text, Cursor *c)
{
        const guint8 *from = c->at;

        while (c->at < c->end && g_ascii_isdigit(*c->at))
                c->at++;
        if (c->at < c->end && !strchr(".eE", *c->at ? *c->at : ' '))
                text_append(text, cursor(from, (gsize)(c->at - from)), 0);
        while (c->at < c->end && *c->at && strchr("0123456789.eE+-", *c->at))
                c->at++;
}

static void json_append(GString *text, Cursor c, gboolean unpacks);

/* The values in an array of JSON that a string packs as base64: it begins with "[[". */
static gboolean base64_append(GString *text, Cursor string)
{
        gsize n = MIN(cursor_left(&string), (gsize)MAX_PACKED) & ~(gsize)3, length;
        g_autofree char *packed = NULL;

        if (n == 0 || !cursor_begins(&string, "W1"))
                return FALSE;
        packed = g_strndup((const char *)string.at, n);
        g_base64_decode_inplace(packed, &length);
        json_append(text, cursor((const guint8 *)packed, length), FALSE);
        return TRUE;
}

static void json_append(GString *text, Cursor c, gboolean unpacks)
{
        while (c.at < c.end) {
                Cursor string;

                if (g_ascii_isdigit(*c.at)) {
                        json_number_append(text, &c);
                } else if (*c.at != '"') {
                        c.at++;
                } else {
                        if (!json_string_read(&c, &string))
                                string = text_cut(string);
                        else if (json_peek(&c) == ':' || c.at == c.end)
                                continue; /* a key, or perhaps one */
                        if (!(unpacks && base64_append(text, string)))
                                text_append(text, string, '\\');
                }
        }
}

static void form_append(GString *text, Cursor c)
{
        while (c.at < c.end) {
                const guint8 *end = memchr(c.at, '&', cursor_left(&c));
                Cursor pair = cursor(c.at, end ? (gsize)(end - c.at) : cursor_left(&c));
                const guint8 *equals = memchr(pair.at, '=', cursor_left(&pair));

                if (equals)
                        text_append(text, cursor(equals + 1, (gsize)(pair.end - equals - 1)), '%');
                c.at = end ? end + 1 : c.end;
        }
}

static void xml_append(GString *text, Cursor c)
{
        const guint8 *from, *end;

        while (c.at < c.end && (from = memchr(c.at, '>', cursor_left(&c)))) {
                c.at = from + 1;
                end = c.at < c.end ? memchr(c.at, '<', cursor_left(&c)) : NULL;
                if (!end)
                        return;
                text_append(text, cursor(c.at, (gsize)(end - c.at)), 0);
                c.at = end;
        }
}

void values_append_body(GString *text, BodyKind kind, const guint8 *bytes, gsize n, gboolean whole)
{
        Cursor c = cursor(bytes, n);

        switch (kind) {
        case BODY_JSON:
        case BODY_GRAPHQL:
                json_append(text, c, FALSE);
                break;
        case BODY_XML:
                xml_append(text, c);
                break;
        case BODY_FORM:
                form_append(text, whole ? c : text_cut(c));
                break;
        case BODY_PROTOBUF:
                message_append(text, c, 0);
                break;
        case BODY_OF_STREAM:
        case BODY_OTHER:
                break;
        }
}

void values_append_argument(GString *text, const guint8 *bytes, gsize n)
{
        if (n > 0 && (bytes[0] == '{' || bytes[0] == '[')) {
                json_append(text, cursor(bytes, MIN(n, (gsize)MAX_JSON)), TRUE);
        } else {
                g_string_append_len(text, (const char *)bytes, (gssize)MIN(n, MAX_ARGUMENT));
                g_string_append_c(text, '\n');
        }
}
