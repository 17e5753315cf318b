/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/parsing.h"

#include <string.h>

#include "capture/choice.h"
#include "capture/run.h"
#include "capture/streams.h"

enum {
        MAX_VALUES = 16384,  /* bytes at a time in which identifiers are looked for */
        MAX_BOUNDARIES = 16, /* that turn out to be none, in a stretch of bytes */
};

void parsing_turn(Exchange *x, guint side, MessageKind kind, Stamp now,
                  const CaptureContext *context)
{
        ExchangeSide *other = &x->side[!side];
        if (!other->by_run || kind == KIND_INTERIM || kind == KIND_CONTROL || kind == KIND_NOTHING)
                return;
        pairing_end(&x->pairing, !side, now, context);
        memset(other->state, 0, sizeof other->state);
        other->lost = other->by_run = FALSE;
}

/* A call of this side begins, and the other side is lost. Since returns come in order, the lost
 * message ends here, and calls before it get no return. */
static void settle_before_call(Exchange *x, guint side, Stamp now, const CaptureContext *context)
{
        ExchangeSide *other = &x->side[!side];
        if (!other->lost)
                return;
        pairing_end(&x->pairing, !side, now, context);
        if (!x->pairing.order.pipelined)
                pairing_forget_calls(&x->pairing, context);
}

/* A part of a message begins. The open message only tells when the part's bytes were seen;
 * streams.h has the message. */
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

/* The side that calls, as the message of side says, or NO_SIDE. */
static guint parsed_client(const Protocol *protocol, guint side, const Parsed *parsed)
{
        if (protocol->mutual)
                return parsed->sender == SENDER_ANY      ? NO_SIDE
                       : parsed->sender == SENDER_CLIENT ? side
                                                         : !side;
        return parsed->kind == KIND_CALL ? side : parsed->kind == KIND_RETURN ? !side : NO_SIDE;
}

gboolean parsing_may_send(const Exchange *x, guint side, const Protocol *protocol,
                          const Parsed *parsed)
{
        guint client = parsed_client(protocol, side, parsed);
        return client == NO_SIDE || x->pairing.opener == NO_SIDE || client == x->pairing.opener ||
               protocol->mutual || (parsed->keyed && !parsed->part);
}

/* A message begins, of which the parser knows the kind. FALSE: side may not send such a message. */
static gboolean parsing_message_begin(Exchange *x, guint side, const Parsed *parsed, Stamp now,
                                      const CaptureContext *context)
{
        Pairing *p = &x->pairing;
        MessageEnd end = parsed->length == PARSE_FOREVER ? END_BY_CLOSE : END_BY_CONTENT;
        guint client = parsed_client(x->protocol, side, parsed);
        gboolean either = parsed->keyed && !parsed->part; /* side may call */
        if (client != NO_SIDE) {
                if (p->client != client && !either && !x->protocol->mutual &&
                    (x->parsed || p->opener != NO_SIDE))
                        return FALSE;
                if (!x->parsed && p->opener == NO_SIDE)
                        p->client = (guint8)client;
                x->parsed = TRUE;
        }
        if (parsed->part) {
                pairing_pass_trial(p, context);
                part_begin(x, side, parsed, now, context);
                return TRUE;
        }
        if (x->side[!side].by_run)
                parsing_turn(x, side, parsed->kind, now, context);
        if (parsed->kind == KIND_CALL)
                settle_before_call(x, side, now, context);
        else if (parsed->kind == KIND_RETURN && x->side[!side].lost)
                pairing_end(p, !side, now, context);
        pairing_begin(p, side, parsed->kind, end, parsed, now, context);
        return TRUE;
}

void parsing_forget(Exchange *x)
{
        if (x->memory)
                x->protocol->forget(x->memory);
        x->memory = NULL;
}

/* From here on the connection speaks protocol; NULL: it is undecided again. The message of goes_on
 * is not over; NO_SIDE: all are. */
