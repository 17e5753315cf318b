/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A discrete-event simulation. An *activity* is a node at work: for one call, for one message, or
 * in one branch of a block. It goes through its steps, draws delays, and plans the event of its
 * next message. The event loop takes the earliest event of the heap and lets its activity go on:
 *
 *     A > B( 5ms C( 2ms ) 1ms )
 *
 *     A  SEND                                       goes on
 *     B        5 ms  SEND                1 ms  RETURN
 *     C                    2 ms  RETURN
 *
 * A call makes an activity at the callee, and its return resumes the caller's. A block makes an
 * activity for each branch, and the last branch to end resumes the block's. An activity at a node
 * with few workers waits in the node's queue (server.h) before it goes on. A tracelet is over when
 * no event of its sequence is planned. Before that, activities that wait for a mark (@NAME) which
 * nobody can set any more are let go.
 */
#include "maketrace/generator.h"

#include <string.h>

#include "base/each.h"
#include "base/error.h"
#include "base/grow.h"

/* Times saturate here, later than any stamp. */
#define TIME_LIMIT (MAX_STAMP + 1)

#define NOT_DRAWN G_MAXUINT

typedef struct Activity Activity;

/* A sequence, and the tracelet under way in it. */
typedef struct {
        Random random;
        const Tracelet *tracelet; /* repeats this one; NULL: draws from the mix */
        const Tracelet *current;  /* the one under way */
        guint64 events;           /* planned events of the tracelet under way */
        guint64 marks;            /* bit i: mark i was set */
        Activity *waiting;        /* activities that wait for a mark */
        gint64 end;               /* the latest end of an activity, ns */
} Sequence;

/* A node at work: for a call or message that it received (a root for none), or in one branch of a
 * block. */
struct Activity {
        Activity *next;    /* in the list of free or of waiting activities */
        Activity *resumes; /* the activity that goes on when this one ends: the caller's, or the
                              block's whose branch this is; NULL: none */
        Activity *call;    /* the activity with the node and position: itself, or of a branch the
                              call's */
        Sequence *sequence;
        const Step *step; /* the current step; NULL at the end */
        guint left;       /* repetitions of the step still to do, or NOT_DRAWN */
        guint branches;   /* branches of the step under way */
        guint uses;       /* references: its own, and of events that will write its text */
        gboolean works;   /* has a worker of its node, if the node counts workers */
        gint64 sent;      /* when its call was sent, ns */
        gint64 served;    /* when its node began its first step, ns; -1: not yet */
        NodeId caller, node;
        gint64 last; /* the time of its last event, ns */
        gint64 time; /* its own time: last, and the delays since, ns */
        guint32 children;
        guint16 id_length, attrs_length;
        char text[]; /* the id, then the attributes */
};

typedef enum {
        EVENT_BEGIN,  /* a sequence begins a tracelet */
        EVENT_SEND,   /* an activity sends the call or message of its step */
        EVENT_SIGN,   /* an activity does its step, a mark or wait */
        EVENT_RETURN, /* an activity replies */
        EVENT_READY,  /* an activity can go on as soon as it has a worker */
        EVENT_START,  /* an activity that waited has a worker now */
        EVENT_FORK,   /* an activity of an event loop begins a block */
        EVENT_DONE,   /* an activity with a worker ends, and nobody gets a return */
        EVENT_CALL_ARRIVES,
        EVENT_MESSAGE_ARRIVES,
        EVENT_RETURN_ARRIVES,
} EventKind;

enum { KIND_BITS = 4, WAYS = 4, POOL_STEP = 64 };

typedef struct {
        gint64 time;
        guint64 order; /* the number of the event, and its kind in the lowest KIND_BITS */
        gpointer who;  /* Sequence or Activity */
} Event;

