/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The program ravel-draw, run as a child: it draws with Graphviz, which we must not link
 * (README.md, "Licence"). It is started by the first drawing and ended by drawer_free().
 */
#pragma once

#include "write/drawing.h"

typedef struct Drawer Drawer;

Drawer *drawer_new(void);
void drawer_free(Drawer *drawer);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Drawer, drawer_free)

/* Starts the program for the first drawing, before a sandbox forbids that. Its process id, or 0 if
 * it cannot be started, which drawer_draw() tells. */
GPid drawer_start_early(void);

/* What it makes of the drawing, with a NUL after the n bytes; newly allocated. NULL and error set
 * where Graphviz cannot, or there is no such program, or it ends or answers nonsense. */
char *drawer_draw(Drawer *drawer, const Drawing *drawing, DrawKind what, gsize *n, GError **error);
