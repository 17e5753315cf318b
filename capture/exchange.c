/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/exchange.h"

#include <string.h>

#include "capture/protocol/tls.h"
#include "capture/streams.h"

enum {
        MAX_BUFFER = 262144, /* bytes that a parser may leave unsettled */
        MAX_ALL_BUFFERS = 64 << 20,
        IDLE_BUFFER = 4096,  /* that is kept for the next time */
        MAX_VALUES = 16384,  /* bytes at a time in which identifiers are looked for */
        MAX_PROBES = 16,     /* runs that are shown to every protocol */
        MAX_BOUNDARIES = 16, /* that turn out to be none, in a piece of bytes */
};

/* What a protocol makes of runs that it has not parsed. */
static CutTalkKind talk_of(const Protocol *protocol, gboolean from_start)
{
        return protocol == &protocol_smtp                  ? TALK_MAIL
               : protocol == &protocol_tls                 ? TALK_TLS
               : protocol == &protocol_mysql && from_start ? TALK_MYSQL_LOGIN
                                                           : TALK_PLAIN;
}

void exchange_init(Exchange *x, const Protocol *protocol, guint client, gboolean start_seen,
                   const NodeId node[2], const guint16 port[2])
{
        memset(x, 0, sizeof *x);
        pairing_init(&x->pairing, node, port);
        x->protocol = protocol;
        x->pairing.client = (guint8)client;
        x->run = NO_SIDE;
        x->start_seen = start_seen != FALSE;
        x->decided = protocol != NULL;
        if (protocol)
                x->talk.kind = talk_of(protocol, start_seen);
}

/* --- the generic rule ------------------------------------------------------ */

/* first: no run was seen before on a connection that was open before the capture, so one
 * that answers nothing is what is left of a return. */
static MessageKind run_kind(const Exchange *x, guint side, gboolean first)
{
        const Pairing *p = &x->pairing;
        if (p->client == NO_SIDE)
                return KIND_ONE_WAY;
        if (p->client == side)
                return KIND_CALL;
        return p->n_calls > 0 || first ? KIND_RETURN : KIND_ONE_WAY;
}

/* n bytes of side, seen at stamp (NULL: by nobody), belong to its run. kind: of one that begins
 * with them; KIND_BY_SIDE: as the generic rule says. */
static void run_extend(Exchange *x, guint side, guint32 seq, guint64 n, MessageKind kind,
                       const Stamp *stamp, Stamp now, const CaptureContext *context)
{
        Pairing *p = &x->pairing;
        MessageInProgress *m = &p->message[side];
        gboolean first = x->run == NO_SIDE && !x->start_seen && !x->parsed;
        if (x->run != side) {
                if (x->run != NO_SIDE)
                        pairing_end(p, x->run, now, context);
                x->run = (guint8)side;
        } else if (m->open && m->written && stamp) { /* goes on after a long silence */
                pairing_abandon(p, side, context);
                pairing_open(p, side, seq, stamp, context);
                pairing_begin(p, side, KIND_ONE_WAY, END_BY_SILENCE, NULL, now, context);
        }
        if (!m->open)
                pairing_open(p, side, seq, stamp, context);
        else if (stamp)
                pairing_grow(p, side, *stamp, context);
        pairing_count(p, side, n);
        if (m->kind == KIND_UNKNOWN && m->seen)
                pairing_begin(p, side, kind == KIND_BY_SIDE ? run_kind(x, side, first) : kind,
                              END_BY_SILENCE, NULL, now, context);
}

/* What a run of side is, or a segment of it, by its first n bytes of length. */
static MessageKind cut_kind(Exchange *x, guint side, const guint8 *bytes, gsize n, gsize length,
                            const CaptureContext *context)
{
        Pairing *p = &x->pairing;
        CutSegment segment = { .bytes = bytes,
                               .n = n,
                               .length = length,
                               .calls = side == p->client,
                               .start_seen = x->start_seen };
        MessageKind before = KIND_UNKNOWN;
        if (x->talk.kind == TALK_MYSQL_LOGIN && x->parsed)
                x->talk.kind = TALK_PLAIN;
        if (p->client == NO_SIDE)
                return KIND_BY_SIDE;
        MessageKind kind = cut_run_kind(&x->talk, &segment, &before);
        if (!segment.calls && cut_run_may_be_interim(&segment))
                p->message[!side].several = TRUE;
        if (before != KIND_UNKNOWN)
                pairing_recast(p, !side, before, context);
        return kind;
}

/* What is cut was no message, and more may follow in the same run. */
static void cut_ignore(Exchange *x, guint side, MessageKind kind, const CaptureContext *context)
{
        ExchangeSide *s = &x->side[side];
        if (kind == KIND_INTERIM)
                account_add(context->account, ACCOUNT_INTERIM);
        if (x->pairing.message[side].kind == KIND_UNKNOWN)
                pairing_abandon(&x->pairing, side, context);
        pairing_account(&x->pairing, side, TRUE);
        memset(s->state, 0, sizeof s->state);
        s->skip = 0;
        s->buffered = 0;
}

/* A segment of side, or the rest of one, where messages are runs: the first n bytes of length
 * are at hand. Packets of this connection were cut. */
