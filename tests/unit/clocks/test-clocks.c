/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Estimates of clocks against clocks that are known: traces are made up, each node
 * stamping by a clock with an offset and a drift of its own.
 */
#include "clocks/clocks.h"

#include <math.h>
#include <string.h>

#include "clocks/both-ends.h"
#include "clocks/clock-pair.h"
#include "clocks/skewer.h"

#define MS     1e6
#define US     1e3
#define SECOND 1e9

/* 2003-03-14. */
#define BEGIN G_GINT64_CONSTANT(1047680084000000000)

/* --- made-up systems --------------------------------------------------------- */

typedef struct {
        double offset;     /* ns at BEGIN */
        double ppm;        /* drift */
        double step, when; /* it is set by so much, so long after BEGIN; ns */
} TrueClock;

/* Delays of one direction: least + a Gaussian's absolute value, and now and then a
 * queue. */
typedef struct {
        double least, spread, queue; /* ns; queue: the mean of half the messages' waiting */
} Delays;

typedef struct {
        GRand *rand;
        NodeTable *nodes;
        Clocks *clocks;
        TrueClock truth[64];
        guint64 next_id;
        double earliest; /* observation; ns after BEGIN */
} World;

static World *world_new(guint32 seed, guint n)
{
        World *w = g_new0(World, 1);

        w->rand = g_rand_new_with_seed(seed);
        w->nodes = node_table_new();
        w->clocks = clocks_new();
        w->earliest = INFINITY;
        g_assert_cmpuint(n, <=, G_N_ELEMENTS(w->truth));
        for (guint i = 0; i < n; i++) {
                g_autofree char *name = g_strdup_printf("n%u", i);

                node_table_add(w->nodes, name, strlen(name));
        }
        return w;
}

static void world_free(World *w)
{
        clocks_free(w->clocks);
        node_table_free(w->nodes);
        g_rand_free(w->rand);
        g_free(w);
}
G_DEFINE_AUTOPTR_CLEANUP_FUNC(World, world_free)

/* What the clock of node shows t ns after BEGIN. */
static gint64 stamp(const World *w, NodeId node, double t)
{
        const TrueClock *c = &w->truth[node];

        return BEGIN + (gint64)rint(c->offset) +
               (gint64)rint(t + c->ppm * 1e-6 * t + (c->step != 0 && t >= c->when ? c->step : 0));
}

static double gauss(World *w)
{
        double u = MAX(g_rand_double(w->rand), 1e-300), v = g_rand_double(w->rand);

        return sqrt(-2 * log(u)) * cos(2 * G_PI * v);
}

static double draw(World *w, const Delays *d)
{
        double delay = d->least + d->spread * fabs(gauss(w));

        if (d->queue > 0 && g_rand_boolean(w->rand))
                delay -= d->queue * log(MAX(g_rand_double(w->rand), 1e-300));
        return delay;
}

static void observe(World *w, MessageOp op, NodeId from, NodeId to, guint64 id, double t)
{
        g_autofree char *text = g_strdup_printf("%" G_GINT64_MODIFIER "x", id);
        Message m = { .op = op, .sender = from, .receiver = to };

        m.time = stamp(w, message_observer(&m), t);
        message_set_id(&m, text, strlen(text));
        w->earliest = MIN(w->earliest, t);
        clocks_add(w->clocks, &m);
}

/* A message at t, seen at both ends; returns when it arrives. */
static double send(World *w, MessageOp op, NodeId from, NodeId to, guint64 id, double t,
                   const Delays *d)
{
        double arrives = t + draw(w, d);

        observe(w, op, from, to, id, t);
        observe(w, op + 1, from, to, id, arrives);
        return arrives;
}

/* n calls from a to b, at random within span ns, that take 5 ms there. */
static void calls(World *w, NodeId a, NodeId b, guint n, double span, const Delays *there,
                  const Delays *back)
{
        for (guint i = 0; i < n; i++) {
                guint64 id = w->next_id++;
                double t = send(w, CALL_SENT, a, b, id, g_rand_double(w->rand) * span, there);

                send(w, RET_SENT, b, a, id, t + 5 * MS, back);
        }
}

