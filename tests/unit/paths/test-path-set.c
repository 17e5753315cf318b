/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "paths/path-set.h"
#include "paths/pattern-text.h"

typedef struct {
        NodeTable *nodes;
        PathSet *set;
} Fixture;

static void set_up(Fixture *f, gconstpointer order)
{
        f->nodes = node_table_new();
        f->set = path_set_new(f->nodes, (SiblingOrder)GPOINTER_TO_INT(order));
}

static void tear_down(Fixture *f, gconstpointer order)
{
        (void)order;
        path_set_free(f->set);
        node_table_free(f->nodes);
}

static NodeId node(Fixture *f, const char *name)
{
        return node_table_add(f->nodes, name, strlen(name));
}

/* Makes calls out of a signature with siblings in the order that they stand
 * there. The call at place i lasts from i us to 1000 - i us. Names are one
 * character long, and stand for themselves. */
static guint32 parse_calls(Fixture *f, const char *text, PathCall *calls)
{
        guint32 n = 0, parent = NO_PARENT, last = NO_PARENT;
        char name[2] = { text[0], 0 };
        NodeId client = node(f, name);

        for (const char *c = text + 2; *c; c++) {
                if (*c == '(')
                        parent = last;
                else if (*c == ')')
                        parent = calls[parent].parent;
                else if (*c != ',') {
                        name[0] = *c;
                        calls[n] = (PathCall){
                                .parent = parent,
                                .caller = parent == NO_PARENT ? client : calls[parent].callee,
                                .callee = node(f, name),
                                .start = n * 1000,
                                .enter = n * 1000,
                                .reply = 1000000 - n * 1000,
                                .end = 1000000 - n * 1000,
                                .probability = 1,
                                .family = 1,
                        };
                        last = n++;
                }
        }
        return n;
}

static const PathPattern *add(Fixture *f, const char *text)
{
        PathCall calls[64];
        guint32 n = parse_calls(f, text, calls);

        g_assert_true(path_set_add(f->set, calls, n, NULL));
        return path_set_pattern(f->set, path_set_latest(f->set));
}

static void test_signature(Fixture *f, gconstpointer order)
{
        (void)order;
        g_assert_cmpstr(add(f, "c>a")->signature, ==, "c>a");
        g_assert_cmpstr(add(f, "c>a(b)")->signature, ==, "c>a(b)");
        g_assert_cmpstr(add(f, "c>a(z,b(y,x),b(w))")->signature, ==, "c>a(b(w),b(x,y),z)");
        /* By bytes, '(' before ')' before ',': a leaf comes first or last by what follows it. */
        g_assert_cmpstr(add(f, "c>a(b(c),b)")->signature, ==, "c>a(b,b(c))");
        g_assert_cmpstr(add(f, "c>a(b(c,d),b(c))")->signature, ==, "c>a(b(c),b(c,d))");
        g_assert_cmpstr(add(f, "c>a(b(c,d),b(c(d)))")->signature, ==, "c>a(b(c(d)),b(c,d))");
        g_assert_cmpstr(add(f, "c>a(b(c(d),e),b(c(d(e))))")->signature, ==,
                        "c>a(b(c(d(e))),b(c(d),e))");
        g_assert_cmpuint(path_set_size(f->set), ==, 7);
        g_assert_cmpuint(path_set_instances(f->set), ==, 7);
}

static void test_multiset(Fixture *f, gconstpointer order)
{
        (void)order;
        for (int i = 0; i < 3; i++) {
                add(f, "c>a(x,y(p,q),y(q,p))");
                add(f, "c>a(y(q,p),y(p,q),x)");
                add(f, "c>a(y(p,q),x,y(p,q))");
        }
        g_assert_cmpuint(path_set_size(f->set), ==, 1);
        const PathPattern *p = add(f, "c>a(x,y(p,q),y(p,q))");
        g_assert_cmpuint(p->count, ==, 10);
        g_assert_cmpstr(p->signature, ==, "c>a(x,y(p,q),y(p,q))");
        g_assert_cmpuint(add(f, "c>a(x,y(p,q))")->count, ==, 1);
        g_assert_cmpuint(add(f, "d>a(x,y(p,q))")->count, ==, 1);
}

