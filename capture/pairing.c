/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/pairing.h"

#include <string.h>

#include "capture/links.h"
#include "capture/protocol/values.h"
#include "capture/settling.h"

enum {
        MAX_ALL_CALLS = 4 << 20, /* that wait for returns, 64 bytes */
        MAX_ALL_TRIALS = 100000, /* messages; then a trial that has another one is passed */
};

/* Less ns, in a message, are not written. */
#define LEAST_PAUSES G_GINT64_CONSTANT(1000000)

/* ns within which the first call follows on the opening of its connection. */
#define AT_ONCE G_GINT64_CONSTANT(100000)

void pairing_init(Pairing *p, const NodeId node[2], const guint16 port[2])
{
        memset(p, 0, sizeof *p);
        memcpy(p->node, node, sizeof p->node);
        memcpy(p->port, port, sizeof p->port);
        p->client = p->opener = NO_SIDE;
        p->opening = (ConnectionOpening){ NO_TIME, NO_TIME, NO_TIME, NO_TIME, NO_TIME };
        p->unacked[0].item.kind = p->unacked[1].item.kind = ITEM_UNACKED;
        p->trial_item.kind = ITEM_TRIAL;
}

static NetworkDelays *delays_of(CapturedMessage *m)
{
        if (!m->delays)
                m->delays = g_new0(NetworkDelays, 1);
        return m->delays;
}

/* Divides the time from the opening of a connection to its first call. The length of the first part
 * is left out where it follows from the others, but for AT_ONCE. */
static void divide_opening(const ConnectionOpening *o, NetworkDelays *d, gint64 call)
{
        gint64 ready = o->ready == NO_TIME ? call : MIN(o->ready, call);
        gint64 secured = CLAMP(o->secured, ready, call); /* NO_TIME is before all */
        gint64 greeted = CLAMP(o->greeted, secured, call);

        d->opened = call - o->asked;
        d->tcp = call - greeted < AT_ONCE ? 0 : MAX(ready - o->asked, 1);
        d->resent = o->again == NO_TIME ? 0 : MIN(o->again, ready) - o->asked;
        d->tls = secured - ready;
        d->login = greeted - secured;
}

void pairing_mark_call(Pairing *p, guint client, CapturedMessage *out,
                       const CaptureContext *context)
{
        if (G_UNLIKELY(p->logins))
                context->account->count[ACCOUNT_SESSION] += held_logins_drop(p->logins);
        if (!p->called) {
                p->called = TRUE;
                p->number = connection_numbers_take(context->numbers, p->node[client],
                                                    p->node[!client], p->port[client], p);
                if (p->opening.asked != NO_TIME && p->opening.asked < out->stamp.time)
                        divide_opening(&p->opening, delays_of(out), out->stamp.time);
        }
        out->connection = p->number;
}

void pairing_doubt_returns(Pairing *p, guint side)
{
        for (guint i = 0; i < p->calls.n; i++)
                if (waiting_call_at(&p->calls, i)->side != side)
                        waiting_call_at(&p->calls, i)->unsure = TRUE;
}

void pairing_doubt(Pairing *p, const CaptureContext *context)
{
        p->counts.doubtful++;
        account_add(context->account, ACCOUNT_CUT_DOUBTFUL);
}

/* --- the order of calls and returns ---------------------------------------- */

void pairing_lose_order(Pairing *p, guint side)
{
        const MessageInProgress *other = &p->message[!side];
        gboolean known = other->open && other->kind == KIND_RETURN && !other->stray;
        if (!p->order.pipelined)
                return;
        if (side != p->client) {
                p->order.sure = 0;
                p->order.answered = TRUE;
        } else if (!p->order.unsure) {
                p->order.sure = p->calls.n - (p->calls.n > 0 && known);
        }
        p->order.unsure = TRUE;
}

/* A call begins. With it the order of calls and returns may be known again. */
static void order_call(Pairing *p, Stamp first, const CaptureContext *context)
{
        gboolean silence =
                p->order.longest > 0 && first.time - p->order.quiet > 2 * p->order.longest;
        if (p->order.unsure && (silence || (p->order.answered && !p->order.overlaps))) {
                pairing_forget_calls(p, context);
                p->order.unsure = FALSE;
        }
        if (p->calls.n > 0 || p->calls.beyond > 0) {
                p->order.pipelined = TRUE;
                p->order.overlaps |= p->order.answered && !p->order.unsure;
        }
        p->order.answered = FALSE;
}

