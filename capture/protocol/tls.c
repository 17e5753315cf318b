/* SPDX-License-Identifier: BSD-2-Clause
 *
 * TLS (RFC 8446, RFC 5246), from outside: records are told by their headers, and a
 * run of application data is a message, by the generic rule. The handshake, alerts
 * and changes of keys are none, also where version 1.3 has them in records that
 * call themselves application data.
 *
 * Recognised by a hello, or in the middle of a connection by whole records of
 * application data, or by the alert that closes it.
 */
#include "capture/protocol/tls.h"

#include <string.h>

#include "capture/protocol/protocol.h"

enum {
        CHANGE_CIPHER_SPEC = 20,
        ALERT = 21,
        HANDSHAKE = 22,
        APPLICATION_DATA = 23,

        RECORD_HEADER = 5,
        MAX_RECORD = 16384 + 2048,
        MIN_ENCRYPTED = 17, /* a tag and a byte */
        MIN_ALERT = 2,
        MAX_ALERT = 64, /* encrypted, with all that a cipher may add */
        HELLO = 6,      /* type, length and version */

        CLIENT_HELLO = 1,
        SERVER_HELLO = 2,

        /* Lengths of encrypted records of version 1.3. */
        RECORD_ALERT = 19,
        RECORD_FINISHED = 53,      /* with SHA-256, */
        RECORD_FINISHED_LONG = 69, /* and with SHA-384 */
        /* An EncryptedExtensions record without extensions; what it has more where the server
         * chose "h2" and "http/1.1", and where it took the client's name for it, too. */
        RECORD_EXTENSIONS = 23,
        EXTENSION_H2 = 9,
        EXTENSION_HTTP = 15,
        EXTENSION_NAME = 4,
        EXTENSION_ALPN = 16, /* types of extensions */
        EXTENSION_VERSIONS = 43,
        MAX_FINISHED = 4, /* a client may send its certificate before, in two or three */
};

typedef struct {
        guint8 known;
        guint8 greeted;  /* a hello was seen */
        guint8 server;   /* the server's */
        guint8 changed;  /* to encrypted records */
        guint8 old;      /* a version before 1.3: the handshake ends in records of its own type */
        guint8 finished; /* version 1.3, of the client: its handshake is over */
        guint8 encrypted;
        guint8 newer;  /* version 1.3, of the server */
        guint8 offers; /* of the client: h2 */
        guint8 chose;  /* of the server: TlsInside */
} TlsState;

G_STATIC_ASSERT(sizeof(TlsState) <= PROTOCOL_STATE_SIZE);

typedef struct {
        guint8 type;
        guint16 length;
} Record;

/* FALSE where p, of RECORD_HEADER bytes, is no header of a record. */
static gboolean record_decode(const guint8 *p, Record *r)
{
        r->type = p[0];
        r->length = read_u16(p + 3);
        return r->type >= CHANGE_CIPHER_SPEC && r->type <= APPLICATION_DATA && p[1] == 3 &&
               p[2] <= 3 && r->length > 0 && r->length <= MAX_RECORD &&
               (r->type != CHANGE_CIPHER_SPEC || r->length == 1) &&
               (r->type != ALERT || (r->length >= MIN_ALERT && r->length <= MAX_ALERT)) &&
               (r->type != APPLICATION_DATA || r->length >= MIN_ENCRYPTED);
}

/* Whether a handshake record begins with a hello: n bytes of its payload are there. */
static gboolean is_hello(const Record *r, const guint8 *p, gsize n)
{
        if (n < HELLO || r->length < HELLO || (p[0] != CLIENT_HELLO && p[0] != SERVER_HELLO))
                return FALSE;
        guint32 length = 4 + ((guint32)p[1] << 16 | read_u16(p + 2));
        return p[4] == 3 && p[5] <= 3 &&
               (p[0] == CLIENT_HELLO ? r->length == length : r->length >= length);
}

/* PARSE_MESSAGE where the bytes begin with a record of TLS beyond doubt: a hello, or
 * application data or an alert in a record after which another begins, or nothing. */
static ParseStatus tls_recognise(const guint8 *bytes, gsize n)
{
        static const guint8 version = 3;
        Record r;
        if (n > 0 && bytes[0] != HANDSHAKE && bytes[0] != APPLICATION_DATA && bytes[0] != ALERT)
                return PARSE_NOT_MINE;
        if (n > 1 && bytes[1] != version)
                return PARSE_NOT_MINE;
        if (n < RECORD_HEADER)
                return PARSE_MORE;
        if (!record_decode(bytes, &r))
                return PARSE_NOT_MINE;
        if (r.type == HANDSHAKE) {
                if (n < RECORD_HEADER + HELLO)
                        return r.length < HELLO ? PARSE_NOT_MINE : PARSE_MORE;
                return is_hello(&r, bytes + RECORD_HEADER, n - RECORD_HEADER) ? PARSE_MESSAGE
                                                                              : PARSE_NOT_MINE;
        }
        gsize end = RECORD_HEADER + (gsize)r.length;
        if (n == end)
                return PARSE_MESSAGE;
        if (n < end + RECORD_HEADER)
                return PARSE_MORE;
        return record_decode(bytes + end, &r) ? PARSE_MESSAGE : PARSE_NOT_MINE;
}

/* Whether the n bytes of an ALPN extension, a list of names with their lengths, have h2. */
static gboolean has_h2(Cursor list)
{
        guint16 all;
        guint8 n;
        const guint8 *name;
        if (!cursor_u16(&list, &all))
                return FALSE;
        while (cursor_u8(&list, &n) && (name = cursor_take(&list, n)))
                if (n == 2 && !memcmp(name, "h2", 2))
                        return TRUE;
        return FALSE;
}

