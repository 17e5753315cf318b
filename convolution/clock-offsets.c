/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The delays by which clocks/message-offsets.h finds clock offsets: the highest spike in the
 * correlation of two edges, with at least a fifth of the causes. Lags go above and below 0.
 */
#include "base/each.h"
#include "clocks/message-offsets.h"
#include "convolution/convolution.h"

enum {
        SAMPLE = 4000,       /* messages of an edge */
        MOST_LAGS = 1 << 16, /* either way */
        TOGETHER = 5,        /* lags added up in the second search */
};

/* Share of an edge's messages that a spike must have. */
static const double LEAST_SHARE = 0.2;

typedef struct {
        const Convolution *run;
        Correlator *correlator;
        gsize lags;         /* lags of the run, at most MOST_LAGS */
        float *c;           /* the correlation for lags from -lags to lags - 1 */
        guint cause;        /* the last edge of causes */
        EdgeSignal *causes; /* a sample of its messages; NULL: none yet */
} Search;

static EdgeSignal *sample_signal(const Convolution *run, const EdgeTrace *edge)
{
        guint32 n = MIN(edge->n, SAMPLE);
        g_autofree gint64 *times = g_new(gint64, n);

        for (guint32 i = 0; i < n; i++)
                times[i] = edge->received[(guint64)i * edge->n / n];
        return edge_signal_new(times, n, &run->quanta, SIGNAL_ROOT);
}

static gint64 spike_delay_at(const Search *s, gsize i)
{
        return quanta_delay(&s->run->quanta, (gint64)i - (gint64)s->lags);
}

/* Finds the highest spike in the n points of s->c, each of `lags` lags, that has at least `least`
 * messages. */
static void find_highest_spike(const Search *s, gsize n, gsize lags, double least, DelaySpike *peak)
{
        const ConvolutionOptions *o = &s->run->options;
        Moments moments;
        g_autoptr(GArray) spikes = spikes_find(s->c, n, o->spike, o->between, &moments);

        EACH (const Spike, spike, spikes) {
                double messages = 0;

                for (gsize k = spike->from; k < spike->end; k++)
                        messages += (double)s->c[k] - moments.mean;
                if (spike->height <= peak->height || messages < least)
                        continue;
                peak->height = spike->height;
                peak->from = spike_delay_at(s, spike->from * lags);
                peak->peak = spike_delay_at(s, spike->at * lags);
        }
}

/* The sample of an edge. It is kept for the next call, mostly of the same edge with another
 * effect. */
static const EdgeSignal *get_causes(Search *s, guint cause)
{
        if (!s->causes || s->cause != cause) {
                g_clear_pointer(&s->causes, edge_signal_free);
                s->causes = sample_signal(s->run, &s->run->traces->edges[cause]);
                s->cause = cause;
        }
        return s->causes;
}

/* Finds the spike of two edges in single lags. If there is none, since delays vary too much, in
 * TOGETHER lags at a time. */
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

static MessageEdge *list_message_edges(const EdgeTraces *t)
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
        g_autofree MessageEdge *edges = list_message_edges(t);
        Search search = { .run = run, .correlator = correlator, .lags = n, .c = c };
        const MessageDelays delays = { edges,      t->n_edges,          t->first_out,
                                       t->n_nodes, run->quanta.quantum, find_spike,
                                       &search };
        gboolean is_found = message_offset_find(&delays, prove, found);

        g_clear_pointer(&search.causes, edge_signal_free);
        return is_found;
}
