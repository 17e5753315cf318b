/* SPDX-License-Identifier: BSD-2-Clause */
#include "queues/open-stays.h"

#include <stdlib.h>

#include "base/compare.h"
#include "base/contingency.h"
#include "base/size-class.h"
#include "base/time-search.h"
#include "queues/work-in-lanes.h"
#include "queues/work-in-turn.h"

enum {
        MOST_AHEAD = 64, /* a message may last until so many have come after it */
        SURELY = 4,      /* times as long a pause, and what came before is done with, in turn */
        THINKS = 99,     /* of 100 pauses of a node at work none is longer than its idle ones */

        /* Messages that were asked for do not last until the same connection asks again where more
         * than one call in so many is outside of them, and so many are, */
        MOST_OUTSIDE = 10,
        LEAST_OUTSIDE = 10,
        /* or more in 100 of those that overlap, if so many do, end before the one before, and so
         * many in 100 have no call. Processes had 28 to 45 and 0, threads 89 to 98 and 8 to 57. */
        MOST_NESTED = 75,
        LEAST_OVERLAPS = 20,
        MOST_EMPTY = 3,
        LONGEST = 3, /* then one lasts so many times as long as they do in the mean, at most */

        /* Work may begin so many times as long before it is acknowledged as the soonest one in so
         * many are acknowledged after they came. */
        BEGUN_TIMES = 10,
        BEGUN_SOON = 100,

        SURE_OF_ORDER = 20, /* nats: what messages ask for tells the calls after them, or before */
};

/* What a node has to do with messages that nobody answers. */
typedef struct {
        guint32 called;  /* by others that wait, with what nobody passed on */
        guint32 started; /* messages that came to it and may start its work */
        guint32 passed;  /* of its own, that continue others */
        guint32 made;    /* calls of its own, but for those that ask for work */
} Part;

/* Something that happens at a node, and until when it does. */
typedef struct {
        gint64 from, to;
        guint32 call;
        gboolean comes; /* a message, that may start work */
        gint64 begun; /* then work was begun: when it was acknowledged, if before it was done; else
                         when it came */
} Event;

typedef struct {
        KnownCalls *known;
        CallLinks *links; /* of known, */
        CallPairs *calls; /* and its call pairs */
        Part *parts;      /* by NodeId */
        gint64 *next;     /* by call: when the connection that a message came by asks again;
                             G_MAXINT64: never; NOT_ASKED: for no message that a worker asked for */
} Search;

#define NOT_ASKED G_MININT64

static int compare_times(const void *a, const void *b)
{
        return COMPARE(*(const gint64 *)a, *(const gint64 *)b);
}

/* A time for each call, at first all this one. */
static gint64 *times_of_calls(const Search *s, gint64 time)
{
        gint64 *times = g_new(gint64, s->calls->n);

        for (guint32 i = 0; i < s->calls->n; i++)
                times[i] = time;
        return times;
}

static const EdgeRole *edge_of(const Search *s, guint32 call)
{
        return known_calls_edge(s->known, call);
}

static gboolean may_start(const Search *s, guint32 call)
{
        return s->links->starts[call] && call_is_message(s->calls, call);
}

static void find_parts(Search *s)
{
        for (guint32 i = 0; i < s->calls->n; i++) {
                const EdgeRole *edge = edge_of(s, i);
                Part *from = &s->parts[edge->caller], *to = &s->parts[edge->callee];

                to->called += !s->links->starts[i] && !call_is_message(s->calls, i);
                to->started += s->links->starts[i] != STARTS_NOTHING;
                from->passed += s->links->parent[i] != NO_PARENT;
                from->made += s->links->parent[i] == NO_PARENT && !s->links->fetch[i];
        }
}

static gboolean is_worker(const Search *s, NodeId node)
{
        const Part *p = &s->parts[node];

        return p->started > 0 && p->called == 0 && p->passed == 0 && p->made > 0;
}

/* --- those that ask for the next ---------------------------------------------------- */

