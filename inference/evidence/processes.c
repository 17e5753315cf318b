/* SPDX-License-Identifier: BSD-2-Clause */
#include "inference/evidence/processes.h"
#include "base/exact-log.h"
#include "base/fill.h"
#include "inference/model/problem.h"
#include "inference/model/tuning.h"

/* The log likelihood (Poisson) that a pair adds in one group rather than in two: a pair seen, and a
 * pair dealt at random. */
typedef struct {
        double seen, dealt;
} Worth;

/* The frequencies of pairs in one group (own) and in two, as multiples of random ones. */
typedef struct {
        double own, other;
} Ratios;

/* Groups in the making. There is a group for each connection out of the node, and some are empty.
 * Threads may keep connections to one end, and a pool may deal connections to another. So each two
 * ends have ratios of their own. */
typedef struct {
        const ConnectionPairs *pairs;
        guint32 n_out;
        guint32 *of;    /* by connection: its group; NO_PARENT until the first sweep */
        guint32 *size;  /* by group */
        double *gain;   /* by connection and group: the gain of its pairs with that group */
        Ratios *ratios; /* by end and end */
        Worth *worth;   /* likewise */
} Groups;

static inline gsize in_group(const Groups *g, guint32 connection, guint32 group)
{
        return (gsize)connection * g->n_out + group;
}

static inline gsize two_ends(const ConnectionPairs *pairs, guint32 one, guint32 other)
{
        return (gsize)pairs->end[one] * pairs->n_ends + pairs->end[other];
}

/* The place of a pair with a connection out of the node. */
static inline gsize pair_of(const ConnectionPairs *pairs, guint32 one, guint32 out)
{
        return (gsize)one * (pairs->n - pairs->n_in) + out - pairs->n_in;
}

/* Adds a connection to a group (sign 1), or removes it (-1). */
static void put(Groups *g, guint32 connection, guint32 group, double sign)
{
        const ConnectionPairs *pairs = g->pairs;
        guint32 n_in = pairs->n_in;

        if (group == NO_PARENT)
                return;
        g->of[connection] = sign > 0 ? group : NO_PARENT;
        g->size[group] += sign > 0 ? 1 : G_MAXUINT32;
        for (guint32 i = connection < n_in ? n_in : 0; i < pairs->n; i++) {
                /* Pairs of two connections out are stored twice, others once. */
                gsize at = i < n_in ? pair_of(pairs, i, connection) : pair_of(pairs, connection, i);
                const Worth *w = &g->worth[two_ends(pairs, connection, i)];

                g->gain[in_group(g, i, group)] += sign * ((double)pairs->seen[at] * w->seen -
                                                          (double)pairs->dealt[at] * w->dealt);
        }
}

static void begin(Groups *g)
{
        const ConnectionPairs *pairs = g->pairs;

        for (guint32 i = 0; i < pairs->n_ends * pairs->n_ends; i++)
                g->worth[i] = (Worth){ exact_log(g->ratios[i].own / g->ratios[i].other),
                                       g->ratios[i].own - g->ratios[i].other };
        fill(g->gain, 0, (gsize)pairs->n * g->n_out * sizeof *g->gain);
        fill(g->size, 0, g->n_out * sizeof *g->size);
        fill(g->of, 0xff, pairs->n * sizeof *g->of);
        for (guint32 k = 0; k < g->n_out; k++)
                put(g, pairs->n_in + k, k, 1);
}

/* The group in which a connection's pairs are the likeliest. */
static guint32 best_group(const Groups *g, guint32 connection)
{
        guint32 best = NO_PARENT, old = g->of[connection];
        double most = 0;

        for (guint32 k = 0; k < g->n_out; k++) {
                double gain = g->gain[in_group(g, connection, k)];

                if (g->size[k] == 0)
                        continue;
                if (best == NO_PARENT || gain > most || (gain == most && k == old)) {
                        best = k;
                        most = gain;
                }
        }
        return best;
}

static void move_connections(Groups *g)
{
        for (guint32 i = 0; i < g->pairs->n; i++) {
                guint32 old = g->of[i], best = best_group(g, i);

                if (best == old)
                        continue;
                put(g, i, old, -1);
                put(g, i, best, 1);
        }
}

