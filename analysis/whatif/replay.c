/* SPDX-License-Identifier: BSD-2-Clause */
#include "analysis/whatif/replay.h"

#include <math.h>

/* The time of a call with a queue below it is found by events. */
#define BY_EVENTS G_MININT64

typedef enum { EVENT_WORKER_FREE, EVENT_ANSWER, EVENT_HEDGE, EVENT_ENTER, EVENT_REQUEST } EventKind;

/* A call of a request that is under way. Times are ns. */
typedef struct {
        gint64 start, end;
        gint64 entered; /* its service began */
        gint64 latest;  /* return of the calls before next */
        guint32 next;   /* the first call below it that has not ended, by its distance */
        guint8 sent : 1, ended : 1, replied : 1;
} LiveCall;

/* A request that is under way, or the second call of a hedge. */
typedef struct _LiveRequest LiveRequest;
struct _LiveRequest {
        guint32 first;      /* call */
        guint32 request;    /* NO_PARENT: a hedge */
        guint32 open;       /* calls that have not replied, and events that name it */
        LiveRequest *hedge; /* whose call it is made for */
        guint32 hedge_call; /* of hedge */
        LiveCall calls[];
};

typedef struct {
        gint64 time;
        guint64 number; /* of events; ties are in this order */
        LiveRequest *live;
        guint32 call; /* of live; the node of EVENT_WORKER_FREE; the request of EVENT_REQUEST */
        guint8 kind;
} ReplayEvent;

typedef struct {
        LiveRequest *live;
        guint32 call;
} Waiting;

typedef struct {
        GArray *queue; /* of Waiting; NULL: no workers */
        guint head;    /* of queue */
        guint32 idle;
        double served; /* ns */
} Server;

typedef struct {
        const ReplayRequests *requests;
        const ReplaySettings *settings;
        const ReplayCall *calls;
        gint64 *times;         /* by call, from its start to its end, or BY_EVENTS */
        GArray **donors;       /* by node with a hedge: of guint32, the calls into it */
        Server *servers;       /* by node */
        GArray *events;        /* of ReplayEvent, a heap */
        guint64 n_events;      /* so far */
        gint64 *starts, *ends; /* of calls below one, by their distance */
        gint64 *latency;
        gint64 now, last_start;
} Replay;

/* --- own time -------------------------------------------------------------- */

/* The factor of the own time of a call. Sums up its own time only if less needs it. */
static double own_factor(const Replay *r, guint32 call)
{
        const ReplayCall *c = &r->calls[call];
        const ReplayNode *node = &r->settings->nodes[c->node];
        double own = (double)MAX(c->last, 0);

        if (node->less == 0)
                return node->factor;
        for (guint32 i = 1; i < c->size; i += c[i].size)
                own += c[i].follows == AFTER_REPLY ? 0 : (double)MAX(c[i].gap, 0);
        return own > 0 ? MAX(0, own - (double)node->less) / own * node->factor : 1;
}

static gint64 scale_own(double factor, gint64 time)
{
        if (factor == 1 || time <= 0)
                return time;
        return (gint64)MIN(floor(factor * (double)time + 0.5), (double)REPLAY_TIME_LIMIT);
}

/* --- calls without a queue ------------------------------------------------- */

/* The time of a call from its start to its end, when that of all below it is known. */
static gint64 plain_time(Replay *r, guint32 call)
{
        const ReplayCall *c = &r->calls[call];
        double factor = own_factor(r, call);
        gint64 latest = 0, reply;

        if (c->missed)
                return c->back;
        for (guint32 i = 1; i < c->size; i += c[i].size) {
                gint64 start = latest;

                if (c[i].follows == AFTER_REPLY)
                        break;
                if (c[i].follows == AFTER_START)
                        start = r->starts[i - c[i].after];
                else if (c[i].follows == AFTER_END)
                        start = r->ends[i - c[i].after];
                start += scale_own(factor, c[i].gap);
                r->starts[i] = start;
                r->ends[i] = start + (c[i].loose || c[i].dropped ? 0 : r->times[call + i]);
                latest = MAX(latest, r->ends[i]);
        }
        reply = latest;
        if (c->reply_follows == AFTER_START)
                reply = r->starts[c->reply_after];
        else if (c->reply_follows == AFTER_END)
                reply = r->ends[c->reply_after];
        return c->there + reply + scale_own(factor, c->last) + c->back;
}

