/* SPDX-License-Identifier: BSD-2-Clause */
#include "analysis/whatif/requests.h"

#include <string.h>

#include "analysis/whatif/clients.h"
#include "base/compare.h"
#include "base/each.h"
#include "base/error.h"
#include "paths/missed-calls.h"
#include "store/stored-patterns.h"

enum { OTHER_LABEL = 255 };

/* --- what follows what ----------------------------------------------------- */

/* A call of one node's, as its caller sees it. */
typedef struct {
        guint32 call;
        gint64 start, end; /* end: when its caller went on without it, if it did */
        gboolean loose;
} Sister;

/* Sisters of one node, and how far time has passed over them. */
typedef struct {
        GArray *sisters; /* of Sister, by start */
        guint32 *by_end; /* their numbers */
        guint32 passed;  /* of by_end */
        gint64 entered;  /* a worker took the call, or it came */
        gint64 latest;   /* of the ends that have passed */
} Following;

static const Sister *sister_at(const Following *f, guint32 i)
{
        return &g_array_index(f->sisters, Sister, i);
}

/* Sisters come nearly in the order of their ends. */
static void following_sort(Following *f)
{
        for (guint32 i = 0; i < f->sisters->len; i++) {
                guint32 k = i;

                for (; k > 0 && sister_at(f, f->by_end[k - 1])->end > sister_at(f, i)->end; k--)
                        f->by_end[k] = f->by_end[k - 1];
                f->by_end[k] = i;
        }
}

/* What an event at a time follows, after the first n sisters: sets follows and the sister, if there
 * is one. Returns the time of what it follows. */
static gint64 following_find(Following *f, gint64 at, guint32 n, guint8 *follows, guint32 *sister)
{
        gint64 sent;

        while (f->passed < f->sisters->len && f->by_end[f->passed] < n &&
               sister_at(f, f->by_end[f->passed])->end <= at) {
                f->latest = MAX(f->latest, sister_at(f, f->by_end[f->passed])->end);
                f->passed++;
        }
        *follows = AFTER_ALL;
        *sister = n - 1;
        if (f->passed >= n)
                return f->latest;
        sent = sister_at(f, n - 1)->start;
        if (f->passed > 0 && f->latest >= sent) {
                *follows = AFTER_END;
                *sister = f->by_end[f->passed - 1];
                return sister_at(f, *sister)->end;
        }
        *follows = AFTER_START;
        return sent;
}

static gint64 limit_gap(gint64 gap)
{
        return CLAMP(gap, -REPLAY_TIME_LIMIT, REPLAY_TIME_LIMIT);
}

/* Calls that a node made after its reply follow that. */
static void set_children(Following *f, ReplayCall *calls, const PathCall *c)
{
        ReplayCall *parent = calls;
        guint32 n = 0, sister;

        following_sort(f);
        for (; n < f->sisters->len && sister_at(f, n)->start < c->reply; n++) {
                const Sister *s = sister_at(f, n);
                ReplayCall *call = &calls[s->call];

                call->gap = limit_gap(s->start -
                                      following_find(f, s->start, n, &call->follows, &sister));
                call->after = n == 0 || call->follows == AFTER_ALL
                                      ? 0
                                      : s->call - sister_at(f, sister)->call;
        }
        parent->last = limit_gap(c->reply -
                                 following_find(f, c->reply, n, &parent->reply_follows, &sister));
        parent->reply_after = parent->reply_follows == AFTER_ALL ? 0 : sister_at(f, sister)->call;
        for (; n < f->sisters->len; n++) {
                calls[sister_at(f, n)->call].follows = AFTER_REPLY;
                calls[sister_at(f, n)->call].gap = limit_gap(sister_at(f, n)->start - c->reply);
        }
}

static void set_call(ReplayCall *call, const PathCall *c, const gint64 *next_asked,
                     const PathCall *request, guint32 i)
{
        *call = (ReplayCall){ .there = limit_gap(c->enter - c->start),
                              .back = limit_gap(c->end - c->reply),
                              .node = c->callee,
                              .size = 1,
                              .up = c->parent == NO_PARENT ? 0 : i - c->parent,
                              .label = (guint8)MIN(c->label, OTHER_LABEL) };
        if (i > 0 && (path_call_is_message(c) || work_goes_on(c->continues)))
                call->loose = TRUE;
        if (i > 0 && work_is_missed(c->continues)) {
                call->missed = TRUE;
                call->back = limit_gap(path_call_missed_until(request, next_asked, i) - c->start);
        }
}

static void collect_sisters(Following *f, const ReplayCall *calls, const PathCall *request,
                            guint32 parent)
{
        gint64 latest = G_MININT64;

        g_array_set_size(f->sisters, 0);
        for (guint32 i = 1; i < calls[parent].size; i += calls[parent + i].size) {
                const PathCall *c = &request[parent + i];
                const ReplayCall *call = &calls[parent + i];
                Sister s = { i, MAX(c->start, latest), c->end, call->loose };

                if (call->loose)
                        s.end = s.start;
                else if (call->missed)
                        s.end = s.start + call->back;
                s.end = MAX(s.end, s.start);
                latest = s.start;
                g_array_append_val(f->sisters, s);
        }
}

