/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A run is what one side sends until the other side sends. A connection is in one of three states,
 * and Exchange.protocol says in which:
 *
 * - undecided (NULL): no protocol has recognised it. The first bytes of each run are shown to
 *   every protocol. If one asks for more they are buffered. If none recognises them the run is a
 *   message by the generic rule (run.h), and the next run is tried;
 * - parsed (a row of protocols[]): the protocol's parser is shown the bytes of both sides
 *   (parsing.h);
 * - generic (&protocol_generic): every run is a message.
 *
 * A new connection is undecided, unless --proto names the protocol of one of its ports. It goes
 * from one state to another as follows:
 *
 * - undecided to parsed: a protocol recognises the first bytes of a run;
 * - undecided to generic: nobody has recognised MAX_PROBES runs, or cut runs look like TLS, or
 *   like talk that is no calls (cut-run.h);
 * - parsed to another protocol, or to undecided: a message says that the connection speaks
 *   something else after it (STARTTLS, an upgrade of HTTP);
 * - parsed to undecided: the parser refuses bytes before messages of both sides have fitted. Until
 *   then the protocol is on trial (choice.h): its messages are kept, to become runs again;
 * - parsed to generic: the same where --proto named the protocol, or after MAX_PROBES choices, or
 *   where a choice cannot be taken back (TLS, cut packets). Or cut packets hide where records of
 *   TLS begin, or show that runs are no calls. If --proto named the protocol and the start was not
 *   seen, the refused bytes may be the rest of a message: the side is then lost instead.
 *
 * If TLS is opened, a new Exchange begins with the bytes inside (connection.c).
 *
 * In the parsed state a side is in step with its parser, or in one of these states. by_run is a
 * special case of lost:
 *
 * - skip > 0: the next bytes belong to the open message, and the parser need not see them;
 * - lost: after a hole, after bytes that the parser refused, or, if messages are paired by key,
 *   after cut bytes. The next boundary between messages is looked for. An open call or return goes
 *   on until then, or until the other side begins one. Any other open message is dropped;
 * - by_run: the snapshot length has cut bytes that the parser had to see, so nobody knows where
 *   its message ends. The message goes on until the other side calls or answers. Then the parser
 *   begins anew. From then on Pairing.cut stays set.
 *
 * Datagrams change no state: each is shown to all protocols, and is one-way if none knows it.
 *
 * Which side calls is known from the connection's opening, or from its ports and names
 * (connection.c). The first call or return that a parser sees corrects that.
 */
#include "capture/exchange.h"

#include <string.h>

#include "capture/choice.h"
#include "capture/parsing.h"
#include "capture/protocol/tls.h"
#include "capture/run.h"
#include "capture/streams.h"

/* How cut runs are to be understood on a connection of this protocol: see cut-run.h. */
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
        x->pairing.opener = start_seen ? (guint8)client : NO_SIDE;
        x->run = NO_SIDE;
        x->start_seen = start_seen != FALSE;
        x->decided = protocol != NULL;
        if (protocol)
                x->talk.kind = talk_of(protocol, start_seen);
        if (protocol && protocol->find_boundary && protocol != &protocol_tls)
                choice_try(&x->pairing);
}

/* --- undecided ------------------------------------------------------------- */

/* The protocol that recognises data of side: it settles some, and the side may send that. NULL:
 * none does; *more: one may when more bytes have come. Generic and TLS are never tried. */
static const Protocol *exchange_probe(const Exchange *x, guint side, const guint8 *data, gsize n,
                                      gboolean whole, gboolean datagrams, gboolean *more)
{
        *more = FALSE;
        for (guint i = 0; protocols[i]; i++) {
                guint64 state[PROTOCOL_STATE_SIZE / 8] = { 0 };
                Parsed parsed = { .sender = datagrams ? SENDER_ANY : parsing_sender(x, side) };
                if (protocols[i]->datagrams != datagrams || (x->refused & 1u << i))
                        continue;
                ParseStatus status =
                        protocols[i]->parse(state, CALL_PROBE, data, n, whole, NULL, &parsed);
                if (status != PARSE_NOT_MINE && parsed.length > 0 && parsed.kind != KIND_NOTHING &&
                    parsing_may_send(x, side, protocols[i], &parsed))
                        return protocols[i];
                *more |= status == PARSE_MORE;
        }
        return NULL;
}

