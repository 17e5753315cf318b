/* SPDX-License-Identifier: BSD-2-Clause */
#include "inference/model/concurrency.h"

#include <stdlib.h>

#include "base/compare.h"
#include "base/time-search.h"
#include "inference/model/pass-calls.h"

/* Moments in order; sum[i] is the sum of the first i * SUMMED, modulo 2^64. */
enum { SUMMED = 16 };
typedef struct {
        gint64 *time;
        guint64 *sum;
        guint32 n;
} Moments;

static Moments moments_new(guint32 n)
{
        return (Moments){ g_new(gint64, n), g_new(guint64, n / SUMMED + 1), n };
}

static void moments_clear(Moments *m)
{
        g_free(m->time);
        g_free(m->sum);
}

static void sum_moments(Moments *m)
{
        guint64 sum = 0;

        qsort(m->time, m->n, sizeof *m->time, compare_int64s);
        m->sum[0] = 0;
        for (guint32 i = 1; i <= m->n; i++) {
                sum += (guint64)m->time[i - 1];
                if (i % SUMMED == 0)
                        m->sum[i / SUMMED] = sum;
        }
}

/* The sum of the times since all moments before `time`, modulo 2^64. */
static guint64 time_since(const Moments *m, gint64 time)
{
        gsize before = time_search(m->time, m->n, time);
        guint64 sum = m->sum[before / SUMMED];

        for (gsize i = before / SUMMED * SUMMED; i < before; i++)
                sum += (guint64)m->time[i];
        return (guint64)time * before - sum;
}

/* The integral of the number of open calls up to the reply, less the integral up to the enter. */
void concurrency_find(const NodeProblem *node, guint64 *concurrency)
{
        const CallIn *in = node->in;
        Moments enter = moments_new(node->n_in), reply = moments_new(node->n_in);

        for (guint32 p = 0; p < node->n_in; p++) {
                node_problem_pass(node, p);
                enter.time[p] = in[p].enter;
                reply.time[p] = MAX(in[p].reply, in[p].enter);
        }
        sum_moments(&enter);
        sum_moments(&reply);
        for (guint32 p = 0; p < node->n_in; p++) {
                gint64 from = in[p].enter, to = MAX(in[p].reply, from + 1);
                guint64 open = time_since(&enter, to) - time_since(&reply, to) -
                               time_since(&enter, from) + time_since(&reply, from);

                node_problem_pass(node, p);
                concurrency[p] = (double)open / (double)(to - from) * 256;
        }
        moments_clear(&enter);
        moments_clear(&reply);
}
