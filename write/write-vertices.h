/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The graph from each root, as in the paper's Figure 9, as far as the patterns to be written go
 * through it. The vertex with the greatest sum of stays is marked, and its edge with the greatest
 * part.
 */
#pragma once

#include "write/drawing.h"
#include "write/path-write.h"

/* See write_graph_count() and write_graph_new(). */
guint32 write_vertices_count(const PathSet *set, const PathWriteOptions *options);
Drawing *write_vertices_new(const PathSet *set, const PathWriteOptions *options, guint32 rank,
                            guint32 max_nodes);