static gboolean has_queue(const Replay *r, guint32 call)
{
        const ReplayCall *c = &r->calls[call];

        if (r->settings->nodes[c->node].workers > 0)
                return TRUE;
        for (guint32 i = 1; i < c->size; i += c[i].size)
                if (r->times[call + i] == BY_EVENTS && !c[i].dropped)
                        return TRUE;
        return FALSE;
}

/* The donor of a hedge is any call into the node: always the same for a call. */
static guint32 pick_donor(const Replay *r, guint32 call)
{
        const GArray *donors = r->donors[r->calls[call].node];
        guint64 x = (call + 1) * G_GUINT64_CONSTANT(0x9e3779b97f4a7c15);

        x = (x ^ x >> 29) * G_GUINT64_CONSTANT(0xbf58476d1ce4e5b9);
        return g_array_index(donors, guint32, (x >> 32) % donors->len);
}

static gint64 node_hedge(const Replay *r, guint32 call)
{
        const ReplayCall *c = &r->calls[call];

        return c->loose || c->missed ? 0 : r->settings->nodes[c->node].hedge;
}

static void find_plain_times(Replay *r)
{
        guint32 n = r->requests->calls->len;

        for (guint32 i = n; i-- > 0;)
                r->times[i] = has_queue(r, i) ? BY_EVENTS : plain_time(r, i);
}

/* A hedge ends with whichever answer is first. Donors have no hedge, so theirs are kept. */
static void hedge_plain_times(Replay *r)
{
        guint32 n = r->requests->calls->len;
        g_autofree gint64 *single = g_memdup2(r->times, n * sizeof *single);

        for (guint32 i = n; i-- > 0;) {
                gint64 hedge = node_hedge(r, i);

                if (r->times[i] == BY_EVENTS)
                        continue;
                r->times[i] = plain_time(r, i);
                if (hedge > 0 && r->times[i] > hedge && single[pick_donor(r, i)] != BY_EVENTS)
                        r->times[i] = MIN(r->times[i], hedge + single[pick_donor(r, i)]);
        }
}

static void find_donors(Replay *r)
{
        gboolean any = FALSE;

        for (guint i = 0; i < r->settings->n_nodes; i++)
                if (r->settings->nodes[i].hedge > 0) {
                        r->donors[i] = g_array_new(FALSE, FALSE, sizeof(guint32));
                        any = TRUE;
                }
        for (guint32 i = 0; any && i < r->requests->calls->len; i++)
                if (node_hedge(r, i) > 0)
                        g_array_append_val(r->donors[r->calls[i].node], i);
        if (any)
                hedge_plain_times(r);
}

/* --- events ---------------------------------------------------------------- */

static gboolean event_is_before(const ReplayEvent *a, const ReplayEvent *b)
{
        if (a->time != b->time)
                return a->time < b->time;
        return a->kind != b->kind ? a->kind < b->kind : a->number < b->number;
}

static void event_push(Replay *r, gint64 time, EventKind kind, LiveRequest *live, guint32 call)
{
        ReplayEvent e = { MAX(time, r->now), r->n_events++, live, call, kind };
        guint at = r->events->len;

        if (live)
                live->open++;
        g_array_append_val(r->events, e);
        ReplayEvent *heap = (ReplayEvent *)r->events->data;
        for (; at > 0 && event_is_before(&e, &heap[(at - 1) / 2]); at = (at - 1) / 2)
                heap[at] = heap[(at - 1) / 2];
        heap[at] = e;
}

static ReplayEvent event_pop(Replay *r)
{
        ReplayEvent *heap = (ReplayEvent *)r->events->data, first = heap[0];
        guint n = r->events->len - 1, at = 0, child;
        ReplayEvent e = heap[n];

        for (; (child = 2 * at + 1) < n; at = child) {
                if (child + 1 < n && event_is_before(&heap[child + 1], &heap[child]))
                        child++;
                if (!event_is_before(&heap[child], &e))
                        break;
                heap[at] = heap[child];
        }
        heap[at] = e;
        g_array_set_size(r->events, n);
        return first;
}

static void live_release(LiveRequest *live)
{
        LiveRequest *hedge = live->hedge; /* which it holds */

        if (--live->open > 0)
                return;
        g_free(live);
        if (hedge)
                live_release(hedge);
}

/* --- calls by events ------------------------------------------------------- */

