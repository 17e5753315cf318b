/* SPDX-License-Identifier: BSD-2-Clause
 *
 * ProcessNode (paper, Figure 6, lines 9 to 16): adds a vertex for each set of messages that a set
 * of messages into a node caused. Goes on from there, depth first.
 *
 * The figure does not say where a path ends. It ends at a root, whose messages have no cause. It
 * also ends if too few messages go on, the path is too long, or the graph too large.
 */
#include <math.h>

#include "base/each.h"
#include "convolution/convolution.h"

/* The probability that a spike is no accident, (1 - Q(height))^points. Q(h) is the probability that
 * a normal number is more than h deviations above its mean. */
static double certainty(double height, gsize points)
{
        return exp((double)points * log1p(-0.5 * erfc(height / sqrt(2))));
}

static void end_at(PathSearch *search, guint32 vertex, PathEnd end)
{
        g_array_index(search->vertices, FoundVertex, vertex).end = end;
}

/* Lines 12 to 16 for one set of caused messages. */
static void follow_caused(PathSearch *search, NodeId node, guint32 parent,
                          const CausedMessages *caused, guint depth)
{
        const Convolution *run = search->run;
        FoundVertex v = {
                .node = run->traces->edges[run->traces->first_out[node] + caused->edge].to,
                .parent = parent,
                .n = caused->messages.n,
                .delay = caused->delay,
                .probability = certainty(caused->height, run->lags.n),
        };
        guint32 vertex = search->vertices->len;

        g_array_append_val(search->vertices, v);
        process_node(search, v.node, vertex, &caused->messages, depth);
}

void process_node(PathSearch *search, NodeId node, guint32 vertex, const Messages *messages,
                  guint depth)
{
        const ConvolutionOptions *options = &search->run->options;
        g_autoptr(GArray) caused = NULL;
        PathEnd end = PATH_END_UNEXPLAINED;

        if (search->run->is_root[node]) {
                end_at(search, vertex, PATH_END_ROOT);
                return;
        }
        if (search->run->out[node].n == 0) {
                end_at(search, vertex, PATH_END_SILENT);
                return;
        }
        if (depth >= options->max_depth) {
                end_at(search, vertex, PATH_END_DEPTH);
                return;
        }
        caused = find_caused_messages(search, node, messages);
        EACH (const CausedMessages, o, caused) {
                if (o->messages.n < options->min_messages) {
                        end = end == PATH_END_UNEXPLAINED ? PATH_END_FEW : end;
                } else if (search->vertices->len >= options->max_vertices) {
                        search->left_out += o->messages.n;
                        end = end == PATH_GOES_ON ? PATH_GOES_ON : PATH_END_LIMIT;
                } else {
                        follow_caused(search, node, vertex, o, depth + 1);
                        end = PATH_GOES_ON;
                }
                g_free(o->messages.received);
        }
        end_at(search, vertex, end);
}
