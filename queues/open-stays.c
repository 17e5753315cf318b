/* SPDX-License-Identifier: BSD-2-Clause */
#include "queues/open-stays.h"

#include <stdlib.h>

#include "base/compare.h"
#include "base/contingency.h"
#include "base/size-class.h"
#include "base/time-search.h"
#include "queues/work-in-processes.h"
#include "queues/work-in-turn.h"

enum {
        MOST_AHEAD = 64, /* a stay may last until 64 later messages have come */
        SURELY = 4,      /* in a pause 4 times the usual, a worker has no job left */
        THINKS = 99,     /* the usual pause is the 99th percentile of those before calls */

        /* A message is not done with when its connection asks again, if at least LEAST_OUTSIDE
         * calls are outside all stays, and more than one call in MOST_OUTSIDE is. */
        MOST_OUTSIDE = 10,
        LEAST_OUTSIDE = 10,

        /* Nor if at least LEAST_OVERLAPS stays overlap, over MOST_NESTED % of them end before the
         * stay before, and over MOST_EMPTY % of all have no call. Workers with processes had 28 to
         * 45 % and 0 %, workers with threads 89 to 98 % and 8 to 57 %. */
        MOST_NESTED = 75,
        LEAST_OVERLAPS = 20,
        MOST_EMPTY = 3,
        LONGEST = 3, /* a stay then lasts at most 3 times the mean */

        /* Work begins at most BEGUN_TIMES times the shortest time to an acknowledgement before it.
         * The shortest time is the percentile 100 / BEGUN_SOON. */
        BEGUN_TIMES = 10,
        BEGUN_SOON = 100,

        NEAR_CALLS = 4,     /* calls before and after an acknowledgement that are looked at */
        SURE_OF_ORDER = 20, /* nats that what messages ask for must tell of the calls after them */
};

/* What a node does with messages that nobody answers. */
typedef struct {
        guint32 called;  /* calls to it that start no work */
        guint32 started; /* messages to it that may start its work */
        guint32 passed;  /* calls and messages of its own that continue others */
        guint32 made;    /* calls of its own that neither continue others nor ask for work */
} NodeUse;

/* A message that comes to a node, or a call that it makes. */
typedef struct {
        gint64 from, to;
        guint32 call;
        gboolean comes; /* a message that may start work */
        gint64 begun;   /* when that work was begun: at the acknowledgement, if that came before the
                           work was done; else when the message came */
} Event;

typedef struct {
        KnownCalls *known;
        CallLinks *links; /* of known, */
        CallPairs *calls; /* and its call pairs */
        NodeUse *uses;    /* by NodeId */
        gint64 *next;     /* by message: when the connection that it came by asks again;
                             G_MAXINT64: never; NOT_ASKED: no worker asked for it */
} Search;

#define NOT_ASKED G_MININT64

/* A column of times by call, all set to this one. */
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

static void find_uses(Search *s)
{
        for (guint32 i = 0; i < s->calls->n; i++) {
                const EdgeRole *edge = edge_of(s, i);
                NodeUse *from = &s->uses[edge->caller], *to = &s->uses[edge->callee];

                to->called += !s->links->starts[i] && !call_is_message(s->calls, i);
                to->started += s->links->starts[i] != STARTS_NOTHING;
                from->passed += s->links->parent[i] != NO_PARENT;
                from->made += s->links->parent[i] == NO_PARENT && !s->links->fetch[i];
        }
}

static gboolean is_worker(const Search *s, NodeId node)
{
        const NodeUse *p = &s->uses[node];

        return p->started > 0 && p->called == 0 && p->passed == 0 && p->made > 0;
}

/* --- workers that ask for the next message ---------------------------------------------------- */

/* A message that came by a connection, or a call that asks for the next. */
typedef struct {
        guint64 way;
        gint64 time;
        guint32 call;
        gboolean asks;
} Turn;

COMPARISON(compare_turns, Turn,
           COMPARE(a->way, b->way) ?:
           COMPARE(a->time, b->time) ?:
           COMPARE(b->asks, a->asks))

/* Sets the end of a call, on the clocks of both ends. */
static void set_end(Search *s, guint32 call, gint64 end)
{
        CallPairs *c = s->calls;

        c->at_caller[call].to += end - c->at_callee[call].to;
        if (c->at_callee != c->at_caller)
                c->at_callee[call].to = end;
}

static gint64 arrival_time(const Search *s, guint32 call)
{
        return s->calls->at_callee[call].from;
}

/* Fills next for one connection. If nothing asks on it, as with a subscriber, messages come at any
 * time, and next says nothing. */
