/* SPDX-License-Identifier: BSD-2-Clause
 *
 * For fuzz targets of spans. The input is a value of JSON. With the text that surrounds it in a
 * file of its format it is imported in pieces, and the trace is read. The trace must be in order,
 * every position must have its parent, and the counts must be right.
 */
#include <string.h>

#include "import/spans.h"
#include "tests/fuzz/fuzz-file.h"
#include "tests/unit/message-attribute.h"
#include "tracefmt/trace-reader.h"

typedef struct {
        const guint8 *parts[3];
        gsize sizes[3], at;
        guint part;
        gsize piece;
} Pieces;

static gssize read_piece(gpointer user, void *buffer, gsize n, GError **error)
{
        Pieces *p = user;
        gsize size;

        (void)error;
        while (p->part < 3 && p->at == p->sizes[p->part]) {
                p->part++;
                p->at = 0;
        }
        if (p->part == 3)
                return 0;
        size = MIN(MIN(n, p->piece), p->sizes[p->part] - p->at);
        memcpy(buffer, p->parts[p->part] + p->at, size);
        p->at += size;
        return (gssize)size;
}

static NodeId name_node(gpointer user, const ImportEnd *own, const ImportEnd *peer, gint64 time)
{
        (void)peer;
        (void)time;
        return node_table_add(user, own->address, strlen(own->address));
}

static gboolean count_calls(gpointer user, const char *what, const char *value, GError **error)
{
        guint64 *calls = user;

        (void)error;
        if (strcmp(what, "calls") == 0)
                *calls = g_ascii_strtoull(value, NULL, 10);
        return TRUE;
}

static void read_back(const char *path, guint64 calls)
{
        static const TraceReaderOptions options = TRACE_READER_DEFAULTS;
        g_autoptr(NodeTable) nodes = node_table_new();
        g_autoptr(TraceReader) reader = trace_reader_new(path, nodes, &options, NULL);
        g_autoptr(GHashTable) open = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
        gint64 last = G_MININT64;
        guint64 answered = 0;
        Message m;
        int status;

        while ((status = trace_reader_next(reader, &m, NULL)) > 0) {
                gsize n;
                const char *position = message_attribute(&m, "path", &n);

                g_assert(m.time >= last && position && n > 0 && m.id_length > 0);
                last = m.time;
                if (message_is_return(&m))
                        answered += g_hash_table_add(open, g_strndup(position, n));
        }
        g_assert(status == 0 && answered == calls);
}

/* Nothing of one input may change what another gives. */
static void import_value(const char *before, const guint8 *data, gsize n, const char *after)
{
        g_autoptr(NodeTable) nodes = node_table_new();
        SpanOptions options = { .nodes = nodes };
        Pieces pieces = { .piece = n > 0 ? 1 + data[0] % 64 : 1 };
        ImportInput input = { "fuzz", read_piece, &pieces };
        g_autoptr(GError) error = NULL;
        gpointer import = import_spans.begin(name_node, nodes);
        guint64 calls = 0;
        int fd;
        g_autofree char *path = as_file(data, 0, &fd);
        TraceWriter *writer = trace_writer_new(path, nodes, TRUE, NULL);

        options.whole = n > 0 && data[n - 1] & 1;
        import_spans_set(import, &options);
        pieces.parts[0] = (const guint8 *)before;
        pieces.sizes[0] = strlen(before);
        pieces.parts[1] = data;
        pieces.sizes[1] = n;
        pieces.parts[2] = (const guint8 *)after;
        pieces.sizes[2] = strlen(after);
        if (!import_spans.read(import, &input, &error))
                g_assert(error && g_utf8_validate(error->message, -1, NULL));
        g_assert(writer && import_spans.write(import, writer, NULL));
        g_assert(import_spans.say(import, count_calls, &calls, NULL));
        g_assert(trace_writer_close(writer, NULL));
        import_spans.end(import);
        if (n % 4 == 0) /* opening a trace takes longer than all else */
                read_back(path, calls);
        close(fd);
}
