/* SPDX-License-Identifier: BSD-2-Clause */
#include "clocks/clocks.h"
#include "base/compare.h"
#include "base/each.h"
#include "base/hash.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "clocks/both-ends.h"
#include "clocks/clock-pair.h"

typedef struct {
        guint64 nodes; /* i << 32 | j, i < j: the key of its table */
        ClockPair *pair;
} NodePair;

struct Clocks {
        BothEnds *ends;
        GHashTable *pairs; /* of NodePair, to itself */
        GPtrArray *order;  /* of NodePair, in order of first sight */
        GArray *first;     /* of gint64, by NodeId: the earliest stamp of its clock */
        guint64 matched;
};

static void node_pair_free(gpointer data)
{
        NodePair *np = data;

        clock_pair_free(np->pair);
        g_free(np);
}

Clocks *clocks_new(void)
{
        Clocks *c = g_new0(Clocks, 1);

        c->ends = both_ends_new();
        c->pairs = g_hash_table_new(hash_int64, g_int64_equal);
        c->order = g_ptr_array_new_with_free_func(node_pair_free);
        c->first = g_array_new(FALSE, FALSE, sizeof(gint64));
        return c;
}

void clocks_free(Clocks *c)
{
        if (!c)
                return;
        both_ends_free(c->ends);
        g_hash_table_destroy(c->pairs);
        g_ptr_array_free(c->order, TRUE);
        g_array_free(c->first, TRUE);
        g_free(c);
}

static ClockPair *find_pair(Clocks *c, NodeId i, NodeId j)
{
        guint64 nodes = (guint64)i << 32 | j;
        NodePair *np = g_hash_table_lookup(c->pairs, &nodes);

        if (!np) {
                np = g_new(NodePair, 1);
                *np = (NodePair){ nodes, clock_pair_new() };
                g_hash_table_add(c->pairs, np);
                g_ptr_array_add(c->order, np);
        }
        return np->pair;
}

static void note_first(Clocks *c, NodeId node, gint64 time)
{
        static const gint64 never = G_MAXINT64;

        while (node >= c->first->len)
                g_array_append_val(c->first, never);
        if (time < g_array_index(c->first, gint64, node))
                g_array_index(c->first, gint64, node) = time;
}

void clocks_add(Clocks *c, const Message *m)
{
        gboolean forward = m->sender < m->receiver;
        gboolean is_receivers = message_observer(m) == m->receiver;
        NodeId i = MIN(m->sender, m->receiver), j = MAX(m->sender, m->receiver);
        gint64 other;

        note_first(c, message_observer(m), m->time);
        if (i == j || !both_ends_add(c->ends, m, &other))
                return;
        c->matched++;
        clock_pair_add(find_pair(c, i, j), forward, is_receivers ? other : m->time,
                       is_receivers ? m->time : other);
}

/* --- the graph -------------------------------------------------------------- */

typedef struct {
        NodeId i, j;
        const ClockPair *pair;
        ClockLine line;
        double target, weight; /* of least_squares(): what j - i should be */
        double room;           /* of add_bounds(): how far j - i may be off */
} Edge;

typedef struct {
        NodeId node; /* the other end */
        guint32 edge;
} Link;

/* The nodes by number, and the state of an estimation. */
typedef struct {
        guint n;
        const GArray *first; /* of gint64: see Clocks */
        gint64 since;        /* the time, by the root's clock, that offsets are for */
        GArray *edges;       /* of Edge */
        guint32 *first_link; /* links[first_link[k]] to links[first_link[k + 1] - 1] are k's */
        Link *links;
        guint8 *in_pair; /* does a message seen at both ends go to or from it? */
        NodeId *walk;    /* the nodes that are tied to the root, as they were reached */
        guint n_walk;
        double *drift;  /* by node, against the root; a ratio less 1 */
        gint64 *offset; /* the same, in ns at since */
} Graph;

static Edge *edge_at(const Graph *g, guint32 i)
{
        return &g_array_index(g->edges, Edge, i);
}

static void graph_free(Graph *g)
{
        g_array_free(g->edges, TRUE);
        g_free(g->first_link);
        g_free(g->links);
        g_free(g->in_pair);
        g_free(g->walk);
        g_free(g->drift);
        g_free(g->offset);
        g_free(g);
}
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Graph, graph_free)

