/* SPDX-License-Identifier: BSD-2-Clause */
#include "calls/call-links.h"

#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "base/hash.h"
#include "calls/call-order.h"

/* If a content came several times: how often the first to come was the first to go. RabbitMQ under
 * load: 97 to 100 % (tests/system/brokers.sh). */
#define ORDER_HOLDS 0.97f

/* A message found its consumer waiting if the consumer had waited LONE_WAIT times as long as the
 * message then lay. In a queue that is never empty, few messages do so by chance. It counts if one
 * of the consumer's RECENT messages before did so, too. */
enum { LONE_WAIT = 9, RECENT = 8 };

/* What a call does with its content; a set of flags. */
enum {
        COMES = 1,
        GOES = 2,
        BY_ORDER = 4,
        RELAYED = 8,
        ASKS = 16,
        ASKS_AND_WAITS = 32,
        SETTLES = 64
};

typedef struct {
        guint32 call;
        guint8 role;
        guint64 content; /* a hash of the link, or of the queue */
        guint64 way;     /* a hash of the connection; 0: unknown */
} Linked;

static void tables_free(LinkTables *t);

void call_links_clear(CallLinks *l)
{
        tables_free(l->tables);
        if (l->linked)
                g_array_free(l->linked, TRUE);
        g_free(l->parent);
        g_free(l->probability);
        g_free(l->continues);
        g_free(l->relayed);
        g_free(l->starts);
        g_free(l->fetch);
        g_free(l->way);
        g_free(l->until);
        g_free(l->since);
}

static void add_linked(CallLinks *l, guint64 call, guint8 role, guint64 content, guint64 way)
{
        Linked linked = { (guint32)call, role, content, way };

        if (call >= NO_PARENT)
                return;
        if (!l->linked)
                l->linked = g_array_new(FALSE, FALSE, sizeof(Linked));
        g_array_append_val(l->linked, linked);
}

/* The connection between a node that asks and one that is asked. number: its conn=. */
static guint64 way_of(const Message *message, NodeId asks, NodeId asked, gint64 number,
                      gboolean by_id)
{
        const char *point =
                by_id && message->id_length ? memchr(message->id, '.', message->id_length) : NULL;
        guint64 nodes = (guint64)asks << 32 | asked;

        if (!point && !number)
                return 0;
        if (point)
                number = (gint64)hash_word((guint64)number,
                                           hash_bytes(message->id, (gsize)(point - message->id)));
        return hash_word(nodes, (guint64)number) | 1;
}

static guint8 fetch_role(AttributeText how)
{
        if (how.length == 4 && !memcmp(how.at, "wait", 4))
                return ASKS | ASKS_AND_WAITS;
        return how.length == 6 && !memcmp(how.at, "settle", 6) ? SETTLES : ASKS;
}

void call_links_add(CallLinks *l, guint64 call, const Message *m, const Attributes *a,
                    gboolean by_id)
{
        gboolean relay = a->link.length == 0;
        AttributeText link = relay ? a->relay : a->link;

        if (link.length)
                add_linked(l, call, relay ? COMES | GOES | RELAYED : COMES | GOES,
                           hash_bytes(link.at, link.length),
                           way_of(m, m->receiver, m->sender, a->conn, by_id));
        else if (a->fetch.at)
                add_linked(l, call, fetch_role(a->fetch), 0,
                           way_of(m, m->sender, m->receiver, a->conn, by_id));
}

/* Sets that nothing is known of calls from one up to another. */
static void call_links_forget(CallLinks *l, guint32 from, guint32 to)
{
        gsize n = to - from;

        memset(l->parent + from, 0xff, n * sizeof *l->parent);
        memset(l->probability + from, 0, n * sizeof *l->probability);
        memset(l->continues + from, 0, n);
        memset(l->relayed + from, 0, n);
        memset(l->starts + from, 0, n);
        memset(l->fetch + from, 0, n);
        memset(l->way + from, 0, n * sizeof *l->way);
}

/* The role of an operation at a queue; 0: it has none. name: set, where the queue's name begins. */
static guint8 queue_role(const char *label, gsize length, gsize *name)
{
        static const struct {
                const char *verb;
                guint8 role;
        } verbs[] = { { "publish%20", COMES }, { "deliver%20", GOES } };

        for (guint i = 0; i < G_N_ELEMENTS(verbs); i++) {
                *name = strlen(verbs[i].verb);
                if (length > *name && memcmp(label, verbs[i].verb, *name) == 0)
                        return verbs[i].role | BY_ORDER;
        }
        return 0;
}

