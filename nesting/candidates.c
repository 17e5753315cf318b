/* SPDX-License-Identifier: BSD-2-Clause */
#include "nesting/candidates.h"

#include <string.h>

void candidates_init(Candidates *c, gint64 window, gboolean cycles)
{
        memset(c, 0, sizeof *c);
        c->window = window;
        c->cycles = cycles;
}

void candidates_clear(Candidates *c)
{
        g_free(c->active);
        g_free(c->found);
}

void candidates_start(Candidates *c, const CallIn *in, guint32 n_in)
{
        c->in = in;
        c->n_in = n_in;
        c->next_in = c->n_active = 0;
}

static void grow(Candidates *c)
{
        c->size = c->size ? c->size * 2 : 64;
        c->active = g_renew(CallIn, c->active, c->size);
        c->found = g_renew(guint32, c->found, c->size);
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

guint32 candidates_find(Candidates *c, gint64 start, gint64 end, guint32 child)
{
        gint64 window = c->window;
        gint64 latest = MAX(start, end) - window; /* a broken call may end before it starts */
        guint32 n_found = 0, alive = 0;

        while (c->next_in < c->n_in && c->in[c->next_in].enter < start + window) {
                const CallIn *p = &c->in[c->next_in++];

                /* Later children start later: what is over now is over for them. */
                if (p->reply < start - window)
                        continue;
                if (G_UNLIKELY(c->n_active == c->size))
                        grow(c);
                c->active[c->n_active++] = *p;
        }
        for (guint32 i = 0; i < c->n_active; i++) {
                gint64 reply = c->active[i].reply;

                c->found[n_found] = i; /* no branch: half of them would be missed */
                n_found += reply >= latest;
                alive += reply >= start - window;
        }
        if (c->n_active - alive > alive / 4) {
                forget(c, start - window);
                n_found = 0;
                for (guint32 i = 0; i < c->n_active; i++) {
                        c->found[n_found] = i;
                        n_found += c->active[i].reply >= latest;
                }
        }
        /* A node that calls itself: a call could be its own parent. */
        if (G_UNLIKELY(c->cycles)) {
                guint32 kept = 0;

                for (guint32 i = 0; i < n_found; i++)
                        if (c->active[c->found[i]].call != child)
                                c->found[kept++] = c->found[i];
                n_found = kept;
        }
        return n_found;
}
