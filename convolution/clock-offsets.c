/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Clocks that disagree (paper, section 5.2.3: negative apparent delays). Where a message is
 * stamped at one end, a delay at a node is between two clocks: a node that stamps what it
 * sends, and whose clock is early, sends before it is asked; of one whose clock is late,
 * those that it asks do.
 *
 * What a node sends before a message comes in may also be what the sender has waited for. So
 * evidence is what messages of those that call, or spoke first, are followed by: of what is
 * sent to others the highest spike, before or after, that holds a fifth of the messages or
 * more. A clock is off if all of this that would show it begins before its cause. Of a node
 * that only answers nothing can be said.
 *
 * By how much, delays below 0 bound from below; and those that shrink when the clock is put
 * right bound it from above. Between the two no delay is below 0, and the middle is taken:
 * the shortest delay at the node is then as long as that at those that it talks with, as
 * where clocks are compared by a question and its answer. Where nothing lies between,
 * something else made the delays below 0, as it often does where requests overlap.
 *
 * Where many routes share relays, spikes before the cause are found without any clock that is
 * off. Then delays bound the offset from one side only, or from far away; so an offset is proven
 * where both bounds are there and lie close together.
 */
#include "convolution/convolution.h"

enum {
        SAMPLE = 4000,
        LEAST_MESSAGES = 50,
        MOST_LAGS = 1 << 16,
        TOGETHER = 5,       /* lags */
        LEAST_EVIDENCE = 2, /* for what nothing bounds from above */
};

/* Bounds that prove an offset are no further apart than this part of the lower one, and what shows
 * it is at least this part of it. Clocks of multi-tier that were 20 to 60 ms off had widths of up
 * to 0.5, and delays of nearly the whole offset; relays of mail whose clocks were right had widths
 * above 9 where there were two bounds, but for one of seven hours that was shown by delays of
 * seconds. Chosen on six seeds of mail and on WS2; twelve other seeds, AUTH, AP1 and a hotel's
 * clocks agreed. */
#define PROVEN_WIDTH 1.0
#define PROVEN_SHOWN 0.5

/* Of an edge's messages that a spike has to hold. */
static const double LEAST_SHARE = 0.2;

/* The highest spike of two edges in turn. */
typedef struct {
        const EdgeTrace *cause, *effect;
        double height;     /* 0: there is none */
        gint64 from, peak; /* ns: where the spike begins, and where it is highest */
} DelayPeak;

