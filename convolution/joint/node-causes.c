/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The model, for causes a on in-edges and effects z on out-edges (time goes to the right):
 *
 *     in-edge      a1          a2              a3     a3 has no effect: 1 - sum of shares
 *                    \ delay      \ delay
 *     out-edge         z1            z2   z3          z3 has no cause: rate
 *
 * A candidate pair (a, z) of a passage p has a delay within the supports of p. Its weight says how
 * much more probable it is than that z has no cause:
 *
 *     weight(a, z) = share(p) * density(p, sent(z) - received(a)) / rate(out-edge of z)
 *
 * Expectation: the sum-product algorithm (matching.h) turns weights into the probability, or
 * *belief*, of each pair. Each cause has a slot for each group of passages, and a slot has one
 * effect at most. Maximisation, from these beliefs:
 *
 *     explained(p) = sum of the beliefs of its pairs
 *     share(p)     = (explained(p) - PRICE * groups of cells in its density) / causes
 *     density(p)   = histogram of the delays of its pairs, weighted by belief
 *     rate(k)      = expected effects on out-edge k without a cause / duration
 *
 * With pasts and futures, the share depends on the past x of a and the future y of z. The counts of
 * past x back off to those of all causes of the in-edge, which are worth PRIOR causes:
 *
 *     share(x, y) = (sum of beliefs of (x, y) + PRIOR * share(in-edge, y)) / (causes of x + PRIOR)
 *
 * The weight then has share(x, y) / (share of y among the effects of its out-edge) for share(p).
 *
 * In the end pairs are attributed greedily, the most probable first.
 */
#include "convolution/joint/node-causes.h"

#include <math.h>

#include "base/compare.h"
#include "base/each.h"
#include "base/fill.h"
#include "convolution/joint/matching.h"

enum {
        LEAST_CELLS = 128, /* cells of a support, at least; else a quantum each */
        MOST_CELLS = 4096, /* cells of a support, at most */
        STILL_ROUNDS = 4,  /* rounds without learning, when causes first get one effect at most */
        FREE_ROUNDS = 4,   /* rounds before that, in which a cause has any number of effects */
        SIDES = 3,         /* a support reaches this many widths of its window to either side */
        MOST_CAUSES = 512, /* of an effect in a support, the latest */
        LEVELS = 1024,     /* levels of probability that attributions are sorted by */
};

static const double SMALLEST_GROUP = 0.02, /* share of a density's mass in a group, at least */
        START_GROUP = 30, GROUP = 6,       /* messages of a group, at least, at first and later */
        PRIOR = 5,                         /* messages by which a past backs off to all pasts */
        PRICE = 0.5,              /* messages that each group of a density costs a passage */
        LEAST_CHILDLESS = 0.01,   /* least probability that a cause has no effect */
        LEAST_PROBABILITY = 0.02, /* least probability of an attributed pair */
        WELL_EXPLAINED = 0.7,     /* effects with a smaller sum of beliefs are searched again */
        EXPLAINED = 0.25;         /* least sum of beliefs of an effect that gets a cause */

/* A range of delays that a passage may have, and its cells. */
typedef struct {
        gint64 from, to; /* ns, both included */
        guint first_cell, n_cells;
        double cells_per_ns;
} Support;

typedef struct {
        guint in, out; /* indices among the node's in-edges and out-edges */
        guint group;   /* whose slots its causes use */
        guint first_support, n_supports;
        guint first_cell, n_cells;
        double excess;       /* event pairs beyond accident */
        double share;        /* the share of causes with an effect this way */
        double explained;    /* the expected number of effects */
        guint n_groups;      /* groups of merged cells of its density */
        double kept;         /* share of `explained` that PRICE leaves */
        double share_of_way; /* its part of the shares of all passages of the same two edges */
        gboolean dropped;
} Passage;

/* A group of passages from one in-edge. Each cause has one slot in the group, and the slot has at
 * most one effect. Group i < n_in is of in-edge i; each passage beside others has a group of its
 * own. */
typedef struct {
        guint in;
        guint32 first_slot;
} Group;

