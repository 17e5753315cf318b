/* SPDX-License-Identifier: BSD-2-Clause */
#include "inference/concurrency.h"

#include <stdlib.h>

#include "base/time-search.h"

static int compare_times(const void *a, const void *b)
{
        gint64 x = *(const gint64 *)a, y = *(const gint64 *)b;

        return (x > y) - (x < y);
}

/* Moments in order; sum[i] is the sum of the first i, modulo 2^64. */
typedef struct {
        gint64 *time;
        guint64 *sum;
        guint32 n;
} Moments;

static void sum_moments(Moments *m)
{
        qsort(m->time, m->n, sizeof *m->time, compare_times);
        m->sum[0] = 0;
        for (guint32 i = 0; i < m->n; i++)
                m->sum[i + 1] = m->sum[i] + (guint64)m->time[i];
}

/* The sum of the times since all moments before `time`, modulo 2^64. */
static guint64 time_since(const Moments *m, gint64 time)
{
        gsize before = time_search(m->time, m->n, time);

        return (guint64)time * before - m->sum[before];
}

/* The integral of the number of open calls up to the reply, less the integral up to the enter. */
void concurrency_find(const CallIn *in, guint32 n, guint64 *concurrency)
{
        g_autofree gint64 *enters = g_new(gint64, n), *replies = g_new(gint64, n);
        g_autofree guint64 *enter_sums = g_new(guint64, n + 1), *reply_sums = g_new(guint64, n + 1);
        Moments enter = { enters, enter_sums, n }, reply = { replies, reply_sums, n };

        for (guint32 p = 0; p < n; p++) {
                enters[p] = in[p].enter;
                replies[p] = MAX(in[p].reply, enters[p]);
        }
        sum_moments(&enter);
        sum_moments(&reply);
        for (guint32 p = 0; p < n; p++) {
                gint64 from = in[p].enter, to = MAX(in[p].reply, from + 1);
                guint64 open = time_since(&enter, to) - time_since(&reply, to) -
                               time_since(&enter, from) + time_since(&reply, from);

                concurrency[p] = (double)open / (double)(to - from) * 256;
        }
}
