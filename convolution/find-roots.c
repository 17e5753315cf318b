/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Finds the roots, if the user names none: nodes whose messages are not explained by messages into
 * them.
 *
 * If messages are calls and returns, a root is a node that calls and is never called. With one-way
 * messages it is a node that only sends, or one that receives only answers. A message into a node
 * is an answer if it follows the node's own messages at a more regular delay than they follow it.
 * (Clients that wait for an answer and then ask again show both, but the time of an answer varies
 * less than the time to think.) If neither side is clearly sharper, a node is a root if it sent the
 * first message to each node that it talks with.
 */

#include "convolution/convolution.h"
#include "convolution/delay-profile.h"

enum { SAMPLE = 300 }; /* messages of an edge */

/* A node that sent the first messages is no root if after > CLEAR * before + ACCIDENT, in
 * deviations. */
static const double CLEAR = 2, ACCIDENT = 3;

/* Whether all messages into a node answer its own, rather than its own answer them. */
static gboolean is_answered(const EdgeTraces *t, NodeId node, gint64 resolution)
{
        g_autoptr(GArray) sent = delay_profile_sent(t, node);

        for (guint i = t->first_in[node]; i < t->first_in[node + 1]; i++) {
                double after = 0, before = 0;
                DelayProfile p;

                delay_profile_find(t, &t->edges[t->in[i]], sent, resolution, SAMPLE, &p);
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
