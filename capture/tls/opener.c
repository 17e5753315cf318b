/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/tls/opener.h"

#include <string.h>

#include "capture/tls/record-cipher.h"

enum {
        CLIENT_HELLO = 1,
        SERVER_HELLO = 2,
        ENCRYPTED_EXTENSIONS = 8,
        KEY_UPDATE = 24,
        KEY_UPDATE_SIZE = 5,
        MESSAGE_HEADER = 4,

        VERSION_12 = 0x0303,
        VERSION_13 = 0x0304,
        EXTENSION_MAC_OF_CIPHER = 22,
        EXTENSION_EARLY_DATA = 42,
        EXTENSION_VERSIONS = 43,

        MAX_HELLO = 16384,                  /* bytes, also where it comes in several records */
        MAX_HELD = 262144,                  /* bytes of a connection */
        OPENED_RECORD = RECORD_HEADER + 17, /* the least that a record takes */
        MAX_FAILED = 16,     /* records in a row that are not opened, before a side is given up */
        MAX_REJECTED = 1024, /* the same of early data, which the server may have refused */
        MAX_TRIED = 256,     /* numbers that a record after a hole may have */
        MAX_HEADERS = 64,    /* what looks like a header after a hole, and is none */
};

/* A segment that is held until it is known whether the connection can be opened. */
typedef struct Held Held;
struct Held {
        Held *next;
        TlsSegment segment;
        guint8 side;
        gboolean read; /* by the record layer; kept to give it back */
        guint8 bytes[];
};

typedef struct {
        guint8 *record; /* its first n_record bytes; room for room */
        guint32 n_record, room;
        gsize bad;         /* bytes of the record that are missing: it cannot be opened */
        Stamp first, last; /* of the record's bytes */
        gboolean late;     /* first is too long ago */
        GByteArray *hello; /* the beginning of one, or NULL */
        RecordCipher *cipher;
        guint64 sequence; /* of the next record */
        guint8 secret;    /* version 1.3: the SecretKind that cipher is of */
        gboolean changed; /* version 1.2: to encrypted records */
        gboolean blocked; /* until the server says whether it takes early data */
        gboolean dead;    /* nothing is opened any more */
        guint failed;     /* records in a row */
        gboolean lost;    /* after a hole: looks for a record */
        gsize hole;       /* bytes; what they hid */
        guint headers;    /* tried since */
        guint32 inside;   /* number of the next byte inside */
        gboolean begun;   /* inside is known */
} Side;

struct TlsOpener {
        TlsOpening *opening;
        TlsResult result;
        Side side[2];
        guint client;
        Held *held, **held_end;
        gsize n_held;                 /* bytes */
        guint8 random[2][TLS_RANDOM]; /* client's, server's */
        gboolean has_random[2];
        TlsSecret secrets[N_SECRETS];
        gboolean has_secrets;
        RecordProtection protection;
        gboolean early; /* the client offers early data */
        gboolean taken; /* and the server has taken them, or said nothing yet */
        guint in_vain;  /* records before the first that was opened */
};

/* --- hellos ---------------------------------------------------------------- */

gboolean tls_opener_recognises(const guint8 *bytes, gsize n)
{
        return n >= RECORD_HEADER + MESSAGE_HEADER + 2 && bytes[0] == RECORD_HANDSHAKE &&
               bytes[1] == 3 && bytes[2] <= 4 && bytes[5] == CLIENT_HELLO && bytes[6] == 0 &&
               bytes[9] == 3 && bytes[10] <= 3 &&
               read_u16(bytes + 3) <= read_u16(bytes + 7) + (guint)MESSAGE_HEADER;
}

