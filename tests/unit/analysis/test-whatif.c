/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What if: the parser of changes; what follows what; the replay against a second one that looks for
 * the next start of service among all calls; clients that wait; figures against their definition.
 */
#include <math.h>
#include <string.h>

#include "analysis/whatif/alter.h"
#include "analysis/whatif/changes.h"
#include "analysis/whatif/clients.h"
#include "analysis/whatif/figures.h"
#include "analysis/whatif/replay.h"
#include "base/compare.h"

enum { N_NODES = 5, MS = 1000000 };

/* --- changes --------------------------------------------------------------- */

static GArray *parse(const char *text, GError **error)
{
        g_autoptr(NodeTable) nodes = node_table_new();
        char *texts[] = { (char *)text };

        node_table_add(nodes, "web", 3);
        node_table_add(nodes, "db:1", 4);
        node_table_add(nodes, "a)", 2);
        return whatif_changes_parse(texts, 1, nodes, error);
}

static WhatIfChange parsed(const char *text, NodeId callee)
{
        g_autoptr(GError) error = NULL;
        g_autoptr(GArray) changes = parse(text, &error);

        g_assert_no_error(error);
        g_assert_cmpuint(changes->len, ==, 1);
        WhatIfChange c = g_array_index(changes, WhatIfChange, 0);
        if (callee != NO_NODE)
                g_assert_cmpuint(g_array_index(c.callees, NodeId, c.callees->len - 1), ==, callee);
        c.callees = NULL;
        return c;
}

static void test_changes(void)
{
        WhatIfChange c = parsed("own(db:1)*0.5", NO_NODE);

        g_assert_true(c.kind == CHANGE_OWN && c.node == 1 && c.factor == 0.5);
        c = parsed("own( web )-2.5ms", NO_NODE);
        g_assert_true(c.kind == CHANGE_OWN_LESS && c.node == 0 && c.less == 2500000);
        c = parsed("own(web)+10us", NO_NODE);
        g_assert_true(c.kind == CHANGE_OWN_LESS && c.less == -10000);
        c = parsed("parallel(web: web,db:1)", 1);
        g_assert_true(c.kind == CHANGE_PARALLEL && c.node == 0);
        c = parsed("parallel(db:1: db:1, web)", 0);
        g_assert_true(c.kind == CHANGE_PARALLEL && c.node == 1);
        c = parsed("drop(web>db:1)", 1);
        g_assert_true(c.kind == CHANGE_DROP && c.node == 0);
        c = parsed("workers(a%29)=8", NO_NODE);
        g_assert_true(c.kind == CHANGE_WORKERS && c.node == 2 && c.workers == 8);
        c = parsed("rate*1.4", NO_NODE);
        g_assert_true(c.kind == CHANGE_RATE && c.factor == 1.4 && c.node == NO_NODE);
        c = parsed("hedge(web@p95)", NO_NODE);
        g_assert_true(c.kind == CHANGE_HEDGE && c.node == 0 && fabs(c.factor - 0.95) < 1e-12);
        c = parsed("hit(web)=0.95", NO_NODE);
        g_assert_true(c.kind == CHANGE_HIT && c.node == 0 && c.factor == 0.95);
}

static void test_not_changes(void)
{
        static const char *const texts[] = {
                "",
                "own",
                "own(web)",
                "own(web)*",
                "own(web)*-1",
                "own(web)*nan",
                "own(web)*0x2",
                "own(web)*1e9",
                "own(web)-2",
                "own(web)-2m",
                "own(web)-ms",
                "own(nosuch)*0.5",
                "own()*0.5",
                "own web*0.5)",
                "parallel(web)",
                "parallel(web: web)",
                "parallel(web: web,nosuch)",
                "parallel(web: web,web)x",
                "drop(web)",
                "drop(web>nosuch)",
                "drop(web>web)2",
                "workers(web)=0",
                "workers(web)=1.5",
                "workers(web)8",
                "rate",
                "rate*0",
                "rate=2",
                "hedge(web)",
                "hedge(web@p100)",
                "hedge(web@p0)",
                "hedge(web@95)",
                "hit(web)=1.1",
                "hit(web)*1",
                "faster(web)*2",
        };

        for (guint i = 0; i < G_N_ELEMENTS(texts); i++) {
                g_autoptr(GError) error = NULL;
                GArray *changes = parse(texts[i], &error);

                g_assert_null(changes);
                g_assert_nonnull(error);
        }
}

