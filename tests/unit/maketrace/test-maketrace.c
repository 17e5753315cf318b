/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Synthetic traces: small ones against what was drawn by hand, large ones against
 * what must hold of every trace, and each law against its distribution.
 */
#include <malloc.h>
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "maketrace/generator.h"
#include "tests/unit/message-attribute.h"

/* --- helpers --------------------------------------------------------------- */

static Scenario *parse(const char *text, NodeTable *nodes)
{
        g_autoptr(GError) error = NULL;
        Scenario *s = scenario_parse((const guint8 *)text, strlen(text), "test", nodes, &error);

        g_assert_no_error(error);
        g_assert_true(scenario_ends(s, &error));
        return s;
}

/* A message that outlives the generator's next one. */
typedef struct {
        gint64 time;
        MessageOp op;
        NodeId sender, receiver;
        char *id, *path;
        gint64 served; /* of a return, ns after its call; -1 where it says nothing */
} Line;

static void line_clear(gpointer data)
{
        Line *line = data;

        g_free(line->id);
        g_free(line->path);
}

static gint64 served_time(const Message *m)
{
        gsize n = 0;
        const char *served = message_attribute(m, "served", &n);
        g_autofree char *text = g_strndup(served, n);

        return served ? g_ascii_strtoll(text, NULL, 10) : -1;
}

/* All messages of a scenario, of Line. */
static GArray *make_lines(const Scenario *s)
{
        g_autoptr(Generator) g = generator_new(s);
        g_autoptr(GError) error = NULL;
        GArray *lines = g_array_new(FALSE, FALSE, sizeof(Line));
        Message m;
        int status;

        g_array_set_clear_func(lines, line_clear);
        while ((status = generator_next(g, &m, &error)) == 1) {
                gsize n = 0;
                const char *path = message_attribute(&m, "path", &n);
                Line line = { m.time,
                              m.op,
                              m.sender,
                              m.receiver,
                              g_strndup(m.id, m.id_length),
                              g_strndup(path, n),
                              served_time(&m) };

                g_assert_nonnull(path);
                g_array_append_val(lines, line);
        }
        g_assert_no_error(error);
        g_assert_cmpint(status, ==, 0);
        g_assert_cmpuint(generator_messages(g), ==, lines->len);
        return lines;
}

enum { WITH_IDS = 1, WITHOUT_RECV = 2 };

/* A line of text each: "TIME-IN-NS OP SENDER RECEIVER [ID PATH]". */
static char *lines_text(const GArray *lines, const NodeTable *nodes, guint flags)
{
        GString *text = g_string_new(NULL);

        for (guint i = 0; i < lines->len; i++) {
                const Line *l = &g_array_index(lines, Line, i);

                if ((flags & WITHOUT_RECV) && (l->op & 1))
                        continue;
                g_string_append_printf(text, "%" G_GINT64_FORMAT " %s %s %s", l->time,
                                       message_op_name(l->op), node_table_name(nodes, l->sender),
                                       node_table_name(nodes, l->receiver));
                if (flags & WITH_IDS)
                        g_string_append_printf(text, " %s %s", l->id, l->path);
                g_string_append_c(text, '\n');
        }
        return g_string_free(text, FALSE);
}

static char *make_text(const char *config, guint flags)
{
        g_autoptr(NodeTable) nodes = node_table_new();
        g_autoptr(Scenario) s = parse(config, nodes);
        g_autoptr(GArray) lines = make_lines(s);

        return lines_text(lines, nodes, flags);
}

/* --- random numbers -------------------------------------------------------- */

/* The first numbers of xoshiro256++ from the state 1, 2, 3, 4. By hand:
 * rotl(1 + 4, 23) + 1 = 5 * 2^23 + 1, and so on. */
static void test_generator(void)
{
        Random r = { { 1, 2, 3, 4 } };

        g_assert_cmpuint(random_next(&r), ==, 41943041);
        g_assert_cmpuint(random_next(&r), ==, 58720359);
        g_assert_cmpuint(random_next(&r), ==, G_GUINT64_CONSTANT(3588806011781223));
        g_assert_cmpuint(random_next(&r), ==, G_GUINT64_CONSTANT(3591011842654386));
}

static void test_streams(void)
{
        static const struct {
                guint64 seed;
                const char *name;
                guint64 sequence;
        } streams[] = { { 1, "a", 0 },  { 2, "a", 0 },  { 1, "b", 0 },   { 1, "a", 1 },
                        { 1, "ab", 0 }, { 1, "ba", 0 }, { 1, "", 0 },    { 1, "", 1 },
                        { 0, "", 0 },   { 1, "a", 97 }, { 1, "a", 256 }, { 97, "a", 1 } };
        guint64 first[G_N_ELEMENTS(streams)];

        for (guint i = 0; i < G_N_ELEMENTS(streams); i++) {
                Random r;

                random_init(&r, streams[i].seed, streams[i].name, streams[i].sequence);
                first[i] = random_next(&r);
                for (guint k = 0; k < i; k++)
                        g_assert_cmpuint(first[i], !=, first[k]);
        }
}

static void test_functions(void)
{
        Random r;

        random_init(&r, 1, "functions", 0);
        for (guint i = 0; i < 100000; i++) {
                double x = ldexp(1 + random_uniform(&r), (int)random_below(&r, 120) - 60);
                double y = 200 * random_uniform(&r) - 100;

                g_assert_cmpfloat(fabs(portable_log(x) - log(x)), <=, 4e-16 * fabs(log(x)) + 1e-17);
                g_assert_cmpfloat(fabs(portable_exp(y) / exp(y) - 1), <, 2e-15);
        }
        g_assert_cmpfloat(portable_log(1), ==, 0);
        g_assert_cmpfloat(portable_exp(0), ==, 1);
}

/* The strips of the ziggurat have equal areas, and the last ends at the top. */
static void test_ziggurat(void)
{
        Ziggurat z;

        ziggurat_init(&z);
        for (guint i = 1; i < 256; i++)
                g_assert_cmpfloat(
                        fabs(z.x[i] * (z.y[i + 1] - z.y[i]) / (z.x[1] * (z.y[2] - z.y[1])) - 1), <,
                        1e-6);
        /* The lowest: its box and the tail beyond. */
        g_assert_cmpfloat(fabs((z.x[1] * z.y[1] + sqrt(G_PI / 2) * erfc(z.x[1] / G_SQRT2)) /
                                       (z.x[0] * z.y[1]) -
                               1),
                          <, 1e-9);
}

/* --- laws ------------------------------------------------------------------ */

static DelayLaw parse_law(const char *text)
{
        TextCursor c = { "test", (const guint8 *)text, strlen(text), 0, 1, 1 };
        g_autoptr(GError) error = NULL;
        DelayLaw law;

        g_assert_true(delay_law_parse(&c, &law, &error));
        g_assert_cmpuint(c.at, ==, c.n);
        return law;
}

/* How probable a delay of at most ns is. */
static double distribution(const DelayLaw *law, double ns)
{
        switch (law->kind) {
        case LAW_CONSTANT:
                return ns >= law->a;
        case LAW_GAUSSIAN:
                return 0.5 * erfc((law->a - ns) / law->b / G_SQRT2);
        case LAW_EXPONENTIAL:
                return 1 - exp(-ns / law->a);
        case LAW_LOGNORMAL:
                return 0.5 * erfc(log(law->a / ns) / law->b / G_SQRT2);
        case LAW_UNIFORM:
                return CLAMP((ns - law->a) / (law->b - law->a), 0, 1);
        }
        g_assert_not_reached();
}

static int compare_delays(gconstpointer a, gconstpointer b)
{
        gint64 x = *(const gint64 *)a, y = *(const gint64 *)b;

        return (x > y) - (x < y);
}

/* Kolmogorov and Smirnov: the greatest distance between the distribution of n
 * delays and the law's, by the root of n, is above 1.95 once in 1000 times. A
 * delay of k ns stands for all from k - 0.5 to k + 0.5, and 0 for all below too. */
