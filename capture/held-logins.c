/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/held-logins.h"

HeldLogins *held_logins_new(guint item_kind)
{
        HeldLogins *l = g_new0(HeldLogins, 1);
        l->item.kind = item_kind;
        return l;
}

void held_logins_free(HeldLogins *l)
{
        if (l)
                held_logins_drop(l);
        g_free(l);
}

gboolean held_logins_keep(HeldLogins *l, const CapturedMessage *message, Sequencer *sequencer)
{
        if (l->n == MAX_HELD_LOGINS)
                return FALSE;
        if (l->n == 0)
                sequencer_open(sequencer, &l->item, message->stamp.time);
        l->messages[l->n++] = *message;
        return TRUE;
}

guint held_logins_drop(HeldLogins *l)
{
        guint n = l->n;
        for (guint i = 0; i < n; i++)
                captured_message_clear(&l->messages[i]);
        l->n = 0;
        sequencer_close(&l->item);
        return n;
}
