/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/run.h"

#include <string.h>

/* What a run of side is by the generic rule. first: the connection was open before the capture,
 * and this is its first run, which may be the end of a return. */
static MessageKind run_kind(const Exchange *x, guint side, gboolean first)
{
        const Pairing *p = &x->pairing;
        if (p->client == NO_SIDE)
                return KIND_ONE_WAY;
        if (p->client == side)
                return KIND_CALL;
        return p->calls.n > 0 || first ? KIND_RETURN : KIND_ONE_WAY;
}

void run_extend(Exchange *x, guint side, guint32 seq, guint64 n, MessageKind kind,
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

MessageKind run_kind_if_cut(Exchange *x, guint side, const guint8 *bytes, gsize n, gsize length,
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
        if (before == KIND_INTERIM && x->run == !side) { /* the final response is another run */
                pairing_end(p, !side, x->pairing.message[!side].last, context);
                x->run = NO_SIDE;
        }
        return kind;
}

void run_ignore_cut(Exchange *x, guint side, MessageKind kind, const CaptureContext *context)
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

/* The same as run_take(), on a connection whose packets were cut. */
static void run_cut(Exchange *x, guint side, guint32 seq, const guint8 *bytes, gsize n,
                    gsize length, Stamp stamp, Stamp now, const CaptureContext *context)
{
        Pairing *p = &x->pairing;
        MessageInProgress *m = &p->message[side];
        MessageKind kind = KIND_BY_SIDE;
        if (x->run != side || x->talk.kind == TALK_TLS)
                kind = run_kind_if_cut(x, side, bytes, n, length, context);
        else if (side == p->client && cut_run_repeats(&x->talk, bytes, n))
                m->several = TRUE;
        if (side == p->client)
                cut_run_see(&x->talk, length);
        if (kind == KIND_INTERIM || kind == KIND_CONTROL) {
                run_ignore_cut(x, side, kind, context);
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

void run_take(Exchange *x, guint side, guint32 seq, const guint8 *bytes, gsize n, gsize length,
              Stamp stamp, Stamp now, const CaptureContext *context)
{
        x->pairing.cut |= n < length;
        if (x->pairing.cut)
                run_cut(x, side, seq, bytes, n, length, stamp, now, context);
        else
                run_extend(x, side, seq, length, KIND_BY_SIDE, &stamp, now, context);
}

void run_take_buffer(Exchange *x, guint side, Stamp now, const CaptureContext *context)
{
        ExchangeSide *s = &x->side[side];
        gsize n = s->buffered;
        if (n > 0) {
                s->buffered = 0;
                run_take(x, side, s->seq - (guint32)n, s->buffer, n, n, s->arrived, now, context);
                x->probes++;
        }
}

void run_record(Exchange *x, guint side, guint32 seq, guint part, Stamp now,
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

void run_end_by_goodbye(Exchange *x, guint side, const CaptureContext *context)
{
        const Pairing *p = &x->pairing;
        const MessageInProgress *m = &p->message[side];
        if (p->cut && side == p->client && m->open && (x->run == side || m->by_run) &&
            cut_run_is_goodbye(x->side[side].seq - m->seq))
                pairing_recast(&x->pairing, side, KIND_SESSION, context);
}
