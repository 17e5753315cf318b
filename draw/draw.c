/* SPDX-License-Identifier: BSD-2-Clause */
#include "draw/draw.h"

#include <graphviz/gvc.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/each.h"
#include "base/error.h"

struct Draw {
        GVC_t *gvc; /* NULL before the first layout, since plugins take time to load */
};

/* An object of cgraph, most of whose functions take a void pointer to any kind. */
typedef struct {
        Agnode_t *vertex; /* NULL: it is an edge, or the graph */
        void *object;     /* the graph, a vertex or an edge */
        Agedge_t *edge;   /* of a vertex: the first edge into it */
} Item;

typedef struct {
        Agraph_t *graph;
        GArray *items; /* of Item */
} Replay;

Draw *draw_new(void)
{
        return g_new0(Draw, 1);
}

void draw_free(Draw *draw)
{
        if (!draw)
                return;
        if (draw->gvc)
                gvFreeContext(draw->gvc);
        g_free(draw);
}

static void replay_clear(Replay *r)
{
        if (r->graph)
                agclose(r->graph);
        g_array_unref(r->items);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Replay, replay_clear)

/* Returns what Graphviz made. NULL means that memory has run out: then ends the program with a
 * message, as GLib does. */
static gpointer have(gpointer made)
{
        if (!made)
                g_error("Graphviz failed to allocate memory");
        return made;
}

/* --- the steps -------------------------------------------------------------- */

static void add_item(Replay *r, Agnode_t *vertex, void *object)
{
        Item item = { vertex, object, NULL };

        g_array_append_val(r->items, item);
}

static Item *take_item(const Replay *r, DrawBytes *bytes)
{
        guint32 i;

        return draw_bytes_take(bytes, sizeof i, &i) && i < r->items->len
                       ? &g_array_index(r->items, Item, i)
                       : NULL;
}

/* Takes a name, or NULL. A name must not begin with '%', which cgraph keeps for names of its
 * own. */
static char *take_name(DrawBytes *bytes)
{
        const char *name = draw_bytes_take_text(bytes);

        return name && *name != '%' ? (char *)name : NULL;
}

/* cgraph's strings are not const, but it copies all of them. */
static gboolean take_attribute(DrawBytes *bytes, char **name, char **value)
{
        return (*name = (char *)draw_bytes_take_text(bytes)) &&
               (*value = (char *)draw_bytes_take_text(bytes)) && **name;
}

static gboolean replay_default(Replay *r, int kind, DrawBytes *bytes)
{
        char *name, *value;

        return take_attribute(bytes, &name, &value) && have(agattr(r->graph, kind, name, value));
}

static gboolean replay_vertex(Replay *r, DrawBytes *bytes)
{
        char *name = take_name(bytes);
        Agnode_t *vertex;

        if (!name)
                return FALSE;
        vertex = have(agnode(r->graph, name, 1));
        add_item(r, vertex, vertex);
        return TRUE;
}

static gboolean replay_edge(Replay *r, DrawBytes *bytes)
{
        Item *from = take_item(r, bytes), *to = from ? take_item(r, bytes) : NULL;
        Agedge_t *edge;

        if (!to || !from->vertex || !to->vertex)
                return FALSE;
        edge = have(agedge(r->graph, from->vertex, to->vertex, NULL, 1));
        if (!to->edge)
                to->edge = edge;
        add_item(r, NULL, edge);
        return TRUE;
}

static gboolean replay_setting(Replay *r, DrawBytes *bytes)
{
        const Item *item = take_item(r, bytes);
        char *name, *value;

        return item && take_attribute(bytes, &name, &value) &&
               agsafeset(item->object, name, value, (char *)"") == 0;
}

static gboolean replay_step(Replay *r, DrawBytes *bytes)
{
        guint8 step;

        if (!draw_bytes_take(bytes, 1, &step))
                return FALSE;
        switch (step) {
        case STEP_GRAPH_DEFAULT:
                return replay_default(r, AGRAPH, bytes);
        case STEP_VERTEX_DEFAULT:
                return replay_default(r, AGNODE, bytes);
        case STEP_EDGE_DEFAULT:
                return replay_default(r, AGEDGE, bytes);
        case STEP_VERTEX:
                return replay_vertex(r, bytes);
        case STEP_EDGE:
                return replay_edge(r, bytes);
        case STEP_SET:
                return replay_setting(r, bytes);
        default:
                return FALSE;
        }
}

