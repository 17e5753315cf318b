/* SPDX-License-Identifier: BSD-2-Clause */
#include "nesting/candidates.h"

#include <string.h>

enum {
        AT_ONCE = 4,    /* active calls looked at without asking whether there are so many */
        FEW_ACTIVE = 8, /* fewer are not gone through for those that are over */
};

void candidates_init(Candidates *c, gint64 window, gboolean cycles)
{
        memset(c, 0, sizeof *c);
        c->window = window;
        c->cycles = cycles;
}

void candidates_clear(Candidates *c)
{
        g_free(c->enter);
        g_free(c->reply);
        g_free(c->busy_until);
        g_free(c->crowded_until);
        g_free(c->jammed_until);
        g_free(c->caller);
        g_free(c->which);
        g_free(c->found);
}

void candidates_start(Candidates *c, const CallIn *in, guint32 n_in)
{
        for (guint32 i = 0; i < c->end; i++)
                c->reply[i] = G_MININT64;
        c->in = in;
        c->n_in = n_in;
        c->next_in = c->first = c->end = 0;
        c->sweep_at = FEW_ACTIVE;
}

static void grow(Candidates *c)
{
        guint32 old = c->size;

        c->size = old ? old * 2 : 64;
        c->enter = g_renew(gint64, c->enter, c->size);
        c->reply = g_renew(gint64, c->reply, c->size);
        c->busy_until = g_renew(gint64, c->busy_until, c->size);
        c->crowded_until = g_renew(gint64, c->crowded_until, c->size);
        c->jammed_until = g_renew(gint64, c->jammed_until, c->size);
        c->caller = g_renew(guint32, c->caller, c->size);
        c->which = g_renew(guint32, c->which, c->size);
        c->found = g_renew(guint32, c->found, c->size);
        for (guint32 i = old; i < c->size; i++)
                c->reply[i] = G_MININT64;
}

/* Forgets the calls that were replied to before the moment given, and moves the
 * others to the front. */
static void forget(Candidates *c, gint64 before)
{
        guint32 kept = 0;

        for (guint32 i = c->first; i < c->end; i++) {
                c->enter[kept] = c->enter[i];
                c->reply[kept] = c->reply[i];
                c->busy_until[kept] = c->busy_until[i];
                c->crowded_until[kept] = c->crowded_until[i];
                c->jammed_until[kept] = c->jammed_until[i];
                c->caller[kept] = c->caller[i];
                c->which[kept] = c->which[i];
                kept += c->reply[i] >= before;
        }
        for (guint32 i = kept; i < c->end; i++)
                c->reply[i] = G_MININT64;
        c->first = 0;
        c->end = kept;
        /* About as many calls are over by then as have come. */
        c->sweep_at = MAX(kept + kept / 4, FEW_ACTIVE);
}

/* Makes the calls active that entered before the moment given and are not over at
 * another: later children start later, so what is over now is over for them. */
static inline void activate(Candidates *c, gint64 before, gint64 over)
{
        while (c->next_in < c->n_in && c->in[c->next_in].enter < before) {
                const CallIn *p = &c->in[c->next_in];
                guint32 i;

                c->next_in++;
                if (p->reply < over)
                        continue;
                if (G_UNLIKELY(c->end + AT_ONCE >= c->size)) {
                        forget(c, over);
                        if (c->end >= c->size / 2)
                                grow(c);
                }
                i = c->end++;
                c->enter[i] = p->enter;
                c->reply[i] = p->reply;
                c->busy_until[i] = c->crowded_until[i] = c->jammed_until[i] = NEVER_BUSY;
                c->caller[i] = p->caller;
                c->which[i] = c->next_in - 1;
        }
}

guint32 candidates_find(Candidates *c, gint64 start, gint64 end, guint32 child)
{
        gint64 latest = MAX(start, end) - c->window; /* a broken call may end before it starts */
        gint64 over = start - c->window;
        guint32 n_found = 0, n, *found;
        const gint64 *reply;

        activate(c, start + c->window, over);
        /* They end about in the order in which they began. */
        while (c->first < c->end && c->reply[c->first] < over)
                c->first++;
        if (c->end - c->first > c->sweep_at)
                forget(c, over);
        n = c->end;
        reply = c->reply;
        found = c->found;
        /* No branch on each: half of them would be missed. */
        for (guint32 i = c->first; i < n; i += AT_ONCE)
                for (guint32 k = i; k < i + AT_ONCE; k++) {
                        found[n_found] = k;
                        n_found += reply[k] >= latest;
                }
        /* A node that calls itself: a call could be its own parent. */
        if (G_UNLIKELY(c->cycles)) {
                guint32 kept = 0;

                for (guint32 i = 0; i < n_found; i++)
                        if (c->in[c->which[c->found[i]]].call != child)
                                c->found[kept++] = c->found[i];
                n_found = kept;
        }
        return n_found;
}
