/* SPDX-License-Identifier: BSD-2-Clause */
#include "analysis/why/why-waiting.h"

#include <string.h>

#include "analysis/why/held-calls.h"
#include "base/compare.h"
#include "base/int128.h"
#include "store/stored-patterns.h"

/* Kinds of calls at a node; whatever comes later is of the last, "others". */
enum { MOST_KINDS = 256 };

typedef enum { EVENT_WAITS, EVENT_TAKEN, EVENT_SERVED, EVENT_DONE } EventType;

/* A call of this kind changes its state. */
typedef struct {
        gint64 time; /* ns */
        guint32 kind;
        guint32 type; /* EventType */
} WaitEvent;

/* Calls of one kind at a node. */
typedef struct {
        NodeId client, entry;
        guint16 entry_label, label; /* 0: none */
        gboolean is_root;           /* the node is its entry */
        char *callees;              /* "db,redis" without an operation */
        guint64 calls, waited;
        gint128 wait; /* ns */
        const char *name;
        /* The sweep: */
        guint32 waiting; /* calls, now */
        gint64 since;    /* of this number */
        gint128 sum;     /* of calls times ns before that */
        gint128 *held;   /* by kind in service: time of that kind's calls while this one waited */
} CallKind;

/* A node with a queue before workers. */
typedef struct {
        NodeId node;
        guint32 workers;
        GArray *kinds;    /* of CallKind */
        GHashTable *keys; /* from what tells a kind from another to its index + 1 */
        GArray *events;   /* of WaitEvent */
} Pool;

typedef struct {
        StoreReader *reader;
        const NodeTable *nodes;
        GHashTable *pools; /* by NodeId */
        HeldCalls *held;
        WhyWaiting *result;
} Search;

static void pool_free(gpointer data)
{
        Pool *p = data;

        for (guint i = 0; i < p->kinds->len; i++) {
                g_free(g_array_index(p->kinds, CallKind, i).callees);
                g_free(g_array_index(p->kinds, CallKind, i).held);
        }
        g_array_unref(p->kinds);
        g_hash_table_unref(p->keys);
        g_array_unref(p->events);
        g_free(p);
}

void why_waiting_free(WhyWaiting *w)
{
        if (!w)
                return;
        g_array_unref(w->waits);
        g_string_chunk_free(w->text);
        g_free(w);
}

static void search_clear(Search *s)
{
        g_hash_table_unref(s->pools);
        held_calls_free(s->held);
        why_waiting_free(s->result);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Search, search_clear)

static CallKind *kind_at(const Pool *p, guint i)
{
        return &g_array_index(p->kinds, CallKind, i);
}

/* --- reading ----------------------------------------------------------------- */

static gboolean read_pools(Search *s, GError **error)
{
        StoredWorkers workers;
        int status;

        while ((status = store_reader_next_workers(s->reader, &workers, error)) > 0) {
                Pool *p = g_new0(Pool, 1);

                p->node = workers.node;
                p->workers = workers.load.workers;
                p->kinds = g_array_new(FALSE, TRUE, sizeof(CallKind));
                p->keys = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
                p->events = g_array_new(FALSE, FALSE, sizeof(WaitEvent));
                g_hash_table_insert(s->pools, GUINT_TO_POINTER(p->node), p);
        }
        return status == 0;
}

/* "db,redis": the nodes that a call calls, each once. The caller's to free. */
static char *name_callees(const NodeTable *nodes, const GArray *calls, guint32 call)
{
        g_autoptr(GPtrArray) names = g_ptr_array_new();
        GString *text = g_string_new(NULL);

        for (guint32 i = call + 1; i < calls->len; i++)
                if (g_array_index(calls, PathCall, i).parent == call)
                        g_ptr_array_add(names,
                                        (char *)node_table_written(
                                                nodes, g_array_index(calls, PathCall, i).callee));
        g_ptr_array_sort(names, compare_strings);
        for (guint i = 0; i < names->len; i++)
                if (i == 0 || strcmp(names->pdata[i], names->pdata[i - 1]) != 0)
                        g_string_append_printf(text, "%s%s", i > 0 ? "," : "",
                                               (const char *)names->pdata[i]);
        return g_string_free(text, FALSE);
}