struct NodeCauses {
        const EdgeTraces *traces;
        NodeId node;
        double least;
        guint without;
        guint n_in, n_out;
        const EdgeTrace **in, **out;
        guint32 *first_cause, *first_effect; /* by in-edge and out-edge */
        guint32 n_causes, n_effects;
        GArray *supports, *passages, *groups;
        guint n_cells;
        double *density, *mass; /* by cell: density, 1/ns; expected effects */
        guint32 *passage_of;    /* by cell: its passage */
        double *rate;           /* by out-edge: unexplained messages, 1/ns */
        double *unexplained;    /* by out-edge: the expected number of unexplained messages */
        double duration;        /* ns */
        /* Pasts and futures of edges with passages, and a last one for all others; NULL before
         * node_causes_set_history(). */
        guint32 *past, *future; /* by cause, by effect */
        gsize n_pasts, n_futures;
        guint *past_in;       /* by past: its in-edge */
        double *past_n;       /* by past: its number of causes */
        double *past_share;   /* by past and passage: share of the causes */
        double *future_share; /* by past and future: share of the causes */
        double *future_base;  /* by in-edge with passages and future: share of all
                                 causes */
        gsize n_bases;
        guint *base_of;        /* by in-edge: its number among the in-edges with passages */
        double *future_weight; /* by future: 1 / its share of the out-edge's effects */
        double *past_mass, *future_mass; /* expected effects, as past_share and future_share */
        gboolean learned;
        double *slot_sum; /* by slot: the sum of its messages from effects and of the weight of no
                             effect */
        guint32 n_slots;
        Matching pairs; /* candidate pairs of a cause and an effect; their kind is the cell of the
                           delay */
};

#define PASSAGE(c, i)  (&g_array_index((c)->passages, Passage, i))
#define SUPPORT(c, i)  (&g_array_index((c)->supports, Support, i))
#define GROUP_OF(c, i) (&g_array_index((c)->groups, Group, i))

static void add_slot_group(NodeCauses *c, guint in)
{
        Group g = { in, c->n_slots };

        g_array_append_val(c->groups, g);
        c->n_slots += c->in[in]->n;
        c->slot_sum = g_renew(double, c->slot_sum, c->n_slots);
}

NodeCauses *node_causes_new(const EdgeTraces *traces, NodeId node, double least, guint without)
{
        NodeCauses *c = g_new0(NodeCauses, 1);

        c->traces = traces;
        c->node = node;
        c->least = least;
        c->without = without;
        c->n_in = traces->first_in[node + 1] - traces->first_in[node];
        c->n_out = traces->first_out[node + 1] - traces->first_out[node];
        c->in = g_new(const EdgeTrace *, c->n_in);
        c->out = g_new(const EdgeTrace *, c->n_out);
        c->first_cause = g_new0(guint32, c->n_in + 1);
        c->first_effect = g_new0(guint32, c->n_out + 1);
        for (guint i = 0; i < c->n_in; i++) {
                c->in[i] = &traces->edges[traces->in[traces->first_in[node] + i]];
                c->first_cause[i + 1] = c->first_cause[i] + c->in[i]->n;
        }
        for (guint i = 0; i < c->n_out; i++) {
                c->out[i] = &traces->edges[traces->first_out[node] + i];
                c->first_effect[i + 1] = c->first_effect[i] + c->out[i]->n;
        }
        c->n_causes = c->first_cause[c->n_in];
        c->n_effects = c->first_effect[c->n_out];
        c->supports = g_array_new(FALSE, FALSE, sizeof(Support));
        c->passages = g_array_new(FALSE, FALSE, sizeof(Passage));
        c->groups = g_array_new(FALSE, FALSE, sizeof(Group));
        c->rate = g_new0(double, c->n_out);
        c->unexplained = g_new0(double, c->n_out);
        c->duration = (double)MAX(traces->last - traces->first, 1);
        for (guint i = 0; i < c->n_in; i++)
                add_slot_group(c, i);
        return c;
}

void node_causes_free(NodeCauses *c)
{
        if (!c)
                return;
        g_free(c->in);
        g_free(c->out);
        g_free(c->first_cause);
        g_free(c->first_effect);
        g_array_unref(c->supports);
        g_array_unref(c->passages);
        g_array_unref(c->groups);
        g_free(c->density);
        g_free(c->mass);
        g_free(c->passage_of);
        g_free(c->rate);
        g_free(c->unexplained);
        g_free(c->past);
        g_free(c->future);
        g_free(c->base_of);
        g_free(c->past_in);
        g_free(c->past_n);
        g_free(c->past_share);
        g_free(c->past_mass);
        g_free(c->future_share);
        g_free(c->future_mass);
        g_free(c->future_base);
        g_free(c->future_weight);
        g_free(c->slot_sum);
        matching_clear(&c->pairs);
        g_free(c);
}

/* --- passages ----------------------------------------------------------------- */

