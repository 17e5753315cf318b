/* SPDX-License-Identifier: BSD-2-Clause */
#include "write/graph-parts.h"

#include "base/printable.h"

/* From white to orange: told apart in any kind of colour blindness, and in grey. */
static const guint8 COLD[3] = { 0xff, 0xff, 0xff }, HOT[3] = { 0xf5, 0x9b, 0x3c };

void write_graph_append_name(GString *label, const char *name, const char *backslash)
{
        g_autofree char *text = printable_new(name, PRINTABLE_DOT);
        g_auto(GStrv) parts = g_strsplit(text, "\\\\", -1);
        g_autofree char *joined = g_strjoinv(backslash, parts);

        g_string_append(label, joined);
}

void write_graph_set_client(Drawing *drawing, DrawingItem vertex)
{
        drawing_set(drawing, vertex, "shape", "box");
        drawing_set(drawing, vertex, "style", "filled,rounded");
        drawing_set(drawing, vertex, "fillcolor", "#dce8f5");
}

void write_graph_set_fill(Drawing *drawing, DrawingItem vertex, int share)
{
        char colour[8];
        int rgb[3];

        for (int i = 0; i < 3; i++)
                rgb[i] = COLD[i] - (COLD[i] - HOT[i]) * share / 1000;
        g_snprintf(colour, sizeof colour, "#%02x%02x%02x", rgb[0], rgb[1], rgb[2]);
        drawing_set(drawing, vertex, "fillcolor", colour);
}

void write_graph_set_defaults(Drawing *drawing)
{
        drawing_default(drawing, STEP_GRAPH_DEFAULT, "label", "");
        drawing_default(drawing, STEP_GRAPH_DEFAULT, "labelloc", "t");
        drawing_default(drawing, STEP_GRAPH_DEFAULT, "fontname", "Helvetica");
        drawing_default(drawing, STEP_GRAPH_DEFAULT, "fontsize", "13");
        drawing_default(drawing, STEP_GRAPH_DEFAULT, "ordering", "out");
        drawing_default(drawing, STEP_GRAPH_DEFAULT, "nodesep", "0.3");
        drawing_default(drawing, STEP_GRAPH_DEFAULT, "ranksep", "0.45");
        drawing_default(drawing, STEP_VERTEX_DEFAULT, "shape", "ellipse");
        drawing_default(drawing, STEP_VERTEX_DEFAULT, "style", "filled");
        drawing_default(drawing, STEP_VERTEX_DEFAULT, "fillcolor", "#ffffff");
        drawing_default(drawing, STEP_VERTEX_DEFAULT, "color", "#333333");
        drawing_default(drawing, STEP_VERTEX_DEFAULT, "fontname", "Helvetica");
        drawing_default(drawing, STEP_VERTEX_DEFAULT, "fontsize", "12");
        drawing_default(drawing, STEP_VERTEX_DEFAULT, "margin", "0.1,0.05");
        drawing_default(drawing, STEP_EDGE_DEFAULT, "color", "#555555");
        drawing_default(drawing, STEP_EDGE_DEFAULT, "arrowsize", "0.7");
        drawing_default(drawing, STEP_EDGE_DEFAULT, "fontname", "Helvetica");
        drawing_default(drawing, STEP_EDGE_DEFAULT, "fontsize", "10");
}
