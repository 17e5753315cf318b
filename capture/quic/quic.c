/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/quic/quic.h"

#include "capture/quic/quic-streams.h"
#include "capture/tls/record-cipher.h"

enum {
        SUITE_INITIAL = 0x1301, /* AES-128-GCM, SHA-256 */
        CLIENT_HELLO = 1,
        SERVER_HELLO = 2,
        MESSAGE_HEADER = 4,
        MAX_HELLO = 65536,

        MIN_SEALED = 4 + QUIC_SAMPLE, /* from the packet number on */
        MAX_HELD = 1 << 20,           /* bytes of a connection */
        MAX_IDS = 64,                 /* of a connection, that are known */
        MAX_PACKET = MAX_CIPHERTEXT,
        NEITHER = 2,
        MIN_SEGMENT = 1200, /* of several datagrams at a time */
        MAX_SEGMENT = 1500,
        MAX_SEARCHES = 8,
};

/* A packet whose keys are not known yet. */
typedef struct Waiting Waiting;
struct Waiting {
        Waiting *next;
        Stamp stamp;
        QuicHeader header;
        guint8 side;
        guint8 bytes[];
};

typedef struct {
        RecordCipher *cipher[N_LEVELS];
        RecordCipher *before; /* LEVEL_DATA: before the last update of keys */
        guint64 largest[N_LEVELS];
        guint64 n_opened; /* packets of LEVEL_DATA */
        guint32 initial_version;
        guint16 segment;  /* bytes of datagrams that come several at a time; 0: not known */
        guint16 searches; /* how often that may still be looked for */
        guint8 phase;     /* the bit that the keys of LEVEL_DATA have */
        guint8 n_id;      /* bytes of the ids that this side has chosen */
        guint8 has_id;    /* that is known */
        QuicBytes crypto;
        GByteArray *hello; /* the beginning of a message of the Initial packets */
} QuicSide;

struct Quic {
        QuicOpening *opening;
        QuicResult result;
        guint client;
        guint32 version;
        QuicId first; /* the id by which Initial packets are protected */
        QuicSide side[2];
        QuicId ids[MAX_IDS];
        guint8 id_side[MAX_IDS];
        guint n_ids;
        guint8 random[TLS_RANDOM];
        gboolean has_random, closed;
        guint16 suite; /* 0: not known */
        TlsSecret secrets[N_SECRETS];
        Waiting *waiting, **waiting_end;
        gsize n_held, n_counted; /* bytes that wait, here; of these, in the opening's sum */
        QuicStreams *streams;    /* NULL before it is opened */
};

/* --- connection ids -------------------------------------------------------- */

static void id_add(Quic *q, guint side, const QuicId *id, const QuicSink *sink)
{
        if (id->n == 0 || quic_side_to(q, id) != NEITHER || q->n_ids == MAX_IDS)
                return;
        q->id_side[q->n_ids] = (guint8)side;
        q->ids[q->n_ids++] = *id;
        sink->has_id(sink->frames.user, id);
}

guint quic_side_to(const Quic *q, const QuicId *id)
{
        for (guint i = 0; i < q->n_ids; i++)
                if (q->ids[i].n == id->n && memcmp(q->ids[i].bytes, id->bytes, id->n) == 0)
                        return q->id_side[i];
        return NEITHER;
}

/* --- the handshake --------------------------------------------------------- */

static void hello_skip_session(Cursor *c)
{
        guint8 n;
        if (cursor_u8(c, &n))
                cursor_skip(c, n);
}

static void message_take(Quic *q, guint side, const guint8 *message, gsize n, const QuicSink *sink)
{
        Cursor c = cursor(message + MESSAGE_HEADER, n - MESSAGE_HEADER);
        const guint8 *random;
        guint16 version;
        if (!cursor_u16(&c, &version) || !(random = cursor_take(&c, TLS_RANDOM)))
                return;
        if (side == q->client && message[0] == CLIENT_HELLO) {
                if (!q->has_random)
                        sink->hello(sink->frames.user, side, message + MESSAGE_HEADER,
                                    n - MESSAGE_HEADER);
                memcpy(q->random, random, TLS_RANDOM);
                q->has_random = TRUE;
        } else if (side != q->client && message[0] == SERVER_HELLO) {
                guint16 suite; /* one that asks for another hello has the same */
                hello_skip_session(&c);
                if (cursor_u16(&c, &suite))
                        q->suite = suite;
        }
}

