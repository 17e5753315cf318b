/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The drawings that dot and SVG share. Of a path pattern: the paper's Figure 8. A
 * vertex for the client and one for each call; the count and total latency on
 * the first edge, the name and the mean latency in each vertex, the call delay
 * on each edge. The darker a vertex, the more of the time is its own; the one
 * with the most is also named so and has a double border. Of linear patterns: Figure 9,
 * the graph from a root. On each edge the number of its messages, and the delays, those by
 * which most go first.
 */
#pragma once

#include "write/drawing.h"
#include "write/path-write.h"

/* How many drawings there are of what is to be written: one a pattern; of linear patterns
 * one a root. */
guint32 write_graph_count(const PathSet *set, const PathWriteOptions *options);

/* The drawing of that rank (from 0), of at most max_nodes nodes, which says what is
 * missing. Its name is the pattern's signature, or its id where that cannot be; or the root's. */
Drawing *write_graph_new(const PathSet *set, const PathWriteOptions *options, guint32 rank,
                         guint32 max_nodes);

/* --- what all drawings are made of: colours, defaults and names, as Graphviz takes them ----- */

enum { GRAPH_LABEL_WIDTH = 28 }; /* of a name in a vertex; its tooltip has the rest */

#define NBSP "\302\240" /* between an edge and its label, where SVG drops a blank */

void write_graph_set_defaults(Drawing *drawing);

/* Appends a name. backslash is the text to write for a backslash: "\\" in a label and "%5C" in a
 * tooltip or a graph's name. */
void write_graph_append_name(GString *label, const char *name, const char *backslash);
void write_graph_append_duration(GString *text, const char *before, gint64 ns, const char *after);

/* The box of what sends but is not called. */
void write_graph_set_client(Drawing *drawing, DrawingItem vertex);

/* White to orange: a share of the time, in thousandths. */
void write_graph_set_fill(Drawing *drawing, DrawingItem vertex, int share);

/* One SVG picture of drawings (of Drawing), side by side. description: its elements title and desc.
 */
gboolean write_svg_drawings(const GPtrArray *drawings, const char *description, OutputFile *file,
                            GError **error);
