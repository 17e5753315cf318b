/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The patterns for the "dot" program, one graph each, best first.
 */
#include "write/drawer.h"
#include "write/write-graph.h"

gboolean path_write_dot(const PathSet *set, const PathWriteOptions *options, OutputFile *file,
                        GError **error)
{
        g_autoptr(Drawer) drawer = drawer_new();

        for (guint32 i = 0; i < write_graph_count(set, options); i++) {
                g_autoptr(Drawing) drawing = write_graph_new(set, options, i, G_MAXUINT32);
                g_autofree char *text = NULL;
                gsize n;

                if (!(text = drawer_draw(drawer, drawing, DRAW_DOT, &n, error))) {
                        g_prefix_error(error, "%s: ", output_file_name(file));
                        return FALSE;
                }
                if (!output_file_write(file, text, n, error))
                        return FALSE;
        }
        return TRUE;
}