static void add_cells(NodeCauses *c, guint passage, guint n)
{
        guint all = c->n_cells + n;

        c->density = g_renew(double, c->density, all);
        c->mass = g_renew(double, c->mass, all);
        c->passage_of = g_renew(guint32, c->passage_of, all);
        for (guint i = c->n_cells; i < all; i++) {
                c->density[i] = c->mass[i] = 0;
                c->passage_of[i] = passage;
        }
        c->n_cells = all;
}

static guint cell_of_delay(const Support *s, gint64 delay)
{
        guint cell = (guint)((double)(delay - s->from) * s->cells_per_ns);

        return s->first_cell + MIN(cell, s->n_cells - 1);
}

COMPARISON(compare_supports, Support, COMPARE(a->from, b->from))

/* Makes supports around the windows, and around the supports of an old passage. Merges supports
 * that overlap. */
static void add_supports(NodeCauses *c, guint passage, const Passage *old, const GArray *windows,
                         const Lags *lags, const Quanta *quanta)
{
        gint64 longest = quanta_delay(quanta, lags->first + (gint64)lags->n);
        g_autoptr(GArray) ranges = g_array_new(FALSE, TRUE, sizeof(Support));
        Passage *p = PASSAGE(c, passage);

        if (old)
                g_array_append_vals(ranges, SUPPORT(c, old->first_support), old->n_supports);
        EACH (const DelayWindow, w, windows) {
                gint64 side = SIDES * (gint64)(w->to - w->from);
                gint64 from = quanta_delay(quanta, lags->first + (gint64)w->from - side - 1);
                gint64 to = quanta_delay(quanta, lags->first + (gint64)w->to + side);
                Support s = { .from = MAX(from, 0), .to = MIN(to, longest) };

                g_array_append_val(ranges, s);
        }
        g_array_sort(ranges, compare_supports);
        p->first_support = c->supports->len;
        p->first_cell = c->n_cells;
        EACH (const Support, range, ranges) {
                Support *last = NULL;

                if (c->supports->len > p->first_support)
                        last = SUPPORT(c, c->supports->len - 1);
                if (last && range->from <= last->to)
                        last->to = MAX(range->to, last->to);
                else
                        g_array_append_val(c->supports, *range);
        }
        p->n_supports = c->supports->len - p->first_support;
        for (guint i = 0; i < p->n_supports; i++) {
                Support *s = SUPPORT(c, p->first_support + i);

                s->first_cell = p->first_cell + p->n_cells;
                s->n_cells =
                        (guint)CLAMP((s->to - s->from) / quanta->quantum, LEAST_CELLS, MOST_CELLS);
                s->cells_per_ns = s->n_cells / (double)(s->to - s->from + 1);
                p->n_cells += s->n_cells;
        }
        add_cells(c, passage, p->n_cells);
}

/* The density of a delay, 1/ns; 0 outside the supports. */
static double density_at(const NodeCauses *c, const Passage *p, gint64 delay)
{
        for (guint i = 0; i < p->n_supports; i++) {
                const Support *s = SUPPORT(c, p->first_support + i);

                if (delay >= s->from && delay <= s->to)
                        return c->density[cell_of_delay(s, delay)];
        }
        return 0;
}

/* Learns the density of a passage from the mass of its cells. Neighbouring cells are merged until
 * they have `group` messages. So the density is fine where messages are many and smooth where they
 * are few. */
static void learn_density(NodeCauses *c, Passage *p, double group)
{
        double all = 0, width, floor_;

        for (guint i = 0; i < p->n_cells; i++)
                all += c->mass[p->first_cell + i];
        if (all <= 0)
                return;
        group = MAX(group, SMALLEST_GROUP * all);
        p->n_groups = 0;
        for (guint k = 0; k < p->n_supports; k++) {
                const Support *s = SUPPORT(c, p->first_support + k);
                guint from = 0;

                width = 1 / s->cells_per_ns;
                floor_ = 1e-3 / (width * s->n_cells);
                while (from < s->n_cells) {
                        double sum = 0, rest = 0;
                        guint to = from;

                        while (to < s->n_cells && (sum < group || to == from))
                                sum += c->mass[s->first_cell + to++];
                        for (guint i = to; i < s->n_cells && rest < group; i++)
                                rest += c->mass[s->first_cell + i];
                        if (rest < group / 2) /* too few for a group of their own */
                                for (; to < s->n_cells; to++)
                                        sum += c->mass[s->first_cell + to];
                        p->n_groups += sum >= group / 2;
                        for (guint i = from; i < to; i++)
                                c->density[s->first_cell + i] =
                                        MAX(sum / (all * width * (to - from)), floor_);
                        from = to;
                }
        }
}

