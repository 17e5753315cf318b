/* SPDX-License-Identifier: BSD-2-Clause */
#include "tracefmt/trace-writer.h"

#include <string.h>

#include "tracefmt/output-file.h"

struct TraceWriter {
        OutputFile *out;
        const NodeTable *nodes;
        char *line; /* scratch for one */
        gsize size;
};

enum { STAMP_SIZE = sizeof "-9223372036.854775808" };

TraceWriter *trace_writer_new(const char *path, const NodeTable *nodes, gboolean live,
                              GError **error)
{
        static const char first[] = "# ravel trace 1\n";
        g_autoptr(TraceWriter) w = g_new0(TraceWriter, 1);

        w->nodes = nodes;
        w->out = output_file_new(path, live, error);
        if (!w->out || !output_file_write(w->out, first, sizeof first - 1, error) ||
            (live && !output_file_flush(w->out, error)))
                return NULL;
        return g_steal_pointer(&w);
}

void trace_writer_give(TraceWriter *w, uid_t user, gid_t group)
{
        output_file_give(w->out, user, group);
}

gboolean trace_writer_fact(TraceWriter *w, const char *key, const char *value, GError **error)
{
        g_autoptr(GString) line = g_string_new("# ");

        g_string_append_printf(line, "%s: ", key);
        for (const char *p = value; *p; p++) {
                if ((guchar)*p < ' ' || *p == 0x7f)
                        g_string_append_printf(line, "%%%02X", (guchar)*p);
                else
                        g_string_append_c(line, *p);
        }
        g_string_append_c(line, '\n');
        return output_file_write(w->out, line->str, line->len, error);
}

gboolean trace_writer_copy_fact(TraceWriter *w, const char *fact, GError **error)
{
        return output_file_write(w->out, "# ", 2, error) &&
               output_file_write(w->out, fact, strlen(fact), error) &&
               output_file_write(w->out, "\n", 1, error);
}

/* value in decimal, at least width digits. Returns the end. */
static char *put_digits(char *p, guint64 value, int width)
{
        char reversed[20];
        int n = 0;

        do {
                reversed[n++] = '0' + value % 10;
                value /= 10;
        } while (value || n < width);
        while (n)
                *p++ = reversed[--n];
        return p;
}

static char *put_text(char *p, const char *text, gsize n)
{
        memcpy(p, text, n);
        return p + n;
}

gboolean trace_writer_add(TraceWriter *w, const Message *m, GError **error)
{
        const char *op = message_op_name(m->op);
        const char *sender = node_table_written(w->nodes, m->sender);
        const char *receiver = node_table_written(w->nodes, m->receiver);
        gsize op_length = strlen(op), sender_length = strlen(sender);
        gsize receiver_length = strlen(receiver);
        gsize size = STAMP_SIZE + op_length + sender_length + receiver_length + m->id_length +
                     m->attrs_length + sizeof "\t\t\t\t-\t\n";
        guint64 time = m->time < 0 ? -(guint64)m->time : (guint64)m->time;
        char *p;

        if (size > w->size) {
                g_free(w->line);
                w->line = g_malloc(w->size = size);
        }
        p = w->line;
        if (m->time < 0)
                *p++ = '-';
        p = put_digits(p, time / 1000000000, 1);
        *p++ = '.';
        p = put_digits(p, time % 1000000000, 9);
        *p++ = '\t';
        p = put_text(p, op, op_length);
        *p++ = '\t';
        p = put_text(p, sender, sender_length);
        *p++ = '\t';
        p = put_text(p, receiver, receiver_length);
        *p++ = '\t';
        p = m->id_length ? put_text(p, m->id, m->id_length) : put_text(p, "-", 1);
        if (m->attrs_length) {
                *p++ = '\t';
                p = put_text(p, m->attrs, m->attrs_length);
        }
        *p++ = '\n';
        return output_file_write(w->out, w->line, p - w->line, error);
}

guint64 trace_writer_size(const TraceWriter *w)
{
        return output_file_size(w->out);
}

gboolean trace_writer_flush(TraceWriter *w, GError **error)
{
        return output_file_flush(w->out, error);
}

gboolean trace_writer_close(TraceWriter *w, GError **error)
{
        gboolean ok = output_file_close(g_steal_pointer(&w->out), error);

        trace_writer_free(w);
        return ok;
}

void trace_writer_free(TraceWriter *w)
{
        if (!w)
                return;
        output_file_free(w->out);
        g_free(w->line);
        g_free(w);
}