/* --- requests -------------------------------------------------------------- */

/* Calls of one node, some at the same time; returns when the last one is back. */
static gint64 add_calls(GRand *rand, GArray *calls, guint32 parent, gint64 at, guint depth);

static gint64 add_call(GRand *rand, GArray *calls, guint32 parent, gint64 at, guint depth)
{
        PathCall c = { .parent = parent,
                       .callee = (NodeId)g_rand_int_range(rand, 0, N_NODES),
                       .start = at,
                       .enter = at + g_rand_int_range(rand, 0, MS),
                       .stamps = 1 << CALL_SENT };
        guint32 index = calls->len;

        g_array_append_val(calls, c);
        gint64 reply =
                add_calls(rand, calls, index, c.enter, depth) + g_rand_int_range(rand, 1, 5 * MS);
        PathCall *call = &g_array_index(calls, PathCall, index);
        call->reply = reply;
        call->end = reply + g_rand_int_range(rand, 0, MS);
        return call->end;
}

static gint64 add_calls(GRand *rand, GArray *calls, guint32 parent, gint64 at, guint depth)
{
        gint64 end = at, start = at;

        for (gint n = depth < 3 ? g_rand_int_range(rand, 0, 4) : 0; n > 0; n--) {
                start += g_rand_int_range(rand, 1, 3 * MS);
                if (g_rand_int_range(rand, 0, 3) > 0) /* in series */
                        start = MAX(start, end + g_rand_int_range(rand, 1, 3 * MS));
                end = MAX(end, add_call(rand, calls, parent, start, depth + 1));
        }
        return end;
}

static ReplayRequests *new_requests(void)
{
        ReplayRequests *r = g_new0(ReplayRequests, 1);

        r->calls = g_array_new(FALSE, FALSE, sizeof(ReplayCall));
        r->requests = g_array_new(FALSE, FALSE, sizeof(ReplayRequest));
        r->entries = g_array_new(FALSE, FALSE, sizeof(ReplayEntry));
        r->n_nodes = N_NODES;
        r->workers = g_new0(guint32, N_NODES);
        r->took = g_new0(Histogram, N_NODES);
        return r;
}

static void add_request(ReplayRequests *r, const GArray *calls, gint64 start)
{
        const PathCall *root = (const PathCall *)calls->data;
        ReplayRequest q = { .start = start,
                            .latency = root->end - root->start,
                            .first_call = r->calls->len,
                            .next = NO_PARENT };

        replay_calls_append(r->calls, root, calls->len);
        g_array_append_val(r->requests, q);
        r->most_calls = MAX(r->most_calls, calls->len);
}

static ReplayRequests *random_requests(GRand *rand, guint n)
{
        ReplayRequests *r = new_requests();
        gint64 at = 0;

        for (guint i = 0; i < n; i++) {
                g_autoptr(GArray) calls = g_array_new(FALSE, FALSE, sizeof(PathCall));

                at += g_rand_int_range(rand, 0, 20 * MS);
                add_call(rand, calls, NO_PARENT, at, 0);
                add_request(r, calls, at);
        }
        return r;
}

static gint64 *replay(const ReplayRequests *r, const ReplaySettings *s, ReplayLoad *loads)
{
        gint64 *latency = g_new0(gint64, r->requests->len);

        replay_run(r, s, latency, loads);
        return latency;
}

/* Nothing is changed and nothing waits: each request takes as long as it did. */
static void test_same(void)
{
        g_autoptr(GRand) rand = g_rand_new_with_seed(1);
        g_autoptr(ReplayRequests) r = random_requests(rand, 2000);
        g_autoptr(ReplaySettings) s = replay_settings_new(r);
        ReplayLoad loads[N_NODES];
        g_autofree gint64 *latency = replay(r, s, loads);

        for (guint32 i = 0; i < r->requests->len; i++)
                g_assert_cmpint(latency[i], ==, replay_request_at(r, i)->latency);
        /* By events, with more workers than there are calls, too. */
        s->nodes[1].workers = s->nodes[3].workers = 100000;
        g_autofree gint64 *again = replay(r, s, loads);
        g_assert_cmpmem(latency, r->requests->len * sizeof *latency, again,
                        r->requests->len * sizeof *again);
}