/* A message that was asked for, or what asks, of one connection of a node. */
typedef struct {
        guint64 way;
        gint64 time;
        guint32 call;
        gboolean asks;
} Turn;

static int compare_turns(const void *a, const void *b)
{
        const Turn *x = a, *y = b;

        if (x->way != y->way)
                return COMPARE(x->way, y->way);
        return x->time != y->time ? COMPARE(x->time, y->time) : COMPARE(y->asks, x->asks);
}

/* It lasts until then, on the clocks of both ends. */
static void set_end(Search *s, guint32 call, gint64 end)
{
        CallPairs *c = s->calls;

        c->at_caller[call].to += end - c->at_callee[call].to;
        if (c->at_callee != c->at_caller)
                c->at_callee[call].to = end;
}

static gint64 came(const Search *s, guint32 call)
{
        return s->calls->at_callee[call].from;
}

/* Those of one connection, where it asks at all: what it brings unasked, as to a subscriber, may
 * come at any time. */
static void find_next_of(Search *s, const Turn *turns, guint n)
{
        gint64 next = G_MAXINT64;
        gboolean asks = FALSE;

        for (guint i = 0; i < n; i++)
                asks |= turns[i].asks;
        for (guint i = n; asks && i-- > 0;)
                if (turns[i].asks)
                        next = turns[i].time;
                else
                        s->next[turns[i].call] = next;
}

/* Fills next. */
static void find_next(Search *s)
{
        g_autoptr(GArray) turns = g_array_new(FALSE, FALSE, sizeof(Turn));
        const Turn *of;

        s->next = g_new(gint64, s->calls->n);
        for (guint32 i = 0; i < s->calls->n; i++) {
                gboolean asks = (s->links->fetch[i] & FETCHES) != 0;
                Turn turn = { s->links->way[i], asks ? s->calls->at_caller[i].from : came(s, i), i,
                              asks };

                s->next[i] = NOT_ASKED;
                if (turn.way && (asks || (may_start(s, i) && is_worker(s, edge_of(s, i)->callee))))
                        g_array_append_val(turns, turn);
        }
        g_array_sort(turns, compare_turns);
        of = (const Turn *)turns->data;
        for (guint first = 0, i = 1; i <= turns->len; i++)
                if (i == turns->len || of[i].way != of[first].way) {
                        find_next_of(s, of + first, i - first);
                        first = i;
                }
}

/* What a worker does if each message that it asked for lasts until the same connection asks again.
 */
typedef struct {
        guint32 within, outside; /* calls, of any message; not those before the first */
        guint32 pauses, used;    /* times when none is open, and those in which calls go on */
        guint32 empty;           /* messages in which no call begins and ends */
        guint32 overlaps;        /* messages that come while another is open, */
        guint32 nested;          /* and end before the latest of these */
        guint32 n_stays;         /* messages that end, */
        gint64 stays;            /* and how long they last together, ns */
} Asked;

static gboolean is_call(const Search *s, const Event *e)
{
        return !e->comes && !call_is_message(s->calls, e->call);
}

/* The messages in which there is no call: all that begin later end after them. */
static guint32 count_empty(const Search *s, const Event *events, guint n)
{
        gint64 first = G_MAXINT64;
        guint32 empty = 0;

        for (guint i = n; i-- > 0;) {
                const Event *e = &events[i];
                gint64 to = e->comes ? s->next[e->call] : NOT_ASKED;

                if (is_call(s, e))
                        first = MIN(first, e->to);
                else if (to != NOT_ASKED && to != G_MAXINT64 && first != G_MAXINT64)
                        empty += first > to;
        }
        return empty;
}

/* When the worker acknowledged a message, or NOT_ASKED. */
static gint64 acknowledged_at(const Search *s, guint32 call)
{
        return call_is_message(s->calls, call) ? NOT_ASKED : s->calls->at_callee[call].to;
}

