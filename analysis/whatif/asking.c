/* SPDX-License-Identifier: BSD-2-Clause */
#include "analysis/whatif/asking.h"

static guint32 entry_count(const Asking *a, guint entry)
{
        return a->first[entry + 1] - a->first[entry];
}

/* Of each entry. */
static FigureSample *find_samples(const Asking *a, const gint64 *times)
{
        guint n = a->requests->entries->len;
        FigureSample *samples = g_new(FigureSample, n * N_FIGURES);

        for (guint i = 0; i < n; i++)
                figure_samples_find(times + a->first[i], entry_count(a, i),
                                    &samples[i * N_FIGURES]);
        return samples;
}

static void replay_into(Asking *a, const ReplaySettings *s, gint64 *times, ReplayLoad *loads)
{
        replay_run(a->requests, s, a->latency, loads);
        for (guint32 i = 0; i < a->requests->requests->len; i++)
                times[a->place[i]] = a->latency[i];
}

void asking_begin(Asking *a, const ReplayRequests *r, const ReplaySettings *s, ReplayLoad *loads)
{
        g_autofree guint32 *next = g_new(guint32, r->entries->len + 1);
        guint32 at = 0;

        a->requests = r;
        a->first = g_new(guint32, r->entries->len + 1);
        a->doubt = g_new0(double, r->entries->len);
        for (guint i = 0; i < r->entries->len; i++) {
                a->first[i] = next[i] = at;
                at += (guint32)g_array_index(r->entries, ReplayEntry, i).count;
        }
        a->first[r->entries->len] = at;
        a->place = g_new(guint32, r->requests->len);
        a->base = g_new(gint64, r->requests->len);
        a->then = g_new(gint64, r->requests->len);
        a->latency = g_new(gint64, r->requests->len);
        for (guint32 i = 0; i < r->requests->len; i++) {
                const ReplayRequest *q = replay_request_at(r, i);

                a->place[i] = next[q->entry]++;
                a->then[a->place[i]] = q->latency; /* until the first replay */
                a->doubt[q->entry] += 1 - (double)q->probability;
        }
        for (guint i = 0; i < r->entries->len; i++)
                a->doubt[i] /= (double)MAX(entry_count(a, i), 1);
        a->of_now = find_samples(a, a->then);
        replay_into(a, s, a->base, loads);
        a->of_base = find_samples(a, a->base);
}

void asking_clear(Asking *a)
{
        g_free(a->base);
        g_free(a->then);
        g_free(a->latency);
        g_free(a->place);
        g_free(a->first);
        g_free(a->doubt);
        g_free(a->of_now);
        g_free(a->of_base);
}

void asking_replay(Asking *a, const ReplaySettings *s, ReplayLoad *loads)
{
        replay_into(a, s, a->then, loads);
}

void asking_figures(const Asking *a, guint entry, const FigureSample *now, WhatIfFigure *figures)
{
        FigureSample then[N_FIGURES];

        figure_samples_find(a->then + a->first[entry], entry_count(a, entry), then);
        whatif_figures_compare(&now[entry * N_FIGURES], &a->of_base[entry * N_FIGURES], then,
                               a->doubt[entry], figures);
}

NodeId asking_find_full(const Asking *a, const ReplayLoad *before, const ReplayLoad *loads)
{
        NodeId full = NO_NODE;

        for (NodeId i = 0; i < a->requests->n_nodes; i++)
                if (loads[i].stuck || (before && before[i].stuck))
                        return i;
        if (a->requests->n_waiting * 2 > a->requests->requests->len)
                return NO_NODE;
        for (NodeId i = 0; i < a->requests->n_nodes; i++)
                if (loads[i].busy >= ASKING_FULL &&
                    (full == NO_NODE || loads[i].busy > loads[full].busy))
                        full = i;
        return full;
}
