/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Files for --nodes of any kind, two of them where a NUL divides the input, and looking up in what
 * they say.
 */
#include <string.h>

#include "capture/network/node-files.h"

int LLVMFuzzerTestOneInput(const guint8 *data, gsize n);

static void parse(NodeFiles *files, const guint8 *data, gsize n)
{
        g_autoptr(GError) error = NULL;
        g_autofree char *copy = g_memdup2(data, n);
        if (!node_files_parse(files, copy ? copy : "", n, "names", &error))
                g_assert(error && g_utf8_validate(error->message, -1, NULL));
}

int LLVMFuzzerTestOneInput(const guint8 *data, gsize n)
{
        g_autoptr(NodeTable) nodes = node_table_new();
        g_autoptr(NodeNames) names = node_names_new(nodes);
        g_autoptr(NodeFiles) files = node_files_new(names, nodes);
        const guint8 *divided = n > 0 ? memchr(data, 0, n) : NULL;
        gsize first = divided ? (gsize)(divided - data) : n;
        parse(files, data, first);
        if (divided)
                parse(files, divided + 1, n - first - 1);
        node_files_settle(files);
        Endpoint own = { address_v4(0x7f000001), 40000 }, peer = { address_v4(0x7f000001), 8080 };
        Endpoint ends[2] = { own, peer };
        NodeId node = node_names_lookup(names, &own, &peer, 0);
        g_assert(node < node_table_size(nodes));
        g_assert(node_names_lookup(names, &own, &peer, 0) == node);
        node_names_role(names, &peer, &own, 0);
        node_names_translate(names, ends, 0);
        return 0;
}