/* The return in m begins. Says in m whether it is known which call it answers. */
static void order_return(Pairing *p, MessageInProgress *m)
{
        m->stray = p->order.unsure && p->order.sure == 0;
        if (p->order.sure > 0)
                p->order.sure--;
}

/* Takes the call that the return in m, by side, answers. FALSE: there is none, and the return is
 * counted. */
static gboolean call_answered(Pairing *p, guint side, const MessageInProgress *m, WaitingCall *call,
                              const CaptureContext *context)
{
        gint index =
                m->stray ? -1 : waiting_calls_find(&p->calls, side, m->keyed, m->key, m->topic);
        p->order.answered = TRUE;
        if (index >= 0) {
                *call = waiting_calls_take(&p->calls, (guint)index);
                p->order.longest = MAX(p->order.longest, m->last.time - call->time);
                p->counts.shifted += !m->keyed && p->calls.n == 1;
                p->counts.drained += !m->keyed && p->calls.n == 0;
                p->heard[side] = FALSE;
                if (G_UNLIKELY(p->message[!side].left) && p->calls.n_of[!side] == 0)
                        sequencer_close(&p->message[!side].item);
                return TRUE;
        }
        gboolean beyond = !m->stray && !m->keyed && p->calls.beyond > 0;
        p->calls.beyond -= beyond;
        if (p->cut) /* its call was among the bytes that were cut off */
                pairing_doubt(p, context);
        account_add(context->account,
                    m->stray || beyond ? ACCOUNT_ORDER_LOST : ACCOUNT_RETURN_WITHOUT_CALL);
        return FALSE;
}

void held_up_put(const HeldUp *h, gint64 resent, CapturedMessage *out)
{
        gint64 pause = h->pause < LEAST_PAUSES ? 0 : h->pause;

        if (h->stall | h->ack | pause | resent)
                *delays_of(out) = (NetworkDelays){ .stall = h->stall,
                                                   .shut = h->shut,
                                                   .ack = h->ack,
                                                   .pause = pause,
                                                   .resent = resent };
}

/* Writes a return, which may be sent again. */
static void return_hold(Pairing *p, guint side, const CapturedMessage *out,
                        const CaptureContext *context)
{
        UnackedReturn *u = &p->unacked[side];

        if (!p->datagrams) {
                sequencer_open(context->sequencer, &u->item, out->stamp.time);
                u->fresh = TRUE;
        }
        u->message = sequencer_add(context->sequencer, out);
}

/* A login or its answer, which may be a call or a return. Otherwise it is of the session. */
static void login_write(Pairing *p, guint side, SessionCall session, CapturedMessage *out,
                        const CaptureContext *context)
{
        MessageInProgress *m = &p->message[side];
        if (session == SESSION_UNLESS_LAST) {
                if (!p->logins)
                        p->logins = held_logins_new(ITEM_LOGINS);
                if (p->logins->n == 0 && !p->called && p->opening.asked != NO_TIME &&
                    p->opening.asked < out->stamp.time)
                        divide_opening(&p->opening, delays_of(out), out->stamp.time);
                out->label = g_steal_pointer(&m->label);
                if (held_logins_keep(p->logins, out, context->sequencer))
                        return;
        }
        captured_message_clear(out);
        account_add(context->account, ACCOUNT_SESSION);
}

void pairing_give_logins(Pairing *p, const CaptureContext *context)
{
        HeldLogins *l = g_steal_pointer(&p->logins);
        if (l->n > 0)
                p->opening.asked = NO_TIME; /* the first says it already */
        for (guint i = 0; i < l->n; i++) {
                CapturedMessage *out = &l->messages[i];
                if (out->op == CALL_SENT) {
                        pairing_mark_call(p, p->client == 1, out, context);
                        pairing_give(p, out, context);
                } else {
                        account_add(context->account, ACCOUNT_RETURNS);
                        sequencer_add(context->sequencer, out);
                }
        }
        l->n = 0;
        held_logins_free(l);
}

BodyName *pairing_body_new(BodyKind kind, const char *label, const CaptureContext *context)
{
        gboolean wanted = context->values || (body_may_name(kind) && label_is_unnamed(label)) ||
                          (context->tags && tag_rules_want_json(context->tags));
        return kind && wanted ? body_name_new(kind, &context->memory->bodies) : NULL;
}

