/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The file of node names, and looking up in what it says.
 */
#include "capture/network/node-names.h"

int LLVMFuzzerTestOneInput(const guint8 *data, gsize n);

int LLVMFuzzerTestOneInput(const guint8 *data, gsize n)
{
        g_autoptr(NodeTable) nodes = node_table_new();
        g_autoptr(NodeNames) names = node_names_new(nodes);
        g_autoptr(GError) error = NULL;
        g_autofree char *copy = g_memdup2(data, n);
        if (!node_names_parse(names, copy ? copy : "", n, "names", &error))
                g_assert(error && g_utf8_validate(error->message, -1, NULL));
        Endpoint own = { address_v4(0x0a000001), 80 };
        NodeId node = node_names_lookup(names, &own, NULL, 0);
        g_assert(node < node_table_size(nodes));
        g_assert(node_names_lookup(names, &own, NULL, 0) == node);
        return 0;
}
