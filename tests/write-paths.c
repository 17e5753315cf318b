/* SPDX-License-Identifier: BSD-2-Clause
 *
 * write-paths FORMAT [SET [COLUMNS [colour]]]: a fixed path set in one of the
 * output formats on standard output, for the golden tests of the writers.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "paths/path-clocks.h"
#include "write/path-write.h"

static const gint64 EPOCH = G_GINT64_CONSTANT(1047680084482205000);

typedef struct {
        guint32 parent;
        const char *node;
        gint64 start, end; /* us after the request's beginning */
} Step;

/* A linear congruential generator's next delay, up to limit ns. */
static gint64 jitter(guint64 *state, gint64 limit)
{
        *state = *state * G_GUINT64_CONSTANT(6364136223846793005) + 1;
        return (gint64)(*state >> 33) % limit;
}

/* Adds count requests that take the same steps; every step is stretched by the
 * same random share of up to a half. on_wire is how long a message is on its
 * way where it was stamped at both ends. */
static void add_requests(PathSet *set, NodeTable *nodes, const char *client, const Step *steps,
                         guint32 n, guint count, gint64 on_wire, float probability)
{
        static guint64 state = 1;
        g_autofree PathCall *calls = g_new0(PathCall, n);

        for (guint k = 0; k < count; k++) {
                gint64 stretch = 1000 + jitter(&state, 500);
                gint64 begin = EPOCH + jitter(&state, 60000000000);
                for (guint32 i = 0; i < n; i++) {
                        const Step *s = &steps[i];
                        PathCall *c = &calls[i];
                        c->parent = s->parent;
                        c->caller = i == 0 ? node_table_add(nodes, client, strlen(client))
                                           : calls[s->parent].callee;
                        c->callee = node_table_add(nodes, s->node, strlen(s->node));
                        c->start = begin + s->start * stretch;
                        c->end = begin + s->end * stretch;
                        c->enter = c->start + on_wire;
                        c->reply = c->end - on_wire;
                        c->stamps = on_wire ? 15 : 1 << CALL_SENT | 1 << RET_SENT;
                        c->probability = i == 0 ? 1 : probability;
                        c->family = i + 1 == n ? 1 : probability;
                        c->candidates = i == 0 ? 0 : 1;
                }
                path_set_add(set, calls, n, NULL);
        }
}

static void add_shop(PathSet *set, NodeTable *nodes)
{
        static const Step buy[] = {
                { NO_PARENT, "lb", 0, 9600 },  { 0, "web1", 200, 9500 },
                { 1, "auth", 400, 1900 },      { 2, "redis", 600, 1200 },
                { 1, "catalog", 2100, 9000 },  { 4, "postgres", 2300, 2800 },
                { 4, "postgres", 2900, 3300 },
        };
        static const Step look[] = {
                { NO_PARENT, "lb", 0, 3000 }, { 0, "web2", 150, 2900 },
                { 1, "catalog", 300, 2600 },  { 2, "postgres", 500, 2100 },
                { 1, "suggest", 350, 1500 },
        };
        static const Step ping[] = { { NO_PARENT, "lb", 0, 40 } };

        add_requests(set, nodes, "client", buy, G_N_ELEMENTS(buy), 1200, 0, 1);
        add_requests(set, nodes, "client", look, G_N_ELEMENTS(look), 800, 60000, 0.96f);
        add_requests(set, nodes, "client", ping, G_N_ELEMENTS(ping), 35, 0, 1);
        *path_set_summary(set) = (PathSetSummary){
                .method = "paper",
                .messages = 24875,
                .calls = 12435,
                .unmatched_calls = 3,
                .unmatched_returns = 2,
                .cut_instances = 1,
                .first = EPOCH,
                .last = EPOCH + 60000000000,
        };
}

/* Names that strangers might choose. */
static void add_hostile(PathSet *set, NodeTable *nodes)
{
        static const Step steps[] = {
                { NO_PARENT, "</text><script>alert(1)</script>", 0, 5000 },
                { 0, "<b>bold</b> & \"quoted\" 'too'", 100, 900 },
                { 0, "\\N \\G \\l back\\slash {a|b}", 1000, 1900 },
                { 0, "a(b,c)>d%41", 2000, 2900 },
                { 0, "\033[31mred\r\n\t\177", 3000, 3900 },
                { 0, "\303\251t\303\251 \346\227\245\346\234\254 \342\200\250 ]]> -->", 4000,
                  4900 },
        };

        static const Step end[] = { { NO_PARENT, "at the end \\", 0, 10 } };

        add_requests(set, nodes, "-", end, G_N_ELEMENTS(end), 1, 0, 1);
        add_requests(set, nodes, "-", steps, G_N_ELEMENTS(steps), 3, 0, 1);
}