static void client_hello_read(TlsOpener *o, Cursor c)
{
        guint16 version, n_ciphers, all, type, length;
        guint8 n;
        const guint8 *random;
        if (!cursor_u16(&c, &version) || !(random = cursor_take(&c, TLS_RANDOM)))
                return;
        memcpy(o->random[0], random, TLS_RANDOM);
        o->has_random[0] = TRUE;
        o->early = FALSE;
        if (!cursor_u8(&c, &n) || !cursor_skip(&c, n) || !cursor_u16(&c, &n_ciphers) ||
            !cursor_skip(&c, n_ciphers) || !cursor_u8(&c, &n) || !cursor_skip(&c, n) ||
            !cursor_u16(&c, &all))
                return;
        while (cursor_u16(&c, &type) && cursor_u16(&c, &length) && cursor_skip(&c, length))
                o->early |= type == EXTENSION_EARLY_DATA;
}

/* A server's hello that asks the client for another (RFC 8446, section 4.1.3). */
static gboolean asks_again(const guint8 *random)
{
        static const guint8 again[TLS_RANDOM] = { 0xcf, 0x21, 0xad, 0x74, 0xe5, 0x9a, 0x61, 0x11,
                                                  0xbe, 0x1d, 0x8c, 0x02, 0x1e, 0x65, 0xb8, 0x91,
                                                  0xc2, 0xa2, 0x11, 0x16, 0x7a, 0xbb, 0x8c, 0x5e,
                                                  0x07, 0x9e, 0x09, 0xe2, 0xc8, 0xa8, 0x33, 0x9c };
        return memcmp(random, again, TLS_RANDOM) == 0;
}

static void server_hello_read(TlsOpener *o, Cursor c)
{
        guint16 version, suite, all, type, length;
        guint8 n, compression;
        const guint8 *random;
        RecordProtection protection = { 0 };
        if (!cursor_u16(&c, &version) || !(random = cursor_take(&c, TLS_RANDOM)) ||
            asks_again(random) || !cursor_u8(&c, &n) || !cursor_skip(&c, n) ||
            !cursor_u16(&c, &suite) || !cursor_u8(&c, &compression))
                return;
        if (cursor_u16(&c, &all))
                while (cursor_u16(&c, &type) && cursor_u16(&c, &length)) {
                        const guint8 *value = cursor_take(&c, length);
                        if (!value)
                                break;
                        if (type == EXTENSION_VERSIONS && length == 2)
                                version = read_u16(value);
                        protection.mac_of_cipher |= type == EXTENSION_MAC_OF_CIPHER;
                }
        protection.is_13 = version == VERSION_13;
        protection.suite =
                version == VERSION_12 || version == VERSION_13 ? suite : 0; /* 0: no cipher */
        if (compression != 0)
                protection.suite = 0;
        /* Negotiated anew it stays a connection of its version. */
        if (o->has_secrets &&
            (protection.is_13 != o->protection.is_13 || !record_protection_is_known(&protection)))
                return;
        memcpy(o->random[1], random, TLS_RANDOM);
        o->has_random[1] = TRUE;
        o->protection = protection;
}

/* Bytes of handshake messages in the clear, or opened: the hellos that begin a record are put
 * together and read. */
static void opener_handshake_read(TlsOpener *o, guint side, const guint8 *bytes, gsize n)
{
        Side *s = &o->side[side];
        guint8 type = side == o->client ? CLIENT_HELLO : SERVER_HELLO;
        if (!s->hello) {
                if (n == 0 || bytes[0] != type)
                        return;
                s->hello = g_byte_array_new();
        }
        g_byte_array_append(s->hello, bytes, (guint)MIN(n, MAX_HELLO - s->hello->len));
        if (s->hello->len < MESSAGE_HEADER)
                return;
        gsize length = (gsize)s->hello->data[1] << 16 | read_u16(s->hello->data + 2);
        if (s->hello->len < MESSAGE_HEADER + length && s->hello->len < MAX_HELLO)
                return;
        if (s->hello->len >= MESSAGE_HEADER + length) {
                Cursor c = cursor(s->hello->data + MESSAGE_HEADER, length);
                if (side == o->client)
                        client_hello_read(o, c);
                else
                        server_hello_read(o, c);
        }
        g_byte_array_unref(s->hello);
        s->hello = NULL;
}

/* --- what is held ---------------------------------------------------------- */