static void assert_follows(GArray *delays, const DelayLaw *law)
{
        double n = delays->len, greatest = 0;

        g_array_sort(delays, compare_delays);
        for (guint i = 0; i < delays->len; i++) {
                gint64 ns = g_array_index(delays, gint64, i);

                if (i > 0 && ns > g_array_index(delays, gint64, i - 1))
                        greatest = MAX(greatest, fabs(distribution(law, ns - 0.5) - i / n));
                if (i + 1 == delays->len || ns < g_array_index(delays, gint64, i + 1))
                        greatest = MAX(greatest, fabs(distribution(law, ns + 0.5) - (i + 1) / n));
        }
        g_test_message("%.0f delays, distance * sqrt(n) %.3f", n, greatest * sqrt(n));
        g_assert_cmpfloat(greatest * sqrt(n), <, 1.95);
}

static void test_law(gconstpointer text)
{
        DelayLaw law = parse_law(text);
        g_autoptr(GArray) delays = g_array_new(FALSE, FALSE, sizeof(gint64));
        guint n = g_getenv("RAVEL_LONG") ? 1000000 : 200000;
        Ziggurat z;
        Random r;

        ziggurat_init(&z);
        random_init(&r, 7, text, 0);
        for (guint i = 0; i < n; i++) {
                gint64 delay = delay_law_draw(&law, &r, &z);

                g_assert_cmpint(delay, >=, 0);
                g_array_append_val(delays, delay);
        }
        assert_follows(delays, &law);
}

/* Below 0 there is nothing: what the Gaussian has there is at 0. */
static void test_clamp(void)
{
        DelayLaw law = parse_law("10ms~10ms");
        guint zeros = 0, n = 1000000;
        double share = 0.5 * erfc(1 / G_SQRT2); /* Phi(-1) */
        Ziggurat z;
        Random r;

        ziggurat_init(&z);
        random_init(&r, 7, "clamp", 0);
        for (guint i = 0; i < n; i++)
                zeros += delay_law_draw(&law, &r, &z) == 0;
        g_assert_cmpfloat(fabs(zeros - share * n), <, 4 * sqrt(n * share * (1 - share)));
}

static void test_far_tail(void)
{
        guint beyond = 0, n = 20000000;
        double share = erfc(4 / G_SQRT2); /* of both sides: 6.3e-5 */
        Ziggurat z;
        Random r;

        ziggurat_init(&z);
        random_init(&r, 7, "tail", 0);
        for (guint i = 0; i < n; i++)
                beyond += fabs(random_gaussian(&r, &z)) > 4;
        g_assert_cmpfloat(fabs(beyond - share * n), <, 4 * sqrt(n * share));
}

static void test_poisson(void)
{
        static const double means[] = { 0.3, 2, 40 };
        guint n = 200000;

        for (guint k = 0; k < G_N_ELEMENTS(means); k++) {
                guint counts[200] = { 0 };
                double expected = n * exp(-means[k]), square = 0;
                int bins = 0;
                Random r;

                random_init(&r, 7, "poisson", k);
                for (guint i = 0; i < n; i++)
                        counts[MIN(random_poisson(&r, means[k]), 199)]++;
                for (guint i = 0; i < 199; expected *= means[k] / ++i) {
                        if (expected < 10)
                                continue;
                        square += (counts[i] - expected) * (counts[i] - expected) / expected;
                        bins++;
                }
                /* Chi squared has mean bins and variance 2 bins. */
                g_assert_cmpint(bins, >, 3);
                g_assert_cmpfloat(square, <, bins + 4 * sqrt(2 * bins));
        }
}

/* --- small traces, by hand ------------------------------------------------- */

#define MS "000000"

/* Of a configuration with network=1ms and count=1, the group's lines and what
 * must come out, of which times are in ms. */
static const struct {
        const char *name, *group, *expected;
} drawn[] = {
        { "call in a call", "path=client > A( 2ms B( 3ms ) 1ms )",
          "0 CALL_SENT client A 1 1\n"
          "3 CALL_SENT A B 2 1.1\n"
          "7 RET_SENT B A 2 1.1\n"
          "9 RET_SENT A client 1 1\n" },
        { "one call after the other", "path=client>A(2ms,B(1ms),2ms,B(1ms))",
          "0 CALL_SENT client A 1 1\n"
          "3 CALL_SENT A B 2 1.1\n"
          "5 RET_SENT B A 2 1.1\n"
          "8 CALL_SENT A B 3 1.2\n"
          "10 RET_SENT B A 3 1.2\n"
          "11.000001 RET_SENT A client 1 1\n" },
        { "parallel calls of one callee", "path=client > A( 1ms { B( 1ms ) | B( 4ms ) } 1ms )",
          "0 CALL_SENT client A 1 1\n"
          "2 CALL_SENT A B 2 1.1\n"
          "2 CALL_SENT A B 3 1.2\n"
          "4 RET_SENT B A 2 1.1\n"
          "7 RET_SENT B A 3 1.2\n"
          "9 RET_SENT A client 1 1\n" },
        { "branches with delays of their own, within each other",
          "path=client > A( { 3ms B( 1ms ) | 1ms { C( 1ms ) | 3ms D( 1ms ) } 2ms } )",
          "0 CALL_SENT client A 1 1\n"
          "2 CALL_SENT A C 2 1.1\n"
          "4 CALL_SENT A B 3 1.2\n"
          "4 RET_SENT C A 2 1.1\n"
          "5 CALL_SENT A D 4 1.3\n"
          "6 RET_SENT B A 3 1.2\n"
          "7 RET_SENT D A 4 1.3\n"
          "10 RET_SENT A client 1 1\n" },
        { "one-way messages", "path=source >> broker( 1ms { >>X( 2ms Z( 1ms ) ) | >>Y } 6ms >>W )",
          "0 MSG_SENT source broker 1 1\n"
          "2 MSG_SENT broker X 2 1.1\n"
          "2 MSG_SENT broker Y 3 1.2\n"
          "5 CALL_SENT X Z 4 1.1.1\n"
          "7 RET_SENT Z X 4 1.1.1\n"
          "8 MSG_SENT broker W 5 1.3\n" },
        { "a message beside calls", "path=client > A( 1ms >>log 1ms B( 1ms ) 1ms )",
          "0 CALL_SENT client A 1 1\n"
          "2 MSG_SENT A log 2 1.1\n"
          "3 CALL_SENT A B 3 1.2\n"
          "5 RET_SENT B A 3 1.2\n"
          "7 RET_SENT A client 1 1\n" },
        { "no time between", "path=client > A( B( C ) )",
          "0 CALL_SENT client A 1 1\n"
          "1.000001 CALL_SENT A B 2 1.1\n"
          "2.000002 CALL_SENT B C 3 1.1.1\n"
          "3.000003 RET_SENT C B 3 1.1.1\n"
          "4.000004 RET_SENT B A 2 1.1\n"
          "5.000005 RET_SENT A client 1 1\n" },
        { "repeated call and block", "path=client > A( 1ms B*2( 1ms ) { 1ms C( 1ms ) }*2 1ms )",
          "0 CALL_SENT client A 1 1\n"
          "2 CALL_SENT A B 2 1.1\n"
          "4 RET_SENT B A 2 1.1\n"
          "5.000001 CALL_SENT A B 3 1.2\n"
          "7.000001 RET_SENT B A 3 1.2\n"
          "9.000001 CALL_SENT A C 4 1.3\n"
          "11.000001 RET_SENT C A 4 1.3\n"
          "13.000001 CALL_SENT A C 5 1.4\n"
          "15.000001 RET_SENT C A 5 1.4\n"
          "17.000001 RET_SENT A client 1 1\n" },
        { "callees in turn", "path=[c1, c2] > A( 1ms [B, C, D]*4( 1ms ) )",
          "0 CALL_SENT c1 A 1 1\n"
          "2 CALL_SENT A B 2 1.1\n"
          "4 RET_SENT B A 2 1.1\n"
          "5.000001 CALL_SENT A C 3 1.2\n"
          "7.000001 RET_SENT C A 3 1.2\n"
          "8.000002 CALL_SENT A D 4 1.3\n"
          "10.000002 RET_SENT D A 4 1.3\n"
          "11.000003 CALL_SENT A B 5 1.4\n"
          "13.000003 RET_SENT B A 5 1.4\n"
          "14.000004 RET_SENT A c1 1 1\n" },
        { "several requests of one root", "path=client > A( 1ms ) 2ms { B( 1ms ) | 1ms C( 1ms ) }",
          "0 CALL_SENT client A 1 1\n"
          "2 RET_SENT A client 1 1\n"
          "5 CALL_SENT client B 2 2\n"
          "6 CALL_SENT client C 3 3\n"
          "7 RET_SENT B client 2 2\n"
          "8 RET_SENT C client 3 3\n" },
        { "written names", "path=my%20client > %35ms( 1ms %65xp( 1ms ) )",
          "0 CALL_SENT my client 5ms 1 1\n"
          "2 CALL_SENT 5ms exp 2 1.1\n"
          "4 RET_SENT exp 5ms 2 1.1\n"
          "5.000001 RET_SENT 5ms my client 1 1\n" },
        { "two paths", "path=c1 > A( 2ms )\npath.second=c2 > 1ms B( 2ms )",
          "0 CALL_SENT c1 A 1 1\n"
          "1 CALL_SENT c2 B 2 2\n"
          "3 RET_SENT A c1 1 1\n"
          "4 RET_SENT B c2 2 2\n" },
        /* The order is given though the second path is the faster one. */
        { "an interleaving",
          "path=c1 > A( 9ms !a B( !b 9ms ) 1ms )\n"
          "path2=c2 > A( @a 1ms B( @b 1ms ) 1ms )",
          "0 CALL_SENT c1 A 1 1\n"
          "0 CALL_SENT c2 A 2 2\n"
          "10 CALL_SENT A B 3 1.1\n"
          "11 CALL_SENT A B 4 2.1\n"
          "13 RET_SENT B A 4 2.1\n"
          "15 RET_SENT A c2 2 2\n"
          "20 RET_SENT B A 3 1.1\n"
          "22 RET_SENT A c1 1 1\n" },
        /* All wait for each other: they go on when nothing else happens. */
        { "paths that wait for each other",
          "path=c1 > 1ms @b !a A( 1ms )\n"
          "path2=c2 > 2ms @a !b B( 1ms )",
          "2.000001 CALL_SENT c1 A 1 1\n"
          "2.000001 CALL_SENT c2 B 2 2\n"
          "4.000001 RET_SENT A c1 1 1\n"
          "4.000001 RET_SENT B c2 2 2\n" },
};