static void run_cut(Exchange *x, guint side, guint32 seq, const guint8 *bytes, gsize n,
                    gsize length, Stamp stamp, Stamp now, const CaptureContext *context)
{
        Pairing *p = &x->pairing;
        MessageInProgress *m = &p->message[side];
        MessageKind kind = KIND_BY_SIDE;
        if (x->run != side || x->talk.kind == TALK_TLS)
                kind = cut_kind(x, side, bytes, n, length, context);
        else if (side == p->client && cut_run_repeats(&x->talk, bytes, n))
                m->several = TRUE;
        if (side == p->client)
                cut_run_see(&x->talk, length);
        if (kind == KIND_INTERIM || kind == KIND_CONTROL) {
                cut_ignore(x, side, kind, context);
                return;
        }
        if (x->run == side && m->open && x->talk.kind == TALK_TLS) {
                if (kind == KIND_SESSION && m->kind != KIND_SESSION)
                        return; /* between records of data */
                if (kind != KIND_SESSION && m->kind == KIND_SESSION) {
                        pairing_end(p, side, now, context);
                        kind = run_kind(x, side, FALSE);
                }
        }
        gboolean unseen = x->run != side && n == 0;
        run_extend(x, side, seq, length, kind, &stamp, now, context);
        m->unseen |= unseen;
        if (x->talk.kind == TALK_ONE_WAY || x->talk.kind == TALK_TLS)
                x->protocol = &protocol_generic;
}

/* A segment of side where messages are runs. */
static void run_take(Exchange *x, guint side, guint32 seq, const guint8 *bytes, gsize n,
                     gsize length, Stamp stamp, Stamp now, const CaptureContext *context)
{
        x->pairing.cut |= n < length;
        if (x->pairing.cut)
                run_cut(x, side, seq, bytes, n, length, stamp, now, context);
        else
                run_extend(x, side, seq, length, KIND_BY_SIDE, &stamp, now, context);
}

/* The buffered bytes of side are no protocol's. */
static void run_take_buffer(Exchange *x, guint side, Stamp now, const CaptureContext *context)
{
        ExchangeSide *s = &x->side[side];
        gsize n = s->buffered;
        if (n > 0) {
                s->buffered = 0;
                run_take(x, side, s->seq - (guint32)n, s->buffer, n, n, s->arrived, now, context);
                x->probes++;
        }
}

static void forget_memory(Exchange *x)
{
        if (x->memory)
                x->protocol->forget(x->memory);
        x->memory = NULL;
}

/* From here on the connection is generic, or undecided again. */
static void leave_protocol(Exchange *x, const Protocol *protocol, Stamp now,
                           const CaptureContext *context)
{
        forget_memory(x);
        x->protocol = protocol;
        x->run = NO_SIDE;
        x->probes = 0;
        for (guint side = 0; side < 2; side++) {
                ExchangeSide *s = &x->side[side];
                MessageInProgress *m = &x->pairing.message[side];
                memset(s->state, 0, sizeof s->state);
                s->skip = 0;
                s->lost = s->by_run = FALSE;
                s->part = 0;
                if (m->open && m->kind != KIND_UNKNOWN)
                        pairing_end(&x->pairing, side, now, context);
                if (protocol == &protocol_generic)
                        run_take_buffer(x, side, now, context);
        }
}

/* A record of side begins, at seq: application data of a protocol whose messages are
 * runs. */
static void run_record(Exchange *x, guint side, guint32 seq, guint part, Stamp now,
                       const CaptureContext *context)
{
        Pairing *p = &x->pairing;
        MessageInProgress *m = &p->message[side];
        MessageKind kind = run_kind(x, side, FALSE);
        if (x->run == side && m->written) { /* goes on after a long silence */
                pairing_abandon(p, side, context);
                pairing_open(p, side, seq, &now, context);
                kind = KIND_ONE_WAY;
        } else if (kind == KIND_ONE_WAY && (part & PART_ANSWERS) && !x->called) {
                kind = KIND_CONTROL;
        }
        if (m->kind != KIND_UNKNOWN)
                return;
        if (kind != KIND_CONTROL) {
                if (x->run == !side)
                        pairing_end(p, !side, now, context);
                x->run = (guint8)side;
        }
        x->called |= kind == KIND_CALL;
        pairing_begin(p, side, kind, END_BY_SILENCE, NULL, now, context);
}

/* --- a protocol's parser --------------------------------------------------- */

static void side_resize(ExchangeSide *s, gsize capacity, const CaptureContext *context)
{
        context->memory->buffers += capacity - s->capacity;
        s->buffer = g_realloc(s->buffer, capacity);
        s->capacity = (guint32)capacity;
}

static void side_drop_buffer(ExchangeSide *s, const CaptureContext *context)
{
        context->memory->buffers -= s->capacity;
        g_clear_pointer(&s->buffer, g_free);
        s->buffered = s->capacity = 0;
}

/* Whether n bytes may be kept. */
static gboolean side_has_room(const ExchangeSide *s, gsize n, const CaptureContext *context)
{
        return n <= MAX_BUFFER && (n <= s->capacity || context->memory->buffers + n - s->capacity <=
                                                               (gsize)MAX_ALL_BUFFERS);
}

/* Keeps n bytes for later, which may be some of those in the buffer. */
static void side_keep(ExchangeSide *s, const guint8 *bytes, gsize n, const CaptureContext *context)
{
        if (n > s->capacity) { /* then they are not in the buffer */
                side_drop_buffer(s, context);
                side_resize(s, MAX(n, 512), context);
        }
        if (n > 0 && bytes != s->buffer)
                memmove(s->buffer, bytes, n);
        s->buffered = (guint32)n;
}

