/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The parts that all drawings are made of: colours, defaults and names, as Graphviz takes them.
 */
#pragma once

#include "write/drawing.h"

enum { GRAPH_LABEL_WIDTH = 28 }; /* of a name in a vertex; its tooltip has the rest */

/* The defaults of all drawings. */
void write_graph_set_defaults(Drawing *drawing);

/* White to orange: a share of the time, in thousandths. */
void write_graph_set_fill(Drawing *drawing, DrawingItem vertex, int share);

/* The box of what sends but is not called. */
void write_graph_set_client(Drawing *drawing, DrawingItem vertex);

/* A name as a label. Graphviz sees an escape in every backslash (\N is the vertex's own name) and
 * an entity in every ampersand. backslash is the text to write for a backslash: "\\" in a label and
 * "%5C" in a tooltip or a graph's name. */
void write_graph_append_name(GString *label, const char *name, const char *backslash);