void pairing_take_body(BodyName **body, CapturedMessage *call, const CaptureContext *context)
{
        g_autofree char *name = label_is_unnamed(call->label) ? body_name_find(*body) : NULL;
        Cursor bytes;
        gboolean whole;
        BodyKind kind = body_name_kind(*body, &bytes, &whole);

        if (name)
                label_go_on(&call->label, name);
        if (context->tags && kind == BODY_JSON)
                tag_rules_take_json(context->tags, &call->tags, bytes);
        if (context->values) {
                g_string_truncate(context->values, 0);
                values_append_body(context->values, kind, bytes.at, cursor_left(&bytes), whole);
                identifiers_add(context->identifiers, &call->identifiers, call->stamp.time,
                                context->values->str, context->values->len, TRUE);
        }
        body_name_drop(body, &context->memory->bodies);
}

static void message_write(Pairing *p, guint side, const CaptureContext *context)
{
        MessageInProgress *m = &p->message[side];
        CapturedMessage out =
                pairing_message(p, side, CALL_SENT, m->first, p->port[side], m->number);
        WaitingCall call;
        out.bytes = m->bytes;
        out.duration = m->last.time - m->first.time;
        m->written = TRUE;
        sequencer_close(&m->item);
        if (!m->seen)
                return;
        switch ((MessageKind)m->kind) {
        case KIND_CALL:
                if (m->session) {
                        login_write(p, side, (SessionCall)m->session, &out, context);
                        return;
                }
                out.label = g_steal_pointer(&m->label);
                out.identifiers = g_steal_pointer(&m->identifiers);
                out.tags = g_steal_pointer(&m->tags);
                if (m->body)
                        pairing_take_body(&m->body, &out, context);
                out.link = m->link;
                out.fetch = m->fetch;
                if (m->fetch == FETCH_WAIT)
                        waiting_calls_excuse(&p->calls, side);
                held_up_write(&m->held_up, 0, &out);
                pairing_mark_call(p, side, &out, context);
                if (m->several)
                        pairing_doubt(p, context);
                if (m->unseen)
                        account_add(context->account, ACCOUNT_CUT_UNSEEN);
                break;
        case KIND_RETURN:
                m->lost = !call_answered(p, side, m, &call, context);
                if (m->lost)
                        return;
                out.op = RET_SENT;
                out.stamp = m->last;
                out.port = p->port[!side];
                out.number = call.number;
                out.transaction = m->transaction;
                out.outcome = m->outcome;
                if (call.session) {
                        login_write(p, side, (SessionCall)call.session, &out, context);
                        return;
                }
                held_up_write(&m->held_up, call.resent, &out);
                account_add(context->account, ACCOUNT_RETURNS);
                pairing_pass_trial(p, context); /* its call is given out before it */
                return_hold(p, side, &out, context);
                return;
        case KIND_ONE_WAY:
                out.op = MSG_SENT;
                out.has_id = !p->datagrams;
                out.label = g_steal_pointer(&m->label);
                out.link = m->link;
                if (p->client == NO_SIDE && !p->datagrams) {
                        account_add(context->account, ACCOUNT_ROLE_UNKNOWN);
                        context->account->unclear_port[MIN(p->port[0], p->port[1])]++;
                }
                break;
        case KIND_INTERIM:
                account_add(context->account, ACCOUNT_INTERIM);
                return;
        case KIND_SESSION:
                account_add(context->account, ACCOUNT_SESSION);
                return;
        case KIND_NOTHING:
        case KIND_CONTROL:
        case KIND_BY_SIDE:
        case KIND_UNKNOWN:
                return;
        }
        if (G_UNLIKELY(p->trial) &&
            context->memory->trials < capture_memory_share(context->memory, MAX_ALL_TRIALS) &&
            trial_keep(p->trial, &out)) {
                context->memory->trials++;
                return;
        }
        pairing_pass_trial(p, context);
        pairing_give(p, &out, context);
}

/* --- pieces ---------------------------------------------------------------- */

void pairing_piece_write(gpointer user, const Piece *piece)
{
        const PieceUser *u = user;
        Pairing *p = u->pairing;
        CapturedMessage out = pairing_message(p, u->side, MSG_SENT, piece->first, p->port[u->side],
                                              piece->number);
        out.duration = piece->last.time - piece->first.time;
        sequencer_add(u->context->sequencer, &out);
        account_add(u->context->account, ACCOUNT_ONE_WAY);
        pairing_account(p, u->side, TRUE);
}