/* The passage of two edges that is not beside others; NULL if there is none. */
static Passage *find_old_passage(const NodeCauses *c, guint in, guint out)
{
        for (guint i = 0; i < c->passages->len; i++) {
                Passage *p = PASSAGE(c, i);

                if (p->in == in && p->out == out && p->group == in && !p->dropped)
                        return p;
        }
        return NULL;
}

void node_causes_add_passage(NodeCauses *c, guint in, guint out, const GArray *windows,
                             const float *correlation, const float *background, const Lags *lags,
                             const Quanta *quanta, gboolean beside)
{
        Passage passage = { .in = in, .out = out, .group = in, .share_of_way = 1 }, *p;
        guint index = c->passages->len;
        Passage *old = NULL, before = { 0 };

        if (beside) {
                passage.group = c->groups->len;
                add_slot_group(c, in);
        } else if ((old = find_old_passage(c, in, out))) {
                old->dropped = TRUE;
                before = *old;
        }
        g_array_append_val(c->passages, passage);
        add_supports(c, index, old ? &before : NULL, windows, lags, quanta);
        p = PASSAGE(c, index);
        p->excess = before.explained;
        for (guint i = 0; i < windows->len; i++)
                p->excess += g_array_index(windows, DelayWindow, i).excess;
        for (guint k = 0; k < p->n_supports; k++) {
                const Support *s = SUPPORT(c, p->first_support + k);

                for (guint i = 0; i < s->n_cells; i++) {
                        gint64 delay = s->from + (gint64)((i + 0.5) / s->cells_per_ns);
                        gint64 at = quanta_lag(quanta, delay + quanta->quantum / 2) - lags->first;
                        double excess;

                        at = CLAMP(at, 0, (gint64)lags->n - 1);
                        excess = MAX(correlation[at] - background[at], 0) / (double)quanta->quantum;
                        if (old)
                                excess += before.explained * density_at(c, &before, delay);
                        c->mass[s->first_cell + i] = excess / s->cells_per_ns;
                }
        }
        learn_density(c, p, START_GROUP);
        p->share = p->explained = p->excess;
        p->share /= c->in[in]->n;
}

/* --- candidate pairs ------------------------------------------------------------ */

/* Lists the passages to an out-edge that were not dropped. Returns their number. */
static guint list_passages(const NodeCauses *c, guint out, guint *passages)
{
        guint n = 0;

        for (guint i = 0; i < c->passages->len; i++)
                if (PASSAGE(c, i)->out == out && !PASSAGE(c, i)->dropped)
                        passages[n++] = i;
        return n;
}

static void find_candidate_pairs(NodeCauses *c)
{
        Matching *pairs = &c->pairs;
        /* By support: the first cause that is not too early, and the first that is too late. */
        g_autofree guint32 *cursor = g_new(guint32, c->supports->len);
        g_autofree guint32 *end = g_new(guint32, c->supports->len);
        g_autofree guint *passages = g_new(guint, c->passages->len);

        matching_start(pairs, c->n_effects);
        for (guint k = 0; k < c->n_out; k++) {
                const EdgeTrace *out = c->out[k];
                guint n = list_passages(c, k, passages);

                fill(cursor, 0, c->supports->len * sizeof *cursor);
                fill(end, 0, c->supports->len * sizeof *end);
                for (guint32 z = 0; z < out->n; z++) {
                        matching_next_effect(pairs, c->first_effect[k] + z);
                        for (guint i = 0; i < n; i++) {
                                const Passage *p = PASSAGE(c, passages[i]);
                                const EdgeTrace *in = c->in[p->in];
                                guint32 slot = GROUP_OF(c, p->group)->first_slot;

                                for (guint s = p->first_support;
                                     s < p->first_support + p->n_supports; s++) {
                                        const Support *support = SUPPORT(c, s);
                                        gint64 earliest = out->sent[z] - support->to;
                                        gint64 latest = out->sent[z] - support->from;

                                        while (cursor[s] < in->n &&
                                               in->received[cursor[s]] < earliest)
                                                cursor[s]++;
                                        while (end[s] < in->n && in->received[end[s]] <= latest)
                                                end[s]++;
                                        for (guint32 a = MAX(cursor[s],
                                                             end[s] - MIN(end[s], MOST_CAUSES));
                                             a < end[s]; a++)
                                                matching_add(
                                                        pairs, slot + a,
                                                        cell_of_delay(support,
                                                                      out->sent[z] -
                                                                              in->received[a]));
                                }
                        }
                }
        }
        matching_end(pairs);
}

/* --- expectation: how likely each pair is ----------------------------------------- */

