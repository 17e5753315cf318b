/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/trial.h"

#include <string.h>

enum { MAX_MESSAGES = 1024 };

Trial *trial_new(gconstpointer before, gsize n)
{
        Trial *t = g_malloc(sizeof *t + n);
        t->messages = NULL;
        t->n_messages = t->n_turns = 0;
        t->doubted = FALSE;
        memcpy(t->before, before, n);
        return t;
}

void trial_free(Trial *t)
{
        for (guint i = 0; i < t->n_messages; i++)
                captured_message_clear(&t->messages[i]);
        g_free(t->messages);
        g_free(t);
}

gboolean trial_see(Trial *t, guint side, guint32 seq, gsize n, Stamp first, Stamp last)
{
        Turn *turn = t->n_turns ? &t->turns[t->n_turns - 1] : NULL;
        if (!turn || turn->side != side) {
                if (t->n_turns == MAX_TURNS)
                        return FALSE;
                turn = &t->turns[t->n_turns++];
                *turn = (Turn){ .first = first, .seq = seq, .side = (guint8)side };
        }
        turn->last = last;
        turn->bytes += n;
        return TRUE;
}

gboolean trial_keep(Trial *t, const CapturedMessage *message)
{
        guint n = t->n_messages;
        if (n == MAX_MESSAGES)
                return FALSE;
        if ((n & (n - 1)) == 0) /* all that there is room for */
                t->messages = g_renew(CapturedMessage, t->messages, MAX(2 * n, 1));
        t->messages[t->n_messages++] = *message;
        return TRUE;
}