static void message_settle_pieces(Pairing *p, guint side, const CaptureContext *context)
{
        PieceUser user = { p, side, context };
        if (p->message[side].pieces)
                pieces_settle(p->message[side].pieces, pairing_piece_write, &user);
}

/* Puts the open item at the earliest stamp that the message may get. */
static void item_stand(MessageInProgress *m, const CaptureContext *context)
{
        if (m->written || !m->seen)
                return;
        if (m->kind == KIND_UNKNOWN || m->kind == KIND_CALL || m->kind == KIND_ONE_WAY)
                sequencer_open(context->sequencer, &m->item, m->first.time);
        else if (m->kind == KIND_RETURN && m->end != END_BY_CONTENT)
                sequencer_open(context->sequencer, &m->item, m->last.time);
        else
                sequencer_close(&m->item);
}

/* The same, if one of its pieces may be written before. */
static void message_item_update(MessageInProgress *m, const CaptureContext *context)
{
        gint64 time;
        if (m->pieces && pieces_time(m->pieces, &time))
                sequencer_open(context->sequencer, &m->item, time);
        else
                item_stand(m, context);
}

/* The message goes on at stamp. */
static void message_go_on(MessageInProgress *m, Stamp stamp)
{
        if (!stamp_before(m->last, stamp))
                return;
        m->last = stamp;
        if (m->gap) {
                held_up_add(&m->held_up, m->gap_cause, m->gap);
                m->gap = 0;
        }
}

static void message_see(MessageInProgress *m, Stamp stamp)
{
        if (!m->seen || stamp_before(stamp, m->first))
                m->first = stamp;
        if (!m->seen)
                m->last = stamp;
        else
                message_go_on(m, stamp);
        m->seen = TRUE;
}

void pairing_set_content(Pairing *p, guint side, guint64 content, const CaptureContext *context)
{
        MessageInProgress *m = &p->message[side];
        if (!context->identifiers || m->kind != KIND_CALL || m->written)
                return;
        m->link = link_table_add(context->links, content, p->node[side], p->port[side],
                                 (guint32)m->number);
        m->link.relay = TRUE;
}

void pairing_link(Pairing *p, guint side, guint64 content, gboolean known,
                  const CaptureContext *context)
{
        MessageInProgress *m = &p->message[side];
        Link link;

        if (m->written || p->datagrams)
                return;
        link = known ? link_table_find(context->links, content, p->node[side])
                     : link_table_add(context->links, content, p->node[side], p->port[side],
                                      (guint32)m->number);
        if (!m->link.some)
                m->link = link;
}

void pairing_deliver(Pairing *p, guint side, const Carried *carried, const CaptureContext *context)
{
        const MessageInProgress *m = &p->message[side];
        gint call = waiting_calls_find(&p->calls, side, m->keyed, m->key, m->topic);
        guint64 number = call < 0 ? m->number : waiting_call_at(&p->calls, (guint)call)->number;
        CapturedMessage out = pairing_message(p, side, MSG_SENT, m->last, p->port[!side], 0);
        out.connection = p->number;
        if (!m->seen)
                return;
        for (guint i = 0; i < carried->n_contents; i++) {
                guint64 content = carried->contents[i], tag = carried->tags ? carried->tags[i] : 0;
                gboolean settled;

                out.number = number + i;
                out.link.some = FALSE;
                if (carried->contents_else &&
                    !link_table_find(context->links, content, NO_NODE).some)
                        out.link =
                                link_table_find(context->links, carried->contents_else[i], NO_NODE);
                if (!out.link.some)
                        out.link =
                                carried->was_waited
                                        ? link_table_add(context->links, content, p->node[!side],
                                                         out.port, (guint32)out.number)
                                        : link_table_find(context->links, content, p->node[!side]);
                if (!out.link.some)
                        continue;
                settled = tag && settling_take(context->settling, out.sender, out.receiver, tag,
                                               out.port, (guint32)out.number);
                out.op = settled ? CALL_SENT : MSG_SENT;
                if (carried->job && context->label)
                        out.label = g_strconcat("deliver ", carried->job, NULL);
                sequencer_add(context->sequencer, &out);
                account_add(context->account, settled ? ACCOUNT_CALLS : ACCOUNT_ONE_WAY);
        }
}