static guint32 find_call_kind(const Search *s, Pool *p, NodeId client, const GArray *calls,
                              guint32 call)
{
        const PathCall *root = &g_array_index(calls, PathCall, 0);
        const PathCall *c = &g_array_index(calls, PathCall, call);
        g_autofree char *callees = c->label ? g_strdup("") : name_callees(s->nodes, calls, call);
        char *key = g_strdup_printf("%u %u %u %u %d %s", client, root->callee, root->label,
                                    c->label, call == 0, callees);
        guint32 found = GPOINTER_TO_UINT(g_hash_table_lookup(p->keys, key));

        if (found || p->kinds->len == MOST_KINDS) {
                g_free(key);
                return (found ? found : MOST_KINDS) - 1;
        }
        CallKind kind = { .client = client,
                          .entry = root->callee,
                          .entry_label = root->label,
                          .label = c->label,
                          .is_root = call == 0,
                          .callees = g_steal_pointer(&callees) };
        g_array_append_val(p->kinds, kind);
        g_hash_table_insert(p->keys, key, GUINT_TO_POINTER(p->kinds->len));
        return p->kinds->len - 1;
}

static void add_event(Pool *p, gint64 time, guint32 kind, EventType type)
{
        WaitEvent event = { time, kind, type };

        g_array_append_val(p->events, event);
}

static void add_call(const Search *s, Pool *p, NodeId client, const GArray *calls, guint32 call)
{
        const PathCall *c = &g_array_index(calls, PathCall, call);
        guint32 at = find_call_kind(s, p, client, calls, call);
        CallKind *kind = kind_at(p, at);
        gint64 enter = CLAMP(c->enter, -PATH_TIME_LIMIT, PATH_TIME_LIMIT);
        gint64 reply = CLAMP(c->reply, enter, PATH_TIME_LIMIT);
        gint64 wait = MIN(c->wait, reply - enter);

        kind->calls++;
        if (wait > 0) {
                kind->waited++;
                kind->wait += wait;
                add_event(p, enter, at, EVENT_WAITS);
        }
        add_event(p, enter + wait, at, wait > 0 ? EVENT_TAKEN : EVENT_SERVED);
        add_event(p, reply, at, EVENT_DONE);
}

static gboolean read_calls(Search *s, GError **error)
{
        g_autoptr(GArray) patterns = NULL;
        g_autoptr(GArray) calls = g_array_new(FALSE, FALSE, sizeof(PathCall));
        g_autoptr(GArray) places = g_array_new(FALSE, FALSE, sizeof(guint32));
        StoredPath path;
        int status;

        if (!(patterns = stored_patterns_load(s->reader, error)))
                return FALSE;
        while ((status = store_reader_next_path(s->reader, &path, error)) > 0) {
                NodeId client = stored_pattern_at(patterns, path.pattern)->client;

                if (!store_reader_path_calls(s->reader, &path, calls, places, error))
                        return FALSE;
                held_calls_add(s->held, calls);
                for (guint32 i = 0; i < calls->len; i++) {
                        NodeId callee = g_array_index(calls, PathCall, i).callee;
                        Pool *p = g_hash_table_lookup(s->pools, GUINT_TO_POINTER(callee));

                        if (p)
                                add_call(s, p, client, calls, i);
                }
        }
        return status == 0;
}

/* --- the sweep --------------------------------------------------------------- */

COMPARISON(compare_events, WaitEvent, COMPARE(a->time, b->time))

/* The sum over its calls of the time that they have waited until now. */
static gint128 kind_wait_until(const CallKind *k, gint64 now)
{
        return k->sum + (gint128)k->waiting * (now - k->since);
}

static void kind_change_waiting(CallKind *k, gint64 now, int change)
{
        k->sum = kind_wait_until(k, now);
        k->since = now;
        k->waiting += (guint32)change;
}

/* A served call holds what others wait from its begin (sign -1) to its end (sign 1). */
static void pool_charge(const Pool *p, guint32 holder, gint64 now, int sign)
{
        for (guint i = 0; i < p->kinds->len; i++) {
                CallKind *k = kind_at(p, i);

                if (k->waited > 0)
                        k->held[holder] += sign * kind_wait_until(k, now);
        }
}

static void pool_sweep(const Pool *p)
{
        for (guint i = 0; i < p->kinds->len; i++)
                kind_at(p, i)->held = g_new0(gint128, p->kinds->len);
        g_array_sort(p->events, compare_events);
        for (guint i = 0; i < p->events->len; i++) {
                const WaitEvent *e = &g_array_index(p->events, WaitEvent, i);

                if (e->type == EVENT_WAITS || e->type == EVENT_TAKEN)
                        kind_change_waiting(kind_at(p, e->kind), e->time,
                                            e->type == EVENT_WAITS ? 1 : -1);
                if (e->type != EVENT_WAITS)
                        pool_charge(p, e->kind, e->time, e->type == EVENT_DONE ? 1 : -1);
        }
}

/* --- rows -------------------------------------------------------------------- */

/* Which parts of a name tell the kinds of a node apart. */
typedef struct {
        gboolean client, entry, entry_label;
} NameParts;