static void test_strict(Fixture *f, gconstpointer order)
{
        (void)order;
        g_assert_cmpstr(add(f, "c>a(z,b(y,x))")->signature, ==, "c>a(z,b(y,x))");
        g_assert_cmpstr(add(f, "c>a(b(y,x),z)")->signature, ==, "c>a(b(y,x),z)");
        add(f, "c>a(z,b(y,x))");
        g_assert_cmpuint(path_set_size(f->set), ==, 2);
}

/* Every call's delays are counted at its own place in the pattern; equal
 * siblings keep the order they were called in. */
static void test_statistics(Fixture *f, gconstpointer order)
{
        const PathPattern *p = add(f, "c>a(z,b,b)");

        (void)order;
        g_assert_cmpstr(p->signature, ==, "c>a(b,b,z)");
        g_assert_cmpuint(p->n_nodes, ==, 4);
        g_assert_cmpint(histogram_mean(&p->nodes[0].latency), ==, 1000000);
        g_assert_cmpint(histogram_mean(&p->nodes[0].call_delay), ==, 0);
        g_assert_cmpint(histogram_mean(&p->nodes[1].call_delay), ==, 2000);
        g_assert_cmpint(histogram_mean(&p->nodes[2].call_delay), ==, 3000);
        g_assert_cmpint(histogram_mean(&p->nodes[3].call_delay), ==, 1000);
        g_assert_cmpint(histogram_mean(&p->nodes[3].latency), ==, 998000);
        g_assert_cmpint(histogram_mean(&p->nodes[3].own), ==, 998000);
        g_assert_cmpint(histogram_mean(&p->nodes[1].own), ==, 0);
        g_assert_cmpuint(p->nodes[3].parent, ==, 0);
        g_assert_cmpuint(p->nodes[0].parent, ==, NO_PARENT);
        g_assert_cmpuint(p->nodes[3].depth, ==, 1);
        g_assert_cmpuint(path_pattern_slowest(p), ==, 3);
        g_assert_cmpfloat(p->probability, ==, 1);
}

static void test_probability(Fixture *f, gconstpointer order)
{
        PathCall calls[8];
        guint32 n = parse_calls(f, "c>a(b,d)", calls);

        (void)order;
        /* A call's own is of its parent, and says nothing of what is missing. */
        calls[1].probability = calls[2].probability = 0.9f;
        calls[0].family = 0.5f;
        calls[2].family = 0.25f;
        g_assert_true(path_set_add(f->set, calls, n, NULL));
        calls[0].family = calls[2].family = 1;
        g_assert_true(path_set_add(f->set, calls, n, NULL));
        g_assert_cmpfloat(path_set_pattern(f->set, 0)->probability, ==, 0.5625);
}

/* An outline has no distributions, and costs none. */
static void test_outline(Fixture *f, gconstpointer order)
{
        PathCall calls[8];
        guint32 n = parse_calls(f, "c>a(b)", calls);
        const PathPattern *p;

        (void)order;
        calls[1].family = 0.5;
        for (guint i = 0; i < 3; i++)
                g_assert_true(path_set_add(f->set, calls, n, NULL));
        p = path_set_outline(f->set, 0);
        g_assert_cmpuint(p->count, ==, 3);
        g_assert_cmpfloat(p->probability, ==, 0.5);
        g_assert_null(p->nodes);
        g_assert_cmpuint(path_set_pattern(f->set, 0)->nodes[1].latency.count, ==, 3);
}

/* By caller: calls with a parent, calls with a choice of parents, and how many should be right. */
static void test_trust(Fixture *f, gconstpointer order)
{
        PathCall calls[8];
        guint32 n = parse_calls(f, "c>a(b(d),d)", calls), n_trust;
        const PathTrust *trust;

        (void)order;
        calls[1].probability = 0.5f;
        calls[3].probability = 0.25f;
        g_assert_true(path_set_add(f->set, calls, n, NULL));
        /* A node that was not known before. */
        n = parse_calls(f, "c>e(d)", calls);
        calls[1].probability = 0.75f;
        g_assert_true(path_set_add(f->set, calls, n, NULL));
        trust = path_set_trust(f->set, &n_trust);
        g_assert_cmpuint(n_trust, ==, node_table_size(f->nodes));
        for (NodeId id = 0; id < n_trust; id++) {
                char name = *node_table_name(f->nodes, id);
                PathTrust expected = { 0 };

                if (name == 'a')
                        expected = (PathTrust){ 2, 2, 0.75 };
                else if (name == 'b')
                        expected = (PathTrust){ 1, 0, 1 };
                else if (name == 'e')
                        expected = (PathTrust){ 1, 1, 0.75 };
                g_assert_cmpuint(trust[id].calls, ==, expected.calls);
                g_assert_cmpuint(trust[id].guessed, ==, expected.guessed);
                g_assert_cmpfloat(trust[id].right, ==, expected.right);
        }
}