void replay_calls_append(GArray *calls, const PathCall *request, guint32 n)
{
        guint first = calls->len;
        g_autofree gint64 *next_asked = path_find_next_asked(request, n);
        g_autofree guint32 *by_end = g_new(guint32, n);
        g_autoptr(GArray) sisters = g_array_new(FALSE, FALSE, sizeof(Sister));

        g_array_set_size(calls, first + n);
        ReplayCall *c = &g_array_index(calls, ReplayCall, first);
        for (guint32 i = 0; i < n; i++)
                set_call(&c[i], &request[i], next_asked, request, i);
        for (guint32 i = n; i-- > 1;)
                c[i - c[i].up].size += c[i].size;
        for (guint32 i = 0; i < n; i++) {
                const PathCall *p = &request[i];
                Following f = { sisters, by_end, 0, 0, G_MININT64 };

                collect_sisters(&f, c, request, i);
                f.entered = p->enter + p->wait;
                if (sisters->len > 0)
                        f.entered = MIN(f.entered, MAX(p->enter, sister_at(&f, 0)->start));
                f.latest = f.entered;
                set_children(&f, &c[i], p);
        }
}

/* --- reading --------------------------------------------------------------- */

typedef struct {
        StoreReader *reader;
        ReplayRequests *requests;
        GArray *entry_of; /* of guint32, by pattern */
        GArray *clients;  /* of ClientRequest, by request */
        GArray *n_calls;  /* of guint32, likewise */
        ReplayCallsSink sink;
        gpointer data;
} Loading;

static gboolean load_entries(Loading *l, GError **error)
{
        g_autoptr(GArray) patterns = stored_patterns_load(l->reader, error);
        g_autoptr(GHashTable) known = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
        StoredPatternNode node;
        int status;

        if (!patterns)
                return FALSE;
        g_array_set_size(l->entry_of, patterns->len);
        while ((status = store_reader_next_pattern_node(l->reader, &node, error)) > 0) {
                const StoredPattern *p = stored_pattern_at(patterns, node.pattern);
                ReplayEntry entry = { p->client, node.node, NULL, 0 };
                guint found;

                if (!store_reader_histogram(l->reader, &node.latency, &l->requests->took[node.node],
                                            error))
                        return FALSE;
                if (node.place != 0)
                        continue;
                char *key =
                        g_strdup_printf("%u %u %s", p->client, node.node, p->label ? p->label : "");
                if ((found = GPOINTER_TO_UINT(g_hash_table_lookup(known, key)))) {
                        g_free(key);
                } else {
                        entry.label = g_strdup(p->label);
                        g_array_append_val(l->requests->entries, entry);
                        found = l->requests->entries->len;
                        g_hash_table_insert(known, key, GUINT_TO_POINTER(found));
                }
                g_array_index(l->entry_of, guint32, node.pattern) = found - 1;
        }
        return status == 0;
}

static gboolean load_workers(Loading *l, GError **error)
{
        StoredWorkers workers;
        int status;

        while ((status = store_reader_next_workers(l->reader, &workers, error)) > 0)
                l->requests->workers[workers.node] = workers.load.workers;
        return status == 0;
}

static gboolean load_paths(Loading *l, GError **error)
{
        StoredPath path;
        int status;

        while ((status = store_reader_next_path(l->reader, &path, error)) > 0) {
                guint32 entry = g_array_index(l->entry_of, guint32, path.pattern);
                ReplayRequest r = { .first_call = path.first_call,
                                    .entry = entry,
                                    .next = NO_PARENT,
                                    .probability = (float)path.probability,
                                    .number = l->requests->requests->len };

                if (entry >= l->requests->entries->len)
                        return store_reader_fail(l->reader, error,
                                                 "row %u of path: its pattern has no node",
                                                 l->requests->requests->len + 1);
                g_array_append_val(l->requests->requests, r);
                g_array_append_val(l->n_calls, path.n_calls);
                g_array_index(l->requests->entries, ReplayEntry, entry).count++;
        }
        return status == 0;
}

static gint64 limit_replay_time(gint64 time)
{
        return CLAMP(time, -PATH_TIME_LIMIT, PATH_TIME_LIMIT);
}

static void note_client(Loading *l, ReplayRequest *r, const PathCall *root)
{
        ClientRequest c = { root->start, MAX(root->end, root->start), root->caller,
                            g_array_index(l->requests->entries, ReplayEntry, r->entry).client,
                            NO_PARENT };

        r->start = c.start;
        r->latency = c.end - c.start;
        g_array_append_val(l->clients, c);
}