static void side_append(ExchangeSide *s, const guint8 *bytes, gsize n,
                        const CaptureContext *context)
{
        if (s->buffered + n > s->capacity)
                side_resize(s, MAX(s->buffered + n, 2 * (gsize)s->capacity), context);
        memcpy(s->buffer + s->buffered, bytes, n);
        s->buffered += (guint32)n;
}

/* A message of side begins, and with it a run where the other side's message goes on for as
 * long as its run. */
static void turn(Exchange *x, guint side, MessageKind kind, Stamp now,
                 const CaptureContext *context)
{
        ExchangeSide *other = &x->side[!side];
        if (!other->by_run || kind == KIND_INTERIM || kind == KIND_CONTROL || kind == KIND_NOTHING)
                return;
        pairing_end(&x->pairing, !side, now, context);
        memset(other->state, 0, sizeof other->state);
        other->lost = other->by_run = FALSE;
}

/* A call of this side begins, and the other answers in order: what is lost of
 * the conversation before it is settled. */
static void settle_before_call(Exchange *x, guint side, Stamp now, const CaptureContext *context)
{
        ExchangeSide *other = &x->side[!side];
        if (!other->lost)
                return;
        pairing_end(&x->pairing, !side, now, context);
        if (!x->pairing.pipelined)
                pairing_forget_calls(&x->pairing, context);
}

/* A part of a message begins. The open message only tells when its bytes were seen. */
static void part_begin(Exchange *x, guint side, const Parsed *parsed, Stamp now,
                       const CaptureContext *context)
{
        Pairing *p = &x->pairing;
        ExchangeSide *s = &x->side[side];
        MessageKind kind = parsed->kind;
        if (kind == KIND_BY_SIDE && (x->parsed || x->start_seen))
                kind = side == p->client ? KIND_CALL : KIND_RETURN;
        pairing_begin_part(p, side, parsed->key, now);
        if (kind != KIND_CALL && kind != KIND_RETURN && kind != KIND_ONE_WAY) {
                account_add(context->account, ACCOUNT_BEFORE_BOUNDARY);
                return;
        }
        s->part = parsed->part;
        s->part_kind = (guint8)kind;
        streams_part_begin(p, side, kind, parsed->part, parsed->key, p->message[side].seq,
                           p->message[side].first, context);
}

/* FALSE: the message is not of a kind that this side may send. */
static gboolean message_begin(Exchange *x, guint side, const Parsed *parsed, Stamp now,
                              const CaptureContext *context)
{
        Pairing *p = &x->pairing;
        MessageEnd end = parsed->length == PARSE_FOREVER ? END_BY_CLOSE : END_BY_CONTENT;
        if (x->protocol->mutual) {
                if (parsed->sender != SENDER_ANY && !x->parsed)
                        p->client = parsed->sender == SENDER_CLIENT ? side : !side;
                x->parsed |= parsed->sender != SENDER_ANY;
        } else if (parsed->kind == KIND_CALL || parsed->kind == KIND_RETURN) {
                guint client = parsed->kind == KIND_CALL ? side : !side;
                gboolean either = parsed->keyed && !parsed->part; /* side may call */
                if (p->client != client && x->parsed && !either)
                        return FALSE;
                if (!x->parsed)
                        p->client = (guint8)client;
                x->parsed = TRUE;
        }
        if (parsed->part) {
                part_begin(x, side, parsed, now, context);
                return TRUE;
        }
        if (x->side[!side].by_run)
                turn(x, side, parsed->kind, now, context);
        if (parsed->kind == KIND_CALL)
                settle_before_call(x, side, now, context);
        else if (parsed->kind == KIND_RETURN && x->side[!side].lost)
                pairing_end(p, !side, now, context);
        pairing_begin(p, side, parsed->kind, end, parsed, now, context);
        return TRUE;
}

static void message_end(Exchange *x, guint side, gboolean switches, const Protocol *next, Stamp now,
                        const CaptureContext *context)
{
        ExchangeSide *s = &x->side[side];
        MessageInProgress *m = &x->pairing.message[side];
        if (x->run == side) /* which goes on */
                return;
        if (s->part) {
                streams_part_end(&x->pairing, side, s->part_kind, s->part, m->number, m->last,
                                 context);
                s->part = 0;
        }
        if (m->kind == KIND_NOTHING || m->kind == KIND_CONTROL)
                pairing_abandon(&x->pairing, side, context);
        else
                pairing_end(&x->pairing, side, now, context);
        if (switches)
                leave_protocol(x, next, now, context);
}

/* A piece of the open message ends. */
static void piece_end(Exchange *x, guint side, const CaptureContext *context)
{
        x->side[side].piece = FALSE;
        pairing_piece_end(&x->pairing, side, x->pairing.message[side].last, context);
}

/* The parser does not know these bytes: looks for the next boundary in them.
 * What is left to parse, or n. */