static NameParts find_name_parts(const Pool *p)
{
        const CallKind *first = kind_at(p, 0);
        NameParts parts = { 0 };

        for (guint i = 1; i < p->kinds->len; i++) {
                const CallKind *k = kind_at(p, i);

                parts.client |= k->client != first->client;
                parts.entry |= k->entry != first->entry;
                parts.entry_label |= k->entry_label != first->entry_label;
        }
        return parts;
}

static void append_part(GString *name, const char *part)
{
        g_string_append_printf(name, "%s%s", name->len > 0 ? " > " : "", part);
}

static void name_kind(Search *s, const Pool *p, CallKind *k, const NameParts *parts)
{
        g_autoptr(GString) name = g_string_new(NULL);
        const char *entry_label = store_reader_label(s->reader, k->entry_label);
        const char *label = store_reader_label(s->reader, k->label);

        if (parts->client)
                append_part(name, node_table_written(s->nodes, k->client));
        if (parts->entry && !k->is_root)
                append_part(name, node_table_written(s->nodes, k->entry));
        if (parts->entry_label && !k->is_root && entry_label)
                append_part(name, entry_label);
        append_part(name, label ? label : node_table_written(s->nodes, p->node));
        if (!label && k->callees[0])
                g_string_append_printf(name, "(%s)", k->callees);
        k->name = g_string_chunk_insert(s->result->text, name->str);
}

static void pool_name_kinds(Search *s, const Pool *p)
{
        NameParts parts = find_name_parts(p);

        for (guint i = 0; i < p->kinds->len; i++)
                name_kind(s, p, kind_at(p, i), &parts);
        if (p->kinds->len == MOST_KINDS)
                kind_at(p, MOST_KINDS - 1)->name = "others";
}

static void add_waits(Search *s, const Pool *p, const CallKind *waiting)
{
        double total = (double)waiting->wait, rest = total;
        WhyWait row = { .what = "worker",
                        .node = node_table_written(s->nodes, p->node),
                        .workers = p->workers,
                        .waiting = waiting->name,
                        .calls = waiting->calls,
                        .waited = waiting->waited,
                        .mean = total / (double)waiting->calls };

        for (guint i = 0; i < p->kinds->len; i++) {
                if (waiting->held[i] == 0)
                        continue;
                row.holding = kind_at(p, i)->name;
                row.own = kind_at(p, i) == waiting;
                row.time = (double)waiting->held[i] / p->workers;
                row.share = row.time / total;
                rest -= row.time;
                g_array_append_val(s->result->waits, row);
        }
        if (rest < 1)
                return;
        row.holding = NULL;
        row.own = FALSE;
        row.time = rest;
        row.share = rest / total;
        g_array_append_val(s->result->waits, row);
}

static void add_pool(Search *s, const Pool *p)
{
        if (p->kinds->len == 0)
                return;
        s->result->nodes++;
        pool_sweep(p);
        pool_name_kinds(s, p);
        for (guint i = 0; i < p->kinds->len; i++) {
                const CallKind *k = kind_at(p, i);

                if (k->waited == 0)
                        continue;
                s->result->waited += k->waited;
                s->result->time += (double)k->wait;
                add_waits(s, p, k);
        }
}

static int compare_waits(gconstpointer va, gconstpointer vb)
{
        const WhyWait *a = va, *b = vb;
        double x = a->mean * (double)a->calls, y = b->mean * (double)b->calls;

        return COMPARE(y, x) ?: COMPARE(a->type, b->type) ?: strcmp(a->node, b->node)
               ?: g_strcmp0(a->of, b->of)
               ?: strcmp(a->waiting, b->waiting) ?: COMPARE(!a->holding, !b->holding)
               ?: COMPARE(b->time, a->time)
               ?: g_strcmp0(a->holding, b->holding);
}

WhyWaiting *why_waiting_new(StoreReader *reader, const NodeTable *nodes, GError **error)
{
        g_auto(Search) s = { .reader = reader,
                             .nodes = nodes,
                             .held = held_calls_new(reader, nodes),
                             .pools = g_hash_table_new_full(NULL, NULL, NULL, pool_free),
                             .result = g_new0(WhyWaiting, 1) };
        GHashTableIter pools;
        gpointer pool;

        s.result->waits = g_array_new(FALSE, FALSE, sizeof(WhyWait));
        s.result->text = g_string_chunk_new(256);
        if (!store_reader_expect_requests(reader, error) || !read_pools(&s, error) ||
            !read_calls(&s, error))
                return NULL;
        g_hash_table_iter_init(&pools, s.pools);
        while (g_hash_table_iter_next(&pools, NULL, &pool))
                add_pool(&s, pool);
        held_calls_sort(s.held);
        held_find_locks(s.held, s.result);
        held_find_pools(s.held, s.result);
        g_array_sort(s.result->waits, compare_waits);
        return g_steal_pointer(&s.result);
}