void pairing_put(Pairing *p, guint side, const Carried *carried, const CaptureContext *context)
{
        MessageInProgress *m = &p->message[side];
        guint caller = side ^ (m->kind == KIND_RETURN);
        guint64 number = m->number;
        if (m->kind == KIND_RETURN) {
                gint call = waiting_calls_find(&p->calls, side, m->keyed, m->key, m->topic);
                if (call < 0)
                        return;
                number = waiting_call_at(&p->calls, (guint)call)->number;
        }
        Link link = { .number = (guint32)number, .port = p->port[caller], .some = TRUE };
        if (m->kind != KIND_RETURN && !m->written)
                m->link = link;
        for (guint i = 0; i < carried->n_contents; i++)
                link_table_set(context->links, carried->contents[i], p->node[caller], link);
}

/* Writes the return of a message that was taken out of a queue. The open message of side settles
 * it with its last byte. */
static void settled_write(Pairing *p, guint side, Link link, const CaptureContext *context)
{
        CapturedMessage out =
                pairing_message(p, side, RET_SENT, p->message[side].last, link.port, link.number);

        sequencer_add(context->sequencer, &out);
        account_add(context->account, ACCOUNT_RETURNS);
}

gboolean pairing_settle_taken(Pairing *p, guint side, const Carried *carried,
                              const CaptureContext *context)
{
        NodeId consumer = p->node[side], queue = p->node[!side];
        gboolean any = FALSE;

        for (guint i = 0; p->message[side].seen && i < carried->n_contents; i++) {
                guint64 tag = carried->contents[i];
                Link link;

                if (carried->settles != SETTLES) {
                        any |= settling_has(context->settling, queue, consumer, tag);
                        continue;
                }
                link = settling_settle(context->settling, queue, consumer, tag);
                if (link.some)
                        settled_write(p, side, link, context);
                any |= link.some;
        }
        return any;
}

void pairing_open(Pairing *p, guint side, guint32 seq, const Stamp *stamp,
                  const CaptureContext *context)
{
        MessageInProgress *m = &p->message[side];
        g_assert(!m->open);
        m->open = TRUE;
        m->kind = KIND_UNKNOWN;
        m->end = END_BY_CONTENT;
        m->lost = m->seen = m->written = m->keyed = m->session = m->stray = m->beyond = m->by_run =
                m->several = m->unseen = m->transaction = m->fetch = FALSE;
        m->link.some = FALSE;
        m->topic = 0;
        m->bytes = 0;
        m->outcome = OUTCOME_OK;
        m->held_up = (HeldUp){ .stall = p->stall[side] };
        m->gap = 0;
        m->seq = seq;
        m->number = seq;
        if (stamp) {
                m->first = m->last = *stamp;
                m->first.time -= p->stall[side]; /* it was sent before what has waited for it */
                m->seen = TRUE;
                sequencer_open(context->sequencer, &m->item, m->first.time);
        }
}

/* The last message of side is sent again. */
static void pairing_resend(Pairing *p, guint side, gint64 ns, const CaptureContext *context)
{
        UnackedReturn *u = &p->unacked[side];
        for (guint i = p->calls.n; i-- > 0;)
                if (waiting_call_at(&p->calls, i)->side == side) {
                        gint64 *resent = &waiting_call_at(&p->calls, i)->resent;
                        *resent = MAX(*resent + ns, 0);
                        return;
                }
        if (!open_item_is_open(&u->item))
                return;
        gint64 *again = &sequencer_delays(context->sequencer, u->message)->again;
        *again = MAX(*again + ns, 0);
}

void pairing_stall(Pairing *p, guint side, TcpStall stall, gint64 ns, const CaptureContext *context)
{
        MessageInProgress *m = &p->message[side];
        if (stall == TCP_ACK_DELAYED || stall == TCP_PAUSED) {
                m->gap = ns + (m->gap_cause == stall ? m->gap : 0);
                m->gap_cause = (guint8)stall;
        } else if (m->open && !m->written)
                held_up_add(&m->held_up, stall, ns);
        else if (stall == TCP_HOLE)
                p->stall[side] = ns;
        if (stall == TCP_RESENT && !m->open)
                pairing_resend(p, side, ns, context);
}

void pairing_keep(Pairing *p, guint side, gint64 time, gint64 ns, const CaptureContext *context)
{
        if (!p->message[side].open && p->message[side].last.time == time)
                pairing_resend(p, side, ns, context);
}

