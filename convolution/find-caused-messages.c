/* SPDX-License-Identifier: BSD-2-Clause
 *
 * FindCausedMessages (paper, Figure 6, lines 17 to 27): finds which messages out of a node were
 * caused by a set V of messages into the node.
 *
 * We read line 26 as "messages to k in Z'". With Z, as printed, the search would forget V and count
 * the whole edge each time.
 */
#include <stdlib.h>

#include "base/compare.h"
#include "base/each.h"
#include "base/time-search.h"
#include "convolution/convolution.h"

/* The first message of Z, from index `from` on, that is not before slot. Steps double (galloping
 * search), since it mostly is near. */
static guint32 gallop_to_slot(const Convolution *run, const NodeTrace *z, guint32 from, gint64 slot)
{
        gint64 time = quanta_start(&run->quanta, slot);
        guint32 low = from, high, step = 1;

        while (low + step <= z->n && z->sent[low + step - 1] < time) {
                low += step;
                step *= 2;
        }
        high = MIN(low + step - 1, z->n);
        return low + time_search(z->sent + low, high - low, time);
}

/* Line 22: finds the messages of Z whose slot is that of a message of V plus lag, within the
 * tolerance. Puts their indices, in order, into shifted, which has room for all of Z. Returns their
 * number. */
static guint32 find_shifted(const Convolution *run, const EdgeSignal *v, const NodeTrace *z,
                            gint64 lag, guint32 *shifted)
{
        guint32 at = 0, n = 0;

        for (gsize i = 0; i < v->n && at < z->n; i++) {
                gint64 slot = v->slot[i] + lag;
                guint32 end;

                at = gallop_to_slot(run, z, at, slot - run->tolerance);
                end = gallop_to_slot(run, z, at, slot + run->tolerance + 1);
                while (at < end)
                        shifted[n++] = at++;
        }
        return n;
}

/* Lines 23 to 26: splits the shifted messages by destination. */
static void split_by_destination(const Convolution *run, NodeId node, const guint32 *shifted,
                                 guint32 n_shifted, const Spike *spike, GArray *caused)
{
        const EdgeTraces *t = run->traces;
        const NodeTrace *z = &run->out[node];
        guint first = t->first_out[node], n_edges = t->first_out[node + 1] - first;
        guint start = caused->len;
        g_autofree guint32 *n = g_new0(guint32, n_edges);
        g_autofree CausedMessages **of_edge = g_new0(CausedMessages *, n_edges);

        for (guint32 i = 0; i < n_shifted; i++)
                n[z->edge[shifted[i]]]++;
        for (guint k = 0; k < n_edges; k++) {
                CausedMessages o = { .edge = k, .height = spike->height };

                if (n[k] == 0)
                        continue;
                o.delay = quanta_delay(&run->quanta, run->lags.first + (gint64)spike->at);
                o.messages.received = g_new(gint64, n[k]);
                g_array_append_val(caused, o);
        }
        for (guint i = start; i < caused->len; i++) {
                CausedMessages *o = &g_array_index(caused, CausedMessages, i);

                of_edge[o->edge] = o;
        }
        for (guint32 i = 0; i < n_shifted; i++) {
                guint k = z->edge[shifted[i]];
                const EdgeTrace *e = &t->edges[first + k];
                Messages *messages = &of_edge[k]->messages;

                messages->received[messages->n++] =
                        e->received[edge_trace_arrival(e, z->index[shifted[i]])];
        }
        for (guint i = start; i < caused->len; i++) {
                CausedMessages *o = &g_array_index(caused, CausedMessages, i);

                if (t->edges[first + o->edge].arrival)
                        qsort(o->messages.received, o->messages.n, sizeof(gint64), compare_int64s);
        }
}

/* The most frequent first. */
COMPARISON(compare_caused, CausedMessages,
           COMPARE(b->messages.n, a->messages.n) ?:
           COMPARE(a->edge, b->edge) ?:
           COMPARE(a->delay, b->delay))

GArray *find_caused_messages(PathSearch *search, NodeId node, const Messages *messages)
{
        const Convolution *run = search->run;
        const NodeTrace *z = &run->out[node];
        GArray *caused = g_array_new(FALSE, FALSE, sizeof(CausedMessages));
        g_autoptr(EdgeSignal) v = NULL;
        g_autoptr(GArray) spikes = NULL;
        g_autofree guint32 *shifted = NULL;
        Moments moments;

        if (z->n == 0)
                return caused;
        v = edge_signal_new(messages->received, messages->n, &run->quanta, SIGNAL_ROOT);
        correlator_run(search->correlator, v, z->signal, search->c);
        spikes = spikes_find(search->c, run->lags.n, run->options.spike, run->options.between,
                             &moments);
        if (spikes->len > 0)
                shifted = g_new(guint32, z->n);
        EACH (const Spike, spike, spikes) {
                gint64 lag = run->lags.first + (gint64)spike->at;
                guint32 n = find_shifted(run, v, z, lag, shifted);

                split_by_destination(run, node, shifted, n, spike, caused);
        }
        g_array_sort(caused, compare_caused);
        return caused;
}
