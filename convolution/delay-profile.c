/* SPDX-License-Identifier: BSD-2-Clause */
#include "convolution/delay-profile.h"

#include <math.h>
#include <string.h>

#include "base/compare.h"
#include "base/time-search.h"

enum {
        POWERS = 10,  /* powers of ten that a resolution may be: up to a second */
        STEPS = 1000, /* steps of an edge that are sampled for the resolution, about */
        CROWDED = 50, /* effects in a bin for each cause, at most; more would hide causal ones */
        NODE_WORK = 100000, /* messages sampled at a node, about, over its pairs of edges */
        LEAST_SAMPLE = 50,  /* messages sampled of an edge, at least */
        MOST_SAMPLE = 1000, /* and at most */
        STRETCHES = 64,     /* stretches of the trace that must show a delay alike */
        LEAST_LAGS = 100,   /* quanta of the greatest delay, at least */
        MOST_LAGS = 500000, /* and at most */
        EFFECTS = 300,      /* messages of the busiest node within the greatest delay, at most */
        /* The greatest delay, in longest delays that stand out. 30 and 100 find the same in mail
         * and synthetic systems. With 100 fewer paths are missed in crowded captures cut in halves,
         * where few long delays stand out. */
        REACH = 100,
};

/* Standard deviations above which a bin counts. */
static const double SURE = 5;

/* The same with one observation a stretch. An excess that all stretches have alike is 8 deviations,
 * sqrt(STRETCHES). An excess of a single stretch is 1. */
static const double STEADY = 4;

/* The resolution divides more than this share of the steps between stamps. */
static const double COARSE = 0.5;

/* The longest delay is this quantile of all delays. */
static const double NEARLY_ALL = 0.99;

/* Counts the powers of ten that divide the steps from one stamp to the next. A clock offset does
 * not change steps. */
static void count_steps(const gint64 *time, guint32 n, guint64 *divided, guint64 *steps)
{
        for (guint32 k = 1; k < n; k += 1 + n / STEPS) {
                gint64 step = time[k] - time[k - 1], unit = 1;

                if (step == 0)
                        continue;
                ++*steps;
                for (guint power = 0; power < POWERS && step % unit == 0; power++, unit *= 10)
                        divided[power]++;
        }
}

gint64 delay_resolution(const EdgeTraces *t)
{
        guint64 divided[POWERS] = { 0 }, steps = 0;
        gint64 resolution = 1;

        for (guint i = 0; i < t->n_edges; i++) {
                const EdgeTrace *e = &t->edges[i];

                count_steps(e->sent, e->n, divided, &steps);
                if (e->received != e->sent)
                        count_steps(e->received, e->n, divided, &steps);
        }
        for (guint power = 1; power < POWERS && (double)divided[power] > COARSE * (double)steps;
             power++)
                resolution *= 10;
        return resolution;
}

/* --- a profile ------------------------------------------------------------- */

/* Makes the bins. All profiles of a trace have the same, but not the same number. */
static void make_delay_bins(DelayProfile *p, gint64 resolution, gint64 longest)
{
        double edge = (double)resolution;

        p->n = 0;
        p->edges[0] = 0;
        while (p->n < DELAY_BINS && p->edges[p->n] < longest) {
                gint64 next = (gint64)(edge / (double)resolution + 0.5) * resolution;

                edge *= 1.25;
                if (next > p->edges[p->n])
                        p->edges[++p->n] = next;
        }
        memset(p->after, 0, sizeof p->after);
        memset(p->before, 0, sizeof p->before);
        memset(p->squares, 0, sizeof p->squares);
        memset(p->stretches, 0, sizeof p->stretches);
}

/* Counts the effects of one cause, by bin. sent: when the node sent its n messages, in order. */
static void count_effects(const DelayProfile *p, gint64 cause, const gint64 *sent, gsize n,
                          gint64 resolution, guint32 *after, guint32 *before)
{
        gsize at = time_search(sent, n, cause);
        gsize i = at;

        for (guint bin = 0; bin < p->n && i < n; bin++)
                for (; i < n && sent[i] < cause + p->edges[bin + 1]; i++)
                        after[bin]++;
        /* Effects of the same moment count as after. Their mirror image is one step before. */
        i = at;
        for (guint bin = 0; bin < p->n && i > 0; bin++)
                for (; i > 0 && sent[i - 1] > cause - resolution - p->edges[bin + 1]; i--)
                        before[bin]++;
}

