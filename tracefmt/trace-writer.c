/* SPDX-License-Identifier: BSD-2-Clause */
#include "tracefmt/trace-writer.h"

#include <string.h>

#include "tracefmt/output-file.h"

struct TraceWriter {
        OutputFile *out;
        const NodeTable *nodes;
        char *line; /* scratch for one */
        gsize size;
        guint64 second; /* of the last line, and its text */
        char second_text[20];
        guint second_length; /* 0 before the first */
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

/* Two digits; value is below 100. */
static void put_pair(char *p, guint32 value)
{
        static const char pairs[] = "00010203040506070809101112131415161718192021222324"
                                    "25262728293031323334353637383940414243444546474849"
                                    "50515253545556575859606162636465666768697071727374"
                                    "75767778798081828384858687888990919293949596979899";
        memcpy(p, pairs + 2 * value, 2);
}

/* Below a second: nine digits. */
static char *put_nanoseconds(char *p, guint32 value)
{
        guint32 high = value / 100000, low = value % 100000;
        put_pair(p, high / 100);
        put_pair(p + 2, high % 100);
        p[4] = (char)('0' + low / 10000);
        put_pair(p + 5, low / 100 % 100);
        put_pair(p + 7, low % 100);
        return p + 9;
}

/* Most lines are of the same second as the one before. */
static char *put_seconds(TraceWriter *w, char *p, guint64 value)
{
        if (!w->second_length || w->second != value) {
                w->second = value;
                w->second_length = (guint)g_snprintf(w->second_text, sizeof w->second_text,
                                                     "%" G_GUINT64_FORMAT, value);
        }
        memcpy(p, w->second_text, w->second_length);
        return p + w->second_length;
}

static char *line_put_text(char *p, const char *text, gsize n)
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
        p = put_seconds(w, p, time / 1000000000);
        *p++ = '.';
        p = put_nanoseconds(p, (guint32)(time % 1000000000));
        *p++ = '\t';
        p = line_put_text(p, op, op_length);
        *p++ = '\t';
        p = line_put_text(p, sender, sender_length);
        *p++ = '\t';
        p = line_put_text(p, receiver, receiver_length);
        *p++ = '\t';
        p = m->id_length ? line_put_text(p, m->id, m->id_length) : line_put_text(p, "-", 1);
        if (m->attrs_length) {
                *p++ = '\t';
                p = line_put_text(p, m->attrs, m->attrs_length);
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