struct Generator {
        const Scenario *scenario;
        Ziggurat ziggurat;
        GArray *sequences; /* of Sequence */
        guint64 *begun;    /* by tracelet: how often it was begun or planned */
        guint **turns;     /* by tracelet and turn: the index of the node that is next */
        Server **servers;  /* by node: its workers, or NULL without [node] */
        guint n_servers;
        gint64 now;         /* the time of the event being done */
        gint64 begin_limit; /* no tracelet begins at this time or later */
        guint64 order;      /* events planned */
        guint64 calls, requests, messages;
        Event *heap; /* a heap with WAYS children a node */
        gsize n_events, heap_size;
        GPtrArray *blocks; /* memory of activities */
        gsize activity_size;
        Activity *free;
        Activity *spent; /* to be freed before the next event: the last message borrows its text */
};

/* --- events ---------------------------------------------------------------- */

static inline gint64 time_after_delay(gint64 time, gint64 delay)
{
        return delay < TIME_LIMIT - time ? time + delay : TIME_LIMIT;
}

/* Has no branch, since the processor could not predict it. */
static inline gboolean event_before(const Event *a, const Event *b)
{
        return (a->time < b->time) | ((a->time == b->time) & (a->order < b->order));
}

static void plan_event(Generator *g, gint64 time, EventKind kind, gpointer who)
{
        Event e = { time, g->order++ << KIND_BITS | kind, who };
        gsize i = g->n_events++;

        if (g->n_events > g->heap_size)
                GROW(g->heap, g->heap_size, 64);
        for (; i > 0 && event_before(&e, &g->heap[(i - 1) / WAYS]); i = (i - 1) / WAYS)
                g->heap[i] = g->heap[(i - 1) / WAYS];
        g->heap[i] = e;
}

/* Plans an event that belongs to the sequence's tracelet: the tracelet is not over before. */
static void plan_step(Generator *g, gint64 time, EventKind kind, Activity *a)
{
        a->sequence->events++;
        plan_event(g, time, kind, a);
}

/* Takes the earliest event from the heap, which is not empty. */
static Event heap_take_event(Generator *g)
{
        Event first = g->heap[0], last = g->heap[--g->n_events];
        gsize i = 0;

        for (;;) {
                gsize child = i * WAYS + 1, end = MIN(child + WAYS, g->n_events), least = child;

                if (child >= g->n_events)
                        break;
                while (++child < end)
                        least = event_before(&g->heap[child], &g->heap[least]) ? child : least;
                if (!event_before(&g->heap[least], &last))
                        break;
                g->heap[i] = g->heap[least];
                i = least;
        }
        g->heap[i] = last;
        return first;
}

/* --- activities ------------------------------------------------------------ */

static Activity *activity_new(Generator *g, Sequence *sequence, gint64 time, const Step *step)
{
        Activity *a;

        if (!g->free) {
                char *block = g_malloc(g->activity_size * POOL_STEP);

                g_ptr_array_add(g->blocks, block);
                for (guint i = 0; i < POOL_STEP; i++) {
                        a = (Activity *)(block + i * g->activity_size);
                        a->next = g->free;
                        g->free = a;
                }
        }
        a = g->free;
        g->free = a->next;
        memset(a, 0, sizeof *a);
        a->sequence = sequence;
        a->call = a;
        a->step = step;
        a->left = NOT_DRAWN;
        a->uses = 1;
        a->last = a->time = time;
        return a;
}

static void activity_free(Generator *g, Activity *a)
{
        a->next = g->free;
        g->free = a;
}

/* Drops a reference. The message that is being made may still borrow the text. */
static void activity_unuse(Generator *g, Activity *a)
{
        if (--a->uses > 0)
                return;
        a->next = g->spent;
        g->spent = a;
}

static void free_spent(Generator *g)
{
        while (g->spent) {
                Activity *a = g->spent;

                g->spent = a->next;
                activity_free(g, a);
        }
}

static char *write_text_number(char *p, guint64 value, guint base)
{
        char reversed[20];
        int n = 0;

        do
                reversed[n++] = "0123456789abcdef"[value % base];
        while (value /= base);
        while (n)
                *p++ = reversed[--n];
        return p;
}