/* The best group to merge a group with, or NO_PARENT. gain: room, by group. */
static guint32 best_merger(const Groups *g, guint32 group, double *gain)
{
        guint32 best = NO_PARENT;

        fill(gain, 0, g->n_out * sizeof *gain);
        for (guint32 i = 0; i < g->pairs->n; i++)
                for (guint32 k = 0; g->of[i] == group && k < g->n_out; k++)
                        gain[k] += g->gain[in_group(g, i, k)];
        for (guint32 k = 0; k < g->n_out; k++)
                if (k != group && g->size[k] > 0 && gain[k] > 0 &&
                    (best == NO_PARENT || gain[k] > gain[best]))
                        best = k;
        return best;
}

static void merge_groups(Groups *g)
{
        g_autofree double *gain = g_new(double, g->n_out);

        for (guint32 k = 0; k < g->n_out; k++) {
                guint32 best = g->size[k] > 0 ? best_merger(g, k, gain) : NO_PARENT;

                if (best == NO_PARENT)
                        continue;
                for (guint32 i = 0; i < g->pairs->n; i++)
                        if (g->of[i] == k) {
                                put(g, i, k, -1);
                                put(g, i, best, 1);
                        }
        }
}

/* Pairs of one group (1) and of two (0), seen and dealt. */
typedef struct {
        double seen[2], dealt[2];
} Sums;

/* Sums by end and end; pairs with two different ends are stored twice. Free it with g_free(). */
static Sums *sum_pairs(const Groups *g, const float *seen, const float *dealt)
{
        const ConnectionPairs *pairs = g->pairs;
        Sums *by_ends = g_new0(Sums, (gsize)pairs->n_ends * pairs->n_ends);

        for (guint32 i = 0; i < pairs->n; i++)
                for (guint32 k = pairs->n_in; k < pairs->n; k++) {
                        gsize at = pair_of(pairs, i, k);
                        Sums *s = &by_ends[two_ends(pairs, i, k)];
                        guint own = g->of[k] == g->of[i];

                        s->seen[own] += seen[at];
                        s->dealt[own] += dealt[at];
                }
        return by_ends;
}

/* Finds the ratios. FALSE: pairs of one group are no more frequent than pairs of two. */
static gboolean find_ratios(Groups *g)
{
        const ConnectionPairs *pairs = g->pairs;
        guint32 n = pairs->n_ends;
        g_autofree Sums *sums = sum_pairs(g, pairs->seen, pairs->dealt);
        gboolean apart = FALSE;

        for (guint32 a = 0; a < n; a++)
                for (guint32 b = a; b < n; b++) {
                        gsize at[] = { (gsize)a * n + b, (gsize)b * n + a };
                        const Sums *s = &sums[at[0]];
                        Ratios r = { (s->seen[1] + tuning.process_backoff) /
                                             (s->dealt[1] + tuning.process_backoff),
                                     (s->seen[0] + tuning.process_backoff) /
                                             (s->dealt[0] + tuning.process_backoff) };

                        if (r.own <= r.other)
                                r = (Ratios){ 1, 1 };
                        else
                                apart = TRUE;
                        g->ratios[at[0]] = g->ratios[at[1]] = r;
                }
        return apart;
}

/* Begins with the same ratios for all ends; or, as_seen, with the ratios of pairs seen. These are
 * the mean of seen to dealt over the pairs seen. They are right for one group if all pairs are of
 * one. */