static void find_next_on(Search *s, const Turn *turns, guint n)
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
static void find_next_asking(Search *s)
{
        g_autoptr(GArray) turns = g_array_new(FALSE, FALSE, sizeof(Turn));
        const Turn *of;

        s->next = g_new(gint64, s->calls->n);
        for (guint32 i = 0; i < s->calls->n; i++) {
                gboolean asks = (s->links->fetch[i] & FETCHES) != 0;
                Turn turn = { s->links->way[i],
                              asks ? s->calls->at_caller[i].from : arrival_time(s, i), i, asks };

                s->next[i] = NOT_ASKED;
                if (turn.way && (asks || (may_start(s, i) && is_worker(s, edge_of(s, i)->callee))))
                        g_array_append_val(turns, turn);
        }
        g_array_sort(turns, compare_turns);
        of = (const Turn *)turns->data;
        for (guint first = 0, i = 1; i <= turns->len; i++)
                if (i == turns->len || of[i].way != of[first].way) {
                        find_next_on(s, of + first, i - first);
                        first = i;
                }
}

/* How calls lie to stays, if each stay lasts until the same connection asks again. */
typedef struct {
        guint32 within, outside; /* calls in some stay, and in none; not before the first stay */
        guint32 pauses, used;    /* times when no stay is open, and those in which calls go on */
        guint32 empty;           /* stays in which no call begins and ends */
        guint32 overlaps;        /* stays that begin while another is open, */
        guint32 nested;          /* and end before the latest of the others */
        guint32 n_stays;         /* stays that end, */
        gint64 stays;            /* and how long they last together, ns */
} Asked;

static gboolean is_call(const Search *s, const Event *e)
{
        return !e->comes && !call_is_message(s->calls, e->call);
}

/* Counts stays without a call: every call that begins later ends after the stay. */
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

/* Counts the time in which no stay was open. It is a pause only if a call would have fitted in. */
static void count_pause(Asked *a, gint64 since, gint64 to, gboolean used)
{
        if (since == G_MININT64 || to <= since)
                return;
        if (used || to - since > mean_stay(a))
                a->pauses++;
        a->used += used;
}

/* acknowledged: stays end with their acknowledgement, instead. */
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

/* Whether the node takes jobs that are done later or elsewhere: it then asks again at once. If jobs
 * wait, each call lies in some stay all the same; but calls go on when no stay is open. */
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

/* The list of a call; NULL: it has none. */
static const guint32 *identifiers_of(const Search *s, guint32 call)
{
        const CallIdentifiers *c = &s->known->identifiers;
        const guint32 *lists = call_identifiers_lists(c);
        guint32 at = call_identifiers_get(c, call);

        return lists && at ? &lists[at] : NULL;
}

/* How many calls come before, and after, their message is acknowledged. That is the latest message
 * with one of their identifiers. One of many messages (1 in MOST_OUTSIDE) does not count. */
static void count_sides(const Search *s, const Event *events, guint n, guint *before, guint *after)
{
        g_autoptr(GHashTable) latest = g_hash_table_new(NULL, NULL);
        g_autoptr(GHashTable) times = g_hash_table_new(NULL, NULL);
        guint n_messages = 0;

        *before = *after = 0;
        for (guint i = 0; i < n; i++) {
                guint32 call = events[i].call;
                const guint32 *list = identifiers_of(s, call);
                gint64 acknowledged = G_MININT64;

                n_messages += events[i].comes;
                for (guint k = 1; list && k <= list[0]; k++) {
                        gpointer id = GUINT_TO_POINTER(list[k]);
                        guint seen = GPOINTER_TO_UINT(g_hash_table_lookup(times, id));

                        if (events[i].comes) {
                                g_hash_table_insert(times, id, GUINT_TO_POINTER(seen + 1));
                                g_hash_table_insert(latest, id, GUINT_TO_POINTER(call));
                        } else if (seen > 0 && seen * MOST_OUTSIDE <= n_messages) {
                                guint32 message = GPOINTER_TO_UINT(g_hash_table_lookup(latest, id));

                                acknowledged = MAX(acknowledged, acknowledged_at(s, message));
                        }
                }
                if (is_call(s, &events[i]) && acknowledged > G_MININT64)
                        *(events[i].from > acknowledged ? after : before) += 1;
        }
}

/* The calls of a worker, by start. */
typedef struct {
        guint32 *call;
        gint64 *start; /* ns */
        guint n;
} MadeCalls;

/* What messages ask for tells this much of the kind of one call near their acknowledgement, nats.
 * step: 0 for the first call after it, -1 for the last one before. */
static double gain_near(const Search *s, const Event *events, guint n, const MadeCalls *made,
                        gint step)
{
        Contingency kinds; /* what messages ask for, by kinds of calls */
        double gain;

        contingency_init(&kinds);
        for (guint i = 0; i < n; i++) {
                guint32 call = events[i].call;
                guint16 asked = call_labels_get(&s->known->labels, call);
                gint64 at;

                if (!events[i].comes || acknowledged_at(s, call) == NOT_ASKED || asked == 0)
                        continue;
                at = (gint64)time_search(made->start, made->n, acknowledged_at(s, call)) + step;
                if (at >= 0 && at < made->n)
                        contingency_add(&kinds, asked, kind_of(s, made->call[at]));
        }
        gain = contingency_gain(&kinds);
        contingency_clear(&kinds);
        return gain;
}