/* Sets the id and the position of a, which caller calls. */
static void set_call_text(Generator *g, Activity *a, Activity *caller)
{
        static const char key[] = "path=";
        char *p = write_text_number(a->text, ++g->calls, 16);

        a->id_length = p - a->text;
        if (caller->attrs_length) {
                memcpy(p, caller->text + caller->id_length, caller->attrs_length);
                p += caller->attrs_length;
                *p++ = '.';
                p = write_text_number(p, ++caller->children, 10);
        } else {
                memcpy(p, key, sizeof key - 1);
                p = write_text_number(p + sizeof key - 1, ++g->requests, 10);
        }
        a->attrs_length = p - a->text - a->id_length;
}

static const char served_key[] = " served=";

/* Adds " served=NS" to the text of a's return: when its node began to serve the call. */
static void add_served_text(Activity *a)
{
        char *p = a->text + a->id_length + a->attrs_length;

        memcpy(p, served_key, sizeof served_key - 1);
        p = write_text_number(p + sizeof served_key - 1, a->served - a->sent, 10);
        a->attrs_length = p - a->text - a->id_length;
}

/* The longest text of a call at depth: an id, "path=", the position, and when it was served. */
static gsize text_size(guint depth)
{
        return 16 + 5 + 20 + (depth - 1) * 11 + sizeof served_key - 1 + 20;
}

static void make_message(Message *m, gint64 time, MessageOp op, const Activity *a)
{
        gboolean back = op == RET_SENT || op == RET_RECV;

        *m = (Message){ .time = time,
                        .sender = back ? a->node : a->caller,
                        .receiver = back ? a->caller : a->node,
                        .op = op,
                        .attrs_length = a->attrs_length,
                        .attrs = a->text + a->id_length };
        message_set_id(m, a->text, a->id_length);
}

/* --- steps ----------------------------------------------------------------- */

static gint64 draw_delay(Generator *g, Sequence *sequence, const DelayLaw *law)
{
        return delay_law_draw(law, &sequence->random, &g->ziggurat);
}

/* When a message that is sent at time arrives: at least 1 ns later. */
static gint64 draw_arrival(Generator *g, Sequence *sequence, gint64 time)
{
        gint64 delay = draw_delay(g, sequence, &g->scenario->network);

        return time_after_delay(time, MAX(delay, 1));
}

/* The time of a's next event. A cause and its effect are at least 1 ns apart. */
static gint64 next_time(const Activity *a)
{
        return MAX(a->time, time_after_delay(a->last, 1));
}

static NodeId choose_node(Generator *g, Sequence *sequence, const Step *step)
{
        guint *turn, i = 0;

        if (step->turn >= 0) {
                turn = &g->turns[sequence->current->number][step->turn];
                i = *turn;
                *turn = (i + 1) % step->n_nodes;
        } else if (step->n_nodes > 1) {
                i = random_below(&sequence->random, step->n_nodes);
        }
        return step->nodes[i];
}

static guint draw_repeat(Sequence *sequence, const Step *step)
{
        if (step->probability < 1 && random_uniform(&sequence->random) >= step->probability)
                return 0;
        return step->repeat ? step->repeat : random_poisson(&sequence->random, step->repeat_mean);
}

/* --- workers --------------------------------------------------------------- */

/* The server of the node that a is at, or NULL. Roots have none. */
static Server *server_of(const Generator *g, const Activity *a)
{
        const Activity *call = a->call;

        return call->attrs_length && call->node < g->n_servers ? g->servers[call->node] : NULL;
}

static gboolean at_loop(const Server *server)
{
        return server && server_law(server)->loop;
}

/* When a's node is done with work of delay ns that begins at time. */
static gint64 work_until(const Generator *g, const Activity *a, gint64 time, gint64 delay)
{
        Server *server = server_of(g, a);

        return server ? server_done(server, g->now, time, delay) : time_after_delay(time, delay);
}

static void activity_advance(Generator *g, Activity *a);