/* What should be found: the clock of node where that of the reference shows since. */
static gint64 true_offset(const World *w, const ClockEstimates *e, NodeId node)
{
        const TrueClock *r = &w->truth[e->reference];
        gint64 ahead = e->since - BEGIN - (gint64)r->offset;

        return stamp(w, node, ahead / (1 + r->ppm * 1e-6)) - e->since;
}

static double true_ppm(const World *w, NodeId reference, NodeId node)
{
        return ((1 + w->truth[node].ppm * 1e-6) / (1 + w->truth[reference].ppm * 1e-6) - 1) * 1e6;
}

/* That all nodes from first to last are as they should be: at most so far off, and
 * within their bounds. */
static void assert_found(const World *w, const ClockEstimates *e, NodeId first, NodeId last,
                         double most_ns, double most_ppm)
{
        for (NodeId node = first; node <= last; node++) {
                const ClockEstimate *c = &e->estimates[node];
                gint64 off = c->offset - true_offset(w, e, node);
                double ppm = true_ppm(w, e->reference, node);

                g_assert_cmpint(c->tie, ==, CLOCK_TIED);
                g_assert_cmpfloat(ABS(off), <=, most_ns);
                g_assert_cmpfloat(fabs(c->drift / (double)SKEW_PPM - ppm), <=, most_ppm);
                /* 2 ns: the stamps are rounded. */
                g_assert_cmpint(ABS(off), <=, c->offset_bound + 2);
                g_assert_cmpfloat(fabs(c->drift - ppm * SKEW_PPM), <=, c->drift_bound + 1);
        }
}

/* As by clocks_estimate(), of which the earliest stamp should be found up to most_off. */
static ClockEstimates *find_roughly(World *w, NodeId reference, double most_off)
{
        ClockEstimates *e = clocks_estimate(w->clocks, w->nodes, reference);

        if (e->reference != NO_NODE) {
                const ClockEstimate *r = &e->estimates[e->reference];

                g_assert_cmpint(r->offset | r->drift | r->offset_bound | r->drift_bound, ==, 0);
                g_assert_cmpfloat(fabs((double)(e->since - stamp(w, e->reference, w->earliest))),
                                  <=, most_off);
        }
        return e;
}

static ClockEstimates *find(World *w, NodeId reference)
{
        return find_roughly(w, reference, 1 * MS);
}

static const Delays lan = { 80 * US, 20 * US, 0 };

/* --- what is found ------------------------------------------------------------- */

static void test_two(void)
{
        g_autoptr(World) w = world_new(1, 2);
        g_autoptr(ClockEstimates) e = NULL;

        w->truth[1] = (TrueClock){ .offset = 30 * MS, .ppm = 50 };
        calls(w, 0, 1, 1000, 60 * SECOND, &lan, &lan);
        e = find(w, 0);
        assert_found(w, e, 0, 1, 10 * US, 1);
        g_assert_cmpuint(e->matched, ==, 2000);
        g_assert_cmpuint(e->n_uneven, ==, 0);
        /* Half the shortest round trip, at least; not much more. */
        g_assert_cmpint(e->estimates[1].offset_bound, >=, 80 * US);
        g_assert_cmpint(e->estimates[1].offset_bound, <=, 100 * US);
}

/* Who sends and who is first in the table must not matter. */
static void test_other_way(void)
{
        g_autoptr(World) w = world_new(2, 2);
        g_autoptr(ClockEstimates) e = NULL;

        w->truth[1] = (TrueClock){ .offset = -30 * MS, .ppm = -50 };
        calls(w, 1, 0, 1000, 60 * SECOND, &lan, &lan);
        e = find(w, 1);
        assert_found(w, e, 0, 1, 10 * US, 1);
}

static void test_chain(void)
{
        enum { N = 8 };
        g_autoptr(World) w = world_new(3, N);

        for (NodeId i = 0; i < N; i++)
                w->truth[i] =
                        (TrueClock){ .offset = (i % 3 - 1.0) * 30 * MS, .ppm = (i % 4 - 1.5) * 40 };
        for (NodeId i = 0; i + 1 < N; i++)
                calls(w, i, i + 1, 2000, 100 * SECOND, &lan, &lan);
        for (NodeId reference = 0; reference < N; reference += N - 1) {
                g_autoptr(ClockEstimates) e = find(w, reference);

                assert_found(w, e, 0, N - 1, 10 * US, 1);
                /* A bound is the sum of those on the way: a round trip's half for each. */
                g_assert_cmpint(e->estimates[N - 1 - reference].offset_bound, >=,
                                (N - 1) * 80 * US);
        }
}

