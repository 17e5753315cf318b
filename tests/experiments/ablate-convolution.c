/* SPDX-License-Identifier: BSD-2-Clause
 *
 * ablate-convolution ELEMENTS TRACE: what --method auto finds in TRACE without some of its
 * elements, JointElements added up. A line a vertex: the nodes from the root, separated by
 * '>', the number of messages, and the main delay in ns.
 */
#include <stdio.h>
#include <stdlib.h>

#include "convolution/convolution.h"
#include "convolution/joint/node-causes.h"
#include "tracefmt/trace-reader.h"

static EdgeTraces *read_trace(const char *path, NodeTable *nodes, GError **error)
{
        TraceReaderOptions defaults = TRACE_READER_DEFAULTS;
        g_autoptr(TraceReader) reader = trace_reader_new(path, nodes, &defaults, error);
        g_autoptr(EdgeTraceLoader) loader = edge_trace_loader_new(nodes);
        Message message;
        int status = -1;

        while (reader && (status = trace_reader_next(reader, &message, error)) > 0)
                if (!edge_trace_loader_add(loader, &message, error))
                        return NULL;
        return status < 0 ? NULL : edge_trace_loader_finish(g_steal_pointer(&loader), TRUE);
}

static void write_graph(const PathGraph *graph, const NodeTable *nodes)
{
        for (guint32 i = 0; i < path_graph_size(graph); i++) {
                const PathVertex *v = path_graph_vertex(graph, i), *u = v;
                g_autoptr(GString) path = g_string_new(node_table_written(nodes, v->node));
                gint64 delay = v->delays->len ? g_array_index(v->delays, PathDelay, 0).delay : 0;

                while (u->parent != NO_VERTEX) {
                        u = path_graph_vertex(graph, u->parent);
                        g_string_prepend_c(path, '>');
                        g_string_prepend(path, node_table_written(nodes, u->node));
                }
                if (v->parent != NO_VERTEX)
                        printf("%s\t%" G_GUINT64_FORMAT "\t%" G_GINT64_FORMAT "\n", path->str,
                               v->count, delay);
        }
}

int main(int argc, char **argv)
{
        ConvolutionOptions options = CONVOLUTION_DEFAULTS;
        g_autoptr(NodeTable) nodes = node_table_new();
        g_autoptr(GError) error = NULL;
        g_autoptr(EdgeTraces) traces = NULL;
        g_autoptr(Convolution) run = NULL;
        g_autoptr(PathSet) set = NULL;
        GArray *roots;

        if (argc != 3) {
                fprintf(stderr, "usage: ablate-convolution ELEMENTS TRACE\n");
                return 2;
        }
        if (!(traces = read_trace(argv[2], nodes, &error))) {
                fprintf(stderr, "ablate-convolution: %s\n", error->message);
                return 3;
        }
        options.without = (guint)strtoul(argv[1], NULL, 10);
        options.roots_guessed = TRUE;
        roots = convolution_find_roots(traces);
        convolution_choose(traces, roots, &options);
        run = convolution_new(traces, &options, roots);
        set = convolution_find_joint_paths(run);
        write_graph(path_set_graph(set), nodes);
        return 0;
}
