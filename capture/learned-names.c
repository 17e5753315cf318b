/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/learned-names.h"

#include <string.h>

#include "capture/protocol/protocol.h"
#include "capture/protocol/tls.h"

enum {
        MAX_NAMES = 1000,
        MAX_HEAD = 4096, /* bytes of a request in which Host is looked for */
};

static const char from_dns[] = "DNS", from_tls[] = "TLS", from_http[] = "HTTP";

struct LearnedNames {
        GArray *names;      /* of LearnedName */
        GHashTable *places; /* set of those, by address and source */
};

static guint place_hash(gconstpointer name)
{
        const LearnedName *a = name;

        return (guint)(a->address.low * 31 + a->address.high) ^ GPOINTER_TO_UINT(a->source);
}

static gboolean place_equal(gconstpointer a, gconstpointer b)
{
        const LearnedName *x = a, *y = b;

        return address_equal(x->address, y->address) && x->source == y->source;
}

LearnedNames *learned_names_new(void)
{
        LearnedNames *names = g_new0(LearnedNames, 1);

        names->names = g_array_sized_new(FALSE, FALSE, sizeof(LearnedName), MAX_NAMES);
        names->places = g_hash_table_new(place_hash, place_equal);
        return names;
}

void learned_names_free(LearnedNames *names)
{
        if (!names)
                return;
        g_hash_table_destroy(names->places);
        g_array_free(names->names, TRUE);
        g_free(names);
}

/* Copies a host name, without a dot at its end. FALSE where it is none, or an address. */
static gboolean copy_name(char *to, const guint8 *name, gsize n)
{
        Address address;
        gboolean letter = FALSE;

        if (n > 0 && name[n - 1] == '.')
                n--;
        if (n == 0 || n > 253 || address_parse((const char *)name, n, &address))
                return FALSE;
        for (gsize i = 0; i < n; i++) {
                to[i] = g_ascii_tolower((char)name[i]);
                if (!g_ascii_isalnum(to[i]) && (i == 0 || !strchr("-_.", to[i]) || !to[i]))
                        return FALSE;
                letter |= g_ascii_isalpha(to[i]) != 0;
        }
        to[n] = '\0';
        return letter;
}

/* The array never moves: what the hash table points to stays. */
static void learned_name_add(LearnedNames *names, Address address, const char *source,
                             const guint8 *name, gsize n)
{
        LearnedName new = { .address = address, .source = source };

        if (names->names->len == MAX_NAMES || g_hash_table_contains(names->places, &new) ||
            !copy_name(new.name, name, n))
                return;
        g_array_append_val(names->names, new);
        g_hash_table_add(names->places,
                         &g_array_index(names->names, LearnedName, names->names->len - 1));
}

/* --- DNS ------------------------------------------------------------------- */

/* The question's name, with dots, into text of 256 bytes; its length, 0 where it is none. */
static gsize question_read(Cursor *c, guint8 *text)
{
        gsize total = 0;
        guint8 length;

        while (cursor_u8(c, &length) && length > 0) {
                const guint8 *label = length < 64 ? cursor_take(c, length) : NULL;

                if (!label || total + length + 1u > 255)
                        return 0;
                memcpy(text + total, label, length);
                total += length;
                text[total++] = '.';
        }
        return total;
}

static gboolean learned_name_skip(Cursor *c)
{
        guint8 length;

        while (cursor_u8(c, &length)) {
                if (length == 0)
                        return TRUE;
                if (length >= 0xc0)
                        return cursor_skip(c, 1);
                if (!cursor_skip(c, length))
                        return FALSE;
        }
        return FALSE;
}