/* The protocol is known. A run of the other side that came before ends here as a message. It is
 * dropped if it was a greeting (Protocol.greets), or the rest of a message whose beginning was not
 * seen. Where packets were cut, its message goes on by run. It is dropped if messages are paired by
 * key (Protocol.keyed). */
static void exchange_adopt(Exchange *x, const Protocol *protocol, Stamp now,
                           const CaptureContext *context)
{
        gboolean greeting = protocol->greets && x->start_seen && x->run != x->pairing.client;
        x->protocol = protocol;
        x->talk.kind = talk_of(protocol, x->start_seen);
        x->talk.runs = MAX(x->talk.runs, 1);
        if (x->run == NO_SIDE)
                return;
        if (x->pairing.cut && protocol->keyed) { /* a run is no message here */
                pairing_abandon(&x->pairing, x->run, context);
                x->side[x->run].lost = TRUE;
        } else if (x->pairing.cut) { /* the parser will say whether its message ends */
                ExchangeSide *s = &x->side[x->run];
                s->lost = s->by_run = x->pairing.message[x->run].open;
        } else if ((greeting || !x->start_seen) && x->probes <= 1) {
                account_add(context->account, greeting ? ACCOUNT_SESSION : ACCOUNT_BEFORE_BOUNDARY);
                if (greeting) /* a greeting is no message */
                        pairing_account(&x->pairing, x->run, TRUE);
                pairing_abandon(&x->pairing, x->run, context);
        } else {
                pairing_end(&x->pairing, x->run, now, context);
        }
        x->run = NO_SIDE;
}

/* A protocol has recognised a run of side, and is on trial (choice.h), but for TLS and cut packets.
 * So is the run of the other
 * side before it if that may be dropped. */
static void exchange_try(Exchange *x, const Protocol *protocol, guint side, guint32 seq, gsize n,
                         gboolean cut, Stamp stamp, const CaptureContext *context)
{
        Pairing *p = &x->pairing;
        const MessageInProgress *before = &p->message[!side], *m = &p->message[side];
        x->fitted = 0;
        if (x->run == !side && before->kind == KIND_RETURN && p->calls.n_of[side] > 0) {
                pairing_end(p, !side, stamp, context); /* it answers a call, and so is no rest */
                x->run = NO_SIDE;
        }
        if (p->cut || cut || protocol == &protocol_tls)
                return;
        x->role_known = x->parsed;
        choice_try(p);
        if (x->run == !side && before->open && !before->written) {
                if (before->kind == KIND_CALL)
                        choice_include_call(p);
                choice_see(p, !side, before->seq, before->bytes, before->first, before->last,
                           context);
        }
        choice_see(p, side, seq, n, m->open ? m->first : stamp, stamp, context);
}

/* Takes n bytes of side while no protocol is known. old: how many of them came earlier and were
 * buffered. *hidden: in, bytes cut off after them; out, the part of these not taken yet. Returns
 * how many of the n bytes were taken. */