/* "3.000001 rest" to "3000001 rest", line by line. */
static char *to_ns(const char *text)
{
        g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
        GString *out = g_string_new(NULL);

        for (char **line = lines; **line; line++) {
                const char *rest = strchr(*line, ' ');
                double ms = g_ascii_strtod(*line, NULL);

                g_string_append_printf(out, "%.0f%s\n", ms * 1e6, rest);
        }
        return g_string_free(out, FALSE);
}

static void test_drawn(gconstpointer data)
{
        guint i = GPOINTER_TO_UINT(data);
        g_autofree char *config = g_strconcat("[maketrace]\nnetwork=1ms\n[tracelet a]\ncount=1\n",
                                              drawn[i].group, NULL);
        g_autofree char *expected = to_ns(drawn[i].expected);
        g_autofree char *made = make_text(config, WITH_IDS);

        g_assert_cmpstr(made, ==, expected);
}

static void test_both(void)
{
        g_autofree char *made = make_text("[maketrace]\nstamps=both\nnetwork=1ms\nstart=100\n"
                                          "[tracelet a]\ncount=1\n"
                                          "path=client > A( 2ms >>log 1ms )",
                                          WITH_IDS);

        g_assert_cmpstr(made, ==,
                        "100000" MS " CALL_SENT client A 1 1\n"
                        "100001" MS " CALL_RECV client A 1 1\n"
                        "100003" MS " MSG_SENT A log 2 1.1\n"
                        "100004" MS " MSG_RECV A log 2 1.1\n"
                        "100004" MS " RET_SENT A client 1 1\n"
                        "100005" MS " RET_RECV A client 1 1\n");
}

/* --- large traces ---------------------------------------------------------- */

/* Everything that the grammar has. */
static const char everything[] =
        "[maketrace]\n"
        "seed=3\n"
        "duration=20s\n"
        "network=0.1ms~0.05ms\n"
        "parallel=3\n"
        "think=exp(10ms)\n"
        "[tracelet deep]\n"
        "parallel=5\n"
        "think=uniform(0ms,20ms)\n"
        "path=client > [WS1 WS2]( 1ms~1ms AUTH?0.7( exp(2ms) DB*poisson(1.5)( 1ms ) ) "
        "{ [AP1, AP2]( 1ms { DB | DB } ) | AP3*2( lognormal(1ms,1) ) | >>log( 1ms >>disk ) } )\n"
        "[tracelet mixed 1]\n"
        "weight=2\n"
        "path=client > WS1( { 1ms DB( 1ms ) }?0.5 { DB }*3 )\n"
        "[tracelet mixed 2]\n"
        "weight=1\n"
        "think=5ms\n"
        "path=client > WS1( 1ms !seen DB( 2ms ) ) 1ms WS2\n"
        "path2=other > WS2( @seen DB( 2ms ) )\n"
        "[tracelet none]\n"
        "path=a > A( B( C( D( E ) ) ) )\n";

/* What must hold of every trace whose stamps are sent. */
static void test_truth(void)
{
        g_autoptr(NodeTable) nodes = node_table_new();
        g_autoptr(Scenario) s = parse(everything, nodes);
        g_autoptr(GArray) lines = make_lines(s);
        g_autoptr(GHashTable) calls = g_hash_table_new(g_str_hash, g_str_equal);
        g_autoptr(GHashTable) returned = g_hash_table_new(g_str_hash, g_str_equal);
        g_autoptr(GHashTable) ids = g_hash_table_new(g_str_hash, g_str_equal);
        guint n_returns = 0, n_messages = 0;

        g_assert_cmpuint(lines->len, >, 50000);
        for (guint i = 0; i < lines->len; i++) {
                Line *l = &g_array_index(lines, Line, i), *parent;
                char *dot = strrchr(l->path, '.');
                g_autofree char *above = dot ? g_strndup(l->path, dot - l->path) : NULL;

                g_assert_true(i == 0 || l->time >= g_array_index(lines, Line, i - 1).time);
                if (l->op == RET_SENT) {
                        Line *call = g_hash_table_lookup(calls, l->path);

                        g_assert_nonnull(call);
                        g_assert_cmpint(call->op, ==, CALL_SENT);
                        g_assert_cmpstr(call->id, ==, l->id);
                        g_assert_cmpuint(call->sender, ==, l->receiver);
                        g_assert_cmpuint(call->receiver, ==, l->sender);
                        g_assert_cmpint(call->time, <, l->time);
                        g_assert_true(g_hash_table_add(returned, l->path));
                        n_returns++;
                        continue;
                }
                n_messages += l->op == MSG_SENT;
                g_assert_true(g_hash_table_insert(calls, l->path, l)); /* unique */
                g_assert_true(g_hash_table_add(ids, l->id));
                if (!above)
                        continue;
                parent = g_hash_table_lookup(calls, above);
                g_assert_nonnull(parent);
                g_assert_cmpuint(parent->receiver, ==, l->sender);
                g_assert_cmpint(parent->time, <, l->time);
                g_assert_false(g_hash_table_contains(returned, above));
                /* Children are numbered without a gap. */
                if (strcmp(dot + 1, "1") != 0) {
                        g_autofree char *elder = g_strdup_printf(
                                "%s.%d", above, (int)g_ascii_strtoll(dot + 1, NULL, 10) - 1);

                        g_assert_true(g_hash_table_contains(calls, elder));
                }
        }
        g_assert_cmpuint(n_messages, >, 100);
        g_assert_cmpuint(lines->len, ==, 2 * n_returns + n_messages);
        /* A return stands after those of its children: none was without one. */
        g_assert_cmpuint(g_hash_table_size(returned), ==, n_returns);
}