/* Whether calls come after the acknowledgement of their message, judged by their kinds. If jobs
 * always wait, each call lies in some stay, so its place says nothing. A first call may come before
 * an early acknowledgement. So several calls on either side are looked at: what a message asks for
 * tells next to nothing of the calls after a late one. */
static gboolean works_after(const Search *s, const Event *events, guint n)
{
        g_autofree guint32 *call = g_new(guint32, n + 1);
        g_autofree gint64 *start = g_new(gint64, n + 1);
        MadeCalls made = { call, start, 0 };
        double before = 0, after = 0;
        guint n_before, n_after;

        count_sides(s, events, n, &n_before, &n_after);
        if (n_before + n_after >= LEAST_OUTSIDE)
                return n_after > n_before;
        for (guint i = 0; i < n; i++)
                if (is_call(s, &events[i])) {
                        start[made.n] = events[i].from;
                        call[made.n++] = events[i].call;
                }
        for (gint step = 0; step < NEAR_CALLS; step++) {
                before += gain_near(s, events, n, &made, -1 - step);
                after += gain_near(s, events, n, &made, step);
        }
        return after > SURE_OF_ORDER && 2 * after > before;
}

/* How long before its acknowledgement the work of a message begins, at most, ns. A message to an
 * idle worker is begun at once, and acknowledged the soonest. */
static gint64 longest_before(const Search *s, const Event *events, guint n)
{
        g_autofree gint64 *waits = g_new(gint64, n + 1);
        guint n_waits = 0;

        for (guint i = 0; i < n; i++)
                if (events[i].comes && !call_is_message(s->calls, events[i].call))
                        waits[n_waits++] = acknowledged_at(s, events[i].call) -
                                           arrival_time(s, events[i].call);
        qsort(waits, n_waits, sizeof *waits, compare_int64s);
        return n_waits ? BEGUN_TIMES * waits[n_waits / BEGUN_SOON] : 0;
}

/* The acknowledgements say when work was begun: the stays of these messages are open. */
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

/* Whether threads share connections. A thread that is done takes the connection that was given back
 * last, by which the latest message came. So that message seems to end first, and often
 * before any call was made for it. Processes with a connection each mostly end in the order of
 * their beginnings, and make calls for all. The mean stay is right in both cases. */
static gboolean shares_connections(const Asked *a)
{
        return a->overlaps >= LEAST_OVERLAPS &&
               (guint64)a->nested * 100 > (guint64)a->overlaps * MOST_NESTED &&
               (guint64)a->empty * 100 > (guint64)a->n_stays * MOST_EMPTY;
}

/* A stay ends when the same connection asks again. */
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

/* --- stays that nobody ends --------------------------------------------------------- */

COMPARISON(compare_events, Event, COMPARE(a->from, b->from) ?: COMPARE(a->call, b->call))

/* The longest usual pause of the node while it is at work: before a call, ns. */
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
        qsort(pauses, n_pauses, sizeof *pauses, compare_int64s);
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

/* A stay lasts at most until a message comes to the idle worker. bounded: also at most until
 * MOST_AHEAD messages have come after it was begun, and no longer than longest. */