static const ReplayCall *live_call(const Replay *r, const LiveRequest *live, guint32 call)
{
        return &r->calls[live->first + call];
}

static void request_end(Replay *r, guint32 request, gint64 start, gint64 end);

/* Its caller, or the client, has the answer. */
static void call_end(Replay *r, LiveRequest *live, guint32 call, gint64 end)
{
        LiveCall *l = &live->calls[call];

        l->end = end;
        l->ended = TRUE;
        if (call > 0)
                return;
        if (live->hedge)
                event_push(r, end, EVENT_ANSWER, live->hedge, live->hedge_call);
        else
                request_end(r, live->request, l->start, end);
}

static void call_enter(Replay *r, LiveRequest *live, guint32 call);

static void call_send(Replay *r, LiveRequest *live, guint32 call, gint64 start)
{
        const ReplayCall *c = live_call(r, live, call);
        LiveCall *l = &live->calls[call];
        gint64 time = r->times[live->first + call];

        l->start = start;
        l->sent = TRUE;
        if (c->dropped || c->loose)
                time = 0;
        if (c->missed)
                time = c->back;
        if (time != BY_EVENTS)
                call_end(r, live, call, start + time);
        if (c->dropped || r->times[live->first + call] != BY_EVENTS)
                return;
        live->open++;
        if (node_hedge(r, live->first + call) > 0)
                event_push(r, start + node_hedge(r, live->first + call), EVENT_HEDGE, live, call);
        if (r->settings->nodes[c->node].workers > 0) {
                event_push(r, start + c->there, EVENT_ENTER, live, call);
        } else {
                l->entered = start + c->there;
                call_enter(r, live, call);
        }
}

/* The time of what a call follows. FALSE if that has not happened. */
static gboolean sister_time(const LiveCall *sister, ReplayAfter follows, gint64 *time)
{
        *time = follows == AFTER_START ? sister->start : sister->end;
        return follows == AFTER_START ? sister->sent : sister->ended;
}

static gboolean find_time(const LiveCall *l, const ReplayCall *c, guint32 i, gint64 *time)
{
        if (c[i].follows != AFTER_ALL)
                return sister_time(&l[i - c[i].after], c[i].follows, time);
        *time = l->latest;
        return i == l->next;
}

static void call_reply(Replay *r, LiveRequest *live, guint32 call, gint64 reply, double factor)
{
        const ReplayCall *c = live_call(r, live, call);
        LiveCall *l = &live->calls[call];

        l->replied = TRUE;
        for (guint32 i = 1; i < c->size; i += c[i].size)
                if (c[i].follows == AFTER_REPLY)
                        call_send(r, live, call + i, reply + scale_own(factor, c[i].gap));
        if (r->settings->nodes[c->node].workers > 0) {
                r->servers[c->node].served += (double)(reply - l->entered);
                event_push(r, reply, EVENT_WORKER_FREE, NULL, c->node);
        }
        if (!l->ended && node_hedge(r, live->first + call) > 0 && !(call == 0 && live->hedge))
                event_push(r, reply + c->back, EVENT_ANSWER, live, call);
        else if (!l->ended)
                call_end(r, live, call, reply + c->back);
        live_release(live);
}

/* Sends the calls whose time is known, and replies. */
static void call_advance(Replay *r, LiveRequest *live, guint32 call)
{
        const ReplayCall *c = live_call(r, live, call);
        LiveCall *l = &live->calls[call];
        double factor = own_factor(r, live->first + call);
        gint64 time;

        for (guint32 i = l->next; i < c->size && c[i].follows != AFTER_REPLY; i += c[i].size) {
                if (!l[i].sent && find_time(l, c, i, &time))
                        call_send(r, live, call + i, time + scale_own(factor, c[i].gap));
                else if (!l[i].sent && c[i].follows == AFTER_ALL && !c->unordered)
                        break; /* calls behind it follow it */
                if (i == l->next && l[i].ended) {
                        l->latest = MAX(l->latest, l[i].end);
                        l->next += c[i].size;
                }
        }
        if (l->replied)
                return;
        time = l->latest;
        if (c->reply_follows == AFTER_ALL
                    ? l->next == c->size || c[l->next].follows == AFTER_REPLY
                    : sister_time(&l[c->reply_after], c->reply_follows, &time))
                call_reply(r, live, call, time + scale_own(factor, c->last), factor);
}