/* With both stamps it is the same trace, and arrivals in between. */
static void test_stamps(void)
{
        g_autofree char *both_config =
                g_strconcat("[maketrace]\nstamps=both", everything + strlen("[maketrace]"), NULL);
        g_autofree char *sent = make_text(everything, WITH_IDS);
        g_autofree char *both = make_text(both_config, WITH_IDS);
        g_autofree char *of_both = make_text(both_config, WITH_IDS | WITHOUT_RECV);

        g_assert_cmpuint(strlen(both), >, strlen(sent));
        g_assert_cmpstr(of_both, ==, sent);
}

/* Both stamps: every arrival is of a message sent before, by the network's law. */
static void test_network(void)
{
        g_autoptr(NodeTable) nodes = node_table_new();
        g_autoptr(Scenario) s =
                parse("[maketrace]\nstamps=both\nnetwork=1ms~0.5ms\nmessages=200000\n"
                      "[tracelet a]\nparallel=20\nthink=uniform(1ms,30ms)\n"
                      "path=client > A( 2ms~0.3ms B( exp(3ms) ) >>C( 2ms~0.3ms >>D ) )\n",
                      nodes);
        g_autoptr(GArray) lines = make_lines(s);
        g_autoptr(GArray) network = g_array_new(FALSE, FALSE, sizeof(gint64));
        g_autoptr(GArray) work = g_array_new(FALSE, FALSE, sizeof(gint64));
        g_autoptr(GHashTable) sent = g_hash_table_new(g_str_hash, g_str_equal);
        DelayLaw network_law = parse_law("1ms~0.5ms"), work_law = parse_law("exp(3ms)");
        NodeId b = node_table_lookup(nodes, "B", 1);
        gint64 delay;

        for (guint i = 0; i < lines->len; i++) {
                Line *l = &g_array_index(lines, Line, i), *before;

                before = g_hash_table_lookup(sent, l->path);
                g_hash_table_insert(sent, l->path, l);
                if (!(l->op & 1)) {
                        if (l->op != RET_SENT || l->sender != b)
                                continue;
                        delay = l->time - before->time; /* since it was received */
                        g_array_append_val(work, delay);
                        continue;
                }
                g_assert_nonnull(before);
                g_assert_cmpint(before->op, ==, l->op - 1);
                delay = l->time - before->time;
                g_assert_cmpint(delay, >=, 1);
                g_array_append_val(network, delay);
        }
        g_assert_cmpuint(network->len, >, 90000);
        assert_follows(network, &network_law);
        assert_follows(work, &work_law);
}

static void test_think(void)
{
        g_autoptr(NodeTable) nodes = node_table_new();
        g_autoptr(Scenario) s = parse("[maketrace]\nmessages=40000\nnetwork=1ms\n"
                                      "[tracelet a]\nthink=uniform(50ms,150ms)\n"
                                      "path=client > A( 1ms )\n",
                                      nodes);
        g_autoptr(GArray) lines = make_lines(s);
        g_autoptr(GArray) thinking = g_array_new(FALSE, FALSE, sizeof(gint64));
        DelayLaw law = parse_law("uniform(50ms,150ms)");

        for (guint i = 2; i < lines->len; i += 2) {
                gint64 back = g_array_index(lines, Line, i - 1).time + 1000000;
                gint64 delay = g_array_index(lines, Line, i).time - back;

                g_array_append_val(thinking, delay);
        }
        assert_follows(thinking, &law);
}

/* --- what may not depend on anything else ---------------------------------- */

static void test_seed(void)
{
        g_autofree char *once = make_text(everything, WITH_IDS);
        g_autofree char *again = make_text(everything, WITH_IDS);
        g_autofree char *config = g_strdup(everything);
        g_autofree char *other = NULL;

        *(strstr(config, "seed=3") + 5) = '4';
        other = make_text(config, WITH_IDS);
        g_assert_cmpstr(once, ==, again);
        g_assert_cmpstr(once, !=, other);
}

/* The same bytes from every compiler, at every level of optimisation: this sum
 * was made by gcc 12 on x86-64. */
static void test_bytes(void)
{
        g_autofree char *made = make_text(everything, WITH_IDS);
        g_autofree char *sum = g_compute_checksum_for_string(G_CHECKSUM_SHA256, made, -1);

        g_assert_cmpstr(sum, ==,
                        "d4015d227c337be824662e4a3121ac0958d9355518073c29810a964136a81638");
}

static char *only_from(const char *text, const char *client)
{
        g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
        GString *out = g_string_new(NULL);

        for (char **line = lines; *line; line++)
                if (strstr(*line, client))
                        g_string_append_printf(out, "%s\n", *line);
        return g_string_free(out, FALSE);
}

/* A tracelet stays the same if another one is put in front. */
static void test_another_tracelet(void)
{
        const char *one = "[tracelet one]\nparallel=3\nthink=uniform(1ms,9ms)\n"
                          "path=one > one1( 1ms~1ms [one2 one3]?0.5( 1ms ) )\n";
        const char *two =
                "[tracelet two]\nparallel=2\nthink=exp(3ms)\npath=two > two1( exp(1ms) )\n";
        const char *general = "[maketrace]\nduration=5s\nnetwork=0.1ms~0.1ms\n";
        g_autofree char *alone = g_strconcat(general, one, NULL);
        g_autofree char *after = g_strconcat(general, two, one, NULL);
        g_autofree char *alone_text = make_text(alone, 0);
        g_autofree char *after_text = make_text(after, 0);
        g_autofree char *alone_one = only_from(alone_text, " one");
        g_autofree char *after_one = only_from(after_text, " one");
        g_autofree char *after_two = only_from(after_text, " two");

        g_assert_cmpuint(strlen(after_two), >, 10000);
        g_assert_cmpstr(after_one, ==, alone_one);
}

/* --- workers ---------------------------------------------------------------- */

/* The groups of a configuration, and the messages from A to its client with their attributes. It
 * has no network, so each message arrives after 1 ns. Times in ms, to the us. */
static const struct {
        const char *name, *groups, *expected;
} served[] = {
        { "one thread serves in order, and waits for what it calls",
          "[tracelet a]\ncount=1\npath=client > A( 4ms DB( 2ms ) 1ms )\n"
          "[tracelet b]\ncount=1\npath=client > 1ms A( 1ms )\n"
          "[tracelet c]\ncount=1\npath=client > 2ms A( 1ms )\n"
          "[node A]\nservers=1\n",
          "7 1 0\n8 2 6\n9 3 6\n" },
        { "the last to come is first",
          "[tracelet a]\ncount=1\npath=client > A( 4ms DB( 2ms ) 1ms )\n"
          "[tracelet b]\ncount=1\npath=client > 1ms A( 1ms )\n"
          "[tracelet c]\ncount=1\npath=client > 2ms A( 1ms )\n"
          "[node A]\nservers=1\norder=lifo\n",
          "7 1 0\n8 3 5\n9 2 7\n" },
        { "two threads",
          "[tracelet a]\ncount=1\npath=client > A( 4ms DB( 2ms ) 1ms )\n"
          "[tracelet b]\ncount=1\npath=client > 1ms A( 1ms )\n"
          "[tracelet c]\ncount=1\npath=client > 1.5ms A( 2ms )\n"
          "[node A]\nservers=2\n",
          "2 2 0\n4 3 0.5\n7 1 0\n" },
        /* b runs while a waits for DB; a goes on at 7, after c, which stood before it. */
        { "an event loop",
          "[tracelet a]\ncount=1\npath=client > A( 4ms DB( 1.5ms ) 1ms )\n"
          "[tracelet b]\ncount=1\npath=client > 1ms A( 1ms )\n"
          "[tracelet c]\ncount=1\npath=client > 2ms A( 2ms )\n"
          "[node A]\nservers=1\nholds=work\n",
          "5 2 3\n7 3 3\n8 1 0\n" },
        /* The branches take their turns: calls at 2 and 4, both back at 5, then 1 ms. */
        { "an event loop does one branch after the other",
          "[tracelet a]\ncount=1\npath=client > A( 1ms { 1ms B( 3ms ) | 2ms B( 1ms ) } 1ms )\n"
          "[tracelet b]\ncount=1\npath=client > 0.5ms A( 1ms )\n"
          "[node A]\nservers=1\nholds=work\n",
          "2 2 0.5\n7 1 0\n" },
        { "messages need a worker too",
          "[tracelet a]\ncount=1\npath=client >>A( 3ms )\n"
          "[tracelet b]\ncount=1\npath=client > 1ms A( 1ms )\n"
          "[node A]\nservers=1\n",
          "4 2 2\n" },
        /* It stops from 2 to 5 and from 7 to 10. */
        { "a node that stops",
          "[tracelet a]\ncount=1\npath=client > A( 3ms )\n"
          "[tracelet b]\ncount=1\npath=client > 3ms A( 1ms )\n"
          "[tracelet c]\ncount=1\npath=client > 8ms A\n"
          "[tracelet d]\ncount=1\npath=client > 10.5ms A( 1ms )\n"
          "[node A]\nstall=3ms every 2ms\nservers=100\n",
          "6 2 2\n6 1 0\n10 3 2\n11.5 4 0\n" },
};

