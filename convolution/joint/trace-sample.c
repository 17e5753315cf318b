/* SPDX-License-Identifier: BSD-2-Clause */
#include "convolution/joint/joint-search.h"

#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "base/time-search.h"

enum { MOST_STRETCHES = 16 };

/* A stretch of time; to is excluded. */
typedef struct {
        gint64 from, to;
} Stretch;

static guint choose_stretches(const EdgeTraces *t, guint64 most, gint64 shortest, Stretch *stretch)
{
        double span = (double)(t->last - t->first) + 1;
        double covered = span * (double)most / (double)t->messages;
        guint n = (guint)CLAMP(covered / (double)MAX(shortest, 1), 1, MOST_STRETCHES);

        for (guint i = 0; i < n; i++) {
                /* in the middle of its share of the time */
                double from = (i + 0.5) * span / n - 0.5 * covered / n;

                stretch[i].from = t->first + (gint64)from;
                stretch[i].to = stretch[i].from + (gint64)(covered / n);
        }
        return n;
}

/* Samples the receptions of messages with these indices in received of `all`. */
static void sample_received(EdgeTrace *e, const EdgeTrace *all, const guint32 *place)
{
        g_autofree guint32 *sorted = g_memdup2(place, e->n * sizeof *place);

        qsort(sorted, e->n, sizeof *sorted, compare_uint32s);
        e->received = g_new(gint64, e->n);
        e->arrival = g_new(guint32, e->n);
        for (guint32 i = 0; i < e->n; i++) {
                const guint32 *at =
                        bsearch(&place[i], sorted, e->n, sizeof *sorted, compare_uint32s);

                e->arrival[i] = (guint32)(at - sorted);
                e->received[e->arrival[i]] = all->received[place[i]];
        }
}

static void sample_edge(EdgeTrace *e, const EdgeTrace *all, const Stretch *stretch, guint n)
{
        guint32 from[MOST_STRETCHES], to[MOST_STRETCHES];
        g_autofree guint32 *place = NULL;

        *e = (EdgeTrace){ .from = all->from, .to = all->to };
        for (guint i = 0; i < n; i++) {
                from[i] = time_search(all->sent, all->n, stretch[i].from);
                to[i] = time_search(all->sent, all->n, stretch[i].to);
                e->n += to[i] - from[i];
        }
        e->sent = e->received = g_new(gint64, MAX(e->n, 1));
        e->n = 0;
        for (guint i = 0; i < n; i++) {
                memcpy(&e->sent[e->n], &all->sent[from[i]], (to[i] - from[i]) * sizeof *e->sent);
                e->n += to[i] - from[i];
        }
        if (all->received == all->sent || !e->n)
                return;
        place = g_new(guint32, e->n);
        e->n = 0;
        for (guint i = 0; i < n; i++)
                for (guint32 k = from[i]; k < to[i]; k++)
                        place[e->n++] = edge_trace_arrival(all, k);
        sample_received(e, all, place);
}

EdgeTraces *trace_sample_new(const EdgeTraces *all, guint64 most, gint64 shortest)
{
        EdgeTraces *t = g_new(EdgeTraces, 1);
        Stretch stretch[MOST_STRETCHES];
        guint n;

        g_assert(all->messages > most);
        n = choose_stretches(all, most, shortest, stretch);
        *t = *all;
        t->messages = 0;
        t->edges = g_new(EdgeTrace, t->n_edges);
        for (guint i = 0; i < t->n_edges; i++) {
                sample_edge(&t->edges[i], &all->edges[i], stretch, n);
                t->messages += t->edges[i].n;
        }
        t->first_out = g_memdup2(all->first_out, (t->n_nodes + 1) * sizeof *t->first_out);
        t->first_in = g_memdup2(all->first_in, (t->n_nodes + 1) * sizeof *t->first_in);
        t->in = g_memdup2(all->in, t->n_edges * sizeof *t->in);
        t->called = g_memdup2(all->called, t->n_nodes * sizeof *t->called);
        t->calls = g_memdup2(all->calls, t->n_nodes * sizeof *t->calls);
        t->spoken_to = g_memdup2(all->spoken_to, t->n_nodes * sizeof *t->spoken_to);
        t->last = t->first;
        for (guint i = 0; i < n; i++)
                t->last += stretch[i].to - stretch[i].from;
        return t;
}
