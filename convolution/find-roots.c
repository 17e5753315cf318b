/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The roots, where the user names none: nodes whose messages nothing explains that
 * arrives.
 *
 * Where messages are calls and returns, that is a node that calls and is never called.
 * Where they are not, a node that sends and gets nothing; or one that gets only what
 * answers it: of what arrives at a node, does it rather follow what the node has sent, or
 * go before it? (Both do, where clients wait for an answer and then ask again; but an
 * answer takes the same time more often than a thought.) Where that is not clear, a node
 * that sent the first message to each node that it talks with is a root.
 */
#include <stdlib.h>

#include "convolution/convolution.h"
#include "convolution/delay-profile.h"

enum { SAMPLE = 300 };

/* How much sharper the other side has to be, beside what accident makes, to outweigh what
 * the first message says. */
static const double CLEAR = 2, ACCIDENT = 3;

/* Whether all that arrives at a node answers it, rather than that the node answers. */
static gboolean is_answered(const EdgeTraces *t, NodeId node, gint64 resolution)
{
        for (guint i = t->first_in[node]; i < t->first_in[node + 1]; i++) {
                double after = 0, before = 0;
                DelayProfile p;

                delay_profile_find(t, &t->edges[t->in[i]], resolution, SAMPLE, &p);
                for (guint bin = 0; bin < p.n; bin++) {
                        after = MAX(after, delay_profile_excess(&p, bin));
                        before = MAX(before, -delay_profile_excess(&p, bin));
                }
                if (t->spoken_to[node] ? after >= before : after > CLEAR * before + ACCIDENT)
                        return FALSE;
        }
        return TRUE;
}

static gboolean is_root(const EdgeTraces *t, NodeId node, gint64 resolution)
{
        if (t->first_out[node] == t->first_out[node + 1])
                return FALSE;
        if (t->called[node] || t->calls[node])
                return !t->called[node];
        return t->first_in[node] == t->first_in[node + 1] || is_answered(t, node, resolution);
}

GArray *convolution_find_roots(const EdgeTraces *t)
{
        GArray *roots = g_array_new(FALSE, FALSE, sizeof(NodeId));
        gint64 resolution = delay_resolution(t);

        for (NodeId node = 0; node < t->n_nodes; node++)
                if (is_root(t, node, resolution))
                        g_array_append_val(roots, node);
        g_array_sort_with_data(roots, node_table_compare, t->nodes);
        return roots;
}
