/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The other end of write/drawer.h, in the program ravel-draw: replays the steps of a drawing
 * with Graphviz, which only this folder knows, and renders it.
 */
#pragma once

#include "write/drawing.h"

typedef struct Draw Draw;

Draw *draw_new(void);
void draw_free(Draw *draw);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Draw, draw_free)

/* Draws the n bytes of steps. The result is newly allocated. NULL and error set if the steps are no
 * drawing, or Graphviz fails. */
GByteArray *draw_steps(Draw *draw, DrawKind what, const guint8 *steps, gsize n, GError **error);