/* --- a second replay ------------------------------------------------------- */

typedef struct {
        gint64 start, enter, begin, reply, end; /* -1: not known */
        guint32 request;
} Moment;

static gint64 follow(const ReplayCall *c, const Moment *m, guint32 i, guint8 follows,
                     guint32 sister)
{
        gint64 latest = m[0].begin;

        if (latest < 0)
                return -1;
        if (follows == AFTER_START)
                return m[sister].start;
        if (follows == AFTER_END)
                return m[sister].end;
        for (guint32 k = 1; k < i; k += c[k].size) {
                if (m[k].end < 0)
                        return -1;
                latest = MAX(latest, m[k].end);
        }
        return latest;
}

/* All moments of a call that follow from those known. TRUE if there is a new one. */
static gboolean derive(const ReplaySettings *s, const ReplayCall *c, Moment *m)
{
        Moment before = *m;
        gint64 at;

        if (m->start < 0 && c->up > 0) {
                guint32 up = c->up;
                at = follow(c - up, m - up, up, c->follows, up - c->after);
                if (at >= 0)
                        m->start = at + c->gap;
        }
        if (m->start >= 0)
                m->enter = m->start + c->there;
        if (m->enter >= 0 && s->nodes[c->node].workers == 0)
                m->begin = m->enter;
        if (m->reply < 0) {
                at = follow(c, m, c->size, c->reply_follows, c->reply_after);
                if (at >= 0)
                        m->reply = at + c->last;
        }
        if (m->reply >= 0)
                m->end = m->reply + c->back;
        return memcmp(&before, m, sizeof before) != 0;
}

/* When the worker of a node that is free first is free; -1: not known. */
static gint64 first_free(const ReplayRequests *r, const ReplaySettings *s, const Moment *m,
                         NodeId node)
{
        g_autoptr(GArray) busy = g_array_new(FALSE, FALSE, sizeof(gint64));
        guint32 begun = 0;

        for (guint32 i = 0; i < r->calls->len; i++) {
                if (replay_call_at(r, i)->node != node || m[i].begin < 0)
                        continue;
                begun++;
                if (m[i].reply >= 0)
                        g_array_append_val(busy, m[i].reply);
        }
        if (begun < s->nodes[node].workers)
                return 0;
        /* Of all that have begun, all but workers - 1 must have ended. */
        guint32 needed = begun - s->nodes[node].workers;
        g_array_sort(busy, compare_int64s);
        return needed < busy->len ? g_array_index(busy, gint64, needed) : -1;
}

/* The next start of service of all; FALSE: nobody waits. */
static gboolean begin_next(const ReplayRequests *r, const ReplaySettings *s, Moment *m)
{
        gint64 best = G_MAXINT64;
        guint32 found = NO_PARENT;

        for (NodeId node = 0; node < N_NODES; node++) {
                gint64 free = first_free(r, s, m, node);
                guint32 first = NO_PARENT;

                for (guint32 i = 0; i < r->calls->len; i++)
                        if (replay_call_at(r, i)->node == node && m[i].enter >= 0 &&
                            m[i].begin < 0 && (first == NO_PARENT || m[i].enter < m[first].enter))
                                first = i;
                if (first == NO_PARENT || free < 0 || MAX(free, m[first].enter) >= best)
                        continue;
                best = MAX(free, m[first].enter);
                found = first;
        }
        if (found != NO_PARENT)
                m[found].begin = best;
        return found != NO_PARENT;
}

static void second_replay(const ReplayRequests *r, const ReplaySettings *s, gint64 *latency)
{
        g_autofree Moment *m = g_new(Moment, r->calls->len);
        gboolean more = TRUE;

        for (guint32 i = 0; i < r->calls->len; i++)
                m[i] = (Moment){ -1, -1, -1, -1, -1, 0 };
        for (guint32 i = 0; i < r->requests->len; i++)
                m[replay_request_at(r, i)->first_call].start = replay_request_at(r, i)->start;
        while (more) {
                for (more = TRUE; more;) {
                        more = FALSE;
                        for (guint32 i = 0; i < r->calls->len; i++)
                                more |= derive(s, replay_call_at(r, i), &m[i]);
                }
                more = begin_next(r, s, m);
        }
        for (guint32 i = 0; i < r->requests->len; i++) {
                const Moment *root = &m[replay_request_at(r, i)->first_call];
                g_assert_cmpint(root->end, >=, 0);
                latency[i] = root->end - root->start;
        }
}

