/* SPDX-License-Identifier: BSD-2-Clause */
#include "inference/search/stretches.h"

#include "base/each.h"
#include "inference/model/parts.h"
#include "inference/model/pass-calls.h"

/* --- margins ------------------------------------------------------------------ */

/* The parents of the stretch that begins at a parent, and `margin` stretches on either side. */
static CallRange with_margins(const NodeProblem *node, guint32 from, guint32 margin)
{
        gsize reach = (gsize)margin * STRETCH;

        return (CallRange){ .first_in = from - (guint32)MIN(from, reach),
                            .end_in = (guint32)MIN(from + STRETCH + reach, node->n_in) };
}

/* Whether a parent is open together with parents outside the range. */
static gboolean is_cut(const Problem *whole, const CallRange *range, guint32 parent)
{
        const NodeProblem *node = whole->node;
        gint64 window = MAX(node->window, problem_tie(whole));

        return (range->first_in > 0 &&
                node->in[parent].enter - window <= node->in[range->first_in].enter + window) ||
               (range->end_in < node->n_in &&
                node->in[parent].reply + window >= node->in[range->end_in].enter - window);
}

/* Whether more than a few of the training parents are cut. */
static gboolean are_cut(const Problem *whole, guint32 margin)
{
        const NodeProblem *node = whole->node;
        gsize each = (gsize)whole->n_stretches * STRETCH;
        guint32 n = 0, n_cut = 0;

        for (gsize from = 0; from < node->n_in; from += each) {
                CallRange range = with_margins(node, (guint32)from, margin);

                for (guint32 p = (guint32)from; p < MIN(from + STRETCH, node->n_in); p++, n++)
                        n_cut += is_cut(whole, &range, p);
        }
        return n_cut > n / tuning.cut_share;
}

/* --- ranges ------------------------------------------------------------------- */

/* The calls out of the node in the time in which the parents of a range enter. */
static void add_calls(const NodeProblem *node, CallRange *range)
{
        range->first_out = range->first_in == 0
                                   ? 0
                                   : parts_first_from(node, 0, node->in[range->first_in].enter);
        range->end_out =
                range->end_in == node->n_in
                        ? node->n_out
                        : parts_first_from(node, range->first_out, node->in[range->end_in].enter);
}

static void find_ranges(Stretches *s, const Problem *whole)
{
        const NodeProblem *node = whole->node;
        guint32 margin = 1;

        while (2 * margin + 1 < whole->n_stretches && are_cut(whole, margin))
                margin *= 2;
        s->whole = 2 * margin + 1 >= whole->n_stretches;
        s->n_stretches = s->whole ? whole->n_stretches : 2 * margin + 1;
        if (s->whole) {
                CallRange all = { 0, node->n_in, 0, node->n_out };

                g_array_append_val(s->ranges, all);
                return;
        }
        for (gsize from = 0; from < node->n_in; from += (gsize)whole->n_stretches * STRETCH) {
                CallRange range = with_margins(node, (guint32)from, margin);

                add_calls(node, &range);
                g_array_append_val(s->ranges, range);
        }
}

/* --- their calls -------------------------------------------------------------- */

static void count_calls(const Stretches *s, guint32 *n_in, guint32 *n_out)
{
        *n_in = *n_out = 0;
        EACH (const CallRange, range, s->ranges) {
                *n_in += range->end_in - range->first_in;
                *n_out += range->end_out - range->first_out;
        }
}

static void gather(Stretches *s, const NodeProblem *whole)
{
        NodeProblem *node = &s->node;
        guint32 n_in, n_out;

        count_calls(s, &n_in, &n_out);
        node->in = g_new(CallIn, n_in);
        node->out = g_new(CallOut, n_out);
        node->n_in = node->n_out = 0;
        node->in_files = FALSE;
        EACH (const CallRange, range, s->ranges) {
                for (guint32 p = range->first_in; p < range->end_in; p++)
                        node->in[node->n_in++] = whole->in[p];
                for (guint32 k = range->first_out; k < range->end_out; k++)
                        node->out[node->n_out++] = whole->out[k];
        }
}

void stretches_find(Stretches *s, const Problem *whole)
{
        *s = (Stretches){ .ranges = g_array_new(FALSE, FALSE, sizeof(CallRange)),
                          .node = *whole->node };
        find_ranges(s, whole);
        if (!s->whole)
                gather(s, whole->node);
        node_problem_put_away(whole->node);
}

void stretches_clear(Stretches *s)
{
        g_array_free(s->ranges, TRUE);
        if (s->whole)
                return;
        g_free(s->node.in);
        g_free(s->node.out);
}

Problem stretches_problem(Stretches *s, const Problem *whole)
{
        Problem p = {
                .node = &s->node,
                .from = whole->from,
                .before = whole->before,
                .resolution = whole->resolution,
                .n_stretches = s->n_stretches,
                .times = whole->times,
        };

        memcpy(p.calm, whole->calm, sizeof p.calm);
        problem_init(&p);
        return p;
}