typedef struct {
        const Convolution *run;
        Correlator *correlator;
        gsize lags; /* of the run, as far as they are not too many */
        float *c;   /* lags from -lags to lags - 1 */
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
static void find_highest_spike(const Search *s, gsize n, gsize lags, double least, DelayPeak *peak)
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

/* Where delays vary too much for a spike of single lags, of some together. */
static DelayPeak find_peak(const Search *s, const EdgeTrace *cause, const EdgeSignal *causes,
                           const EdgeTrace *effect)
{
        g_autoptr(EdgeSignal) z =
                edge_signal_new(effect->sent, effect->n, &s->run->quanta, SIGNAL_ROOT);
        DelayPeak peak = { .cause = cause, .effect = effect };
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

/* Whether the delays of two edges are between two clocks. */
static gboolean is_between_clocks(const EdgeTrace *cause, const EdgeTrace *effect)
{
        return cause->received_clock != NO_NODE && effect->sent_clock != NO_NODE &&
               cause->received_clock != effect->sent_clock;
}

/* --- evidence --------------------------------------------------------------- */

/* What the highest spike after a cause is of, all edges out of its receiver taken but the one
 * back. */
static DelayPeak find_highest(const Search *s, const EdgeTrace *cause)
{
        const EdgeTraces *t = s->run->traces;
        g_autoptr(EdgeSignal) v = sample_signal(s->run, cause);
        DelayPeak highest = { 0 };

        for (guint k = t->first_out[cause->to]; k < t->first_out[cause->to + 1]; k++) {
                const EdgeTrace *effect = &t->edges[k];
                DelayPeak peak;

                if (effect->to == cause->from || effect->n < LEAST_MESSAGES ||
                    !is_between_clocks(cause, effect))
                        continue;
                peak = find_peak(s, cause, v, effect);
                if (peak.height > highest.height)
                        highest = peak;
        }
        return highest;
}

/* GArray of DelayPeak. */
static GArray *find_evidence(const Search *s)
{
        const EdgeTraces *t = s->run->traces;
        GArray *evidence = g_array_new(FALSE, FALSE, sizeof(DelayPeak));

        for (guint i = 0; i < t->n_edges; i++) {
                DelayPeak peak;

                if (!t->edges[i].opens || t->edges[i].n < LEAST_MESSAGES)
                        continue;
                peak = find_highest(s, &t->edges[i]);
                if (peak.height > 0)
                        g_array_append_val(evidence, peak);
        }
        return evidence;
}

/* A quantum of rounding is no delay. */
static gboolean is_before(const Search *s, gint64 delay)
{
        return delay < -s->run->quanta.quantum;
}

/* Whether a delay would grow, if what node stamps were later, or earlier. */
static gboolean would_grow(const DelayPeak *p, NodeId node, gboolean later)
{
        return (later ? p->effect->sent_clock : p->cause->received_clock) == node;
}

/* How much of the evidence goes before its cause and would not, if node's stamps were later,
 * or earlier; the least delay of that into *first. 0 where other evidence speaks against it. */
static guint count_evidence(const Search *s, const GArray *evidence, NodeId node, gboolean later,
                            DelayPeak *first)
{
        guint n = 0;

        for (guint i = 0; i < evidence->len; i++) {
                const DelayPeak *p = &g_array_index(evidence, DelayPeak, i);

                if (!would_grow(p, node, later))
                        continue;
                if (!is_before(s, p->from))
                        return 0;
                if (n++ == 0 || p->from < first->from)
                        *first = *p;
        }
        return n;
}

/* --- bounds ----------------------------------------------------------------- */

typedef struct {
        const Search *search;
        NodeId node;
        gboolean later;
        gint64 least, most; /* ns; most is G_MAXINT64 where nothing says */
        gint64 reach;       /* how wide the spike is that says least */
        GArray *answers;    /* of DelayPeak: before their causes, which are no calls */
} Bounds;

static void raise_least(Bounds *b, const DelayPeak *p)
{
        if (-p->from <= b->least)
                return;
        b->least = -p->from;
        b->reach = p->peak - p->from;
}

static void look_at_pair(Bounds *b, const EdgeSignal *causes, const EdgeTrace *cause,
                         const EdgeTrace *effect)
{
        DelayPeak p = { .cause = cause, .effect = effect };
        gboolean grows = would_grow(&p, b->node, b->later);

        if (!is_between_clocks(cause, effect) || effect->n < LEAST_MESSAGES ||
            (!grows && !would_grow(&p, b->node, !b->later)) ||
            (effect->to == cause->from && (grows || !cause->opens)))
                return;
        p = find_peak(b->search, cause, causes, effect);
        if (p.height <= 0)
                return;
        if (!grows) {
                if (!is_before(b->search, p.from))
                        b->most = MIN(b->most, MAX(p.from, 0));
        } else if (is_before(b->search, p.from)) {
                if (cause->opens)
                        raise_least(b, &p);
                else
                        g_array_append_val(b->answers, p);
        }
}

/* Sets least and most; FALSE where there is nothing between them. */
static gboolean find_bounds(Bounds *b)
{
        const Convolution *run = b->search->run;
        const EdgeTraces *t = run->traces;

        b->least = 0;
        b->most = G_MAXINT64;
        b->answers = g_array_new(FALSE, FALSE, sizeof(DelayPeak));
        for (guint i = 0; i < t->n_edges; i++) {
                const EdgeTrace *cause = &t->edges[i];
                g_autoptr(EdgeSignal) v = NULL;

                if (cause->n < LEAST_MESSAGES)
                        continue;
                v = sample_signal(run, cause);
                for (guint k = t->first_out[cause->to]; k < t->first_out[cause->to + 1]; k++)
                        look_at_pair(b, v, cause, &t->edges[k]);
        }
        /* What comes before an answer may have led to it, but only if it is further off than
         * any delay of those that answer, which most has. */
        for (guint i = 0; i < b->answers->len && b->most < G_MAXINT64; i++) {
                const DelayPeak *p = &g_array_index(b->answers, DelayPeak, i);

                if (-p->from <= b->most)
                        raise_least(b, p);
        }
        g_array_unref(b->answers);
        return b->least > 0 && b->least <= b->most;
}

/* --- a clock ---------------------------------------------------------------- */

static gboolean is_proven(const ClockOffset *c)
{
        return c->most < G_MAXINT64 &&
               (double)(c->most - c->least) <= PROVEN_WIDTH * (double)c->least &&
               (double)-c->delay >= PROVEN_SHOWN * (double)c->least;
}

/* Takes the clock for found if it says more than the n that is found says, and putting it
 * right puts nothing else wrong; what is proven says more than what is not. */
static void consider(const Search *s, const GArray *evidence, NodeId node, gboolean later, guint *n,
                     gboolean prove, ClockOffset *found)
{
        Bounds b = { .search = s, .node = node, .later = later };
        DelayPeak first = { 0 };
        guint more = count_evidence(s, evidence, node, later, &first);
        ClockOffset clock;
        gint64 by;

        if (more == 0 || (more <= *n && !found->doubtful) || !find_bounds(&b) ||
            (b.most == G_MAXINT64 && more < LEAST_EVIDENCE))
                return;
        by = b.most < G_MAXINT64 ? b.least + (b.most - b.least) / 2 : b.least + b.reach;
        clock = (ClockOffset){ .node = node,
                               .offset = later ? -by : by,
                               .least = b.least,
                               .most = b.most,
                               .delay = first.from };
        clock.doubtful = prove && !is_proven(&clock);
        if (*n > 0 && clock.doubtful == found->doubtful ? more <= *n : *n > 0 && clock.doubtful)
                return;
        *n = more;
        *found = clock;
}

gboolean convolution_find_clock_offset(const Convolution *run, gboolean prove, ClockOffset *found)
{
        const EdgeTraces *t = run->traces;
        const gsize n = MIN(run->lags.n, MOST_LAGS);
        const Lags lags = { -(gint64)n, 2 * n };
        g_autoptr(Correlator) correlator = correlator_new(&lags, CORRELATE_AUTO, 0);
        g_autofree float *c = g_new(float, lags.n);
        const Search search = { run, correlator, n, c };
        g_autoptr(GArray) evidence = find_evidence(&search);
        guint explained = 0;

        found->doubtful = FALSE;
        for (guint later = 2; later-- > 0;)
                for (NodeId node = 0; node < t->n_nodes; node++)
                        consider(&search, evidence, node, later == 1, &explained, prove, found);
        return explained > 0;
}