static gsize find_boundary(Exchange *x, guint side, const guint8 *bytes, gsize n, Stamp now,
                           const CaptureContext *context)
{
        ExchangeSide *s = &x->side[side];
        MessageInProgress *m = &x->pairing.message[side];
        gsize at = x->protocol->find_boundary(bytes, n);
        if (at > 0 && m->open) {
                pairing_grow(&x->pairing, side, now, context);
                pairing_count(&x->pairing, side, at);
        }
        if (at < n) {
                if (x->run != side)
                        pairing_end(&x->pairing, side, now, context);
                memset(s->state, 0, sizeof s->state);
                s->lost = FALSE;
        }
        return at;
}

/* The order of messages in this direction is lost. One whose nature is known
 * goes on until the next boundary, or until the other side talks. */
static void lose(Exchange *x, guint side, const CaptureContext *context)
{
        ExchangeSide *s = &x->side[side];
        MessageInProgress *m = &x->pairing.message[side];
        pairing_lose_order(&x->pairing, side);
        s->lost = TRUE;
        s->part = 0;
        s->skip = 0;
        s->buffered = 0;
        if (!m->open)
                return;
        if ((m->kind == KIND_CALL || m->kind == KIND_RETURN) && !pieces_are_endless(m->pieces))
                pairing_set_end(&x->pairing, side, END_BY_SILENCE, context);
        else
                pairing_abandon(&x->pairing, side, context);
        if (x->run == side && !m->open)
                x->run = NO_SIDE;
}

/* What side says is cut, or not understood after that, where its parser must see it: the open
 * message goes on to the end of the run. Where none is, or it is not known what it is, the n
 * bytes that are seen of length, from seq on, begin one. */
static void cut_message(Exchange *x, guint side, guint32 seq, const guint8 *bytes, gsize n,
                        gsize length, Stamp stamp, const CaptureContext *context)
{
        ExchangeSide *s = &x->side[side];
        Pairing *p = &x->pairing;
        MessageInProgress *m = &p->message[side];
        p->cut = TRUE;
        if (!m->open)
                pairing_open(p, side, seq, &stamp, context);
        else
                pairing_grow(p, side, stamp, context);
        pairing_count(p, side, length);
        if (m->kind == KIND_UNKNOWN) {
                MessageKind kind = cut_kind(x, side, bytes, n, length, context);
                if (kind == KIND_INTERIM || kind == KIND_CONTROL) {
                        cut_ignore(x, side, kind, context);
                        return;
                }
                if (kind == KIND_BY_SIDE)
                        kind = p->client == NO_SIDE ? KIND_ONE_WAY
                               : p->client == side  ? KIND_CALL
                                                    : KIND_RETURN;
                turn(x, side, kind, stamp, context);
                if (kind == KIND_CALL)
                        settle_before_call(x, side, stamp, context);
                m->by_run = TRUE;
                m->unseen = n == 0;
                pairing_begin(p, side, kind, END_BY_SILENCE, NULL, stamp, context);
        } else {
                pairing_set_end(p, side, END_BY_SILENCE, context);
        }
        if (x->talk.kind == TALK_ONE_WAY) {
                x->protocol = &protocol_generic;
                x->run = (guint8)side;
        }
        pairing_lose_order(p, side);
        s->lost = s->by_run = x->run != side;
        s->part = 0;
        s->skip = 0;
        s->buffered = 0;
}

/* More of a run that is cut. */
static void cut_goes_on(Exchange *x, guint side, const guint8 *bytes, gsize n, gsize length,
                        Stamp stamp, const CaptureContext *context)
{
        MessageInProgress *m = &x->pairing.message[side];
        if (m->kind == KIND_CALL && cut_run_repeats(&x->talk, bytes, n))
                m->several = TRUE;
        if (m->open) {
                pairing_grow(&x->pairing, side, stamp, context);
                pairing_count(&x->pairing, side, length);
        }
}

/* Whether what side is about to say answers a call that was a run, of which no parser knows
 * what its answer is. */
static gboolean answers_run(const Exchange *x, guint side)
{
        const MessageInProgress *m = &x->pairing.message[side];
        return side != x->pairing.client && x->talk.kind != TALK_MAIL &&
               (!m->open || m->kind == KIND_UNKNOWN) && pairing_call_is_run(&x->pairing, side);
}

/* The parser does not know what side says. FALSE: from here on the connection is generic. */
static gboolean not_mine(Exchange *x, guint side, Stamp now, const CaptureContext *context)
{
        gboolean within = x->decided && !x->start_seen; /* it may be the rest of a message */
        account_add(context->account,
                    x->parsed || !within ? ACCOUNT_UNPARSED : ACCOUNT_BEFORE_BOUNDARY);
        if (x->parsed || within) {
                lose(x, side, context);
                return TRUE;
        }
        leave_protocol(x, &protocol_generic, now, context);
        return FALSE;
}

/* cut: what follows was cut off. Where the parser only waits for it to name the operation, there
 * is no name. */
static ParseStatus parse_one(Exchange *x, guint side, const guint8 *data, gsize n, gboolean cut,
                             Parsed *parsed, const CaptureContext *context)
{
        ExchangeSide *s = &x->side[side];
        guint8 call = pairing_call(&x->pairing, side);
        GString *label = x->pairing.message[side].kind == KIND_UNKNOWN ? context->label : NULL;
        if (context->label)
                g_string_truncate(context->label, 0);
        ParseStatus status = x->protocol->parse(s->state, call, data, n, FALSE, label, parsed);
        if (cut && label && status == PARSE_MORE && parsed->length == 0 &&
            parsed->kind == KIND_UNKNOWN)
                status = x->protocol->parse(s->state, call, data, n, FALSE, NULL, parsed);
        return status;
}

