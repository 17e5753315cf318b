/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Negative apparent delays (paper, section 5.2.3). Where messages are stamped at one end by
 * the clocks of different hosts, a node whose clock is early sends before it is asked.
 *
 * What a node sends before a message comes in may also be what the sender has waited for. So
 * only messages of those that call, or spoke first, are looked at, and what is sent to
 * others; a node is early if for all of these edges, as far as there is a spike, the highest
 * is of what is before, and holds a fifth of the messages or more. Of a node that only
 * answers nothing can be said.
 */
#include "convolution/convolution.h"

enum { SAMPLE = 4000, LEAST_MESSAGES = 50, MOST_LAGS = 1 << 16 };

/* Of an edge's messages that a spike has to hold. */
static const double LEAST_SHARE = 0.2;

typedef struct {
        const Convolution *run;
        Correlator *correlator;
        gsize lags; /* of the run, as far as they are not too many */
        float *c;   /* lags from -lags to lags - 1 */
} Search;

/* The highest spike of two edges in turn: its height, or 0; and its delay. */
static double highest_spike(const Search *s, const EdgeSignal *cause, const EdgeTrace *effect,
                            gint64 *delay)
{
        const Convolution *run = s->run;
        g_autoptr(EdgeSignal) z =
                edge_signal_new(effect->sent, effect->n, &run->quanta, SIGNAL_ROOT);
        g_autoptr(GArray) spikes = NULL;
        double height = 0;
        Moments moments;

        correlator_run(s->correlator, cause, z, s->c);
        spikes = spikes_find(s->c, 2 * s->lags, run->options.spike, run->options.between, &moments);
        for (guint i = 0; i < spikes->len; i++) {
                const Spike *spike = &g_array_index(spikes, Spike, i);
                double messages = 0;

                for (gsize k = spike->from; k < spike->end; k++)
                        messages += (double)s->c[k] - moments.mean;
                if (spike->height <= height || messages < LEAST_SHARE * (double)cause->n)
                        continue;
                height = spike->height;
                *delay = quanta_delay(&run->quanta, (gint64)spike->at - (gint64)s->lags);
        }
        return height;
}

static EdgeSignal *sample_signal(const Convolution *run, const EdgeTrace *edge)
{
        guint32 n = MIN(edge->n, SAMPLE);
        g_autofree gint64 *times = g_new(gint64, n);

        for (guint32 i = 0; i < n; i++)
                times[i] = edge->received[(guint64)i * edge->n / n];
        return edge_signal_new(times, n, &run->quanta, SIGNAL_ROOT);
}

/* What the highest spike after a cause is of, all edges out of its receiver taken but the one
 * back; effect is NULL where there is none. */
static EarlyNode find_highest(const Search *s, const EdgeTrace *cause)
{
        const EdgeTraces *t = s->run->traces;
        g_autoptr(EdgeSignal) v = sample_signal(s->run, cause);
        EarlyNode found = { .cause = cause };
        double highest = 0;

        for (guint k = t->first_out[cause->to]; k < t->first_out[cause->to + 1]; k++) {
                const EdgeTrace *effect = &t->edges[k];
                gint64 delay = 0;
                double height;

                if (effect->to == cause->from || effect->n < LEAST_MESSAGES)
                        continue;
                height = highest_spike(s, v, effect, &delay);
                if (height > highest) {
                        highest = height;
                        found.effect = effect;
                        found.delay = delay;
                }
        }
        return found;
}

static gboolean is_early(const Search *s, NodeId node, EarlyNode *early)
{
        const EdgeTraces *t = s->run->traces;

        early->effect = NULL;
        for (guint i = t->first_in[node]; i < t->first_in[node + 1]; i++) {
                const EdgeTrace *cause = &t->edges[t->in[i]];
                EarlyNode found;

                if (!cause->opens || cause->n < LEAST_MESSAGES || cause->both > 0)
                        continue;
                found = find_highest(s, cause);
                if (!found.effect)
                        continue;
                /* A quantum of rounding is no delay. */
                if (found.delay >= -s->run->quanta.quantum)
                        return FALSE;
                if (!early->effect)
                        *early = found;
        }
        return early->effect != NULL;
}

GArray *convolution_find_early_nodes(const Convolution *run)
{
        const EdgeTraces *t = run->traces;
        GArray *found = g_array_new(FALSE, FALSE, sizeof(EarlyNode));
        const gsize n = MIN(run->lags.n, MOST_LAGS);
        const Lags lags = { -(gint64)n, 2 * n };
        g_autoptr(Correlator) correlator = correlator_new(&lags, CORRELATE_AUTO, 0);
        g_autofree float *c = g_new(float, lags.n);
        const Search search = { run, correlator, n, c };

        for (NodeId node = 0; node < t->n_nodes; node++) {
                EarlyNode early;

                if (is_early(&search, node, &early))
                        g_array_append_val(found, early);
        }
        return found;
}