static void test_replay(void)
{
        g_autoptr(GRand) rand = g_rand_new_with_seed(2);
        guint64 waited = 0;

        for (guint turn = 0; turn < 60; turn++) {
                g_autoptr(ReplayRequests) r = random_requests(rand, 40);
                g_autoptr(ReplaySettings) s = replay_settings_new(r);
                NodeId calls[] = { 1, 2 };
                WhatIfChange change = { .node = 0, .callees = g_array_new(FALSE, FALSE, 4) };
                g_autofree gint64 *second = g_new0(gint64, r->requests->len);
                ReplayLoad loads[N_NODES];

                /* A node that holds a worker waits for no other that does: 1 and 2 of them may
                 * wait for each other for ever. */
                s->nodes[turn % N_NODES].workers = 3 + turn % 7;
                for (guint32 i = 0; i < r->calls->len; i++) {
                        ReplayCall *c = replay_call_at(r, i);

                        for (guint32 up = c->up; up > 0 && c->node == turn % N_NODES;
                             up += c[-(gint64)up].up) {
                                if (c[-(gint64)up].node == c->node)
                                        c->node = (c->node + 1) % N_NODES;
                                if (c[-(gint64)up].up == 0)
                                        break;
                        }
                }
                g_array_append_vals(change.callees, calls, 2);
                if (turn % 2)
                        replay_requests_join(r, &change);
                g_array_unref(change.callees);
                g_autofree gint64 *latency = replay(r, s, loads);
                second_replay(r, s, second);
                for (guint32 i = 0; i < r->requests->len; i++) {
                        g_assert_cmpint(latency[i], ==, second[i]);
                        waited += latency[i] > replay_request_at(r, i)->latency;
                }
        }
        g_assert_cmpuint(waited, >, 200);
}

/* --- changes by hand ------------------------------------------------------- */

/* web works 1 ms, calls db for 4 ms and, after 1 ms, db again for 6 ms, and works 2 ms. */
static ReplayRequests *two_calls(guint n, gint64 apart)
{
        ReplayRequests *r = new_requests();

        for (guint i = 0; i < n; i++) {
                gint64 t = apart * i;
                PathCall calls[] = {
                        { .parent = NO_PARENT, .callee = 0, .start = t, .enter = t },
                        { .parent = 0, .callee = 1, .start = t + MS, .enter = t + MS },
                        { .parent = 0, .callee = 1, .start = t + 6 * MS, .enter = t + 6 * MS },
                };
                calls[0].reply = calls[0].end = t + 14 * MS;
                calls[1].reply = calls[1].end = t + 5 * MS;
                calls[2].reply = calls[2].end = t + 12 * MS;
                g_autoptr(GArray) array = g_array_new(FALSE, FALSE, sizeof(PathCall));
                g_array_append_vals(array, calls, 3);
                add_request(r, array, t);
        }
        return r;
}

static gint64 last_latency(const ReplayRequests *r, const ReplaySettings *s)
{
        ReplayLoad loads[N_NODES];
        g_autofree gint64 *latency = replay(r, s, loads);

        return latency[r->requests->len - 1];
}

static void test_settings(void)
{
        g_autoptr(ReplayRequests) r = two_calls(2, MS);
        g_autoptr(ReplaySettings) s = replay_settings_new(r);

        s->nodes[1].factor = 0.5;
        g_assert_cmpint(last_latency(r, s), ==, 9 * MS);
        s->nodes[1].factor = 1;
        s->nodes[0].less = 2 * MS; /* of 4 ms */
        g_assert_cmpint(last_latency(r, s), ==, 12 * MS);
        s->nodes[0].less = 0;
        s->nodes[0].workers = 1; /* the second waits for 13 ms */
        g_assert_cmpint(last_latency(r, s), ==, 27 * MS);
        s->rate = 0.05; /* it comes 20 ms later */
        g_assert_cmpint(last_latency(r, s), ==, 14 * MS);
        /* Both calls into db take longer than 3 ms: a second one of 4 or 6 ms is sent. */
        s->nodes[1].hedge = 3 * MS;
        g_assert_cmpint(last_latency(r, s), ==, 14 * MS);
        s->nodes[1].hedge = MS / 2; /* the second answer to the call of 6 ms is after 4.5 or 6.5 */
        gint64 latency = last_latency(r, s);
        g_assert_true(latency == 14 * MS || latency == 12 * MS + MS / 2);
}