static guint32 cause_of_slot(const NodeCauses *c, guint32 slot, guint group)
{
        const Group *g = GROUP_OF(c, group);

        return c->first_cause[g->in] + (slot - g->first_slot);
}

/* The probability that a cause with this past has no effect in the group. */
static double childless(const NodeCauses *c, guint32 past, guint group)
{
        double rest = 1;

        for (guint i = 0; i < c->passages->len; i++)
                if (PASSAGE(c, i)->group == group && !PASSAGE(c, i)->dropped)
                        rest -= c->past ? c->past_share[(gsize)past * c->passages->len + i]
                                        : PASSAGE(c, i)->share;
        return MAX(rest, LEAST_CHILDLESS);
}

static void start_slots(NodeCauses *c, double *sum)
{
        for (guint g = 0; g < c->groups->len; g++) {
                const Group *group = GROUP_OF(c, g);
                guint32 n = c->in[group->in]->n;

                if (c->past) {
                        double *rest = g_new(double, c->n_pasts);

                        rest[c->n_pasts - 1] = 1; /* of edges without passages */
                        for (guint i = 0; i + 1 < c->n_pasts; i++)
                                if (c->past_in[i] == group->in)
                                        rest[i] = childless(c, i, g);
                        for (guint32 i = 0; i < n; i++)
                                sum[group->first_slot + i] =
                                        rest[c->past[c->first_cause[group->in] + i]];
                        g_free(rest);
                } else {
                        double rest = childless(c, 0, g);

                        for (guint32 i = 0; i < n; i++)
                                sum[group->first_slot + i] = rest;
                }
        }
}

/* The rate, per ns, at which the cause of a pair has this effect after this delay. */
static double weight_of_pair(const NodeCauses *c, gsize pair, guint32 effect)
{
        guint passage = c->passage_of[c->pairs.kind[pair]];
        const Passage *p = PASSAGE(c, passage);
        double share = p->share;

        if (p->dropped)
                return 0;
        if (c->past) {
                guint32 past = c->past[cause_of_slot(c, c->pairs.slot[pair], p->group)];

                share = c->future_share[past * c->n_futures + c->future[effect]] *
                        c->future_weight[c->future[effect]] * p->share_of_way;
        }
        return share * c->density[c->pairs.kind[pair]];
}

/* Sets the weights of pairs, and the sum of each slot: its messages from effects, and its weight of
 * no effect. */
static void weigh_pairs(NodeCauses *c)
{
        for (guint k = 0; k < c->n_out; k++)
                for (guint32 z = c->first_effect[k]; z < c->first_effect[k + 1]; z++)
                        for (gsize i = c->pairs.first[z]; i < c->pairs.first[z + 1]; i++)
                                c->pairs.weight[i] = (float)(weight_of_pair(c, i, z) / c->rate[k]);
        start_slots(c, c->slot_sum);
        matching_sum_claims(&c->pairs, c->slot_sum);
}

static void sweep(NodeCauses *c, gboolean limited)
{
        MatchBy by = c->without & JOINT_EXPLAINING_AWAY ? MATCH_ALONE
                     : limited                          ? MATCH_LIMITED
                                                        : MATCH_FREE;

        for (guint k = 0; k < c->n_out; k++)
                c->unexplained[k] = matching_sweep(&c->pairs, c->first_effect[k],
                                                   c->first_effect[k + 1], c->slot_sum, by);
}

/* --- maximisation ----------------------------------------------------------------- */

/* The shares of a past's in-edge, by future. */
static double *base_of_past(const NodeCauses *c, gsize past)
{
        return c->future_base + c->base_of[c->past_in[past]] * c->n_futures;
}