static gsize exchange_take_undecided(Exchange *x, guint side, const guint8 *bytes, gsize n,
                                     gsize old, gsize *hidden, guint32 seq, Stamp stamp,
                                     const CaptureContext *context)
{
        ExchangeSide *s = &x->side[side];
        gsize length = n + *hidden;
        gboolean more = FALSE;
        /* The other side's run is over, and nobody has recognised it. */
        run_take_buffer(x, !side, stamp, context);
        if (x->run == side) { /* only the first bytes of a run are shown to protocols */
                run_take(x, side, seq, bytes, n, length, stamp, stamp, context);
                *hidden = 0;
                return n;
        }
        const Protocol *found =
                n > 0 ? exchange_probe(x, side, bytes, n, FALSE, FALSE, &more) : NULL;
        if (found) {
                exchange_try(x, found, side, seq, length, *hidden > 0, stamp, context);
                exchange_adopt(x, found, stamp, context);
                Stretch stretch = { .bytes = bytes,
                                    .n = n,
                                    .old = old,
                                    .cut = *hidden > 0,
                                    .seq = seq,
                                    .stamp = stamp };
                return parsing_bytes(x, side, &stretch, context);
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

/* Takes n bytes of side, and the hidden ones that were cut off after them, whatever the state. If
 * a pass takes nothing the protocol has changed, and a refused one is not asked again. */
static void exchange_take(Exchange *x, guint side, const guint8 *bytes, gsize n, gsize hidden,
                          Stamp stamp, const CaptureContext *context)
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
                        taken = exchange_take_undecided(x, side, bytes, n, old, &hidden, seq, stamp,
                                                        context);
                } else if (x->protocol == &protocol_generic) {
                        run_take(x, side, seq, bytes, n, n + hidden, stamp, stamp, context);
                        hidden = 0;
                } else if (n > 0) {
                        Stretch stretch = { .bytes = bytes,
                                            .n = n,
                                            .old = old,
                                            .cut = hidden > 0,
                                            .seq = seq,
                                            .stamp = stamp };
                        taken = parsing_bytes(x, side, &stretch, context);
                } else {
                        gsize passed = parsing_hidden(x, side, seq, hidden, stamp, context);
                        hidden -= passed;
                        seq += (guint32)passed;
                }
                bytes += taken;
                n -= taken;
                old -= MIN(old, taken);
                seq += (guint32)taken;
        }
        side_trim_buffer(s, context);
}

/* --- from outside ---------------------------------------------------------- */

