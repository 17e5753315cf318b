/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/trial.h"

enum { MAX_TURNS = 16, MAX_MESSAGES = 1024 };

static void trial_clear_message(gpointer message)
{
        captured_message_clear(message);
}

Trial *trial_new(gpointer before)
{
        Trial *t = g_new0(Trial, 1);
        t->turns = g_array_new(FALSE, FALSE, sizeof(Turn));
        t->messages = g_array_new(FALSE, FALSE, sizeof(CapturedMessage));
        g_array_set_clear_func(t->messages, trial_clear_message);
        t->before = before;
        return t;
}

void trial_free(Trial *t)
{
        g_array_unref(t->turns);
        g_array_unref(t->messages);
        g_free(t->before);
        g_free(t);
}

gboolean trial_see(Trial *t, guint side, guint32 seq, gsize n, Stamp first, Stamp last)
{
        Turn *turn = t->turns->len ? &g_array_index(t->turns, Turn, t->turns->len - 1) : NULL;
        if (!turn || turn->side != side) {
                Turn new = { .first = first, .seq = seq, .side = (guint8)side };
                if (t->turns->len == MAX_TURNS)
                        return FALSE;
                g_array_append_val(t->turns, new);
                turn = &g_array_index(t->turns, Turn, t->turns->len - 1);
        }
        turn->last = last;
        turn->bytes += n;
        return TRUE;
}

gboolean trial_keep(Trial *t, const CapturedMessage *message)
{
        if (t->messages->len == MAX_MESSAGES)
                return FALSE;
        g_array_append_val(t->messages, *message);
        return TRUE;
}
