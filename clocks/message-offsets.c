/* SPDX-License-Identifier: BSD-2-Clause */
#include "clocks/message-offsets.h"

#include "base/each.h"

enum {
        LEAST_MESSAGES = 50,
        LEAST_EVIDENCE = 2, /* if nothing bounds the offset from above */
};

/* An offset is proven if its bounds are no further apart than PROVEN_WIDTH times the lower one, and
 * if the delays that show it are at least PROVEN_SHOWN times it.
 *
 * Clocks of multi-tier 20 to 60 ms off had widths of up to 0.5, and delays of nearly the whole
 * offset. Mail relays with right clocks had widths above 9; one of them had an offset of seven
 * hours, shown by delays of seconds. Chosen on six seeds of mail and on WS2; twelve other seeds,
 * AUTH, AP1 and a hotel's clocks agreed. */
#define PROVEN_WIDTH 1.0
#define PROVEN_SHOWN 0.5

/* The spike of two edges in turn. */
typedef struct {
        const MessageEdge *cause, *effect;
        DelaySpike spike;
} DelayPeak;

static DelayPeak find_peak(const MessageDelays *d, const MessageEdge *cause,
                           const MessageEdge *effect)
{
        return (DelayPeak){ cause, effect,
                            d->find_spike(d->data, (guint)(cause - d->edges),
                                          (guint)(effect - d->edges)) };
}

/* Whether the delays of two edges are between two clocks. */
static gboolean is_between_clocks(const MessageEdge *cause, const MessageEdge *effect)
{
        return cause->received_clock != NO_NODE && effect->sent_clock != NO_NODE &&
               cause->received_clock != effect->sent_clock;
}

/* --- evidence --------------------------------------------------------------- */

/* What the highest spike after a cause is of, all edges out of its receiver taken but the one
 * back. */
static DelayPeak find_highest(const MessageDelays *d, const MessageEdge *cause)
{
        DelayPeak highest = { 0 };

        for (guint k = d->first_out[cause->to]; k < d->first_out[cause->to + 1]; k++) {
                const MessageEdge *effect = &d->edges[k];
                DelayPeak peak;

                if (effect->to == cause->from || effect->n < LEAST_MESSAGES ||
                    !is_between_clocks(cause, effect))
                        continue;
                peak = find_peak(d, cause, effect);
                if (peak.spike.height > highest.spike.height)
                        highest = peak;
        }
        return highest;
}

/* GArray of DelayPeak. */
static GArray *find_evidence(const MessageDelays *d)
{
        GArray *evidence = g_array_new(FALSE, FALSE, sizeof(DelayPeak));

        for (guint i = 0; i < d->n_edges; i++) {
                DelayPeak peak;

                if (!d->edges[i].opens || d->edges[i].n < LEAST_MESSAGES)
                        continue;
                peak = find_highest(d, &d->edges[i]);
                if (peak.spike.height > 0)
                        g_array_append_val(evidence, peak);
        }
        return evidence;
}

/* A quantum of rounding is no delay. */
static gboolean delay_is_before(const MessageDelays *d, gint64 delay)
{
        return delay < -d->quantum;
}

/* Whether a delay would grow, if what node stamps were later, or earlier. */
static gboolean would_grow(const DelayPeak *p, NodeId node, gboolean later)
{
        return (later ? p->effect->sent_clock : p->cause->received_clock) == node;
}

/* The number of effects before their cause that would not be if the node's stamps were later, or
 * earlier. first: set to the one with the least delay. 0: other evidence speaks against it. */
static guint count_evidence(const MessageDelays *d, const GArray *evidence, NodeId node,
                            gboolean later, DelayPeak *first)
{
        guint n = 0;

        EACH (const DelayPeak, p, evidence) {
                if (!would_grow(p, node, later))
                        continue;
                if (!delay_is_before(d, p->spike.from))
                        return 0;
                if (n++ == 0 || p->spike.from < first->spike.from)
                        *first = *p;
        }
        return n;
}

/* --- bounds ----------------------------------------------------------------- */

typedef struct {
        const MessageDelays *delays;
        NodeId node;
        gboolean later;
        gint64 least, most; /* ns; most is G_MAXINT64 where nothing says */
        gint64 reach;       /* how wide the spike is that says least */
        GArray *answers;    /* of DelayPeak: before their causes, which are no calls */
} Bounds;

