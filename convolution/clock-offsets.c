/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The delays between messages that clocks/message-offsets.h finds clocks by: the highest spike,
 * before or after a cause, that holds a fifth of its messages or more.
 */
#include "clocks/message-offsets.h"
#include "convolution/convolution.h"

enum {
        SAMPLE = 4000,
        MOST_LAGS = 1 << 16,
        TOGETHER = 5, /* lags */
};

/* Of an edge's messages that a spike has to hold. */
static const double LEAST_SHARE = 0.2;

typedef struct {
        const Convolution *run;
        Correlator *correlator;
        gsize lags;         /* of the run, as far as they are not too many */
        float *c;           /* lags from -lags to lags - 1 */
        guint cause;        /* the edge that was asked for last, */
        EdgeSignal *causes; /* and some of its messages; NULL: none was */
} Search;

static EdgeSignal *sample_signal(const Convolution *run, const EdgeTrace *edge)
{
        guint32 n = MIN(edge->n, SAMPLE);
        g_autofree gint64 *times = g_new(gint64, n);

        for (guint32 i = 0; i < n; i++)
                times[i] = edge->received[(guint64)i * edge->n / n];
        return edge_signal_new(times, n, &run->quanta, SIGNAL_ROOT);
}

static gint64 delay_at(const Search *s, gsize i)
{
        return quanta_delay(&s->run->quanta, (gint64)i - (gint64)s->lags);
}

/* The highest spike of the n points of s->c, a lag or several each. */
static void find_highest_spike(const Search *s, gsize n, gsize lags, double least, DelaySpike *peak)
{
        const ConvolutionOptions *o = &s->run->options;
        Moments moments;
        g_autoptr(GArray) spikes = spikes_find(s->c, n, o->spike, o->between, &moments);

        for (guint i = 0; i < spikes->len; i++) {
                const Spike *spike = &g_array_index(spikes, Spike, i);
                double messages = 0;

                for (gsize k = spike->from; k < spike->end; k++)
                        messages += (double)s->c[k] - moments.mean;
                if (spike->height <= peak->height || messages < least)
                        continue;
                peak->height = spike->height;
                peak->from = delay_at(s, spike->from * lags);
                peak->peak = delay_at(s, spike->at * lags);
        }
}

/* Causes are asked for one after the other, each with all its effects. */
static const EdgeSignal *get_causes(Search *s, guint cause)
{
        if (!s->causes || s->cause != cause) {
                g_clear_pointer(&s->causes, edge_signal_free);
                s->causes = sample_signal(s->run, &s->run->traces->edges[cause]);
                s->cause = cause;
        }
        return s->causes;
}

/* Where delays vary too much for a spike of single lags, of some together. */
static DelaySpike find_spike(gpointer data, guint cause, guint effect)
{
        Search *s = data;
        const EdgeTrace *to = &s->run->traces->edges[effect];
        g_autoptr(EdgeSignal) z = edge_signal_new(to->sent, to->n, &s->run->quanta, SIGNAL_ROOT);
        const EdgeSignal *causes = get_causes(s, cause);
        DelaySpike peak = { 0 };
        const double least = LEAST_SHARE * (double)causes->n;
        gsize n = 2 * s->lags / TOGETHER;

        correlator_run(s->correlator, causes, z, s->c);
        find_highest_spike(s, 2 * s->lags, 1, least, &peak);
        if (peak.height > 0)
                return peak;
        for (gsize i = 0; i < n; i++) {
                double sum = 0;

                for (gsize k = 0; k < TOGETHER; k++)
                        sum += (double)s->c[i * TOGETHER + k];
                s->c[i] = (float)sum;
        }
        find_highest_spike(s, n, TOGETHER, least, &peak);
        return peak;
}

static MessageEdge *list_edges(const EdgeTraces *t)
{
        MessageEdge *edges = g_new(MessageEdge, t->n_edges);

        for (guint i = 0; i < t->n_edges; i++) {
                const EdgeTrace *e = &t->edges[i];

                edges[i] = (MessageEdge){ e->from,  e->to,         e->n,
                                          e->opens, e->sent_clock, e->received_clock };
        }
        return edges;
}

gboolean convolution_find_clock_offset(const Convolution *run, gboolean prove, ClockOffset *found)
{
        const EdgeTraces *t = run->traces;
        const gsize n = MIN(run->lags.n, MOST_LAGS);
        const Lags lags = { -(gint64)n, 2 * n };
        g_autoptr(Correlator) correlator = correlator_new(&lags, CORRELATE_AUTO, 0);
        g_autofree float *c = g_new(float, lags.n);
        g_autofree MessageEdge *edges = list_edges(t);
        Search search = { .run = run, .correlator = correlator, .lags = n, .c = c };
        const MessageDelays delays = { edges,      t->n_edges,          t->first_out,
                                       t->n_nodes, run->quanta.quantum, find_spike,
                                       &search };
        gboolean is_found = message_offset_find(&delays, prove, found);

        g_clear_pointer(&search.causes, edge_signal_free);
        return is_found;
}
