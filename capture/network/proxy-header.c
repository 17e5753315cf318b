/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/network/proxy-header.h"

#include <string.h>

#include "base/digits.h"

static const char TEXT_MARK[] = "PROXY ", BINARY_MARK[] = "\r\n\r\n\0\r\nQUIT\n";

enum {
        TEXT_SIZE = sizeof TEXT_MARK - 1,
        BINARY_SIZE = sizeof BINARY_MARK - 1,
        BINARY_HEAD = BINARY_SIZE + 4,
};

/* The next word of a line, up to a blank or the line's end. */
static gboolean word_take(Cursor *line, const char **word, gsize *n)
{
        const guint8 *blank = memchr(line->at, ' ', cursor_left(line));
        *word = (const char *)line->at;
        *n = (gsize)((blank ? blank : line->end) - line->at);
        line->at = blank ? blank + 1 : line->end;
        return *n > 0;
}

static gboolean port_take(Cursor *line, guint16 *port)
{
        const char *word;
        guint64 value;
        gsize n;
        if (!word_take(line, &word, &n) || !digits_parse(word, n, 5, G_MAXUINT16, &value))
                return FALSE;
        *port = (guint16)value;
        return TRUE;
}

/* "TCP4 192.0.2.1 192.0.2.2 51234 443", or "UNKNOWN" and whatever else. */
static gboolean text_read(Cursor line, ProxyHeader *header)
{
        const char *word;
        gsize n;
        if (!word_take(&line, &word, &n))
                return FALSE;
        if (n == 7 && memcmp(word, "UNKNOWN", n) == 0)
                return TRUE;
        if (n != 4 || (memcmp(word, "TCP4", n) != 0 && memcmp(word, "TCP6", n) != 0))
                return FALSE;
        header->has_ends = word_take(&line, &word, &n) &&
                           address_parse(word, n, &header->source.address) &&
                           word_take(&line, &word, &n) &&
                           address_parse(word, n, &header->destination.address) &&
                           port_take(&line, &header->source.port) &&
                           port_take(&line, &header->destination.port) && cursor_left(&line) == 0;
        return header->has_ends;
}

static ProxyHeaderStatus read_text(const guint8 *bytes, gsize n, ProxyHeader *header)
{
        gsize at = TEXT_SIZE;
        while (at + 1 < n && (bytes[at] != '\r' || bytes[at + 1] != '\n'))
                at++;
        if (at + 1 >= n)
                return n < PROXY_HEADER_SHOWN ? PROXY_HEADER_MORE : PROXY_HEADER_NONE;
        header->size = at + 2;
        return text_read(cursor(bytes + TEXT_SIZE, at - TEXT_SIZE), header) ? PROXY_HEADER_READ
                                                                            : PROXY_HEADER_NONE;
}

static ProxyHeaderStatus read_binary(const guint8 *bytes, gsize n, ProxyHeader *header)
{
        enum { LOCAL = 0x20, PROXY = 0x21 };            /* version and command */
        static const guint8 least[] = { 0, 12, 36, 0 }; /* bytes, by family */
        if (n < BINARY_HEAD)
                return PROXY_HEADER_MORE;
        const guint8 *p = bytes + BINARY_HEAD;
        guint8 command = bytes[BINARY_SIZE], kind = bytes[BINARY_SIZE + 1];
        guint family = kind >> 4, length = read_u16(bytes + BINARY_SIZE + 2);
        if ((command != LOCAL && command != PROXY) || family > 3 || (kind & 0xf) > 2)
                return PROXY_HEADER_NONE;
        header->size = BINARY_HEAD + length;
        if (command == LOCAL || (family != 1 && family != 2))
                return PROXY_HEADER_READ;
        if (length < least[family])
                return PROXY_HEADER_NONE;
        if (n < BINARY_HEAD + (gsize)least[family])
                return PROXY_HEADER_MORE;
        gsize size = family == 1 ? 4 : 16;
        for (guint i = 0; i < 2; i++) {
                Endpoint *end = i ? &header->destination : &header->source;
                end->address =
                        family == 1 ? address_v4(read_u32(p + i * size)) : address_v6(p + i * size);
                end->port = read_u16(p + 2 * size + 2 * i);
        }
        header->has_ends = TRUE;
        return PROXY_HEADER_READ;
}

ProxyHeaderStatus proxy_header_read(const guint8 *bytes, gsize n, ProxyHeader *header)
{
        n = MIN(n, PROXY_HEADER_SHOWN);
        *header = (ProxyHeader){ 0 };
        if (n > 0 && memcmp(bytes, TEXT_MARK, MIN(n, TEXT_SIZE)) == 0)
                return n < TEXT_SIZE ? PROXY_HEADER_MORE : read_text(bytes, n, header);
        if (n > 0 && memcmp(bytes, BINARY_MARK, MIN(n, BINARY_SIZE)) == 0)
                return read_binary(bytes, n, header);
        return n > 0 ? PROXY_HEADER_NONE : PROXY_HEADER_MORE;
}
