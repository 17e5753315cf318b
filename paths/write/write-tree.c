/* SPDX-License-Identifier: BSD-2-Clause */
#include "paths/write/write-tree.h"

#include <graphviz/gvc.h>
#include <math.h>

#include "base/error.h"
#include "paths/write/graph-parts.h"
#include "paths/write/text-table.h"

/* In pixels, for text of 13 pixels. Sizes are ours, not Graphviz's, which would
 * depend on the fonts of this machine and not of the reader's. */
enum {
        NAME_CELL = 8,   /* a character of a name, generously */
        NAME_ROOM = 40,  /* around it, and for "x12" */
        MIN_WIDTH = 132, /* "own 21.8 ms  87 %" */
        MAX_WIDTH = 264, /* a longer name is cut */
        HEIGHT = 52,
        LINE = 15, /* one more, for operations */
        SIBLINGS_APART = 16,
        RANKS_APART = 48, /* the edge's words are in there */
};

/* Graphviz has 72 to an inch. */
static void set_inches(void *object, const char *name, int pixels)
{
        char text[32];

        g_snprintf(text, sizeof text, "%d.%03d", pixels / 72, pixels % 72 * 1000 / 72);
        agsafeset(object, (char *)name, text, (char *)"");
}

static Agnode_t *add_vertex(Agraph_t *graph, guint32 i, const char *name, int height)
{
        int width = CLAMP((int)text_width(name) * NAME_CELL + NAME_ROOM, MIN_WIDTH, MAX_WIDTH);
        char id[16];

        g_snprintf(id, sizeof id, "n%u", i);
        Agnode_t *vertex = write_graph_have(agnode(graph, id, 1));
        set_inches(vertex, "width", width);
        set_inches(vertex, "height", height);
        return vertex;
}

static void set_default(Agraph_t *graph, int kind, const char *name, const char *value)
{
        agattr(graph, kind, (char *)name, (char *)value);
}

static void set_defaults(Agraph_t *graph)
{
        set_default(graph, AGRAPH, "ordering", "out");
        set_inches(graph, "nodesep", SIBLINGS_APART);
        set_inches(graph, "ranksep", RANKS_APART);
        set_default(graph, AGNODE, "shape", "box");
        set_default(graph, AGNODE, "fixedsize", "true");
        set_default(graph, AGNODE, "label", "");
        set_default(graph, AGNODE, "width", "1");
        set_default(graph, AGNODE, "height", "1");
        set_default(graph, AGEDGE, "headport", "n");
        set_default(graph, AGEDGE, "tailport", "s");
        set_default(graph, AGEDGE, "arrowhead", "none");
}

static int pixel(double coordinate)
{
        return (int)lround(coordinate);
}

static char *edge_path(Agedge_t *edge, int height)
{
        const splines *spline = ED_spl(edge);
        g_autoptr(GString) path = g_string_new(NULL);

        for (gsize k = 0; spline && k < (gsize)spline->size; k++)
                for (gsize i = 0; i < (gsize)spline->list[k].size; i++) {
                        pointf p = spline->list[k].list[i];
                        g_string_append_printf(path, "%s%d %d",
                                               i == 0   ? "M"
                                               : i == 1 ? "C"
                                                        : " ",
                                               pixel(p.x), height - pixel(p.y));
                }
        return g_string_free(g_steal_pointer(&path), FALSE);
}

static TreeLayout *read_layout(Agraph_t *graph, Agnode_t **vertices, Agedge_t **edges, guint32 n)
{
        TreeLayout *layout = g_new0(TreeLayout, 1);

        layout->width = pixel(GD_bb(graph).UR.x);
        layout->height = pixel(GD_bb(graph).UR.y);
        layout->n = n;
        layout->boxes = g_new0(TreeBox, n);
        for (guint32 i = 0; i < n; i++)
                layout->boxes[i] = (TreeBox){
                        .x = pixel(ND_coord(vertices[i]).x),
                        .y = layout->height - pixel(ND_coord(vertices[i]).y),
                        .width = pixel(ND_width(vertices[i]) * 72),
                        .height = pixel(ND_height(vertices[i]) * 72),
                        .edge = edges[i] ? edge_path(edges[i], layout->height) : g_strdup(""),
                };
        return layout;
}

TreeLayout *tree_layout_new(const guint32 *parents, const char *const *names, guint32 n,
                            gboolean operations, GError **error)
{
        g_autofree Agnode_t **vertices = g_new0(Agnode_t *, n);
        g_autofree Agedge_t **edges = g_new0(Agedge_t *, n);
        Agraph_t *graph = write_graph_have(agopen((char *)"tree", Agdirected, NULL));
        TreeLayout *layout = NULL;
        GVC_t *gvc = write_graph_have(gvContext());

        set_defaults(graph);
        for (guint32 i = 0; i < n; i++) {
                vertices[i] = add_vertex(graph, i, names[i], HEIGHT + (operations ? LINE : 0));
                if (i > 0)
                        edges[i] = write_graph_have(
                                agedge(graph, vertices[parents[i]], vertices[i], NULL, 1));
        }
        if (gvLayout(gvc, graph, "dot") == 0) {
                layout = read_layout(graph, vertices, edges, n);
                gvFreeLayout(gvc, graph);
        } else {
                g_set_error(error, RAVEL_ERROR, RAVEL_ERROR_OUTPUT,
                            "Graphviz cannot lay out the tree: %s",
                            aglasterr() ? aglasterr() : "its plugins are missing (install graphviz, or try dot -c)");
        }
        agclose(graph);
        gvFreeContext(gvc);
        return layout;
}

TreeLayout *tree_layout_new_calls(const CollapsedTree *tree, const NodeTable *nodes, NodeId client,
                                  GError **error)
{
        guint32 n = tree->n_vertices + 1;
        g_autofree guint32 *parents = g_new(guint32, n);
        g_autofree const char **names = g_new(const char *, n);
        gboolean operations = FALSE;

        parents[0] = NO_PARENT;
        names[0] = node_table_written(nodes, client);
        for (guint32 i = 1; i < n; i++) {
                const CollapsedCall *v = &tree->vertices[i - 1];

                parents[i] = v->parent == NO_PARENT ? 0 : v->parent + 1;
                names[i] = node_table_written(nodes, v->all.node);
                operations |= v->all.label != NULL;
                if (v->all.label && text_width(v->all.label) > text_width(names[i]))
                        names[i] = v->all.label;
        }
        return tree_layout_new(parents, names, n, operations, error);
}

void tree_layout_free(TreeLayout *layout)
{
        if (!layout)
                return;
        for (guint32 i = 0; i < layout->n; i++)
                g_free(layout->boxes[i].edge);
        g_free(layout->boxes);
        g_free(layout);
}