static void opener_hold(TlsOpener *o, guint side, const TlsSegment *segment)
{
        gsize n = segment->bytes ? segment->n : 0;
        Held *h = g_malloc(sizeof *h + n);
        *h = (Held){ .segment = *segment, .side = (guint8)side };
        if (n > 0)
                memcpy(h->bytes, segment->bytes, n);
        if (segment->bytes)
                h->segment.bytes = h->bytes;
        *o->held_end = h;
        o->held_end = &h->next;
        o->n_held += n + sizeof *h;
        o->opening->held += n + sizeof *h;
}

static void held_free(TlsOpener *o, Held **place)
{
        Held *h = *place;
        gsize n = (h->segment.bytes ? h->segment.n : 0) + sizeof *h;
        *place = h->next;
        if (!h->next)
                o->held_end = place;
        o->n_held -= n;
        o->opening->held -= n;
        g_free(h);
}

/* The connection is not opened: what is held goes on as it came. */
static void opener_give_back(TlsOpener *o, TlsResult why, const TlsOpenerSink *sink)
{
        o->result = why;
        while (o->held) {
                sink->closed(sink->user, o->held->side, &o->held->segment);
                held_free(o, &o->held);
        }
}

/* --- ciphers --------------------------------------------------------------- */

static gboolean is_secret_of(const TlsOpener *o, guint side, guint8 secret)
{
        return side == o->client
                       ? secret == SECRET_CLIENT_EARLY || secret == SECRET_CLIENT_HANDSHAKE ||
                                 secret == SECRET_CLIENT_TRAFFIC
                       : secret == SECRET_SERVER_HANDSHAKE || secret == SECRET_SERVER_TRAFFIC;
}

/* Opens a record with the secrets that follow the present one. */
static gssize open_with_next(TlsOpener *o, guint side, const guint8 *record, gsize n, guint8 *type)
{
        Side *s = &o->side[side];
        for (guint8 next = s->cipher ? s->secret + 1 : SECRET_CLIENT_EARLY; next < N_SECRETS;
             next++) {
                if (!is_secret_of(o, side, next) || o->secrets[next].n == 0 ||
                    (next == SECRET_CLIENT_EARLY && !(o->early && o->taken)))
                        continue;
                g_autoptr(RecordCipher) cipher =
                        record_cipher_new(&o->protection, &o->secrets[next]);
                gssize length = record_cipher_open(cipher, 0, record, record + RECORD_HEADER,
                                                   n - RECORD_HEADER, o->opening->plain, type);
                if (length < 0)
                        continue;
                record_cipher_free(s->cipher);
                s->cipher = g_steal_pointer(&cipher);
                s->secret = next;
                s->sequence = 1;
                return length;
        }
        return -1;
}

/* Opens a record that comes after a hole: its number is not known. */
static gssize open_after_hole(TlsOpener *o, Side *s, const guint8 *record, gsize n, guint8 *type)
{
        guint64 most = MIN(s->hole / OPENED_RECORD + 1, (gsize)MAX_TRIED);
        for (guint64 skipped = 0; s->cipher && skipped <= most; skipped++) {
                gssize length = record_cipher_open(s->cipher, s->sequence + skipped, record,
                                                   record + RECORD_HEADER, n - RECORD_HEADER,
                                                   o->opening->plain, type);
                if (length >= 0) {
                        s->sequence += skipped + 1;
                        return length;
                }
        }
        return -1;
}

static gssize open_record(TlsOpener *o, guint side, const guint8 *record, gsize n, guint8 *type)
{
        Side *s = &o->side[side];
        gssize length = -1;
        if (!o->opening->plain)
                o->opening->plain = g_malloc(MAX_CIPHERTEXT);
        if (s->hole > 0)
                length = open_after_hole(o, s, record, n, type);
        else if (s->cipher)
                length = record_cipher_open(s->cipher, s->sequence, record, record + RECORD_HEADER,
                                            n - RECORD_HEADER, o->opening->plain, type);
        if (length >= 0 && s->hole == 0)
                s->sequence++;
        if (length < 0 && o->protection.is_13)
                length = open_with_next(o, side, record, n, type);
        if (length >= 0)
                s->hole = 0;
        return length;
}

