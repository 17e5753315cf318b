/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The calls into each node and out of it, side by side, for what is found a node at a
 * time.
 */
#include <stdlib.h>

#include "nesting/nesting.h"
#include "tracefmt/big-memory.h"

/* The indices of all calls, those into a node together and in order; and those
 * out of it. first_in[node] to first_in[node + 1] are the node's. */
typedef struct {
        guint32 *in, *out;
        guint32 *first_in, *first_out;
} CallsByNode;

static void index_calls(Nesting *n, CallsByNode *by, guint n_nodes)
{
        const CallPairs *c = &n->calls;
        gboolean starts, enters;
        guint32 call;
        guint n_edges;
        const Edge *edges = call_matcher_edges(n->matcher, &n_edges);

        by->in = big_renew(NULL, 0, c->n * sizeof *by->in);
        by->out = big_renew(NULL, 0, c->n * sizeof *by->out);
        /* One longer: while they are filled, [node + 1] is where the next one goes. */
        by->first_in = g_new0(guint32, n_nodes + 2);
        by->first_out = g_new0(guint32, n_nodes + 2);
        for (guint i = 0; i < n_edges; i++) {
                by->first_in[edges[i].callee + 2] += edges[i].pairs;
                by->first_out[edges[i].caller + 2] += edges[i].pairs;
        }
        for (guint i = 0; i < n_nodes; i++) {
                by->first_in[i + 2] += by->first_in[i + 1];
                by->first_out[i + 2] += by->first_out[i + 1];
        }
        while (call_order_next(&n->order, &call, &starts, &enters)) {
                const EdgeRole *role = nesting_edge(n, call);

                if (starts)
                        by->out[by->first_out[role->caller + 1]++] = call;
                if (enters)
                        by->in[by->first_in[role->callee + 1]++] = call;
        }
        call_order_restart(&n->order);
}

/* Numbers things of one node from 0 by first sight, without forgetting those of
 * other nodes one by one. */
typedef struct {
        guint32 *number, *seen; /* by NodeId; seen: the mark of the node it is for */
        guint32 mark, n;
} Numbering;

static inline guint32 number_of(Numbering *g, NodeId node)
{
        if (g->seen[node] != g->mark) {
                g->seen[node] = g->mark;
                g->number[node] = g->n++;
        }
        return g->number[node];
}

static int compare_in(const void *a, const void *b)
{
        const CallIn *x = a, *y = b;

        if (x->enter != y->enter)
                return x->enter < y->enter ? -1 : 1;
        return (x->call > y->call) - (x->call < y->call);
}

static int compare_out(const void *a, const void *b)
{
        const CallOut *x = a, *y = b;

        if (x->start != y->start)
                return x->start < y->start ? -1 : 1;
        return (x->call > y->call) - (x->call < y->call);
}

/* Takes the offsets (by NodeId) of the clocks off that the stamps are of. */
static void shift_node(const Nesting *n, const gint64 *offset, NodeId id, NodeCalls *node)
{
        for (guint32 i = 0; i < node->n_in; i++) {
                CallIn *in = &node->in[i];
                guint8 stamps = n->calls.stamps[in->call];
                NodeId caller = nesting_edge(n, in->call)->caller;

                in->enter -= offset[stamps & 1 << CALL_RECV ? id : caller];
                in->reply -= offset[stamps & 1 << RET_SENT ? id : caller];
        }
        for (guint32 i = 0; i < node->n_out; i++) {
                CallOut *out = &node->out[i];
                guint8 stamps = n->calls.stamps[out->call];
                NodeId callee = nesting_edge(n, out->call)->callee;

                out->start -= offset[stamps & 1 << CALL_SENT ? id : callee];
                out->end -= offset[stamps & 1 << RET_RECV ? id : callee];
        }
        qsort(node->in, node->n_in, sizeof *node->in, compare_in);
        qsort(node->out, node->n_out, sizeof *node->out, compare_out);
}

