/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The steps of a drawing, as another program may send them. Only the graph is made and written as
 * text: what Graphviz makes of a stranger's attributes when it draws is not ours to find.
 */
#include "draw/draw.h"

int LLVMFuzzerTestOneInput(const guint8 *data, gsize n);

int LLVMFuzzerTestOneInput(const guint8 *data, gsize n)
{
        g_autoptr(Draw) draw = draw_new();
        g_autoptr(GError) error = NULL;
        g_autoptr(GByteArray) drawn = draw_steps(draw, DRAW_DOT, data, n, &error);

        g_assert((drawn == NULL) == (error != NULL));
        return 0;
}