gboolean tls_skip_to_extensions(Cursor *c, gboolean client)
{
        enum { RANDOM = 32 };
        guint8 n;
        guint16 ciphers = 0, all;
        return cursor_skip(c, RANDOM) && cursor_u8(c, &n) && cursor_skip(c, n) &&
               (!client || (cursor_u16(c, &ciphers) && cursor_skip(c, ciphers))) &&
               (client ? cursor_u8(c, &n) && cursor_skip(c, n) : cursor_skip(c, 3)) &&
               cursor_u16(c, &all);
}

/* The extensions of a hello, as far as they are there. */
static void hello_read(TlsState *s, const guint8 *payload, gsize n)
{
        Cursor c = cursor(payload + HELLO, n - HELLO);
        guint16 type, length;
        gboolean alpn = FALSE, h2 = FALSE;
        if (!tls_skip_to_extensions(&c, !s->server))
                return;
        while (cursor_u16(&c, &type) && cursor_u16(&c, &length)) {
                const guint8 *value = cursor_take(&c, length);
                if (!value)
                        break;
                if (type == EXTENSION_ALPN) {
                        alpn = TRUE;
                        h2 = has_h2(cursor(value, length));
                }
                s->newer |= type == EXTENSION_VERSIONS;
        }
        if (!s->server)
                s->offers = h2;
        else if (alpn || !s->newer)
                s->chose = h2 ? TLS_CHOSE_H2 : alpn ? TLS_CHOSE_OTHER : TLS_CHOSE_NOTHING;
}

/* The first encrypted record of a server of version 1.3: many have the extensions alone in it. */
static void tls_extensions_read(TlsState *s, const Record *r)
{
        gint more = r->length - RECORD_EXTENSIONS;
        if (more == EXTENSION_H2 || more == EXTENSION_H2 + EXTENSION_NAME)
                s->chose = TLS_CHOSE_H2;
        else if (more == EXTENSION_HTTP || more == EXTENSION_HTTP + EXTENSION_NAME)
                s->chose = TLS_CHOSE_OTHER;
        else if (more == 0 || more == EXTENSION_NAME)
                s->chose = TLS_CHOSE_NOTHING;
}

static void tls_handshake_read(TlsState *s, const Record *r, const guint8 *payload, gsize n)
{
        if (is_hello(r, payload, n)) {
                s->greeted = TRUE;
                s->server = payload[0] == SERVER_HELLO;
                hello_read(s, payload, MIN(n, r->length));
        } else if (s->changed) {
                s->old = TRUE;
        }
}

/* Whether a record of application data has none. */
static gboolean is_control(TlsState *s, const Record *r)
{
        if (s->old)
                return FALSE;
        if (r->length == RECORD_ALERT)
                return TRUE;
        if (!s->greeted || s->finished)
                return FALSE;
        if (s->server) {
                if (s->newer && !s->encrypted++)
                        tls_extensions_read(s, r);
                s->encrypted = TRUE;
                return FALSE;
        }
        s->encrypted++;
        s->finished = r->length == RECORD_FINISHED || r->length == RECORD_FINISHED_LONG ||
                      s->encrypted == MAX_FINISHED;
        return TRUE;
}

static ParseStatus tls_parse(gpointer state, guint8 call, const guint8 *bytes, gsize n,
                             gboolean eof, GString *label, Parsed *parsed)
{
        TlsState *s = state;
        Record r;
        (void)call, (void)label;
        if (eof)
                return PARSE_MESSAGE; /* a run ends here */
        if (!s->known) {
                ParseStatus status = tls_recognise(bytes, n);
                if (status != PARSE_MESSAGE)
                        return status;
                s->known = TRUE;
        }
        if (n < RECORD_HEADER)
                return PARSE_MORE;
        if (!record_decode(bytes, &r))
                return PARSE_NOT_MINE;
        if (r.type == HANDSHAKE && n < RECORD_HEADER + MIN(r.length, (gsize)HELLO))
                return PARSE_MORE;
        parsed->kind = KIND_CONTROL;
        parsed->length = RECORD_HEADER + (guint64)r.length;
        if (r.type == HANDSHAKE)
                tls_handshake_read(s, &r, bytes + RECORD_HEADER, n - RECORD_HEADER);
        else if (r.type == CHANGE_CIPHER_SPEC)
                s->changed = TRUE;
        else if (r.type == APPLICATION_DATA && !is_control(s, &r)) {
                parsed->kind = KIND_BY_SIDE;
                parsed->part = PART_OF_RUN;
                parsed->framing = RECORD_HEADER;
                /* The rest of the handshake and session tickets. */
                if (s->server && s->greeted && !s->old)
                        parsed->part |= PART_ANSWERS;
        }
        return PARSE_MESSAGE;
}

static gsize tls_find_boundary(const guint8 *bytes, gsize n)
{
        for (gsize at = 0; at + RECORD_HEADER <= n; at++)
                if (bytes[at] == APPLICATION_DATA &&
                    tls_recognise(bytes + at, n - at) != PARSE_NOT_MINE)
                        return at;
        return n;
}

TlsInside tls_inside(gconstpointer client, gconstpointer server)
{
        const TlsState *c = client, *s = server;
        if (s->chose)
                return s->chose;
        return c->offers ? TLS_OFFERS_H2 : TLS_UNKNOWN;
}

const Protocol protocol_tls = {
        .name = "tls",
        .parse = tls_parse,
        .find_boundary = tls_find_boundary,
};
