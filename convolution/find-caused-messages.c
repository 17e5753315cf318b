/* SPDX-License-Identifier: BSD-2-Clause
 *
 * FindCausedMessages (paper, Figure 6, lines 17 to 27): of the messages that a node sends,
 * those that messages V to it seem to have caused, by destination and delay.
 *
 * Line 26 is read as "messages to k in Z'": with Z, as printed, the search would forget V,
 * and every count would be that of the whole edge.
 */
#include <stdlib.h>

#include "convolution/convolution.h"

/* Marks the messages of Z whose slot is that of some message of V shifted by a lag, give
 * or take the tolerance (line 22). mark is z->n long. Linear. */
static void mark_shifted(const Convolution *run, const EdgeSignal *v, const NodeTrace *z,
                         gint64 lag, gboolean *mark)
{
        gsize at = 0;

        for (guint32 i = 0; i < z->n; i++) {
                gint64 slot = quanta_slot(&run->quanta, z->sent[i]) - lag;

                while (at < v->n && v->slot[at] < slot - run->tolerance)
                        at++;
                mark[i] = at < v->n && v->slot[at] <= slot + run->tolerance;
        }
}

static int compare_times(const void *va, const void *vb)
{
        gint64 a = *(const gint64 *)va, b = *(const gint64 *)vb;

        return (a > b) - (a < b);
}

/* Lines 23 to 26: the marked messages, by destination. */
static void split_by_destination(const Convolution *run, NodeId node, const gboolean *mark,
                                 const Spike *spike, GArray *caused)
{
        const EdgeTraces *t = run->traces;
        const NodeTrace *z = &run->out[node];
        guint first = t->first_out[node], n_edges = t->first_out[node + 1] - first;
        g_autofree guint32 *n = g_new0(guint32, n_edges);

        for (guint32 i = 0; i < z->n; i++)
                n[z->edge[i]] += mark[i];
        for (guint k = 0; k < n_edges; k++) {
                CausedMessages o = { .edge = k, .height = spike->height };

                if (n[k] == 0)
                        continue;
                o.delay = quanta_delay(&run->quanta, run->lags.first + (gint64)spike->at);
                o.messages.received = g_new(gint64, n[k]);
                for (guint32 i = 0; i < z->n; i++)
                        if (mark[i] && z->edge[i] == k) {
                                const EdgeTrace *e = &t->edges[first + k];

                                o.messages.received[o.messages.n++] =
                                        e->received[edge_trace_arrival(e, z->index[i])];
                        }
                if (t->edges[first + k].arrival)
                        qsort(o.messages.received, n[k], sizeof(gint64), compare_times);
                g_array_append_val(caused, o);
        }
}

/* The most frequent first. */
static int compare_caused(const void *va, const void *vb)
{
        const CausedMessages *a = va, *b = vb;

        if (a->messages.n != b->messages.n)
                return a->messages.n > b->messages.n ? -1 : 1;
        if (a->edge != b->edge)
                return a->edge < b->edge ? -1 : 1;
        return (a->delay > b->delay) - (a->delay < b->delay);
}

GArray *find_caused_messages(PathSearch *search, NodeId node, const Messages *messages)
{
        const Convolution *run = search->run;
        const NodeTrace *z = &run->out[node];
        GArray *caused = g_array_new(FALSE, FALSE, sizeof(CausedMessages));
        g_autoptr(EdgeSignal) v = NULL;
        g_autoptr(GArray) spikes = NULL;
        g_autofree gboolean *mark = NULL;
        Moments moments;

        if (z->n == 0)
                return caused;
        v = edge_signal_new(messages->received, messages->n, &run->quanta, SIGNAL_ROOT);
        correlator_run(search->correlator, v, z->signal, search->c);
        spikes = spikes_find(search->c, run->lags.n, run->options.spike, run->options.between,
                             &moments);
        if (spikes->len > 0)
                mark = g_new(gboolean, z->n);
        for (guint i = 0; i < spikes->len; i++) {
                const Spike *spike = &g_array_index(spikes, Spike, i);

                mark_shifted(run, v, z, run->lags.first + (gint64)spike->at, mark);
                split_by_destination(run, node, mark, spike, caused);
        }
        g_array_sort(caused, compare_caused);
        return caused;
}