/* Version 1.2: from its next record on side uses the keys of the last hellos. */
static void change_cipher(TlsOpener *o, guint side)
{
        Side *s = &o->side[side];
        const TlsSecret *secrets = key_log_find(o->opening->keys, o->random[0]);
        if (secrets && secrets[SECRET_MASTER].n > 0)
                o->secrets[SECRET_MASTER] = secrets[SECRET_MASTER];
        record_cipher_free(s->cipher);
        s->cipher = NULL;
        if (record_protection_is_known(&o->protection) && !o->protection.is_13)
                s->cipher = record_cipher_new_old(&o->protection, &o->secrets[SECRET_MASTER],
                                                  o->random[0], o->random[1], side != o->client);
        s->sequence = 0;
        s->changed = TRUE;
}

/* --- records --------------------------------------------------------------- */

static void pump(TlsOpener *o, guint side, const TlsOpenerSink *sink);

/* What the server says of early data. */
static void opener_extensions_read(TlsOpener *o, const guint8 *bytes, gsize n,
                                   const TlsOpenerSink *sink)
{
        Cursor c = cursor(bytes, n);
        guint16 all, type, length;
        o->taken = FALSE;
        if (cursor_skip(&c, MESSAGE_HEADER) && cursor_u16(&c, &all))
                while (cursor_u16(&c, &type) && cursor_u16(&c, &length) && cursor_skip(&c, length))
                        o->taken |= type == EXTENSION_EARLY_DATA;
        if (o->side[o->client].blocked) {
                o->side[o->client].blocked = FALSE;
                pump(o, o->client, sink);
        }
}

static gboolean is_key_update(const guint8 *bytes, gsize n)
{
        static const guint8 header[] = { KEY_UPDATE, 0, 0, 1 };
        return n >= KEY_UPDATE_SIZE &&
               memcmp(bytes + n - KEY_UPDATE_SIZE, header, sizeof header) == 0 && bytes[n - 1] <= 1;
}

static void opened_handshake(TlsOpener *o, guint side, const guint8 *bytes, gsize n,
                             const TlsOpenerSink *sink)
{
        Side *s = &o->side[side];
        if (!o->protection.is_13) {
                opener_handshake_read(o, side, bytes, n); /* a connection may be negotiated anew */
        } else if (s->secret == SECRET_SERVER_HANDSHAKE && s->sequence == 1 && n > 0 &&
                   bytes[0] == ENCRYPTED_EXTENSIONS) {
                opener_extensions_read(o, bytes, n, sink);
        } else if ((s->secret == SECRET_CLIENT_TRAFFIC || s->secret == SECRET_SERVER_TRAFFIC) &&
                   is_key_update(bytes, n)) {
                record_cipher_update(s->cipher);
                s->sequence = 0;
        }
}

/* What held segments were for is done: they are not given back. */
static void forget_read(TlsOpener *o)
{
        for (Held **place = &o->held; *place;)
                if ((*place)->read)
                        held_free(o, place);
                else
                        place = &(*place)->next;
}

/* A record was opened, the first one perhaps. */
static void see_opened(TlsOpener *o, const TlsOpenerSink *sink)
{
        if (o->result == TLS_WAITS) {
                o->result = TLS_OPENED;
                sink->opened(sink->user);
        }
}

/* A record with n bytes inside shows that the server's handshake is over. Its word on early data
 * was not understood. The client's early data comes before that record. */
static void unblock_late(TlsOpener *o, guint side, gsize n, const TlsOpenerSink *sink)
{
        Side *client = &o->side[o->client];
        if (!client->blocked || o->side[side].secret != SECRET_SERVER_TRAFFIC)
                return;
        g_autofree guint8 *copy = g_memdup2(o->opening->plain, n);
        client->blocked = FALSE;
        pump(o, o->client, sink);
        memcpy(o->opening->plain, copy, n);
}

