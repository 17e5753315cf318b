/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The parts that all drawings are made of: attributes, colours and names, as cgraph takes them.
 */
#ifndef RAVEL_GRAPH_PARTS_H
#define RAVEL_GRAPH_PARTS_H

#include <glib.h>
#include <graphviz/cgraph.h>

enum { GRAPH_LABEL_WIDTH = 28 }; /* of a name in a vertex; its tooltip has the rest */

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
