/* SPDX-License-Identifier: BSD-2-Clause */
#include "inference/model/workers.h"

#include <stdlib.h>

#include "base/compare.h"

gint64 *workers_sort_replies(const CallIn *in, guint32 n)
{
        gint64 *reply = g_new(gint64, n);

        for (guint32 i = 0; i < n; i++)
                reply[i] = in[i].reply;
        qsort(reply, n, sizeof *reply, compare_int64s);
        return reply;
}

void workers_find_starts(const CallIn *in, guint32 n, guint32 k, gint64 *start)
{
        g_autofree gint64 *replies = workers_sort_replies(in, n);

        for (guint32 i = 0; i < n; i++)
                start[i] = workers_start(in, replies, i, k);
}

void workers_suppose(Workers *w, const NodeProblem *node, guint32 n)
{
        w->n = n;
        workers_end(w);
        if (n == 0)
                return;
        w->start = g_new(gint64, node->n_in);
        workers_find_starts(node->in, node->n_in, n, w->start);
}

void workers_end(Workers *w)
{
        g_clear_pointer(&w->start, g_free);
}

void workers_bytes(Workers *w, Bytes *b)
{
        gboolean in_use = w->n > 0;

        bytes_bool(b, &in_use);
        bytes_u32(b, &w->n);
        bytes_expect(b, in_use == (w->n > 0), "workers where they are in use");
}
