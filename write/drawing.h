/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A drawing as plain data: the steps that make its graph, in their order, as bytes. ravel-draw
 * takes the same steps with Graphviz, which no other program links.
 *
 * Of each step: a byte that says which (DrawingStep); its items, 4 bytes each; its texts, each 4
 * bytes for the length, the bytes, and a NUL. Numbers are as this machine has them: both
 * programs run on it.
 */
#pragma once

#include <glib.h>

typedef enum {
        STEP_NAME,           /* of the graph; the first step, and no other */
        STEP_GRAPH_DEFAULT,  /* attribute, value */
        STEP_VERTEX_DEFAULT, /* attribute, value */
        STEP_EDGE_DEFAULT,   /* attribute, value */
        STEP_VERTEX,         /* name */
        STEP_EDGE,           /* from, to: items */
        STEP_SET,            /* item; attribute, value */
        N_DRAWING_STEPS,
} DrawingStep;

/* The graph, and then vertices and edges as they were added, from 1. */
typedef guint32 DrawingItem;
#define DRAWING_GRAPH ((DrawingItem)0)

typedef struct {
        GByteArray *steps;
        guint32 n_items; /* the graph is one */
} Drawing;

Drawing *drawing_new(const char *name);
void drawing_free(Drawing *drawing);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Drawing, drawing_free)

/* step is one of the three defaults. */
void drawing_default(Drawing *drawing, DrawingStep step, const char *name, const char *value);

DrawingItem drawing_add_vertex(Drawing *drawing, const char *name);
DrawingItem drawing_add_edge(Drawing *drawing, DrawingItem from, DrawingItem to);
void drawing_set(Drawing *drawing, DrawingItem item, const char *name, const char *value);

/* --- between the two programs ------------------------------------------------ *
 *
 * A request is a DrawFrame with what is wanted, and the steps. The answer is one with how it
 * went, and the bytes: what was drawn, or in words why not. A program reads all of one
 * before it writes the other. */

typedef enum {
        DRAW_DOT,    /* the text, as the dot program reads it */
        DRAW_SVG,    /* the picture, as Graphviz writes it */
        DRAW_LAYOUT, /* where a tree's vertices and edges go: DrawnTree, and n times DrawnBox with
                        the bytes of its edge */
        N_DRAW_KINDS,
} DrawKind;

enum {
        DRAW_MAGIC = 0x72766401, /* its last byte is the version of all this */
        DRAW_DONE = 0,
        DRAW_FAILED = 1,
};

typedef struct {
        guint32 magic;
        guint32 what; /* DrawKind; or DRAW_DONE or DRAW_FAILED */
        guint64 n;    /* bytes that follow */
} DrawFrame;

/* In pixels, y downwards. */
typedef struct {
        gint32 width, height;
        guint32 n;
} DrawnTree;

/* The middle of a vertex and its size; the length of the edge into it, "M..C...": an SVG path. */
typedef struct {
        gint32 x, y, width, height;
        guint32 edge;
} DrawnBox;

/* What is left to read of bytes that another program sent. */
typedef struct {
        const guint8 *data;
        gsize n;
} DrawBytes;

/* Takes n bytes, copied to to if that is not NULL. NULL: fewer are left. */
const guint8 *draw_bytes_take(DrawBytes *bytes, gsize n, gpointer to);

/* Takes a text, which ends where its length says and has a NUL nowhere else. NULL: it is none. */
const char *draw_bytes_take_text(DrawBytes *bytes);