static void learn_shares(NodeCauses *c)
{
        double price = c->without & JOINT_PRICE ? 0 : PRICE;
        guint n = c->passages->len;

        fill(c->mass, 0, c->n_cells * sizeof *c->mass);
        for (gsize i = 0; i < c->pairs.n; i++)
                c->mass[c->pairs.kind[i]] += c->pairs.belief[i];
        for (guint i = 0; i < n; i++) {
                Passage *p = PASSAGE(c, i);

                p->explained = 0;
                for (guint k = 0; k < p->n_cells; k++)
                        p->explained += c->mass[p->first_cell + k];
                p->share = MAX(p->explained - price * p->n_groups, 0) / c->in[p->in]->n;
                p->kept = p->explained > 0 ? p->share * c->in[p->in]->n / p->explained : 0;
        }
        for (guint i = 0; i < n; i++) {
                double way = 0;

                for (guint o = 0; o < n; o++)
                        if (PASSAGE(c, o)->in == PASSAGE(c, i)->in &&
                            PASSAGE(c, o)->out == PASSAGE(c, i)->out)
                                way += PASSAGE(c, o)->share;
                PASSAGE(c, i)->share_of_way = way > 0 ? PASSAGE(c, i)->share / way : 0;
        }
        for (guint k = 0; k < c->n_out; k++)
                c->rate[k] = MAX(c->unexplained[k], 1e-3 * c->out[k]->n) / c->duration;
        if (!c->past)
                return;
        fill(c->future_mass, 0, c->n_pasts * c->n_futures * sizeof *c->future_mass);
        fill(c->past_mass, 0, c->n_pasts * n * sizeof *c->past_mass);
        for (guint32 z = 0; z < c->n_effects; z++)
                for (gsize i = c->pairs.first[z]; i < c->pairs.first[z + 1]; i++) {
                        guint passage = c->passage_of[c->pairs.kind[i]];
                        guint32 cause =
                                cause_of_slot(c, c->pairs.slot[i], PASSAGE(c, passage)->group);
                        guint32 past = c->past[cause];

                        c->past_mass[(gsize)past * n + passage] += c->pairs.belief[i];
                        c->future_mass[past * c->n_futures + c->future[z]] +=
                                c->pairs.belief[i] * PASSAGE(c, passage)->kept;
                }
        for (gsize x = 0; x < c->n_pasts; x++)
                for (guint i = 0; i < n; i++)
                        c->past_share[x * n + i] = (c->past_mass[x * n + i] * PASSAGE(c, i)->kept +
                                                    PRIOR * PASSAGE(c, i)->share) /
                                                   (c->past_n[x] + PRIOR);
        fill(c->future_base, 0, c->n_bases * c->n_futures * sizeof *c->future_base);
        for (gsize x = 0; x + 1 < c->n_pasts; x++)
                for (guint i = 0; i < c->n_futures; i++)
                        base_of_past(c, x)[i] +=
                                c->future_mass[x * c->n_futures + i] / c->in[c->past_in[x]]->n;
        for (gsize x = 0; x + 1 < c->n_pasts; x++)
                for (guint i = 0; i < c->n_futures; i++)
                        c->future_share[x * c->n_futures + i] =
                                (c->future_mass[x * c->n_futures + i] +
                                 PRIOR * base_of_past(c, x)[i]) /
                                (c->past_n[x] + PRIOR);
}

static void learn_densities(NodeCauses *c)
{
        for (guint i = 0; i < c->passages->len; i++)
                if (!PASSAGE(c, i)->dropped)
                        learn_density(c, PASSAGE(c, i), GROUP);
}

static void drop_rare(NodeCauses *c)
{
        for (guint i = 0; i < c->passages->len; i++)
                if (PASSAGE(c, i)->explained < c->least / 2)
                        PASSAGE(c, i)->dropped = TRUE;
}

static void start_effect_rates(NodeCauses *c)
{
        for (guint k = 0; k < c->n_out; k++)
                c->unexplained[k] = c->out[k]->n;
        for (guint i = 0; i < c->passages->len; i++)
                c->unexplained[PASSAGE(c, i)->out] -= PASSAGE(c, i)->excess;
        for (guint k = 0; k < c->n_out; k++)
                c->rate[k] = MAX(c->unexplained[k], 0.1 * c->out[k]->n) / c->duration;
}

void node_causes_learn(NodeCauses *c, guint rounds)
{
        guint still = 0;
        gboolean limited = c->learned;

        if (!c->learned)
                start_effect_rates(c);
        c->learned = TRUE;
        find_candidate_pairs(c);
        for (guint round = 0; round < rounds; round++) {
                weigh_pairs(c);
                limited |= round == FREE_ROUNDS;
                limited &= !(c->without & JOINT_LIMIT);
                sweep(c, limited);
                if (limited && still++ < STILL_ROUNDS)
                        continue;
                learn_shares(c);
                learn_densities(c);
        }
        drop_rare(c);
}

/* --- pasts and futures ------------------------------------------------------------- */

static void count_pasts(NodeCauses *c)
{
        fill(c->past_n, 0, c->n_pasts * sizeof *c->past_n);
        fill(c->past_in, 0, c->n_pasts * sizeof *c->past_in);
        for (guint i = 0; i < c->n_in; i++)
                for (guint32 a = c->first_cause[i]; a < c->first_cause[i + 1]; a++) {
                        c->past_n[c->past[a]]++;
                        c->past_in[c->past[a]] = i;
                }
}