/* A node that calls itself with one worker. */
static void test_stuck(void)
{
        g_autoptr(ReplayRequests) r = two_calls(3, MS);
        g_autoptr(ReplaySettings) s = replay_settings_new(r);
        ReplayLoad loads[N_NODES];

        for (guint i = 0; i < r->calls->len; i++)
                replay_call_at(r, i)->node = 0;
        s->nodes[0].workers = 1;
        g_autofree gint64 *latency = replay(r, s, loads);
        g_assert_true(loads[0].stuck);
        s->nodes[0].workers = 9;
        g_assert_cmpint(last_latency(r, s), ==, 14 * MS);
}

static void test_alter(void)
{
        g_autoptr(ReplayRequests) r = two_calls(1, MS), joined = two_calls(1, MS);
        g_autoptr(ReplaySettings) s = replay_settings_new(r);
        NodeId db = 1;
        WhatIfChange change = { .node = 0, .callees = g_array_new(FALSE, FALSE, sizeof db) };

        g_array_append_val(change.callees, db);
        g_assert_cmpuint(replay_requests_drop(r, &change), ==, 2);
        g_assert_cmpint(last_latency(r, s), ==, 4 * MS);
        g_assert_cmpuint(replay_requests_join(r, &change), ==, 0);
        g_assert_cmpuint(replay_requests_join(joined, &change), ==, 1);
        g_assert_cmpint(last_latency(joined, s), ==, 9 * MS);
        g_array_unref(change.callees);
}

/* --- clients --------------------------------------------------------------- */

static int compare_client_starts(gconstpointer va, gconstpointer vb)
{
        return COMPARE(((const ClientRequest *)va)->start, ((const ClientRequest *)vb)->start);
}

/* Requests of `users` who wait and think, of `callers` names; 0 users: they come at any time. */
static guint linked_clients(guint users, guint callers, double think)
{
        enum { N = 1000 };
        g_autoptr(GRand) rand = g_rand_new_with_seed(3);
        ClientRequest requests[N];
        gint64 free[64] = { 0 };
        guint linked = 0;
        gint64 at = 0;

        for (guint i = 0; i < N; i++) {
                gint64 gap = (gint64)(-think * log(1 - g_rand_double(rand)));
                gint64 *user = users > 0 ? &free[i % users] : &at;

                requests[i].start = *user + gap;
                requests[i].end =
                        requests[i].start + (gint64)(-10.0 * MS * log(1 - g_rand_double(rand)));
                requests[i].caller = i % callers;
                requests[i].group = 0;
                *user = users > 0 ? requests[i].end : requests[i].start;
        }
        qsort(requests, N, sizeof *requests, compare_client_starts);
        client_requests_link(requests, N);
        for (guint i = 0; i < N; i++) {
                if (requests[i].previous == NO_PARENT)
                        continue;
                linked++;
                g_assert_cmpint(requests[requests[i].previous].end, <=, requests[i].start);
                g_assert_cmpuint(requests[requests[i].previous].caller, ==, requests[i].caller);
        }
        return linked;
}

static void test_clients(void)
{
        g_assert_cmpuint(linked_clients(1, 1, 5.0 * MS), >=, 999);
        g_assert_cmpuint(linked_clients(8, 1, 5.0 * MS), >=, 990);
        g_assert_cmpuint(linked_clients(8, 8, 5.0 * MS), >=, 990);
        g_assert_cmpuint(linked_clients(0, 1, 5.0 * MS), ==, 0);
        g_assert_cmpuint(linked_clients(0, 1, 50.0 * MS), ==, 0);
}

