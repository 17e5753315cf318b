/* SPDX-License-Identifier: BSD-2-Clause */
#include "tracefmt/call-delays.h"

static void add_message(LegDelays *m, MessageOp op, const Attributes *a)
{
        m->span[op & 1] = a->dur >= LEAST_SPAN ? a->dur : 0;
        m->stall = MAX(m->stall, a->stall);
        m->shut = MAX(m->shut, MIN(a->shut, a->stall));
        m->ack = MAX(m->ack, a->ack);
        if (a->way > 0)
                m->pause = MAX(m->pause, a->way < LEAST_SPAN ? a->dur : a->dur - a->way);
}

void call_delays_add(CallDelays *d, MessageOp op, const Attributes *a)
{
        if (op == RET_SENT || op == RET_RECV) {
                add_message(&d->ret, op, a);
                d->call.again = MAX(d->call.again, a->resent);
                d->ret.again = MAX(d->ret.again, a->again);
                return;
        }
        add_message(&d->call, op, a);
        if (a->syn == 0 || (d->opened > 0 && (op & 1) == AT_RECEIVER))
                return;
        d->opened = a->syn;
        d->tcp = a->tcp;
        d->tls = a->tls;
        d->login = a->login;
        d->syn_again = a->resent;
}