static void count_futures(NodeCauses *c)
{
        fill(c->future_weight, 0, c->n_futures * sizeof *c->future_weight);
        for (guint32 z = 0; z < c->n_effects; z++)
                c->future_weight[c->future[z]]++;
        for (guint k = 0; k < c->n_out; k++)
                for (guint32 z = c->first_effect[k]; z < c->first_effect[k + 1]; z++)
                        if (c->future_weight[c->future[z]] >= 1) /* not replaced yet */
                                c->future_weight[c->future[z]] =
                                        -c->future_weight[c->future[z]] / c->out[k]->n;
        for (guint i = 0; i < c->n_futures; i++)
                c->future_weight[i] = -1 / c->future_weight[i];
}

/* The probability that an effect has a cause at all. */
static double explained_share(const NodeCauses *c, guint32 effect)
{
        double sum = 0;

        for (gsize i = c->pairs.first[effect]; i < c->pairs.first[effect + 1]; i++)
                sum += c->pairs.belief[i];
        return sum;
}

/* --- unexplained ------------------------------------------------------------------ */

void node_causes_unexplained(const NodeCauses *c, guint out, GArray *times)
{
        g_array_set_size(times, 0);
        for (guint32 i = 0; i < c->out[out]->n; i++) {
                if (explained_share(c, c->first_effect[out] + i) < WELL_EXPLAINED)
                        g_array_append_val(times, c->out[out]->sent[i]);
        }
}

void node_causes_childless(const NodeCauses *c, guint in, GArray *times)
{
        float *effects = g_new0(float, c->in[in]->n);

        for (gsize k = 0; k < c->pairs.n; k++) {
                const Group *g = GROUP_OF(c, in);
                guint32 slot = c->pairs.slot[k];

                if (slot >= g->first_slot && slot < g->first_slot + c->in[in]->n)
                        effects[slot - g->first_slot] += c->pairs.belief[k];
        }
        g_array_set_size(times, 0);
        for (guint32 i = 0; i < c->in[in]->n; i++)
                if (effects[i] < 0.5f)
                        g_array_append_val(times, c->in[in]->received[i]);
        g_free(effects);
}

/* Numbers anew the pasts or futures of messages on edges with passages, in the same order. Messages
 * on other edges all get the next number, as most edges of a node with many have no passage. first:
 * by edge, and where the last one ends. Returns the number of numbers. */
static gsize renumber(guint32 *number, guint n, const gboolean *passes, const guint32 *first,
                      guint n_edges)
{
        g_autofree guint32 *new = g_new(guint32, n + 1);
        guint32 n_new = 0;

        fill(new, 0xff, n * sizeof *new);
        for (guint i = 0; i < n_edges; i++)
                for (guint32 m = first[i]; passes[i] && m < first[i + 1]; m++)
                        new[number[m]] = 0;
        for (guint i = 0; i < n; i++)
                if (new[i] == 0)
                        new[i] = n_new++;
        for (guint32 m = 0; m < first[n_edges]; m++)
                number[m] = MIN(new[number[m]], n_new);
        return n_new + 1;
}

/* Takes the pasts and futures of edges with passages. */
static void take_history(NodeCauses *c, const guint32 *past, guint n_pasts, const guint32 *future,
                         guint n_futures)
{
        g_autofree gboolean *from = g_new0(gboolean, c->n_in), *to = g_new0(gboolean, c->n_out);

        for (guint i = 0; i < c->passages->len; i++)
                from[PASSAGE(c, i)->in] = to[PASSAGE(c, i)->out] = TRUE;
        c->base_of = g_renew(guint, c->base_of, c->n_in);
        c->n_bases = 0;
        for (guint i = 0; i < c->n_in; i++) {
                c->base_of[i] = c->n_bases;
                c->n_bases += from[i];
        }
        g_free(c->past);
        g_free(c->future);
        c->past = g_memdup2(past, c->n_causes * sizeof *past);
        c->future = g_memdup2(future, c->n_effects * sizeof *future);
        c->n_pasts = renumber(c->past, n_pasts, from, c->first_cause, c->n_in);
        c->n_futures = renumber(c->future, n_futures, to, c->first_effect, c->n_out);
}

