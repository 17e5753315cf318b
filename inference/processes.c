/* SPDX-License-Identifier: BSD-2-Clause */
#include "inference/processes.h"
#include "base/exact-log.h"
#include "base/fill.h"
#include "inference/problem.h"
#include "inference/tuning.h"

/* Groups in the making: as many as there are connections out of the node, some of them empty. */
typedef struct {
        const ConnectionPairs *pairs;
        guint32 n_out;
        guint32 *of;   /* by connection: its group; NO_PARENT until the first sweep */
        guint32 *size; /* by group */
        /* Pairs of each connection, seen and dealt: with those of a group; with those of any. */
        float *seen, *dealt;
        float *all_seen, *all_dealt;
        double own, other;
} Groups;

static inline gsize in_group(const Groups *g, guint32 connection, guint32 group)
{
        return (gsize)connection * g->n_out + group;
}

/* Puts a connection into a group (sign 1), or takes it out (-1). */
static void put(Groups *g, guint32 connection, guint32 group, float sign)
{
        const ConnectionPairs *pairs = g->pairs;
        guint32 n_in = pairs->n_in;

        if (group == NO_PARENT)
                return;
        g->of[connection] = sign > 0 ? group : NO_PARENT;
        g->size[group] += sign > 0 ? 1 : G_MAXUINT32;
        for (guint32 i = connection < n_in ? n_in : 0; i < pairs->n; i++) {
                /* Pairs of two connections out stand twice, those with one into the node once. */
                gsize at = i < n_in ? (gsize)i * g->n_out + connection - n_in
                                    : (gsize)connection * g->n_out + i - n_in;
                float seen = sign * pairs->seen[at], dealt = sign * pairs->dealt[at];

                g->seen[in_group(g, i, group)] += seen;
                g->dealt[in_group(g, i, group)] += dealt;
                g->all_seen[i] += seen;
                g->all_dealt[i] += dealt;
        }
}

static void begin(Groups *g)
{
        gsize n = g->pairs->n, n_pairs = n * g->n_out;

        fill(g->seen, 0, n_pairs * sizeof *g->seen);
        fill(g->dealt, 0, n_pairs * sizeof *g->dealt);
        fill(g->all_seen, 0, n * sizeof *g->all_seen);
        fill(g->all_dealt, 0, n * sizeof *g->all_dealt);
        fill(g->size, 0, g->n_out * sizeof *g->size);
        fill(g->of, 0xff, n * sizeof *g->of);
        for (guint32 k = 0; k < g->n_out; k++)
                put(g, g->pairs->n_in + k, k, 1);
}

/* What a pair seen and one dealt are worth in the log likelihood (Poisson), in one group rather
 * than in two. */
typedef struct {
        double seen, dealt;
} Worth;

/* The group in which a connection's pairs are the likeliest. */
static guint32 best_group(const Groups *g, const Worth *w, guint32 connection)
{
        guint32 best = NO_PARENT, old = g->of[connection];
        double most = 0;

        for (guint32 k = 0; k < g->n_out; k++) {
                gsize at = in_group(g, connection, k);
                double gain = g->seen[at] * w->seen - g->dealt[at] * w->dealt;

                if (g->size[k] == 0)
                        continue;
                if (best == NO_PARENT || gain > most || (gain == most && k == old)) {
                        best = k;
                        most = gain;
                }
        }
        return best;
}

static gboolean move_connections(Groups *g, const Worth *w)
{
        gboolean moved = FALSE;

        for (guint32 i = 0; i < g->pairs->n; i++) {
                guint32 old = g->of[i], best = best_group(g, w, i);

                if (best == old)
                        continue;
                put(g, i, old, -1);
                put(g, i, best, 1);
                moved = TRUE;
        }
        return moved;
}

/* The group that one had best be one with, or NO_PARENT. gain: room, by group. */
static guint32 best_merger(const Groups *g, const Worth *w, guint32 group, double *gain)
{
        guint32 best = NO_PARENT;

        fill(gain, 0, g->n_out * sizeof *gain);
        for (guint32 i = 0; i < g->pairs->n; i++)
                for (guint32 k = 0; g->of[i] == group && k < g->n_out; k++)
                        gain[k] += g->seen[in_group(g, i, k)] * w->seen -
                                   g->dealt[in_group(g, i, k)] * w->dealt;
        for (guint32 k = 0; k < g->n_out; k++)
                if (k != group && g->size[k] > 0 && gain[k] > 0 &&
                    (best == NO_PARENT || gain[k] > gain[best]))
                        best = k;
        return best;
}

static gboolean merge_groups(Groups *g, const Worth *w)
{
        g_autofree double *gain = g_new(double, g->n_out);
        gboolean merged = FALSE;

        for (guint32 k = 0; k < g->n_out; k++) {
                guint32 best = g->size[k] > 0 ? best_merger(g, w, k, gain) : NO_PARENT;

                if (best == NO_PARENT)
                        continue;
                for (guint32 i = 0; i < g->pairs->n; i++)
                        if (g->of[i] == k) {
                                put(g, i, k, -1);
                                put(g, i, best, 1);
                        }
                merged = TRUE;
        }
        return merged;
}