gboolean call_links_by_order(const Attributes *a)
{
        gsize name;

        return a->label.at && queue_role(a->label.at, a->label.length, &name) != 0;
}

static Linked *linked_at(const CallLinks *l, guint i)
{
        return &g_array_index(l->linked, Linked, i);
}

COMPARISON(compare_calls, Linked, COMPARE(a->call, b->call))

void call_links_close_up(CallLinks *l, const CallPairs *c)
{
        guint32 gone = 0, at = 0;
        guint kept = 0;

        if (!l->linked)
                return;
        g_array_sort(l->linked, compare_calls);
        for (guint i = 0; i < l->linked->len; i++) {
                Linked linked = *linked_at(l, i);

                for (; at < linked.call && at < c->n; at++)
                        gone += !c->edge[at];
                if (linked.call >= c->n || !c->edge[linked.call])
                        continue;
                linked.call -= gone;
                /* The other stamp of the call says the same. */
                if (kept == 0 || linked_at(l, kept - 1)->call != linked.call)
                        *linked_at(l, kept++) = linked;
        }
        g_array_set_size(l->linked, kept);
}

void call_links_add_operations(CallLinks *l, const CallLabels *labels, guint32 n_calls)
{
        g_autofree Linked *named = g_new0(Linked, labels->written->len + (gsize)1); /* by label */
        guint n_linked = l->linked ? l->linked->len : 0;
        gboolean any = FALSE;

        for (guint i = 0; i < labels->written->len; i++) {
                const char *label = labels->written->pdata[i];
                gsize name = 0, length = strlen(label);
                guint8 role = queue_role(label, length, &name);

                if (!role)
                        continue;
                any = TRUE;
                named[i + 1].role = role;
                named[i + 1].content = hash_word(BY_ORDER, hash_bytes(label + name, length - name));
        }
        for (guint32 i = 0, k = 0; any && i < n_calls; i++) {
                const Linked *queue = &named[call_labels_get(labels, i)];

                while (k < n_linked && linked_at(l, k)->call < i)
                        k++;
                if (queue->role && (k == n_linked || linked_at(l, k)->call != i))
                        add_linked(l, i, queue->role, queue->content, 0);
        }
}

/* --- what continues what -------------------------------------------------------- */

/* A call or message that came to a node: its number, of all that ever were. */
typedef struct {
        guint64 call;
        gint64 time;
} Arrival;

/* Arrivals of one content at one node, in order; the first of them may be forgotten. */
typedef struct {
        guint64 key;
        GArray *arrivals;  /* of Arrival */
        guint64 forgotten; /* arrivals before these that were forgotten */
        guint64 taken;     /* arrivals before this one have been sent on, to anybody */
} Arrivals;

/* The arrivals that went on to one callee: how many, and the last. */
typedef struct {
        guint64 key, taken, last;
} Way;

/* Who takes messages on a connection, one after the other. */
typedef struct {
        guint64 key, last;
        gint64 ready;  /* since when it has waited for the next message; G_MAXINT64: it does not */
        gint64 empty;  /* what came before had left its queues */
        gint64 latest; /* when the latest of its messages had come */
        guint taken;   /* messages since the last that found it waiting, */
        guint ordered; /* and since the last that came before the one before */
        gboolean asks; /* for each message */
} Consumer;

/* What a node does with what comes to it. */
typedef struct {
        gint64 slowest;   /* the longest that it took to answer who brought a message, ns */
        guint32 answered; /* calls that continue another and have a return; */
        guint32 enclosed; /* of these, calls that return before the other replies */
        gboolean works;   /* it makes calls that continue nothing */
        gboolean passes;  /* it sends what continues another */
} Holder;

struct LinkTables {
        GHashTable *came, *ways, *consumers;
        GArray *holders; /* of Holder, by NodeId */
        guint64 dropped; /* calls that are no longer there */
        guint64 noted;   /* calls up to this number, of all, have been looked at */
        gint64 longest;  /* time that a message lay before it went on, ns */
};

typedef struct {
        CallLinks *links;
        const CallPairs *calls;
        const LinkEdge *edges;
        LinkTables *tables;
        Holder *holders; /* by NodeId */
} Search;