static char *answers(const GArray *lines, NodeId node)
{
        GString *text = g_string_new(NULL);

        for (guint i = 0; i < lines->len; i++) {
                const Line *l = &g_array_index(lines, Line, i);

                if (l->op != RET_SENT || l->sender != node)
                        continue;
                g_string_append_printf(text, "%g %s %g\n", round(l->time / 1e3) / 1e3, l->path,
                                       round(l->served / 1e3) / 1e3);
        }
        return g_string_free(text, FALSE);
}

static void test_served(gconstpointer data)
{
        guint i = GPOINTER_TO_UINT(data);
        g_autoptr(NodeTable) nodes = node_table_new();
        g_autoptr(Scenario) s = parse(served[i].groups, nodes);
        g_autoptr(GArray) lines = make_lines(s);
        g_autofree char *found = answers(lines, node_table_lookup(nodes, "A", 1));

        g_assert_cmpstr(found, ==, served[i].expected);
}

/* Erlang's C: the share of requests that wait, of a load on k workers. */
static double erlang_c(guint k, double load)
{
        double term = 1, sum = 0;

        for (guint i = 0; i < k; i++, term *= load / i)
                sum += term;
        term *= k / (k - load);
        return term / (sum + term);
}

/* M/M/k: Poisson arrivals, exponential service. The length of the queue, the time in it and the
 * load of workers are what the formulas say, in any order of serving. The number of workers is one
 * or four; with RAVEL_LONG any number in each order. */
static void test_mmk(gconstpointer order)
{
        static const guint workers[] = { 1, 2, 4, 16 };
        double service = 0.002, share = 0.8;
        gboolean all = g_getenv("RAVEL_LONG") != NULL;

        for (guint i = 0; i < G_N_ELEMENTS(workers); i++) {
                if (!all && workers[i] != 4 && (workers[i] != 1 || strcmp(order, "fifo")))
                        continue;
                guint k = workers[i], n = 200000, waited = 0;
                double span = n * service / (k * share), wait = 0, busy = 0, c, expected;
                g_autofree char *text = g_strdup_printf(
                        "[tracelet a]\nparallel=%u\ncount=%u\nthink=uniform(0s,%.3fs)\n"
                        "path=client > A( exp(2ms) )\n[node A]\nservers=%u\norder=%s\n",
                        n, n, span, k, (const char *)order);
                g_autoptr(NodeTable) nodes = node_table_new();
                g_autoptr(Scenario) s = parse(text, nodes);
                g_autoptr(GArray) lines = make_lines(s);
                g_autofree gint64 *sent = g_new(gint64, n + 1);

                for (guint l = 0; l < lines->len; l++) {
                        const Line *line = &g_array_index(lines, Line, l);
                        guint64 request = g_ascii_strtoull(line->path, NULL, 10);

                        if (line->op == CALL_SENT) {
                                sent[request] = line->time;
                                continue;
                        }
                        waited += line->served > 1;
                        wait += line->served / 1e9;
                        busy += (line->time - sent[request] - line->served) / 1e9;
                }
                /* The formulas are steep: they get the load that was drawn. */
                g_assert_cmpfloat(fabs(busy / span / k / share - 1), <, 0.01);
                c = erlang_c(k, busy / span);
                expected = c * busy / n / (k - busy / span);
                g_test_message("k %u: busy %.4f, waited %.4f (%.4f), %.4g s (%.4g)", k,
                               busy / span / k, (double)waited / n, c, wait / n, expected);
                g_assert_cmpfloat(fabs(waited / (n * c) - 1), <, 0.03);
                g_assert_cmpfloat(fabs(wait / n / expected - 1), <, 0.05);
        }
}

/* Never more at work than there are workers, and all of them at once now and then. */
static void test_busy(void)
{
        g_autoptr(NodeTable) nodes = node_table_new();
        g_autoptr(Scenario) s =
                parse("[maketrace]\nmessages=40000\nnetwork=0.1ms\n"
                      "[tracelet a]\nparallel=12\nthink=exp(1ms)\n"
                      "path=client > A( 1ms~0.2ms { B | >>C( 1ms ) | exp(1ms) B } B*2 )\n"
                      "[node A]\nservers=5\n",
                      nodes);
        g_autoptr(GArray) lines = make_lines(s);
        g_autoptr(GHashTable) sent = g_hash_table_new(g_str_hash, g_str_equal);
        g_autoptr(GArray) begins = g_array_new(FALSE, FALSE, sizeof(gint64));
        g_autoptr(GArray) ends = g_array_new(FALSE, FALSE, sizeof(gint64));
        NodeId a = node_table_lookup(nodes, "A", 1);
        guint most = 0;

        for (guint i = 0; i < lines->len; i++) {
                const Line *l = &g_array_index(lines, Line, i);
                gint64 begin;

                if (l->op == CALL_SENT)
                        g_hash_table_insert(sent, l->path, (gpointer)&l->time);
                if (l->sender != a || l->op != RET_SENT)
                        continue;
                begin = *(gint64 *)g_hash_table_lookup(sent, l->path) + l->served;
                g_array_append_val(begins, begin);
                g_array_append_val(ends, l->time);
        }
        g_array_sort(begins, compare_delays);
        for (guint begun = 0, ended = 0; begun < begins->len; begun++) {
                while (g_array_index(ends, gint64, ended) <= g_array_index(begins, gint64, begun))
                        ended++;
                most = MAX(most, begun + 1 - ended);
        }
        g_assert_cmpuint(most, ==, 5);
}

/* With as many workers as there is work, the trace is the one without [node]. */
static void test_enough(void)
{
        static const char *const nodes[] = { "servers=100", "servers=100\nholds=work" };
        const char *config =
                "[maketrace]\nmessages=4000\nnetwork=0.1ms\n"
                "[tracelet a]\nparallel=12\nthink=exp(1ms)\n"
                "path=client > A( 1ms~0.2ms !m { 1ms B @m | >>C( 1ms ) | 3ms B } B*2 )\n";
        g_autofree char *without = make_text(config, WITH_IDS);

        for (guint i = 0; i < G_N_ELEMENTS(nodes); i++) {
                g_autofree char *with = g_strconcat(config, "[node A]\n", nodes[i], "\n[node C]\n",
                                                    nodes[i], "\n", NULL);
                g_autofree char *made = make_text(with, WITH_IDS);

                g_assert_cmpstr(made, ==, without);
        }
}

/* All that are at A wait for A. */
static void test_locked(void)
{
        g_autoptr(NodeTable) nodes = node_table_new();
        g_autoptr(Scenario) s = parse("[tracelet a]\nparallel=3\ncount=3\n"
                                      "path=c > A( B( 1ms A( 1ms ) ) )\n[node A]\nservers=2\n",
                                      nodes);
        g_autoptr(Generator) g = generator_new(s);
        g_autoptr(GError) error = NULL;
        Message m;
        int status;

        while ((status = generator_next(g, &m, &error)) == 1)
                ;
        g_assert_cmpint(status, ==, -1);
        g_assert_error(error, RAVEL_ERROR, RAVEL_ERROR_INPUT);
        g_assert_nonnull(strstr(error->message, "3 calls of A wait for ever"));
}

/* --- how many -------------------------------------------------------------- */