/* The first n bytes of length that the parser has settled are of the open message, or of a part:
 * their values, if it is a call. */
static void take_values(Exchange *x, guint side, const guint8 *bytes, gsize n, guint64 length,
                        const CaptureContext *context)
{
        const ExchangeSide *s = &x->side[side];
        const MessageInProgress *m = &x->pairing.message[side];
        if (!context->values || !x->protocol->values || n == 0 ||
            (s->part ? s->part_kind : m->kind) != KIND_CALL)
                return;
        g_string_truncate(context->values, 0);
        x->protocol->values(context->values, bytes, MIN(n, MAX_VALUES));
        gboolean whole = n == length && n <= MAX_VALUES;
        if (context->values->len == 0)
                return;
        if (s->part)
                streams_values(&x->pairing, side, m->number, whole, context);
        else
                pairing_values(&x->pairing, side, whole, context);
}

static guint8 sender_of(const Exchange *x, guint side)
{
        return x->pairing.client == NO_SIDE ? SENDER_ANY
               : x->pairing.client == side  ? SENDER_CLIENT
                                            : SENDER_SERVER;
}

/* What the message carries: of one in parts or a whole one. */
static void take_content(Exchange *x, guint side, const Parsed *parsed,
                         const CaptureContext *context)
{
        if (x->protocol->keyed || x->pairing.streams)
                streams_content(&x->pairing, side, parsed->key, parsed->content,
                                parsed->content_else, context);
        else
                pairing_set_content(&x->pairing, side, parsed->content, context);
}

/* What a message that is whole carries: one that is put into a queue, or is passed on by it; and
 * what a return brings out of one. */
static void take_contents(Exchange *x, guint side, const Parsed *parsed,
                          const CaptureContext *context)
{
        if (x->pairing.message[side].kind == KIND_RETURN) {
                pairing_deliver(&x->pairing, side, parsed, context);
                return;
        }
        if (parsed->job)
                pairing_name(&x->pairing, side, parsed->job);
        for (guint i = 0; i < parsed->n_contents; i++)
                pairing_link(&x->pairing, side, parsed->contents[i], side != x->pairing.client,
                             context);
}

/* Shows data to the parser, of which the first old bytes had been there before.
 * seq is the sequence number of the first byte; cut: what follows the last was cut off. How many
 * of them it was: n, or up to where the connection speaks something else. */
static gsize parse_bytes(Exchange *x, guint side, const guint8 *data, gsize n, gsize old,
                         gboolean cut, guint32 seq, Stamp stamp, const CaptureContext *context)
{
        ExchangeSide *s = &x->side[side];
        MessageInProgress *m = &x->pairing.message[side];
        gsize at = 0;
        guint refused = 0;
        while (at < n) {
                Parsed parsed = { .other = x->side[!side].state,
                                  .memory = &x->memory,
                                  .sender = sender_of(x, side),
                                  .cut = cut != FALSE };
                if (s->lost) {
                        at += find_boundary(x, side, data + at, n - at, stamp, context);
                        if (s->lost)
                                break;
                }
                if (!m->open)
                        pairing_open(&x->pairing, side, seq + (guint32)at,
                                     at < old ? &s->arrived : &stamp, context);
                ParseStatus status = parse_one(x, side, data + at, n - at, cut, &parsed, context);
                s->aside = parsed.kind == KIND_CONTROL && x->run == side;
                if (parsed.part & PART_OF_RUN)
                        run_record(x, side, seq + (guint32)at, parsed.part, stamp, context);
                if (status == PARSE_NOT_MINE ||
                    (parsed.kind != KIND_UNKNOWN && m->kind == KIND_UNKNOWN &&
                     !message_begin(x, side, &parsed, stamp, context))) {
                        if (x->pairing.cut && x->parsed && !x->pairing.streams) {
                                cut_message(x, side, seq + (guint32)at, data + at, n - at, n - at,
                                            stamp, context);
                                return n;
                        }
                        if (!not_mine(x, side, stamp, context)) {
                                run_extend(x, side, seq + (guint32)at, n - at, KIND_BY_SIDE, &stamp,
                                           stamp, context);
                                break;
                        }
                        if (x->parsed || ++refused > MAX_BOUNDARIES)
                                break;
                        at++;
                        continue;
                }
                m->transaction = parsed.transaction != FALSE;
                if (parsed.fields)
                        streams_fields(&x->pairing, side, &parsed, context);
                if (parsed.content)
                        take_content(x, side, &parsed, context);
                if (parsed.length == PARSE_FOREVER && m->end != END_BY_CLOSE)
                        pairing_set_end(&x->pairing, side, END_BY_CLOSE, context);
                gsize used = (gsize)MIN(parsed.length, n - at);
                take_values(x, side, data + at, used, parsed.length, context);
                if (status == PARSE_PIECE)
                        pairing_piece_begin(&x->pairing, side, seq + (guint32)(at + parsed.piece),
                                            parsed.endless,
                                            at + parsed.piece < old ? s->arrived : stamp, context);
                at += used;
                if (used && !s->aside) {
                        pairing_grow(&x->pairing, side, stamp, context);
                        pairing_count(&x->pairing, side, used - MIN(used, parsed.framing));
                }
                s->skip = parsed.length == PARSE_FOREVER ? PARSE_FOREVER : parsed.length - used;
                s->piece = status == PARSE_PIECE;
                if (status == PARSE_PIECE) {
                        s->ends_after_skip = FALSE;
                        if (s->skip)
                                break;
                        piece_end(x, side, context);
                        continue;
                }
                if (status == PARSE_MORE) {
                        s->ends_after_skip = FALSE;
                        if (s->skip)
                                break;
                        if (!side_has_room(s, n - at, context)) {
                                not_mine(x, side, stamp, context);
                                break;
                        }
                        side_keep(s, data + at, n - at, context);
                        s->arrived = stamp;
                        return n;
                }
                if (parsed.settles) {
                        if (pairing_settle_taken(&x->pairing, side, &parsed, context))
                                parsed.fetch = FETCH_SETTLE;
                } else if (parsed.n_contents > 0) {
                        take_contents(x, side, &parsed, context);
                }
                m->fetch = parsed.fetch;
                if (s->skip) {
                        s->ends_after_skip = TRUE;
                        s->switches_after_skip = parsed.switches != FALSE;
                        break;
                }
                message_end(x, side, parsed.switches, parsed.next, stamp, context);
                if (parsed.switches) {
                        s->buffered = 0;
                        s->seq = seq + (guint32)at;
                        return at;
                }
        }
        s->buffered = 0;
        return n;
}