/* Clocks of nodes of these names: bounded, from one side, and doubtful. The caller's to free. */
static GArray *hostile_clocks(NodeTable *nodes)
{
        GArray *clocks = g_array_new(FALSE, FALSE, sizeof(ClockOffset));
        const ClockOffset list[] = {
                { node_table_add(nodes, "</text><script>alert(1)</script>", 32), FALSE, -2710000,
                  -7100000, -2400000 },
                { node_table_add(nodes, "a(b,c)>d%41", 11), FALSE, 55200000, 52600000, G_MAXINT64 },
                { node_table_add(nodes, "\033[31mred\r\n\t\177", 12), TRUE, 230000000, G_MININT64,
                  G_MAXINT64 },
        };

        return g_array_append_vals(clocks, list, G_N_ELEMENTS(list));
}

/* Deep, wide and long. */
static void add_large(PathSet *set, NodeTable *nodes)
{
        Step deep[60], wide[60];
        static const char long_name[] =
                "a-name-as-long-as-a-host-name-can-be.in-a-domain.of-some-company.example";

        for (guint32 i = 0; i < 60; i++) {
                deep[i] = (Step){ i - 1, i % 2 ? "even" : "odd", 10 * i, 2000 - 10 * i };
                wide[i] = (Step){ i == 0 ? NO_PARENT : 0, i < 50 ? "leaf" : long_name, 30 * i,
                                  i == 0 ? 3000 : 30 * i + 20 };
        }
        deep[0].parent = NO_PARENT;
        add_requests(set, nodes, "client", deep, 60, 2, 0, 0.999f);
        add_requests(set, nodes, "client", wide, 60, 1, 0, 0.5f);
}

/* One way of a linear path: count messages by these stays, in ms. */
static void add_linear(PathSet *set, PathGraph *graph, NodeTable *nodes, const char *const *names,
                       const gint64 *stays, guint32 n, guint64 count)
{
        PathHop hops[16] = { { 0 } };
        NodeId client = node_table_add(nodes, names[0], strlen(names[0]));
        guint32 vertex = path_graph_add(graph, NO_VERTEX, client, count, 1);
        gint64 latency = 0;

        for (guint32 i = 0; i < n; i++) {
                hops[i].node = node_table_add(nodes, names[i + 1], strlen(names[i + 1]));
                vertex = path_graph_add(graph, vertex, hops[i].node, count, i ? 0.97 : 1);
                if (i > 0)
                        path_graph_add_delay(graph, vertex, stays[i - 1] * 1000000, count);
        }
        path_graph_end(graph, vertex, PATH_END_SILENT);
        for (guint32 i = n; i-- > 0;) {
                latency += i + 1 < n ? stays[i] * 1000000 : 0;
                histogram_add(&hops[i].latency, latency);
                histogram_add(&hops[i].network, 0);
                if (i + 1 < n)
                        histogram_add(&hops[i].stay, stays[i] * 1000000);
        }
        path_set_add_linear(set, client, hops, n, count, n > 1 ? 0.97 : 1);
}

/* What convolution finds: two roots, a path that two delays make, and a node on it twice. */
static PathSet *linear_set(NodeTable *nodes)
{
        static const char *const shop[] = { "client", "web", "auth", "web", "db" };
        static const char *const mail[] = { "a \\ & {b}", "relay,1", "<inbox>" };
        PathGraph *graph = path_graph_new();
        PathSet *set = path_set_new_linear(nodes, graph);

        add_linear(set, graph, nodes, shop, (const gint64[]){ 5, 10, 220 }, 4, 1200);
        add_linear(set, graph, nodes, shop, (const gint64[]){ 5, 10, 20 }, 4, 800);
        add_linear(set, graph, nodes, shop, (const gint64[]){ 5, 10 }, 3, 40);
        add_linear(set, graph, nodes, mail, (const gint64[]){ -3 }, 2, 1);
        *path_set_summary(set) = (PathSetSummary){
                .method = "paper", .messages = 12345, .first = EPOCH, .last = EPOCH + 60000000000
        };
        return set;
}

int main(int argc, char **argv)
{
        g_autoptr(NodeTable) nodes = node_table_new();
        g_autoptr(PathSet) set = path_set_new(nodes, SIBLINGS_MULTISET);
        g_autoptr(GArray) clocks = NULL;
        g_autoptr(GError) error = NULL;
        const char *which = argc > 2 ? argv[2] : "shop";

        if (!strcmp(which, "shop"))
                add_shop(set, nodes);
        else if (!strcmp(which, "hostile")) {
                add_hostile(set, nodes);
                path_set_summary(set)->clocks = clocks = hostile_clocks(nodes);
        } else if (!strcmp(which, "large"))
                add_large(set, nodes);
        else if (!strcmp(which, "linear")) {
                path_set_free(set);
                set = linear_set(nodes);
        }

        g_autofree guint32 *rank = path_set_rank(set, RANK_TOTAL);
        PathWriteOptions options = {
                .rank = rank,
                .n_patterns = path_set_size(set),
                .columns = argc > 3 ? (guint)atoi(argv[3]) : 0,
                .colour = argc > 4,
        };
        PathWriter writer = argc > 1 ? path_writer_lookup(argv[1]) : NULL;
        OutputFile *out = output_file_new("-", FALSE, &error);
        if (!writer || !out || !writer(set, &options, out, &error) ||
            !output_file_close(out, &error)) {
                fprintf(stderr, "write-paths: %s\n", error ? error->message : "which format?");
                return 1;
        }
        return 0;
}