static void leave_protocol(Exchange *x, const Protocol *protocol, guint goes_on, Stamp now,
                           const CaptureContext *context)
{
        parsing_forget(x);
        pairing_pass_trial(&x->pairing, context);
        x->protocol = protocol;
        x->run = NO_SIDE;
        x->fitted = 0;
        for (guint side = 0; side < 2; side++) {
                ExchangeSide *s = &x->side[side];
                MessageInProgress *m = &x->pairing.message[side];
                memset(s->state, 0, sizeof s->state);
                s->skip = 0;
                s->lost = s->by_run = FALSE;
                s->part = 0;
                if (m->open && m->kind != KIND_UNKNOWN && side != goes_on)
                        pairing_end(&x->pairing, side, now, context);
                if (protocol == &protocol_generic)
                        run_take_buffer(x, side, now, context);
        }
}

static void message_end(Exchange *x, guint side, gboolean switches, const Protocol *next, Stamp now,
                        const CaptureContext *context)
{
        ExchangeSide *s = &x->side[side];
        MessageInProgress *m = &x->pairing.message[side];
        if (x->run == side) /* the record is over, its run goes on */
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
        s->holed = FALSE;
        if (switches) {
                leave_protocol(x, next, NO_SIDE, now, context);
                x->probes = 0;
        }
}

/* A piece of the open message ends. */
static void parsing_piece_end(Exchange *x, guint side, const CaptureContext *context)
{
        x->side[side].piece = FALSE;
        pairing_piece_end(&x->pairing, side, x->pairing.message[side].last, context);
}

/* The order of messages is lost: looks for the next boundary. FALSE: there is none in these bytes.
 */
static gboolean stretch_find_boundary(Exchange *x, guint side, Stretch *b,
                                      const CaptureContext *context)
{
        ExchangeSide *s = &x->side[side];
        MessageInProgress *m = &x->pairing.message[side];
        gsize left = b->n - b->at, passed = x->protocol->find_boundary(b->bytes + b->at, left);
        if (passed > 0 && m->open) {
                pairing_grow(&x->pairing, side, b->stamp, context);
                pairing_count(&x->pairing, side, passed);
        }
        b->at += passed;
        if (passed == left)
                return FALSE;
        if (x->run != side)
                pairing_end(&x->pairing, side, b->stamp, context);
        memset(s->state, 0, sizeof s->state);
        s->lost = FALSE;
        return TRUE;
}

void parsing_lose(Exchange *x, guint side, const CaptureContext *context)
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

