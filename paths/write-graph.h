/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The drawing of a path pattern that dot and SVG share: the paper's Figure 8. A
 * vertex for the client and one for each call; the count and total latency on
 * the first edge, the name and the mean latency in each vertex, the call delay
 * on each edge. The darker a vertex, the more of the time is its own; the one
 * with the most is also named so and has a double border.
 */
#ifndef RAVEL_WRITE_GRAPH_H
#define RAVEL_WRITE_GRAPH_H

#include <graphviz/cgraph.h>

#include "paths/path-write.h"

/* The graph of the pattern of that rank (from 0), at most max_nodes of its nodes
 * in it; the graph then says what is missing. The caller closes it with
 * agclose(). disc is what it is written with, or NULL. Its name is the
 * signature, or the pattern's id where that cannot be. */
Agraph_t *write_graph_new(const PathSet *set, const PathPattern *pattern, guint32 rank,
                          guint32 max_nodes, Agdisc_t *disc);

#endif