static void arrivals_free(gpointer arrivals)
{
        g_array_free(((Arrivals *)arrivals)->arrivals, TRUE);
        g_free(arrivals);
}

static LinkTables *tables_get(CallLinks *l)
{
        if (!l->tables) {
                l->tables = g_new0(LinkTables, 1);
                l->tables->came =
                        g_hash_table_new_full(hash_int64, g_int64_equal, NULL, arrivals_free);
                l->tables->ways = g_hash_table_new_full(hash_int64, g_int64_equal, NULL, g_free);
                l->tables->consumers =
                        g_hash_table_new_full(hash_int64, g_int64_equal, NULL, g_free);
                l->tables->holders = g_array_new(FALSE, TRUE, sizeof(Holder));
        }
        return l->tables;
}

static void tables_free(LinkTables *t)
{
        if (!t)
                return;
        g_hash_table_destroy(t->came);
        g_hash_table_destroy(t->ways);
        g_hash_table_destroy(t->consumers);
        g_array_free(t->holders, TRUE);
        g_free(t);
}

static const LinkEdge *edge_of(const Search *s, guint32 call)
{
        return &s->edges[s->calls->edge[call] - 1];
}

static guint64 content_key(guint64 content, NodeId node, NodeId to)
{
        return hash_word(hash_word(HASH_SEED, content), (guint64)node << 32 | to);
}

/* The call of this number, if it may still be continued. */
static guint32 still_there(const Search *s, guint64 number)
{
        const CallPairs *c = s->calls;
        guint32 call;

        if (number < s->tables->dropped)
                return NO_PARENT;
        call = (guint32)(number - s->tables->dropped);
        if (c->progress && (c->progress[call] & CALL_STARTED) && !c->tree[call])
                return NO_PARENT; /* its path has been handed on */
        return call;
}

static Consumer *consumer_of(Search *s, guint64 key, guint32 call)
{
        Consumer *c = g_hash_table_lookup(s->tables->consumers, &key);

        if (!c) {
                c = g_new(Consumer, 1);
                *c = (Consumer){ .key = key,
                                 .ready = G_MAXINT64,
                                 .empty = G_MININT64,
                                 .latest = G_MININT64,
                                 .taken = RECENT };
                g_hash_table_insert(s->tables->consumers, &c->key, c);
        }
        c->last = s->tables->dropped + call;
        return c;
}

static gint64 arrival_time(const Arrivals *a, guint64 which)
{
        return g_array_index(a->arrivals, Arrival, which - a->forgotten).time;
}

/* A message that is delivered now found its consumer waiting if it came after this moment. */
static gint64 waiting_begin(const Search *s, const Consumer *consumer, guint32 call)
{
        gint64 now = s->calls->at_caller[call].from, ready = consumer->ready;
        gint64 slowest = s->holders[edge_of(s, call)->caller].slowest;

        return now <= ready ? now
                            : ready + MAX(slowest, (now - ready) / (LONE_WAIT + 1) * LONE_WAIT);
}

/* Moves *which, the first arrival that may go on now, to the first that may still lie there. If a
 * message found its consumer waiting, all before it are gone. FALSE: none may lie there. */
static gboolean find_arrival(const Search *s, const Arrivals *a, guint64 *which, Consumer *consumer,
                             guint32 call)
{
        guint64 n = a->forgotten + a->arrivals->len, first = MAX(*which, a->forgotten), i = n;
        gint64 begin = waiting_begin(s, consumer, call);
        gboolean recent;

        while (i > first && arrival_time(a, i - 1) > begin)
                i--;
        recent = consumer->taken < RECENT;
        consumer->taken = i < n ? 0 : consumer->taken + 1;
        if (i < n && recent) {
                consumer->empty = MAX(consumer->empty, arrival_time(a, i));
                *which = i;
                return TRUE;
        }
        for (i = first; n > 1 && i < n && arrival_time(a, i) < consumer->empty;)
                i++;
        if (i > first)
                *which = i;
        return *which < n;
}

/* Whether an arrival left the queue unseen: the consumer has got a message that came later, and the
 * next arrival came after that message. Its RECENT messages before went in order. */
static gboolean left_unseen(const Arrivals *a, guint64 which, Consumer *consumer)
{
        gboolean in_order = which < a->forgotten || arrival_time(a, which) >= consumer->latest,
                 trusted = consumer->ordered >= RECENT;

        consumer->ordered = in_order ? consumer->ordered + 1 : 0;
        return !in_order && trusted && which + 1 < a->forgotten + a->arrivals->len &&
               arrival_time(a, which + 1) >= consumer->latest;
}