/* Round a circle, the estimates of four edges agree on one answer, better than that of
 * one edge. */
static void test_circle(void)
{
        g_autoptr(World) w = world_new(4, 4);
        g_autoptr(ClockEstimates) e = NULL;

        w->truth[2] = (TrueClock){ .offset = 300 * MS, .ppm = -20 };
        for (NodeId i = 0; i < 4; i++)
                calls(w, i, (i + 1) % 4, 2000, 100 * SECOND, &lan, &lan);
        e = find(w, 0);
        assert_found(w, e, 0, 3, 5 * US, 0.5);
        g_assert_cmpint(e->estimates[2].offset_bound, <=, 200 * US);
}

/* Where the ways differ, half of that is in the estimate, and inside the bound. */
static void test_asymmetric(void)
{
        static const Delays slow = { 5 * MS, 50 * US, 0 }, fast = { 1 * MS, 50 * US, 0 };
        g_autoptr(World) w = world_new(5, 2);
        g_autoptr(ClockEstimates) e = NULL;
        gint64 off;

        w->truth[1] = (TrueClock){ .offset = -70 * MS, .ppm = 20 };
        calls(w, 0, 1, 3000, 100 * SECOND, &slow, &fast);
        e = find(w, 0);
        assert_found(w, e, 0, 1, 2.1 * MS, 1);
        off = e->estimates[1].offset - true_offset(w, e, 1);
        g_assert_cmpint(off, >=, 1.9 * MS);
        g_assert_cmpint(e->estimates[1].offset_bound, >=, 3 * MS);
        g_assert_cmpint(e->estimates[1].offset_bound, <=, 3.2 * MS);
}

/* Half of the messages wait in queues, those one way longer: the others count. */
static void test_queues(void)
{
        static const Delays there = { 80 * US, 20 * US, 50 * MS },
                            back = { 80 * US, 20 * US, 5 * MS };
        g_autoptr(World) w = world_new(6, 2);
        g_autoptr(ClockEstimates) e = NULL;

        w->truth[1] = (TrueClock){ .offset = 30 * MS, .ppm = 50 };
        calls(w, 0, 1, 3000, 100 * SECOND, &there, &back);
        e = find(w, 0);
        assert_found(w, e, 0, 1, 10 * US, 1);
}

/* A clock that began in 1970, and one an hour ahead. */
static void test_far_apart(void)
{
        g_autoptr(World) w = world_new(7, 4);

        w->truth[0].ppm = 30;
        w->truth[1] = (TrueClock){ .offset = -1047e15, .ppm = -40 };
        w->truth[2] = (TrueClock){ .offset = 3600 * SECOND, .ppm = 50 };
        for (NodeId i = 0; i < 3; i++)
                calls(w, i, i + 1, 2000, 100 * SECOND, &lan, &lan);
        for (NodeId reference = 0; reference < 4; reference++) {
                g_autoptr(ClockEstimates) e = find(w, reference);

                assert_found(w, e, 0, 3, 10 * US, 1);
        }
}

/* One call: the clocks lie apart by something between the two delays, and of the drift
 * nothing is known. */
static void test_one_call(void)
{
        g_autoptr(World) w = world_new(8, 2);
        g_autoptr(ClockEstimates) e = NULL;

        w->truth[1].offset = 30 * MS;
        calls(w, 0, 1, 1, 0, &lan, &lan);
        e = find(w, 0);
        assert_found(w, e, 0, 1, 150 * US, 1);
        g_assert_cmpint(e->estimates[1].drift_bound, >=, 1000 * SKEW_PPM);
}