static gboolean replay_steps(Replay *r, DrawBytes bytes, Agdisc_t *disc)
{
        guint8 step;
        char *name;

        if (!draw_bytes_take(&bytes, 1, &step) || step != STEP_NAME || !(name = take_name(&bytes)))
                return FALSE;
        r->graph = have(agopen(name, Agdirected, disc));
        add_item(r, NULL, r->graph);
        while (bytes.n > 0)
                if (!replay_step(r, &bytes))
                        return FALSE;
        return TRUE;
}

/* --- the drawing ------------------------------------------------------------ */

static void append_drawn_bytes(GByteArray *out, const void *data, gsize n)
{
        g_byte_array_append(out, data, (guint)n);
}

static int put_string(void *channel, const char *text)
{
        append_drawn_bytes(channel, text, strlen(text));
        return 0;
}

static int flush_nothing(void *channel)
{
        (void)channel;
        return 0;
}

static gboolean render(Draw *draw, Agraph_t *graph, GByteArray *out)
{
        char *svg = NULL;
        size_t length;
        FILE *memory = open_memstream(&svg, &length);
        /* gvRenderData() would do, but that its length is unsigned before Graphviz 13 and size_t
         * since. */
        gboolean ok = memory && gvRender(draw->gvc, graph, "svg", memory) == 0;

        if (memory && fclose(memory) == 0 && ok)
                append_drawn_bytes(out, svg, length);
        free(svg);
        return ok;
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

static void append_box(GByteArray *out, const Item *item, int height)
{
        Agnode_t *v = item->vertex;
        g_autofree char *path = item->edge ? edge_path(item->edge, height) : g_strdup("");
        DrawnBox box = { pixel(ND_coord(v).x), height - pixel(ND_coord(v).y),
                         pixel(ND_width(v) * 72), pixel(ND_height(v) * 72), (guint32)strlen(path) };

        append_drawn_bytes(out, &box, sizeof box);
        append_drawn_bytes(out, path, box.edge);
}

static void append_drawn_tree(GByteArray *out, const Replay *r)
{
        DrawnTree tree = { pixel(GD_bb(r->graph).UR.x), pixel(GD_bb(r->graph).UR.y),
                           (guint32)agnnodes(r->graph) };

        append_drawn_bytes(out, &tree, sizeof tree);
        EACH (const Item, item, r->items)
                if (item->vertex)
                        append_box(out, item, tree.height);
}

static gboolean lay_out_graph(Draw *draw, const Replay *r, DrawKind what, GByteArray *out)
{
        gboolean ok = TRUE;

        if (!draw->gvc)
                draw->gvc = have(gvContext());
        if (gvLayout(draw->gvc, r->graph, "dot") != 0)
                return FALSE;
        if (what == DRAW_SVG)
                ok = render(draw, r->graph, out);
        else
                append_drawn_tree(out, r);
        gvFreeLayout(draw->gvc, r->graph);
        return ok;
}

GByteArray *draw_steps(Draw *draw, DrawKind what, const guint8 *steps, gsize n, GError **error)
{
        Agiodisc_t io = AgIoDisc;
        Agdisc_t disc = { .id = &AgIdDisc,
                          .io = &io }; /* before Graphviz 9 it has one more field */
        g_autoptr(GByteArray) out = g_byte_array_new();
        g_auto(Replay) r = { NULL, g_array_new(FALSE, FALSE, sizeof(Item)) };

        io.putstr = put_string;
        io.flush = flush_nothing;
        if (!replay_steps(&r, (DrawBytes){ steps, n }, what == DRAW_DOT ? &disc : NULL)) {
                g_set_error_literal(error, RAVEL_ERROR, RAVEL_ERROR_INPUT,
                                    "ravel-draw: found an invalid drawing, expected one from ravel "
                                    "of this version");
                return NULL;
        }
        if (what == DRAW_DOT ? agwrite(r.graph, out) >= 0 : lay_out_graph(draw, &r, what, out))
                return g_steal_pointer(&out);
        g_set_error(error, RAVEL_ERROR, RAVEL_ERROR_OUTPUT, "Graphviz cannot %s: %s",
                    what == DRAW_LAYOUT ? "lay out the tree" : "draw the graph",
                    aglasterr() ? aglasterr()
                                : "its plugins are missing (install graphviz, or try dot -c)");
        return NULL;
}
