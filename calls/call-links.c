/* SPDX-License-Identifier: BSD-2-Clause */
#include "calls/call-links.h"

#include <string.h>

#include "base/compare.h"
#include "base/hash.h"

/* How often the first message of a content that came is the first that goes, where several did:
 * 97 to 100 % at RabbitMQ under load (tests/system/brokers.sh). */
#define ORDER_HOLDS 0.97f

/* What a call may be to others of its content. */
enum { COMES = 1, GOES = 2, BY_ORDER = 4, RELAYED = 8, ASKS = 16, ASKS_AND_WAITS = 32 };

typedef struct {
        guint32 call;
        guint8 role;
        guint64 content; /* a hash of the link, or of the queue */
        guint64 way;     /* a hash of the connection; 0: unknown */
} Linked;

void call_links_clear(CallLinks *l)
{
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
}

const char *call_links_token(const Message *message, gsize *length, gboolean *relay)
{
        const char *token = NULL;

        *length = 0;
        if (message->attrs_length) {
                token = message_attribute(message, "link", length);
                *relay = !*length;
                if (*relay)
                        token = message_attribute(message, "relay", length);
        }
        return *length ? token : NULL;
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

/* The connection between a node that asks and one that is asked. */
static guint64 way_of(const Message *message, NodeId asks, NodeId asked, gboolean by_id)
{
        const char *point =
                by_id && message->id_length ? memchr(message->id, '.', message->id_length) : NULL;
        gint64 number = message->attrs_length ? message_number(message, "conn") : 0;
        guint64 nodes = (guint64)asks << 32 | asked;

        if (!point && !number)
                return 0;
        if (point)
                number = (gint64)hash_word((guint64)number,
                                           hash_bytes(message->id, (gsize)(point - message->id)));
        return hash_word(nodes, (guint64)number) | 1;
}

void call_links_add(CallLinks *l, guint64 call, const Message *message, gboolean by_id,
                    const char *token, gsize length, gboolean relay)
{
        add_linked(l, call, relay ? COMES | GOES | RELAYED : COMES | GOES,
                   hash_bytes(token, length),
                   way_of(message, message->receiver, message->sender, by_id));
}

void call_links_add_fetch(CallLinks *l, guint64 call, const Message *message, gboolean by_id)
{
        gsize length;
        const char *how = message_attribute(message, "fetch", &length);

        if (how)
                add_linked(l, call,
                           length == 4 && !memcmp(how, "wait", 4) ? ASKS | ASKS_AND_WAITS : ASKS, 0,
                           way_of(message, message->sender, message->receiver, by_id));
}

/* The role of an operation at a queue, and where its name begins; 0: it is none. */
static guint8 role_of(const char *label, gsize length, gsize *name)
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

gboolean call_links_by_order(const Message *message)
{
        gsize length = 0, name;
        const char *label =
                message->attrs_length ? message_attribute(message, "label", &length) : NULL;

        return label && role_of(label, length, &name) != 0;
}

static Linked *linked_at(const CallLinks *l, guint i)
{
        return &g_array_index(l->linked, Linked, i);
}

static int compare_calls(const void *a, const void *b)
{
        const Linked *x = a, *y = b;

        return COMPARE(x->call, y->call);
}

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
                /* Its other stamp says the same. */
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
                guint8 role = role_of(label, length, &name);

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

/* The calls and messages with a content that came to a node, in order. */
typedef struct {
        guint64 key;
        GArray *calls; /* of guint32 */
        guint32 taken; /* those before this one have been sent on, to somebody */
} Arrivals;

/* How many of them went on to one callee. */
typedef struct {
        guint64 key;
        guint32 taken;
} Way;

/* What a node does with what comes to it. */
typedef struct {
        guint32 answered; /* calls that continue another and have a return, */
        guint32 enclosed; /* of which so many return before the other replies */
        gboolean works;   /* it makes calls that continue nothing */
} Holder;

typedef struct {
        CallLinks *links;
        const CallPairs *calls;
        const LinkEdge *edges;
        Holder *holders; /* by NodeId */
} Search;

static void arrivals_free(gpointer arrivals)
{
        g_array_free(((Arrivals *)arrivals)->calls, TRUE);
        g_free(arrivals);
}

static const LinkEdge *edge_of(const Search *s, guint32 call)
{
        return &s->edges[s->calls->edge[call] - 1];
}

static guint64 mix(guint64 content, NodeId node, NodeId to)
{
        return hash_word(hash_word(HASH_SEED, content), (guint64)node << 32 | to);
}

/* Which of those that came goes on to a callee now: the first that went to nobody, then the first
 * that did not go there, then the last once more. */
static void take_arrival(Search *s, Arrivals *a, Way *way, guint32 call, gboolean by_order)
{
        guint32 n = a->calls->len, which = MAX(a->taken, way->taken);
        guint32 possible = n - MIN(way->taken, n);

        if (which >= n)
                which = MIN(way->taken, n - 1);
        a->taken = MAX(a->taken, which + 1);
        way->taken = MAX(way->taken, which + 1);
        s->links->parent[call] = g_array_index(a->calls, guint32, which);
        s->links->probability[call] = !by_order && (n == 1 || possible == 1) ? 1 : ORDER_HOLDS;
}

static int compare_starts(const void *a, const void *b, void *data)
{
        const CallPairs *c = data;
        const Linked *x = a, *y = b;
        gint64 from = c->at_caller[x->call].from, to = c->at_caller[y->call].from;

        return from != to ? COMPARE(from, to) : COMPARE(x->call, y->call);
}

/* What it may be to the work of a node: see open-stays.h. */
static void note_part(CallLinks *l, const Linked *linked)
{
        l->way[linked->call] = linked->way;
        if (linked->role & ASKS)
                l->fetch[linked->call] =
                        linked->role & ASKS_AND_WAITS ? FETCHES | FETCH_WAITS : FETCHES;
        else
                l->starts[linked->call] = linked->role & GOES ? STARTS_WORK : STARTS_NOTHING;
}

static void find_parents(Search *s)
{
        CallLinks *l = s->links;
        g_autoptr(GHashTable) came =
                g_hash_table_new_full(hash_int64, g_int64_equal, NULL, arrivals_free);
        g_autoptr(GHashTable) ways = g_hash_table_new_full(hash_int64, g_int64_equal, NULL, g_free);

        g_array_sort_with_data(l->linked, compare_starts, (gpointer)s->calls);
        for (guint i = 0; i < l->linked->len; i++) {
                const Linked *linked = linked_at(l, i);
                const LinkEdge *edge = edge_of(s, linked->call);

                note_part(l, linked);
                if (linked->role & ASKS)
                        continue;
                guint64 from = mix(linked->content, edge->caller, NO_NODE);
                guint64 to = mix(linked->content, edge->callee, NO_NODE);
                guint64 key = mix(linked->content, edge->caller, edge->callee);
                gboolean goes = linked->role & GOES, comes = linked->role & COMES;
                Arrivals *before = goes ? g_hash_table_lookup(came, &from) : NULL, *after;
                Way *way = g_hash_table_lookup(ways, &key);

                if (before && !way) {
                        way = g_new0(Way, 1);
                        way->key = key;
                        g_hash_table_insert(ways, &way->key, way);
                }
                if (before)
                        take_arrival(s, before, way, linked->call, linked->role & BY_ORDER);
                l->relayed[linked->call] = (linked->role & RELAYED) != 0;
                if (!comes)
                        continue;
                after = g_hash_table_lookup(came, &to);
                if (!after) {
                        after = g_new0(Arrivals, 1);
                        after->key = to;
                        after->calls = g_array_new(FALSE, FALSE, sizeof(guint32));
                        g_hash_table_insert(came, &after->key, after);
                }
                g_array_append_val(after->calls, linked->call);
        }
}

static gboolean is_enclosed(const Search *s, guint32 call)
{
        guint32 parent = s->links->parent[call];

        return s->calls->at_caller[call].to <= s->calls->at_callee[parent].to;
}

static void find_holders(Search *s)
{
        for (guint32 i = 0; i < s->calls->n; i++) {
                Holder *h = &s->holders[edge_of(s, i)->caller];

                if (s->links->fetch[i])
                        continue;
                if (s->links->parent[i] == NO_PARENT) {
                        h->works = TRUE;
                } else if (!call_is_message(s->calls, i)) {
                        h->answered++;
                        h->enclosed += is_enclosed(s, i);
                }
        }
}

/* A broker holds what comes to it, and answers when it likes. A node that mostly passes things on
 * within the call that brought them, as a proxy does, has its caller wait; and what a worker
 * passes on while at work on it, beside other calls, does not lie in a queue. */
static WorkContinues find_kind(const Search *s, guint32 call)
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

static void make_room(CallLinks *l, guint32 n)
{
        if (l->parent)
                return;
        l->parent = g_new(guint32, n);
        l->probability = g_new0(float, n);
        l->continues = g_new0(guint8, n);
        l->relayed = g_new0(guint8, n);
        l->starts = g_new0(guint8, n);
        l->fetch = g_new0(guint8, n);
        l->way = g_new0(guint64, n);
        memset(l->parent, 0xff, n * sizeof *l->parent);
}

void call_links_find(CallLinks *l, const CallPairs *c, const LinkEdge *edges, guint n_nodes)
{
        g_autofree Holder *holders = g_new0(Holder, n_nodes);
        Search s = { l, c, edges, holders };

        if (!l->linked || l->linked->len == 0)
                return;
        make_room(l, c->n);
        find_parents(&s);
        find_holders(&s);
        for (guint32 i = 0; i < c->n; i++)
                l->continues[i] = (guint8)find_kind(&s, i);
}

/* Parents that are calls, or that these continue: never a circle. */
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
                make_room(l, c->n);
                c->cause[i] = (Cause){ parent, c->cause[before].probability };
                l->parent[i] = parent;
                l->probability[i] = c->cause[i].probability;
                l->continues[i] = WORK_GOES_ON;
        }
}
