/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/choice.h"

/* What of the pairing is put back. */
typedef struct {
        CallOrder order;
        PairingCounts counts;
        ConnectionOpening opening;
        guint waiting; /* how many calls waited */
        guint8 client, called;
} Before;

void choice_try(Pairing *p)
{
        Before before = { .order = p->order,
                          .counts = p->counts,
                          .opening = p->opening,
                          .waiting = p->calls.n,
                          .client = p->client,
                          .called = p->called };
        if (!p->trial)
                p->trial = trial_new(&before, sizeof before);
}

gboolean choice_see(Pairing *p, guint side, guint32 seq, gsize n, Stamp first, Stamp last,
                    const CaptureContext *context)
{
        if (p->trial->n_turns == 0)
                sequencer_open(context->sequencer, &p->trial_item, first.time);
        return trial_see(p->trial, side, seq, n, first, last);
}

void choice_include_call(Pairing *p)
{
        ((Before *)p->trial->before)->waiting--;
}

Trial *choice_undo(Pairing *p, gboolean role_is_certain, const CaptureContext *context)
{
        Trial *t = g_steal_pointer(&p->trial);
        const Before *before = (const Before *)t->before;
        context->memory->trials -= t->n_messages;
        g_clear_pointer(&p->logins, held_logins_free);
        pairing_keep_calls(p, before->waiting);
        for (guint i = 0; p->called && !before->called && i < 2; i++)
                connection_numbers_drop(context->numbers, p->node[i], p->node[!i], p->port[i], p);
        p->called = before->called;
        if (!role_is_certain)
                p->client = before->client;
        p->order = before->order;
        p->opening.secured = before->opening.secured;
        p->opening.greeted = before->opening.greeted;
        p->counts.unseen_segments = MIN(p->counts.unseen_segments, before->counts.unseen_segments);
        p->counts.unseen_bytes = MIN(p->counts.unseen_bytes, before->counts.unseen_bytes);
        return t;
}