/* Names that hold the signature's own characters make no other shape. */
static void test_escapes(Fixture *f, gconstpointer order)
{
        PathCall calls[8];
        guint32 n = parse_calls(f, "c>a(b,d)", calls);

        (void)order;
        calls[1].callee = node(f, "b(x,y)");
        calls[2].callee = node(f, "b");
        g_assert_true(path_set_add(f->set, calls, n, NULL));
        g_assert_cmpstr(path_set_pattern(f->set, 0)->signature, ==, "c>a(b,b%28x%2Cy%29)");
        /* "b$" sorts before "b(" and after "b" alone. */
        n = parse_calls(f, "c>a(b(d),b,d)", calls);
        calls[3].callee = calls[4].callee = node(f, "b$");
        g_assert_true(path_set_add(f->set, calls, n, NULL));
        g_assert_cmpstr(path_set_pattern(f->set, 1)->signature, ==, "c>a(b$,b$,b(d))");
        /* Marks are no part of a name. */
        n = parse_calls(f, "c>a(b(d),b,d)", calls);
        calls[1].continues = WORK_UNANSWERED;
        calls[3].continues = WORK_LATE;
        calls[4].callee = node(f, "b!");
        g_assert_true(path_set_add(f->set, calls, n, NULL));
        g_assert_cmpstr(path_set_pattern(f->set, 2)->signature, ==, "c>a(b!(d),b%21,b*)");
}

static gboolean watch(gpointer data, guint64 number, guint32 pattern, const PathCall *calls,
                      const guint32 *slot, guint32 n, double probability, GError **error)
{
        Fixture *f = data;
        const PathPattern *p = path_set_pattern(f->set, pattern);

        g_assert_cmpuint(n, ==, p->n_nodes);
        for (guint32 i = 0; i < n; i++) {
                const PatternNode *place = &p->nodes[slot[i]];
                g_assert_cmpuint(place->node, ==, calls[i].callee);
                g_assert_cmpuint(place->parent, ==, i == 0 ? NO_PARENT : slot[calls[i].parent]);
                g_assert_cmpuint(calls[i].call, ==, i == 0 ? 77 : 0);
        }
        g_assert_cmpfloat(probability, ==, 1);
        if (number < 2)
                return TRUE;
        g_set_error(error, RAVEL_ERROR, RAVEL_ERROR_OUTPUT, "full");
        return FALSE;
}

static void test_sink(Fixture *f, gconstpointer order)
{
        PathCall calls[16];
        g_autoptr(GError) error = NULL;

        (void)order;
        path_set_set_sink(f->set, watch, f);
        for (int i = 0; i < 3; i++) {
                guint32 n = parse_calls(f, i ? "c>a(z(y,x),b(q),b(p))" : "c>a(b(p),b(q),z(x,y))",
                                        calls);
                calls[0].call = 77;
                g_assert_true(path_set_add(f->set, calls, n, &error) == (i < 2));
        }
        g_assert_error(error, RAVEL_ERROR, RAVEL_ERROR_OUTPUT);
}