static void count_stay(Asked *a, gint64 from, gint64 to, const gint64 *before)
{
        if (to == G_MAXINT64)
                return;
        a->n_stays++;
        a->stays += to - from;
        a->overlaps += before != NULL;
        a->nested += before && to < *before;
}

static gint64 mean_stay(const Asked *a)
{
        return a->stays / MAX(a->n_stays, 1);
}

/* A message comes, or nothing any more, when none has been open since then: long enough for a call,
 * if they last longer than that. */
static void count_pause(Asked *a, gint64 since, gint64 to, gboolean used)
{
        if (since == G_MININT64 || to <= since)
                return;
        if (used || to - since > mean_stay(a))
                a->pauses++;
        a->used += used;
}

/* acknowledged: of the messages that were acknowledged, instead, each until then. */
static Asked count_asked(const Search *s, const Event *events, guint n, gboolean acknowledged)
{
        g_autofree gint64 *open = g_new(gint64, n + 1); /* ends; what came last is last */
        Asked a = { .empty = acknowledged ? 0 : count_empty(s, events, n) };
        gint64 latest = G_MININT64;
        gboolean used = FALSE;
        guint n_open = 0;

        for (guint i = 0; i < n; i++) {
                const Event *e = &events[i];
                gint64 to = !e->comes      ? NOT_ASKED
                            : acknowledged ? acknowledged_at(s, e->call)
                                           : s->next[e->call];

                if (is_call(s, e) && latest != G_MININT64) {
                        *(e->to <= latest ? &a.within : &a.outside) += 1;
                        used |= e->to > latest && e->from - latest < mean_stay(&a);
                }
                if (to == NOT_ASKED)
                        continue;
                if (e->from > latest) {
                        count_pause(&a, latest, e->from, used);
                        used = FALSE;
                }
                while (n_open > 0 && open[n_open - 1] <= e->from)
                        n_open--;
                count_stay(&a, e->from, to, n_open > 0 ? &open[n_open - 1] : NULL);
                latest = MAX(latest, to);
                open[n_open++] = to;
        }
        count_pause(&a, latest, n > 0 ? events[n - 1].from : latest, used);
        return a;
}

/* A process that takes what others work on asks again at once, and calls are made later. Where jobs
 * wait, each call lies in some message all the same; but when none is open any more, calls go on.
 */
static gboolean works_elsewhere(const Asked *a)
{
        return a->outside >= LEAST_OUTSIDE &&
               ((guint64)a->outside * MOST_OUTSIDE > (guint64)a->outside + a->within ||
                2 * a->used > a->pauses);
}

/* Callee and operation; or, where calls have none, the size of the request. */
static guint64 kind_of(const Search *s, guint32 call)
{
        guint16 label = call_labels_get(&s->known->labels, call);
        guint64 kind = (guint64)s->calls->edge[call] << 32 | label;

        /* Sizes count where they are known, whatever is kept: for joint parents. */
        if ((s->calls->wanted & WANT_CONNECTIONS) && label == 0) {
                CallFact fact = call_facts_get(&s->known->facts, call);

                kind |= (guint64)size_class((guint64)fact.call_bytes) << 16;
        }
        return kind;
}

/* Where work always waits each call lies in some message that is not acknowledged yet. But what a
 * message asks for tells of its own calls: of those after it is acknowledged, if that is before it
 * is done, else of those before. */
static gboolean works_after(const Search *s, const Event *events, guint n)
{
        Contingency before, after; /* what messages ask for, and the kinds of calls */
        g_autofree guint32 *calls = g_new(guint32, n + 1);
        g_autofree gint64 *starts = g_new(gint64, n + 1);
        guint n_calls = 0;
        double tells;
        gboolean is_after;

        contingency_init(&before);
        contingency_init(&after);
        for (guint i = 0; i < n; i++)
                if (is_call(s, &events[i])) {
                        starts[n_calls] = events[i].from;
                        calls[n_calls++] = events[i].call;
                }
        for (guint i = 0; i < n; i++) {
                guint32 call = events[i].call;
                guint16 asked = call_labels_get(&s->known->labels, call);
                gsize next;

                if (!events[i].comes || acknowledged_at(s, call) == NOT_ASKED || asked == 0)
                        continue;
                next = time_search(starts, n_calls, acknowledged_at(s, call));
                if (next == 0 || next == n_calls)
                        continue;
                contingency_add(&before, asked, kind_of(s, calls[next - 1]));
                contingency_add(&after, asked, kind_of(s, calls[next]));
        }
        tells = contingency_gain(&after);
        is_after = tells > SURE_OF_ORDER && tells > contingency_gain(&before);
        contingency_clear(&before);
        contingency_clear(&after);
        return is_after;
}

