/* SPDX-License-Identifier: BSD-2-Clause */
#include "convolution/convolution.h"

#include <stdlib.h>

#include "base/compare.h"
#include "convolution/delay-profile.h"

enum { LEAST_MESSAGES = 5 }; /* of an edge of the graph */

/* The least share of the roots' messages on an edge of the graph. */
static const double LEAST_SHARE = 0.005;

void convolution_choose(const EdgeTraces *traces, const GArray *roots, ConvolutionOptions *o)
{
        guint64 n = 0;

        if (o->quantum == 0 || o->max_delay == 0)
                delay_profile_choose(traces, roots, &o->quantum, &o->max_delay);
        if (o->tolerance < 0)
                o->tolerance = o->quantum;
        for (guint i = 0; i < roots->len; i++) {
                NodeId root = g_array_index(roots, NodeId, i);

                for (guint k = traces->first_out[root]; k < traces->first_out[root + 1]; k++)
                        n += traces->edges[k].n;
        }
        if (o->min_messages == 0)
                o->min_messages = MAX(LEAST_MESSAGES, (guint64)(LEAST_SHARE * (double)n));
}

typedef struct {
        gint64 sent;
        guint32 edge, index;
} Sent;

COMPARISON(compare_sent, Sent,
           COMPARE(a->sent, b->sent) ?:
           COMPARE(a->edge, b->edge) ?:
           COMPARE(a->index, b->index))

/* T_j of Figure 6: all that a node sends, in order. */
static void gather_sent(Convolution *c, NodeId node)
{
        const EdgeTraces *t = c->traces;
        NodeTrace *out = &c->out[node];
        guint first = t->first_out[node], end = t->first_out[node + 1];
        g_autofree Sent *sent = NULL;
        guint32 n = 0;

        for (guint k = first; k < end; k++)
                out->n += t->edges[k].n;
        if (out->n == 0 || c->is_root[node])
                return;
        sent = g_new(Sent, out->n);
        for (guint k = first; k < end; k++)
                for (guint32 i = 0; i < t->edges[k].n; i++)
                        sent[n++] = (Sent){ t->edges[k].sent[i], k - first, i };
        if (end - first > 1)
                qsort(sent, n, sizeof *sent, compare_sent);
        out->sent = g_new(gint64, n);
        out->edge = g_new(guint32, n);
        out->index = g_new(guint32, n);
        for (guint32 i = 0; i < n; i++) {
                out->sent[i] = sent[i].sent;
                out->edge[i] = sent[i].edge;
                out->index[i] = sent[i].index;
        }
        out->signal = edge_signal_new(out->sent, n, &c->quanta, SIGNAL_ROOT);
        out->signal->uses = c->options.max_vertices;
}

Convolution *convolution_new(const EdgeTraces *traces, const ConvolutionOptions *options,
                             GArray *roots)
{
        Convolution *c = g_new0(Convolution, 1);

        g_assert(options->quantum > 0 && options->max_delay >= options->quantum);
        c->traces = traces;
        c->options = *options;
        c->roots = roots;
        c->quanta = (Quanta){ traces->first == NO_TIME ? 0 : traces->first, options->quantum };
        c->lags = (Lags){ 0, (gsize)quanta_lag(&c->quanta, options->max_delay) };
        c->tolerance = quanta_lag(&c->quanta, options->tolerance);
        c->is_root = g_new0(gboolean, traces->n_nodes);
        c->out = g_new0(NodeTrace, traces->n_nodes);
        for (guint i = 0; i < roots->len; i++)
                c->is_root[g_array_index(roots, NodeId, i)] = TRUE;
        for (NodeId node = 0; node < traces->n_nodes; node++)
                gather_sent(c, node);
        return c;
}

void convolution_set_roots(Convolution *c, const gboolean *is_root)
{
        g_array_set_size(c->roots, 0);
        for (NodeId node = 0; node < c->traces->n_nodes; node++) {
                c->is_root[node] = is_root[node];
                if (is_root[node])
                        g_array_append_val(c->roots, node);
        }
        g_array_sort_with_data(c->roots, node_table_compare, c->traces->nodes);
}

void convolution_free(Convolution *c)
{
        if (!c)
                return;
        for (NodeId node = 0; node < c->traces->n_nodes; node++) {
                g_free(c->out[node].sent);
                g_free(c->out[node].edge);
                g_free(c->out[node].index);
                edge_signal_free(c->out[node].signal);
        }
        g_free(c->out);
        g_free(c->is_root);
        g_array_free(c->roots, TRUE);
        g_free(c);
}