/* Its service begins: l->entered is set. */
static void call_enter(Replay *r, LiveRequest *live, guint32 call)
{
        LiveCall *l = &live->calls[call];

        l->latest = l->entered;
        l->next = 1;
        call_advance(r, live, call);
}

/* After a call has ended by an event: its caller goes on, and so do the callers above it. */
static void callers_advance(Replay *r, LiveRequest *live, guint32 call)
{
        while (live->calls[call].ended && call > 0) {
                call -= live_call(r, live, call)->up;
                call_advance(r, live, call);
        }
}

static void begin_service(Replay *r, LiveRequest *live, guint32 call)
{
        live->open++; /* it may end with this call */
        live->calls[call].entered = r->now;
        call_enter(r, live, call);
        callers_advance(r, live, call);
        live_release(live);
}

static void on_enter(Replay *r, LiveRequest *live, guint32 call)
{
        Server *s = &r->servers[live_call(r, live, call)->node];
        Waiting w = { live, call };

        if (s->idle > 0) {
                s->idle--;
                begin_service(r, live, call);
        } else {
                g_array_append_val(s->queue, w);
        }
}

static void on_worker_free(Replay *r, NodeId node)
{
        Server *s = &r->servers[node];
        Waiting w;

        if (s->head == s->queue->len) {
                s->idle++;
                return;
        }
        w = g_array_index(s->queue, Waiting, s->head++);
        if (s->head > 1000 && s->head > s->queue->len / 2) {
                g_array_remove_range(s->queue, 0, s->head);
                s->head = 0;
        }
        begin_service(r, w.live, w.call);
}

static void on_answer(Replay *r, LiveRequest *live, guint32 call)
{
        if (live->calls[call].ended)
                return;
        call_end(r, live, call, r->now);
        callers_advance(r, live, call);
}

static LiveRequest *live_new(const Replay *r, guint32 first)
{
        LiveRequest *live = g_malloc0(sizeof *live + r->calls[first].size * sizeof *live->calls);

        live->first = first;
        live->request = NO_PARENT;
        live->open = 1;
        return live;
}

static void on_hedge(Replay *r, LiveRequest *live, guint32 call)
{
        if (live->calls[call].ended)
                return;
        LiveRequest *second = live_new(r, pick_donor(r, live->first + call));
        second->hedge = live;
        second->hedge_call = call;
        live->open++;
        const ReplayCall *c = live_call(r, second, 0);
        second->open++;
        second->calls[0].start = r->now;
        second->calls[0].sent = TRUE;
        if (r->settings->nodes[c->node].workers > 0) {
                event_push(r, r->now + c->there, EVENT_ENTER, second, 0);
        } else {
                second->calls[0].entered = r->now + c->there;
                call_enter(r, second, 0);
        }
        live_release(second);
}

/* --- requests -------------------------------------------------------------- */

static void request_begin(Replay *r, guint32 request, gint64 start)
{
        const ReplayRequest *q = replay_request_at(r->requests, request);
        gint64 time = r->times[q->first_call];

        r->last_start = MAX(r->last_start, start);
        if (time != BY_EVENTS) {
                request_end(r, request, start, start + time);
                return;
        }
        LiveRequest *live = live_new(r, q->first_call);
        live->request = request;
        call_send(r, live, 0, start);
        live_release(live);
}

static gint64 scale_think(const Replay *r, gint64 time)
{
        double rate = r->settings->rate;

        if (rate == 1)
                return time;
        return (gint64)CLAMP(floor((double)time / rate + 0.5), -0x1p62, 0x1p62);
}

static void request_end(Replay *r, guint32 request, gint64 start, gint64 end)
{
        guint32 next = replay_request_at(r->requests, request)->next;

        r->latency[request] = end - start;
        if (next != NO_PARENT)
                event_push(r, end + scale_think(r, replay_request_at(r->requests, next)->start),
                           EVENT_REQUEST, NULL, next);
}

static void handle_event(Replay *r, const ReplayEvent *e)
{
        r->now = e->time;
        switch ((EventKind)e->kind) {
        case EVENT_WORKER_FREE:
                on_worker_free(r, e->call);
                break;
        case EVENT_ANSWER:
                on_answer(r, e->live, e->call);
                break;
        case EVENT_HEDGE:
                on_hedge(r, e->live, e->call);
                break;
        case EVENT_ENTER:
                on_enter(r, e->live, e->call);
                break;
        case EVENT_REQUEST:
        default:
                request_begin(r, e->call, e->time);
        }
        if (e->live)
                live_release(e->live);
}

