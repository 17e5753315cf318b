/* SPDX-License-Identifier: BSD-2-Clause */
#include "analysis/whatif/asking.h"

void asking_begin(Asking *a, const ReplayRequests *r)
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
        a->now = g_new(gint64, r->requests->len);
        a->base = g_new(gint64, r->requests->len);
        a->then = g_new(gint64, r->requests->len);
        a->latency = g_new(gint64, r->requests->len);
        for (guint32 i = 0; i < r->requests->len; i++) {
                const ReplayRequest *q = replay_request_at(r, i);

                a->place[i] = next[q->entry]++;
                a->now[a->place[i]] = q->latency;
                a->doubt[q->entry] += 1 - (double)q->probability;
        }
        for (guint i = 0; i < r->entries->len; i++)
                a->doubt[i] /= (double)MAX(g_array_index(r->entries, ReplayEntry, i).count, 1);
}

void asking_clear(Asking *a)
{
        g_free(a->now);
        g_free(a->base);
        g_free(a->then);
        g_free(a->latency);
        g_free(a->place);
        g_free(a->first);
        g_free(a->doubt);
}

void asking_replay(Asking *a, const ReplaySettings *s, gint64 *times, ReplayLoad *loads)
{
        replay_run(a->requests, s, a->latency, loads);
        for (guint32 i = 0; i < a->requests->requests->len; i++)
                times[a->place[i]] = a->latency[i];
}

void asking_figures(const Asking *a, guint entry, const gint64 *now, WhatIfFigure *figures)
{
        guint32 first = a->first[entry];

        whatif_figures_find(now + first, a->base + first, a->then + first,
                            a->first[entry + 1] - first, a->doubt[entry], figures);
}