/* Goes on with a's steps from a->time, now or later, as soon as a has a worker. */
static void activity_go_on(Generator *g, Activity *a)
{
        const Server *server = server_of(g, a);

        if (server && !(at_loop(server) ? a : a->call)->works)
                plan_step(g, a->time, EVENT_READY, a);
        else
                activity_advance(g, a);
}

/* Gives a worker to a, which goes on. */
static void activity_start(Generator *g, Activity *a)
{
        a->works = TRUE;
        a->time = MAX(a->time, g->now);
        if (a->served < 0)
                a->served = work_until(g, a, a->time, 0);
        activity_advance(g, a);
}

static void do_ready(Generator *g, Activity *a)
{
        if (server_take(server_of(g, a), a))
                activity_start(g, a);
        else
                a->sequence->events++; /* the tracelet goes on while a waits */
}

/* Gives back a's worker, which the next waiting activity gets. */
static void give_worker_back(Generator *g, Activity *a)
{
        Activity *next = server_give_back(server_of(g, a));

        a->works = FALSE;
        if (next)
                plan_event(g, g->now, EVENT_START, next); /* counted in do_ready() */
}

/* Gives back a's worker at an event loop, while a waits for a call, a branch or a mark. */
static void pause_loop(Generator *g, Activity *a)
{
        if (a->works && at_loop(server_of(g, a)))
                give_worker_back(g, a);
}

/* --- what an activity does -------------------------------------------------- */

static void end_message(Generator *g, Activity *a)
{
        a->sequence->end = MAX(a->sequence->end, a->time);
        activity_unuse(g, a);
}

static void end_branch(Generator *g, Activity *a)
{
        Activity *whole = a->resumes;

        whole->last = MAX(whole->last, a->last);
        whole->time = MAX(whole->time, a->time);
        if (--whole->branches == 0) {
                whole->works |= a->works; /* in an event loop, the last branch's worker goes on */
                activity_free(g, a);
                activity_advance(g, whole);
                return;
        }
        if (a->works)
                give_worker_back(g, a);
        activity_free(g, a);
}

static void activity_end(Generator *g, Activity *a)
{
        if (a->resumes && a->call == a)
                plan_step(g, work_until(g, a, next_time(a), 0), EVENT_RETURN, a);
        else if (a->works)
                plan_step(g, a->time, EVENT_DONE, a);
        else if (a->resumes)
                end_branch(g, a);
        else
                end_message(g, a);
}

static void do_done(Generator *g, Activity *a)
{
        if (a->resumes) {
                end_branch(g, a);
                return;
        }
        give_worker_back(g, a);
        end_message(g, a);
}

/* Begins all branches of a's step. TRUE if they have all ended already. */
static gboolean begin_block(Generator *g, Activity *a)
{
        gint64 last = a->last, time = a->time;

        a->branches = 1; /* counts a itself, so that no branch resumes it meanwhile */
        for (const Step *s = a->step->first; s; s = s->next) {
                Activity *branch = activity_new(g, a->sequence, time, s->first);

                branch->last = last;
                branch->call = a->call;
                branch->resumes = a;
                a->branches++;
                activity_go_on(g, branch);
        }
        return --a->branches == 0;
}

static void do_fork(Generator *g, Activity *a)
{
        begin_block(g, a); /* the branches wait for the worker given back next */
        give_worker_back(g, a);
}

static void next_step(Activity *a)
{
        a->step = a->step->next;
        a->left = NOT_DRAWN;
}