/* --- undecided ------------------------------------------------------------- */

/* A protocol that recognises data; NULL with *more = TRUE where one may. */
static const Protocol *probe(const guint8 *data, gsize n, gboolean whole, gboolean datagrams,
                             gboolean *more)
{
        *more = FALSE;
        for (guint i = 0; protocols[i]; i++) {
                guint64 state[PROTOCOL_STATE_SIZE / 8] = { 0 };
                Parsed parsed = { 0 };
                if (protocols[i]->datagrams != datagrams)
                        continue;
                ParseStatus status =
                        protocols[i]->parse(state, CALL_PROBE, data, n, whole, NULL, &parsed);
                if (status != PARSE_NOT_MINE && parsed.length > 0 && parsed.kind != KIND_NOTHING)
                        return protocols[i];
                *more |= status == PARSE_MORE;
        }
        return NULL;
}

/* The protocol is known. A piece of run that came before it was a greeting, the end of a
 * message whose beginning was not seen, or a conversation of its own. */
static void adopt(Exchange *x, const Protocol *protocol, Stamp now, const CaptureContext *context)
{
        gboolean greeting = protocol->greets && x->start_seen && x->run != x->pairing.client;
        x->protocol = protocol;
        x->talk.kind = talk_of(protocol, x->start_seen);
        x->talk.runs = MAX(x->talk.runs, 1);
        if (x->run == NO_SIDE)
                return;
        if (x->pairing.cut && protocol->keyed) { /* no call, but what it was is not known */
                pairing_abandon(&x->pairing, x->run, context);
                x->side[x->run].lost = TRUE;
        } else if (x->pairing.cut) { /* goes on until it is known whether this ends it */
                ExchangeSide *s = &x->side[x->run];
                s->lost = s->by_run = x->pairing.message[x->run].open;
        } else if ((greeting || !x->start_seen) && x->probes <= 1) {
                account_add(context->account, greeting ? ACCOUNT_SESSION : ACCOUNT_BEFORE_BOUNDARY);
                if (greeting) /* known to be no message, as if the parser had seen it */
                        pairing_account(&x->pairing, x->run, TRUE);
                pairing_abandon(&x->pairing, x->run, context);
        } else {
                pairing_end(&x->pairing, x->run, now, context);
        }
        x->run = NO_SIDE;
}

/* As parse_bytes(). hidden: bytes that follow, cut off; 0 afterwards where they were taken with
 * those. */
static gsize take_undecided(Exchange *x, guint side, const guint8 *bytes, gsize n, gsize old,
                            gsize *hidden, guint32 seq, Stamp stamp, const CaptureContext *context)
{
        ExchangeSide *s = &x->side[side];
        gsize length = n + *hidden;
        gboolean more = FALSE;
        run_take_buffer(x, !side, stamp, context); /* its run is over, and was not recognised */
        if (x->run == side) {
                run_take(x, side, seq, bytes, n, length, stamp, stamp, context);
                *hidden = 0;
                return n;
        }
        const Protocol *found = n > 0 ? probe(bytes, n, FALSE, FALSE, &more) : NULL;
        if (found) {
                adopt(x, found, stamp, context);
                return parse_bytes(x, side, bytes, n, old, *hidden > 0, seq, stamp, context);
        }
        if (more && *hidden == 0 && x->probes < MAX_PROBES && side_has_room(s, n, context)) {
                if (!x->pairing.message[side].open)
                        pairing_open(&x->pairing, side, seq, &stamp, context);
                side_keep(s, bytes, n, context);
                s->arrived = stamp;
                return n;
        }
        s->buffered = 0;
        *hidden = 0;
        run_take(x, side, seq, bytes, n, length, stamp, stamp, context);
        if (++x->probes >= MAX_PROBES)
                x->protocol = &protocol_generic;
        return n;
}