static guint count_calls(const GArray *lines, const NodeTable *nodes, const char *callee)
{
        NodeId node = node_table_lookup(nodes, callee, strlen(callee));
        guint n = 0;

        g_assert_cmpuint(node, !=, NO_NODE);
        for (guint i = 0; i < lines->len; i++) {
                const Line *l = &g_array_index(lines, Line, i);

                n += l->op == CALL_SENT && l->receiver == node;
        }
        return n;
}

/* n of total have probability p, give or take 4 standard deviations. */
static void assert_share(guint n, guint total, double p)
{
        g_assert_cmpfloat(fabs(n - p * total), <, 4 * sqrt(total * p * (1 - p)));
}

static void test_shares(void)
{
        g_autoptr(NodeTable) nodes = node_table_new();
        g_autoptr(Scenario) s = parse("[maketrace]\nmessages=300000\nparallel=4\n"
                                      "[tracelet a]\nweight=3\nthink=uniform(1ms,9ms)\n"
                                      "path=client > A( [R1 R2 R3] P?0.3 [T1, T2] M*poisson(2) )\n"
                                      "[tracelet b]\nweight=0.5\npath=client > B\n"
                                      "[tracelet c]\nweight=10\ncount=100\npath=client > C\n",
                                      nodes);
        g_autoptr(GArray) lines = make_lines(s);
        guint a = count_calls(lines, nodes, "A"), b = count_calls(lines, nodes, "B");
        guint first = count_calls(lines, nodes, "T1"), second = count_calls(lines, nodes, "T2");
        guint many = count_calls(lines, nodes, "M");

        g_assert_cmpuint(count_calls(lines, nodes, "C"), ==, 100);
        assert_share(a, a + b, 3 / 3.5);
        assert_share(count_calls(lines, nodes, "P"), a, 0.3);
        assert_share(count_calls(lines, nodes, "R1"), a, 1 / 3.0);
        assert_share(count_calls(lines, nodes, "R2"), a, 1 / 3.0);
        g_assert_cmpuint(first + second, ==, a);
        g_assert_cmpuint(first - second, <=, 1);
        g_assert_cmpfloat(fabs(many - 2.0 * a), <, 4 * sqrt(2.0 * a));
}

static void test_limits(void)
{
        g_autoptr(NodeTable) nodes = node_table_new();
        g_autoptr(Scenario) counted = parse("[tracelet a]\nparallel=7\ncount=100\npath=c > A\n"
                                            "[tracelet b]\nparallel=200\ncount=5\npath=c > B\n",
                                            nodes);
        g_autoptr(Scenario) timed = parse("[maketrace]\nduration=1s\nstart=50\n"
                                          "[tracelet a]\npath=c > A( 100ms~10ms )\n",
                                          nodes);
        g_autoptr(Scenario) full = parse("[maketrace]\nmessages=1001\n"
                                         "[tracelet a]\npath=c > A( 1ms B( 1ms ) )\n",
                                         nodes);
        g_autoptr(GArray) lines = make_lines(counted);
        g_autoptr(GArray) of_time = make_lines(timed);
        g_autoptr(GArray) of_full = make_lines(full);
        const Line *last = &g_array_index(of_time, Line, of_time->len - 1);
        const Line *begun = &g_array_index(of_time, Line, of_time->len - 2);

        g_assert_cmpuint(count_calls(lines, nodes, "A"), ==, 100);
        g_assert_cmpuint(count_calls(lines, nodes, "B"), ==, 5);
        /* What has begun in time is done to its end. */
        g_assert_cmpint(begun->time, <, G_GINT64_CONSTANT(51000000000));
        g_assert_cmpint(last->time, >, G_GINT64_CONSTANT(51000000000));
        g_assert_cmpint(last->op, ==, RET_SENT);
        g_assert_cmpuint(of_full->len, ==, 1004);
}

/* As many requests under way at once as there are sequences, and no more. */
static void test_parallel(void)
{
        g_autoptr(NodeTable) nodes = node_table_new();
        g_autoptr(Scenario) s = parse("[maketrace]\nmessages=10000\n"
                                      "[tracelet a]\nparallel=6\npath=c > A( exp(5ms) )\n",
                                      nodes);
        g_autoptr(GArray) lines = make_lines(s);
        guint open = 0, most = 0;

        for (guint i = 0; i < lines->len; i++) {
                open += g_array_index(lines, Line, i).op == CALL_SENT ? 1 : -1;
                most = MAX(most, open);
        }
        g_assert_cmpuint(most, ==, 6);
}

/* Of 2,000,000 messages no more stays in memory than of 100,000. */
static void test_memory(void)
{
        g_autoptr(NodeTable) nodes = node_table_new();
        g_autofree char *config = g_strdup(everything);
        g_autoptr(Scenario) s = NULL;
        g_autoptr(Generator) g = NULL;
        struct mallinfo2 early, late;
        Message m;

        memcpy(strstr(config, "duration=20s"), "duration=20h", 12);
        s = parse(config, nodes);
        g = generator_new(s);
        for (guint i = 0; i < 100000; i++)
                g_assert_cmpint(generator_next(g, &m, NULL), ==, 1);
        early = mallinfo2();
        for (guint i = 0; i < 1900000; i++)
                g_assert_cmpint(generator_next(g, &m, NULL), ==, 1);
        late = mallinfo2();
        /* Bursts may be a little higher than those before. */
        g_assert_cmpuint(late.uordblks, <, early.uordblks + 65536);
}

static void test_end_of_time(void)
{
        const char config[] = "[maketrace]\nmessages=10\nstart=3999999999\n"
                              "[tracelet a]\nthink=lognormal(300h,10)\npath=c > A*1000( 8000h )\n";
        g_autoptr(NodeTable) nodes = node_table_new();
        g_autoptr(Scenario) s = parse(config, nodes);
        g_autoptr(Generator) g = generator_new(s);
        g_autoptr(GError) error = NULL;
        Message m;
        int status;

        while ((status = generator_next(g, &m, &error)) == 1)
                g_assert_cmpint(m.time, <, G_GINT64_CONSTANT(4611486018000000000));
        g_assert_cmpint(status, ==, -1);
        g_assert_error(error, RAVEL_ERROR, RAVEL_ERROR_INPUT);
}

/* --- the sniffer ----------------------------------------------------------- */

/* A queue as one would draw it: when each message in it will be captured. */
static void test_sniffer(void)
{
        Sniffer sniffer = { .capture_time = 1000, .queue = 5 };
        g_autoptr(GQueue) queue = g_queue_new();
        gint64 time = 0, done = 0;
        guint64 lost = 0;
        Random r;

        random_init(&r, 7, "sniffer", 0);
        for (guint i = 0; i < 100000; i++) {
                gboolean taken;

                time += random_below(&r, i / 1000 % 2 ? 3000 : 1200);
                while (!g_queue_is_empty(queue) &&
                       GPOINTER_TO_SIZE(g_queue_peek_head(queue)) <= (gsize)time)
                        g_queue_pop_head(queue);
                taken = g_queue_get_length(queue) < 5;
                if (taken) {
                        done = MAX(done, time) + 1000;
                        g_queue_push_tail(queue, GSIZE_TO_POINTER(done));
                }
                lost += !taken;
                g_assert_cmpint(sniffer_take(&sniffer, time), ==, taken);
        }
        g_assert_cmpuint(sniffer.lost, ==, lost);
        g_assert_cmpuint(lost, >, 1000);
        g_assert_cmpuint(lost, <, 50000);
}

/* --- what is wrong --------------------------------------------------------- */