static void test_rank(Fixture *f, gconstpointer order)
{
        PathCall calls[4];

        (void)order;
        /* a: often and fast; b: seldom and slow; d and e alike */
        for (int i = 0; i < 40; i++) {
                guint32 n = parse_calls(f,
                                        i < 36   ? "c>a"
                                        : i < 38 ? "c>b"
                                        : i < 39 ? "c>e"
                                                 : "c>d",
                                        calls);
                calls[0].end = calls[0].reply = i < 36 ? 10 : i < 38 ? 100 : 50;
                g_assert_true(path_set_add(f->set, calls, n, NULL));
        }
        g_autofree guint32 *total = path_set_rank(f->set, RANK_TOTAL);
        g_autofree guint32 *count = path_set_rank(f->set, RANK_COUNT);
        g_autofree guint32 *mean = path_set_rank(f->set, RANK_MEAN);
        g_autofree guint32 *p99 = path_set_rank(f->set, RANK_P99);
        const guint32 *ranks[] = { total, count, mean, p99 };
        const char *expected[] = { "abde", "abde", "bdea", "bdea" };
        for (int by = 0; by < 4; by++)
                for (int i = 0; i < 4; i++)
                        g_assert_cmpint(path_set_pattern(f->set, ranks[by][i])->signature[2], ==,
                                        expected[by][i]);
}

/* The sum of the last letters' values, as the makers of the hash publish it. */
static void test_id(void)
{
        g_assert_cmphex(path_pattern_id(NULL, ""), ==, G_GUINT64_CONSTANT(0xcbf29ce484222325));
        g_assert_cmphex(path_pattern_id(NULL, "a"), ==, G_GUINT64_CONSTANT(0xaf63dc4c8601ec8c));
        g_assert_cmphex(path_pattern_id(NULL, "foobar"), ==,
                        G_GUINT64_CONSTANT(0x85944171f73967e8));
}

static void test_large(Fixture *f, gconstpointer order)
{
        enum { N = 100001 };
        g_autofree PathCall *calls = g_new0(PathCall, N);
        const char *names[] = { "c", "a", "b" };

        (void)order;
        /* Deep; then wide; then a spine with a leaf at every joint, which is out
         * of order at each of them. */
        for (int shape = 0; shape < 3; shape++) {
                for (guint32 i = 0; i < N; i++) {
                        guint32 parent = shape == 0 ? i - 1 : shape == 1 ? 0 : (i - 1) / 2 * 2;
                        calls[i] = (PathCall){
                                .parent = i == 0 ? NO_PARENT : parent,
                                .callee = node(f, names[shape == 2 ? 2 - i % 2 : i % 3]),
                                .caller = node(f, "client"),
                                .start = i,
                                .enter = i,
                                .reply = 10 * N - i,
                                .end = 10 * N - i,
                                .probability = 1,
                                .family = 1,
                        };
                }
                g_assert_true(path_set_add(f->set, calls, N, NULL));
                g_assert_true(path_set_add(f->set, calls, N, NULL));
                g_assert_cmpuint(path_set_pattern(f->set, (guint32)shape)->count, ==, 2);
                g_assert_cmpuint(path_set_pattern(f->set, (guint32)shape)->n_nodes, ==, N);
        }
}

/* The order of siblings that a plain recursive sort of strings gives. */
static char *slow_signature(Fixture *f, const PathCall *calls, guint32 n, guint32 call)
{
        g_autoptr(GPtrArray) children = g_ptr_array_new_with_free_func(g_free);
        GString *text = g_string_new(node_table_written(f->nodes, calls[call].callee));

        for (guint32 i = call + 1; i < n; i++)
                if (calls[i].parent == call)
                        g_ptr_array_add(children, slow_signature(f, calls, n, i));
        for (guint i = 1; i < children->len; i++)
                for (guint k = i; k > 0; k--) {
                        gpointer *at = &children->pdata[k];
                        if (strcmp(at[-1], at[0]) <= 0)
                                break;
                        gpointer swap = at[0];
                        at[0] = at[-1];
                        at[-1] = swap;
                }
        for (guint i = 0; i < children->len; i++)
                g_string_append_printf(text, "%s%s", i ? "," : "(", (char *)children->pdata[i]);
        if (children->len > 0)
                g_string_append_c(text, ')');
        return g_string_free(text, FALSE);
}