/* How long before it is acknowledged a message's work begins, at most: what comes to an idle worker
 * is begun at once, and is acknowledged the soonest. */
static gint64 longest_before(const Search *s, const Event *events, guint n)
{
        g_autofree gint64 *waits = g_new(gint64, n + 1);
        guint n_waits = 0;

        for (guint i = 0; i < n; i++)
                if (events[i].comes && !call_is_message(s->calls, events[i].call))
                        waits[n_waits++] =
                                acknowledged_at(s, events[i].call) - came(s, events[i].call);
        qsort(waits, n_waits, sizeof *waits, compare_times);
        return n_waits ? BEGUN_TIMES * waits[n_waits / BEGUN_SOON] : 0;
}

/* An acknowledgement says that work was begun, or is about to be, and not where it ends. */
static void go_on_after_acknowledgements(Search *s, Event *events, guint n)
{
        gint64 before = longest_before(s, events, n);
        CallLinks *l = s->links;

        if (!l->since)
                l->since = times_of_calls(s, G_MININT64);
        for (guint i = 0; i < n; i++) {
                guint32 call = events[i].call;
                guint8 *stamps = &s->calls->stamps[call];

                if (!events[i].comes || call_is_message(s->calls, call))
                        continue;
                events[i].begun = acknowledged_at(s, call);
                l->since[call] = events[i].begun - before;
                *stamps = (guint8)((*stamps >> CALL_SENT & 1) << MSG_SENT |
                                   (*stamps >> CALL_RECV & 1) << MSG_RECV);
        }
}

/* Threads share connections: who is done takes the one that was given back last, by which the
 * latest message came, so that one seems to end first, and often before any call can have been made
 * for it. Of workers that have a connection each, the one before began earlier, and mostly ends
 * first; and calls are made for all. The mean is the same: they begin and end at the same times. */
static gboolean shares_connections(const Asked *a)
{
        return a->overlaps >= LEAST_OVERLAPS &&
               (guint64)a->nested * 100 > (guint64)a->overlaps * MOST_NESTED &&
               (guint64)a->empty * 100 > (guint64)a->n_stays * MOST_EMPTY;
}

/* What a worker took lasts until it asks again, on the same connection. */
static void end_asked(Search *s, const Event *events, guint n)
{
        for (guint i = 0; i < n; i++) {
                guint32 call = events[i].call;

                if (!events[i].comes || s->next[call] == NOT_ASKED || s->next[call] == G_MAXINT64)
                        continue;
                set_end(s, call, s->next[call]);
                s->links->starts[call] = STARTS_UNTIL_ASKED;
        }
}

/* --- those that nobody ends --------------------------------------------------------- */

static int compare_events(const void *a, const void *b)
{
        const Event *x = a, *y = b;

        return x->from != y->from ? COMPARE(x->from, y->from) : COMPARE(x->call, y->call);
}

/* The longest that the node does nothing while it is at work: the pauses before its calls. */
static gint64 find_pause(const Event *events, guint n)
{
        g_autofree gint64 *pauses = g_new(gint64, n + 1);
        gint64 busy = G_MININT64;
        guint n_pauses = 0;

        for (guint i = 0; i < n; i++) {
                if (!events[i].comes && busy != G_MININT64)
                        pauses[n_pauses++] = MAX(events[i].from - busy, 0);
                busy = MAX(busy, events[i].to);
        }
        qsort(pauses, n_pauses, sizeof *pauses, compare_times);
        return n_pauses ? pauses[(n_pauses - 1) * THINKS / 100] : 0;
}