static void end_stays(Search *s, const Event *events, guint n, gboolean bounded, gint64 longest)
{
        gint64 pause = find_pause(events, n) * (bounded ? 1 : SURELY);
        g_autofree gint64 *idle =
                g_new(gint64,
                      n + 1); /* by event: its time, if the node was idle before; else G_MAXINT64 */
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

/* --- the ends of jobs by their calls
 * ------------------------------------------------------------------ */

COMPARISON(compare_ends, TurnJob, COMPARE(a->latest, b->latest))

/* Whether the ends of some stays are unknown: nobody acknowledges the messages, or several at
 * once. */
static gboolean are_ends_unknown(const Search *s, const Event *events, guint n, const TurnJob *jobs,
                                 guint n_jobs)
{
        g_autofree TurnJob *by_end = g_memdup2(jobs, n_jobs * sizeof *jobs);

        for (guint i = 0; i < n; i++)
                if (events[i].comes && may_start(s, events[i].call) &&
                    s->links->starts[events[i].call] == STARTS_WORK)
                        return TRUE;
        qsort(by_end, n_jobs, sizeof *by_end, compare_ends);
        for (guint i = 1; i < n_jobs; i++)
                if (by_end[i].latest == by_end[i - 1].latest)
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

static WorkerCall *list_calls(const Search *s, const Event *events, guint n, guint *n_calls)
{
        WorkerCall *calls = g_new(WorkerCall, n + 1);

        *n_calls = 0;
        for (guint i = 0; i < n; i++) {
                const Event *e = &events[i];

                if (!e->comes)
                        calls[(*n_calls)++] = (WorkerCall){
                                e->from, e->to, kind_of(s, e->call),
                                call_connections_get(&s->known->connections, e->call).connection,
                                identifiers_of(s, e->call)
                        };
        }
        return calls;
}

/* The ends of jobs by the order of calls, if the worker does one job at a time. FALSE if it does
 * several, or if all ends are known. */
static gboolean end_in_turn(Search *s, const Event *events, guint n)
{
        g_autofree TurnJob *jobs = g_new(TurnJob, n);
        guint n_jobs = 0, n_calls;
        g_autofree WorkerCall *calls = list_calls(s, events, n, &n_calls);

        for (guint i = 0; i < n; i++) {
                const Event *e = &events[i];

                if (e->comes)
                        jobs[n_jobs++] = (TurnJob){ e->from, s->calls->at_callee[e->call].to, 0 };
        }
        if (!are_ends_unknown(s, events, n, jobs, n_jobs) ||
            !work_in_turn_find(jobs, n_jobs, calls, n_calls, find_pause(events, n)))
                return FALSE;
        n_jobs = 0;
        for (guint i = 0; i < n; i++)
                if (events[i].comes)
                        set_until(s, events[i].call, jobs[n_jobs++].end);
        return TRUE;
}

static int compare_begun(const void *a, const void *b, void *events)
{
        const Event *x = (const Event *)events + *(const guint32 *)a;
        const Event *y = (const Event *)events + *(const guint32 *)b;

        return COMPARE(x->begun, y->begun) ?: COMPARE(x->call, y->call);
}

/* The jobs that a worker's processes begin, in order. which: set, by job, the event of its message.
 */
static Job *list_jobs(const Search *s, const Event *events, guint n, guint32 *which, guint *n_jobs)
{
        Job *jobs = g_new(Job, n + 1);
        gint64 earliest = G_MININT64;

        *n_jobs = 0;
        for (guint32 i = 0; i < n; i++)
                if (events[i].comes)
                        which[(*n_jobs)++] = i;
        g_qsort_with_data(which, (gint)*n_jobs, sizeof *which, compare_begun, (void *)events);
        for (guint i = 0; i < *n_jobs; i++) {
                const Event *e = &events[which[i]];

                earliest = MAX(earliest, MAX(e->from, s->links->since[e->call]));
                jobs[i] = (Job){ earliest, e->begun, call_labels_get(&s->known->labels, e->call), 0,
                                 identifiers_of(s, e->call) };
        }
        return jobs;
}

/* The ends of jobs by the calls of processes that have connections of their own, where it is known
 * when each job was begun. FALSE where this finds nothing. */
static gboolean end_by_processes(Search *s, const Event *events, guint n)
{
        g_autofree guint32 *which = g_new(guint32, n + 1);
        guint n_jobs, n_calls;
        gboolean kinds_known = FALSE; /* else calls may be those of the next jobs */
        g_autofree Job *jobs = list_jobs(s, events, n, which, &n_jobs);
        g_autofree WorkerCall *calls = list_calls(s, events, n, &n_calls);

        if (!work_in_processes_find(jobs, n_jobs, calls, n_calls))
                return FALSE;
        for (guint i = 1; i < n_jobs; i++)
                kinds_known |= jobs[i].kind != jobs[0].kind;
        for (guint i = 0; i < n_jobs; i++) {
                guint32 call = events[which[i]].call;

                if (kinds_known)
                        s->links->since[call] = MAX(s->links->since[call], jobs[i].earliest);
                set_end(s, call, jobs[i].end);
        }
        return TRUE;
}

static int compare_indices(const void *a, const void *b)
{
        return COMPARE(*(const guint64 *)a, *(const guint64 *)b);
}

static void end_stays_of_worker(Search *s, Event *events, guint n)
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
        if (elsewhere && end_by_processes(s, events, n))
                return;
        if (!end_in_turn(s, events, n))
                end_stays(s, events, n, TRUE, longest);
}

static void end_open_stays(Search *s)
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
                end_stays_of_worker(s, (Event *)events->data, events->len);
                g_array_set_size(events, 0);
        }
}

/* A transaction of the queue: calls sent together with one that settles a job settle it, too. */
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
        g_autofree NodeUse *uses = g_new0(NodeUse, node_table_size(known->nodes));
        Search s = { known, l, c, uses, NULL };
        gint64 longest = 0;

        if (!l->parent)
                return 0;
        find_settling(&s);
        find_uses(&s);
        find_next_asking(&s);
        end_open_stays(&s);
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