static void test_random(Fixture *f, gconstpointer order)
{
        enum { MAX_CALLS = 14 };
        const char *names[] = { "a", "a!", "a.b", "b", "a(", "\303\251" };
        g_autoptr(GRand) rand = g_rand_new_with_seed(7);

        (void)order;
        for (int round = 0; round < 20000; round++) {
                PathCall calls[MAX_CALLS];
                guint32 n = (guint32)g_rand_int_range(rand, 1, MAX_CALLS + 1);
                guint32 open[MAX_CALLS], depth = 0;
                guint n_names = (guint)g_rand_int_range(rand, 1, G_N_ELEMENTS(names) + 1);
                for (guint32 i = 0; i < n; i++) {
                        while (depth > 1 && g_rand_boolean(rand))
                                depth--;
                        guint name = (guint)g_rand_int_range(rand, 0, (gint32)n_names);
                        calls[i] = (PathCall){ .parent = i == 0 ? NO_PARENT : open[depth - 1],
                                               .caller = node(f, "c"),
                                               .callee = node(f, names[name]),
                                               .probability = 1,
                                               .family = 1 };
                        open[depth++] = i;
                }
                g_assert_true(path_set_add(f->set, calls, n, NULL));
                g_autofree char *tree = slow_signature(f, calls, n, 0);
                g_autofree char *expected = g_strconcat("c>", tree, NULL);
                g_assert_cmpstr(path_set_pattern(f->set, path_set_latest(f->set))->signature, ==,
                                expected);
        }
}

static void assert_same_times(const Histogram *a, const Histogram *b)
{
        g_autoptr(GBytes) x = histogram_pack(a), y = histogram_pack(b);

        g_assert_true(g_bytes_equal(x, y));
}

/* However many instances a pattern has, and whenever it was looked at, its distributions are those
 * of all. */
static void test_many(Fixture *f, gconstpointer order)
{
        enum { N = 20000 };
        static const guint looked_at[] = { 1, 3, 5, 50, 5000, N };
        Histogram latency = HISTOGRAM_INIT, own = HISTOGRAM_INIT;
        guint next = 0;

        (void)order;
        for (guint i = 1; i <= N; i++) {
                gint64 late = (gint64)i * i * (i % 1000 == 0 ? 1000 : 1);
                PathCall calls[4];
                guint32 n = parse_calls(f, "c>a(b)", calls);

                calls[0].end += late;
                calls[0].reply += late;
                g_assert_true(path_set_add(f->set, calls, n, NULL));
                histogram_add(&latency, calls[0].end - calls[0].start);
                histogram_add(&own, calls[0].own);
                if (i != looked_at[next])
                        continue;
                assert_same_times(&path_set_pattern(f->set, 0)->nodes[0].latency, &latency);
                assert_same_times(&path_set_pattern(f->set, 0)->nodes[0].own, &own);
                next++;
        }
        histogram_clear(&latency);
        histogram_clear(&own);
}

/* Stamps that only a broken trace has. */
static void test_far_times(Fixture *f, gconstpointer order)
{
        PathCall calls[4];
        guint32 n = parse_calls(f, "c>a(b)", calls);

        (void)order;
        calls[0].start = calls[0].enter = G_MININT64;
        calls[0].end = calls[0].reply = calls[1].end = G_MAXINT64;
        calls[1].start = calls[1].reply = G_MININT64;
        for (int i = 0; i < 3; i++)
                g_assert_true(path_set_add(f->set, calls, n, NULL));
        const PathPattern *p = path_set_pattern(f->set, 0);
        g_assert_true(p->nodes[0].latency.sum == (gint128)6 * PATH_TIME_LIMIT);
        g_assert_true(p->nodes[0].own.sum + p->nodes[0].network.sum + p->nodes[1].own.sum +
                              p->nodes[1].network.sum ==
                      p->nodes[0].latency.sum);
}

/* Times of every length, before and after one that takes more than 32 bits; rank and
 * quantiles, whether the pattern was looked at in between or not. */