void node_causes_set_history(NodeCauses *c, const guint32 *past, guint n_pasts,
                             const guint32 *future, guint n_futures)
{
        guint n = c->passages->len;

        take_history(c, past, n_pasts, future, n_futures);
        c->past_in = g_renew(guint, c->past_in, c->n_pasts);
        c->past_n = g_renew(double, c->past_n, c->n_pasts);
        c->past_share = g_renew(double, c->past_share, c->n_pasts *n);
        c->past_mass = g_renew(double, c->past_mass, c->n_pasts *n);
        c->future_share = g_renew(double, c->future_share, c->n_pasts * c->n_futures);
        c->future_mass = g_renew(double, c->future_mass, c->n_pasts * c->n_futures);
        c->future_base = g_renew(double, c->future_base, c->n_bases * c->n_futures);
        c->future_weight = g_renew(double, c->future_weight, c->n_futures);
        count_pasts(c);
        count_futures(c);
        for (gsize x = 0; x < c->n_pasts; x++) {
                double *share = &c->future_share[x * c->n_futures];

                fill(share, 0, c->n_futures * sizeof *share);
                for (guint i = 0; i < n; i++) {
                        const Passage *p = PASSAGE(c, i);

                        c->past_share[x * n + i] = p->share;
                        if (p->in != c->past_in[x] || x + 1 == c->n_pasts)
                                continue;
                        for (guint32 z = c->first_effect[p->out]; z < c->first_effect[p->out + 1];
                             z++)
                                share[c->future[z]] += p->share / c->out[p->out]->n;
                }
        }
}

/* --- attribution -------------------------------------------------------------------- */

/* A pair that may be attributed. */
typedef struct {
        gsize pair;
        guint32 effect;
} Choice;

/* Sorts the pairs of effects that have a cause by probability, the most probable first. */
static Choice *sort_choices(const NodeCauses *c, gsize *n)
{
        const Matching *pairs = &c->pairs;
        guint16 *level = g_new0(guint16, MAX(pairs->n, 1)); /* 0: not to be attributed */
        gsize at[LEVELS + 2] = { 0 };
        Choice *choices;

        for (guint32 z = 0; z < c->n_effects; z++) {
                if (explained_share(c, z) < EXPLAINED)
                        continue;
                for (gsize i = pairs->first[z]; i < pairs->first[z + 1]; i++)
                        if (pairs->belief[i] >= LEAST_PROBABILITY) {
                                level[i] = (guint16)(1 + MIN(pairs->belief[i], 1) * (LEVELS - 1));
                                at[LEVELS + 1 - level[i]]++;
                        }
        }
        for (guint l = 0; l <= LEVELS; l++)
                at[l + 1] += at[l];
        *n = at[LEVELS + 1];
        choices = g_new(Choice, MAX(*n, 1));
        for (guint32 z = 0; z < c->n_effects; z++)
                for (gsize i = pairs->first[z]; i < pairs->first[z + 1]; i++)
                        if (level[i])
                                choices[at[LEVELS - level[i]]++] = (Choice){ i, z };
        g_free(level);
        return choices;
}

static guint32 cause_of_pair(const NodeCauses *c, gsize pair)
{
        return cause_of_slot(c, c->pairs.slot[pair],
                             PASSAGE(c, c->passage_of[c->pairs.kind[pair]])->group);
}

/* The probability that the effect has a cause with the same past as the pair's. */
static double past_probability(const NodeCauses *c, const Choice *choice)
{
        guint32 past;
        double sum = 0;

        if (!c->past)
                return c->pairs.belief[choice->pair];
        past = c->past[cause_of_pair(c, choice->pair)];
        for (gsize i = c->pairs.first[choice->effect]; i < c->pairs.first[choice->effect + 1]; i++)
                if (c->past[cause_of_pair(c, i)] == past)
                        sum += c->pairs.belief[i];
        return MIN(sum, 1);
}

void node_causes_attribute(NodeCauses *c, CauseFound found, gpointer data)
{
        g_autofree guint8 *slot_taken = g_new0(guint8, MAX(c->n_slots, 1));
        g_autofree guint8 *effect_taken = g_new0(guint8, MAX(c->n_effects, 1));
        gsize n;
        g_autofree Choice *choices = sort_choices(c, &n);

        for (gsize k = 0; k < n; k++) {
                guint32 z = choices[k].effect, slot = c->pairs.slot[choices[k].pair];
                const Passage *p = PASSAGE(c, c->passage_of[c->pairs.kind[choices[k].pair]]);

                if (slot_taken[slot] || effect_taken[z])
                        continue;
                slot_taken[slot] = effect_taken[z] = 1;
                found(data, p->out, z - c->first_effect[p->out], p->in,
                      slot - GROUP_OF(c, p->group)->first_slot, past_probability(c, &choices[k]));
        }
}

double node_causes_explained(const NodeCauses *c)
{
        double rest = 0;

        if (!c->passages->len)
                return 0;
        for (guint k = 0; k < c->n_out; k++)
                rest += c->unexplained[k];
        return 1 - rest / MAX(c->n_effects, 1);
}