/* Finds which arrival goes on to a callee now. It is the first that went to nobody; else the first
 * that did not go to this callee; else the last once more. Arrivals that have left the queue unseen
 * do not count. If the content is repeated, nothing goes on a second time to a consumer that has
 * got later messages: the delivered message came before the capture, or the capture missed it. */
static void take_arrival(Search *s, Arrivals *a, Way *way, Consumer *consumer, const Linked *linked)
{
        guint64 n = a->forgotten + a->arrivals->len, which = MAX(a->taken, way->taken);
        guint64 possible = n - MIN(way->taken, n);
        gboolean by_order = (linked->role & BY_ORDER) != 0, again = which >= n, known;
        guint32 call = linked->call;
        const Arrival *arrival;

        if (again)
                which = MIN(way->taken, n - 1);
        known = find_arrival(s, a, &which, consumer, call);
        if (known && !again)
                which += left_unseen(a, which, consumer);
        if (known && again && n > 1 && which >= a->forgotten)
                known = arrival_time(a, which) >= consumer->latest;
        a->taken = MAX(a->taken, which + known);
        way->taken = MAX(way->taken, which + known);
        way->last = s->tables->dropped + call;
        if (!known)
                return;
        if (which < a->forgotten) {
                s->links->lost++;
                return;
        }
        arrival = &g_array_index(a->arrivals, Arrival, which - a->forgotten);
        consumer->latest = MAX(consumer->latest, arrival->time);
        s->tables->longest =
                MAX(s->tables->longest, s->calls->at_caller[call].from - arrival->time);
        s->links->parent[call] = still_there(s, arrival->call);
        s->links->lost += s->links->parent[call] == NO_PARENT;
        s->links->probability[call] = !by_order && (n == 1 || possible == 1) ? 1 : ORDER_HOLDS;
}

/* A consumer asks for messages. It has waited since it first did. */
static void note_asking(Search *s, const Linked *linked)
{
        Consumer *consumer = consumer_of(s, linked->way, linked->call);

        consumer->asks = TRUE;
        if (linked->role & ASKS_AND_WAITS)
                consumer->ready = MIN(consumer->ready, s->calls->at_callee[linked->call].from);
}

/* A consumer has got a message. If it does not ask, it waits again once it has acknowledged all. */
static void note_delivery(const Search *s, Consumer *consumer, guint32 call)
{
        const Span *at = &s->calls->at_caller[call];
        gint64 ready = consumer->asks                    ? G_MAXINT64
                       : call_is_message(s->calls, call) ? at->from
                                                         : at->to;

        consumer->ready = consumer->asks || consumer->ready == G_MAXINT64
                                  ? ready
                                  : MAX(consumer->ready, ready);
}

static int compare_starts(const void *a, const void *b, void *data)
{
        const CallPairs *c = data;
        const Linked *x = a, *y = b;
        gint64 from = c->at_caller[x->call].from, to = c->at_caller[y->call].from;

        return COMPARE(from, to) ?: COMPARE(x->call, y->call);
}

/* Notes what a call means for the work of a node: see open-stays.h. */
static void note_part(CallLinks *l, const Linked *linked)
{
        l->way[linked->call] = linked->way;
        if (linked->role & ASKS)
                l->fetch[linked->call] =
                        linked->role & ASKS_AND_WAITS ? FETCHES | FETCH_WAITS : FETCHES;
        else if (linked->role & SETTLES)
                l->fetch[linked->call] = FETCH_SETTLES;
        else
                l->starts[linked->call] = linked->role & GOES ? STARTS_WORK : STARTS_NOTHING;
}

static void add_arrival(Search *s, guint64 key, guint32 call)
{
        Arrivals *a = g_hash_table_lookup(s->tables->came, &key);
        Arrival arrival = { s->tables->dropped + call, s->calls->at_callee[call].from };

        if (!a) {
                a = g_new0(Arrivals, 1);
                a->key = key;
                a->arrivals = g_array_new(FALSE, FALSE, sizeof(Arrival));
                g_hash_table_insert(s->tables->came, &a->key, a);
        }
        g_array_append_val(a->arrivals, arrival);
}

