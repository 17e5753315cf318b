/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Nesting against the plain reading of Figure 4 (tests/unit/nesting/figure-4.c) on random
 * traces, and against answers worked out by hand.
 */
#include "nesting/nesting.h"

#include <stdio.h>
#include <string.h>

#include "nesting/scoreboard.h"
#include "tests/unit/nesting/figure-4.h"

/* --- running the program's own --------------------------------------------- */

static NodeTable *make_nodes(guint n)
{
        NodeTable *nodes = node_table_new();

        for (guint i = 0; i < n; i++) {
                g_autofree char *name = g_strdup_printf("n%u", i);

                g_assert_cmpuint(node_table_add(nodes, name, strlen(name)), ==, i);
        }
        return nodes;
}

static void add_trace(Nesting *nesting, const GArray *trace)
{
        for (guint i = 0; i < trace->len; i++) {
                const TraceEntry *e = &g_array_index(trace, TraceEntry, i);
                Message m = {
                        .time = e->time, .op = e->op, .sender = e->sender, .receiver = e->receiver
                };

                message_set_id(&m, e->id, strlen(e->id));
                g_assert_true(nesting_add(nesting, &m, NULL));
        }
}

static Nesting *read_nesting(NodeTable *nodes, const GArray *trace, const NestingOptions *options)
{
        g_autoptr(Nesting) nesting = nesting_new(nodes, options);

        nesting_set_clocks(nesting, CLOCKS_ONE); /* Figure 4 drops a return before its call */
        add_trace(nesting, trace);
        nesting_find_parents(nesting);
        return g_steal_pointer(&nesting);
}

/* With its paths in set. */
static Nesting *run_nesting(NodeTable *nodes, const GArray *trace, const NestingOptions *options,
                            PathSet *set)
{
        Nesting *nesting = read_nesting(nodes, trace, options);

        g_assert_true(nesting_find_paths(nesting, set, NULL));
        return nesting;
}

/* --- what was found, as text ----------------------------------------------- */

static void put_call(GString *out, NodeId caller, NodeId callee, const char *id, gsize id_length,
                     gint64 start, gint64 enter, gint64 reply, gint64 end, guint32 parent,
                     guint candidates)
{
        g_string_append_printf(out,
                               "n%u>n%u %.*s %" G_GINT64_FORMAT " %" G_GINT64_FORMAT
                               " %" G_GINT64_FORMAT " %" G_GINT64_FORMAT,
                               caller, callee, (int)id_length, id, start, enter, reply, end);
        g_string_append_printf(out, " parent %d of %u\n", (gint32)parent, candidates);
}

static char *expected_calls(const Figure4 *f)
{
        GString *out = g_string_new(NULL);

        for (guint i = 0; i < f->calls->len; i++) {
                const FigureCall *c = &g_array_index(f->calls, FigureCall, i);

                put_call(out, c->caller, c->callee, c->id, strlen(c->id), c->start, c->enter,
                         c->reply, c->end, c->parent, c->candidates);
        }
        return g_string_free(out, FALSE);
}

static char *found_calls(const Nesting *n)
{
        GString *out = g_string_new(NULL);

        for (guint32 i = 0; i < nesting_calls(n)->pairs.n; i++) {
                guint32 length;
                const char *id = known_calls_id(nesting_calls(n), i, &length);
                Span caller = nesting_calls(n)->pairs.at_caller[i],
                     callee = nesting_calls(n)->pairs.at_callee[i];

                put_call(out, known_calls_edge(nesting_calls(n), i)->caller,
                         known_calls_edge(nesting_calls(n), i)->callee, id, length, caller.from,
                         callee.from, callee.to, caller.to, nesting_calls(n)->pairs.cause[i].parent,
                         nesting_calls(n)->pairs.candidates[i]);
        }
        return g_string_free(out, FALSE);
}