/* Does a's steps, adding up delays, until one needs an event, which it plans. */
static void activity_advance(Generator *g, Activity *a)
{
        while (a->step) {
                const Step *s = a->step;

                if (s->kind == STEP_DELAY) {
                        a->time = work_until(g, a, a->time, draw_delay(g, a->sequence, &s->delay));
                        next_step(a);
                        continue;
                }
                if (s->kind == STEP_MARK || s->kind == STEP_WAIT) {
                        plan_step(g, a->time, EVENT_SIGN, a);
                        return;
                }
                if (a->left == NOT_DRAWN)
                        a->left = draw_repeat(a->sequence, s);
                if (a->left == 0) {
                        next_step(a);
                        continue;
                }
                a->left--;
                if (s->kind != STEP_BLOCK) {
                        plan_step(g, work_until(g, a, next_time(a), 0), EVENT_SEND, a);
                        return;
                }
                if (at_loop(server_of(g, a))) {
                        plan_step(g, a->time, EVENT_FORK, a);
                        return;
                }
                if (!begin_block(g, a))
                        return;
        }
        activity_end(g, a);
}

static void do_send(Generator *g, Activity *a, gint64 now, Message *message)
{
        const Step *s = a->step;
        gboolean one_way = s->kind == STEP_MESSAGE;
        gint64 arrival = draw_arrival(g, a->sequence, now);
        Activity *callee = activity_new(g, a->sequence, arrival, s->first);

        callee->caller = a->call->node;
        callee->node = choose_node(g, a->sequence, s);
        callee->resumes = one_way ? NULL : a;
        callee->sent = now;
        callee->served = -1;
        set_call_text(g, callee, a->call);
        make_message(message, now, one_way ? MSG_SENT : CALL_SENT, callee);
        if (g->scenario->stamps == STAMPS_BOTH) {
                callee->uses++;
                plan_event(g, arrival, one_way ? EVENT_MESSAGE_ARRIVES : EVENT_CALL_ARRIVES,
                           callee);
        }
        a->last = a->time = now;
        activity_go_on(g, callee);
        if (one_way)
                activity_advance(g, a);
        else
                pause_loop(g, a);
}

static void do_return(Generator *g, Activity *a, gint64 now, Message *message)
{
        Activity *caller = a->resumes;
        gint64 arrival = draw_arrival(g, a->sequence, now);

        if (a->works) {
                add_served_text(a);
                give_worker_back(g, a);
        }
        make_message(message, now, RET_SENT, a);
        if (g->scenario->stamps == STAMPS_BOTH)
                plan_event(g, arrival, EVENT_RETURN_ARRIVES, a);
        else
                activity_unuse(g, a);
        caller->last = caller->time = arrival;
        activity_go_on(g, caller);
}

static void do_arrival(Generator *g, Activity *a, gint64 now, MessageOp op, Message *message)
{
        make_message(message, now, op, a);
        activity_unuse(g, a);
}

/* Lets the activities go on that wait for one of the marks, at now or later. */
static void release_waiting(Generator *g, Sequence *sequence, guint64 marks, gint64 now)
{
        Activity *waiting = NULL, **link = &sequence->waiting;

        while (*link) {
                Activity *a = *link;

                if (!(marks >> a->step->mark & 1)) {
                        link = &a->next;
                        continue;
                }
                *link = a->next;
                a->next = waiting;
                waiting = a;
        }
        /* sequence->waiting had the latest first. This list has the earliest first. */
        while (waiting) {
                Activity *a = waiting;

                waiting = a->next;
                a->last = a->time = MAX(a->time, now);
                next_step(a);
                activity_go_on(g, a);
        }
}

static void do_sign(Generator *g, Activity *a, gint64 now)
{
        Sequence *sequence = a->sequence;
        guint mark = a->step->mark;

        if (a->step->kind == STEP_WAIT && !(sequence->marks >> mark & 1)) {
                a->next = sequence->waiting;
                sequence->waiting = a;
                pause_loop(g, a);
                return;
        }
        if (a->step->kind == STEP_MARK) {
                sequence->marks |= 1ull << mark;
                release_waiting(g, sequence, 1ull << mark, now);
        }
        next_step(a);
        activity_advance(g, a);
}

/* --- sequences ------------------------------------------------------------- */

static gboolean may_begin(const Generator *g, const Tracelet *t)
{
        return t->count == 0 || g->begun[t->number] < t->count;
}