static void find_linked_parent(Search *s, const Linked *linked)
{
        const LinkEdge *edge = edge_of(s, linked->call);
        guint64 from = content_key(linked->content, edge->caller, NO_NODE);
        guint64 to = content_key(linked->content, edge->callee, NO_NODE);
        guint64 key = content_key(linked->content, edge->caller, edge->callee);
        guint64 nodes = content_key(0, edge->caller, edge->callee);
        const Span *at = &s->calls->at_callee[linked->call];
        Holder *holder = &s->holders[edge->callee];
        Arrivals *before = linked->role & GOES ? g_hash_table_lookup(s->tables->came, &from) : NULL;
        Way *way = g_hash_table_lookup(s->tables->ways, &key);
        Consumer *consumer = linked->role & GOES ? consumer_of(s, linked->way ? linked->way : nodes,
                                                               linked->call)
                                                 : NULL;

        if (before && !way) {
                way = g_new0(Way, 1);
                way->key = key;
                g_hash_table_insert(s->tables->ways, &way->key, way);
        }
        if (before)
                take_arrival(s, before, way, consumer, linked);
        if (consumer)
                note_delivery(s, consumer, linked->call);
        s->links->relayed[linked->call] = (linked->role & RELAYED) != 0;
        if (linked->role & COMES)
                add_arrival(s, to, linked->call);
        if ((linked->role & COMES) && !call_is_message(s->calls, linked->call))
                holder->slowest = MAX(holder->slowest, at->to - at->from);
}

/* Of the first n calls with a link. */
static void find_linked_parents(Search *s, guint n)
{
        for (guint i = 0; i < n; i++) {
                const Linked *linked = linked_at(s->links, i);

                note_part(s->links, linked);
                if (linked->role & ASKS)
                        note_asking(s, linked);
                else if (!(linked->role & SETTLES))
                        find_linked_parent(s, linked);
        }
}

static gboolean is_enclosed(const Search *s, guint32 call)
{
        guint32 parent = s->links->parent[call];

        return s->calls->at_caller[call].to <= s->calls->at_callee[parent].to;
}

static void note_holder(Search *s, guint32 call)
{
        Holder *h = &s->holders[edge_of(s, call)->caller];

        if (s->links->fetch[call])
                return;
        if (s->links->parent[call] == NO_PARENT) {
                h->works = TRUE;
                return;
        }
        h->passes = TRUE;
        if (call_is_message(s->calls, call))
                return;
        h->answered++;
        h->enclosed += is_enclosed(s, call);
}

/* How a call continues its parent. A broker holds a message and answers at any time. A node that
 * mostly passes messages on within the call that brought them, as a proxy, has its caller wait.
 * What a worker passes on while it works on the message does not lie in a queue. */
static WorkContinues find_continuation(const Search *s, guint32 call)
{
        const Holder *h = &s->holders[edge_of(s, call)->caller];
        guint32 parent = s->links->parent[call];
        gboolean message = call_is_message(s->calls, call);

        if (parent == NO_PARENT)
                return message ? WORK_GOES_ON : WORK_NESTED;
        if (!message && 2 * h->enclosed > h->answered && is_enclosed(s, call))
                return WORK_NESTED;
        if (message && h->works && !call_is_message(s->calls, parent) &&
            s->calls->at_caller[call].from <= s->calls->at_callee[parent].to)
                return WORK_GOES_ON;
        return WORK_QUEUED;
}

static void call_links_make_room(CallLinks *l, guint32 n)
{
        guint32 size = l->size;

        if (l->parent && n <= size)
                return;
        l->size = n = MAX(n, l->parent ? 2 * size : 0);
        l->parent = g_renew(guint32, l->parent, n);
        l->probability = g_renew(float, l->probability, n);
        l->continues = g_renew(guint8, l->continues, n);
        l->relayed = g_renew(guint8, l->relayed, n);
        l->starts = g_renew(guint8, l->starts, n);
        l->fetch = g_renew(guint8, l->fetch, n);
        l->way = g_renew(guint64, l->way, n);
        call_links_forget(l, size, n);
}

static Search search_begin(CallLinks *l, const CallPairs *c, const LinkEdge *edges, guint n_nodes)
{
        LinkTables *t = tables_get(l);

        if (t->holders->len < n_nodes)
                g_array_set_size(t->holders, n_nodes);
        return (Search){ l, c, edges, t, (Holder *)t->holders->data };
}