void pairing_grow(Pairing *p, guint side, Stamp stamp, const CaptureContext *context)
{
        MessageInProgress *m = &p->message[side];
        if (m->seen &&
            !open_item_is_open(
                    &m->item)) { /* it is settled, so its stamp may not go back in time */
                message_go_on(m, stamp);
                return;
        }
        message_see(m, stamp);
        message_item_update(m, context);
}

gboolean pairing_begin(Pairing *p, guint side, MessageKind kind, MessageEnd end,
                       const Parsed *parsed, Stamp stamp, const CaptureContext *context)
{
        MessageInProgress *m = &p->message[side];
        g_assert(m->open && m->kind == KIND_UNKNOWN);
        if (m->seen && !open_item_is_open(&m->item))
                m->first = m->last = stamp; /* it was settled before its kind was known */
        m->kind = (guint8)kind;
        m->end = (guint8)end;
        if (parsed && parsed->keyed) {
                m->keyed = TRUE;
                m->key = parsed->key;
                m->number = parsed->by_place ? m->number : m->key;
                m->topic = parsed->topic;
        }
        if (kind == KIND_CALL && m->seen) {
                gint same = m->keyed ? waiting_calls_find(&p->calls, !side, TRUE, m->key, m->topic)
                                     : -1;
                if (same >= 0) {
                        WaitingCall *call = waiting_call_at(&p->calls, (guint)same);
                        if (p->datagrams)
                                call->resent = MAX(m->first.time - call->time, 0);
                        account_add(context->account, ACCOUNT_REPEATED_CALLS);
                        m->kind = KIND_NOTHING;
                        return FALSE;
                }
                if (!m->keyed)
                        order_call(p, m->first, context);
                else if (m->topic && waiting_calls_find(&p->calls, !side, TRUE, m->key, 0) >= 0)
                        m->key = m->number = waiting_call_number(m->key, m->topic);
                m->session = parsed ? parsed->session : SESSION_NOT;
                p->order.last_call = parsed ? parsed->call : CALL_NONE;
                WaitingCall call = { .number = m->number,
                                     .key = m->key,
                                     .time = m->first.time,
                                     .call = p->order.last_call,
                                     .side = (guint8)side,
                                     .session = m->session,
                                     .by_run = m->by_run,
                                     .topic = m->topic };
                if (p->calls.n_of[side] == 0)
                        p->heard[!side] = FALSE;
                m->beyond = !waiting_calls_push(
                        &p->calls, call, m->keyed, &context->memory->calls,
                        capture_memory_share(context->memory, MAX_ALL_CALLS), context->account);
        }
        if (m->seen && parsed && (kind == KIND_CALL || parsed->carried.puts) && context->label &&
            context->label->len > 0)
                m->label = g_strndup(context->label->str, context->label->len);
        if (kind == KIND_RETURN && !m->keyed)
                order_return(p, m);
        message_item_update(m, context);
        return TRUE;
}

void pairing_begin_part(Pairing *p, guint side, guint64 key, Stamp stamp)
{
        MessageInProgress *m = &p->message[side];
        g_assert(m->open && m->kind == KIND_UNKNOWN && !m->pieces);
        if (m->seen && !open_item_is_open(&m->item))
                m->first = m->last = stamp; /* as in pairing_begin() */
        m->kind = KIND_CONTROL;
        m->end = END_BY_CONTENT;
        m->keyed = TRUE;
        m->number = key;
        sequencer_close(&m->item);
}

void pairing_values(Pairing *p, guint side, gboolean whole, const CaptureContext *context)
{
        MessageInProgress *m = &p->message[side];
        if (m->kind == KIND_CALL && m->seen && !m->written && !m->session)
                identifiers_add(context->identifiers, &m->identifiers, m->first.time,
                                context->values->str, context->values->len, whole);
}

void pairing_piece_begin(Pairing *p, guint side, guint32 seq, gboolean endless, Stamp stamp,
                         const CaptureContext *context)
{
        MessageInProgress *m = &p->message[side];
        if (!m->open || !(m->kind == KIND_RETURN || (m->kind == KIND_CALL && m->written)))
                return; /* of a call that is not written it is a part */
        if (!m->pieces)
                m->pieces = pieces_new(endless || m->written, &context->memory->pieces);
        if (!pieces_begin(m->pieces, seq, stamp))
                message_settle_pieces(p, side, context);
        message_item_update(m, context);
}

