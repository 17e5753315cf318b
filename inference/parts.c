/* SPDX-License-Identifier: BSD-2-Clause */
#include "inference/parts.h"
#include "inference/tuning.h"

gint64 parts_mean_life(const NodeProblem *node)
{
        gint128 sum = 0;

        for (guint32 p = 0; p < node->n_in; p++)
                sum += MAX(node->in[p].reply - node->in[p].enter, 0);
        return (gint64)((double)sum / MAX(node->n_in, 1));
}

static gboolean is_enough(gsize beliefs, gint64 time, gint64 life)
{
        return (time >= PART_LIVES * life && beliefs >= PART_BELIEFS) ||
               (time >= LONG_LIVES * life && beliefs >= LONG_BELIEFS);
}

Part part_find(const NodeProblem *node, const gsize *all, gint64 life, guint32 at)
{
        const CallOut *out = node->out;
        Part part = { at, at, at + 1, 0 };

        while (part.before < node->n_out &&
               !is_enough(all[part.before] - all[at], out[part.before].start - out[at].start, life))
                part.before++;
        while (part.first > 0 && out[part.first - 1].start >= out[at].start - CONTEXT_LIVES * life)
                part.first--;
        part.end = part.before;
        while (part.end < node->n_out &&
               out[part.end].start <= out[part.before - 1].start + CONTEXT_LIVES * life)
                part.end++;
        return part;
}