void exchange_bytes(Exchange *x, guint side, guint32 seq, const guint8 *bytes, gsize n,
                    gsize length, Stamp stamp, const CaptureContext *context)
{
        ExchangeSide *s = &x->side[side];
        x->talked |= (guint8)(1 << side);
        if (G_UNLIKELY(x->pairing.trial) &&
            (n < length || !choice_see(&x->pairing, side, seq, length, stamp, stamp, context)))
                parsing_end_trial(x, context);
        if (s->by_run) {
                parsing_cut_goes_on(x, side, bytes, n, length, stamp, context);
        } else if (x->pairing.by_run && parsing_answers_run(x, side)) {
                parsing_cut(x, side, seq, bytes, n, length, stamp, context);
        } else {
                gsize skipped =
                        s->skip ? parsing_skip(x, side, bytes, n, length, stamp, context) : 0;
                gsize seen = MIN(skipped, n);
                s->seq = seq + (guint32)skipped;
                if (skipped < length)
                        exchange_take(x, side, bytes + seen, n - seen, length - MAX(skipped, n),
                                      stamp, context);
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
        parsing_end_trial(x, context);
        gsize skipped = parsing_skip(x, side, NULL, 0, n, nobody, context);
        s->seq = seq + (guint32)skipped;
        if (skipped < n)
                exchange_doubt_returns(x, side);
        if (skipped < n && (!x->protocol || x->protocol == &protocol_generic)) {
                run_take_buffer(x, !side, x->side[!side].arrived, context);
                run_take_buffer(x, side, nobody, context);
                run_extend(x, side, s->seq, n - skipped, KIND_BY_SIDE, NULL, nobody, context);
        } else if (skipped < n) {
                parsing_turn(x, side, KIND_UNKNOWN, nobody, context);
                if (!s->lost) {
                        if (side == p->client && !p->order.pipelined && !p->message[side].open)
                                pairing_forget_calls(
                                        p, context); /* it calls again, so it has its returns */
                        parsing_lose(x, side, context);
                        s->holed = TRUE;
                        s->by_run = p->cut && p->message[side].open;
                }
        }
        s->seq = seq + (guint32)n;
}

/* --- calls without an answer ----------------------------------------------- */

void exchange_doubt_returns(Exchange *x, guint side)
{
        pairing_doubt_returns(&x->pairing, side);
        streams_doubt_returns(&x->pairing, side);
}

static void exchange_give_up(Exchange *x, guint side, CallEnding how, Stamp stamp,
                             const CaptureContext *context)
{
        pairing_give_up(&x->pairing, side, how, stamp, context);
        streams_give_up(&x->pairing, side, how, stamp, context);
}

/* Gives up the calls by a side that has left, as of then. */
static void exchange_give_up_left(Exchange *x, guint side, const CaptureContext *context)
{
        const MessageInProgress *m = &x->pairing.message[side];
        if (m->left)
                exchange_give_up(x, side, (CallEnding)m->left, m->last, context);
}

/* Side sends no more, so calls by the other side get no return. Calls by this side still may: they
 * are given up once the other side ends, or is silent for too long, as of this stamp. */
static void exchange_leave(Exchange *x, guint side, CallEnding how, Stamp stamp,
                           const CaptureContext *context)
{
        Pairing *p = &x->pairing;
        MessageInProgress *m = &p->message[side];
        if (p->message[!side].left) {
                exchange_give_up_left(x, !side, context);
                return;
        }
        exchange_give_up(x, !side, how, stamp, context);
        if (p->calls.n_of[side] == 0 && !p->streams)
                return;
        m->left = (guint8)how;
        m->first = m->last = stamp;
        sequencer_open(context->sequencer, &m->item, stamp.time);
}

void exchange_end(Exchange *x, guint side, CallEnding how, Stamp stamp,
                  const CaptureContext *context)
{
        if (x->pairing.trial && (x->pairing.trial->doubted || x->pairing.calls.n_of[!side]))
                parsing_end_trial(x, context);
        if (x->protocol && x->protocol != &protocol_generic) {
                parsing_end(x, side, stamp, context);
                if (x->pairing.logins && x->pairing.calls.n == 0)
                        pairing_give_logins(&x->pairing, context);
                if (parsing_owes_returns(x))
                        exchange_leave(x, side, how, stamp, context);
                return;
        }
        run_take_buffer(x, side, stamp, context);
        if (x->run == side) {
                run_end_by_goodbye(x, side, context);
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
                x->protocol ? x->protocol
                            : exchange_probe(x, side, bytes, n, n == length, TRUE, &more);
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
        p->message[side].outcome = parsed.outcome;
        if (pairing_begin(p, side, parsed.kind, END_BY_CONTENT, &parsed, stamp, context))
                pairing_end(p, side, stamp, context);
        else
                pairing_abandon(p, side, context);
}

void exchange_settle(Exchange *x, guint side, Stamp stamp, const CaptureContext *context)
{
        if (!x->protocol || x->protocol == &protocol_generic)
                run_take_buffer(x, side, stamp, context);
        if (x->pairing.message[side].left)
                exchange_give_up_left(x, side, context);
        else
                pairing_settle(&x->pairing, side, context);
}

void exchange_end_trial(Exchange *x, const CaptureContext *context)
{
        parsing_end_trial(x, context);
}

void exchange_clear(Exchange *x, Stamp stamp, const CaptureContext *context)
{
        Pairing *p = &x->pairing;
        parsing_end_trial(x, context);
        guint first = p->client == 1; /* calls are settled before their returns */
        for (guint i = 0; i < 2; i++) {
                guint side = first ^ i;
                MessageInProgress *m = &p->message[side];
                if (!x->protocol || x->protocol == &protocol_generic)
                        run_take_buffer(x, side, stamp, context);
                if (m->open && m->kind != KIND_UNKNOWN &&
                    (m->kind != KIND_RETURN || m->end != END_BY_CONTENT))
                        pairing_end(p, side, m->last, context);
        }
        exchange_give_up_left(x, 0, context);
        exchange_give_up_left(x, 1, context);
        streams_clear(p, context);
        pairing_clear(p, context);
        parsing_forget(x);
        side_drop_buffer(&x->side[0], context);
        side_drop_buffer(&x->side[1], context);
}