/* A few calls: what is said is true, however little it is. */
static void test_few(void)
{
        for (guint n = 1; n < 12; n++)
                for (guint seed = 0; seed < 20; seed++) {
                        g_autoptr(World) w = world_new(100 * n + seed, 3);
                        g_autoptr(ClockEstimates) e = NULL;

                        for (NodeId i = 0; i < 3; i++)
                                w->truth[i] = (TrueClock){ .offset = gauss(w) * 50 * MS,
                                                           .ppm = gauss(w) * 50 };
                        calls(w, 0, 1, n, 10 * SECOND, &lan, &lan);
                        calls(w, 2, 1, n, 10 * SECOND, &lan, &lan);
                        e = find(w, NO_NODE);
                        assert_found(w, e, 0, 2, 20 * MS, 2000);
                }
}

/* Systems at random. The bounds hold in all. */
static void test_random(void)
{
        for (guint seed = 0; seed < 60; seed++) {
                g_autoptr(World) w = world_new(seed, 12);
                g_autoptr(ClockEstimates) e = NULL;

                for (NodeId i = 0; i < 12; i++)
                        w->truth[i] =
                                (TrueClock){ .offset = gauss(w) * 50 * MS, .ppm = gauss(w) * 50 };
                for (NodeId i = 1; i < 12; i++)
                        for (guint k = 0; k < 2; k++) {
                                Delays there = { exp(gauss(w)) * 200 * US, exp(gauss(w)) * 20 * US,
                                                 0 };
                                Delays back = { exp(gauss(w)) * 200 * US, exp(gauss(w)) * 20 * US,
                                                exp(gauss(w)) * 500 * US };

                                calls(w, g_rand_int_range(w->rand, 0, i), i,
                                      g_rand_int_range(w->rand, 1, 100), 20 * SECOND, &there,
                                      &back);
                        }
                e = find_roughly(w, NO_NODE, 100 * MS);
                assert_found(w, e, 0, 11, G_MAXDOUBLE, G_MAXDOUBLE);
        }
}

/* The median is the reference: of the larger set, where there are two. */
static void test_two_groups(void)
{
        g_autoptr(World) w = world_new(9, 6);
        g_autoptr(ClockEstimates) e = NULL, other = NULL;

        for (NodeId i = 0; i < 5; i++)
                w->truth[i].offset = (double[]){ 3, 1, 70, 50, 60 }[i] * MS;
        calls(w, 0, 1, 300, 20 * SECOND, &lan, &lan);
        calls(w, 2, 3, 300, 20 * SECOND, &lan, &lan);
        calls(w, 3, 4, 300, 20 * SECOND, &lan, &lan);
        e = find_roughly(w, NO_NODE, SECOND);
        g_assert_cmpuint(e->reference, ==, 4);
        assert_found(w, e, 2, 4, 20 * US, 1);
        g_assert_cmpint(e->estimates[0].tie, ==, CLOCK_APART);
        g_assert_cmpint(e->estimates[1].tie, ==, CLOCK_APART);
        g_assert_cmpint(e->estimates[5].tie, ==, CLOCK_UNSEEN);
        other = find_roughly(w, 1, SECOND);
        assert_found(w, other, 0, 1, 20 * US, 1);
        g_assert_cmpint(other->estimates[3].tie, ==, CLOCK_APART);
}

/* Calls without returns give one side of the bounds only. */
static void test_one_way(void)
{
        g_autoptr(World) w = world_new(10, 3);
        g_autoptr(ClockEstimates) e = NULL;

        calls(w, 0, 1, 300, 20 * SECOND, &lan, &lan);
        for (guint i = 0; i < 300; i++)
                send(w, MSG_SENT, 1, 2, w->next_id++, i * MS, &lan);
        e = find(w, NO_NODE);
        assert_found(w, e, 0, 1, 20 * US, 1);
        g_assert_cmpint(e->estimates[2].tie, ==, CLOCK_ONE_WAY);
        g_assert_cmpint(e->estimates[2].offset, ==, 0);
}

/* One-way messages both ways will do. */
static void test_messages(void)
{
        g_autoptr(World) w = world_new(11, 2);
        g_autoptr(ClockEstimates) e = NULL;

        w->truth[1] = (TrueClock){ .offset = 30 * MS, .ppm = 50 };
        for (guint i = 0; i < 2000; i++)
                send(w, MSG_SENT, i / 100 % 2, 1 - i / 100 % 2, w->next_id++, i * 20 * MS, &lan);
        e = find(w, 0);
        assert_found(w, e, 0, 1, 20 * US, 1);
}

