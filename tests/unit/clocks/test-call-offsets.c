/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Requests client > web > app > db, three at a time or so, with clocks that are set wrong.
 */
#include <stdlib.h>
#include <string.h>

#include "clocks/call-offsets.h"

enum { CLIENT, WEB, APP, DB, N_NODES, N_EDGES = 3, REQUESTS = 600 };

#define MS G_GINT64_CONSTANT(1000000)

typedef struct {
        guint32 n;
        Span spans[N_EDGES * REQUESTS];
        guint32 edge[N_EDGES * REQUESTS];
        guint8 stamps[N_EDGES * REQUESTS];
        CallEdge edges[N_EDGES]; /* from a node to the next one */
        Span whole[N_NODES];
} Requests;

static void put_call(Requests *r, const gint64 *clock, NodeId caller, gint64 start, gint64 end)
{
        r->spans[r->n] = (Span){ start + clock[caller], end + clock[caller + 1] };
        r->edge[r->n] = caller + 1;
        r->stamps[r->n++] = 1 << CALL_SENT | 1 << RET_SENT;
        r->edges[caller].pairs++;
}

/* A node works from 4 to 6 ms before it calls, and 2 to 3 ms before it replies. lose: the share of
 * calls that the trace does not have. */
static Requests *make_requests(const gint64 *clock, double lose)
{
        Requests *r = g_new0(Requests, 1);
        g_autoptr(GRand) rand = g_rand_new_with_seed(7);
        gint64 begin = 0;

        for (NodeId id = 0; id < N_NODES; id++)
                r->whole[id] = (Span){ G_MININT64, G_MAXINT64 };
        for (NodeId id = 0; id < N_EDGES; id++)
                r->edges[id] = (CallEdge){ .caller = id, .callee = id + 1 };
        for (guint i = 0; i < REQUESTS; i++) {
                gint64 start[N_EDGES], end = 0;

                begin += g_rand_int_range(rand, 0, 14 * MS);
                start[CLIENT] = begin;
                for (NodeId id = WEB; id < DB; id++)
                        start[id] = start[id - 1] + g_rand_int_range(rand, 4 * MS, 6 * MS);
                for (NodeId id = DB; id-- > CLIENT;) {
                        end = (id == APP ? start[APP] : end) +
                              g_rand_int_range(rand, 2 * MS, 3 * MS);
                        if (g_rand_double(rand) >= lose)
                                put_call(r, clock, id, start[id], end);
                        else
                                r->edges[id].lone++;
                }
        }
        return r;
}

static GArray *find_in(Requests *r, gint64 limit, gboolean prove)
{
        const CallSpans calls = { r->n,     r->spans, r->spans, r->edge, r->stamps,
                                  r->edges, N_EDGES,  r->whole, N_NODES };
        GArray *found = call_offsets_find(&calls, limit, prove);

        g_free(r);
        return found;
}

static GArray *find(const gint64 *clock, double lose, gint64 limit)
{
        return find_in(make_requests(clock, lose), limit, FALSE);
}

/* Whether a test has a case: each second one, or with RAVEL_LONG all. */
static gboolean has(guint i)
{
        return i % 2 == 0 || g_getenv("RAVEL_LONG");
}

/* What is less than a delay cannot be told from it. */
static void test_agree(void)
{
        static const gint64 clocks[][N_NODES] = {
                { 0 }, { 0, 3 * MS }, { 0, 0, -1 * MS }, { 0, 0, 0, 1 * MS }, { 0, 0, 0, -1 * MS },
        };

        for (guint i = 0; i < G_N_ELEMENTS(clocks); i++) {
                g_autoptr(GArray) found = find(clocks[i], 0, 1000 * MS);

                g_assert_cmpuint(found->len, ==, 0);
        }
}

static void test_lost(void)
{
        static const gint64 clock[N_NODES] = { 0 };

        for (double lose = 0.01; lose < 0.5; lose *= 2) {
                g_autoptr(GArray) found = find(clock, lose, 1000 * MS);

                g_assert_cmpuint(found->len, ==, 0);
        }
}

/* One node is named, and with what it is moved by the delays around it are as they may be. */
static void test_one_node(void)
{
        static const gint64 by[] = { -60 * MS, -15 * MS, -8 * MS, 12 * MS, 20 * MS, 60 * MS };

        for (NodeId id = WEB; id < N_NODES; id++)
                for (guint i = 0; i < G_N_ELEMENTS(by); i++) {
                        gint64 clock[N_NODES] = { 0 };
                        g_autoptr(GArray) found = NULL;
                        const ClockOffset *c;

                        if (!has(id + i))
                                continue;
                        clock[id] = by[i];
                        found = find(clock, 0, 1000 * MS);
                        g_assert_cmpuint(found->len, ==, 1);
                        c = &g_array_index(found, ClockOffset, 0);
                        g_assert_cmpuint(c->node, ==, id);
                        g_assert_cmpint(c->offset, >, by[i] - 5 * MS);
                        g_assert_cmpint(c->offset, <, by[i] + 5 * MS);
                }
}

/* So it is where nothing says that clocks are several; but a callee that is late, of one caller
 * alone, may as well be one that is not waited for. */