/* By NodeId; NULL where no clock has one. */
static gint64 *find_offsets(Nesting *n)
{
        guint n_nodes = node_table_size(n->nodes), n_edges;
        const Edge *edges = call_matcher_edges(n->matcher, &n_edges);
        gint64 *offset;

        if (n->options.max_offset == 0)
                return NULL;
        nesting_find_cuts(n);
        n->offsets = clock_offsets_find(&n->calls, edges, n_edges, n->cuts, n_nodes,
                                        n->options.max_offset);
        if (n->offsets->len == 0)
                return NULL;
        offset = g_new0(gint64, n_nodes);
        for (guint i = 0; i < n->offsets->len; i++) {
                const ClockOffset *c = &g_array_index(n->offsets, ClockOffset, i);

                offset[c->node] = c->offset;
        }
        return offset;
}

/* Copies the calls of one node side by side. */
static void gather_node(const Nesting *n, const CallsByNode *by, NodeId id, NodeCalls *node,
                        Numbering *callers, Numbering *callees)
{
        const guint32 *in = by->in + by->first_in[id], *out = by->out + by->first_out[id];

        callers->mark = callees->mark = id + 1;
        callers->n = callees->n = 0;
        for (guint32 i = 0; i < node->n_in; i++) {
                Span span = n->calls.at_callee[in[i]];
                NodeId caller = n->fold[nesting_edge(n, in[i])->caller];

                node->in[i] = (CallIn){ span.from, span.to, in[i], number_of(callers, caller) };
        }
        for (guint32 i = 0; i < node->n_out; i++) {
                Span span = n->calls.at_caller[out[i]];
                NodeId callee = nesting_edge(n, out[i])->callee;

                node->out[i] = (CallOut){ span.from, span.to, out[i], number_of(callees, callee) };
        }
        node->n_callers = callers->n;
        node->n_callees = callees->n;
}

static void make_room(const CallsByNode *by, guint n_nodes, NodeCalls *node, gsize *size_in,
                      gsize *size_out)
{
        guint32 most_in = 0, most_out = 0;

        for (NodeId id = 0; id < n_nodes; id++) {
                most_in = MAX(most_in, by->first_in[id + 1] - by->first_in[id]);
                most_out = MAX(most_out, by->first_out[id + 1] - by->first_out[id]);
        }
        *size_in = most_in * sizeof *node->in;
        *size_out = most_out * sizeof *node->out;
        node->in = big_renew(NULL, 0, *size_in);
        node->out = big_renew(NULL, 0, *size_out);
}

void find_parents_at_nodes(Nesting *n)
{
        guint n_nodes = node_table_size(n->nodes);
        Numbering callers = { g_new(guint32, n_nodes), g_new0(guint32, n_nodes), 0, 0 };
        Numbering callees = { g_new(guint32, n_nodes), g_new0(guint32, n_nodes), 0, 0 };
        NodeCalls node = { 0 };
        Candidates candidates;
        CallsByNode by;
        gsize size_in, size_out;
        g_autofree gint64 *offset = find_offsets(n);

        candidates_init(&candidates, n->options.window);
        index_calls(n, &by, n_nodes);
        make_room(&by, n_nodes, &node, &size_in, &size_out);
        for (NodeId id = 0; id < n_nodes; id++) {
                node.n_in = by.first_in[id + 1] - by.first_in[id];
                node.n_out = by.first_out[id + 1] - by.first_out[id];
                if (!node.n_in || !node.n_out)
                        continue;
                gather_node(n, &by, id, &node, &callers, &callees);
                if (offset)
                        shift_node(n, offset, id, &node);
                candidates_restart(&candidates);
                find_parents_jointly(n, &node, &candidates);
        }
        candidates_clear(&candidates);
        big_free(node.in, size_in);
        big_free(node.out, size_out);
        big_free(by.in, n->calls.n * sizeof *by.in);
        big_free(by.out, n->calls.n * sizeof *by.out);
        g_free(by.first_in);
        g_free(by.first_out);
        g_free(callers.number);
        g_free(callers.seen);
        g_free(callees.number);
        g_free(callees.seen);
}
