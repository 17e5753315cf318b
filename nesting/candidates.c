/* SPDX-License-Identifier: BSD-2-Clause */
#include "nesting/candidates.h"

#include <string.h>

void candidates_init(Candidates *c, const CallPair *calls, gint64 window)
{
        memset(c, 0, sizeof *c);
        c->calls = calls;
        c->window = window;
}

void candidates_clear(Candidates *c)
{
        g_free(c->active);
        g_free(c->found);
}

void candidates_start(Candidates *c, const guint32 *in, guint32 n_in, const guint32 *caller_of)
{
        c->in = in;
        c->n_in = n_in;
        c->caller_of = caller_of;
        c->next_in = c->n_active = c->n_found = 0;
}

static void admit(Candidates *c, gint64 before)
{
        while (c->next_in < c->n_in) {
                guint32 call = c->in[c->next_in];
                const CallPair *p = &c->calls[call];

                if (p->enter >= before)
                        return;
                if (c->n_active == c->size) {
                        c->size = c->size ? c->size * 2 : 64;
                        c->active = g_renew(ActiveCall, c->active, c->size);
                        c->found = g_renew(guint32, c->found, c->size);
                }
                c->active[c->n_active++] = (ActiveCall){ p->enter, p->reply, G_MININT64, call,
                                                         c->caller_of[p->caller] };
                c->next_in++;
        }
}

/* Forgets the calls that were replied to before the moment given. */
static void forget(Candidates *c, gint64 before)
{
        guint32 kept = 0;

        for (guint32 i = 0; i < c->n_active; i++)
                if (c->active[i].reply >= before)
                        c->active[kept++] = c->active[i];
        c->n_active = kept;
}

void candidates_find(Candidates *c, guint32 child)
{
        const CallPair *k = &c->calls[child];
        gint64 start = k->start - c->window, end = k->end - c->window;
        guint32 n_found = 0, alive = 0;

        admit(c, k->start + c->window);
        for (guint32 i = 0; i < c->n_active; i++) {
                gint64 reply = c->active[i].reply;

                c->found[n_found] = i; /* no branch: half of them would be missed */
                n_found += reply >= end;
                alive += reply >= start;
        }
        /* Later children start later: what is over for this one is for them. */
        if (c->n_active - alive > 8 + alive / 4) {
                forget(c, start);
                n_found = 0;
                for (guint32 i = 0; i < c->n_active; i++) {
                        c->found[n_found] = i;
                        n_found += c->active[i].reply >= end;
                }
        }
        /* A node that calls itself: with a window a call could be its own parent. */
        if (G_UNLIKELY(k->caller == k->callee)) {
                guint32 kept = 0;

                for (guint32 i = 0; i < n_found; i++)
                        if (c->active[c->found[i]].call != child)
                                c->found[kept++] = c->found[i];
                n_found = kept;
        }
        c->n_found = n_found;
}