/* Bytes of the Initial packets' messages, in order. */
static void hello_add(Quic *q, guint side, const guint8 *bytes, gsize n, const QuicSink *sink)
{
        QuicSide *s = &q->side[side];
        if (!s->hello)
                s->hello = g_byte_array_new();
        g_byte_array_append(s->hello, bytes, (guint)MIN(n, MAX_HELLO - s->hello->len));
        while (s->hello->len >= MESSAGE_HEADER) {
                const guint8 *p = s->hello->data;
                gsize length = MESSAGE_HEADER + ((gsize)p[1] << 16 | read_u16(p + 2));
                if (s->hello->len < length)
                        return;
                message_take(q, side, p, length, sink);
                g_byte_array_remove_range(s->hello, 0, (guint)length);
        }
}

static void crypto_add(Quic *q, guint side, guint64 offset, const guint8 *bytes, gsize n,
                       Stamp stamp, const QuicSink *sink)
{
        QuicBytes *b = &q->side[side].crypto;
        QuicRun run;
        if (offset > MAX_HELLO || q->result != QUIC_WAITS)
                return;
        quic_bytes_add(b, offset, bytes, n, stamp, &q->n_held);
        while (quic_bytes_next(b, &run)) {
                hello_add(q, side, run.bytes, run.n, sink);
                quic_bytes_take(b, run.n, &q->n_held);
        }
}

/* --- ciphers --------------------------------------------------------------- */

static RecordCipher *initial_cipher(Quic *q, guint side, guint32 version)
{
        QuicSide *s = &q->side[side];
        TlsSecret secret;
        if (s->cipher[LEVEL_INITIAL] && s->initial_version == version)
                return s->cipher[LEVEL_INITIAL];
        record_cipher_initial_secret(version == QUIC_VERSION_2, q->first.bytes, q->first.n,
                                     side != q->client, &secret);
        record_cipher_free(s->cipher[LEVEL_INITIAL]);
        s->initial_version = version;
        return s->cipher[LEVEL_INITIAL] =
                       record_cipher_new_quic(SUITE_INITIAL, version == QUIC_VERSION_2, &secret);
}

/* The cipher of a packet; NULL: its keys are not known. */
static RecordCipher *quic_cipher(Quic *q, guint side, const QuicHeader *h)
{
        static const SecretKind kinds[N_LEVELS][2] = {
                [LEVEL_EARLY] = { SECRET_CLIENT_EARLY, SECRET_MASTER },
                [LEVEL_HANDSHAKE] = { SECRET_CLIENT_HANDSHAKE, SECRET_SERVER_HANDSHAKE },
                [LEVEL_DATA] = { SECRET_CLIENT_TRAFFIC, SECRET_SERVER_TRAFFIC },
        };
        RecordCipher **cipher = &q->side[side].cipher[h->level];
        if (h->level == LEVEL_INITIAL)
                return initial_cipher(q, side, h->version);
        const TlsSecret *secret = &q->secrets[kinds[h->level][side != q->client]];
        if (!*cipher && q->result == QUIC_OPENED && secret->n > 0) {
                guint32 version = h->level == LEVEL_EARLY ? h->version : q->version;
                *cipher = record_cipher_new_quic(q->suite, version == QUIC_VERSION_2, secret);
        }
        return *cipher;
}

/* --- packets --------------------------------------------------------------- */

/* A packet whose header is readable. */
typedef struct {
        const guint8 *header, *sealed;
        gsize n_header, n_sealed;
        guint64 number;
        guint8 phase;
} Unmasked;