static void test_long_times(Fixture *f, gconstpointer order)
{
        g_autoptr(GRand) rand = g_rand_new_with_seed(3);
        static const gint64 lengths[] = { 1, 1000, G_MAXINT32, (gint64)G_MAXINT32 + 1,
                                          G_GINT64_CONSTANT(90000000000) };

        (void)order;
        for (guint round = 0; round < 300; round++) {
                g_autofree char *text =
                        g_strdup_printf("%c>%c(b)", 'A' + round / 26, 'a' + round % 26);
                guint n = g_rand_int_range(rand, 1, 100), longest = round % G_N_ELEMENTS(lengths);
                gint64 sum = 0, delays = 0, own = 0, max = 0;
                g_autofree guint32 *rank = NULL;

                for (guint i = 0; i < n; i++) {
                        PathCall calls[4];
                        guint32 n_calls = parse_calls(f, text, calls);
                        gint64 latency = lengths[g_rand_int_range(rand, 0, longest + 1)];
                        gint64 start = g_rand_int_range(rand, -1000, 1000);

                        calls[0].start = calls[0].enter = start;
                        calls[0].end = calls[0].reply = start + latency;
                        calls[1].start = calls[1].enter = start + latency / 3;
                        calls[1].end = calls[1].reply = start + latency / 2;
                        g_assert_true(path_set_add(f->set, calls, n_calls, NULL));
                        sum += latency;
                        delays += latency / 3;
                        own += latency / 2 - latency / 3;
                        max = MAX(max, latency);
                        if (g_rand_int_range(rand, 0, 60) == 0)
                                path_set_pattern(f->set, round);
                }
                rank = path_set_rank(f->set, round % 2 ? RANK_TOTAL : RANK_P99);
                const PathPattern *p = path_set_pattern(f->set, round);
                g_assert_true(p->nodes[0].latency.sum == sum);
                g_assert_true(p->nodes[1].call_delay.sum == delays);
                g_assert_true(p->nodes[1].own.sum == own);
                g_assert_true(p->nodes[0].own.sum == sum - own);
                g_assert_cmpint(p->nodes[0].latency.max, ==, max);
                g_assert_cmpuint(p->nodes[1].latency.count, ==, n);
                for (guint i = 1; round % 2 && i <= round; i++)
                        g_assert_true(path_set_pattern(f->set, rank[i - 1])->nodes[0].latency.sum >=
                                      path_set_pattern(f->set, rank[i])->nodes[0].latency.sum);
        }
}

#define ADD(name, order, test)                                                                     \
        g_test_add("/path-set/" name, Fixture, GINT_TO_POINTER(order), set_up, test, tear_down)

/* Adds count messages that took a linear path, "c>a>b": each stays 10 ns at the first
 * node, 20 at the second and so on, and takes 1 ns to each. */
static void add_linear(Fixture *f, PathSet *set, const char *text, guint64 count)
{
        PathHop hops[16] = { { 0 } };
        char name[2] = { text[0], 0 };
        NodeId client = node(f, name);
        guint32 n = (guint32)strlen(text) / 2;
        gint64 latency = 0;

        for (guint32 i = n; i-- > 0;) {
                gint64 stay = i + 1 < n ? 10 * (i + 1) : 0;

                name[0] = text[2 * i + 2];
                hops[i].node = node(f, name);
                latency += stay + 1;
                histogram_add(&hops[i].latency, latency);
                histogram_add(&hops[i].network, 1);
                if (i + 1 < n)
                        histogram_add(&hops[i].stay, stay);
        }
        path_set_add_linear(set, client, hops, n, count, 0.5);
        g_assert_cmpuint(hops[0].latency.count, ==, 0);
}

static void test_linear(Fixture *f, gconstpointer order)
{
        g_autoptr(PathSet) set = path_set_new_linear(f->nodes, path_graph_new());
        g_autofree guint32 *rank = NULL;
        const PathPattern *p;

        (void)order;
        add_linear(f, set, "c>a>b>a>d", 100);
        add_linear(f, set, "c>a", 7);
        add_linear(f, set, "c>a>b>a>d", 20);
        g_assert_nonnull(path_set_graph(set));
        g_assert_null(path_set_graph(f->set));
        g_assert_cmpuint(path_set_size(set), ==, 2);
        g_assert_cmpuint(path_set_instances(set), ==, 127);
        rank = path_set_rank(set, RANK_TOTAL);
        p = path_set_pattern(set, rank[0]);
        g_assert_cmpstr(p->signature, ==, "c>a>b>a>d");
        g_assert_cmpuint(p->id, ==, path_pattern_id(NULL, p->signature));
        g_assert_cmpuint(p->count, ==, 120);
        g_assert_cmpfloat(p->probability, ==, 0.5);
        g_assert_cmpuint(p->n_nodes, ==, 4);
        for (guint32 i = 0; i < 4; i++) {
                g_assert_cmpuint(p->nodes[i].parent, ==, i == 0 ? NO_PARENT : i - 1);
                g_assert_cmpuint(p->nodes[i].depth, ==, i);
                g_assert_cmpint(histogram_mean(&p->nodes[i].own), ==, i < 3 ? 10 * (i + 1) : 0);
                g_assert_cmpint(histogram_mean(&p->nodes[i].call_delay), ==, 10 * i);
                g_assert_cmpuint(p->nodes[i].own.count, ==, 120);
                g_assert_cmpuint(p->nodes[i].latency.count, ==, 120);
        }
        g_assert_cmpint(p->nodes[0].latency.sum, ==, 120 * 64);
        g_assert_cmpuint(path_pattern_slowest(p), ==, 2);
}

