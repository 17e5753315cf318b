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
#ifndef RAVEL_WRITE_GRAPH_H
#define RAVEL_WRITE_GRAPH_H

#include <graphviz/cgraph.h>

#include "paths/write/path-write.h"

/* How many drawings there are of what is to be written: one a pattern; of linear patterns
 * one a root (write-vertices.c). */
guint32 write_graph_count(const PathSet *set, const PathWriteOptions *options);

/* The drawing of that rank (from 0), of at most max_nodes nodes, which says what is
 * missing. The caller closes it with agclose(). disc is what it is written with, or NULL.
 * Its name is the pattern's signature, or its id where that cannot be; or the root's. */
Agraph_t *write_graph_new(const PathSet *set, const PathWriteOptions *options, guint32 rank,
                          guint32 max_nodes, Agdisc_t *disc);

/* --- between the two files that draw -------------------------------------- */

enum { GRAPH_LABEL_WIDTH = 28 }; /* of a name in a vertex; its tooltip has the rest */

guint32 write_vertices_count(const PathSet *set, const PathWriteOptions *options);
Agraph_t *write_vertices_new(const PathSet *set, const PathWriteOptions *options, guint32 rank,
                             guint32 max_nodes, Agdisc_t *disc);

/* What Graphviz made; where that is NULL memory has run out, and as GLib does, this ends
 * the program and says so. */
gpointer write_graph_have(gpointer made);

/* cgraph's attributes, and the defaults of all drawings. */
void write_graph_set(void *object, const char *name, const char *value);
void write_graph_set_defaults(Agraph_t *graph);

/* White to orange: a share of the time, in thousandths. */
void write_graph_set_fill(Agnode_t *vertex, int share);

/* The box of what sends but is not called. */
void write_graph_set_client(Agnode_t *vertex);

/* A name as a label. Graphviz sees an escape in every backslash (\N is the vertex's own
 * name) and an entity in every ampersand: backslash is what to write for one, "\\" in a
 * label and "%5C" in a tooltip or a graph's name. */
void write_graph_append_name(GString *label, const char *name, const char *backslash);

#endif
