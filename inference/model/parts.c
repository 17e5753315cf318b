/* SPDX-License-Identifier: BSD-2-Clause */
#include "inference/model/parts.h"
#include "base/int128.h"
#include "inference/model/pass-calls.h"
#include "inference/model/tuning.h"

gint64 parts_mean_life(const NodeProblem *node)
{
        gint128 sum = 0;

        for (guint32 p = 0; p < node->n_in; p++) {
                node_problem_pass(node, p);
                sum += MAX(node->in[p].reply - node->in[p].enter, 0);
        }
        return MAX((gint64)((double)sum / MAX(node->n_in, 1)), 1);
}

static gboolean is_enough(gsize beliefs, gint64 time, gint64 life)
{
        return beliefs >= MOST_IN_PART ||
               (time >= tuning.part_lives * life && beliefs >= PART_BELIEFS) ||
               (time >= LONG_LIVES * life && beliefs >= LONG_BELIEFS);
}

/* Adds the calls before and after it. */
static void add_context(const NodeProblem *node, gint64 life, Part *part)
{
        const CallOut *out = node->out;
        gsize n = MAX(part->before - part->at, FEW_IN_PART);
        guint32 least = part->at - MIN(part->at, n), most = MIN(node->n_out, part->before + n);

        while (part->first > least &&
               out[part->first - 1].start >= out[part->at].start - tuning.context_lives * life)
                part->first--;
        part->end = part->before;
        while (part->end < most &&
               out[part->end].start <= out[part->before - 1].start + tuning.context_lives * life)
                part->end++;
}

gsize parts_beliefs(const guint32 *n_candidates, guint32 from, guint32 to)
{
        gsize n = 0;

        for (guint32 i = from; i < to; i++)
                n += n_candidates[i];
        return n;
}

gint64 parts_length(const NodeProblem *node, const guint32 *n_candidates, gint64 life)
{
        guint32 n = node->n_out;
        double time = (double)(node->out[n - 1].start - node->out[0].start) + 1;
        double each = time / (double)MAX(parts_beliefs(n_candidates, 0, n), 1);
        double most = MIN(MAX(tuning.part_lives * (double)life, PART_BELIEFS * each),
                          MAX(LONG_LIVES * (double)life, LONG_BELIEFS * each));
        gint64 length = 1;

        while (length < LONGEST_PART && 2 * (double)length <= most)
                length *= 2;
        return length;
}

guint32 parts_first_from(const NodeProblem *node, guint32 from, gint64 time)
{
        guint32 end = node->n_out;

        while (from < end) {
                guint32 middle = from + (end - from) / 2;

                if (node->out[middle].start < time)
                        from = middle + 1;
                else
                        end = middle;
        }
        return from;
}

Part part_find_by_time(const NodeProblem *node, const guint32 *n_candidates, gint64 life,
                       gint64 length, guint32 at)
{
        gint64 start = node->out[at].start;
        Part part = { .first = at, .at = at };

        for (;; length /= 2) {
                gint64 from = start & ~(length - 1);
                guint32 first = parts_first_from(node, 0, from);

                part.before = parts_first_from(node, at, from + length);
                if (parts_beliefs(n_candidates, first, part.before) <= MOST_IN_PART ||
                    length / 2 < tuning.part_lives * life || length == 1)
                        break;
        }
        add_context(node, life, &part);
        return part;
}

Part part_find(const NodeProblem *node, const guint32 *n_candidates, gint64 life, guint32 at)
{
        const CallOut *out = node->out;
        gsize beliefs = n_candidates[at];
        Part part = { .first = at, .at = at, .before = at + 1 };

        while (part.before < node->n_out &&
               !is_enough(beliefs, out[part.before].start - out[at].start, life)) {
                node_problem_pass(node, part.before);
                beliefs += n_candidates[part.before++];
        }
        add_context(node, life, &part);
        return part;
}

void part_find_open(const NodeProblem *node, gint64 window, const Part *before, Part *part)
{
        guint32 p = before ? before->first_in : 0;

        while (p < node->n_in && node->in[p].reply + window < node->out[part->first].start)
                p++;
        part->first_in = p;
}