/* One of the tracelets with a weight that may still begin, or NULL. */
static const Tracelet *choose_tracelet(const Generator *g, Random *random)
{
        const GPtrArray *all = g->scenario->tracelets;
        const Tracelet *chosen = NULL;
        double total = 0, at;

        for (guint i = 0; i < all->len; i++)
                if (may_begin(g, all->pdata[i]))
                        total += ((Tracelet *)all->pdata[i])->weight;
        at = random_uniform(random) * total;
        EACH_OF (const Tracelet, t, all) {
                if (t->weight == 0 || !may_begin(g, t))
                        continue;
                chosen = t;
                if (at < t->weight)
                        break;
                at -= t->weight;
        }
        return chosen;
}

/* Plans the sequence's next tracelet, if one may still begin. */
static void plan_begin(Generator *g, Sequence *s, gint64 now)
{
        s->current = s->tracelet ? s->tracelet : choose_tracelet(g, &s->random);
        if (!s->current || !may_begin(g, s->current))
                return;
        g->begun[s->current->number]++;
        plan_event(g, time_after_delay(now, draw_delay(g, s, &s->current->think)), EVENT_BEGIN, s);
}

/* Whether duration= and messages= allow another tracelet. */
static gboolean goes_on(const Generator *g, gint64 now)
{
        return now < g->begin_limit &&
               (!g->scenario->messages || g->messages < g->scenario->messages);
}

static void do_begin(Generator *g, Sequence *s, gint64 now)
{
        s->marks = 0;
        s->end = now + 1;
        EACH_OF (const Step, path, s->current->paths) {
                Activity *root = activity_new(g, s, now, path->first);

                root->node = choose_node(g, s, path);
                root->last = now - 1; /* its first call may be at once */
                activity_advance(g, root);
        }
}

/* Called after each event of a sequence. If no event is planned, waiting activities go on. If none
 * waits either, the tracelet is over. */
static void look_for_end(Generator *g, Sequence *s, gint64 now)
{
        while (s->events == 0 && s->waiting)
                release_waiting(g, s, G_MAXUINT64, MAX(now, s->end));
        if (s->events == 0)
                plan_begin(g, s, s->end);
}

static void add_servers(Generator *g)
{
        const GArray *laws = g->scenario->nodes;

        for (guint i = 0; i < laws->len; i++)
                g->n_servers = MAX(g->n_servers, g_array_index(laws, ServerLaw, i).node + 1);
        g->servers = g_new0(Server *, g->n_servers);
        EACH (const ServerLaw, law, laws)
                g->servers[law->node] =
                        server_new(law, g->scenario->seed, g->scenario->start, &g->ziggurat);
}

static void add_sequences(Generator *g, const Tracelet *t, const char *name, guint n)
{
        for (guint i = 0; i < n; i++) {
                Sequence s = { .tracelet = t };

                random_init(&s.random, g->scenario->seed, name, i);
                g_array_append_val(g->sequences, s);
        }
}

Generator *generator_new(const Scenario *scenario)
{
        Generator *g = g_new0(Generator, 1);
        guint n = scenario->tracelets->len, depth = 1;

        g->scenario = scenario;
        ziggurat_init(&g->ziggurat);
        g->sequences = g_array_new(FALSE, FALSE, sizeof(Sequence));
        g->begun = g_new0(guint64, n);
        g->turns = g_new0(guint *, n);
        g->blocks = g_ptr_array_new_with_free_func(g_free);
        g->begin_limit = scenario->duration ? time_after_delay(scenario->start, scenario->duration)
                                            : TIME_LIMIT;
        for (guint i = 0; i < n; i++) {
                const Tracelet *t = scenario->tracelets->pdata[i];

                g->turns[i] = g_new0(guint, t->n_turns);
                depth = MAX(depth, t->depth);
                add_sequences(g, t, t->name, t->parallel);
        }
        /* No tracelet's name is empty. */
        add_sequences(g, NULL, "", scenario->parallel);
        add_servers(g);
        g->activity_size = (sizeof(Activity) + text_size(depth) + 15) & ~(gsize)15;
        for (guint i = 0; i < g->sequences->len; i++)
                plan_begin(g, &g_array_index(g->sequences, Sequence, i), scenario->start);
        return g;
}