static void raise_least(Bounds *b, const DelayPeak *p)
{
        if (-p->spike.from <= b->least)
                return;
        b->least = -p->spike.from;
        b->reach = p->spike.peak - p->spike.from;
}

static void look_at_pair(Bounds *b, const MessageEdge *cause, const MessageEdge *effect)
{
        DelayPeak p = { .cause = cause, .effect = effect };
        gboolean grows = would_grow(&p, b->node, b->later);

        if (!is_between_clocks(cause, effect) || effect->n < LEAST_MESSAGES ||
            (!grows && !would_grow(&p, b->node, !b->later)) ||
            (effect->to == cause->from && (grows || !cause->opens)))
                return;
        p = find_peak(b->delays, cause, effect);
        if (p.spike.height <= 0)
                return;
        if (!grows) {
                if (!delay_is_before(b->delays, p.spike.from))
                        b->most = MIN(b->most, MAX(p.spike.from, 0));
        } else if (delay_is_before(b->delays, p.spike.from)) {
                if (cause->opens)
                        raise_least(b, &p);
                else
                        g_array_append_val(b->answers, p);
        }
}

/* Sets least and most; FALSE where there is nothing between them. */
static gboolean find_bounds(Bounds *b)
{
        const MessageDelays *d = b->delays;

        b->least = 0;
        b->most = G_MAXINT64;
        b->answers = g_array_new(FALSE, FALSE, sizeof(DelayPeak));
        for (guint i = 0; i < d->n_edges; i++) {
                const MessageEdge *cause = &d->edges[i];

                if (cause->n < LEAST_MESSAGES)
                        continue;
                for (guint k = d->first_out[cause->to]; k < d->first_out[cause->to + 1]; k++)
                        look_at_pair(b, cause, &d->edges[k]);
        }
        /* A message before an answer may have led to it, but only if the delay is longer than any
         * delay of nodes that answer. */
        for (guint i = 0; i < b->answers->len && b->most < G_MAXINT64; i++) {
                const DelayPeak *p = &g_array_index(b->answers, DelayPeak, i);

                if (-p->spike.from <= b->most)
                        raise_least(b, p);
        }
        g_array_unref(b->answers);
        return b->least > 0 && b->least <= b->most;
}

/* --- a clock ---------------------------------------------------------------- */

/* shown: the least delay that shows it, ns; below 0. */
static gboolean is_proven(const Bounds *b, gint64 shown)
{
        return b->most < G_MAXINT64 &&
               (double)(b->most - b->least) <= PROVEN_WIDTH * (double)b->least &&
               (double)-shown >= PROVEN_SHOWN * (double)b->least;
}

static ClockOffset make_offset(const Bounds *b)
{
        gboolean bounded = b->most < G_MAXINT64;
        gint64 by = bounded ? b->least + (b->most - b->least) / 2 : b->least + b->reach;

        if (b->later)
                return (ClockOffset){ .node = b->node,
                                      .offset = -by,
                                      .least = bounded ? -b->most : G_MININT64,
                                      .most = -b->least };
        return (ClockOffset){ .node = b->node, .offset = by, .least = b->least, .most = b->most };
}

/* Takes the clock for found if it explains more than the n effects that the clock found so far
 * explains, and if the correction makes nothing else wrong. A proof counts more. */
static void consider(const MessageDelays *d, const GArray *evidence, NodeId node, gboolean later,
                     guint *n, gboolean prove, ClockOffset *found)
{
        Bounds b = { .delays = d, .node = node, .later = later };
        DelayPeak first = { 0 };
        guint more = count_evidence(d, evidence, node, later, &first);
        ClockOffset clock;

        if (more == 0 || (more <= *n && !found->doubtful) || !find_bounds(&b) ||
            (b.most == G_MAXINT64 && more < LEAST_EVIDENCE))
                return;
        clock = make_offset(&b);
        clock.doubtful = prove && !is_proven(&b, first.spike.from);
        if (*n > 0 && clock.doubtful == found->doubtful ? more <= *n : *n > 0 && clock.doubtful)
                return;
        *n = more;
        *found = clock;
}

gboolean message_offset_find(const MessageDelays *d, gboolean prove, ClockOffset *found)
{
        g_autoptr(GArray) evidence = find_evidence(d);
        guint explained = 0;

        found->doubtful = FALSE;
        for (guint later = 2; later-- > 0;)
                for (NodeId node = 0; node < d->n_nodes; node++)
                        consider(d, evidence, node, later == 1, &explained, prove, found);
        return explained > 0;
}