/* About as many bytes as a record of n bytes has inside. */
static gsize size_inside(gsize n)
{
        return n > OPENED_RECORD ? n - OPENED_RECORD : 1;
}

/* Bytes inside that nobody can see. */
static void miss(TlsOpener *o, Side *s, guint side, gsize n, const TlsOpenerSink *sink)
{
        Stamp nobody = { 0, 0 };
        if (o->result != TLS_OPENED)
                return;
        sink->inside(sink->user, side, s->inside, NULL, n, nobody, nobody);
        s->inside += (guint32)n;
}

/* A record of an opened connection that is not opened. */
static void opener_fail(TlsOpener *o, guint side, gsize n, const TlsOpenerSink *sink)
{
        Side *s = &o->side[side];
        gboolean refused = side == o->client && o->early && !o->taken &&
                           (!s->cipher || s->secret == SECRET_CLIENT_EARLY);
        gboolean unknown = o->protection.is_13 && !s->cipher; /* maybe of the handshake */
        s->failed++;
        if (o->result == TLS_WAITS) {
                o->in_vain++;
                return;
        }
        if (s->failed > (refused ? MAX_REJECTED : MAX_FAILED))
                s->dead = TRUE;
        if (refused || unknown)
                return;
        o->opening->not_opened++;
        miss(o, s, side, size_inside(n), sink);
}

static void inside(TlsOpener *o, guint side, gsize n, const TlsOpenerSink *sink)
{
        Side *s = &o->side[side];
        guint32 seq = s->inside;
        s->inside += (guint32)n;
        sink->inside(sink->user, side, seq, o->opening->plain, n, s->late ? s->last : s->first,
                     s->last);
}

/* n bytes were in a record. */
static void take_inside(TlsOpener *o, guint side, guint8 type, gsize n, const TlsOpenerSink *sink)
{
        o->side[side].failed = 0;
        see_opened(o, sink);
        unblock_late(o, side, n, sink);
        if (type == RECORD_DATA && n > 0) {
                inside(o, side, n, sink);
                return;
        }
        if (type == RECORD_HANDSHAKE && n > 0) {
                /* Another side's record may be opened before this one has been read. */
                g_autofree guint8 *copy = g_memdup2(o->opening->plain, n);
                opened_handshake(o, side, copy, n, sink);
        } else if (type == RECORD_CHANGE_CIPHER && !o->protection.is_13) {
                change_cipher(o, side);
        }
        sink->no_data(sink->user, side);
}

static void encrypted_record(TlsOpener *o, guint side, const guint8 *record, gsize n,
                             const TlsOpenerSink *sink)
{
        guint8 type;
        gssize length = open_record(o, side, record, n, &type);
        if (length < 0)
                opener_fail(o, side, n, sink);
        else
                take_inside(o, side, type, (gsize)length, sink);
}

static void whole_record(TlsOpener *o, guint side, const guint8 *record, gsize n,
                         const TlsOpenerSink *sink)
{
        Side *s = &o->side[side];
        gboolean encrypted = o->protection.is_13 ? record[0] == RECORD_DATA : s->changed;
        if (encrypted) {
                encrypted_record(o, side, record, n, sink);
                return;
        }
        if (record[0] == RECORD_HANDSHAKE)
                opener_handshake_read(o, side, record + RECORD_HEADER, n - RECORD_HEADER);
        else if (record[0] == RECORD_CHANGE_CIPHER && !o->protection.is_13)
                change_cipher(o, side);
        if (o->result == TLS_OPENED)
                sink->no_data(sink->user, side);
}

static gboolean is_header(const guint8 *p)
{
        return p[0] >= RECORD_CHANGE_CIPHER && p[0] <= RECORD_DATA && p[1] == 3 && p[2] <= 4 &&
               read_u16(p + 3) <= MAX_CIPHERTEXT && read_u16(p + 3) > 0;
}

static gsize opener_record_size(const Side *s)
{
        return RECORD_HEADER + (gsize)read_u16(s->record + 3);
}