static Graph *graph_new(const Clocks *c, guint n)
{
        Graph *g = g_new0(Graph, 1);
        g_autofree guint32 *fill = g_new0(guint32, n + 1);

        g->n = n;
        g->first = c->first;
        g->edges = g_array_new(FALSE, FALSE, sizeof(Edge));
        g->first_link = g_new0(guint32, n + 1);
        g->in_pair = g_new0(guint8, n);
        g->walk = g_new(NodeId, n);
        g->drift = g_new0(double, n);
        g->offset = g_new0(gint64, n);
        EACH_OF (const NodePair, np, c->order) {
                Edge edge = { .i = np->nodes >> 32, .j = (NodeId)np->nodes, .pair = np->pair };

                g->in_pair[edge.i] = g->in_pair[edge.j] = TRUE;
                if (!clock_pair_fit(np->pair, &edge.line))
                        continue;
                g_array_append_val(g->edges, edge);
                g->first_link[edge.i + 1]++;
                g->first_link[edge.j + 1]++;
        }
        for (guint k = 0; k < n; k++)
                g->first_link[k + 1] += g->first_link[k];
        memcpy(fill, g->first_link, (n + 1) * sizeof *fill);
        g->links = g_new(Link, g->first_link[n]);
        for (guint k = 0; k < g->edges->len; k++) {
                const Edge *e = edge_at(g, k);

                g->links[fill[e->i]++] = (Link){ e->j, k };
                g->links[fill[e->j]++] = (Link){ e->i, k };
        }
        return g;
}

/* How much faster the clock of j runs than that of i. */
static double relative_drift(const Graph *g, const Edge *e)
{
        return (g->drift[e->j] - g->drift[e->i]) / (1 + g->drift[e->i]);
}

/* From the clock of from, its drift and offset known, to that of the other end, by the
 * edge's own line. */
static void cross(Graph *g, const Edge *e, NodeId from)
{
        const ClockLine *line = &e->line;
        /* What the clock of from shows at since, after line->at. */
        gint64 t = g->since + g->offset[from] - line->at;

        if (from == e->i) {
                g->drift[e->j] = (1 + g->drift[from]) * (1 + line->slope) - 1;
                g->offset[e->j] =
                        g->offset[from] + line->apart + (gint64)rint(line->rest + line->slope * t);
        } else {
                /* And what that of i shows then: t = u + apart + rest + slope * u. */
                double u = ((double)(t - line->apart) - line->rest) / (1 + line->slope);

                g->drift[e->i] = (1 + g->drift[from]) / (1 + line->slope) - 1;
                g->offset[e->i] =
                        g->offset[from] - line->apart - (gint64)rint(line->rest + line->slope * u);
        }
}

/* Walks from root over all edges that lead on, and gives each node a first drift and
 * offset, by the edges that it comes along. */
static void walk_graph(Graph *g, NodeId root)
{
        g_autofree guint8 *reached = g_new0(guint8, g->n);

        g->n_walk = 0;
        g->walk[g->n_walk++] = root;
        reached[root] = TRUE;
        g->drift[root] = 0;
        g->offset[root] = 0;
        for (guint k = 0; k < g->n_walk; k++) {
                NodeId node = g->walk[k];

                for (guint32 l = g->first_link[node]; l < g->first_link[node + 1]; l++) {
                        const Link *link = &g->links[l];

                        if (reached[link->node])
                                continue;
                        reached[link->node] = TRUE;
                        cross(g, edge_at(g, link->edge), node);
                        g->walk[g->n_walk++] = link->node;
                }
        }
}

/* --- least squares ----------------------------------------------------------- */

/* For each node of the walk: the sum over its edges of weight * (its x - x of the other end). The
 * root's x is 0 and has no equation. */
static void multiply(const Graph *g, const double *x, double *product)
{
        product[g->walk[0]] = 0;
        for (guint k = 1; k < g->n_walk; k++) {
                NodeId node = g->walk[k];
                double sum = 0;

                for (guint32 l = g->first_link[node]; l < g->first_link[node + 1]; l++)
                        sum += edge_at(g, g->links[l].edge)->weight *
                               (x[node] - x[g->links[l].node]);
                product[node] = sum;
        }
}

static double dot(const Graph *g, const double *a, const double *b)
{
        double sum = 0;

        for (guint k = 0; k < g->n_walk; k++)
                sum += a[g->walk[k]] * b[g->walk[k]];
        return sum;
}

/* The terms of the equations, by node: the sum of its edges' weights, and the sum of weight *
 * target with the sign for this end. */
static void sum_edges(const Graph *g, double *weight, double *target)
{
        for (guint k = 1; k < g->n_walk; k++) {
                NodeId node = g->walk[k];

                for (guint32 l = g->first_link[node]; l < g->first_link[node + 1]; l++) {
                        const Edge *e = edge_at(g, g->links[l].edge);

                        weight[node] += e->weight;
                        target[node] += e->weight * (node == e->j ? e->target : -e->target);
                }
        }
}

/* Finds the x, by node, with x[root] = 0, that minimise the sum over the edges of
 * weight * (x[j] - x[i] - target)^2, by conjugate gradients. Each equation is divided by its
 * weight. This makes the steps few even for many nodes, if they have few edges. x is the caller's
 * to free. */