static void begin_ratios(Groups *g, gboolean as_seen)
{
        const ConnectionPairs *pairs = g->pairs;
        guint32 n = pairs->n_ends;
        g_autofree double *seen = g_new0(double, (gsize)n *n), *sum = g_new0(double, (gsize)n *n);

        for (guint32 i = 0; i < pairs->n; i++)
                for (guint32 k = pairs->n_in; as_seen && k < pairs->n; k++) {
                        gsize at = pair_of(pairs, i, k), ends = two_ends(pairs, i, k);
                        double ratio = (pairs->seen[at] + tuning.process_backoff) /
                                       (pairs->dealt[at] + tuning.process_backoff);

                        seen[ends] += pairs->seen[at];
                        sum[ends] += (double)pairs->seen[at] * ratio;
                }
        for (guint32 a = 0; a < n; a++)
                for (guint32 b = a; b < n; b++) {
                        gsize at = (gsize)a * n + b;
                        double own = !as_seen       ? tuning.process_own
                                     : seen[at] > 0 ? sum[at] / seen[at]
                                                    : 1;

                        g->ratios[at] =
                                own > 1 ? (Ratios){ own, tuning.process_other } : (Ratios){ 1, 1 };
                        g->ratios[(gsize)b * n + a] = g->ratios[at];
                }
}

/* Begins with a group for each connection out of the node, then moves and merges each once. FALSE:
 * there are no groups. */
static gboolean find_groups(Groups *g)
{
        begin(g);
        move_connections(g);
        merge_groups(g);
        return find_ratios(g);
}

/* --- pairs that tell something ------------------------------------------------------ */

/* The connections that have pairs enough, by which groups are sought. */
typedef struct {
        ConnectionPairs pairs;
        guint32 *connection; /* each of them, as the caller numbers it */
} Telling;

static void telling_clear(Telling *t)
{
        g_free((gpointer)t->pairs.seen);
        g_free((gpointer)t->pairs.dealt);
        g_free((gpointer)t->pairs.kept_seen);
        g_free((gpointer)t->pairs.kept_dealt);
        g_free((gpointer)t->pairs.end);
        g_free(t->connection);
}

static double count_pairs(const ConnectionPairs *all, guint32 connection)
{
        guint32 n_out = all->n - all->n_in;
        double n = 0;

        for (guint32 k = 0; k < n_out; k++)
                n += all->seen[pair_of(all, connection, all->n_in + k)];
        return n;
}

static float *take_pairs(const ConnectionPairs *all, const Telling *t, const float *pairs)
{
        guint32 n_out = t->pairs.n - t->pairs.n_in, n = t->pairs.n;
        float *taken = g_new(float, (gsize)n *n_out);

        for (guint32 i = 0; i < n; i++)
                for (guint32 k = 0; k < n_out; k++)
                        taken[(gsize)i * n_out + k] = pairs[pair_of(
                                all, t->connection[i], t->connection[t->pairs.n_in + k])];
        return taken;
}

static void find_telling(Telling *t, const ConnectionPairs *all)
{
        guint32 *end = g_new(guint32, all->n);

        *t = (Telling){ .connection = g_new(guint32, all->n) };
        for (guint32 i = 0; i < all->n; i++) {
                if (count_pairs(all, i) < tuning.process_uses)
                        continue;
                end[t->pairs.n] = all->end[i];
                t->connection[t->pairs.n++] = i;
                t->pairs.n_in += i < all->n_in;
        }
        t->pairs.n_ends = all->n_ends;
        t->pairs.end = end;
        t->pairs.seen = take_pairs(all, t, all->seen);
        t->pairs.dealt = take_pairs(all, t, all->dealt);
        t->pairs.kept_seen = take_pairs(all, t, all->kept_seen);
        t->pairs.kept_dealt = take_pairs(all, t, all->kept_dealt);
}

/* Finds the ends whose connections processes keep: groups of these foretell the pairs of other
 * parents. Returns how much likelier those pairs are, in nats. */
static double find_kept(const Groups *g, gboolean *kept)
{
        const ConnectionPairs *pairs = g->pairs;
        guint32 n = pairs->n_ends;
        g_autofree Sums *sums = sum_pairs(g, pairs->kept_seen, pairs->kept_dealt);
        double sum = 0;

        fill(kept, 0, n * sizeof *kept);
        for (guint32 a = 0; a < n; a++)
                for (guint32 b = a; b < n; b++) {
                        const Ratios *r = &g->ratios[(gsize)a * n + b];
                        const Sums *s = &sums[(gsize)a * n + b];
                        double gain = s->seen[1] * exact_log(r->own) - s->dealt[1] * (r->own - 1) +
                                      s->seen[0] * exact_log(r->other) -
                                      s->dealt[0] * (r->other - 1);

                        if (gain <= 0)
                                continue;
                        kept[a] = kept[b] = TRUE;
                        sum += gain;
                }
        return sum;
}