/* RFC 9000, appendix A.3. */
static guint64 number_decode(guint64 largest, gboolean any, guint64 truncated, guint bits)
{
        guint64 window = G_GUINT64_CONSTANT(1) << bits, half = window / 2;
        guint64 expected = any ? largest + 1 : 0;
        guint64 number = (expected & ~(window - 1)) | truncated;
        if (number + half <= expected && number < (G_GUINT64_CONSTANT(1) << 62) - window)
                return number + window;
        return number > expected + half && number >= window ? number - window : number;
}

/* Packet numbers begin at 0 in each space; 0-RTT shares that of the data. */
static guint64 *largest_of(QuicSide *s, QuicLevel level)
{
        return &s->largest[level == LEVEL_EARLY ? LEVEL_DATA : level];
}

/* Takes header protection off, into scratch memory. */
static void packet_unmask(Quic *q, guint side, const QuicHeader *h, const guint8 *bytes,
                          const RecordCipher *cipher, Unmasked *u)
{
        guint8 mask[QUIC_MASK], *header = q->opening->plain + MAX_PACKET;
        guint64 largest = *largest_of(&q->side[side], h->level);
        guint32 truncated = 0;
        record_cipher_mask(cipher, bytes + h->number + 4, mask);
        memcpy(header, bytes, h->number + 4);
        header[0] ^= mask[0] & (h->is_long ? 0x0f : 0x1f);
        guint n_number = (header[0] & 3) + 1u;
        for (guint i = 0; i < n_number; i++) {
                header[h->number + i] ^= mask[1 + i];
                truncated = truncated << 8 | header[h->number + i];
        }
        *u = (Unmasked){ .header = header,
                         .n_header = h->number + n_number,
                         .sealed = bytes + h->number + n_number,
                         .n_sealed = h->length - h->number - n_number,
                         .phase = header[0] >> 2 & 1,
                         .number = number_decode(largest > 0 ? largest - 1 : 0, largest > 0,
                                                 truncated, 8 * n_number) };
}

static gssize unmasked_open(Quic *q, RecordCipher *cipher, const Unmasked *u)
{
        return record_cipher_open_packet(cipher, u->number, u->header, u->n_header, u->sealed,
                                         u->n_sealed, q->opening->plain);
}

/* A packet of data: with the present keys, the ones before, or the next. */
static gssize data_open(Quic *q, guint side, const Unmasked *u)
{
        QuicSide *s = &q->side[side];
        gssize n = -1;
        if (u->phase == s->phase)
                return unmasked_open(q, s->cipher[LEVEL_DATA], u);
        if (s->before)
                n = unmasked_open(q, s->before, u);
        if (n >= 0)
                return n;
        RecordCipher *next = record_cipher_copy(s->cipher[LEVEL_DATA]);
        record_cipher_update(next);
        n = unmasked_open(q, next, u);
        if (n < 0) {
                record_cipher_free(next);
                return -1;
        }
        record_cipher_free(s->before);
        s->before = s->cipher[LEVEL_DATA];
        s->cipher[LEVEL_DATA] = next;
        s->phase = u->phase;
        return n;
}

/* The length of the frames in a packet, in scratch memory; -1: it is not opened. */
static gssize packet_open_with(Quic *q, guint side, const QuicHeader *h, const guint8 *bytes,
                               RecordCipher *cipher)
{
        Unmasked u;
        if (h->length < h->number + MIN_SEALED || h->length > MAX_PACKET)
                return -1;
        if (!q->opening->plain)
                q->opening->plain = g_malloc(2 * (gsize)MAX_PACKET);
        packet_unmask(q, side, h, bytes, cipher, &u);
        gssize n = h->level == LEVEL_DATA ? data_open(q, side, &u) : unmasked_open(q, cipher, &u);
        guint64 *largest = largest_of(&q->side[side], h->level);
        if (n >= 0)
                *largest = MAX(*largest, u.number + 1);
        if (n >= 0 && (h->level == LEVEL_DATA || h->level == LEVEL_EARLY))
                q->side[side].n_opened++;
        return n;
}

/* --- frames ---------------------------------------------------------------- */

typedef struct {
        Quic *q;
        guint side;
        QuicLevel level;
        Stamp stamp;
        const QuicSink *sink;
} FrameUser;