static gboolean load_calls(Loading *l, GError **error)
{
        ReplayRequests *requests = l->requests;
        g_autoptr(GArray) calls = g_array_new(FALSE, FALSE, sizeof(PathCall));
        g_autoptr(GArray) places = g_array_new(FALSE, FALSE, sizeof(guint32));

        for (guint i = 0; i < requests->requests->len; i++) {
                ReplayRequest *r = replay_request_at(requests, i);
                StoredPath path = { .first_call = r->first_call,
                                    .n_calls = g_array_index(l->n_calls, guint32, i) };

                if (!store_reader_path_calls(l->reader, &path, calls, places, error))
                        return FALSE;
                EACH (PathCall, c, calls) {
                        c->start = limit_replay_time(c->start);
                        c->enter = limit_replay_time(c->enter);
                        c->reply = limit_replay_time(c->reply);
                        c->end = limit_replay_time(c->end);
                }
                requests->most_calls = MAX(requests->most_calls, calls->len);
                note_client(l, r, (PathCall *)calls->data);
                if (l->sink)
                        l->sink(l->data, requests->calls->len, (PathCall *)calls->data, calls->len);
                replay_calls_append(requests->calls, (PathCall *)calls->data, calls->len);
        }
        return TRUE;
}

/* --- clients --------------------------------------------------------------- */

static int compare_starts(gconstpointer va, gconstpointer vb, gpointer data)
{
        const ClientRequest *c = data, *a = &c[*(const guint32 *)va], *b = &c[*(const guint32 *)vb];

        return COMPARE(a->start, b->start) ?: COMPARE(*(const guint32 *)va, *(const guint32 *)vb);
}

/* Requests and their clients, by start. */
static void sort_requests(Loading *l)
{
        guint n = l->requests->requests->len;
        g_autofree guint32 *order = g_new(guint32, n + 1); /* never NULL */
        GArray *requests = g_array_sized_new(FALSE, FALSE, sizeof(ReplayRequest), n);
        GArray *clients = g_array_sized_new(FALSE, FALSE, sizeof(ClientRequest), n);

        for (guint32 i = 0; i < n; i++)
                order[i] = i;
        qsort_r(order, n, sizeof *order, compare_starts, l->clients->data);
        for (guint32 i = 0; i < n; i++) {
                g_array_append_val(requests, *replay_request_at(l->requests, order[i]));
                g_array_append_val(clients, g_array_index(l->clients, ClientRequest, order[i]));
        }
        g_array_unref(l->requests->requests);
        l->requests->requests = requests;
        g_array_unref(l->clients);
        l->clients = clients;
}

static void link_clients(Loading *l)
{
        const ClientRequest *c = (const ClientRequest *)l->clients->data;

        client_requests_link((ClientRequest *)l->clients->data, l->clients->len);
        for (guint32 i = 0; i < l->clients->len; i++) {
                ReplayRequest *r = replay_request_at(l->requests, i);

                if (c[i].previous == NO_PARENT)
                        continue;
                r->start = c[i].start - c[c[i].previous].end;
                r->waits = TRUE;
                replay_request_at(l->requests, c[i].previous)->next = i;
                l->requests->n_waiting++;
        }
}

/* --- public ---------------------------------------------------------------- */

static void entry_clear(gpointer data)
{
        g_free(((ReplayEntry *)data)->label);
}

ReplayRequests *replay_requests_load(StoreReader *reader, const NodeTable *nodes,
                                     ReplayCallsSink sink, gpointer data, GError **error)
{
        g_autoptr(ReplayRequests) r = g_new0(ReplayRequests, 1);
        Loading l = { .reader = reader,
                      .requests = r,
                      .entry_of = g_array_new(FALSE, FALSE, sizeof(guint32)),
                      .clients = g_array_new(FALSE, FALSE, sizeof(ClientRequest)),
                      .n_calls = g_array_new(FALSE, FALSE, sizeof(guint32)),
                      .sink = sink,
                      .data = data };
        gboolean ok;

        r->calls = g_array_new(FALSE, FALSE, sizeof(ReplayCall));
        r->requests = g_array_new(FALSE, FALSE, sizeof(ReplayRequest));
        r->entries = g_array_new(FALSE, FALSE, sizeof(ReplayEntry));
        g_array_set_clear_func(r->entries, entry_clear);
        r->n_nodes = node_table_size(nodes);
        r->workers = g_new0(guint32, r->n_nodes);
        r->took = g_new0(Histogram, r->n_nodes);
        ok = store_reader_expect_requests(reader, error) && load_entries(&l, error) &&
             load_workers(&l, error) && load_paths(&l, error) && load_calls(&l, error);
        if (ok) {
                sort_requests(&l);
                link_clients(&l);
        }
        g_array_unref(l.entry_of);
        g_array_unref(l.clients);
        g_array_unref(l.n_calls);
        return ok ? g_steal_pointer(&r) : NULL;
}

void replay_requests_free(ReplayRequests *r)
{
        if (!r)
                return;
        g_array_unref(r->calls);
        g_array_unref(r->requests);
        g_array_unref(r->entries);
        g_free(r->workers);
        for (guint i = 0; i < r->n_nodes; i++)
                histogram_clear(&r->took[i]);
        g_free(r->took);
        g_free(r);
}
