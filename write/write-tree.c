/* SPDX-License-Identifier: BSD-2-Clause */
#include "write/write-tree.h"

#include <string.h>

#include "base/error.h"
#include "write/page-data.h"
#include "write/text-table.h"

/* In pixels, for text of 13 pixels. Sizes are ours, not Graphviz's, which would
 * depend on the fonts of this machine and not of the reader's. */
enum {
        NAME_CELL = 8,   /* a character of a name, generously */
        NAME_ROOM = 40,  /* around it, and for "x12" */
        MIN_WIDTH = 132, /* "own 21.8 ms  87 %" */
        MAX_WIDTH = 264, /* a longer name is cut */
        HEIGHT = 52,
        LINE = 15, /* one more, for operations or for what is queued */
        SIBLINGS_APART = 16,
        RANKS_APART = 48, /* the edge's words are in there */
};

/* As wide as "queued 39.1 ms, 4 workers" in small letters. */
static const char WAITS[] = "queued for workers";

/* Graphviz has 72 to an inch. */
static void set_inches(Drawing *drawing, DrawingItem item, const char *name, int pixels)
{
        char text[32];

        g_snprintf(text, sizeof text, "%d.%03d", pixels / 72, pixels % 72 * 1000 / 72);
        drawing_set(drawing, item, name, text);
}

static DrawingItem tree_add_vertex(Drawing *drawing, guint32 i, const char *name, int height)
{
        int width = CLAMP((int)text_width(name) * NAME_CELL + NAME_ROOM, MIN_WIDTH, MAX_WIDTH);
        char id[16];

        g_snprintf(id, sizeof id, "n%u", i);
        DrawingItem vertex = drawing_add_vertex(drawing, id);
        set_inches(drawing, vertex, "width", width);
        set_inches(drawing, vertex, "height", height);
        return vertex;
}

static void set_defaults(Drawing *drawing)
{
        drawing_default(drawing, STEP_GRAPH_DEFAULT, "ordering", "out");
        set_inches(drawing, DRAWING_GRAPH, "nodesep", SIBLINGS_APART);
        set_inches(drawing, DRAWING_GRAPH, "ranksep", RANKS_APART);
        drawing_default(drawing, STEP_VERTEX_DEFAULT, "shape", "box");
        drawing_default(drawing, STEP_VERTEX_DEFAULT, "fixedsize", "true");
        drawing_default(drawing, STEP_VERTEX_DEFAULT, "label", "");
        drawing_default(drawing, STEP_VERTEX_DEFAULT, "width", "1");
        drawing_default(drawing, STEP_VERTEX_DEFAULT, "height", "1");
        drawing_default(drawing, STEP_EDGE_DEFAULT, "headport", "n");
        drawing_default(drawing, STEP_EDGE_DEFAULT, "tailport", "s");
        drawing_default(drawing, STEP_EDGE_DEFAULT, "arrowhead", "none");
}

/* What an SVG path of an edge may be made of: it goes into a page as it is. */
static char *take_edge(DrawBytes *bytes, guint32 n)
{
        const guint8 *path = draw_bytes_take(bytes, n, NULL);

        for (guint32 i = 0; path && i < n; i++)
                if (!path[i] || !strchr("MC 0123456789-", path[i]))
                        return NULL;
        return path ? g_strndup((const char *)path, n) : NULL;
}

/* NULL: the bytes are no layout of n vertices. */
static TreeLayout *read_layout(DrawBytes bytes, guint32 n)
{
        g_autoptr(TreeLayout) layout = g_new0(TreeLayout, 1);
        DrawnTree tree;
        DrawnBox box;

        if (!draw_bytes_take(&bytes, sizeof tree, &tree) || tree.n != n)
                return NULL;
        layout->width = tree.width;
        layout->height = tree.height;
        layout->n = n;
        layout->boxes = g_new0(TreeBox, n);
        for (guint32 i = 0; i < n; i++) {
                TreeBox *b = &layout->boxes[i];

                if (!draw_bytes_take(&bytes, sizeof box, &box))
                        return NULL;
                *b = (TreeBox){ box.x, box.y, box.width, box.height, take_edge(&bytes, box.edge) };
                if (!b->edge)
                        return NULL;
        }
        return bytes.n == 0 ? g_steal_pointer(&layout) : NULL;
}

TreeLayout *tree_layout_new(Drawer *drawer, const guint32 *parents, const char *const *names,
                            guint32 n, int lines, GError **error)
{
        g_autofree DrawingItem *vertices = g_new(DrawingItem, n);
        g_autoptr(Drawing) drawing = drawing_new("tree");
        g_autofree char *answer = NULL;
        TreeLayout *layout;
        gsize length;

        set_defaults(drawing);
        for (guint32 i = 0; i < n; i++) {
                vertices[i] = tree_add_vertex(drawing, i, names[i], HEIGHT + lines * LINE);
                if (i > 0)
                        drawing_add_edge(drawing, vertices[parents[i]], vertices[i]);
        }
        if (!(answer = drawer_draw(drawer, drawing, DRAW_LAYOUT, &length, error)))
                return NULL;
        layout = read_layout((DrawBytes){ (const guint8 *)answer, length }, n);
        if (!layout)
                g_set_error_literal(error, RAVEL_ERROR, RAVEL_ERROR_OUTPUT,
                                    "ravel-draw answered nonsense: expected a layout");
        return layout;
}

TreeLayout *tree_layout_new_calls(Drawer *drawer, const CollapsedTree *tree, const NodeTable *nodes,
                                  NodeId client, GError **error)
{
        guint32 n = tree->n_vertices + 1;
        g_autofree guint32 *parents = g_new(guint32, n);
        g_autofree const char **names = g_new(const char *, n);
        gboolean operations = FALSE, waits = FALSE;

        parents[0] = NO_PARENT;
        names[0] = node_table_written(nodes, client);
        for (guint32 i = 1; i < n; i++) {
                const CollapsedCall *v = &tree->vertices[i - 1];

                parents[i] = v->parent == NO_PARENT ? 0 : v->parent + 1;
                names[i] = node_table_written(nodes, v->all.node);
                operations |= v->all.label != NULL;
                if (v->all.label && text_width(v->all.label) > text_width(names[i]))
                        names[i] = v->all.label;
                waits |= v->all.workers > 0;
                if (v->all.workers > 0 && text_width(WAITS) > text_width(names[i]))
                        names[i] = WAITS;
        }
        return tree_layout_new(drawer, parents, names, n, operations + waits, error);
}

void tree_layout_put(const TreeLayout *layout, Json *j)
{
        json_put_integer(j, "width", layout->width);
        json_put_integer(j, "height", layout->height);
        json_put_open(j, "boxes", '[');
        for (guint32 i = 0; i < layout->n; i++) {
                const TreeBox *b = &layout->boxes[i];

                json_open(j, '[');
                page_numbers(j, b->x, b->y, b->width, b->height);
                json_string(j, b->edge);
                json_close(j, ']');
        }
        json_close(j, ']');
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