static gboolean numbers_skip(Cursor *c, guint n)
{
        guint64 value;
        while (n > 0 && quic_number_read(c, &value))
                n--;
        return n == 0;
}

static gboolean acknowledgement_skip(Cursor *c, gboolean ecn)
{
        guint64 ranges;
        if (!numbers_skip(c, 2) || !quic_number_read(c, &ranges) || !numbers_skip(c, 1))
                return FALSE;
        for (; ranges > 0; ranges--)
                if (!numbers_skip(c, 2))
                        return FALSE;
        return !ecn || numbers_skip(c, 3);
}

static gboolean text_take(Cursor *c, Cursor *text)
{
        guint64 n;
        return quic_number_read(c, &n) && n <= cursor_left(c) && cursor_part(c, (gsize)n, text);
}

static gboolean stream_frame_read(const FrameUser *u, Cursor *c, guint flags)
{
        enum { LAST = 1, LENGTH = 2, OFFSET = 4 };
        guint64 id, offset = 0;
        Cursor data = *c;
        if (!quic_number_read(c, &id) || ((flags & OFFSET) && !quic_number_read(c, &offset)))
                return FALSE;
        if (flags & LENGTH) {
                if (!text_take(c, &data))
                        return FALSE;
        } else {
                data = *c;
                c->at = c->end;
        }
        if (u->q->streams)
                quic_streams_add(u->q->streams, u->side, id, offset, data.at, cursor_left(&data),
                                 (flags & LAST) != 0, u->stamp, &u->sink->frames);
        return TRUE;
}

static gboolean abort_frame_read(const FrameUser *u, Cursor *c, gboolean stops)
{
        guint64 id, error;
        if (!quic_number_read(c, &id) || !quic_number_read(c, &error) ||
            !(stops || numbers_skip(c, 1)))
                return FALSE;
        if (u->q->streams)
                quic_streams_abort(u->q->streams, u->side, id, error, stops, u->stamp,
                                   &u->sink->frames);
        return TRUE;
}

static gboolean id_frame_read(const FrameUser *u, Cursor *c)
{
        enum { TOKEN = 16 };
        QuicId id = { 0 };
        const guint8 *bytes;
        if (!numbers_skip(c, 2) || !cursor_u8(c, &id.n) || id.n > QUIC_MAX_ID ||
            !(bytes = cursor_take(c, id.n)))
                return FALSE;
        memcpy(id.bytes, bytes, id.n);
        id_add(u->q, u->side, &id, u->sink);
        return cursor_skip(c, TOKEN);
}

static gboolean close_frame_read(const FrameUser *u, Cursor *c, gboolean of_application)
{
        enum { HTTP_NO_ERROR = 0x100 };
        Quic *q = u->q;
        guint64 error;
        Cursor reason;
        if (!quic_number_read(c, &error) || !(of_application || numbers_skip(c, 1)) ||
            !text_take(c, &reason))
                return FALSE;
        if (q->streams && !q->closed) {
                q->closed = TRUE;
                quic_streams_give_up(q->streams, &u->sink->frames);
                u->sink->closed(u->sink->frames.user, u->side,
                                error == (of_application ? HTTP_NO_ERROR : 0), u->stamp);
        }
        return TRUE;
}