void call_links_find(CallLinks *l, const CallPairs *c, const LinkEdge *edges, guint n_nodes)
{
        Search s;

        if (!l->linked || l->linked->len == 0)
                return;
        s = search_begin(l, c, edges, n_nodes);
        call_links_make_room(l, c->n);
        g_array_sort_with_data(l->linked, compare_starts, (gpointer)c);
        find_linked_parents(&s, l->linked->len);
        for (guint32 i = 0; i < c->n; i++)
                note_holder(&s, i);
        for (guint32 i = 0; i < c->n; i++)
                l->continues[i] = (guint8)find_continuation(&s, i);
}

/* --- a step at a time ------------------------------------------------------------- */

/* Whether a call is one of the first n with a link, which are in order of calls. */
static gboolean has_link(const CallLinks *l, guint n, guint32 call)
{
        Linked key = { .call = call };

        return n > 0 && bsearch(&key, l->linked->data, n, sizeof(Linked), compare_calls) != NULL;
}

/* Adds the operations that name a queue, of calls without a link, up to a moment. Returns the first
 * call that was not looked at. */
static guint32 note_operations(CallLinks *l, const CallPairs *c, const CallLabels *labels,
                               gint64 until, guint64 oldest)
{
        LinkTables *t = tables_get(l);
        guint n = l->linked ? l->linked->len : 0;
        guint32 i = (guint32)(t->noted - t->dropped);

        if (n > 0)
                g_array_sort(l->linked, compare_calls);
        for (; i < c->n; i++) {
                guint16 label = call_labels_get(labels, i);
                const char *written = label ? labels->written->pdata[label - 1] : NULL;
                gsize name, length = written ? strlen(written) : 0;
                guint8 role = written ? queue_role(written, length, &name) : 0;

                if (!c->edge[i] && t->dropped + i >= oldest)
                        break;
                if (c->edge[i] && c->at_caller[i].from >= until)
                        break;
                if (c->edge[i] && role && !has_link(l, n, i))
                        add_linked(l, i, role,
                                   hash_word(BY_ORDER, hash_bytes(written + name, length - name)),
                                   0);
        }
        return i;
}

/* Puts the links of calls before end to the front, in order of start, and drops links of calls
 * without a return. Returns the number of links at the front. */
static guint gather_due(CallLinks *l, const CallPairs *c, guint32 end)
{
        guint due = 0, kept = 0;

        if (!l->linked)
                return 0;
        g_array_sort(l->linked, compare_calls);
        for (guint i = 0; i < l->linked->len; i++) {
                Linked linked = *linked_at(l, i);

                if (linked.call < end &&
                    (!c->edge[linked.call] ||
                     (kept > 0 && linked_at(l, kept - 1)->call == linked.call)))
                        continue;
                due += linked.call < end;
                *linked_at(l, kept++) = linked;
        }
        g_array_set_size(l->linked, kept);
        if (due > 1)
                qsort_r(l->linked->data, due, sizeof(Linked), compare_starts, (gpointer)c);
        return due;
}

void call_links_step(CallLinks *l, CallPairs *c, const CallLabels *labels, const LinkEdge *edges,
                     guint n_nodes, gint64 until, guint64 oldest)
{
        guint32 end = note_operations(l, c, labels, until, oldest), first;
        guint due = gather_due(l, c, end);
        Search s = search_begin(l, c, edges, n_nodes);

        first = (guint32)(s.tables->noted - s.tables->dropped);
        if (due > 0 || l->parent)
                call_links_make_room(l, c->n);
        s.tables->noted = s.tables->dropped + end;
        if (!l->parent) {
                for (guint32 i = first; i < end; i++)
                        if (c->edge[i])
                                s.holders[edge_of(&s, i)->caller].works = TRUE;
                return;
        }
        find_linked_parents(&s, due);
        for (guint32 i = first; i < end; i++)
                if (c->edge[i])
                        note_holder(&s, i);
        for (guint32 i = first; i < end; i++) {
                if (!c->edge[i])
                        continue;
                l->continues[i] = (guint8)find_continuation(&s, i);
                if (l->parent[i] != NO_PARENT && c->cause)
                        call_pairs_set_cause(c, i, (Cause){ l->parent[i], l->probability[i] });
        }
        /* A call may go on unless its callee passes nothing on. */
        for (guint i = 0; i < due; i++) {
                const Linked *linked = linked_at(l, i);

                if ((linked->role & COMES) && (l->parent[linked->call] == NO_PARENT ||
                                               s.holders[edge_of(&s, linked->call)->callee].passes))
                        l->relayed[linked->call] |= MAY_GO_ON;
                l->starts[linked->call] = STARTS_NOTHING;
        }
        g_array_remove_range(l->linked, 0, due);
}