/* Does event e. FALSE: it made no message. */
static gboolean do_event(Generator *g, const Event *e, Message *message)
{
        EventKind kind = e->order & ((1 << KIND_BITS) - 1);
        Activity *a = e->who;
        Sequence *s;

        switch (kind) {
        case EVENT_CALL_ARRIVES:
                do_arrival(g, a, e->time, CALL_RECV, message);
                return TRUE;
        case EVENT_MESSAGE_ARRIVES:
                do_arrival(g, a, e->time, MSG_RECV, message);
                return TRUE;
        case EVENT_RETURN_ARRIVES:
                do_arrival(g, a, e->time, RET_RECV, message);
                return TRUE;
        case EVENT_BEGIN:
                s = e->who;
                if (!goes_on(g, e->time))
                        return FALSE;
                s->events++; /* this event, so that the tracelet does not end while it begins */
                do_begin(g, s, e->time);
                break;
        case EVENT_SEND:
                s = a->sequence;
                do_send(g, a, e->time, message);
                break;
        case EVENT_SIGN:
                s = a->sequence;
                do_sign(g, a, e->time);
                break;
        case EVENT_RETURN:
                s = a->sequence;
                do_return(g, a, e->time, message);
                break;
        case EVENT_READY:
                s = a->sequence;
                do_ready(g, a);
                break;
        case EVENT_START:
                s = a->sequence;
                activity_start(g, a);
                break;
        case EVENT_FORK:
                s = a->sequence;
                do_fork(g, a);
                break;
        case EVENT_DONE:
                s = a->sequence;
                do_done(g, a);
                break;
        default:
                g_assert_not_reached();
        }
        s->events--;
        look_for_end(g, s, e->time);
        return kind == EVENT_SEND || kind == EVENT_RETURN;
}

/* Fails if a call still waits for a worker when no event is left: a deadlock. */
static gboolean check_workers(const Generator *g, GError **error)
{
        const GArray *laws = g->scenario->nodes;

        EACH (const ServerLaw, law, laws) {
                guint waiting = server_waiting(g->servers[law->node]);

                if (waiting == 0)
                        continue;
                return ravel_fail(error, RAVEL_ERROR_INPUT,
                                  "%s: %u calls of %s wait for ever, since its workers wait for "
                                  "them: expected more servers= in [node %s], or holds=work",
                                  g->scenario->text->file, waiting, law->name, law->name);
        }
        return TRUE;
}

int generator_next(Generator *g, Message *message, GError **error)
{
        while (g->n_events > 0) {
                Event e = heap_take_event(g);

                free_spent(g);
                g->now = e.time;
                if (e.time >= TIME_LIMIT) {
                        g_set_error(error, RAVEL_ERROR, RAVEL_ERROR_INPUT,
                                    "%s: times run past the year 2116: expected shorter delays, or "
                                    "a smaller duration=, messages= or count=",
                                    g->scenario->text->file);
                        return -1;
                }
                if (do_event(g, &e, message)) {
                        g->messages++;
                        return 1;
                }
        }
        return check_workers(g, error) ? 0 : -1;
}

guint64 generator_requests(const Generator *g)
{
        return g->requests;
}

guint64 generator_messages(const Generator *g)
{
        return g->messages;
}

void generator_free(Generator *g)
{
        if (!g)
                return;
        for (guint i = 0; i < g->scenario->tracelets->len; i++)
                g_free(g->turns[i]);
        for (guint i = 0; i < g->n_servers; i++)
                server_free(g->servers[i]);
        g_free(g->servers);
        g_free(g->turns);
        g_free(g->begun);
        g_array_free(g->sequences, TRUE);
        g_ptr_array_free(g->blocks, TRUE);
        g_free(g->heap);
        g_free(g);
}