static double *least_squares(const Graph *g)
{
        double *x = g_new0(double, g->n);
        g_autofree double *weight = g_new0(double, g->n), *rest = g_new0(double, g->n),
                          *scaled = g_new0(double, g->n), *way = g_new0(double, g->n),
                          *product = g_new0(double, g->n);
        double square, first;

        sum_edges(g, weight, rest);
        for (guint k = 1; k < g->n_walk; k++)
                way[g->walk[k]] = rest[g->walk[k]] / weight[g->walk[k]];
        first = square = dot(g, rest, way);
        for (guint step = 0; step < 2 * g->n_walk && square > first * 1e-20; step++) {
                double length, next;

                multiply(g, way, product);
                length = square / dot(g, way, product);
                for (guint k = 1; k < g->n_walk; k++) {
                        NodeId node = g->walk[k];

                        x[node] += length * way[node];
                        rest[node] -= length * product[node];
                        scaled[node] = rest[node] / weight[node];
                }
                next = dot(g, rest, scaled);
                for (guint k = 1; k < g->n_walk; k++)
                        way[g->walk[k]] = scaled[g->walk[k]] + next / square * way[g->walk[k]];
                square = next;
        }
        return x;
}

/* How the clocks of e differ, less how they would by what is known so far, where the
 * reference's clock shows since; ns. The line is followed from its middle with the slope
 * that all edges together say. */
static double offset_missing(const Graph *g, const Edge *e)
{
        const ClockLine *line = &e->line;
        double t = g->since + g->offset[e->i] - line->at;

        return (double)(line->apart - (g->offset[e->j] - g->offset[e->i])) + line->rest +
               relative_drift(g, e) * t;
}

/* The earliest stamp of a node's clock; 0 where it has none. */
static gint64 first_stamp(const Graph *g, NodeId node)
{
        return node < g->first->len && g_array_index(g->first, gint64, node) != G_MAXINT64
                       ? g_array_index(g->first, gint64, node)
                       : 0;
}

/* When the root's clock shows what its first stamp, or that of any node tied to it,
 * would have been by it. */
static gint64 earliest_stamp(const Graph *g)
{
        gint64 earliest = first_stamp(g, g->walk[0]);

        for (guint k = 1; k < g->n_walk; k++) {
                NodeId node = g->walk[k];
                double t = (double)(first_stamp(g, node) - g->offset[node] - g->since) /
                           (1 + g->drift[node]);

                earliest = MIN(earliest, g->since + (gint64)rint(t));
        }
        return earliest;
}

/* Drifts and offsets of all nodes that are tied to root, against it, from the earliest
 * stamp on. A clock may be years off, so that what is earliest must be found by the
 * root's clock, first from near its own first stamp. */
static void equations_solve(Graph *g, NodeId root)
{
        g_autofree double *drifts = NULL, *offsets = NULL;

        g->since = first_stamp(g, root);
        walk_graph(g, root);
        g->since = earliest_stamp(g);
        walk_graph(g, root);
        for (guint k = 0; k < g->edges->len; k++) {
                Edge *e = edge_at(g, k);

                e->weight = e->line.slope_weight;
                e->target = e->line.slope - relative_drift(g, e);
        }
        drifts = least_squares(g);
        for (guint k = 0; k < g->n_walk; k++)
                g->drift[g->walk[k]] += drifts[g->walk[k]];
        for (guint k = 0; k < g->edges->len; k++) {
                Edge *e = edge_at(g, k);

                e->weight = e->line.weight;
                e->target = offset_missing(g, e);
        }
        offsets = least_squares(g);
        for (guint k = 0; k < g->n_walk; k++)
                g->offset[g->walk[k]] += (gint64)rint(offsets[g->walk[k]]);
}

/* --- bounds ------------------------------------------------------------------ */

/* The least sum of edges' room on a way from the root to each node. The caller's to
 * free. */
static double *sum_room(const Graph *g)
{
        double *sum = g_new(double, g->n);
        g_autofree guint8 *waits = g_new0(guint8, g->n);
        GQueue queue = G_QUEUE_INIT;

        for (guint k = 0; k < g->n; k++)
                sum[k] = INFINITY;
        sum[g->walk[0]] = 0;
        g_queue_push_tail(&queue, GUINT_TO_POINTER(g->walk[0]));
        while (!g_queue_is_empty(&queue)) {
                NodeId node = GPOINTER_TO_UINT(g_queue_pop_head(&queue));

                waits[node] = FALSE;
                for (guint32 l = g->first_link[node]; l < g->first_link[node + 1]; l++) {
                        const Link *link = &g->links[l];
                        double s = sum[node] + edge_at(g, link->edge)->room;

                        if (s >= sum[link->node])
                                continue;
                        sum[link->node] = s;
                        if (!waits[link->node])
                                g_queue_push_tail(&queue, GUINT_TO_POINTER(link->node));
                        waits[link->node] = TRUE;
                }
        }
        return sum;
}