static void test_graph(Fixture *f, gconstpointer order)
{
        g_autoptr(PathGraph) g = path_graph_new();
        NodeId a = node(f, "a"), b = node(f, "b"), c = node(f, "c");
        guint32 root = path_graph_add(g, NO_VERTEX, c, 90, 1);
        guint32 first = path_graph_add(g, root, a, 30, 1);
        guint32 second = path_graph_add(g, root, b, 60, 0.5);
        guint32 last = path_graph_add(g, first, c, 5, 0.25);
        g_autofree guint32 *found = NULL;
        const PathVertex *v;

        (void)order;
        path_graph_add_delay(g, last, 10, 2);
        path_graph_add_delay(g, last, 30, 1);
        path_graph_add_delay(g, last, 20, 1);
        path_graph_add_delay(g, last, 30, 3);
        path_graph_end(g, last, PATH_END_FEW);
        path_graph_end(g, first, PATH_END_FEW); /* it goes on */
        g_assert_cmpuint(path_graph_add(g, first, c, 2, 0.125), ==, last);
        g_assert_cmpuint(path_graph_lookup(g, first, c), ==, last);
        g_assert_cmpuint(path_graph_lookup(g, second, c), ==, NO_VERTEX);
        g_assert_cmpuint(path_graph_size(g), ==, 4);
        v = path_graph_vertex(g, last);
        g_assert_cmpuint(v->count, ==, 7);
        g_assert_cmpuint(v->depth, ==, 2);
        g_assert_cmpfloat(v->probability, ==, 0.25);
        g_assert_cmpint(v->end, ==, PATH_END_FEW);
        g_assert_cmpuint(v->delays->len, ==, 3);
        g_assert_cmpint(g_array_index(v->delays, PathDelay, 0).delay, ==, 30);
        g_assert_cmpuint(g_array_index(v->delays, PathDelay, 0).count, ==, 4);
        g_assert_cmpint(g_array_index(v->delays, PathDelay, 1).delay, ==, 10);
        g_assert_cmpint(path_graph_vertex(g, first)->end, ==, PATH_GOES_ON);
        /* What most messages went comes first, with all that is below it. */
        found = path_graph_order(g, f->nodes);
        g_assert_cmpuint(found[0], ==, root);
        g_assert_cmpuint(found[1], ==, second);
        g_assert_cmpuint(found[2], ==, first);
        g_assert_cmpuint(found[3], ==, last);
}

/* --- operations ------------------------------------------------------------ */

/* Calls lb(db, db) with these operations. */
static void add_labelled(Fixture *f, guint16 root, guint16 first, guint16 second)
{
        PathCall calls[] = {
                { .parent = NO_PARENT, .end = 100, .probability = 1, .family = 1 },
                { .parent = 0, .start = 10, .end = 20, .probability = 1, .family = 1 },
                { .parent = 0, .start = 30, .end = 40, .probability = 1, .family = 1 }
        };
        const guint16 labels[] = { root, first, second };
        NodeId client = node_table_add(f->nodes, "client", 6),
               lb = node_table_add(f->nodes, "lb", 2);
        NodeId db = node_table_add(f->nodes, "db", 2);

        for (guint i = 0; i < 3; i++) {
                calls[i].caller = i ? lb : client;
                calls[i].callee = i ? db : lb;
                calls[i].enter = calls[i].start;
                calls[i].reply = calls[i].end;
                calls[i].label = labels[i];
        }
        g_assert_true(path_set_add(f->set, calls, 3, NULL));
}