/* A frame (RFC 9000, section 19). FALSE: it is not known how long it is. */
static gboolean frame_read(const FrameUser *u, Cursor *c)
{
        enum { PATH_DATA = 8 };
        guint64 type, offset;
        Cursor text;
        if (!quic_number_read(c, &type))
                return FALSE;
        switch (type) {
        case 0x00: /* PADDING */
        case 0x01: /* PING */
        case 0x1e: /* HANDSHAKE_DONE */
        case 0x1f: /* IMMEDIATE_ACK */
                return TRUE;
        case 0x02:
        case 0x03:
                return acknowledgement_skip(c, type == 0x03);
        case 0x04: /* RESET_STREAM */
        case 0x05: /* STOP_SENDING */
                return abort_frame_read(u, c, type == 0x05);
        case 0x06: /* CRYPTO */
                if (!quic_number_read(c, &offset) || !text_take(c, &text))
                        return FALSE;
                if (u->level == LEVEL_INITIAL)
                        crypto_add(u->q, u->side, offset, text.at, cursor_left(&text), u->stamp,
                                   u->sink);
                return TRUE;
        case 0x07: /* NEW_TOKEN */
        case 0x31: /* DATAGRAM with its length */
                return text_take(c, &text);
        case 0x08 ... 0x0f:
                return stream_frame_read(u, c, type & 7);
        case 0x10: /* MAX_DATA */
        case 0x12: /* MAX_STREAMS */
        case 0x13:
        case 0x14: /* DATA_BLOCKED */
        case 0x16: /* STREAMS_BLOCKED */
        case 0x17:
        case 0x19: /* RETIRE_CONNECTION_ID */
                return numbers_skip(c, 1);
        case 0x11: /* MAX_STREAM_DATA */
        case 0x15: /* STREAM_DATA_BLOCKED */
                return numbers_skip(c, 2);
        case 0x18: /* NEW_CONNECTION_ID */
                return id_frame_read(u, c);
        case 0x1a: /* PATH_CHALLENGE */
        case 0x1b: /* PATH_RESPONSE */
                return cursor_skip(c, PATH_DATA);
        case 0x1c: /* CONNECTION_CLOSE */
        case 0x1d:
                return close_frame_read(u, c, type == 0x1d);
        case 0xaf: /* ACK_FREQUENCY */
                return numbers_skip(c, 4);
        default:
                return FALSE;
        }
}

static void frames_read(Quic *q, guint side, QuicLevel level, gsize n, Stamp stamp,
                        const QuicSink *sink)
{
        FrameUser u = { q, side, level, stamp, sink };
        Cursor c = cursor(q->opening->plain, n);
        while (!q->closed && cursor_left(&c) > 0 && frame_read(&u, &c)) {
        }
        if (q->streams)
                quic_streams_go_on(q->streams, stamp, &sink->frames);
        if (q->streams && quic_streams_are_other(q->streams))
                q->result = QUIC_NO_HTTP;
}

/* --- what waits ------------------------------------------------------------ */

static void packet_hold(Quic *q, guint side, const QuicHeader *h, const guint8 *bytes, Stamp stamp)
{
        gsize size = sizeof(Waiting) + h->length;
        if (q->n_held + size > MAX_HELD || q->opening->held + size > q->opening->most)
                return;
        Waiting *w = g_malloc(size);
        *w = (Waiting){ .stamp = stamp, .header = *h, .side = (guint8)side };
        memcpy(w->bytes, bytes, h->length);
        *q->waiting_end = w;
        q->waiting_end = &w->next;
        q->n_held += size;
}

static Waiting *waiting_take(Quic *q)
{
        Waiting *w = q->waiting;
        gsize size = w ? sizeof *w + w->header.length : 0;
        if (!w)
                return NULL;
        q->waiting = w->next;
        if (!q->waiting)
                q->waiting_end = &q->waiting;
        q->n_held -= size;
        return w;
}

static void waiting_drop(Quic *q)
{
        Waiting *w;
        while ((w = waiting_take(q)))
                g_free(w);
}

static void held_count(Quic *q)
{
        q->opening->held += q->n_held - q->n_counted;
        q->n_counted = q->n_held;
}

static gboolean packet_take(Quic *q, guint side, const QuicHeader *h, const guint8 *bytes,
                            Stamp stamp, const QuicSink *sink)
{
        RecordCipher *cipher = quic_cipher(q, side, h);
        if (!cipher) {
                if (q->result == QUIC_WAITS)
                        packet_hold(q, side, h, bytes, stamp);
                return TRUE;
        }
        gssize n = packet_open_with(q, side, h, bytes, cipher);
        if (n >= 0)
                frames_read(q, side, h->level, (gsize)n, stamp, sink);
        return n >= 0;
}