/* Adds the counts of one cause. stretch is, by bin, the excess of after over before in the current
 * stretch. */
static void add_cause(DelayProfile *p, double *stretch, gint64 cause, const GArray *sent,
                      gint64 resolution)
{
        guint32 after[DELAY_BINS], before[DELAY_BINS];

        memset(after, 0, p->n * sizeof *after);
        memset(before, 0, p->n * sizeof *before);
        count_effects(p, cause, (const gint64 *)sent->data, sent->len, resolution, after, before);
        for (guint bin = 0; bin < p->n; bin++) {
                double more = (double)after[bin] - (double)before[bin];

                p->after[bin] += after[bin];
                p->before[bin] += before[bin];
                p->squares[bin] += more * more;
                stretch[bin] += more;
        }
}

static void end_stretch(DelayProfile *p, double *stretch)
{
        for (guint bin = 0; bin < p->n; bin++) {
                p->stretches[bin] += stretch[bin] * stretch[bin];
                stretch[bin] = 0;
        }
}

GArray *delay_profile_sent(const EdgeTraces *t, NodeId node)
{
        GArray *sent = g_array_new(FALSE, FALSE, sizeof(gint64));

        for (guint k = t->first_out[node]; k < t->first_out[node + 1]; k++)
                if (t->edges[k].n > 0)
                        g_array_append_vals(sent, t->edges[k].sent, t->edges[k].n);
        g_array_sort(sent, compare_int64s);
        return sent;
}

void delay_profile_find(const EdgeTraces *t, const EdgeTrace *in, const GArray *sent,
                        gint64 resolution, guint sample, DelayProfile *p)
{
        guint n = MIN(sample, in->n);
        double span = (double)(t->last - t->first) + 1;
        double stretch[DELAY_BINS] = { 0 };

        make_delay_bins(p, resolution,
                        (gint64)MIN(span / 4, CROWDED * 5 * span / (double)MAX(sent->len, 1)));
        for (guint i = 0; i < n; i++) {
                add_cause(p, stretch, in->received[(guint64)i * in->n / n], sent, resolution);
                if ((guint64)i * STRETCHES / n != (guint64)(i + 1) * STRETCHES / n)
                        end_stretch(p, stretch);
        }
}

double delay_profile_excess(const DelayProfile *p, guint bin)
{
        return p->squares[bin] > 0 ? (p->after[bin] - p->before[bin]) / sqrt(p->squares[bin]) : 0;
}

/* Whether a bin has an excess all through the trace. Bursts and days have one in parts. */
static gboolean is_steady(const DelayProfile *p, guint bin)
{
        return p->after[bin] - p->before[bin] > STEADY * sqrt(p->stretches[bin]);
}

/* --- choosing -------------------------------------------------------------- */

/* The number of causal delays in each bin, in the whole trace. */
typedef struct {
        gint64 edges[DELAY_BINS + 1];
        double weight[DELAY_BINS];
        double sum;
} DelaySizes;

static void add_node_delays(DelaySizes *sizes, const EdgeTraces *t, NodeId node, gint64 resolution)
{
        guint n_in = t->first_in[node + 1] - t->first_in[node];
        guint n_out = t->first_out[node + 1] - t->first_out[node];
        /* With longer delays, stretches would not be independent observations. */
        gint64 longest = (t->last - t->first) / STRETCHES;
        g_autoptr(GArray) sent = NULL;
        guint sample;

        if (n_in == 0 || n_out == 0)
                return;
        sent = delay_profile_sent(t, node);
        sample = CLAMP(NODE_WORK / n_in / n_out, LEAST_SAMPLE, MOST_SAMPLE);
        for (guint i = t->first_in[node]; i < t->first_in[node + 1]; i++) {
                const EdgeTrace *in = &t->edges[t->in[i]];
                DelayProfile p;

                delay_profile_find(t, in, sent, resolution, sample, &p);
                for (guint bin = 0; bin < p.n && p.edges[bin] <= longest; bin++) {
                        sizes->edges[bin + 1] = p.edges[bin + 1];
                        if (delay_profile_excess(&p, bin) <= SURE || !is_steady(&p, bin))
                                continue;
                        sizes->weight[bin] +=
                                (p.after[bin] - p.before[bin]) * in->n / MIN(sample, in->n);
                }
        }
}