static void opener_side_append(Side *s, const guint8 *bytes, gsize n, Stamp stamp)
{
        if (s->n_record + n > s->room) {
                s->room = (guint32)MAX(s->n_record + n, 2 * (gsize)s->room);
                s->record = g_realloc(s->record, s->room);
        }
        if (s->n_record == 0) {
                s->first = stamp;
                s->late = FALSE;
        }
        memcpy(s->record + s->n_record, bytes, n);
        s->n_record += (guint32)n;
        s->last = stamp;
}

static void side_drop(Side *s, gsize n)
{
        s->n_record -= (guint32)n;
        memmove(s->record, s->record + n, s->n_record);
}

/* After a hole: takes the record at the beginning of the buffer, or what is none of one. Returns
 * whether more can be done. */
static gboolean find_record(TlsOpener *o, guint side, const TlsOpenerSink *sink)
{
        Side *s = &o->side[side];
        gsize at = 0;
        while (at + RECORD_HEADER <= s->n_record &&
               !(s->record[at] == RECORD_DATA && is_header(s->record + at)))
                at++;
        side_drop(s, at);
        s->first = s->last;
        if (s->n_record < RECORD_HEADER || s->n_record < opener_record_size(s))
                return FALSE;
        guint8 type;
        gsize n = opener_record_size(s);
        gssize length = open_record(o, side, s->record, n, &type);
        if (length < 0) {
                s->dead |= ++s->headers > MAX_HEADERS;
                side_drop(s, 1);
                return !s->dead;
        }
        s->lost = FALSE;
        s->headers = 0;
        side_drop(s, n);
        take_inside(o, side, type, (gsize)length, sink);
        return TRUE;
}

/* Bytes of side, one record after the other. */
static void opener_read_bytes(TlsOpener *o, guint side, const guint8 *bytes, gsize n, Stamp stamp,
                              const TlsOpenerSink *sink)
{
        Side *s = &o->side[side];
        while (n > 0 && !s->dead && !s->lost) {
                gsize want =
                        s->n_record < RECORD_HEADER ? (gsize)RECORD_HEADER : opener_record_size(s);
                gsize taken = MIN(n, want - s->bad - s->n_record);
                opener_side_append(s, bytes, taken, stamp);
                bytes += taken;
                n -= taken;
                if (s->n_record == RECORD_HEADER && want == RECORD_HEADER) {
                        if (!is_header(s->record)) {
                                s->dead = TRUE;
                                break;
                        }
                        continue;
                }
                if (s->n_record + s->bad < want)
                        break;
                gsize size = s->n_record;
                s->n_record = 0;
                if (s->bad > 0) {
                        s->bad = 0;
                        s->sequence++;
                        miss(o, s, side, size_inside(want), sink);
                } else {
                        whole_record(o, side, s->record, size, sink);
                }
        }
        if (s->lost && n > 0 && !s->dead) {
                opener_side_append(s, bytes, n, stamp);
                while (find_record(o, side, sink) && s->lost)
                        ;
                if (!s->lost && !s->dead && s->n_record > 0) {
                        gsize left = s->n_record;
                        g_autofree guint8 *copy = g_memdup2(s->record, left);
                        s->n_record = 0;
                        opener_read_bytes(o, side, copy, left, stamp, sink);
                }
        } else if (s->dead) {
                miss(o, s, side, MAX(n, 1), sink);
        }
}

/* n bytes of side that nobody has seen. */
static void read_hole(TlsOpener *o, guint side, gsize n, const TlsOpenerSink *sink)
{
        Side *s = &o->side[side];
        if (s->n_record >= RECORD_HEADER && !s->lost) {
                gsize left = opener_record_size(s) - s->bad - s->n_record, hidden = MIN(n, left);
                s->bad += hidden;
                n -= hidden;
                if (hidden < left)
                        return;
                gsize size = opener_record_size(s);
                s->n_record = 0;
                s->bad = 0;
                s->sequence++;
                miss(o, s, side, size_inside(size), sink);
                if (n == 0)
                        return;
        }
        s->n_record = 0;
        s->lost = TRUE;
        s->headers = 0;
        s->hole += n;
        miss(o, s, side, n, sink);
}