/* When each message came, in order. */
static gint64 *list_coming(const Event *events, guint n, guint *n_coming)
{
        gint64 *coming = g_new(gint64, n + 1);

        *n_coming = 0;
        for (guint i = 0; i < n; i++)
                if (events[i].comes)
                        coming[(*n_coming)++] = events[i].from;
        return coming;
}

/* bounded: a message lasts at most until so many have come after it, or after it was acknowledged,
 * and no longer than longest. */
static void end_stays(Search *s, const Event *events, guint n, gboolean bounded, gint64 longest)
{
        gint64 pause = find_pause(events, n) * (bounded ? 1 : SURELY);
        g_autofree gint64 *idle = g_new(gint64, n + 1); /* since when, before an event; or MAX */
        guint n_coming;
        g_autofree gint64 *coming = list_coming(events, n, &n_coming);
        gint64 busy = G_MININT64, end;

        for (guint i = 0; i < n; i++) {
                gboolean idles =
                        events[i].comes && busy != G_MININT64 && events[i].from - busy > pause;

                idle[i] = idles ? events[i].from : G_MAXINT64;
                busy = MAX(busy, events[i].to);
        }
        end = busy + pause;
        for (guint i = n, at = n_coming; i-- > 0;) {
                const Event *e = &events[i];

                if (!e->comes)
                        continue;
                at--;
                if (may_start(s, e->call) && s->links->starts[e->call] == STARTS_WORK) {
                        gsize far = at + MOST_AHEAD;
                        gint64 most = G_MAXINT64;

                        if (e->begun > e->from)
                                far = time_search(coming, n_coming, e->begun + 1) - 1 + MOST_AHEAD;
                        if (bounded && far < n_coming)
                                most = coming[far];
                        if (bounded && longest < most - e->from)
                                most = e->from + longest;
                        set_end(s, e->call, MAX(MIN(end, most), e->begun));
                }
                if (idle[i] != G_MAXINT64)
                        end = e->from;
        }
}

/* --- one at a time ------------------------------------------------------------------ */

static int compare_ends(const void *a, const void *b)
{
        const TurnMessage *x = a, *y = b;

        return COMPARE(x->most, y->most);
}

/* Whether it is not known of some messages when the worker was done with each: nobody says it, or
 * several are answered at once. */
static gboolean are_ends_unknown(const Search *s, const Event *events, guint n,
                                 const TurnMessage *messages, guint n_messages)
{
        g_autofree TurnMessage *by_end = g_memdup2(messages, n_messages * sizeof *messages);

        for (guint i = 0; i < n; i++)
                if (events[i].comes && may_start(s, events[i].call) &&
                    s->links->starts[events[i].call] == STARTS_WORK)
                        return TRUE;
        qsort(by_end, n_messages, sizeof *by_end, compare_ends);
        for (guint i = 1; i < n_messages; i++)
                if (by_end[i].most == by_end[i - 1].most)
                        return TRUE;
        return FALSE;
}

static void set_until(Search *s, guint32 call, gint64 until)
{
        CallLinks *l = s->links;

        if (s->links->starts[call] == STARTS_WORK && call_is_message(s->calls, call)) {
                set_end(s, call, until);
                return;
        }
        if (!l->until)
                l->until = times_of_calls(s, G_MAXINT64);
        l->until[call] = until;
}

/* The calls that the worker makes. */
static WorkerCall *list_calls(const Search *s, const Event *events, guint n, guint *n_calls)
{
        WorkerCall *calls = g_new(WorkerCall, n + 1);

        *n_calls = 0;
        for (guint i = 0; i < n; i++) {
                const Event *e = &events[i];

                if (!e->comes)
                        calls[(*n_calls)++] = (WorkerCall){
                                e->from, e->to, kind_of(s, e->call),
                                call_connections_get(&s->known->connections, e->call).connection
                        };
        }
        return calls;
}