/* The hellos are there: opens what was held, or says why not. last: no secrets will come. */
static void quic_open(Quic *q, gboolean last, const QuicSink *sink)
{
        KeyLog *keys = q->opening->keys;
        RecordProtection protection = { .suite = q->suite, .is_13 = TRUE };
        const TlsSecret *secrets;
        Waiting *w;
        if (q->result != QUIC_WAITS || !q->suite || !q->has_random)
                return;
        if (keys && !key_log_is_used(keys))
                keys = NULL;
        secrets = keys && record_protection_is_known(&protection) ? key_log_find(keys, q->random)
                                                                  : NULL;
        if (!secrets || !secrets[SECRET_CLIENT_TRAFFIC].n || !secrets[SECRET_SERVER_TRAFFIC].n) {
                if (last || !keys || !key_log_follows(keys))
                        q->result = QUIC_NO_KEYS;
                return;
        }
        memcpy(q->secrets, secrets, sizeof q->secrets);
        q->result = QUIC_OPENED;
        q->streams = quic_streams_new(q->client, &q->n_held, &q->opening->held, q->opening->most);
        sink->opened(sink->frames.user, q->client);
        while ((w = waiting_take(q))) {
                packet_take(q, w->side, &w->header, w->bytes, w->stamp, sink);
                g_free(w);
        }
}

/* --- from outside ---------------------------------------------------------- */

Quic *quic_new(QuicOpening *opening, guint client)
{
        Quic *q = g_new0(Quic, 1);
        q->opening = opening;
        q->client = client;
        q->waiting_end = &q->waiting;
        q->side[0].crypto.end = q->side[1].crypto.end = QUIC_NO_END;
        q->side[0].searches = q->side[1].searches = MAX_SEARCHES;
        return q;
}

void quic_free(Quic *q)
{
        if (!q)
                return;
        waiting_drop(q);
        quic_streams_free(q->streams);
        for (guint side = 0; side < 2; side++) {
                QuicSide *s = &q->side[side];
                for (guint level = 0; level < N_LEVELS; level++)
                        record_cipher_free(s->cipher[level]);
                record_cipher_free(s->before);
                quic_bytes_clear(&s->crypto, &q->n_held);
                if (s->hello)
                        g_byte_array_unref(s->hello);
        }
        held_count(q);
        g_free(q);
}

/* An Initial packet of the client: by which id its keys are made. FALSE: by none that is known. */
static gboolean first_id_find(Quic *q, const QuicHeader *h, const guint8 *bytes)
{
        QuicSide *s = &q->side[q->client];
        QuicId before = q->first;
        gboolean same = before.n == h->to.n && !memcmp(before.bytes, h->to.bytes, before.n);
        if (before.n > 0 &&
            packet_open_with(q, q->client, h, bytes, quic_cipher(q, q->client, h)) >= 0)
                return TRUE;
        if (same)
                return FALSE;
        q->first = h->to; /* the first one, or a server's Retry has said another */
        g_clear_pointer(&s->cipher[LEVEL_INITIAL], record_cipher_free);
        gboolean opens =
                packet_open_with(q, q->client, h, bytes, quic_cipher(q, q->client, h)) >= 0;
        if (opens)
                g_clear_pointer(&q->side[!q->client].cipher[LEVEL_INITIAL], record_cipher_free);
        else
                q->first = before;
        if (!opens)
                g_clear_pointer(&s->cipher[LEVEL_INITIAL], record_cipher_free);
        return opens;
}

/* What a long header says of its sender. */
static void long_header_take(Quic *q, guint side, const QuicHeader *h, const QuicSink *sink)
{
        q->side[side].n_id = h->from.n;
        q->side[side].has_id = TRUE;
        id_add(q, side, &h->from, sink);
        if (side != q->client || !q->version)
                q->version = h->version;
}

/* FALSE: no packet was opened, or held. */
static gboolean datagram_add(Quic *q, guint side, const guint8 *bytes, gsize n, Stamp stamp,
                             const QuicSink *sink)
{
        gboolean any = FALSE;
        QuicHeader h;
        for (gsize at = 0; at < n; at += h.length) {
                gboolean first;
                if (!quic_header_read(bytes + at, n - at, q->side[!side].n_id, &h) || h.length == 0)
                        break;
                if (h.is_opaque)
                        return TRUE;
                first = h.level == LEVEL_INITIAL && side == q->client;
                if (first && q->result == QUIC_WAITS && !first_id_find(q, &h, bytes + at)) {
                        if (q->first.n == 0)
                                q->result = QUIC_NO_HANDSHAKE;
                        continue;
                }
                if (h.level == LEVEL_INITIAL && q->result != QUIC_WAITS) {
                        any = TRUE;
                        continue;
                }
                if (h.is_long)
                        long_header_take(q, side, &h, sink);
                any |= packet_take(q, side, &h, bytes + at, stamp, sink);
                quic_open(q, FALSE, sink);
        }
        return any;
}