void pairing_piece_end(Pairing *p, guint side, Stamp stamp, const CaptureContext *context)
{
        MessageInProgress *m = &p->message[side];
        PieceUser user = { p, side, context };
        if (!m->open || !m->pieces)
                return;
        if (!pieces_end(m->pieces, stamp, pairing_piece_write, &user))
                message_settle_pieces(p, side, context);
        if (pieces_are_endless(m->pieces))
                pairing_account(p, side, TRUE);
        message_item_update(m, context);
}

void pairing_set_end(Pairing *p, guint side, MessageEnd end, const CaptureContext *context)
{
        MessageInProgress *m = &p->message[side];
        m->end = (guint8)end;
        message_item_update(m, context);
}

void pairing_end(Pairing *p, guint side, Stamp stamp, const CaptureContext *context)
{
        MessageInProgress *m = &p->message[side];
        if (!m->open)
                return;
        if (m->kind == KIND_RETURN && !open_item_is_open(&m->item) && stamp_before(m->last, stamp))
                m->last = stamp;
        if (!m->written)
                message_write(p, side, context);
        if (m->seen)
                p->order.quiet = MAX(p->order.quiet, m->last.time);
        pairing_abandon(p, side, context);
}

/* The open call of side waits for no return. */
static void call_unmake(Pairing *p, guint side)
{
        if (!p->message[side].beyond)
                waiting_calls_withdraw(&p->calls, side);
        else if (p->calls.beyond > 0)
                p->calls.beyond--;
}

void pairing_recast(Pairing *p, guint side, MessageKind kind, const CaptureContext *context)
{
        MessageInProgress *m = &p->message[side];
        if (!m->open || (m->kind != KIND_CALL && m->kind != KIND_RETURN) || !m->seen || m->written)
                return;
        if (m->kind == KIND_CALL)
                call_unmake(p, side);
        m->kind = (guint8)kind;
        if (kind != KIND_CALL)
                g_clear_pointer(&m->label, g_free);
        message_item_update(m, context);
}

/* Whether the segments of the open message are accounted for: by a message that was written, or
 * because the protocol says that they are none. */
static gboolean is_accounted(const MessageInProgress *m)
{
        if (m->written)
                return !m->lost && m->kind != KIND_UNKNOWN;
        return m->kind == KIND_CONTROL || m->kind == KIND_NOTHING;
}

G_GNUC_NO_INLINE static void message_drop_pieces(Pairing *p, guint side,
                                                 const CaptureContext *context)
{
        MessageInProgress *m = &p->message[side];
        if (!m->written) /* its end is missing */
                message_settle_pieces(p, side, context);
        g_clear_pointer(&m->pieces, pieces_free);
}

/* The open message is over, and no call was written yet. */
static void opening_see(ConnectionOpening *o, const MessageInProgress *m)
{
        if (m->kind == KIND_CONTROL)
                o->secured = MAX(o->secured, m->last.time);
        else if (m->kind != KIND_UNKNOWN && m->kind != KIND_INTERIM)
                o->greeted = MAX(o->greeted, m->last.time);
}

void pairing_abandon(Pairing *p, guint side, const CaptureContext *context)
{
        MessageInProgress *m = &p->message[side];
        if (!p->called && m->open && m->seen)
                opening_see(&p->opening, m);
        if (m->pieces)
                message_drop_pieces(p, side, context);
        if (m->open) {
                pairing_account(p, side, is_accounted(m));
                if (m->kind == KIND_CALL && m->seen && !m->written)
                        call_unmake(p, side);
        }
        sequencer_close(&m->item);
        g_clear_pointer(&m->label, g_free);
        if (m->body)
                body_name_drop(&m->body, &context->memory->bodies);
        g_clear_pointer(&m->identifiers, g_free);
        g_clear_pointer(&m->tags, g_free);
        m->open = FALSE;
}

/* Whether no return of side was missed. */
static gboolean returns_are_known(const Pairing *p, guint side)
{
        return !p->cut && !p->order.unsure && p->calls.beyond == 0 && p->opener != side;
}