static void test_nothing(void)
{
        g_autoptr(World) w = world_new(12, 2);
        g_autoptr(ClockEstimates) e = NULL;

        for (guint i = 0; i < 100; i++)
                observe(w, i % 2 ? RET_SENT : CALL_SENT, i % 2, 1 - i % 2, i / 2, i * MS);
        e = find(w, NO_NODE);
        g_assert_cmpuint(e->matched, ==, 0);
        g_assert_cmpuint(e->reference, ==, NO_NODE);
        g_assert_cmpint(e->estimates[0].tie, ==, CLOCK_UNSEEN);
}

/* A clock is set during the trace: no line fits, the bounds say so. */
static void test_step(void)
{
        g_autoptr(World) w = world_new(13, 2);
        g_autoptr(ClockEstimates) e = NULL;

        w->truth[1] = (TrueClock){ .offset = 30 * MS, .step = 10 * MS, .when = 10 * SECOND };
        calls(w, 0, 1, 2000, 20 * SECOND, &lan, &lan);
        e = find_roughly(w, 0, 20 * MS);
        g_assert_cmpuint(e->n_uneven, ==, 1);
        g_assert_cmpuint(e->worst.a + e->worst.b, ==, 1);
        g_assert_cmpint(e->worst.by, >=, 1 * MS);
        assert_found(w, e, 0, 1, 20 * MS, 2000);
        g_assert_cmpint(e->estimates[1].offset_bound, >=, 5 * MS);
}

/* All delays the same, and no drift: hulls of two points. */
static void test_constant(void)
{
        static const Delays same = { 100 * US, 0, 0 };
        g_autoptr(World) w = world_new(14, 2);
        g_autoptr(ClockEstimates) e = NULL;

        w->truth[1].offset = 12345;
        calls(w, 0, 1, 1000, 20 * SECOND, &same, &same);
        e = find(w, 0);
        assert_found(w, e, 0, 1, 10, 0.001);
        g_assert_cmpint(e->estimates[1].offset_bound, >=, 100 * US);
        g_assert_cmpint(e->estimates[1].offset_bound, <=, 101 * US);
}

/* --- a pair of clocks, against all its messages ------------------------------ */

/* No line between the messages is outside of the bounds, and some touch them: lines at
 * random, each pushed as far as the messages let it. */
static void test_bounds(void)
{
        for (guint seed = 0; seed < 40; seed++) {
                g_autoptr(GRand) rand = g_rand_new_with_seed(seed);
                g_autoptr(ClockPair) pair = clock_pair_new();
                double x[2][50], y[2][50];
                guint n = g_rand_int_range(rand, 1, 50);
                double least, most, reached = INFINITY, at = g_rand_double(rand) * 1e9;
                ClockLine line;

                for (guint i = 0; i < 2 * n; i++) {
                        gint64 t = g_rand_double(rand) * 1e9;
                        gint64 delay = 50000 + g_rand_double(rand) * 200000;

                        x[i % 2][i / 2] = t;
                        y[i % 2][i / 2] = delay;
                        if (i % 2)
                                clock_pair_add(pair, FALSE, t - delay, t);
                        else
                                clock_pair_add(pair, TRUE, t, t + delay);
                }
                g_assert_true(clock_pair_fit(pair, &line));
                clock_pair_bounds(pair, &line, at, &least, &most);
                least += line.apart;
                most += line.apart;
                for (guint k = 0; k < 20000; k++) {
                        double slope = (k / 10000.0 - 1) * 0.001, low = -INFINITY, high = INFINITY;

                        for (guint i = 0; i < n; i++) {
                                high = MIN(high, y[0][i] - slope * (x[0][i] - at));
                                low = MAX(low, -y[1][i] - slope * (x[1][i] - at));
                        }
                        if (low > high)
                                continue; /* no line of this slope */
                        g_assert_cmpfloat(slope, >=, line.least - 1e-12);
                        g_assert_cmpfloat(slope, <=, line.most + 1e-12);
                        g_assert_cmpfloat(high, <=, most + 1e-3);
                        g_assert_cmpfloat(low, >=, least - 1e-3);
                        reached = MIN(reached, MIN(most - high, low - least));
                }
                g_assert_cmpfloat(reached, <=, 1000);
        }
}

