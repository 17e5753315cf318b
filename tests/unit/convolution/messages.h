/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Messages for tests of convolution, a line each: added to a loader, in the order given.
 */
#pragma once

#include <string.h>

#include "convolution/edge-trace.h"

static inline NodeId test_node(NodeTable *nodes, const char *name)
{
        return node_table_add(nodes, name, strlen(name));
}

static inline void test_add(EdgeTraceLoader *loader, NodeTable *nodes, gint64 time, MessageOp op,
                            const char *from, const char *to, const char *id)
{
        g_autoptr(GError) error = NULL;
        Message m = { .time = time,
                      .op = op,
                      .sender = test_node(nodes, from),
                      .receiver = test_node(nodes, to) };

        message_set_id(&m, id, strlen(id));
        g_assert_true(edge_trace_loader_add(loader, &m, &error));
        g_assert_no_error(error);
}