static void test_proven(void)
{
        static const gint64 by[] = { -60 * MS, -15 * MS, -8 * MS, 12 * MS, 20 * MS, 60 * MS };

        for (NodeId id = WEB; id < N_NODES; id++)
                for (guint i = 0; i < G_N_ELEMENTS(by); i++) {
                        gint64 clock[N_NODES] = { 0 };
                        g_autoptr(GArray) found = NULL;
                        const ClockOffset *c;

                        if (!has(id + i + 1))
                                continue;
                        clock[id] = by[i];
                        found = find_in(make_requests(clock, 0), 1000 * MS, TRUE);
                        g_assert_cmpuint(found->len, ==, 1);
                        c = &g_array_index(found, ClockOffset, 0);
                        g_assert_cmpuint(c->node, ==, id);
                        g_assert_cmpint(c->doubtful, ==, id == DB && by[i] > 0);
                        if (c->doubtful)
                                continue;
                        g_assert_cmpint(c->least, <=, by[i]);
                        g_assert_cmpint(c->most, >=, by[i]);
                        g_assert_cmpint(c->most - c->least, <, 15 * MS);
                }
}

/* A client's clock that is late is bounded from one side only. */
static void test_client(void)
{
        static const gint64 clock[N_NODES] = { 60 * MS };
        g_autoptr(GArray) found = find_in(make_requests(clock, 0), 1000 * MS, TRUE);

        g_assert_cmpuint(found->len, ==, 1);
        g_assert_true(g_array_index(found, ClockOffset, 0).doubtful);
}

/* One mail at a time, which the relay WEB passes on to APP after its reply, and that to DB. All
 * clocks are right, and a client that stamped earlier would make each relay fit into the next
 * mail. */
static Requests *make_mails(void)
{
        static const gint64 clock[N_NODES] = { 0 };
        Requests *r = g_new0(Requests, 1);
        g_autoptr(GRand) rand = g_rand_new_with_seed(7);
        gint64 t = 0;

        for (NodeId id = 0; id < N_NODES; id++)
                r->whole[id] = (Span){ G_MININT64, G_MAXINT64 };
        for (NodeId id = 0; id < N_EDGES; id++)
                r->edges[id] = (CallEdge){ .caller = id, .callee = id + 1 };
        for (guint i = 0; i < 400; i++) {
                gint64 reply = t + g_rand_int_range(rand, 20 * MS, 60 * MS);
                gint64 relay = reply + g_rand_int_range(rand, 1 * MS, 5 * MS);
                gint64 relayed = relay + g_rand_int_range(rand, 10 * MS, 30 * MS);
                gint64 next = relayed + g_rand_int_range(rand, 1 * MS, 10 * MS);

                put_call(r, clock, CLIENT, t, reply);
                put_call(r, clock, WEB, relay, relayed);
                put_call(r, clock, APP, next, next + g_rand_int_range(rand, 5 * MS, 20 * MS));
                t = relay + g_rand_int_range(rand, 0, 20 * MS);
        }
        return r;
}

static void test_relays(void)
{
        g_autoptr(GArray) proven = find_in(make_mails(), 1000 * MS, TRUE);
        g_autoptr(GArray) found = find_in(make_mails(), 1000 * MS, FALSE);

        for (guint i = 0; i < proven->len; i++)
                g_assert_true(g_array_index(proven, ClockOffset, i).doubtful);
        g_assert_cmpuint(found->len, >, 0);
}

static void test_two_nodes(void)
{
        static const gint64 clock[N_NODES] = { 0, 20 * MS, 0, -30 * MS };
        g_autoptr(GArray) found = find(clock, 0, 1000 * MS);

        g_assert_cmpuint(found->len, ==, 2);
        for (guint i = 0; i < found->len; i++) {
                const ClockOffset *c = &g_array_index(found, ClockOffset, i);

                g_assert_cmpint(ABS(c->offset - clock[c->node]), <, 5 * MS);
        }
}

/* No one of them can be moved without the other. */
static void test_group(void)
{
        static const gint64 clock[N_NODES] = { 0, 0, -15 * MS, -15 * MS };
        g_autoptr(GArray) found = find(clock, 0, 1000 * MS);

        g_assert_cmpuint(found->len, ==, 2);
        for (guint i = 0; i < found->len; i++) {
                const ClockOffset *c = &g_array_index(found, ClockOffset, i);

                g_assert_cmpint(ABS(c->offset - clock[c->node]), <, 5 * MS);
        }
}

static void test_limit(void)
{
        static const gint64 clock[N_NODES] = { 0, 60 * MS };
        g_autoptr(GArray) found = find(clock, 0, 20 * MS);

        for (guint i = 0; i < found->len; i++)
                g_assert_cmpint(ABS(g_array_index(found, ClockOffset, i).offset), <=, 20 * MS);
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/call-offsets/agree", test_agree);
        g_test_add_func("/call-offsets/lost", test_lost);
        g_test_add_func("/call-offsets/one-node", test_one_node);
        g_test_add_func("/call-offsets/proven", test_proven);
        g_test_add_func("/call-offsets/client", test_client);
        g_test_add_func("/call-offsets/relays", test_relays);
        g_test_add_func("/call-offsets/two-nodes", test_two_nodes);
        g_test_add_func("/call-offsets/group", test_group);
        g_test_add_func("/call-offsets/limit", test_limit);
        return g_test_run();
}