/* Whether the first size bytes of a datagram are a packet of data. */
static gboolean segment_opens(Quic *q, guint side, const guint8 *bytes, gsize size)
{
        QuicSide *s = &q->side[side];
        guint64 largest = s->largest[LEVEL_DATA], n_opened = s->n_opened;
        QuicHeader h;
        gboolean opens = quic_header_read(bytes, size, q->side[!side].n_id, &h) &&
                         packet_open_with(q, side, &h, bytes, s->cipher[LEVEL_DATA]) >= 0;
        s->largest[LEVEL_DATA] = largest; /* it is opened again */
        s->n_opened = n_opened;
        return opens;
}

/* A sender may give the kernel several datagrams of one size at once, and a capture on the same
 * machine may see them before they are taken apart. Their size; 0: they are none. */
static gsize segment_find(Quic *q, guint side, const guint8 *bytes, gsize n)
{
        QuicSide *s = &q->side[side];
        if (n <= MIN_SEGMENT || bytes[0] & 0x80 || !s->cipher[LEVEL_DATA])
                return 0;
        if (s->segment > 0 && s->segment < n && segment_opens(q, side, bytes, s->segment))
                return s->segment;
        for (gsize size = MIN_SEGMENT; size <= MIN(n - 1, MAX_SEGMENT) && s->searches > 0; size++)
                if (segment_opens(q, side, bytes, size))
                        return s->segment = (guint16)size;
        s->searches -= s->searches > 0;
        return 0;
}

gboolean quic_add(Quic *q, guint side, const guint8 *bytes, gsize n, Stamp stamp,
                  const QuicSink *sink)
{
        gboolean any = datagram_add(q, side, bytes, n, stamp, sink);
        gsize size = any || q->result != QUIC_OPENED ? 0 : segment_find(q, side, bytes, n);
        for (gsize at = 0; size > 0 && at < n; at += size)
                any |= datagram_add(q, side, bytes + at, MIN(size, n - at), stamp, sink);
        if (!any && q->result == QUIC_OPENED)
                q->opening->not_opened++;
        held_count(q);
        if (q->result == QUIC_OPENED && q->n_held > 0 &&
            (q->n_held > MAX_HELD || q->opening->held > q->opening->most)) {
                quic_streams_give_up(q->streams, &sink->frames);
                held_count(q);
        }
        return any;
}

QuicResult quic_result(const Quic *q)
{
        return q->result;
}

guint quic_version(const Quic *q)
{
        return q->version == QUIC_VERSION_2 ? 2 : 1;
}

const QuicId *quic_id(const Quic *q, guint i)
{
        return i < q->n_ids ? &q->ids[i] : NULL;
}

gboolean quic_has_holes(const Quic *q, guint side)
{
        return q->side[side].n_opened < q->side[side].largest[LEVEL_DATA];
}

gboolean quic_waits_since(const Quic *q, gint64 *time)
{
        gint64 since;
        *time = q->waiting ? q->waiting->stamp.time : G_MAXINT64;
        if (q->n_held > 0 && q->streams && quic_streams_wait_since(q->streams, &since))
                *time = MIN(*time, since);
        return *time != G_MAXINT64;
}

void quic_settle(Quic *q, const QuicSink *sink)
{
        quic_open(q, TRUE, sink);
        if (q->result == QUIC_WAITS)
                q->result = QUIC_NO_HANDSHAKE;
        if (q->result == QUIC_OPENED)
                quic_streams_give_up(q->streams, &sink->frames);
        else
                waiting_drop(q);
        held_count(q);
}
