/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The patterns for the "dot" program, one graph each, best first.
 */
#include "paths/write/write-graph.h"

#include <string.h>

#include "base/error.h"

/* What agwrite() writes to. */
typedef struct {
        OutputFile *file;
        GError *error; /* the first */
} Channel;

static int put_string(void *channel, const char *text)
{
        Channel *c = channel;

        if (c->error || !output_file_write(c->file, text, strlen(text), &c->error))
                return -1;
        return 0;
}

static int flush_nothing(void *channel)
{
        (void)channel;
        return 0;
}

gboolean path_write_dot(const PathSet *set, const PathWriteOptions *options, OutputFile *file,
                        GError **error)
{
        Agiodisc_t io = AgIoDisc;
        Agdisc_t disc = { .id = &AgIdDisc,
                          .io = &io }; /* before Graphviz 9 it has one more field */
        Channel channel = { file, NULL };

        io.putstr = put_string;
        io.flush = flush_nothing;
        for (guint32 i = 0; i < write_graph_count(set, options) && !channel.error; i++) {
                Agraph_t *graph = write_graph_new(set, options, i, G_MAXUINT32, &disc);
                if (agwrite(graph, &channel) < 0 && !channel.error)
                        g_set_error(&channel.error, RAVEL_ERROR, RAVEL_ERROR_OUTPUT,
                                    "%s: cannot write a graph", output_file_name(file));
                agclose(graph);
        }
        if (!channel.error)
                return TRUE;
        g_propagate_error(error, channel.error);
        return FALSE;
}