/* Where the worker does one thing at a time, the order of its calls says whose they are. FALSE
 * where it does not, or all ends are known. */
static gboolean find_turns(Search *s, const Event *events, guint n)
{
        g_autofree TurnMessage *messages = g_new(TurnMessage, n);
        guint n_messages = 0, n_calls;
        g_autofree WorkerCall *calls = list_calls(s, events, n, &n_calls);

        for (guint i = 0; i < n; i++) {
                const Event *e = &events[i];

                if (e->comes)
                        messages[n_messages++] =
                                (TurnMessage){ e->from, s->calls->at_callee[e->call].to, 0 };
        }
        if (!are_ends_unknown(s, events, n, messages, n_messages) ||
            !work_in_turn_find(messages, n_messages, calls, n_calls, find_pause(events, n)))
                return FALSE;
        n_messages = 0;
        for (guint i = 0; i < n; i++)
                if (events[i].comes)
                        set_until(s, events[i].call, messages[n_messages++].until);
        return TRUE;
}

static int compare_begun(const void *a, const void *b, void *events)
{
        const Event *x = (const Event *)events + *(const guint32 *)a;
        const Event *y = (const Event *)events + *(const guint32 *)b;

        return x->begun != y->begun ? COMPARE(x->begun, y->begun) : COMPARE(x->call, y->call);
}

/* The messages that a worker's processes begin, in order, and which event each is. */
static LaneMessage *list_begun(const Search *s, const Event *events, guint n, guint32 *which,
                               guint *n_messages)
{
        LaneMessage *messages = g_new(LaneMessage, n + 1);
        gint64 enter = G_MININT64;

        *n_messages = 0;
        for (guint32 i = 0; i < n; i++)
                if (events[i].comes)
                        which[(*n_messages)++] = i;
        g_qsort_with_data(which, (gint)*n_messages, sizeof *which, compare_begun, (void *)events);
        for (guint i = 0; i < *n_messages; i++) {
                const Event *e = &events[which[i]];

                enter = MAX(enter, MAX(e->from, s->links->since[e->call]));
                messages[i] = (LaneMessage){ enter, e->begun,
                                             call_labels_get(&s->known->labels, e->call), 0 };
        }
        return messages;
}

/* Of processes that have connections of their own, where it is known when each message was begun.
 */
static gboolean find_in_lanes(Search *s, const Event *events, guint n)
{
        g_autofree guint32 *which = g_new(guint32, n + 1);
        guint n_messages, n_calls;
        gboolean told =
                FALSE; /* what messages ask for, without which parts may be the next ones' */
        g_autofree LaneMessage *messages = list_begun(s, events, n, which, &n_messages);
        g_autofree WorkerCall *calls = list_calls(s, events, n, &n_calls);

        if (!work_in_lanes_find(messages, n_messages, calls, n_calls))
                return FALSE;
        for (guint i = 1; i < n_messages; i++)
                told |= messages[i].kind != messages[0].kind;
        for (guint i = 0; i < n_messages; i++) {
                guint32 call = events[which[i]].call;

                if (told)
                        s->links->since[call] = MAX(s->links->since[call], messages[i].enter);
                set_end(s, call, messages[i].until);
        }
        return TRUE;
}

static int compare_indices(const void *a, const void *b)
{
        return COMPARE(*(const guint64 *)a, *(const guint64 *)b);
}

/* What ends when, of all that happens at a worker. */
static void find_ends(Search *s, Event *events, guint n)
{
        Asked asked = count_asked(s, events, n, TRUE);
        gboolean elsewhere = works_elsewhere(&asked) || works_after(s, events, n);
        gint64 longest = G_MAXINT64;

        if (elsewhere)
                go_on_after_acknowledgements(s, events, n);
        asked = count_asked(s, events, n, FALSE);
        if (shares_connections(&asked))
                longest = mean_stay(&asked) * LONGEST;
        else if (!works_elsewhere(&asked))
                end_asked(s, events, n);
        end_stays(s, events, n, FALSE, longest);
        if (elsewhere && find_in_lanes(s, events, n))
                return;
        if (!find_turns(s, events, n))
                end_stays(s, events, n, TRUE, longest);
}

