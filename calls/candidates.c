/* SPDX-License-Identifier: BSD-2-Clause */
#include "calls/candidates.h"

#include <string.h>

enum { FEW_ACTIVE = 8 }; /* with fewer active calls, the calls that are over are not looked for */

void candidates_init(Candidates *c, gint64 window)
{
        memset(c, 0, sizeof *c);
        c->window = window;
        c->sweep_at = FEW_ACTIVE;
}

void candidates_clear(Candidates *c)
{
        g_free(c->active);
        g_free(c->reply);
        g_free(c->found);
        memset(c, 0, sizeof *c);
}

void candidates_restart(Candidates *c)
{
        for (guint32 i = 0; i < c->end; i++)
                c->reply[i] = G_MININT64;
        c->first = c->end = 0;
        c->sweep_at = FEW_ACTIVE;
}

void candidates_forget(Candidates *c, gint64 before)
{
        guint32 kept = 0;

        for (guint32 i = c->first; i < c->end; i++) {
                c->active[kept] = c->active[i];
                c->reply[kept] = c->reply[i];
                kept += c->reply[i] >= before;
        }
        for (guint32 i = kept; i < c->end; i++)
                c->reply[i] = G_MININT64;
        c->first = 0;
        c->end = kept;
        /* About as many calls are over by then as have come. */
        c->sweep_at = MAX(kept + kept / 4, FEW_ACTIVE);
}

void candidates_grow(Candidates *c)
{
        guint32 old = c->size;

        /* Calls that come now are called no earlier than the latest, and children that come
         * now start no earlier. */
        if (c->end > 0)
                candidates_forget(c, c->active[c->end - 1].enter - 2 * c->window);
        if (c->end < c->size / 2)
                return;
        c->size = old ? old * 2 : 16;
        c->active = g_renew(ActiveCall, c->active, c->size);
        c->reply = g_renew(gint64, c->reply, c->size);
        c->found = g_renew(guint32, c->found, c->size);
        for (guint32 i = old; i < c->size; i++)
                c->reply[i] = G_MININT64;
}

#define SWAP(type, x, y)                                                                           \
        do {                                                                                       \
                type z = x;                                                                        \
                x = y;                                                                             \
                y = z;                                                                             \
        } while (0)

void candidates_sort_last(Candidates *c)
{
        for (guint32 i = c->end - 1; i > c->first && c->active[i].enter < c->active[i - 1].enter;
             i--) {
                SWAP(ActiveCall, c->active[i], c->active[i - 1]);
                SWAP(gint64, c->reply[i], c->reply[i - 1]);
        }
}