static void read_segment(TlsOpener *o, guint side, const TlsSegment *segment,
                         const TlsOpenerSink *sink)
{
        Side *s = &o->side[side];
        if (!s->begun) {
                s->inside = segment->seq;
                s->begun = TRUE;
        }
        if (segment->n > 0)
                opener_read_bytes(o, side, segment->bytes, segment->n, segment->stamp, sink);
        if (segment->length > segment->n)
                read_hole(o, side, segment->length - segment->n, sink);
        if (segment->ends && o->result == TLS_OPENED)
                sink->end(sink->user, side, segment->stamp);
}

/* Reads what is held of side, or of both (NO_SIDE), and not blocked. */
enum { BOTH_SIDES = 2 };

static void pump(TlsOpener *o, guint side, const TlsOpenerSink *sink)
{
        for (Held *h = o->held; h; h = h->next) {
                if (h->read || o->side[h->side].blocked || (side != BOTH_SIDES && h->side != side))
                        continue;
                h->read = TRUE;
                read_segment(o, h->side, &h->segment, sink);
        }
}

/* --- the handshake --------------------------------------------------------- */

/* Puts the hellos together from what is held; the record layer begins anew with them later. */
static void find_hellos(TlsOpener *o, guint side, const TlsSegment *segment)
{
        Side *s = &o->side[side];
        const guint8 *bytes = segment->bytes;
        for (gsize n = segment->n; n > 0 && !o->has_random[side != o->client];) {
                gsize want =
                        s->n_record < RECORD_HEADER ? (gsize)RECORD_HEADER : opener_record_size(s);
                gsize taken = MIN(n, want - s->n_record);
                opener_side_append(s, bytes, taken, segment->stamp);
                bytes += taken;
                n -= taken;
                if (s->n_record == RECORD_HEADER && want == RECORD_HEADER) {
                        if (!is_header(s->record)) {
                                o->result = TLS_NO_HELLO;
                                return;
                        }
                } else if (s->n_record == want) {
                        if (s->record[0] == RECORD_HANDSHAKE)
                                opener_handshake_read(o, side, s->record + RECORD_HEADER,
                                                      want - RECORD_HEADER);
                        s->n_record = 0;
                }
        }
        if (segment->length > segment->n && !o->has_random[side != o->client])
                o->result = TLS_NO_HELLO;
}

static gboolean secrets_are_enough(const TlsOpener *o, const TlsSecret *secrets)
{
        return o->protection.is_13 ? secrets[SECRET_CLIENT_TRAFFIC].n > 0 &&
                                             secrets[SECRET_SERVER_TRAFFIC].n > 0
                                   : secrets[SECRET_MASTER].n > 0;
}

/* Both hellos are there: begins to open, or says why not. */
static void opener_begin(TlsOpener *o, const TlsOpenerSink *sink)
{
        const TlsSecret *secrets = key_log_find(o->opening->keys, o->random[0]);
        if (!record_protection_is_known(&o->protection)) {
                opener_give_back(o, TLS_UNKNOWN_CIPHER, sink);
                return;
        }
        if (!secrets || !secrets_are_enough(o, secrets)) {
                if (!key_log_follows(o->opening->keys))
                        opener_give_back(o, TLS_NO_KEYS, sink);
                return;
        }
        memcpy(o->secrets, secrets, sizeof o->secrets);
        o->has_secrets = TRUE;
        for (guint side = 0; side < 2; side++) {
                o->side[side].n_record = 0;
                g_clear_pointer(&o->side[side].hello, g_byte_array_unref);
        }
        o->taken = TRUE;
        o->side[o->client].blocked =
                o->protection.is_13 && o->early && secrets[SECRET_CLIENT_EARLY].n > 0;
        if (o->side[o->client].blocked) {
                /* Its hello says nothing more, and the rest waits. */
                pump(o, !o->client, sink);
        } else {
                pump(o, BOTH_SIDES, sink);
        }
}