void pairing_cut_short(Pairing *p, guint side, const CaptureContext *context)
{
        MessageInProgress *m = &p->message[side];
        gint call;
        if (!m->open || m->kind != KIND_RETURN || m->written || m->stray || m->outcome ||
            (m->pieces && pieces_are_endless(m->pieces)) || p->message[!side].left ||
            !returns_are_known(p, side))
                return;
        call = waiting_calls_find(&p->calls, side, m->keyed, m->key, m->topic);
        if (call < 0 || waiting_call_is_excused(waiting_call_at(&p->calls, (guint)call)))
                return;
        m->written = TRUE; /* pairing_give_up() says so */
        pairing_abandon(p, side, context);
        p->heard[side] = FALSE;
}

void pairing_give_up(Pairing *p, guint side, CallEnding how, Stamp stamp,
                     const CaptureContext *context)
{
        CapturedMessage out = pairing_message(p, !side, RET_SENT, stamp, p->port[side], 0);
        const MessageInProgress *m = &p->message[side];
        gboolean known = returns_are_known(p, !side) && !p->heard[!side];

        if (m->open && m->kind == KIND_CALL && !m->written)
                message_write(p, side, context);
        out.ending = (guint8)how;
        for (guint i = 0; known && i < p->calls.n;) {
                WaitingCall call = *waiting_call_at(&p->calls, i);

                if (call.side != side || waiting_call_is_excused(&call)) {
                        i++;
                        continue;
                }
                waiting_calls_take(&p->calls, i);
                account_add(context->account, ACCOUNT_UNANSWERED);
                account_add(context->account, ACCOUNT_ENDED);
                out.number = call.number;
                sequencer_add(context->sequencer, &out);
        }
        if (m->left)
                sequencer_close(&p->message[side].item);
}

void pairing_settle(Pairing *p, guint side, const CaptureContext *context)
{
        MessageInProgress *m = &p->message[side];
        if (m->kind == KIND_CALL || m->kind == KIND_ONE_WAY ||
            (m->kind == KIND_RETURN && m->end == END_BY_SILENCE))
                message_write(p, side, context);
        else if (m->kind == KIND_RETURN)
                message_settle_pieces(p, side, context);
        sequencer_close(&m->item);
}

void pairing_forget_calls(Pairing *p, const CaptureContext *context)
{
        for (guint i = 0; i < p->calls.n; i++)
                context->account->count[ACCOUNT_UNANSWERED] +=
                        !waiting_call_at(&p->calls, i)->session;
        p->calls.n = p->calls.n_of[0] = p->calls.n_of[1] = p->order.sure = 0;
        p->calls.beyond = 0;
}

void pairing_keep_calls(Pairing *p, guint n)
{
        while (p->calls.n > n)
                waiting_calls_take(&p->calls, p->calls.n - 1u);
}

guint8 pairing_call(const Pairing *p, guint side)
{
        gint i = waiting_calls_find(&p->calls, side, FALSE, 0, 0);
        if (i >= 0)
                return waiting_call_at(&p->calls, (guint)i)->call;
        return (p->order.unsure || p->calls.beyond > 0) && side != p->client ? p->order.last_call
                                                                             : CALL_NONE;
}

gboolean pairing_call_is_run(const Pairing *p, guint side)
{
        gint i = waiting_calls_find(&p->calls, side, FALSE, 0, 0);
        return i >= 0 && waiting_call_at(&p->calls, (guint)i)->by_run;
}

gboolean pairing_take_call(Pairing *p, guint side, guint64 *number)
{
        gint i = waiting_calls_find(&p->calls, side, FALSE, 0, 0);
        if (i < 0)
                return FALSE;
        *number = waiting_calls_take(&p->calls, (guint)i).number;
        return TRUE;
}

void pairing_clear(Pairing *p, const CaptureContext *context)
{
        pairing_abandon(p, 0, context);
        pairing_abandon(p, 1, context);
        sequencer_close(&p->unacked[0].item);
        sequencer_close(&p->unacked[1].item);
        pairing_account(p, 0, FALSE);
        pairing_account(p, 1, FALSE);
        pairing_forget_calls(p, context);
        if (p->logins)
                context->account->count[ACCOUNT_SESSION] += held_logins_drop(p->logins);
        g_clear_pointer(&p->logins, held_logins_free);
        for (guint i = 0; p->called && i < 2; i++)
                connection_numbers_drop(context->numbers, p->node[i], p->node[!i], p->port[i], p);
        g_clear_pointer(&p->calls.ring, g_free);
        context->memory->calls -= p->calls.capacity;
        p->calls.capacity = p->calls.first = 0;
}