/* --- messages seen at both ends ---------------------------------------------- */

static void test_both_ends(void)
{
        enum { N = 20000 };
        g_autoptr(GRand) rand = g_rand_new_with_seed(1);
        g_autoptr(BothEnds) ends = both_ends_new();
        g_autofree Message *all = g_new0(Message, N);
        g_autofree guint8 *done = g_new0(guint8, N);
        guint matched = 0;

        for (guint i = 0; i < N; i++) {
                static const char *const ids[] = { "1", "2", "an-id-of-more-than-16-bytes", "-" };
                Message *m = &all[i];
                const char *id = ids[g_rand_int_range(rand, 0, 4)];
                gint64 other = 0, expected = 0;
                gboolean found = FALSE;

                m->op = g_rand_int_range(rand, 0, N_MESSAGE_OPS);
                m->sender = g_rand_int_range(rand, 0, 4);
                m->receiver = g_rand_int_range(rand, 0, 4);
                m->time = i;
                message_set_id(m, id, strlen(id));
                for (guint k = 0; k < i && !found && m->id_length; k++)
                        if (!done[k] && all[k].op == (m->op ^ 1) && all[k].sender == m->sender &&
                            all[k].receiver == m->receiver && all[k].id == m->id) {
                                found = done[k] = done[i] = TRUE;
                                expected = k;
                        }
                g_assert_cmpint(both_ends_add(ends, m, &other), ==, found);
                g_assert_cmpint(other, ==, expected);
                matched += found;
        }
        g_assert_cmpuint(matched, >, N / 4);
        g_assert_cmpuint(both_ends_given_up(ends), ==, 0);
}

/* What one end alone has seen does not fill the memory, nor use up time. */
static void test_given_up(void)
{
        enum { N = 1200000, LIMIT = 1 << 20 };
        g_autoptr(BothEnds) ends = both_ends_new();
        gint64 other;

        for (int same = 0; same < 2; same++)
                for (gint64 i = 0; i < N; i++) {
                        Message m = { .op = CALL_SENT, .sender = same, .time = i };
                        char id[24];

                        g_snprintf(id, sizeof id, "%d", same ? 1 : (int)i);
                        message_set_id(&m, id, strlen(id));
                        g_assert_false(both_ends_add(ends, &m, &other));
                }
        g_assert_cmpuint(both_ends_given_up(ends), ==, 2 * N - LIMIT);
        for (gint64 i = N - LIMIT; i < N; i++) {
                Message m = { .op = CALL_RECV, .sender = 1, .time = i };

                message_set_id(&m, "1", 1);
                g_assert_true(both_ends_add(ends, &m, &other));
                g_assert_cmpint(other, ==, i);
        }
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/clocks/two", test_two);
        g_test_add_func("/clocks/other-way", test_other_way);
        g_test_add_func("/clocks/chain", test_chain);
        g_test_add_func("/clocks/circle", test_circle);
        g_test_add_func("/clocks/asymmetric", test_asymmetric);
        g_test_add_func("/clocks/queues", test_queues);
        g_test_add_func("/clocks/far-apart", test_far_apart);
        g_test_add_func("/clocks/one-call", test_one_call);
        g_test_add_func("/clocks/few", test_few);
        g_test_add_func("/clocks/random", test_random);
        g_test_add_func("/clocks/two-groups", test_two_groups);
        g_test_add_func("/clocks/one-way", test_one_way);
        g_test_add_func("/clocks/messages", test_messages);
        g_test_add_func("/clocks/nothing", test_nothing);
        g_test_add_func("/clocks/step", test_step);
        g_test_add_func("/clocks/constant", test_constant);
        g_test_add_func("/clocks/bounds", test_bounds);
        g_test_add_func("/clocks/both-ends", test_both_ends);
        g_test_add_func("/clocks/given-up", test_given_up);
        return g_test_run();
}
