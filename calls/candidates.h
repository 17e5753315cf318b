/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The candidate parents of each call that a node makes (paper, Figure 4, lines 11 and 12). They are
 * found from the node's calls in time order whenever they are needed, and never stored.
 *
 * A candidate of child c is a call into c's caller. It entered the caller before c started, and was
 * not replied to before c ended, on the caller's own clock; both within the skew window (section
 * 7.5.6). Line 12's t3 < t2 is strict. A call without a return is no candidate.
 */
#pragma once

#include <glib.h>

/* Before all stamps, and after G_MININT64. */
#define NEVER_BUSY (G_MININT64 + 1)

/* The three latest ends of an active call's children, for the user to fill in; NEVER_BUSY: none. */
typedef struct {
        gint64 busy_until, crowded_until, jammed_until;
} Waiting;

/* A call into the node that some later child may have as its parent. */
typedef struct {
        gint64 enter;
        Waiting waiting;
        guint32 caller; /* the number of its caller among the node's callers */
        guint32 which;  /* the user's */
} ActiveCall;

/* The calls into one node. */
typedef struct {
        gint64 window;
        ActiveCall *active; /* by enter */
        gint64 *reply;      /* theirs, which a search goes through; G_MININT64 after the last */
        guint32 first, end, size; /* they are first to end - 1, of room for size */
        guint32 sweep_at; /* at this number of active calls, the calls that are over are forgotten
                           */

        guint32 *found; /* indices of active calls: the candidates, earliest first */
        guint32 most;   /* for the user: candidates of one call, at most */
} Candidates;

/* window: the skew window, ns. */
void candidates_init(Candidates *c, gint64 window);
void candidates_clear(Candidates *c); /* frees what it holds */

/* Forgets all calls. */
void candidates_restart(Candidates *c);

void candidates_grow(Candidates *c);

/* Forgets the calls that were replied to before the moment given; the others move to the
 * front. */
void candidates_forget(Candidates *c, gint64 before);

void candidates_sort_last(Candidates *c);

enum {
        CANDIDATES_AT_ONCE = 4, /* active calls that are looked at even if there are fewer */
        CANDIDATES_AT_AN_END = 1 << 11, /* active calls that are looked at, of the calls that
                                           entered first and of the calls that entered last */
};

/* A call into the node. They come by enter, except where messages were late, and each before
 * the first child that it is a candidate of. */
static inline void candidates_add(Candidates *c, gint64 enter, gint64 reply, guint32 caller,
                                  guint32 which)
{
        guint32 i;

        if (G_UNLIKELY(c->end + CANDIDATES_AT_ONCE >= c->size))
                candidates_grow(c);
        i = c->end++;
        c->reply[i] = reply;
        c->active[i] = (ActiveCall){ .enter = enter,
                                     .waiting = { NEVER_BUSY, NEVER_BUSY, NEVER_BUSY },
                                     .caller = caller,
                                     .which = which };
        if (G_UNLIKELY(i > c->first && enter < c->active[i - 1].enter))
                candidates_sort_last(c);
}

static inline guint32 *candidates_note(guint32 *next, guint32 call, gboolean is_candidate)
{
        *next = call;
        return next + is_candidate;
}

/* Looks for candidates among the active calls from `from` on and before `to`. */
static inline guint32 *candidates_look(const Candidates *c, guint32 from, guint32 to, gint64 latest,
                                       guint32 *next)
{
        const gint64 *reply = c->reply;

        /* No branch on each: half of them would be missed. */
        for (guint32 i = from; i < to; i += CANDIDATES_AT_ONCE) {
                next = candidates_note(next, i, reply[i] >= latest);
                next = candidates_note(next, i + 1, reply[i + 1] >= latest);
                next = candidates_note(next, i + 2, reply[i + 2] >= latest);
                next = candidates_note(next, i + 3, reply[i + 3] >= latest);
        }
        /* The last ones looked at may have entered too late. */
        while (next > c->found && next[-1] >= to)
                next--;
        return next;
}

/* Finds those of a call from start to end; returns how many. Children must come in
 * order of start. Linear in the calls that are open at the node then, but of very many only the
 * first and the last are looked at. */
static inline guint32 candidates_find(Candidates *c, gint64 start, gint64 end)
{
        gint64 latest = MAX(start, end) - c->window; /* a broken call may end before it starts */
        gint64 over = start - c->window, before = start + c->window;
        guint32 first = c->first, n, *next;
        const gint64 *reply = c->reply;

        /* They end about in the order in which they began. */
        while (first < c->end && reply[first] < over)
                first++;
        c->first = first;
        if (G_UNLIKELY(c->end - first > c->sweep_at)) {
                candidates_forget(c, over);
                first = c->first;
        }
        n = c->end;
        while (n > first && c->active[n - 1].enter >= before)
                n--;
        next = c->found;
        if (G_UNLIKELY(n - first > 2 * CANDIDATES_AT_AN_END)) {
                next = candidates_look(c, first, first + CANDIDATES_AT_AN_END, latest, next);
                first = n - CANDIDATES_AT_AN_END;
        }
        return candidates_look(c, first, n, latest, next) - c->found;
}