static double *drift_bounds(Graph *g)
{
        for (guint k = 0; k < g->edges->len; k++) {
                Edge *e = edge_at(g, k);
                double slope = relative_drift(g, e);

                e->room = MAX(0, MAX(e->line.most - slope, slope - e->line.least));
        }
        return sum_room(g);
}

static double *offset_bounds(Graph *g)
{
        for (guint k = 0; k < g->edges->len; k++) {
                Edge *e = edge_at(g, k);
                double least, most, now;

                clock_pair_bounds(e->pair, &e->line, g->since + g->offset[e->i], &least, &most);
                now = g->offset[e->j] - g->offset[e->i] - e->line.apart;
                e->room = MAX(0, MAX(most - now, now - least));
        }
        return sum_room(g);
}

/* --- the answer -------------------------------------------------------------- */

/* A node of the largest set of nodes that are tied to each other; NO_NODE where no two
 * are. */
static NodeId largest_set(Graph *g)
{
        g_autofree guint8 *done = g_new0(guint8, g->n);
        NodeId best = NO_NODE;
        guint most = 1;

        for (NodeId node = 0; node < g->n; node++) {
                if (done[node] || g->first_link[node] == g->first_link[node + 1])
                        continue;
                walk_graph(g, node);
                for (guint k = 0; k < g->n_walk; k++)
                        done[g->walk[k]] = TRUE;
                if (g->n_walk > most) {
                        most = g->n_walk;
                        best = node;
                }
        }
        return best;
}

typedef struct {
        NodeId node;
        gint64 offset;
        const char *name;
} Candidate;

COMPARISON(by_offset, Candidate, COMPARE(a->offset, b->offset) ?: strcmp(a->name, b->name))

/* Of the nodes of the walk. */
static NodeId median_node(const Graph *g, const NodeTable *nodes)
{
        g_autofree Candidate *all = g_new(Candidate, g->n_walk);

        for (guint k = 0; k < g->n_walk; k++)
                all[k] = (Candidate){ g->walk[k], g->offset[g->walk[k]],
                                      node_table_name(nodes, g->walk[k]) };
        qsort(all, g->n_walk, sizeof *all, by_offset);
        return all[(g->n_walk - 1) / 2].node;
}

static gint64 to_integer(double x)
{
        return rint(CLAMP(x, -9e18, 9e18));
}

static void find_uneven(const Graph *g, ClockEstimates *answer)
{
        double most = 0;

        for (guint k = 0; k < g->edges->len; k++) {
                const Edge *e = edge_at(g, k);

                answer->n_uneven += e->line.uneven > 0;
                if (e->line.uneven > most) {
                        most = e->line.uneven;
                        answer->worst = (UnevenPair){ e->i, e->j, to_integer(ceil(most)) };
                }
        }
}

ClockEstimates *clocks_estimate(const Clocks *c, const NodeTable *nodes, NodeId reference)
{
        g_autoptr(Graph) g = graph_new(c, node_table_size(nodes));
        g_autofree double *drift_bound = NULL, *offset_bound = NULL;
        ClockEstimates *answer = g_new0(ClockEstimates, 1);

        answer->n_nodes = g->n;
        answer->estimates = g_new0(ClockEstimate, g->n);
        answer->matched = c->matched;
        answer->given_up = both_ends_given_up(c->ends);
        answer->worst.a = answer->worst.b = NO_NODE;
        for (NodeId node = 0; node < g->n; node++)
                answer->estimates[node].tie = !g->in_pair[node] ? CLOCK_UNSEEN
                                              : g->first_link[node] == g->first_link[node + 1]
                                                      ? CLOCK_ONE_WAY
                                                      : CLOCK_APART;
        answer->reference = reference;
        if (reference == NO_NODE) {
                NodeId root = largest_set(g);

                if (root == NO_NODE)
                        return answer;
                equations_solve(g, root);
                answer->reference = median_node(g, nodes);
        }
        equations_solve(g, answer->reference);
        answer->since = g->since;
        find_uneven(g, answer);
        drift_bound = drift_bounds(g);
        offset_bound = offset_bounds(g);
        for (guint k = 0; k < g->n_walk; k++) {
                NodeId node = g->walk[k];

                answer->estimates[node] = (ClockEstimate){
                        .tie = CLOCK_TIED,
                        .offset = g->offset[node],
                        .drift = to_integer(g->drift[node] * 1e15),
                        .offset_bound = to_integer(ceil(offset_bound[node])),
                        .drift_bound = to_integer(ceil(drift_bound[node] * 1e15)),
                };
        }
        return answer;
}

void clock_estimates_free(ClockEstimates *answer)
{
        if (!answer)
                return;
        g_free(answer->estimates);
        g_free(answer);
}