static const struct {
        const char *text, *where, *found, *expected;
} wrong[] = {
        { "seed=1\n", "1:1", "\"seed=1\"", "a group such as [maketrace] before" },
        { "[maketrace\n", "1:1", "\"[maketrace\"", "a group such as [maketrace]" },
        { "[maketrace]\nhello\n", "2:1", "\"hello\"", "key=value" },
        { "[maketrace]\n=1\n", "2:1", "\"=1\"", "key=value" },
        { "[maketrace]\nsed=1\n", "2:1", "\"sed\"", "one of the keys seed, start" },
        { "[maketrace]\nseed=1\n seed=2\n", "3:2", "\"seed\"", "line 2 has this one" },
        { "[sniffer]\nrate=1/s\n[sniffer]\n", "3:1", "\"[sniffer]\"", "the group of line 1" },
        { "[snifer]\n", "1:2", "\"snifer\"", "one of the groups [maketrace], [tracelet NAME]" },
        { "[tracelet]\n", "1:2", "\"tracelet\"", "one of the groups" },
        { "[sniffer]\nqueue=3\n", "1:2", "\"sniffer\"", "a rate=" },
        { "[sniffer]\nrate=605\n", "2:6", "\"605\"", "such as 605/s" },
        { "[sniffer]\nqueue=0\n", "2:7", "\"0\"", "an integer from 1 to 1000000" },
        { "[maketrace]\nseed=-1\n", "2:6", "\"-1\"", "an integer from 0 to 18446744073709551615" },
        { "[maketrace]\nseed=18446744073709551616\n", "2:6", "\"18446744073709551616\"",
          "an integer" },
        { "[maketrace]\nduration=200\n", "2:10", "\"200\"", "a duration such as 200s" },
        { "[maketrace]\nduration=0s\n", "2:10", "\"0s\"", "a duration" },
        { "[maketrace]\nstamps=all\n", "2:8", "\"all\"", "sent or both" },
        { "[maketrace]\nstart=yesterday\n", "2:7", "\"yesterday\"", "seconds since the epoch" },
        { "[maketrace]\nstart=-1\n", "2:7", "\"-1\"", "from 1970 to 2096" },
        { "[maketrace]\nnetwork=\n", "2:9", "the end of the line", "a time such as 5ms" },
        { "[maketrace]\nnetwork=5ms 6ms\n", "2:13", "\"6ms\"", "the end of the line" },
        { "[maketrace]\nnetwork=5ms~\n", "2:13", "the end of the line", "a number with a unit" },
        { "[maketrace]\nnetwork=gauss(1ms,2ms)\n", "2:9", "\"gauss\"", "a time such" },
        { "[maketrace]\nthink=uniform(9ms,1ms)\n", "2:19", "\"1ms\"", "not below the first" },
        { "[maketrace]\nthink=uniform(9ms)\n", "2:18", "\")\"", "\",\"" },
        { "[maketrace]\nthink=lognormal(9ms,11)\n", "2:21", "\"11\"", "a number from 0 to 10" },
        { "[maketrace]\nthink=exp(9)\n", "2:11", "\"9\"", "a number with a unit" },
        { "[maketrace]\nnetwork=9000h\n", "2:9", "\"9000h\"", "a time such as" },
        { "[maketrace]\nparallel=2\n[tracelet a]\npath=a > b\n", "", "parallel= in [maketrace]",
          "parallel= in the groups of the tracelets" },
        { "[maketrace]\nseed=1\n", "", "found no tracelet", "a group such as [tracelet a]" },
        { "[tracelet a]\nparallel=0\n", "2:10", "\"0\"", "an integer from 1 to 1000000" },
        { "[tracelet a]\nweight=0\n", "2:8", "\"0\"", "a number above 0" },
        { "[tracelet a]\nweight=1\nparallel=1\npath=a>b\n", "1:2", "\"tracelet a\"", "not both" },
        { "[tracelet a]\ncount=5\n", "1:2", "\"tracelet a\"", "a path= in this group" },
        { "[tracelet a]\npath=a > b( @x )\n", "1:2", "\"tracelet a\"", "a !x in a path" },
        { "[tracelet a]\npath=\n", "2:6", "the end of the line", "the name of a node" },
        { "[tracelet a]\npath=a\n", "2:7", "the end of the line", "\">\" or \">>\"" },
        { "[tracelet a]\npath=a b\n", "2:8", "\"b\"", "\">\" or \">>\"" },
        { "[tracelet a]\npath=a >\n", "2:9", "the end of the line", "a time such as 5ms, a call" },
        { "[tracelet a]\npath=a > 5ms\n", "2:13", "the end of the line", "a call or a message" },
        { "[tracelet a]\npath=a > b(\n", "2:12", "the end of the line", ", or \")\"" },
        { "[tracelet a]\npath=a > b( 5 ms )\n", "2:13", "\"5\"", "a time with its unit" },
        { "[tracelet a]\npath=a > b( 5mss )\n", "2:13", "\"5mss\"", "a time with its unit" },
        { "[tracelet a]\npath=a > b( 5ms ) )\n", "2:19", "\")\"", "a time such as 5ms, a call" },
        { "[tracelet a]\npath=a > b > c\n", "2:12", "\">\"", "a time such as 5ms, a call" },
        { "[tracelet a]\npath=ä > ö( 5ms~x )\n", "2:17", "\"x\"", "a number with a unit" },
        { "[tracelet a]\npath=a > b?2\n", "2:12", "\"2\"", "a probability above 0" },
        { "[tracelet a]\npath=a > b?0\n", "2:12", "\"0\"", "a probability above 0" },
        { "[tracelet a]\npath=a > b*0\n", "2:12", "\"0\"", "a count from 1 to 1000000" },
        { "[tracelet a]\npath=a > b*2000000\n", "2:12", "\"2000000\"", "a count from 1" },
        { "[tracelet a]\npath=a > b*poisson(0)\n", "2:20", "\"0\"", "a mean above 0" },
        { "[tracelet a]\npath=a > b*poisson 2\n", "2:20", "\"2\"", "\"(\"" },
        { "[tracelet a]\npath=a > { b | }\n", "2:16", "\"}\"", "a time such as 5ms, a call" },
        { "[tracelet a]\npath=a > { b | c\n", "2:17", "the end of the line", "\"|\" or \"}\"" },
        { "[tracelet a]\npath=a > { b ) }\n", "2:14", "\")\"", "\"|\" or \"}\"" },
        { "[tracelet a]\npath=a > [b\n", "2:12", "the end of the line", "the name of a node" },
        { "[tracelet a]\npath=a > [b, c d]\n", "2:16", "\"d\"", "\",\" or \"]\"" },
        { "[tracelet a]\npath=a > [b c, d]\n", "2:14", "\",\"", "commas between all nodes" },
        { "[tracelet a]\npath=a > []\n", "2:11", "\"]\"", "the name of a node" },
        { "[tracelet a]\npath=a > b%zz\n", "2:10", "\"b%zz\"", "the name of a node; this is" },
        { "[tracelet a]\npath=a > b%ff\n", "2:10", "\"b%ff\"", "the name of a node; this is" },
        { "[tracelet a]\npath=a > b !\n", "2:13", "the end of the line", "the name of a mark" },
        { "[tracelet a]\npath=a >>\n", "2:10", "the end of the line", "the name of a node" },
        { "[tracelet a]\npath=a > b\n[node b]\n", "3:2", "\"node b\"", "a servers= or a stall=" },
        { "[tracelet a]\npath=a > b\n[node b]\nholds=work\nstall=1s every 1s", "3:2", "\"node b\"",
          "a servers= in" },
        { "[node c]\nservers=1\n[tracelet a]\npath=a > b\n", "1:2", "\"node c\"",
          "the name of a node in a path" },
        { "[tracelet a]\npath=a > b\n[node b]\nservers=1\n[node %62]\nservers=1", "5:2",
          "\"node %62\"", "another node" },
        { "[tracelet a]\npath=a > b\n[node b]\nservers=0\n", "4:9", "\"0\"", "an integer from 1" },
        { "[tracelet a]\npath=a > b\n[node b]\nservice=2\n", "4:1", "\"service\"",
          "one of the keys servers, order, holds and stall" },
        { "[tracelet a]\npath=a > b\n[node b]\norder=fi\n", "4:7", "\"fi\"",
          "fifo, lifo or random" },
        { "[tracelet a]\npath=a > b\n[node b]\nholds=cal\n", "4:7", "\"cal\"", "call or work" },
        { "[tracelet a]\npath=a > b\n[node b]\nstall=1s\n", "4:9", "the end of the line",
          "\"every\"" },
        { "[tracelet a]\npath=a > b\n[node b]\nstall=1s every 0s\n", "4:16", "\"0s\"",
          "a time above 0" },
        { "[tracelet a]\npath=a > b\n[node b]\nstall=uniform(0s,0s) every 1s\n", "4:7",
          "\"uniform(0s,0s)\"", "a time above 0" },
        { "[tracelet a]\npa\xff=a\n", "", "2:3: found byte 0xff", "UTF-8" },
};