static void sum_up_sizes(DelaySizes *sizes)
{
        sizes->sum = 0;
        for (guint bin = 0; bin < DELAY_BINS; bin++)
                sizes->sum += sizes->weight[bin];
}

/* A quantile of the delays, as the lower edge of its bin. */
static gint64 size_at(const DelaySizes *sizes, double share)
{
        double sum = 0;

        for (guint bin = 0; bin < DELAY_BINS; bin++) {
                sum += sizes->weight[bin];
                if (sum >= share * sizes->sum)
                        return sizes->edges[bin];
        }
        return sizes->edges[DELAY_BINS];
}

/* Rounds ns down, or up, to 1, 2 or 5 times a power of ten. */
static gint64 round_duration(double ns, gboolean up)
{
        static const gint64 steps[] = { 1, 2, 5 };
        gint64 power = 1, below = 1;

        for (;; power *= 10)
                for (guint i = 0; i < G_N_ELEMENTS(steps); i++) {
                        gint64 value = steps[i] * power;

                        if ((double)value > ns || value > G_MAXINT64 / 20)
                                return up && (double)below < ns ? value : below;
                        below = value;
                }
}

/* The time in which the busiest node that is no root sends EFFECTS messages. */
static gint64 busy_time(const EdgeTraces *t, const gboolean *is_root)
{
        guint64 most = 0;

        if (t->messages == 0)
                return 0;
        for (NodeId node = 0; node < t->n_nodes; node++) {
                guint64 n = 0;

                for (guint k = t->first_out[node]; k < t->first_out[node + 1]; k++)
                        n += t->edges[k].n;
                if (!is_root[node] && t->first_in[node] != t->first_in[node + 1])
                        most = MAX(most, n);
        }
        return (gint64)((double)(t->last - t->first) / (double)MAX(most, EFFECTS) * EFFECTS);
}

void delay_profile_choose(const EdgeTraces *t, const GArray *roots, gint64 *quantum,
                          gint64 *max_delay)
{
        gint64 resolution = delay_resolution(t), shortest, longest, greatest;
        gboolean given = *max_delay > 0;
        g_autofree gboolean *is_root = g_new0(gboolean, t->n_nodes);
        g_autofree DelaySizes *sizes = g_new0(DelaySizes, 1);

        for (guint i = 0; i < roots->len; i++)
                is_root[g_array_index(roots, NodeId, i)] = TRUE;
        for (NodeId node = 0; node < t->n_nodes; node++)
                if (!is_root[node])
                        add_node_delays(sizes, t, node, resolution);
        sum_up_sizes(sizes);
        longest = busy_time(t, is_root);
        /* If no delay stands out, the greatest delay gets a hundred quanta. */
        shortest = sizes->sum > 0 ? size_at(sizes, 0.1) : longest / 10;
        greatest = round_duration((double)MAX(longest, LEAST_LAGS * *quantum), FALSE);
        if (sizes->sum > 0)
                greatest = MIN(greatest,
                               round_duration(REACH * (double)size_at(sizes, NEARLY_ALL), TRUE));
        if (!given)
                *max_delay = MAX(greatest, 1);
        if (*quantum == 0) {
                *quantum = MAX(round_duration((double)shortest / 10, FALSE), resolution);
                *quantum = MAX(*quantum, round_duration((double)*max_delay / MOST_LAGS, TRUE));
        }
        if (!given)
                *max_delay = MAX(*max_delay, LEAST_LAGS * *quantum);
}