/* Passes over what the parser need not see. How many bytes that were. */
static gsize take_skipped(Exchange *x, guint side, gsize n, Stamp stamp,
                          const CaptureContext *context)
{
        ExchangeSide *s = &x->side[side];
        gsize skipped = (gsize)MIN(s->skip, n);
        if (skipped == 0)
                return 0;
        if (s->skip != PARSE_FOREVER)
                s->skip -= skipped;
        if (stamp.packet && !s->aside)
                pairing_grow(&x->pairing, side, stamp, context);
        if (!s->aside)
                pairing_count(&x->pairing, side, skipped);
        if (s->skip == 0 && s->ends_after_skip)
                message_end(x, side, s->switches_after_skip, NULL, stamp, context);
        else if (s->skip == 0 && s->piece)
                piece_end(x, side, context);
        return skipped;
}

/* The headers of records were cut off, and so is where the next one begins. */
static void cut_records(Exchange *x, guint side, guint32 seq, gsize n, Stamp stamp,
                        const CaptureContext *context)
{
        x->protocol = &protocol_generic;
        x->talk.kind = TALK_TLS;
        x->talk.called = x->called;
        x->pairing.cut = TRUE;
        for (guint i = 0; i < 2; i++) {
                x->side[i].skip = 0;
                x->side[i].buffered = 0;
                if (x->run != i)
                        pairing_abandon(&x->pairing, i, context);
        }
        if (x->run == side)
                run_extend(x, side, seq, n, KIND_BY_SIDE, &stamp, stamp, context);
}

/* n bytes of side, cut off, that follow those which its parser has seen. How many of them were
 * taken: all, or up to where the connection speaks something else. */
static gsize take_hidden(Exchange *x, guint side, guint32 seq, gsize n, Stamp stamp,
                         const CaptureContext *context)
{
        ExchangeSide *s = &x->side[side];
        gsize taken = take_skipped(x, side, n, stamp, context);
        if (taken > 0)
                return taken;
        if (x->protocol == &protocol_tls)
                cut_records(x, side, seq, n, stamp, context);
        else if (!s->lost && x->protocol->keyed) {
                x->pairing.cut = TRUE;
                lose(x, side, context);
        } else if (!s->lost)
                cut_message(x, side, seq - s->buffered, s->buffer, s->buffered, s->buffered + n,
                            stamp, context);
        else if (x->pairing.message[side].open) {
                pairing_grow(&x->pairing, side, stamp, context);
                pairing_count(&x->pairing, side, n);
        }
        return n;
}

/* n bytes of side, and then hidden ones that were cut off. */
static void take(Exchange *x, guint side, const guint8 *bytes, gsize n, gsize hidden, Stamp stamp,
                 const CaptureContext *context)
{
        ExchangeSide *s = &x->side[side];
        gsize old = s->buffered;
        guint32 seq = s->seq - (guint32)old;
        if (old && n > 0)
                side_append(s, bytes, n, context);
        if (old) {
                bytes = s->buffer;
                n = s->buffered;
        }
        while (n > 0 || hidden > 0) {
                gsize taken = n;
                if (!x->protocol) {
                        taken = take_undecided(x, side, bytes, n, old, &hidden, seq, stamp,
                                               context);
                } else if (x->protocol == &protocol_generic) {
                        run_take(x, side, seq, bytes, n, n + hidden, stamp, stamp, context);
                        hidden = 0;
                } else if (n > 0) {
                        taken = parse_bytes(x, side, bytes, n, old, hidden > 0, seq, stamp,
                                            context);
                } else {
                        gsize passed = take_hidden(x, side, seq, hidden, stamp, context);
                        hidden -= passed;
                        seq += (guint32)passed;
                }
                bytes += taken;
                n -= taken;
                old -= MIN(old, taken);
                seq += (guint32)taken;
        }
        if (s->buffered == 0 &&
            (s->capacity > IDLE_BUFFER || context->memory->buffers > MAX_ALL_BUFFERS / 2))
                side_drop_buffer(s, context);
}

/* --- from outside ---------------------------------------------------------- */

void exchange_bytes(Exchange *x, guint side, guint32 seq, const guint8 *bytes, gsize n,
                    gsize length, Stamp stamp, const CaptureContext *context)
{
        ExchangeSide *s = &x->side[side];
        if (s->by_run) {
                cut_goes_on(x, side, bytes, n, length, stamp, context);
        } else if (x->pairing.cut && answers_run(x, side)) {
                cut_message(x, side, seq, bytes, n, length, stamp, context);
        } else {
                gsize skipped = s->skip ? take_skipped(x, side, length, stamp, context) : 0;
                gsize seen = MIN(skipped, n);
                s->seq = seq + (guint32)skipped;
                if (skipped < length)
                        take(x, side, bytes + seen, n - seen, length - MAX(skipped, n), stamp,
                             context);
        }
        if (x->pairing.streams)
                streams_segment_end(&x->pairing, context);
        s->seq = seq + (guint32)length;
}

