/* SPDX-License-Identifier: BSD-2-Clause */
#include "convolution/joint/matching.h"

/* The least sum of other messages to a slot. The sum is a difference of larger numbers, so it needs
 * a limit. */
static const double LEAST_SUM = 1e-3;

/* The share of an old message that stays in the new one. Without damping, messages may swing. */
static const double STAYS = 0.2;

void matching_start(Matching *m, guint32 n_effects)
{
        m->n = 0;
        m->n_effects = n_effects;
        m->first = g_renew(gsize, m->first, n_effects + 1);
}

void matching_next_effect(Matching *m, guint32 effect)
{
        m->first[effect] = m->n;
}

void matching_add(Matching *m, guint32 slot, guint32 kind)
{
        if (m->n == m->room) {
                m->room = MAX(2 * m->room, 4096);
                m->slot = g_renew(guint32, m->slot, m->room);
                m->kind = g_renew(guint32, m->kind, m->room);
                m->weight = g_renew(float, m->weight, m->room);
                m->claim = g_renew(float, m->claim, m->room);
                m->belief = g_renew(float, m->belief, m->room);
        }
        m->slot[m->n] = slot;
        m->kind[m->n] = kind;
        m->claim[m->n++] = 0.5;
}

void matching_end(Matching *m)
{
        m->first[m->n_effects] = m->n;
}

void matching_clear(Matching *m)
{
        g_free(m->first);
        g_free(m->slot);
        g_free(m->kind);
        g_free(m->weight);
        g_free(m->claim);
        g_free(m->belief);
}

void matching_sum_claims(const Matching *m, double *sum)
{
        for (gsize i = 0; i < m->n; i++)
                sum[m->slot[i]] += (double)m->weight[i] * m->claim[i];
}

/* The messages of belief propagation between slot s and effect z are
 *
 *     offer(s, z) = weight(s, z) / (w(s) + sum over other effects y of weight(s, y) * claim(s, y))
 *     claim(s, z) = 1 / (1 + sum over other slots t of offer(t, z))
 *
 * w(s) is the weight that s has no effect. If slots have any number of effects, offer = weight. */
double matching_sweep(Matching *m, guint32 from, guint32 to, const double *sum, MatchBy by)
{
        double without = 0;

        for (guint32 z = from; z < to; z++) {
                double all = 1;

                for (gsize i = m->first[z]; i < m->first[z + 1]; i++) {
                        double weight = m->weight[i], offer = weight;

                        if (by == MATCH_LIMITED)
                                offer /= MAX(sum[m->slot[i]] - weight * m->claim[i], LEAST_SUM);
                        m->belief[i] = (float)offer;
                        all += m->belief[i];
                }
                for (gsize i = m->first[z]; i < m->first[z + 1]; i++) {
                        double offer = m->belief[i];

                        m->claim[i] = (float)(STAYS * m->claim[i] + (1 - STAYS) / (all - offer));
                        m->belief[i] = (float)(offer / (by == MATCH_ALONE ? 1 + offer : all));
                }
                without += 1 / all;
        }
        return without;
}