/* Node by node. */
static void find_open(Search *s)
{
        g_autoptr(GArray) by_node = g_array_new(FALSE, FALSE, sizeof(guint64));
        g_autoptr(GArray) events = g_array_new(FALSE, FALSE, sizeof(Event));

        for (guint32 i = 0; i < s->calls->n; i++) {
                guint64 to = (guint64)edge_of(s, i)->callee << 32 | i;
                guint64 from = (guint64)edge_of(s, i)->caller << 32 | i;

                if (s->links->starts[i] && is_worker(s, edge_of(s, i)->callee))
                        g_array_append_val(by_node, to);
                if (!s->links->fetch[i] && is_worker(s, edge_of(s, i)->caller))
                        g_array_append_val(by_node, from);
        }
        g_array_sort(by_node, compare_indices);
        for (guint i = 0; i < by_node->len; i++) {
                guint64 it = g_array_index(by_node, guint64, i);
                guint32 call = (guint32)it;
                gboolean comes = edge_of(s, call)->callee == it >> 32;
                Span span = comes ? s->calls->at_callee[call] : s->calls->at_caller[call];
                Event event = { span.from, comes ? span.from : span.to, call, comes, span.from };

                g_array_append_val(events, event);
                if (i + 1 < by_node->len &&
                    g_array_index(by_node, guint64, i + 1) >> 32 == it >> 32)
                        continue;
                g_array_sort(events, compare_events);
                find_ends(s, (Event *)events->data, events->len);
                g_array_set_size(events, 0);
        }
}

/* A transaction of the queue's: what was sent together with a call that tells of what was taken. */
static void settle_together(Search *s, guint32 call, guint32 to, guint32 step)
{
        const CallPairs *c = s->calls;
        guint64 connection = call_connections_get(&s->known->connections, call).connection;

        for (guint32 i = call + step; i != to && c->at_caller[i].from == c->at_caller[call].from;
             i += step)
                if (c->edge[i] == c->edge[call] &&
                    call_connections_get(&s->known->connections, i).connection == connection)
                        s->links->fetch[i] |= FETCH_SETTLES;
}

static void find_settling(Search *s)
{
        for (guint32 i = 0; i < s->calls->n; i++)
                if (s->links->fetch[i] & FETCH_SETTLES) {
                        settle_together(s, i, G_MAXUINT32, G_MAXUINT32);
                        settle_together(s, i, s->calls->n, 1);
                }
}

gint64 open_stays_find(KnownCalls *known)
{
        CallLinks *l = &known->links;
        CallPairs *c = &known->pairs;
        g_autofree Part *parts = g_new0(Part, node_table_size(known->nodes));
        Search s = { known, l, c, parts, NULL };
        gint64 longest = 0;

        if (!l->parent)
                return 0;
        find_settling(&s);
        find_parts(&s);
        find_next(&s);
        find_open(&s);
        g_free(s.next);
        for (guint32 i = 0; i < c->n; i++) {
                if (l->fetch[i] && is_worker(&s, edge_of(&s, i)->caller))
                        l->fetch[i] |= FETCH_OF_WORKER;
                if (!may_start(&s, i) || !is_worker(&s, edge_of(&s, i)->callee)) {
                        l->starts[i] = STARTS_NOTHING;
                        continue;
                }
                c->stamps[i] = (guint8)((c->stamps[i] >> MSG_SENT & 1) << CALL_SENT |
                                        (c->stamps[i] >> MSG_RECV & 1) << CALL_RECV);
                longest = MAX(longest, c->at_callee[i].to - c->at_callee[i].from);
        }
        return longest;
}