static void test_wrong(void)
{
        for (guint i = 0; i < G_N_ELEMENTS(wrong); i++) {
                g_autoptr(NodeTable) nodes = node_table_new();
                g_autoptr(GError) error = NULL;
                g_autofree char *where = g_strdup_printf("test:%s", wrong[i].where);
                g_autofree char *found = g_strdup_printf("found %s", wrong[i].found);
                const char *comma;

                g_assert_null(scenario_parse((const guint8 *)wrong[i].text, strlen(wrong[i].text),
                                             "test", nodes, &error));
                g_assert_error(error, RAVEL_ERROR, RAVEL_ERROR_INPUT);
                g_test_message("-> %s", error->message);
                g_assert_true(g_str_has_prefix(error->message, where));
                g_assert_nonnull(strstr(error->message, *wrong[i].where ? found : wrong[i].found));
                comma = strstr(error->message, ", expected ");
                g_assert_nonnull(comma);
                g_assert_nonnull(strstr(comma, wrong[i].expected));
        }
}

/* As deep as it may be, and one deeper. */
static void test_depth(void)
{
        for (guint depth = TRACELET_DEPTH; depth <= TRACELET_DEPTH + 1; depth++) {
                g_autoptr(GString) text = g_string_new("[tracelet a]\ncount=1\npath=c > ");
                g_autoptr(NodeTable) nodes = node_table_new();
                g_autoptr(Scenario) s = NULL;
                g_autoptr(GError) error = NULL;

                for (guint i = 1; i < depth; i++)
                        g_string_append(text, "A( ");
                g_string_append(text, "A");
                for (guint i = 1; i < depth; i++)
                        g_string_append(text, " )");
                s = scenario_parse((const guint8 *)text->str, text->len, "test", nodes, &error);
                if (depth > TRACELET_DEPTH) {
                        g_assert_error(error, RAVEL_ERROR, RAVEL_ERROR_INPUT);
                        g_assert_nonnull(strstr(error->message, "64 calls within each other"));
                } else {
                        g_autoptr(GArray) lines = make_lines(s);

                        g_assert_cmpuint(lines->len, ==, 2 * depth);
                }
        }
}

static void test_never_ends(void)
{
        const char config[] = "[tracelet a]\ncount=1\npath=c > A\n[tracelet b]\npath=c > B\n";
        g_autoptr(NodeTable) nodes = node_table_new();
        g_autoptr(GError) error = NULL;
        g_autoptr(Scenario) s =
                scenario_parse((const guint8 *)config, strlen(config), "test", nodes, &error);

        g_assert_no_error(error);
        g_assert_false(scenario_ends(s, &error));
        g_assert_error(error, RAVEL_ERROR, RAVEL_ERROR_USAGE);
        g_assert_nonnull(strstr(error->message, "[tracelet b]"));
}

/* Our reader of key files finds in each example what GLib's finds. */
static void test_key_files(void)
{
        const char *top = g_getenv("srcdir") ? g_getenv("srcdir") : "..";
        g_autofree char *examples = g_build_filename(top, "examples", NULL);
        g_autoptr(GDir) dir = g_dir_open(examples, 0, NULL);
        const char *name;
        guint n = 0;

        g_assert_nonnull(dir);
        while ((name = g_dir_read_name(dir))) {
                g_autofree char *path = g_build_filename(examples, name, NULL);
                g_autoptr(GKeyFile) theirs = g_key_file_new();
                g_autoptr(KeyFile) ours = NULL;
                g_autoptr(GError) error = NULL;
                g_autofree char *data = NULL;
                gsize length, n_groups, n_keys;
                g_auto(GStrv) groups = NULL;

                if (!g_str_has_suffix(name, ".conf"))
                        continue;
                g_assert_true(g_file_get_contents(path, &data, &length, &error));
                g_assert_true(g_key_file_load_from_data(theirs, data, length, 0, &error));
                ours = key_file_parse((const guint8 *)data, length, name, &error);
                g_assert_no_error(error);
                groups = g_key_file_get_groups(theirs, &n_groups);
                g_assert_cmpuint(ours->groups->len, ==, n_groups);
                for (guint i = 0; i < n_groups; i++) {
                        KeyFileGroup *group = &g_array_index(ours->groups, KeyFileGroup, i);
                        g_auto(GStrv) keys = g_key_file_get_keys(theirs, groups[i], &n_keys, NULL);

                        g_assert_cmpstr(group->name, ==, groups[i]);
                        g_assert_cmpuint(group->end - group->first, ==, n_keys);
                        for (guint k = 0; k < n_keys; k++) {
                                KeyFileKey *key =
                                        &g_array_index(ours->keys, KeyFileKey, group->first + k);
                                g_autofree char *value =
                                        g_key_file_get_value(theirs, groups[i], keys[k], NULL);

                                g_assert_cmpstr(key->name, ==, keys[k]);
                                g_assert_cmpmem(key->value.data, key->value.n, value,
                                                strlen(value));
                        }
                }
                n++;
        }
        g_assert_cmpuint(n, >, 5);
}

int main(int argc, char **argv)
{
        static const char *const laws[] = { "5ms",
                                            "5ms~1ms",
                                            "1us~5ms",
                                            "exp(5ms)",
                                            "lognormal(5ms,0.5)",
                                            "lognormal(5ms,2)",
                                            "uniform(1ms,9ms)" };

        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/random/generator", test_generator);
        g_test_add_func("/random/streams", test_streams);
        g_test_add_func("/random/functions", test_functions);
        g_test_add_func("/random/ziggurat", test_ziggurat);
        g_test_add_func("/random/far-tail", test_far_tail);
        g_test_add_func("/random/poisson", test_poisson);
        for (guint i = 0; i < G_N_ELEMENTS(laws); i++) {
                g_autofree char *name = g_strdup_printf("/delay-law/%s", laws[i]);

                g_test_add_data_func(name, laws[i], test_law);
        }
        g_test_add_func("/delay-law/clamp", test_clamp);
        for (guint i = 0; i < G_N_ELEMENTS(drawn); i++) {
                g_autofree char *name = g_strdup_printf("/maketrace/drawn/%s", drawn[i].name);

                g_test_add_data_func(name, GUINT_TO_POINTER(i), test_drawn);
        }
        g_test_add_func("/maketrace/both", test_both);
        g_test_add_func("/maketrace/truth", test_truth);
        g_test_add_func("/maketrace/stamps", test_stamps);
        g_test_add_func("/maketrace/network", test_network);
        g_test_add_func("/maketrace/think", test_think);
        g_test_add_func("/maketrace/seed", test_seed);
        g_test_add_func("/maketrace/bytes", test_bytes);
        g_test_add_func("/maketrace/another-tracelet", test_another_tracelet);
        g_test_add_func("/maketrace/shares", test_shares);
        g_test_add_func("/maketrace/limits", test_limits);
        g_test_add_func("/maketrace/parallel", test_parallel);
        g_test_add_func("/maketrace/memory", test_memory);
        for (guint i = 0; i < G_N_ELEMENTS(served); i++) {
                g_autofree char *name = g_strdup_printf("/maketrace/served/%s", served[i].name);

                g_test_add_data_func(name, GUINT_TO_POINTER(i), test_served);
        }
        g_test_add_data_func("/maketrace/mmk/fifo", "fifo", test_mmk);
        g_test_add_data_func("/maketrace/mmk/lifo", "lifo", test_mmk);
        g_test_add_data_func("/maketrace/mmk/random", "random", test_mmk);
        g_test_add_func("/maketrace/busy", test_busy);
        g_test_add_func("/maketrace/enough", test_enough);
        g_test_add_func("/maketrace/locked", test_locked);
        g_test_add_func("/maketrace/end-of-time", test_end_of_time);
        g_test_add_func("/sniffer/queue", test_sniffer);
        g_test_add_func("/scenario/wrong", test_wrong);
        g_test_add_func("/scenario/depth", test_depth);
        g_test_add_func("/scenario/never-ends", test_never_ends);
        g_test_add_func("/key-file/as-glib", test_key_files);
        return g_test_run();
}