/* Keeps as processes the groups of at least two connections that processes keep. FALSE: there are
 * fewer than two groups. */
static gboolean take_groups(const Groups *g, const gboolean *kept, const Telling *t, Processes *p)
{
        const ConnectionPairs *pairs = g->pairs;
        g_autofree guint32 *number = g_new(guint32, g->n_out);
        g_autofree guint32 *size = g_new0(guint32, g->n_out);
        g_autofree double *own = g_new0(double, g->n_out), *all = g_new0(double, g->n_out);
        double sum = 0, seen = 0, dealt = 0;
        guint32 n = 0;

        for (guint32 i = 0; i < pairs->n; i++)
                size[g->of[i]] += kept[pairs->end[i]];
        for (guint32 k = 0; k < g->n_out; k++)
                number[k] = size[k] >= 2 ? n++ : NO_PARENT;
        if (n < 2)
                return FALSE;
        p->n = n;
        for (guint32 i = 0; i < pairs->n; i++) {
                guint32 of = kept[pairs->end[i]] ? number[g->of[i]] : NO_PARENT;

                p->of[t->connection[i]] = of;
                for (guint32 k = pairs->n_in; of != NO_PARENT && k < pairs->n; k++) {
                        gsize at = pair_of(pairs, i, k);

                        if (!kept[pairs->end[k]])
                                continue;
                        all[of] += pairs->dealt[at];
                        if (g->of[k] == g->of[i]) {
                                own[of] += pairs->dealt[at];
                        } else {
                                seen += pairs->seen[at];
                                dealt += pairs->dealt[at];
                        }
                }
        }
        for (guint32 k = 0; k < p->n; k++) {
                p->share[k] = (float)((own[k] + 1) / (all[k] + p->n));
                sum += p->share[k];
        }
        for (guint32 k = 0; k < p->n; k++)
                p->share[k] = (float)(p->share[k] / sum);
        p->strange = (float)((seen + tuning.process_backoff) / (dealt + tuning.process_backoff));
        return TRUE;
}

/* A process may have threads that keep connections, too. So groups are sought twice. A fixed ratio
 * for pairs of one group finds processes. The ratios as seen find threads, where there are any. The
 * groups that foretell more are kept. */
static void find_by(const Telling *t, Processes *p)
{
        const ConnectionPairs *pairs = &t->pairs;
        guint32 n_out = pairs->n - pairs->n_in;
        gsize n_ends = (gsize)pairs->n_ends * pairs->n_ends;
        g_autofree guint32 *of = g_new(guint32, pairs->n), *size = g_new(guint32, n_out);
        g_autofree double *gain = g_new(double, (gsize)pairs->n *n_out);
        g_autofree Ratios *ratios = g_new(Ratios, n_ends);
        g_autofree Worth *worth = g_new(Worth, n_ends);
        g_autofree gboolean *kept = g_new(gboolean, pairs->n_ends);
        Groups g = { pairs, n_out, of, size, gain, ratios, worth };
        double most = 0;

        for (guint as_seen = 0; as_seen <= 1; as_seen++) {
                gboolean found = TRUE;
                double foretold;

                begin_ratios(&g, as_seen);
                for (guint start = 0; found && start < tuning.process_starts; start++)
                        found = find_groups(&g);
                foretold = found ? find_kept(&g, kept) : 0;
                if (foretold > most && take_groups(&g, kept, t, p))
                        most = foretold;
        }
}

void processes_find(Processes *p, const ConnectionPairs *pairs)
{
        Telling telling;

        p->n = 0;
        fill(p->of, 0xff, pairs->n * sizeof *p->of);
        find_telling(&telling, pairs);
        if (telling.pairs.n - telling.pairs.n_in >= 2)
                find_by(&telling, p);
        telling_clear(&telling);
}