void learned_names_add_datagram(LearnedNames *names, const guint8 *bytes, gsize n)
{
        Cursor c = cursor(bytes, n);
        Parsed parsed = { 0 };
        guint8 name[256];
        gsize length;

        if (n < 12 ||
            protocol_dns.parse(NULL, CALL_NONE, bytes, n, TRUE, NULL, &parsed) != PARSE_MESSAGE ||
            parsed.kind != KIND_RETURN || read_u16(bytes + 4) != 1)
                return;
        cursor_skip(&c, 12);
        length = question_read(&c, name);
        if (length == 0 || !cursor_skip(&c, 4))
                return;
        for (guint i = read_u16(bytes + 6); i > 0; i--) {
                guint16 type, class, size;
                const guint8 *data;

                if (!learned_name_skip(&c) || !cursor_u16(&c, &type) || !cursor_u16(&c, &class) ||
                    !cursor_skip(&c, 4) || !cursor_u16(&c, &size) ||
                    !(data = cursor_take(&c, size)))
                        return;
                if (class == 1 && type == 1 && size == 4)
                        learned_name_add(names, address_v4(read_u32(data)), from_dns, name, length);
                else if (class == 1 && type == 28 && size == 16)
                        learned_name_add(names, address_v6(data), from_dns, name, length);
        }
}

/* --- TLS ------------------------------------------------------------------- */

/* A ClientHello's server_name (RFC 6066, 3; RFC 8446, 4.1.2). */
void learned_names_add_hello(LearnedNames *names, Address receiver, const guint8 *bytes, gsize n)
{
        Cursor c = cursor(bytes, n);
        guint16 type, size, list, length;
        guint8 kind;

        if (!cursor_skip(&c, 2) || !tls_skip_to_extensions(&c, TRUE))
                return;
        while (cursor_u16(&c, &type) && cursor_u16(&c, &size)) {
                const guint8 *name;

                if (type != 0) {
                        if (!cursor_skip(&c, size))
                                return;
                        continue;
                }
                if (cursor_u16(&c, &list) && cursor_u8(&c, &kind) && cursor_u16(&c, &length) &&
                    kind == 0 && (name = cursor_take(&c, length)))
                        learned_name_add(names, receiver, from_tls, name, length);
                return;
        }
}

/* --- HTTP ------------------------------------------------------------------ */

static void learn_http(LearnedNames *names, Address receiver, const guint8 *bytes, gsize n)
{
        const guint8 *end = bytes + MIN(n, MAX_HEAD), *p = bytes;
        const guint8 *newline = memchr(p, '\n', (gsize)(end - p));

        /* "GET / HTTP/1.1" */
        if (!newline || newline - p < 14 ||
            memcmp(newline - (newline[-1] == '\r') - 8, "HTTP/1.", 7) != 0)
                return;
        for (p = newline + 1; p < end && (newline = memchr(p, '\n', (gsize)(end - p)));
             p = newline + 1) {
                const guint8 *name = p + 5, *stop, *colon;

                if (newline - p < 6 || g_ascii_strncasecmp((const char *)p, "host:", 5) != 0)
                        continue;
                while (name < newline && (*name == ' ' || *name == '\t'))
                        name++;
                for (stop = newline; stop > name && stop[-1] <= ' '; stop--)
                        ;
                colon = memchr(name, ':', (gsize)(stop - name));
                learned_name_add(names, receiver, from_http, name,
                                 (gsize)((colon ? colon : stop) - name));
                return;
        }
}

/* --- from outside ---------------------------------------------------------- */

void learned_names_add_segment(LearnedNames *names, Address receiver, const guint8 *bytes, gsize n)
{
        enum { HEADERS = 5 + 4 }; /* of the record and of the message */

        if (n > HEADERS + 1 && bytes[0] == 22 && bytes[1] == 3 && bytes[5] == 1 && bytes[9] == 3)
                learned_names_add_hello(names, receiver, bytes + HEADERS, n - HEADERS);
        else if (n > 0 && g_ascii_isupper(bytes[0]))
                learn_http(names, receiver, bytes, n);
}

const LearnedName *learned_names_get(const LearnedNames *names, guint i)
{
        return i < names->names->len ? &g_array_index(names->names, LearnedName, i) : NULL;
}