void parsing_cut(Exchange *x, guint side, guint32 seq, const guint8 *bytes, gsize n, gsize length,
                 Stamp stamp, const CaptureContext *context)
{
        ExchangeSide *s = &x->side[side];
        Pairing *p = &x->pairing;
        MessageInProgress *m = &p->message[side];
        p->cut |= n < length;
        p->by_run = TRUE;
        if (!m->open)
                pairing_open(p, side, seq, &stamp, context);
        else
                pairing_grow(p, side, stamp, context);
        pairing_count(p, side, length);
        if (m->kind == KIND_UNKNOWN) {
                MessageKind kind = p->cut ? run_kind_if_cut(x, side, bytes, n, length, context)
                                   : side == p->client || p->calls.n_of[!side] ? KIND_BY_SIDE
                                                                               : KIND_ONE_WAY;
                if (kind == KIND_INTERIM || kind == KIND_CONTROL) {
                        run_ignore_cut(x, side, kind, context);
                        return;
                }
                if (kind == KIND_BY_SIDE)
                        kind = p->client == NO_SIDE ? KIND_ONE_WAY
                               : p->client == side  ? KIND_CALL
                                                    : KIND_RETURN;
                parsing_turn(x, side, kind, stamp, context);
                if (kind == KIND_CALL)
                        settle_before_call(x, side, stamp, context);
                m->by_run = TRUE;
                m->unseen = n == 0;
                pairing_begin(p, side, kind, END_BY_SILENCE, NULL, stamp, context);
        } else if (m->kind == KIND_INTERIM) { /* the final response comes in a segment of its own */
                pairing_end(p, side, stamp, context);
                memset(s->state, 0, sizeof s->state);
                s->skip = s->buffered = 0;
                return;
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

void parsing_cut_goes_on(Exchange *x, guint side, const guint8 *bytes, gsize n, gsize length,
                         Stamp stamp, const CaptureContext *context)
{
        MessageInProgress *m = &x->pairing.message[side];
        if (x->pairing.cut && m->kind == KIND_CALL && cut_run_repeats(&x->talk, bytes, n))
                m->several = TRUE;
        if (m->open) {
                pairing_grow(&x->pairing, side, stamp, context);
                pairing_count(&x->pairing, side, length);
        }
}

gboolean parsing_answers_run(const Exchange *x, guint side)
{
        const MessageInProgress *m = &x->pairing.message[side];
        return side != x->pairing.client && x->talk.kind != TALK_MAIL &&
               (!m->open || m->kind == KIND_UNKNOWN) && pairing_call_is_run(&x->pairing, side);
}

/* --- a choice that is taken back ------------------------------------------- */

/* The choice of the protocol was wrong. A protocol that was only recognised is not asked again, if
 * the connection's first bytes are there. */
static const Protocol *parsing_refuse_protocol(Exchange *x, const CaptureContext *context)
{
        if (x->decided)
                account_add(context->account, ACCOUNT_NOT_AS_SAID);
        for (guint i = 0; x->start_seen && protocols[i]; i++)
                if (protocols[i] == x->protocol)
                        x->refused |= 1u << i;
        x->talk.kind = TALK_PLAIN;
        return x->decided || ++x->probes >= MAX_PROBES ? &protocol_generic : NULL;
}

/* What was said during the trial becomes runs. of_side, at seq: a run that is not among them, as it
 * will be shown to other protocols; NO_SIDE: none. */
static void take_back(Exchange *x, guint of_side, guint32 seq, const CaptureContext *context)
{
        Pairing *p = &x->pairing;
        const Protocol *next = parsing_refuse_protocol(x, context);
        for (guint side = 0; side < 2; side++) {
                pairing_abandon(p, side, context);
                x->side[side].buffered = 0;
        }
        Trial *t = choice_undo(p, !x->parsed || x->role_known, context);
        x->parsed = x->role_known;
        leave_protocol(x, next, NO_SIDE, (Stamp){ 0, 0 }, context);
        for (guint i = 0; i < t->n_turns; i++) {
                const Turn *turn = &t->turns[i];
                if (turn->side == of_side && turn->seq == seq)
                        continue;
                run_extend(x, turn->side, turn->seq, turn->bytes, KIND_BY_SIDE, &turn->first,
                           turn->first, context);
                pairing_grow(p, turn->side, turn->last, context);
        }
        trial_free(t);
        sequencer_close(&p->trial_item);
}

/* The same after the trial, from the bytes on that are refused. Of several calls that one run was
 * taken for, the reply answers the first. */
static void take_back_late(Exchange *x, guint side, const Stretch *b, const CaptureContext *context)
{
        Pairing *p = &x->pairing;
        MessageInProgress *m = &p->message[side], *other = &p->message[!side];
        if (other->open && other->kind != KIND_UNKNOWN) { /* its buffered bytes are settled */
                pairing_count(p, !side, x->side[!side].buffered);
                x->side[!side].buffered = 0;
        }
        leave_protocol(x, parsing_refuse_protocol(x, context), side, b->stamp, context);
        run_take_buffer(x, !side, b->stamp, context);
        if (side != p->client)
                pairing_keep_calls(p, 1);
        if (m->open && m->kind != KIND_UNKNOWN) {
                x->run = (guint8)side;
                pairing_set_end(p, side, END_BY_SILENCE, context);
        }
        run_extend(x, side, b->seq + (guint32)b->at, b->n - b->at, KIND_BY_SIDE, &b->stamp,
                   b->stamp, context);
}

void parsing_end_trial(Exchange *x, const CaptureContext *context)
{
        const Trial *t = x->pairing.trial;
        gboolean refused = t && t->doubted;
        for (guint side = 0; t && side < 2; side++)
                refused |= x->side[side].buffered > 0 && !(x->fitted & 1 << side);
        if (refused)
                take_back(x, NO_SIDE, 0, context);
        else
                pairing_pass_trial(&x->pairing, context);
}

/* Whether a refusal takes the choice back: no messages of both sides have shown it to be right. The
 * first bytes of a side may be the rest of a message from before the capture: that is left to the
 * trial. Where one side alone is captured nothing can. */
static gboolean refusal_takes_back(Exchange *x, guint side, const Stretch *b)
{
        Pairing *p = &x->pairing;
        gboolean fits = (x->fitted & 1 << side) != 0;
        if (p->cut || b->cut || x->fitted == BOTH_SIDES || x->protocol == &protocol_tls)
                return FALSE;
        if (p->trial && !x->start_seen && !fits)
                return !(p->trial->doubted = TRUE);
        return !fits || (x->talked & 1 << !side);
}

/* Side is refused bytes among others of the protocol: they are a message that goes on to the end of
 * the run. */
static gboolean refusal_is_run(const Exchange *x, guint side, const Stretch *b)
{
        return !b->cut && x->fitted == BOTH_SIDES && !x->protocol->keyed && !x->protocol->mutual &&
               !x->pairing.streams && !x->side[side].holed && x->talk.kind != TALK_MAIL &&
               x->protocol != &protocol_tls;
}

/* The parser refuses the bytes of side. FALSE: from here on the connection is generic. */
static gboolean not_mine(Exchange *x, guint side, Stamp now, const CaptureContext *context)
{
        gboolean within = x->decided && !x->start_seen; /* the bytes may be the rest of a message */
        account_add(context->account,
                    x->parsed || !within ? ACCOUNT_UNPARSED : ACCOUNT_BEFORE_BOUNDARY);
        if (x->parsed || within || x->pairing.trial) {
                parsing_lose(x, side, context);
                return TRUE;
        }
        leave_protocol(x, &protocol_generic, NO_SIDE, now, context);
        return FALSE;
}

/* --- a stretch of bytes, step by step ---------------------------------------- */

/* What happens to the bytes that are left after a step. */
typedef enum {
        STEP_NEXT,    /* they are shown to the parser */
        STEP_DONE,    /* nothing: all are taken */
        STEP_KEPT,    /* they wait for more */
        STEP_SWITCHES /* they are of another protocol */
} Step;

static guint32 stretch_seq(const Stretch *b)
{
        return b->seq + (guint32)b->at;
}

/* When the byte at this offset was seen. */
static const Stamp *stretch_stamp(const Stretch *b, const ExchangeSide *s, gsize at)
{
        return at < b->old ? &s->arrived : &b->stamp;
}

guint8 parsing_sender(const Exchange *x, guint side)
{
        return x->pairing.client == NO_SIDE ? SENDER_ANY
               : x->pairing.client == side  ? SENDER_CLIENT
                                            : SENDER_SERVER;
}

/* Shows the bytes to the parser. Where they are cut and it only waits for the name of the
 * operation, there is no name. */
static ParseStatus stretch_parse(Exchange *x, guint side, const Stretch *b, Parsed *parsed,
                                 const CaptureContext *context)
{
        ExchangeSide *s = &x->side[side];
        const guint8 *bytes = b->bytes + b->at;
        gsize n = b->n - b->at;
        guint8 call = pairing_call(&x->pairing, side);
        GString *label = x->pairing.message[side].kind == KIND_UNKNOWN ? context->label : NULL;
        if (context->label)
                g_string_truncate(context->label, 0);
        ParseStatus status = x->protocol->parse(s->state, call, bytes, n, FALSE, label, parsed);
        if (b->cut && label && status == PARSE_MORE && parsed->length == 0 &&
            parsed->kind == KIND_UNKNOWN)
                status = x->protocol->parse(s->state, call, bytes, n, FALSE, NULL, parsed);
        return status;
}

/* FALSE: what was parsed is not this protocol's, or not of a kind that side may send. */
static gboolean stretch_begin_message(Exchange *x, guint side, const Stretch *b, ParseStatus status,
                                      const Parsed *parsed, const CaptureContext *context)
{
        x->side[side].aside = parsed->kind == KIND_CONTROL && x->run == side;
        if (parsed->part & PART_OF_RUN)
                run_record(x, side, stretch_seq(b), parsed->part, b->stamp, context);
        if (status == PARSE_NOT_MINE)
                return FALSE;
        if (parsed->kind == KIND_UNKNOWN || x->pairing.message[side].kind != KIND_UNKNOWN)
                return TRUE;
        if (!parsing_message_begin(x, side, parsed, b->stamp, context))
                return FALSE;
        if (parsed->kind != KIND_NOTHING)
                x->fitted |= (guint8)(1 << side);
        if (G_UNLIKELY(x->pairing.trial) && x->fitted == BOTH_SIDES)
                pairing_pass_trial(&x->pairing, context);
        return TRUE;
}

/* The choice of the protocol is taken back. A run that begins with these bytes is shown to the
 * others. */
static Step stretch_take_back(Exchange *x, guint side, Stretch *b, const CaptureContext *context)
{
        const Trial *t = x->pairing.trial;
        if (!t) {
                take_back_late(x, side, b, context);
                return STEP_DONE;
        }
        const Turn *last = &t->turns[t->n_turns - 1];
        if (last->seq != b->seq || b->old > 0 || !x->start_seen) {
                take_back(x, NO_SIDE, 0, context);
                return STEP_DONE;
        }
        take_back(x, side, b->seq, context);
        b->at = 0;
        return STEP_SWITCHES;
}

/* The parser does not know the bytes. */
static Step stretch_refuse(Exchange *x, guint side, Stretch *b, const CaptureContext *context)
{
        gsize left = b->n - b->at;
        if (refusal_takes_back(x, side, b))
                return stretch_take_back(x, side, b, context);
        if ((x->pairing.cut && x->parsed && !x->pairing.streams) || refusal_is_run(x, side, b)) {
                parsing_cut(x, side, stretch_seq(b), b->bytes + b->at, left, left, b->stamp,
                            context);
                return STEP_DONE;
        }
        if (!not_mine(x, side, b->stamp, context)) {
                run_extend(x, side, stretch_seq(b), left, KIND_BY_SIDE, &b->stamp, b->stamp,
                           context);
                return STEP_DONE;
        }
        if ((x->fitted & 1 << side) || ++b->refused > MAX_BOUNDARIES)
                return STEP_DONE;
        b->at++;
        return STEP_NEXT;
}

/* The parser has settled length bytes, of which n are at hand. If they are of a call, or a part of
 * a call or one-way message, identifiers are taken from the values in them. */
static void take_values(Exchange *x, guint side, const guint8 *bytes, gsize n, guint64 length,
                        const CaptureContext *context)
{
        const ExchangeSide *s = &x->side[side];
        const MessageInProgress *m = &x->pairing.message[side];
        if (!context->values || !x->protocol->values || n == 0 ||
            (s->part ? s->part_kind != KIND_CALL && s->part_kind != KIND_ONE_WAY
                     : m->kind != KIND_CALL))
                return;
        g_string_truncate(context->values, 0);
        x->protocol->values(context->values, &x->memory, bytes, MIN(n, MAX_VALUES));
        gboolean whole = n == length && n <= MAX_VALUES;
        if (context->values->len == 0)
                return;
        if (s->part)
                streams_values(&x->pairing, side, m->number, whole, context);
        else
                pairing_values(&x->pairing, side, whole, context);
}

/* Of the same bytes, the tags of a call. */
static void take_tags(Exchange *x, guint side, const guint8 *bytes, gsize n,
                      const CaptureContext *context)
{
        MessageInProgress *m = &x->pairing.message[side];
        if (context->tags && x->protocol->tags && m->kind == KIND_CALL && !m->written)
                x->protocol->tags(context->tags, &m->tags, bytes, n);
}

/* The message carries a content, by which it is linked to others. */
static void take_content(Exchange *x, guint side, const Parsed *parsed,
                         const CaptureContext *context)
{
        if (x->protocol->keyed || x->pairing.streams)
                streams_content(&x->pairing, side, parsed->key, &parsed->carried, context);
        else
                pairing_set_content(&x->pairing, side, parsed->carried.content, context);
}

/* Where the first bytes of the body of the open call are kept, or of the call of an open part.
 * NULL: nowhere. */
static BodyName *call_body(Exchange *x, guint side, BodyKind kind, const CaptureContext *context)
{
        MessageInProgress *m = &x->pairing.message[side];
        if (x->side[side].part)
                return streams_body(&x->pairing, side, m->number, context);
        if (!m->body && kind && m->kind == KIND_CALL && !m->written)
                m->body = pairing_body_new(kind, m->label, context);
        return m->body;
}

/* What the label of the open call goes on with, and its body. Of the settled bytes, n are at hand.
 */
static void take_name(Exchange *x, guint side, const guint8 *bytes, gsize n, const Parsed *parsed,
                      const CaptureContext *context)
{
        const Named *named = &parsed->named;
        MessageInProgress *m = &x->pairing.message[side];
        BodyName *body = named->body ? call_body(x, side, (BodyKind)named->body, context) : NULL;
        if (named->name && label_is_unnamed(m->label)) {
                g_autofree char *name = g_strndup((const char *)named->name, named->n);
                message_name(m, name);
        }
        if (!body)
                return;
        guint64 length = parsed->length - named->body_from - named->after;
        gsize from = MIN(n, named->body_from), shown = (gsize)MIN(length, n - from);
        body_name_add(body, bytes + from, shown, FALSE);
        x->side[side].body = length - shown;
}

/* Takes over what the parser has found out about the open message, whether or not it ends here. */
static void stretch_take_facts(Exchange *x, guint side, const Stretch *b, const Parsed *parsed,
                               const CaptureContext *context)
{
        MessageInProgress *m = &x->pairing.message[side];
        m->transaction = parsed->transaction != FALSE;
        if (parsed->outcome)
                m->outcome = parsed->outcome;
        if (parsed->headers.bytes)
                streams_fields(&x->pairing, side, parsed, context);
        if (parsed->carried.content)
                take_content(x, side, parsed, context);
        if (parsed->length == PARSE_FOREVER && m->end != END_BY_CLOSE)
                pairing_set_end(&x->pairing, side, END_BY_CLOSE, context);
        x->side[side].body = 0;
        if (parsed->named.name || parsed->named.body)
                take_name(x, side, b->bytes + b->at, b->n - b->at, parsed, context);
        take_values(x, side, b->bytes + b->at, (gsize)MIN(parsed->length, b->n - b->at),
                    parsed->length, context);
        take_tags(x, side, b->bytes + b->at, (gsize)MIN(parsed->length, b->n - b->at), context);
}

/* Takes the bytes that the parser has settled. Settled bytes that have yet to come are skipped. */
static void stretch_settle(Exchange *x, guint side, Stretch *b, ParseStatus status,
                           const Parsed *parsed, const CaptureContext *context)
{
        ExchangeSide *s = &x->side[side];
        gsize used = (gsize)MIN(parsed->length, b->n - b->at), piece = b->at + parsed->piece;
        if (status == PARSE_PIECE)
                pairing_piece_begin(&x->pairing, side, b->seq + (guint32)piece, parsed->endless,
                                    *stretch_stamp(b, s, piece), context);
        b->at += used;
        if (used && !s->aside) {
                pairing_grow(&x->pairing, side, b->stamp, context);
                pairing_count(&x->pairing, side, used - MIN(used, parsed->framing));
        }
        s->skip = parsed->length == PARSE_FOREVER ? PARSE_FOREVER : parsed->length - used;
        s->piece = status == PARSE_PIECE;
        s->ends_after_skip = status == PARSE_MESSAGE;
}

/* The message goes on: the bytes that are not settled wait for more. */
static Step stretch_wait(Exchange *x, guint side, const Stretch *b, const CaptureContext *context)
{
        ExchangeSide *s = &x->side[side];
        if (s->skip)
                return STEP_DONE;
        if (!side_has_room(s, b->n - b->at, context)) {
                not_mine(x, side, b->stamp, context);
                return STEP_DONE;
        }
        side_keep(s, b->bytes + b->at, b->n - b->at, context);
        s->arrived = b->stamp;
        return STEP_KEPT;
}

static Step stretch_end_piece(Exchange *x, guint side, const CaptureContext *context)
{
        if (x->side[side].skip)
                return STEP_DONE;
        parsing_piece_end(x, side, context);
        return STEP_NEXT;
}

/* A whole message carries contents: a return brings them out of a queue; any other message puts
 * them into one, or passes them on. */
static void take_contents(Exchange *x, guint side, const Carried *carried,
                          const CaptureContext *context)
{
        if (carried->puts) {
                pairing_put(&x->pairing, side, carried, context);
                return;
        }
        if (x->pairing.message[side].kind == KIND_RETURN) {
                pairing_deliver(&x->pairing, side, carried, context);
                return;
        }
        if (carried->job)
                message_name(&x->pairing.message[side], carried->job);
        for (guint i = 0; i < carried->n_contents; i++)
                pairing_link(&x->pairing, side, carried->contents[i], side != x->pairing.client,
                             context);
}

/* The message ends with the settled bytes. */
static Step stretch_end_message(Exchange *x, guint side, const Stretch *b, Parsed *parsed,
                                const CaptureContext *context)
{
        ExchangeSide *s = &x->side[side];
        Carried *carried = &parsed->carried;
        if (carried->settles) {
                if (pairing_settle_taken(&x->pairing, side, carried, context))
                        carried->fetch = FETCH_SETTLE;
        } else if (carried->n_contents > 0 || carried->puts) {
                take_contents(x, side, carried, context);
        }
        x->pairing.message[side].fetch = carried->fetch;
        if (s->skip) {
                s->switches_after_skip = parsed->switches != FALSE;
                return STEP_DONE;
        }
        message_end(x, side, parsed->switches, parsed->next, b->stamp, context);
        return parsed->switches ? STEP_SWITCHES : STEP_NEXT;
}

gsize parsing_bytes(Exchange *x, guint side, Stretch *b, const CaptureContext *context)
{
        ExchangeSide *s = &x->side[side];
        Step step = STEP_NEXT;
        while (step == STEP_NEXT && b->at < b->n) {
                Parsed parsed = { .other = x->side[!side].state,
                                  .names = context->names,
                                  .memory = &x->memory,
                                  .prepared = context->prepared,
                                  .sender = parsing_sender(x, side),
                                  .cut = b->cut != FALSE };
                if (s->lost && !stretch_find_boundary(x, side, b, context))
                        break;
                if (!x->pairing.message[side].open)
                        pairing_open(&x->pairing, side, stretch_seq(b), stretch_stamp(b, s, b->at),
                                     context);
                ParseStatus status = stretch_parse(x, side, b, &parsed, context);
                if (!stretch_begin_message(x, side, b, status, &parsed, context)) {
                        step = stretch_refuse(x, side, b, context);
                        continue;
                }
                stretch_take_facts(x, side, b, &parsed, context);
                stretch_settle(x, side, b, status, &parsed, context);
                step = status == PARSE_MORE    ? stretch_wait(x, side, b, context)
                       : status == PARSE_PIECE ? stretch_end_piece(x, side, context)
                                               : stretch_end_message(x, side, b, &parsed, context);
        }
        if (step != STEP_KEPT)
                s->buffered = 0;
        if (step == STEP_SWITCHES)
                s->seq = stretch_seq(b);
        return step == STEP_SWITCHES ? b->at : b->n;
}

/* n bytes of side are skipped, of which the first seen are at hand. */
static void skip_body(Exchange *x, guint side, const guint8 *bytes, gsize seen, gsize n,
                      const CaptureContext *context)
{
        ExchangeSide *s = &x->side[side];
        gsize length = (gsize)MIN(s->body, n), shown = MIN(seen, length);
        BodyName *body = call_body(x, side, BODY_OTHER, context);
        if (body)
                body_name_add(body, bytes, shown, shown < length);
        s->body -= length;
}

gsize parsing_skip(Exchange *x, guint side, const guint8 *bytes, gsize seen, gsize n, Stamp stamp,
                   const CaptureContext *context)
{
        ExchangeSide *s = &x->side[side];
        gsize skipped = (gsize)MIN(s->skip, n);
        if (skipped == 0)
                return 0;
        if (s->body > 0)
                skip_body(x, side, bytes, seen, skipped, context);
        if (s->skip != PARSE_FOREVER)
                s->skip -= skipped;
        if (stamp.packet && !s->aside)
                pairing_grow(&x->pairing, side, stamp, context);
        if (!s->aside)
                pairing_count(&x->pairing, side, skipped);
        if (s->skip == 0 && s->ends_after_skip)
                message_end(x, side, s->switches_after_skip, NULL, stamp, context);
        else if (s->skip == 0 && s->piece)
                parsing_piece_end(x, side, context);
        return skipped;
}

/* The headers of records were cut off, so nobody knows where the next record begins. */
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

gsize parsing_hidden(Exchange *x, guint side, guint32 seq, gsize n, Stamp stamp,
                     const CaptureContext *context)
{
        ExchangeSide *s = &x->side[side];
        gsize taken = parsing_skip(x, side, NULL, 0, n, stamp, context);
        if (taken > 0)
                return taken;
        if (x->protocol == &protocol_tls)
                cut_records(x, side, seq, n, stamp, context);
        else if (!s->lost && x->protocol->keyed) {
                x->pairing.cut = TRUE;
                parsing_lose(x, side, context);
        } else if (!s->lost)
                parsing_cut(x, side, seq - s->buffered, s->buffer, s->buffered, s->buffered + n,
                            stamp, context);
        else if (x->pairing.message[side].open) {
                pairing_grow(&x->pairing, side, stamp, context);
                pairing_count(&x->pairing, side, n);
        }
        return n;
}

gboolean parsing_owes_returns(const Exchange *x)
{
        return x->protocol->parse && x->protocol != &protocol_tls && !x->protocol->mutual;
}

void parsing_end(Exchange *x, guint side, Stamp stamp, const CaptureContext *context)
{
        ExchangeSide *s = &x->side[side];
        MessageInProgress *m = &x->pairing.message[side];
        Parsed parsed = { .other = x->side[!side].state, .memory = &x->memory };
        gboolean unfinished = !s->lost && s->skip > 0;
        if (m->open && !s->lost && (s->skip == 0 || s->skip == PARSE_FOREVER)) {
                ParseStatus status =
                        x->protocol->parse(s->state, pairing_call(&x->pairing, side), s->buffer,
                                           s->buffered, TRUE, NULL, &parsed);
                unfinished = parsed.unfinished || status == PARSE_MORE;
                if (status == PARSE_NOT_MINE || m->kind == KIND_UNKNOWN) {
                        account_add(context->account, ACCOUNT_UNPARSED);
                        pairing_abandon(&x->pairing, side, context);
                }
        }
        if (unfinished && parsing_owes_returns(x))
                pairing_cut_short(&x->pairing, side, context);
        run_end_by_goodbye(x, side, context);
        pairing_end(&x->pairing, side, stamp, context);
        streams_side_end(&x->pairing, side, parsing_owes_returns(x), stamp, context);
        s->part = 0;
        memset(s->state, 0, sizeof s->state);
        s->skip = 0;
        side_drop_buffer(s, context);
}
