/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What tshark says of packets, line by line: as it is, and as values of columns that are known.
 */
#include <string.h>

#include "import/import.h"
#include "import/json-text.h"

int LLVMFuzzerTestOneInput(const guint8 *data, gsize n);

static NodeId name_node(gpointer user, const ImportEnd *own, const ImportEnd *peer, gint64 time)
{
        (void)peer;
        (void)time;
        return node_table_add(user, own->address, strlen(own->address));
}

static void take(gpointer user, const char *const *keys, guint n_keys, const char *value)
{
        gsize *length = user;

        g_assert(n_keys <= JSON_MAX_DEPTH);
        for (guint i = 0; i < n_keys; i++)
                *length += strlen(keys[i]);
        *length += strlen(value);
}

static void import(const guint8 *data, gsize n, const char *header)
{
        g_autoptr(NodeTable) nodes = node_table_new();
        g_autoptr(TraceWriter) writer = trace_writer_new("/dev/null", nodes, TRUE, NULL);
        gpointer t = import_tshark.begin(name_node, nodes);
        const ImportCounts *counts = import_tshark.counts(t);

        if (header)
                g_assert(import_tshark.add(t, (const guint8 *)header, strlen(header), NULL));
        while (n > 0) {
                const guint8 *end = memchr(data, '\n', n);
                gsize length = end ? (gsize)(end - data) : n;
                g_autofree guint8 *line = g_memdup2(data, length); /* so that its end is noticed */
                g_autoptr(GError) error = NULL;

                if (!import_tshark.add(t, length ? line : data, length, &error))
                        g_assert(error && g_utf8_validate(error->message, -1, NULL));
                data += length + (end != NULL);
                n -= length + (end != NULL);
        }
        g_assert(counts->packets <= counts->lines);
        g_assert(writer && import_tshark.write(t, writer, NULL));
        g_assert(trace_writer_close(g_steal_pointer(&writer), NULL));
        import_tshark.end(t);
}

int LLVMFuzzerTestOneInput(const guint8 *data, gsize n)
{
        gsize length = 0;

        import(data, n, NULL);
        import(data, n,
               "frame.number\tframe.time_epoch\tip.src\tip.dst\ttcp.srcport\ttcp.dstport\t"
               "kafka.request_frame\tmongo.request_id\tmongo.response_to\tsip.Method");
        json_texts(data, n, take, &length);
        return 0;
}