/* Pairs of one group (own) and of two, seen and dealt. */
typedef struct {
        double seen[2], dealt[2];
} Sums;

static void add_pairs(const Groups *g, guint32 connection, Sums *s)
{
        gsize at = in_group(g, connection, g->of[connection]);

        s->seen[1] += g->seen[at];
        s->dealt[1] += g->dealt[at];
        s->seen[0] += g->all_seen[connection] - g->seen[at];
        s->dealt[0] += g->all_dealt[connection] - g->dealt[at];
}

/* FALSE: pairs of one group are hardly more frequent than those of two. */
static gboolean find_ratios(Groups *g)
{
        Sums s = { 0 };

        for (guint32 i = 0; i < g->pairs->n; i++)
                add_pairs(g, i, &s);
        g->own = (s.seen[1] + PROCESS_BACKOFF) / (s.dealt[1] + PROCESS_BACKOFF);
        g->other = (s.seen[0] + PROCESS_BACKOFF) / (s.dealt[0] + PROCESS_BACKOFF);
        return g->own > PROCESS_APART * g->other;
}

/* From a group for each connection out of the node: moves and merges until nothing gains. FALSE:
 * there are none. */
static gboolean find_groups(Groups *g)
{
        Worth w = { .seen = exact_log(g->own / g->other), .dealt = g->own - g->other };

        begin(g);
        for (guint i = 0; i < PROCESS_SWEEPS; i++) {
                gboolean moved = move_connections(g, &w);

                moved |= merge_groups(g, &w);
                if (!moved)
                        break;
        }
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
        g_free(t->connection);
}

static double count_pairs(const ConnectionPairs *all, guint32 connection)
{
        guint32 n_out = all->n - all->n_in;
        double n = 0;

        for (guint32 k = 0; k < n_out; k++)
                n += all->seen[(gsize)connection * n_out + k];
        return n;
}

static float *take_pairs(const ConnectionPairs *all, const Telling *t, const float *pairs)
{
        guint32 n_out = t->pairs.n - t->pairs.n_in, n = t->pairs.n;
        float *taken = g_new(float, (gsize)n *n_out);

        for (guint32 i = 0; i < n; i++)
                for (guint32 k = 0; k < n_out; k++)
                        taken[(gsize)i * n_out + k] =
                                pairs[(gsize)t->connection[i] * (all->n - all->n_in) +
                                      t->connection[t->pairs.n_in + k] - all->n_in];
        return taken;
}

static void find_telling(Telling *t, const ConnectionPairs *all)
{
        *t = (Telling){ .connection = g_new(guint32, all->n) };
        for (guint32 i = 0; i < all->n; i++) {
                if (count_pairs(all, i) < PROCESS_USES)
                        continue;
                t->connection[t->pairs.n++] = i;
                t->pairs.n_in += i < all->n_in;
        }
        t->pairs.seen = take_pairs(all, t, all->seen);
        t->pairs.dealt = take_pairs(all, t, all->dealt);
}

/* Takes over the groups of two connections or more, if there are two. */
static void take_groups(const Groups *g, const Telling *t, Processes *p)
{
        g_autofree guint32 *number = g_new(guint32, g->n_out);
        g_autofree Sums *sums = g_new0(Sums, g->n_out);
        guint32 n = 0;
        double sum = 0;

        for (guint32 k = 0; k < g->n_out; k++)
                number[k] = g->size[k] >= 2 ? n++ : NO_PARENT;
        if (n < 2)
                return;
        p->n = n;
        for (guint32 i = 0; i < g->pairs->n; i++) {
                guint32 of = number[g->of[i]];

                p->of[t->connection[i]] = of;
                if (of != NO_PARENT)
                        add_pairs(g, i, &sums[of]);
        }
        for (guint32 k = 0; k < p->n; k++) {
                double own = sums[k].dealt[1], all = own + sums[k].dealt[0];

                p->share[k] = (float)((own + 1) / (all + p->n));
                sum += p->share[k];
        }
        for (guint32 k = 0; k < p->n; k++)
                p->share[k] = (float)(p->share[k] / sum);
        p->strange = (float)g->other;
}

static void find_by(const Telling *t, Processes *p)
{
        const ConnectionPairs *pairs = &t->pairs;
        guint32 n_out = pairs->n - pairs->n_in;
        gsize n_pairs = (gsize)pairs->n * n_out;
        g_autofree guint32 *of = g_new(guint32, pairs->n), *size = g_new(guint32, n_out);
        g_autofree float *seen = g_new(float, n_pairs), *dealt = g_new(float, n_pairs);
        g_autofree float *all_seen = g_new(float, pairs->n), *all_dealt = g_new(float, pairs->n);
        Groups g = { pairs, n_out,    of,        size,        seen,
                     dealt, all_seen, all_dealt, PROCESS_OWN, PROCESS_OTHER };

        for (guint start = 0; start < PROCESS_STARTS; start++)
                if (!find_groups(&g))
                        return;
        take_groups(&g, t, p);
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
