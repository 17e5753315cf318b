/* SPDX-License-Identifier: BSD-2-Clause */
#include "paths/write/graph-parts.h"

#include "base/printable.h"

/* From white to orange: told apart in any kind of colour blindness, and in grey. */
static const guint8 COLD[3] = { 0xff, 0xff, 0xff }, HOT[3] = { 0xf5, 0x9b, 0x3c };

/* cgraph's strings are not const, but it copies all of them. */
gpointer write_graph_have(gpointer made)
{
        if (!made)
                g_error("Graphviz failed to allocate memory");
        return made;
}

void write_graph_set(void *object, const char *name, const char *value)
{
        agsafeset(object, (char *)name, (char *)value, "");
}

static void set_default(Agraph_t *graph, int kind, const char *name, const char *value)
{
        agattr(graph, kind, (char *)name, (char *)value);
}

void write_graph_append_name(GString *label, const char *name, const char *backslash)
{
        g_autofree char *text = printable_new(name, PRINTABLE_DOT);
        g_auto(GStrv) parts = g_strsplit(text, "\\\\", -1);
        g_autofree char *joined = g_strjoinv(backslash, parts);

        g_string_append(label, joined);
}

void write_graph_set_client(Agnode_t *vertex)
{
        write_graph_set(vertex, "shape", "box");
        write_graph_set(vertex, "style", "filled,rounded");
        write_graph_set(vertex, "fillcolor", "#dce8f5");
}

void write_graph_set_fill(Agnode_t *vertex, int share)
{
        char colour[8];
        int rgb[3];

        for (int i = 0; i < 3; i++)
                rgb[i] = COLD[i] - (COLD[i] - HOT[i]) * share / 1000;
        g_snprintf(colour, sizeof colour, "#%02x%02x%02x", rgb[0], rgb[1], rgb[2]);
        write_graph_set(vertex, "fillcolor", colour);
}

void write_graph_set_defaults(Agraph_t *graph)
{
        set_default(graph, AGRAPH, "label", "");
        set_default(graph, AGRAPH, "labelloc", "t");
        set_default(graph, AGRAPH, "fontname", "Helvetica");
        set_default(graph, AGRAPH, "fontsize", "13");
        set_default(graph, AGRAPH, "ordering", "out");
        set_default(graph, AGRAPH, "nodesep", "0.3");
        set_default(graph, AGRAPH, "ranksep", "0.45");
        set_default(graph, AGNODE, "shape", "ellipse");
        set_default(graph, AGNODE, "style", "filled");
        set_default(graph, AGNODE, "fillcolor", "#ffffff");
        set_default(graph, AGNODE, "color", "#333333");
        set_default(graph, AGNODE, "fontname", "Helvetica");
        set_default(graph, AGNODE, "fontsize", "12");
        set_default(graph, AGNODE, "margin", "0.1,0.05");
        set_default(graph, AGEDGE, "color", "#555555");
        set_default(graph, AGEDGE, "arrowsize", "0.7");
        set_default(graph, AGEDGE, "fontname", "Helvetica");
        set_default(graph, AGEDGE, "fontsize", "10");
}