/* How many records may fail before the first is opened. */
static guint patience(const TlsOpener *o)
{
        gboolean whole = !o->protection.is_13 || (o->secrets[SECRET_SERVER_HANDSHAKE].n > 0 &&
                                                  o->secrets[SECRET_CLIENT_HANDSHAKE].n > 0);
        return whole ? 0 : MAX_FAILED;
}

/* --- from outside ---------------------------------------------------------- */

TlsOpener *tls_opener_new(TlsOpening *opening, guint client)
{
        TlsOpener *o = g_new0(TlsOpener, 1);
        o->opening = opening;
        o->client = client;
        o->held_end = &o->held;
        return o;
}

void tls_opener_free(TlsOpener *o)
{
        if (!o)
                return;
        while (o->held)
                held_free(o, &o->held);
        for (guint side = 0; side < 2; side++) {
                g_free(o->side[side].record);
                if (o->side[side].hello)
                        g_byte_array_unref(o->side[side].hello);
                record_cipher_free(o->side[side].cipher);
        }
        g_free(o);
}

static gboolean holds_too_much(const TlsOpener *o)
{
        gsize most = o->opening->most_held;
        return o->n_held > MAX_HELD || (most && o->opening->held > most);
}

/* Adds a segment while it is not known whether the connection can be opened. */
static void opener_add_waiting(TlsOpener *o, guint side, const TlsSegment *segment,
                               const TlsOpenerSink *sink)
{
        opener_hold(o, side, segment);
        if (!o->has_secrets) {
                find_hellos(o, side, segment);
                if (o->result == TLS_NO_HELLO)
                        opener_give_back(o, TLS_NO_HELLO, sink);
                else if (o->has_random[0] && o->has_random[1])
                        opener_begin(o, sink);
        } else {
                pump(o, BOTH_SIDES, sink);
        }
        if (o->result == TLS_OPENED)
                forget_read(o);
        else if (o->result == TLS_WAITS && o->in_vain > patience(o))
                opener_give_back(o, TLS_WRONG_KEYS, sink);
        else if (o->result == TLS_WAITS && holds_too_much(o))
                opener_give_back(o, o->has_secrets ? TLS_WRONG_KEYS : TLS_NO_KEYS, sink);
}

void tls_opener_add(TlsOpener *o, guint side, const TlsSegment *segment, const TlsOpenerSink *sink)
{
        if (o->result == TLS_WAITS) {
                opener_add_waiting(o, side, segment, sink);
        } else if (o->side[side].blocked) {
                opener_hold(o, side, segment);
                if (holds_too_much(o))
                        tls_opener_settle(o, sink);
        } else {
                read_segment(o, side, segment, sink);
                forget_read(o);
        }
}

gboolean tls_opener_waits_since(const TlsOpener *o, gint64 *time)
{
        *time = G_MAXINT64;
        for (const Held *h = o->held; h && *time == G_MAXINT64; h = h->next)
                if (h->segment.bytes)
                        *time = h->segment.stamp.time;
        for (guint side = 0; side < 2; side++)
                if (o->result == TLS_OPENED && o->side[side].n_record > 0 && !o->side[side].late)
                        *time = MIN(*time, o->side[side].first.time);
        return *time != G_MAXINT64;
}

void tls_opener_settle(TlsOpener *o, const TlsOpenerSink *sink)
{
        if (o->result == TLS_WAITS)
                opener_give_back(o,
                                 o->has_secrets     ? TLS_WRONG_KEYS
                                 : o->has_random[1] ? TLS_NO_KEYS
                                                    : TLS_NO_HELLO,
                                 sink);
        if (o->result != TLS_OPENED)
                return;
        if (o->side[o->client].blocked) {
                o->side[o->client].blocked = FALSE;
                pump(o, o->client, sink);
                forget_read(o);
        }
        for (guint side = 0; side < 2; side++)
                o->side[side].late |= o->side[side].n_record > 0;
}

TlsResult tls_opener_result(const TlsOpener *o)
{
        return o->result;
}

guint tls_opener_client(const TlsOpener *o)
{
        return o->client;
}