void exchange_missing(Exchange *x, guint side, guint32 seq, gsize n, const CaptureContext *context)
{
        ExchangeSide *s = &x->side[side];
        Pairing *p = &x->pairing;
        Stamp nobody = { 0, 0 };
        gsize skipped = take_skipped(x, side, n, nobody, context);
        s->seq = seq + (guint32)skipped;
        if (skipped < n && (!x->protocol || x->protocol == &protocol_generic)) {
                run_take_buffer(x, !side, x->side[!side].arrived, context);
                run_take_buffer(x, side, nobody, context);
                run_extend(x, side, s->seq, n - skipped, KIND_BY_SIDE, NULL, nobody, context);
        } else if (skipped < n) {
                turn(x, side, KIND_UNKNOWN, nobody, context);
                if (!s->lost) {
                        if (side == p->client && !p->pipelined && !p->message[side].open)
                                pairing_forget_calls(p, context); /* or it would not go on */
                        lose(x, side, context);
                        s->by_run = p->cut && p->message[side].open;
                }
        }
        s->seq = seq + (guint32)n;
}

/* What the client says last, that nothing answers, on a connection whose packets are cut. */
static void end_by_goodbye(Exchange *x, guint side, const CaptureContext *context)
{
        const Pairing *p = &x->pairing;
        const MessageInProgress *m = &p->message[side];
        if (p->cut && side == p->client && m->open && (x->run == side || m->by_run) &&
            cut_run_is_goodbye(x->side[side].seq - m->seq))
                pairing_recast(&x->pairing, side, KIND_SESSION, context);
}

/* The parser's last word on the open message of side. */
static void parse_end(Exchange *x, guint side, Stamp stamp, const CaptureContext *context)
{
        ExchangeSide *s = &x->side[side];
        MessageInProgress *m = &x->pairing.message[side];
        Parsed parsed = { .other = x->side[!side].state, .memory = &x->memory };
        if (m->open && !s->lost && (s->skip == 0 || s->skip == PARSE_FOREVER)) {
                ParseStatus status =
                        x->protocol->parse(s->state, pairing_call(&x->pairing, side), s->buffer,
                                           s->buffered, TRUE, NULL, &parsed);
                if (status == PARSE_NOT_MINE || m->kind == KIND_UNKNOWN) {
                        account_add(context->account, ACCOUNT_UNPARSED);
                        pairing_abandon(&x->pairing, side, context);
                }
        }
        end_by_goodbye(x, side, context);
        pairing_end(&x->pairing, side, stamp, context);
        streams_side_end(&x->pairing, side, stamp, context);
        s->part = 0;
        memset(s->state, 0, sizeof s->state);
        s->skip = 0;
        side_drop_buffer(s, context);
}

void exchange_end(Exchange *x, guint side, Stamp stamp, const CaptureContext *context)
{
        if (x->protocol && x->protocol != &protocol_generic) {
                parse_end(x, side, stamp, context);
                return;
        }
        run_take_buffer(x, side, stamp, context);
        if (x->run == side) {
                end_by_goodbye(x, side, context);
                pairing_end(&x->pairing, side, stamp, context);
                x->run = NO_SIDE;
        }
}

guint exchange_tls_inside(const Exchange *x)
{
        guint client = x->pairing.client == 1;
        return tls_inside(x->side[client].state, x->side[!client].state);
}

void exchange_datagram(Exchange *x, guint side, const guint8 *bytes, gsize n, gsize length,
                       Stamp stamp, const CaptureContext *context)
{
        Pairing *p = &x->pairing;
        gboolean more;
        Parsed parsed = { .kind = KIND_ONE_WAY };
        guint64 state[PROTOCOL_STATE_SIZE / 8] = { 0 };
        const Protocol *protocol =
                x->protocol ? x->protocol : probe(bytes, n, n == length, TRUE, &more);
        if (context->label)
                g_string_truncate(context->label, 0);
        if (protocol && protocol->datagrams) {
                parsed.kind = KIND_UNKNOWN;
                if (protocol->parse(state, CALL_NONE, bytes, n, n == length, context->label,
                                    &parsed) != PARSE_MESSAGE) {
                        account_add(context->account, ACCOUNT_UNPARSED);
                        pairing_account(p, side, FALSE);
                        return;
                }
        }
        p->datagrams = TRUE;
        pairing_open(p, side, 0, &stamp, context);
        pairing_count(p, side, length);
        if (pairing_begin(p, side, parsed.kind, END_BY_CONTENT, &parsed, stamp, context))
                pairing_end(p, side, stamp, context);
        else
                pairing_abandon(p, side, context);
}

void exchange_settle(Exchange *x, guint side, Stamp stamp, const CaptureContext *context)
{
        if (!x->protocol || x->protocol == &protocol_generic)
                run_take_buffer(x, side, stamp, context);
        pairing_settle(&x->pairing, side, context);
}

void exchange_clear(Exchange *x, Stamp stamp, const CaptureContext *context)
{
        Pairing *p = &x->pairing;
        guint first = p->client == 1; /* calls before their returns */
        for (guint i = 0; i < 2; i++) {
                guint side = first ^ i;
                MessageInProgress *m = &p->message[side];
                if (!x->protocol || x->protocol == &protocol_generic)
                        run_take_buffer(x, side, stamp, context);
                if (m->open && m->kind != KIND_UNKNOWN &&
                    (m->kind != KIND_RETURN || m->end != END_BY_CONTENT))
                        pairing_end(p, side, m->last, context);
        }
        streams_clear(p, context);
        pairing_clear(p, context);
        forget_memory(x);
        side_drop_buffer(&x->side[0], context);
        side_drop_buffer(&x->side[1], context);
}