/* A client that asks every 20 ms whatever the answer, which takes less. */
static void test_even_clients(void)
{
        ClientRequest requests[500];
        g_autoptr(GRand) rand = g_rand_new_with_seed(4);

        for (guint i = 0; i < 500; i++)
                requests[i] =
                        (ClientRequest){ (gint64)i * 20 * MS,
                                         (gint64)i * 20 * MS + g_rand_int_range(rand, MS, 15 * MS),
                                         0, 0, 0 };
        client_requests_link(requests, 500);
        for (guint i = 0; i < 500; i++)
                g_assert_cmpuint(requests[i].previous, ==, NO_PARENT);
}

/* --- figures --------------------------------------------------------------- */

static double plain_figure(const gint64 *times, guint n, guint without, double quantile)
{
        g_autoptr(GArray) some = g_array_new(FALSE, FALSE, sizeof(gint64));
        double sum = 0;

        for (guint i = 0; i < n; i++) {
                if ((guint64)i * FIGURE_BLOCKS / n == without)
                        continue;
                g_array_append_val(some, times[i]);
                sum += (double)times[i];
        }
        g_array_sort(some, compare_int64s);
        if (quantile == 0)
                return sum / some->len;
        return (double)g_array_index(some, gint64, (guint)ceil(quantile * some->len) - 1);
}

static double plain_error(const gint64 *now, const gint64 *then, guint n, double quantile)
{
        double d[FIGURE_BLOCKS], mean = 0, squares = 0;

        for (guint b = 0; b < FIGURE_BLOCKS; b++) {
                d[b] = plain_figure(then, n, b, quantile) - plain_figure(now, n, b, quantile);
                mean += d[b] / FIGURE_BLOCKS;
        }
        for (guint b = 0; b < FIGURE_BLOCKS; b++)
                squares += (d[b] - mean) * (d[b] - mean);
        return 2.093 * sqrt(squares * (FIGURE_BLOCKS - 1) / FIGURE_BLOCKS);
}

/* now is replayed without a change, too. */
static void find_figures(const gint64 *now, const gint64 *then, guint n, double doubt,
                         WhatIfFigure *figures)
{
        FigureSample of_now[N_FIGURES], of_then[N_FIGURES];

        figure_samples_find(now, n, of_now);
        figure_samples_find(then, n, of_then);
        whatif_figures_compare(of_now, of_now, of_then, doubt, figures);
}

static void test_figures(void)
{
        static const double quantiles[N_FIGURES] = { 0, 0.5, 0.9, 0.99 };
        g_autoptr(GRand) rand = g_rand_new_with_seed(5);

        for (guint n = 100; n < 2000; n += 171) {
                gint64 now[2000], then[2000];
                WhatIfFigure f[N_FIGURES];

                for (guint i = 0; i < n; i++) {
                        now[i] = g_rand_int_range(rand, 1, 1000) + 10 * (i / 50 % 7);
                        then[i] = now[i] / 2 + g_rand_int_range(rand, 0, 30);
                }
                find_figures(now, then, n, 0, f);
                for (guint k = 0; k < N_FIGURES; k++) {
                        g_assert_cmpfloat(fabs(f[k].now - plain_figure(now, n, 99, quantiles[k])),
                                          <, 1e-6);
                        g_assert_cmpfloat(
                                fabs(f[k].error - plain_error(now, then, n, quantiles[k])), <,
                                1e-6);
                }
                g_assert_true(f[FIGURE_MEAN].is_known);
                find_figures(now, then, n, 1.1, f); /* all parents are wrong */
                g_assert_false(f[FIGURE_MEAN].is_known);
        }
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/whatif/changes", test_changes);
        g_test_add_func("/whatif/not-changes", test_not_changes);
        g_test_add_func("/whatif/same", test_same);
        g_test_add_func("/whatif/replay", test_replay);
        g_test_add_func("/whatif/settings", test_settings);
        g_test_add_func("/whatif/alter", test_alter);
        g_test_add_func("/whatif/stuck", test_stuck);
        g_test_add_func("/whatif/clients", test_clients);
        g_test_add_func("/whatif/even-clients", test_even_clients);
        g_test_add_func("/whatif/figures", test_figures);
        return g_test_run();
}
