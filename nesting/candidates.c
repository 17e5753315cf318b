/* SPDX-License-Identifier: BSD-2-Clause */
#include "nesting/candidates.h"

#include <string.h>

enum { FEW_ACTIVE = 8 }; /* fewer are not gone through for those that are over */

void candidates_init(Candidates *c, gint64 window)
{
        memset(c, 0, sizeof *c);
        c->window = window;
        c->sweep_at = FEW_ACTIVE;
}

void candidates_clear(Candidates *c)
{
        g_free(c->enter);
        g_free(c->reply);
        g_free(c->waiting);
        g_free(c->caller);
        g_free(c->which);
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

/* Forgets the calls that were replied to before the moment given, and moves the
 * others to the front. */
static void forget(Candidates *c, gint64 before)
{
        guint32 kept = 0;

        for (guint32 i = c->first; i < c->end; i++) {
                c->enter[kept] = c->enter[i];
                c->reply[kept] = c->reply[i];
                c->waiting[kept] = c->waiting[i];
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

void candidates_grow(Candidates *c)
{
        guint32 old = c->size;

        /* Calls that come now are called no earlier than the latest, and children that come
         * now start no earlier. */
        if (c->end > 0)
                forget(c, c->enter[c->end - 1] - 2 * c->window);
        if (c->end < c->size / 2)
                return;
        c->size = old ? old * 2 : 16;
        c->enter = g_renew(gint64, c->enter, c->size);
        c->reply = g_renew(gint64, c->reply, c->size);
        c->waiting = g_renew(Waiting, c->waiting, c->size);
        c->caller = g_renew(guint32, c->caller, c->size);
        c->which = g_renew(guint32, c->which, c->size);
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
        for (guint32 i = c->end - 1; i > c->first && c->enter[i] < c->enter[i - 1]; i--) {
                SWAP(gint64, c->enter[i], c->enter[i - 1]);
                SWAP(gint64, c->reply[i], c->reply[i - 1]);
                SWAP(Waiting, c->waiting[i], c->waiting[i - 1]);
                SWAP(guint32, c->caller[i], c->caller[i - 1]);
                SWAP(guint32, c->which[i], c->which[i - 1]);
        }
}

guint32 candidates_find(Candidates *c, gint64 start, gint64 end)
{
        gint64 latest = MAX(start, end) - c->window; /* a broken call may end before it starts */
        gint64 over = start - c->window, before = start + c->window;
        guint32 n_found = 0, n, first, *found;
        const gint64 *reply = c->reply;

        /* They end about in the order in which they began. */
        first = c->first;
        while (first < c->end && reply[first] < over)
                first++;
        c->first = first;
        if (c->end - first > c->sweep_at) {
                forget(c, over);
                first = c->first;
        }
        n = c->end;
        while (n > first && c->enter[n - 1] >= before)
                n--;
        found = c->found;
        /* No branch on each: half of them would be missed. */
        for (guint32 i = first; i < n; i += CANDIDATES_AT_ONCE)
                for (guint32 k = i; k < i + CANDIDATES_AT_ONCE; k++) {
                        found[n_found] = k;
                        n_found += reply[k] >= latest;
                }
        /* The last ones looked at may have entered too late. */
        while (n_found > 0 && found[n_found - 1] >= n)
                n_found--;
        return n_found;
}