static void test_labels(Fixture *f, gconstpointer data)
{
        static const char signature[] = "client>lb(db,db)";
        g_autoptr(GPtrArray) labels = g_ptr_array_new();
        const PathPattern *p;

        (void)data;
        g_ptr_array_add(labels, (gpointer) "GET /");
        g_ptr_array_add(labels, (gpointer) "SELECT a");
        g_ptr_array_add(labels, (gpointer) "SELECT b");
        path_set_set_labels(f->set, labels);
        add_labelled(f, 1, 2, 3);
        add_labelled(f, 0, 0, 0);
        add_labelled(f, 2, 0, 0);
        add_labelled(f, 1, 3, 3);
        add_labelled(f, 1, 3, 0);
        add_labelled(f, 0, 0, 2);
        g_assert_cmpuint(path_set_size(f->set), ==, 3);
        p = path_set_pattern(f->set, 0);
        g_assert_cmpstr(p->signature, ==, signature);
        g_assert_cmpstr(p->label, ==, "GET /");
        g_assert_cmphex(p->id, ==, path_pattern_id("GET /", signature));
        g_assert_cmphex(p->id, ==, path_pattern_id(NULL, "GET / client>lb(db,db)"));
        g_assert_cmpuint(p->count, ==, 3);
        g_assert_cmpstr(p->nodes[0].label, ==, "GET /");
        g_assert_cmpstr(p->nodes[1].label, ==, "SELECT b");
        g_assert_cmpuint(p->nodes[1].n_labels, ==, 2);
        g_assert_cmpstr(p->nodes[2].label, ==, "SELECT b");
        g_assert_cmpuint(p->nodes[2].n_labels, ==, 1);
        p = path_set_pattern(f->set, 1);
        g_assert_null(p->label);
        g_assert_cmphex(p->id, ==, path_pattern_id(NULL, signature));
        g_assert_null(p->nodes[1].label);
        g_assert_cmpstr(p->nodes[2].label, ==, "SELECT a");
        g_assert_cmpstr(path_set_pattern(f->set, 2)->label, ==, "SELECT a");
}

static void test_short_signature(void)
{
        static const char *const cases[][2] = {
                { "c>a", "c>a" },
                { "c>a>b>a", "c>a>b>a" },
                { "c>a(b)", "c>a(b)" },
                { "c>a(b,b,b)", "c>a(b x3)" },
                { "c>a(b,b,c,d,d)", "c>a(b x2,c,d x2)" },
                { "c>a(b(d,d),b(d,d),b(d))", "c>a(b(d x2) x2,b(d))" },
                { "c>a(b,b(b,b),b(b,b),bb)", "c>a(b,b(b x2) x2,bb)" },
                { "c>a(b(c(d,d),c(d,d)),b(c(d,d),c(d,d)))", "c>a(b(c(d x2) x2) x2)" },
        };

        for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autofree char *made = path_short_signature(cases[i][0]);

                g_assert_cmpstr(made, ==, cases[i][1]);
        }
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        ADD("signature", SIBLINGS_MULTISET, test_signature);
        ADD("multiset", SIBLINGS_MULTISET, test_multiset);
        ADD("strict", SIBLINGS_STRICT, test_strict);
        ADD("statistics", SIBLINGS_MULTISET, test_statistics);
        ADD("probability", SIBLINGS_MULTISET, test_probability);
        ADD("outline", SIBLINGS_MULTISET, test_outline);
        ADD("trust", SIBLINGS_MULTISET, test_trust);
        ADD("escapes", SIBLINGS_MULTISET, test_escapes);
        ADD("sink", SIBLINGS_MULTISET, test_sink);
        ADD("rank", SIBLINGS_MULTISET, test_rank);
        g_test_add_func("/path-set/id", test_id);
        ADD("large", SIBLINGS_MULTISET, test_large);
        ADD("random", SIBLINGS_MULTISET, test_random);
        ADD("long-times", SIBLINGS_MULTISET, test_long_times);
        ADD("many", SIBLINGS_MULTISET, test_many);
        ADD("far-times", SIBLINGS_MULTISET, test_far_times);
        ADD("linear", SIBLINGS_MULTISET, test_linear);
        ADD("graph", SIBLINGS_MULTISET, test_graph);
        ADD("labels", SIBLINGS_MULTISET, test_labels);
        g_test_add_func("/path-set/short-signature", test_short_signature);
        return g_test_run();
}