static int compare_texts(gconstpointer a, gconstpointer b)
{
        return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Lines in order, then the counts. */
static char *finish_patterns(GPtrArray *lines, guint64 cut, guint64 lone_calls,
                             guint64 lone_returns)
{
        g_ptr_array_sort(lines, compare_texts);
        g_ptr_array_add(lines, g_strdup_printf("%" G_GUINT64_FORMAT " cut, %" G_GUINT64_FORMAT
                                               " calls and %" G_GUINT64_FORMAT " returns unmatched",
                                               cut, lone_calls, lone_returns));
        g_ptr_array_add(lines, NULL);
        return g_strjoinv("\n", (char **)lines->pdata);
}

static char *pattern_line(const char *signature, guint64 count, gint64 latency, gint64 call_delay,
                          gint64 root_latency)
{
        return g_strdup_printf("%s: %" G_GUINT64_FORMAT " times, latency %" G_GINT64_FORMAT
                               ", of all nodes %" G_GINT64_FORMAT ", call delays %" G_GINT64_FORMAT,
                               signature, count, root_latency, latency, call_delay);
}

static char *expected_patterns(const Figure4 *f)
{
        g_autoptr(GPtrArray) lines = g_ptr_array_new_with_free_func(g_free);
        GHashTableIter iter;
        gpointer signature, value;
        guint returns = 0;

        g_hash_table_iter_init(&iter, f->patterns);
        while (g_hash_table_iter_next(&iter, &signature, &value)) {
                const FigurePattern *p = value;

                g_ptr_array_add(lines, pattern_line(signature, p->count, p->latency, p->call_delay,
                                                    p->root_latency));
        }
        for (guint i = 0; i < f->unmatched->len; i++)
                returns += g_array_index(f->unmatched, LoneMessage, i).is_return;
        return finish_patterns(lines, f->cut, f->unmatched->len - returns, returns);
}

static char *found_patterns(PathSet *set)
{
        g_autoptr(GPtrArray) lines = g_ptr_array_new_with_free_func(g_free);
        const PathSetSummary *summary = path_set_summary(set);

        for (guint32 i = 0; i < path_set_size(set); i++) {
                const PathPattern *p = path_set_pattern(set, i);
                gint64 latency = 0, call_delay = 0;

                for (guint32 k = 0; k < p->n_nodes; k++) {
                        latency += p->nodes[k].latency.sum;
                        call_delay += p->nodes[k].call_delay.sum;
                }
                g_ptr_array_add(lines, pattern_line(p->signature, p->count, latency, call_delay,
                                                    p->nodes[0].latency.sum));
        }
        return finish_patterns(lines, summary->cut_instances, summary->unmatched_calls,
                               summary->unmatched_returns);
}

/* --- agreeing -------------------------------------------------------------- */

static char *trace_text(const GArray *trace)
{
        GString *out = g_string_new(NULL);

        for (guint i = 0; i < trace->len; i++) {
                const TraceEntry *e = &g_array_index(trace, TraceEntry, i);

                g_string_append_printf(out, "%" G_GINT64_FORMAT " %s n%u n%u %s\n", e->time,
                                       message_op_name(e->op), e->sender, e->receiver, e->id);
        }
        return g_string_free(out, FALSE);
}

static void assert_same(const char *what, const char *expected, const char *found,
                        const GArray *trace, const NestingOptions *o)
{
        g_autofree char *text = NULL;

        if (!strcmp(expected, found))
                return;
        text = trace_text(trace);
        g_error("%s differ with penalties %g,%g,%g, window %" G_GINT64_FORMAT ", smoothing %g\n"
                "--- trace\n%s--- expected\n%s--- found\n%s",
                what, o->overlap, o->same, o->any, o->window, o->smooth, text, expected, found);
}

static void assert_agrees(const GArray *trace, guint n_nodes, const NestingOptions *options,
                          SiblingOrder order)
{
        g_autoptr(NodeTable) nodes = make_nodes(n_nodes);
        g_autoptr(PathSet) set = path_set_new(nodes, order);
        g_autoptr(Nesting) nesting = run_nesting(nodes, trace, options, set);
        g_autoptr(Figure4) figure =
                figure4_new((const TraceEntry *)trace->data, trace->len, n_nodes, options, order);
        g_autofree char *calls = expected_calls(figure), *calls_found = found_calls(nesting);
        g_autofree char *patterns = expected_patterns(figure), *patterns_found = NULL;

        assert_same("calls", calls, calls_found, trace, options);
        for (guint32 i = 0; i < nesting_calls(nesting)->pairs.n; i++)
                if (nesting_calls(nesting)->pairs.cause[i].parent != NO_PARENT)
                        g_assert_cmpfloat_with_epsilon(
                                nesting_calls(nesting)->pairs.cause[i].probability,
                                g_array_index(figure->calls, FigureCall, i).probability, 1e-6);

        patterns_found = found_patterns(set);
        assert_same("patterns", patterns, patterns_found, trace, options);
        for (guint32 i = 0; i < path_set_size(set); i++) {
                const PathPattern *p = path_set_pattern(set, i);
                const FigurePattern *q = g_hash_table_lookup(figure->patterns, p->signature);

                g_assert_cmpfloat_with_epsilon(p->probability, q->probability / q->count, 1e-5);
        }
}

/* --- random traces --------------------------------------------------------- */

typedef struct {
        GRand *rand;
        GArray *trace; /* of TraceEntry */
        guint n_nodes;
        guint n_clients; /* of those, the first ones */
        gint64 unit;     /* ns that delays are multiples of */
        gint range;      /* how many units a delay is at most */
        gint jitter;     /* ns that are added to a delay at most */
        gboolean both;   /* stamps of both ends */
        double loss;     /* share of the stamps that are not in the trace */
        guint ids;       /* 0: no ids; 1: each call its own; n: n ids, used again and again */
        guint next_id;
        gint64 skew[64]; /* ns, by NodeId */
} System;

/* The random traces of a test: all with RAVEL_LONG, else a third. */
static guint32 rounds(guint32 all)
{
        return g_getenv("RAVEL_LONG") ? all : all / 3;
}

static gboolean chance(System *s, double probability)
{
        return g_rand_double(s->rand) < probability;
}

static gint64 some_delay(System *s)
{
        gint64 jitter = s->jitter ? g_rand_int_range(s->rand, 1, s->jitter + 1) : 0;

        return s->unit * g_rand_int_range(s->rand, 0, s->range + 1) + jitter;
}

static void put(System *s, gint64 time, MessageOp op, NodeId at, NodeId sender, NodeId receiver,
                const char *id)
{
        TraceEntry e = {
                .time = time + s->skew[at], .op = op, .sender = sender, .receiver = receiver
        };

        if (chance(s, s->loss))
                return;
        strcpy(e.id, id);
        g_array_append_val(s->trace, e);
}

/* A call at the moment given; returns when it has returned. */
static gint64 put_system_call(System *s, gint64 time, NodeId caller, NodeId callee, guint depth)
{
        guint children = depth < 3 ? g_rand_int_range(s->rand, 0, 4 - depth) : 0;
        gboolean at_once = chance(s, 0.3), outlives = chance(s, 0.1);
        gint64 until = time;
        char id[8] = "";

        if (s->ids)
                g_snprintf(id, sizeof id, "%u", s->ids == 1 ? s->next_id++ : s->next_id++ % s->ids);
        put(s, time, CALL_SENT, caller, caller, callee, id);
        if (s->both) {
                time += some_delay(s);
                put(s, time, CALL_RECV, callee, caller, callee, id);
        }
        for (guint i = 0; i < children; i++) {
                NodeId to = g_rand_int_range(s->rand, s->n_clients, s->n_nodes);
                gint64 back = put_system_call(s, time + some_delay(s), callee, to, depth + 1);

                until = MAX(until, back);
                if (!at_once)
                        time = back;
        }
        if (!outlives)
                time = MAX(time, until);
        time += some_delay(s);
        put(s, time, RET_SENT, callee, callee, caller, id);
        if (s->both) {
                time += some_delay(s);
                put(s, time, RET_RECV, caller, callee, caller, id);
        }
        return time;
}

static int compare_entries(gconstpointer a, gconstpointer b)
{
        gint64 x = ((const TraceEntry *)a)->time, y = ((const TraceEntry *)b)->time;

        return (x > y) - (x < y);
}

/* A trace as a system might make it: requests with calls below them. */
static void put_requests(System *s, guint n, gint64 span)
{
        for (guint i = 0; i < n; i++) {
                NodeId client = g_rand_int_range(s->rand, 0, s->n_clients);
                NodeId to = g_rand_int_range(s->rand, s->n_clients, s->n_nodes);

                put_system_call(s, (gint64)(g_rand_double(s->rand) * span), client, to, 0);
        }
        g_array_sort(s->trace, compare_entries);
}

/* A trace as no system makes it: any message at any time. */
static void put_noise(System *s, guint n, gint64 span)
{
        for (guint i = 0; i < n; i++) {
                TraceEntry e = {
                        .time = (gint64)(g_rand_double(s->rand) * span),
                        .op = chance(s, 0.5) ? CALL_SENT : RET_SENT,
                        .sender = g_rand_int_range(s->rand, 0, s->n_nodes),
                        .receiver = g_rand_int_range(s->rand, 0, s->n_nodes),
                };

                if (s->both && chance(s, 0.5))
                        e.op++;
                if (chance(s, 0.02))
                        e.op = chance(s, 0.5) ? MSG_SENT : MSG_RECV;
                if (s->ids)
                        g_snprintf(e.id, sizeof e.id, "%d", g_rand_int_range(s->rand, 0, s->ids));
                g_array_append_val(s->trace, e);
        }
        g_array_sort(s->trace, compare_entries);
}

static NestingOptions some_options(System *s)
{
        static const double penalties[][3] = {
                { 2, 0, 0 }, { 0, 0, 0 }, { 1, 1, 1 }, { 2, 1, 0 }, { 0, 3, 0 }, { 1, 0, 0.5 },
        };
        static const double smooth[] = { 0, 0, 0, 1, 2.5 };
        static const gint windows[] = { 0, 0, 0, 1, 3, 20 };
        const double *p = penalties[g_rand_int_range(s->rand, 0, G_N_ELEMENTS(penalties))];
        NestingOptions o = {
                .method = METHOD_PAPER, .overlap = p[0], .same = p[1], .any = p[2], .keep = TRUE
        };

        o.smooth = smooth[g_rand_int_range(s->rand, 0, G_N_ELEMENTS(smooth))];
        o.window = s->unit * windows[g_rand_int_range(s->rand, 0, G_N_ELEMENTS(windows))];
        o.fold = chance(s, 0.5);
        return o;
}

static System *system_new(guint32 seed)
{
        static const gint64 units[] = { 1, 7, 1000, 1000003 };
        System *s = g_new0(System, 1);

        s->rand = g_rand_new_with_seed(seed);
        s->trace = g_array_new(FALSE, FALSE, sizeof(TraceEntry));
        s->unit = units[g_rand_int_range(s->rand, 0, G_N_ELEMENTS(units))];
        s->range = g_rand_int_range(s->rand, 1, 12);
        s->n_clients = chance(s, 0.2) ? 24 : 2;
        s->n_nodes = s->n_clients + g_rand_int_range(s->rand, 2, 6);
        s->both = chance(s, 0.5);
        s->loss = chance(s, 0.5) ? 0 : 0.1;
        s->ids = g_rand_int_range(s->rand, 0, 5);
        return s;
}

static void system_free(System *s)
{
        g_rand_free(s->rand);
        g_array_free(s->trace, TRUE);
        g_free(s);
}
G_DEFINE_AUTOPTR_CLEANUP_FUNC(System, system_free)

static void assert_system_agrees(System *s)
{
        NestingOptions options = some_options(s);

        assert_agrees(s->trace, s->n_nodes, &options,
                      chance(s, 0.3) ? SIBLINGS_STRICT : SIBLINGS_MULTISET);
}

/* Calls below calls, some stamps lost, with and without ids. */
static void test_requests(void)
{
        for (guint32 seed = 0; seed < rounds(1500); seed++) {
                g_autoptr(System) s = system_new(seed);

                put_requests(s, g_rand_int_range(s->rand, 1, 12), 20 * s->range * s->unit);
                assert_system_agrees(s);
        }
}

/* Many of few: 24 clients that call one or two nodes. */
static void test_clients(void)
{
        for (guint32 seed = 0; seed < 60; seed++) {
                g_autoptr(System) s = system_new(seed);

                s->n_clients = 24;
                s->n_nodes = 24 + g_rand_int_range(s->rand, 1, 4);
                s->loss = 0;
                put_requests(s, g_rand_int_range(s->rand, 16, 60), 200 * s->range * s->unit);
                assert_system_agrees(s);
        }
}

/* Each node's clock is off, by more than calls last. */
static void test_skewed_requests(void)
{
        for (guint32 seed = 0; seed < rounds(500); seed++) {
                g_autoptr(System) s = system_new(seed);

                s->both = TRUE;
                for (guint i = 0; i < s->n_nodes; i++)
                        s->skew[i] = s->unit * g_rand_int_range(s->rand, 0, 60);
                put_requests(s, g_rand_int_range(s->rand, 1, 10), 20 * s->range * s->unit);
                assert_system_agrees(s);
        }
}

/* Messages that make no sense: nodes that call themselves, returns first. */
static void test_noise(void)
{
        for (guint32 seed = 0; seed < rounds(1500); seed++) {
                g_autoptr(System) s = system_new(seed);

                s->n_nodes = g_rand_int_range(s->rand, 1, 5);
                put_noise(s, g_rand_int_range(s->rand, 1, 80),
                          s->unit * g_rand_int_range(s->rand, 1, 200));
                assert_system_agrees(s);
        }
}

/* Over far more than the second that stamps of one call are waited for: one side
 * only, calls that last for minutes, then silence. */
static void test_long_traces(void)
{
        for (guint32 seed = 0; seed < 200; seed++) {
                g_autoptr(System) s = system_new(seed);

                s->both = FALSE;
                s->unit = 1000000007;
                put_requests(s, g_rand_int_range(s->rand, 1, 12), 20 * s->range * s->unit);
                assert_system_agrees(s);
        }
}

/* --- clocks and clients ---------------------------------------------------- */

static char *found_parents(const Nesting *n)
{
        g_autoptr(GPtrArray) lines = g_ptr_array_new_with_free_func(g_free);

        for (guint32 i = 0; i < nesting_calls(n)->pairs.n; i++) {
                guint32 length, parent_length = 0, parent = nesting_calls(n)->pairs.cause[i].parent;
                const char *id = known_calls_id(nesting_calls(n), i, &length), *parent_id = "";

                if (parent != NO_PARENT)
                        parent_id = known_calls_id(nesting_calls(n), parent, &parent_length);
                g_ptr_array_add(lines, g_strdup_printf("%.*s<%.*s", (int)length, id,
                                                       (int)parent_length, parent_id));
        }
        g_ptr_array_sort(lines, compare_texts);
        g_ptr_array_add(lines, NULL);
        return g_strjoinv(" ", (char **)lines->pdata);
}

/* With stamps of both ends a clock that is 100 ms off changes nothing. */
static void test_four_stamps_skew(void)
{
        for (guint32 seed = 0; seed < 20; seed++) {
                g_autofree char *parents = NULL;

                for (guint skewed = 0; skewed < 5; skewed++) {
                        g_autoptr(System) s = system_new(seed);
                        NestingOptions options = { .method = METHOD_PAPER,
                                                   .overlap = 2,
                                                   .keep = TRUE };
                        g_autoptr(NodeTable) nodes = make_nodes(10);
                        g_autoptr(PathSet) set = path_set_new(nodes, SIBLINGS_MULTISET);
                        g_autoptr(Nesting) nesting = NULL;
                        g_autofree char *found = NULL;

                        s->unit = 1000000;
                        s->jitter = 999999; /* no two stamps alike */
                        s->n_clients = 2;
                        s->n_nodes = 6;
                        s->both = TRUE;
                        s->loss = 0;
                        s->ids = 1;
                        if (skewed > 0)
                                s->skew[1 + skewed] = skewed % 2 ? 100000000 : -100000000;
                        put_requests(s, 200, 300 * s->range * s->unit);
                        nesting = run_nesting(nodes, s->trace, &options, set);
                        found = found_parents(nesting);
                        if (skewed > 0)
                                g_assert_cmpstr(found, ==, parents);
                        else
                                parents = g_steal_pointer(&found);
                        g_assert_cmpuint(nesting_calls(nesting)->nestings, >,
                                         nesting_calls(nesting)->children);
                }
        }
}

/* What 10,000 addresses ask for has the patterns of what one client asks for. */
static void test_ten_thousand_clients(void)
{
        enum { CLIENTS = 10000, SERVERS = 5 };
        g_autoptr(System) s = system_new(0);
        NestingOptions options = { .method = METHOD_PAPER, .overlap = 2, .fold = TRUE };
        g_autoptr(NodeTable) one = node_table_new(), many = node_table_new();
        g_autoptr(Nesting) of_one = NULL, of_many = NULL;
        g_autoptr(PathSet) set_of_one = NULL, set_of_many = NULL;
        g_autofree char *expected = NULL, *found = NULL;
        g_autofree NodeId *client_of = NULL; /* by id */
        guint requests = 0;

        node_table_add(one, "client", 6);
        for (guint i = 0; i < CLIENTS; i++) {
                g_autofree char *name = g_strdup_printf("10.0.%u.%u", i / 256, i % 256);

                node_table_add(many, name, strlen(name));
        }
        for (guint i = 0; i < SERVERS; i++) {
                g_autofree char *name = g_strdup_printf("server%u", i);

                node_table_add(one, name, strlen(name));
                node_table_add(many, name, strlen(name));
        }
        s->unit = 1000;
        s->range = 10;
        s->n_clients = 1;
        s->n_nodes = 1 + SERVERS;
        s->both = FALSE;
        s->loss = 0;
        s->ids = 1;
        put_requests(s, CLIENTS, (gint64)CLIENTS * 20000);
        set_of_one = path_set_new(one, SIBLINGS_MULTISET);
        of_one = run_nesting(one, s->trace, &options, set_of_one);
        expected = found_patterns(set_of_one);

        client_of = g_new0(NodeId, s->next_id);
        for (guint i = 0; i < s->trace->len; i++) {
                TraceEntry *e = &g_array_index(s->trace, TraceEntry, i);
                guint id = g_ascii_strtoull(e->id, NULL, 10);

                if (e->sender == 0)
                        client_of[id] = requests++;
                e->sender = e->sender ? e->sender + CLIENTS - 1 : client_of[id];
                e->receiver = e->receiver ? e->receiver + CLIENTS - 1 : client_of[id];
        }
        g_assert_cmpuint(requests, ==, CLIENTS);
        set_of_many = path_set_new(many, SIBLINGS_MULTISET);
        of_many = run_nesting(many, s->trace, &options, set_of_many);
        g_assert_cmpuint(nesting_calls(of_many)->roles.folded, ==, CLIENTS);
        found = found_patterns(set_of_many);
        g_assert_cmpstr(found, ==, expected);
}

/* --- by hand --------------------------------------------------------------- */

typedef struct {
        NodeTable *nodes;
        Nesting *nesting;
        PathSet *set;
} Answer;

static void answer_clear(Answer *a)
{
        path_set_free(a->set);
        nesting_free(a->nesting);
        node_table_free(a->nodes);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Answer, answer_clear)

/* Lines "time op sender receiver id"; op is C or c for a call that is sent or
 * received, R or r for a return. */
static Answer answer_with(const char *text, const NestingOptions *options)
{
        static const char ops[] = "CcRr";
        g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
        g_autoptr(GArray) trace = g_array_new(FALSE, FALSE, sizeof(TraceEntry));
        Answer a = { .nodes = node_table_new() };

        for (guint i = 0; lines[i] && *lines[i]; i++) {
                char op, sender[20], receiver[20];
                TraceEntry e = { 0 };

                g_assert_cmpint(sscanf(lines[i], "%" G_GINT64_FORMAT " %c %19s %19s %7s", &e.time,
                                       &op, sender, receiver, e.id),
                                ==, 5);
                e.op = strchr(ops, op) - ops;
                e.sender = node_table_add(a.nodes, sender, strlen(sender));
                e.receiver = node_table_add(a.nodes, receiver, strlen(receiver));
                g_array_append_val(trace, e);
        }
        a.set = path_set_new(a.nodes, SIBLINGS_MULTISET);
        a.nesting = run_nesting(a.nodes, trace, options, a.set);
        return a;
}

static const NestingOptions keep = {
        .method = METHOD_PAPER, .overlap = 2, .fold = TRUE, .keep = TRUE, .places = TRUE
};

static void assert_parents(const char *text, const NestingOptions *options, const char *parents)
{
        g_auto(Answer) a = answer_with(text, options);
        g_autofree char *found = found_parents(a.nesting);

        g_assert_cmpstr(found, ==, parents);
}

/* What a call's parent was chosen from: all of its candidates, the parent among them with the
 * probability that it has, and the best. Evidence is weighed against that one. */
static void assert_explained(const Nesting *n, const Explanation *e, NestingMethod method)
{
        const Cause *cause = &nesting_calls(n)->pairs.cause[e->call];
        const PossibleParent *chosen = NULL;
        double sum = 0, best = 0;

        g_assert_cmpuint(e->parents->len, ==, nesting_calls(n)->pairs.candidates[e->call]);
        for (guint i = 0; i < e->parents->len; i++) {
                const PossibleParent *p = &g_array_index(e->parents, PossibleParent, i);

                g_assert_cmpuint(known_calls_edge(nesting_calls(n), p->call)->callee, ==,
                                 known_calls_edge(nesting_calls(n), e->call)->caller);
                if (p->call == cause->parent)
                        chosen = p;
                g_assert_true(p->weighed == (method == METHOD_JOINT) && !p->left_out);
                best = MAX(best, p->score * p->penalty);
                sum += p->probability;
        }
        g_assert_true((chosen != NULL) == (cause->parent != NO_PARENT));
        if (!chosen)
                return;
        for (guint i = 0; i < WEIGHTS_MOST; i++)
                g_assert_true(chosen->weight[i] == 0);
        g_assert_cmpfloat(chosen->score * chosen->penalty, ==, best);
        g_assert_cmpfloat_with_epsilon(chosen->probability, (double)cause->probability, 1e-6);
        if (method == METHOD_PAPER)
                g_assert_cmpfloat_with_epsilon(sum, 1, 1e-9);
}

static void test_explanations(void)
{
        for (guint32 seed = 0; seed < rounds(60); seed++) {
                g_autoptr(System) s = system_new(seed);
                NestingOptions options = some_options(s);
                g_autoptr(NodeTable) nodes = make_nodes(s->n_nodes);
                g_autoptr(PathSet) set = path_set_new(nodes, SIBLINGS_MULTISET);
                g_autoptr(Nesting) n = NULL;

                options.keep = TRUE;
                options.window = 0; /* no call lies within itself */
                options.method = seed % 2 ? METHOD_JOINT : METHOD_PAPER;
                s->both = FALSE;
                put_requests(s, 12, 5 * s->range * s->unit);
                n = nesting_new(nodes, &options);
                add_trace(n, s->trace);
                nesting_end_calls(n);
                for (guint32 call = 0; call < nesting_calls(n)->pairs.n; call++)
                        nesting_explain(n, call);
                nesting_find_parents(n);
                g_assert_true(nesting_find_paths(n, set, NULL));
                for (guint32 call = 0; call < nesting_calls(n)->pairs.n; call++)
                        assert_explained(n, explanations_lookup(nesting_explanations(n), call),
                                         options.method);
        }
}

/* The example of Figures 2 and 3: the messages' numbers are their times. */
static void test_figure_3(void)
{
        g_auto(Answer) a = answer_with("1 C A B i\n"
                                       "3 C B C j\n"
                                       "5 R C B j\n"
                                       "7 C B D k\n"
                                       "9 R D B k\n"
                                       "11 R B A i\n",
                                       &keep);
        g_autofree char *parents = found_parents(a.nesting);
        const PathPattern *p = path_set_pattern(a.set, 0);

        g_assert_cmpstr(parents, ==, "i< j<i k<i");
        g_assert_cmpuint(path_set_size(a.set), ==, 1);
        g_assert_cmpstr(p->signature, ==, "A>B(C,D)");
        g_assert_cmpuint(p->count, ==, 1);
        g_assert_cmpint(histogram_mean(&p->nodes[0].latency), ==, 10);
        g_assert_cmpint(histogram_mean(&p->nodes[0].call_delay), ==, 0);
        g_assert_cmpint(histogram_mean(&p->nodes[1].latency), ==, 2);
        g_assert_cmpint(histogram_mean(&p->nodes[1].call_delay), ==, 2);
        g_assert_cmpint(histogram_mean(&p->nodes[2].latency), ==, 2);
        g_assert_cmpint(histogram_mean(&p->nodes[2].call_delay), ==, 6);
        g_assert_cmpfloat(p->probability, ==, 1);
}

/* The medium delay, 100, is seen twice; 70 and 130 once. */
static void test_figure_5(void)
{
        g_auto(Answer) a = answer_with("0 C A B p\n"
                                       "30 C A B q\n"
                                       "100 C B C c\n"
                                       "130 C B C d\n"
                                       "150 R C B c\n"
                                       "160 R C B d\n"
                                       "200 R B A q\n"
                                       "210 R B A p\n",
                                       &keep);
        g_autofree char *parents = found_parents(a.nesting);

        g_assert_cmpstr(parents, ==, "c<p d<q p< q<");
        /* Two halves for the medium delay against one: two of three. */
        g_assert_cmpfloat_with_epsilon(nesting_calls(a.nesting)->pairs.cause[2].probability,
                                       2.0 / 3, 1e-6);
        g_assert_cmpfloat_with_epsilon(nesting_calls(a.nesting)->pairs.cause[3].probability,
                                       2.0 / 3, 1e-6);
        g_assert_cmpfloat_with_epsilon(path_set_summary(a.set)->parallelism, 2, 1e-9);
        g_assert_cmpuint(path_set_pattern(a.set, 0)->count, ==, 2);
        /* That its child is its own, and that the other's is not. */
        g_assert_cmpfloat_with_epsilon(path_set_pattern(a.set, 0)->probability, 4.0 / 9, 1e-6);
}

/* One of two parents alike has both children: the other is no surer of having none. */
static void test_childless(void)
{
        g_auto(Answer) a = answer_with("0 C A B p\n"
                                       "30 C A B q\n"
                                       "100 C B C c\n"
                                       "150 R C B c\n"
                                       "200 R B A q\n"
                                       "210 R B A p\n",
                                       &keep);
        double right = (double)nesting_calls(a.nesting)->pairs.cause[2].probability;

        g_assert_cmpuint(path_set_size(a.set), ==, 2);
        g_assert_cmpfloat(right, <, 1);
        for (guint32 i = 0; i < 2; i++)
                g_assert_cmpfloat_with_epsilon(path_set_pattern(a.set, i)->probability, right,
                                               1e-6);
}

/* Strictly after its parent's call, not after its return. */
static void test_bounds(void)
{
        assert_parents("5 C A B p\n5 C B C c\n6 R C B c\n9 R B A p\n", &keep, "c< p<");
        assert_parents("5 C A B p\n6 C B C c\n9 R B A p\n9 R C B c\n", &keep, "c<p p<");
        assert_parents("5 C A B p\n6 C B C c\n9 R B A p\n10 R C B c\n", &keep, "c< p<");
        /* A call is not nested in one to another node, nor in a call without return. */
        assert_parents("1 C A B p\n2 C D C c\n3 R C D c\n9 R B A p\n", &keep, "c< p<");
        assert_parents("1 C A B p\n2 C B C c\n3 R C B c\n", &keep, "c<");
        assert_parents("2 C B C c\n3 R C B c\n9 R B A p\n", &keep, "c<");
        /* A node that calls itself is its own caller, a call never its own. */
        assert_parents("1 C A A p\n2 C A A c\n3 R A A c\n9 R A A p\n", &keep, "c<p p<");
}

static void test_skew_window(void)
{
        static const char early[] = "100 C B C c\n105 C A B p\n110 R C B c\n120 R B A p\n";
        static const char late[] = "100 C A B p\n105 C B C c\n110 R B A p\n115 R C B c\n";
        NestingOptions narrow = keep, wide = keep;

        narrow.window = 5;
        wide.window = 6;
        assert_parents(early, &keep, "c< p<");
        assert_parents(early, &narrow, "c< p<"); /* strictly earlier, widened by 5 */
        assert_parents(early, &wide, "c<p p<");
        assert_parents(late, &keep, "c< p<");
        assert_parents(late, &narrow, "c<p p<");
        /* A return that is stamped before its call waits for it. */
        assert_parents("100 R B A p\n105 C A B p\n", &keep, "");
        assert_parents("100 R B A p\n105 C A B p\n", &narrow, "p<");
        assert_parents("100 R B A p\n106 C A B p\n", &narrow, "");
}

static void test_ties(void)
{
        /* One child, two parents, each with the weight of a half: the earlier. */
        assert_parents("0 C A B p\n10 C A B q\n20 C B C c\n30 R C B c\n40 R B A p\n41 R B A q\n",
                       &keep, "c<p p< q<");
        /* The first overlapping child costs nothing (1^-2), the second three quarters. */
        assert_parents("0 C A B p\n0 C A B q\n"
                       "10 C B C c\n10 C B C d\n10 C B C e\n"
                       "20 R C B c\n20 R C B d\n20 R C B e\n"
                       "40 R B A p\n41 R B A q\n",
                       &keep, "c<p d<p e<q p< q<");
}

/* First come, first served, where ids do not tell calls apart. */
static void test_first_in_first_out(void)
{
        g_auto(Answer) a = answer_with("1 C A B x\n2 C A B x\n3 C A B y\n4 R B A x\n9 R B A y\n"
                                       "11 R B A x\n12 R B A x\n",
                                       &keep);
        static const Span spans[] = { { 1, 4 }, { 2, 11 }, { 3, 9 } };

        g_assert_cmpuint(nesting_calls(a.nesting)->pairs.n, ==, 3);
        for (guint i = 0; i < 3; i++) {
                g_assert_cmpint(nesting_calls(a.nesting)->pairs.at_caller[i].from, ==,
                                spans[i].from);
                g_assert_cmpint(nesting_calls(a.nesting)->pairs.at_caller[i].to, ==, spans[i].to);
        }
        g_assert_cmpuint(path_set_summary(a.set)->unmatched_returns, ==, 1);
}

/* --- paths that the ends of the trace have cut ------------------------------ */

static void assert_cut(const char *text, const char *cut, guint64 n_cut)
{
        g_auto(Answer) a = answer_with(text, &keep);
        g_autoptr(GString) found = g_string_new(NULL);

        for (guint32 i = 0; i < nesting_calls(a.nesting)->pairs.n; i++) {
                guint32 length;
                const char *id = known_calls_id(nesting_calls(a.nesting), i, &length);

                if (nesting_calls(a.nesting)->pairs.place[i].pattern == NO_PATTERN)
                        g_string_append_printf(found, "%.*s", (int)length, id);
        }
        g_assert_cmpstr(found->str, ==, cut);
        g_assert_cmpuint(path_set_summary(a.set)->cut_instances, ==, n_cut);
        g_assert_cmpuint(path_set_instances(a.set) + n_cut, >, 0);
        for (guint32 i = 0; i < path_set_size(a.set); i++)
                g_assert_false(g_str_has_prefix(path_set_pattern(a.set, i)->signature, "B>"));
}

/* Whole calls A to B, which last 100 at most, between what is cut. */
#define WHOLE "1000 C A B w\n1010 C B C v\n1020 R C B v\n1100 R B A w\n"

static void test_cut(void)
{
        /* B called C and D for a call whose beginning is not in the trace. */
        assert_cut("10 C B C c\n20 R C B c\n25 C B D d\n28 C D C e\n29 R C D e\n30 R D B d\n"
                   "40 R B A x\n" WHOLE,
                   "cde", 2);
        /* And for one whose end is not. */
        assert_cut(WHOLE "2000 C A B x\n2010 C B C c\n2020 R C B c\n2030 C B D d\n2040 R D B d\n",
                   "cd", 2);
        assert_cut(WHOLE, "", 0);
}

/* A message that is missing in the middle of a trace has cut nothing. */
static void test_lost_messages(void)
{
        g_auto(Answer) a = answer_with(WHOLE "2000 C A B x\n2010 C B C c\n2020 R C B c\n"
                                             "3000 C B C d\n3010 R C B d\n3020 R B A y\n"
                                             "5000 C A B z\n5100 R B A z\n",
                                       &keep);

        g_assert_cmpuint(path_set_summary(a.set)->cut_instances, ==, 0);
        g_assert_cmpuint(path_set_summary(a.set)->unmatched_calls, ==, 1);
        g_assert_cmpuint(path_set_summary(a.set)->unmatched_returns, ==, 1);
        g_assert_cmpuint(path_set_instances(a.set), ==, 4);
        g_assert_cmpuint(path_set_size(a.set), ==, 3); /* A>B(C), A>B, B>C twice */
}

/* --- folding of clients ----------------------------------------------------- */

/* n nodes that each call web once, and what else is in text. */
static char *fold_of(guint n, const char *text)
{
        g_autoptr(GString) all = g_string_new(text);
        g_autoptr(GPtrArray) signatures = g_ptr_array_new();

        for (guint i = 0; i < n; i++)
                g_string_append_printf(all, "%u C c%u web i\n%u R web c%u i\n", 1000 + 10 * i, i,
                                       1005 + 10 * i, i);
        g_auto(Answer) a = answer_with(all->str, &keep);
        for (guint32 i = 0; i < path_set_size(a.set); i++)
                g_ptr_array_add(signatures, path_set_pattern(a.set, i)->signature);
        g_ptr_array_sort(signatures, compare_texts);
        g_ptr_array_add(signatures, NULL);
        return g_strjoinv(" ", (char **)signatures->pdata);
}

static void assert_folds(guint n, const char *text, const char *signatures)
{
        g_autofree char *found = fold_of(n, text);

        g_assert_cmpstr(found, ==, signatures);
}

static void test_folding(void)
{
        g_auto(GStrv) apart = NULL;
        g_autofree char *sixteen = fold_of(16, "");

        apart = g_strsplit(sixteen, " ", -1);
        g_assert_cmpuint(g_strv_length(apart), ==, 16);
        assert_folds(17, "", "client>web");
        /* Whoever is called is no client; who calls somewhere else too, is. */
        assert_folds(17, "1 C p web j\n2 R web p j\n3 C q p k\n4 R p q k\n",
                     "client>web p>web q>p");
        assert_folds(17, "1 C c0 mail j\n2 R mail c0 j\n", "client>mail client>web");
        /* A server that has the name already keeps it. */
        assert_folds(17, "1 C web client j\n2 R client web j\n", "clients>web web>client");
}

/* --- delay bins ------------------------------------------------------------- */

/* Natural numbers of as many bits as 21^896 has, and some more. */
enum { LIMBS = 128 };
typedef struct {
        guint32 limb[LIMBS]; /* the lowest first */
} Natural;

static void multiply(Natural *n, guint64 by)
{
        guint64 carry = 0;

        for (guint i = 0; i < LIMBS; i++) {
                carry += n->limb[i] * by;
                n->limb[i] = (guint32)carry;
                carry >>= 32;
        }
        g_assert_cmpuint(carry, ==, 0);
}

static int compare_naturals(const Natural *a, const Natural *b)
{
        for (guint i = LIMBS; i-- > 0;)
                if (a->limb[i] != b->limb[i])
                        return a->limb[i] < b->limb[i] ? -1 : 1;
        return 0;
}

/* delay >= 1.05^bin: delay * 20^bin >= 21^bin, without rounding. */
static gboolean reaches(gint64 delay, const Natural *power20, const Natural *power21)
{
        Natural low = *power20, high = *power20;
        guint64 carry = 0;

        /* delay is 64 bits, multiply() takes 32. */
        multiply(&low, (guint32)delay);
        multiply(&high, (guint64)delay >> 32);
        for (guint i = 1; i < LIMBS; i++) {
                carry += (guint64)low.limb[i] + high.limb[i - 1];
                low.limb[i] = (guint32)carry;
                carry >>= 32;
        }
        return compare_naturals(&low, power21) >= 0;
}

static void test_delay_bins(void)
{
        g_autofree DelayBins *bins = g_new(DelayBins, 1);
        Natural power20 = { { 1 } }, power21 = { { 1 } };

        delay_bins_init(bins);
        g_assert_cmpuint(delay_bin(bins, 0), ==, 0);
        g_assert_cmpuint(delay_bin(bins, -1), ==, 0);
        g_assert_cmpuint(delay_bin(bins, G_MININT64), ==, 0);
        g_assert_cmpuint(delay_bin(bins, 1), ==, 0);
        for (guint b = 1; b < N_DELAY_BINS; b++) {
                gint64 edge = bins->edge[b], slack;

                multiply(&power20, 20);
                multiply(&power21, 21);
                if (edge == G_MAXINT64) /* no delay is as long */
                        break;
                /* Exact up to a year, and nearly beyond. */
                slack = edge < (gint64)1 << 55 ? 0 : 8;
                g_assert_true(reaches(edge + slack, &power20, &power21));
                g_assert_false(reaches(edge - 1 - slack, &power20, &power21));
                /* Below some 20 ns bins are empty: edges coincide. */
                g_assert_cmpuint(delay_bin(bins, edge), >=, b);
                g_assert_cmpuint(delay_bin(bins, edge - 1), <, b);
                if (bins->edge[b + 1] > edge)
                        g_assert_cmpuint(delay_bin(bins, edge), ==, b);
        }
        /* No bin but the last two is out of reach of 2^63 ns. */
        g_assert_cmpuint(delay_bin(bins, G_MAXINT64), >=, 894);
        g_assert_cmpuint(delay_bin(bins, G_MAXINT64), <, N_DELAY_BINS);
}

/* Every short delay, and the ends of every octave: never less than the one before. */
static void test_delay_bins_monotone(void)
{
        g_autofree DelayBins *bins = g_new(DelayBins, 1);
        guint last = 0;

        delay_bins_init(bins);
        for (gint64 d = 1; d < 3000000; d++) {
                guint bin = delay_bin(bins, d);

                g_assert_cmpuint(bin, >=, last);
                g_assert_cmpint(bins->edge[bin], <=, d);
                g_assert_cmpint(d, <, bins->edge[bin + 1]);
                last = bin;
        }
        for (guint octave = 20; octave < 63; octave++)
                for (gint64 d = ((gint64)1 << octave) - 40; d < ((gint64)1 << octave) + 40; d++) {
                        guint bin = delay_bin(bins, d);

                        g_assert_cmpuint(bin, ==, delay_bin_slowly(bins, d));
                        g_assert_cmpint(bins->edge[bin], <=, d);
                        g_assert_cmpint(d, <, bins->edge[bin + 1]);
                }
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/nesting/requests", test_requests);
        g_test_add_func("/nesting/clients", test_clients);
        g_test_add_func("/nesting/skewed-requests", test_skewed_requests);
        g_test_add_func("/nesting/noise", test_noise);
        g_test_add_func("/nesting/long-traces", test_long_traces);
        g_test_add_func("/nesting/four-stamps-skew", test_four_stamps_skew);
        g_test_add_func("/nesting/ten-thousand-clients", test_ten_thousand_clients);
        g_test_add_func("/nesting/explanations", test_explanations);
        g_test_add_func("/nesting/figure-3", test_figure_3);
        g_test_add_func("/nesting/figure-5", test_figure_5);
        g_test_add_func("/nesting/childless", test_childless);
        g_test_add_func("/nesting/bounds", test_bounds);
        g_test_add_func("/nesting/skew-window", test_skew_window);
        g_test_add_func("/nesting/ties", test_ties);
        g_test_add_func("/nesting/first-in-first-out", test_first_in_first_out);
        g_test_add_func("/nesting/cut", test_cut);
        g_test_add_func("/nesting/lost-messages", test_lost_messages);
        g_test_add_func("/nesting/folding", test_folding);
        g_test_add_func("/nesting/delay-bins", test_delay_bins);
        g_test_add_func("/nesting/delay-bins-monotone", test_delay_bins_monotone);
        return g_test_run();
}