static void run_events(Replay *r)
{
        gint64 first = 0;
        gboolean begun = FALSE;

        for (guint32 i = 0; i < r->requests->requests->len; i++) {
                const ReplayRequest *q = replay_request_at(r->requests, i);

                if (q->waits)
                        continue;
                if (!begun)
                        first = q->start;
                begun = TRUE;
                gint64 start = first + scale_think(r, q->start - first);
                while (r->events->len > 0 &&
                       g_array_index(r->events, ReplayEvent, 0).time <= start) {
                        ReplayEvent e = event_pop(r);
                        handle_event(r, &e);
                }
                r->now = start;
                request_begin(r, i, start);
        }
        while (r->events->len > 0) {
                ReplayEvent e = event_pop(r);
                handle_event(r, &e);
        }
        r->last_start -= first;
}

/* --- public ---------------------------------------------------------------- */

ReplaySettings *replay_settings_new(const ReplayRequests *requests)
{
        ReplaySettings *s = g_new0(ReplaySettings, 1);

        s->n_nodes = requests->n_nodes;
        s->nodes = g_new0(ReplayNode, s->n_nodes);
        s->rate = 1;
        for (guint i = 0; i < s->n_nodes; i++) {
                s->nodes[i].factor = 1;
                s->nodes[i].workers = requests->workers[i];
        }
        return s;
}

void replay_settings_free(ReplaySettings *s)
{
        if (!s)
                return;
        g_free(s->nodes);
        g_free(s);
}

static void servers_open(Replay *r)
{
        for (guint i = 0; i < r->settings->n_nodes; i++) {
                guint32 workers = r->settings->nodes[i].workers;

                r->servers[i].idle = workers;
                if (workers > 0)
                        r->servers[i].queue = g_array_new(FALSE, FALSE, sizeof(Waiting));
        }
}

/* Frees requests that wait for ever. */
static void free_stuck(const Replay *r)
{
        g_autoptr(GHashTable) stuck = g_hash_table_new_full(NULL, NULL, g_free, NULL);

        for (guint i = 0; i < r->settings->n_nodes; i++) {
                const Server *s = &r->servers[i];

                for (guint k = s->head; s->queue && k < s->queue->len; k++)
                        g_hash_table_add(stuck, g_array_index(s->queue, Waiting, k).live);
        }
}

static void servers_close(Replay *r, ReplayLoad *loads)
{
        free_stuck(r);
        for (guint i = 0; i < r->settings->n_nodes; i++) {
                guint32 workers = r->settings->nodes[i].workers;

                loads[i] = (ReplayLoad){ workers, 0, FALSE };
                if (workers > 0) {
                        loads[i].busy =
                                r->servers[i].served / workers / (double)MAX(r->last_start, 1);
                        loads[i].stuck = r->servers[i].head < r->servers[i].queue->len;
                }
                g_clear_pointer(&r->servers[i].queue, g_array_unref);
        }
}

void replay_run(const ReplayRequests *requests, const ReplaySettings *settings, gint64 *latency,
                ReplayLoad *loads)
{
        guint n = settings->n_nodes;
        g_autofree gint64 *times = g_new(gint64, requests->calls->len);
        g_autofree GArray **donors = g_new0(GArray *, n);
        g_autofree Server *servers = g_new0(Server, n);
        g_autofree gint64 *starts = g_new(gint64, requests->most_calls);
        g_autofree gint64 *ends = g_new(gint64, requests->most_calls);
        g_autoptr(GArray) events = g_array_new(FALSE, FALSE, sizeof(ReplayEvent));
        Replay r = { .requests = requests,
                     .settings = settings,
                     .calls = (const ReplayCall *)requests->calls->data,
                     .times = times,
                     .donors = donors,
                     .servers = servers,
                     .events = events,
                     .starts = starts,
                     .ends = ends,
                     .latency = latency,
                     .now = G_MININT64,
                     .last_start = G_MININT64 };

        for (guint i = 0; i < requests->requests->len; i++)
                latency[i] = 0;
        find_plain_times(&r);
        find_donors(&r);
        servers_open(&r);
        run_events(&r);
        servers_close(&r, loads);
        for (guint i = 0; i < n; i++)
                g_clear_pointer(&donors[i], g_array_unref);
}