gint64 call_links_longest(const CallLinks *l)
{
        return l->tables ? l->tables->longest : 0;
}

static gboolean is_forgotten(gpointer key G_GNUC_UNUSED, gpointer value, gpointer dropped)
{
        Arrivals *a = value;
        guint n = 0;

        while (n < a->arrivals->len &&
               g_array_index(a->arrivals, Arrival, n).call < *(const guint64 *)dropped)
                n++;
        /* If anything came before, its count is kept. */
        a->forgotten += n;
        if (n > 0)
                g_array_remove_range(a->arrivals, 0, n);
        return a->arrivals->len == 0 && a->forgotten < 2;
}

static gboolean is_consumer_forgotten(gpointer key G_GNUC_UNUSED, gpointer value, gpointer dropped)
{
        return ((const Consumer *)value)->last < *(const guint64 *)dropped;
}

static gboolean is_way_forgotten(gpointer key G_GNUC_UNUSED, gpointer value, gpointer dropped)
{
        const Way *way = value;

        return way->last < *(const guint64 *)dropped && way->taken < 2;
}

void call_links_drop(CallLinks *l, guint32 n)
{
        LinkTables *t = tables_get(l);
        guint kept = 0;

        t->dropped += n;
        for (guint i = 0; l->linked && i < l->linked->len; i++) {
                Linked linked = *linked_at(l, i);

                if (linked.call < n)
                        continue;
                linked.call -= n;
                *linked_at(l, kept++) = linked;
        }
        if (l->linked)
                g_array_set_size(l->linked, kept);
        g_hash_table_foreach_remove(t->came, is_forgotten, &t->dropped);
        g_hash_table_foreach_remove(t->ways, is_way_forgotten, &t->dropped);
        g_hash_table_foreach_remove(t->consumers, is_consumer_forgotten, &t->dropped);
        if (!l->parent)
                return;
        n = MIN(n, l->size);
        memmove(l->parent, l->parent + n, (l->size - n) * sizeof *l->parent);
        memmove(l->probability, l->probability + n, (l->size - n) * sizeof *l->probability);
        memmove(l->continues, l->continues + n, l->size - n);
        memmove(l->relayed, l->relayed + n, l->size - n);
        memmove(l->starts, l->starts + n, l->size - n);
        memmove(l->fetch, l->fetch + n, l->size - n);
        memmove(l->way, l->way + n, (l->size - n) * sizeof *l->way);
        for (guint32 i = 0; i < l->size - n; i++)
                if (l->parent[i] != NO_PARENT)
                        l->parent[i] = l->parent[i] < n ? NO_PARENT : l->parent[i] - n;
        call_links_forget(l, l->size - n, l->size);
}

/* Whether call is other, or was caused by it. A parent must not be, or there would be a circle. */
static gboolean is_within(const CallPairs *c, guint32 call, guint32 other)
{
        while (call != NO_PARENT && call != other)
                call = c->cause[call].parent;
        return call != NO_PARENT;
}

void call_links_find_late(CallLinks *l, CallPairs *c, const CallConnections *connections)
{
        g_autofree guint32 *last = g_new(guint32, connections->last + (gsize)1);

        memset(last, 0xff, (connections->last + (gsize)1) * sizeof *last);
        for (guint32 i = 0; i < c->n; i++) {
                CallConnection way = call_connections_get(connections, i);
                guint32 before = way.connection ? last[way.connection] : NO_PARENT;
                guint32 parent = before == NO_PARENT ? NO_PARENT : c->cause[before].parent;

                if (way.connection)
                        last[way.connection] = i;
                if (parent == NO_PARENT || c->cause[i].parent != NO_PARENT ||
                    !call_connections_get(connections, before).transaction ||
                    c->edge[i] != c->edge[before] ||
                    c->at_caller[i].from <= c->at_callee[parent].to || is_within(c, parent, i))
                        continue;
                call_links_make_room(l, c->n);
                call_pairs_set_cause(c, i, (Cause){ parent, c->cause[before].probability });
                l->parent[i] = parent;
                l->probability[i] = c->cause[i].probability;
                l->continues[i] = WORK_GOES_ON;
        }
}
