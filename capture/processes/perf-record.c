/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/processes/perf-record.h"

#include <linux/perf_event.h>
#include <string.h>

#include "capture/network/ip.h"

/* The kernel's enum of TCP states, which programs rely on. */
enum { STATE_SYN_SENT = 2, STATE_CLOSE = 7, STATE_LISTEN = 10 };

enum { MAX_OFFSET = 4096 };

/* --- the format ---------------------------------------------------------------- */

static const struct {
        const char *name;
        guint32 size;
} wanted[N_FIELDS] = { [FIELD_SOCKET] = { "skaddr", sizeof(gpointer) },
                       [FIELD_OLD_STATE] = { "oldstate", 4 },
                       [FIELD_NEW_STATE] = { "newstate", 4 },
                       [FIELD_OWN_PORT] = { "sport", 2 },
                       [FIELD_PEER_PORT] = { "dport", 2 },
                       [FIELD_PROTOCOL] = { "protocol", 0 }, /* one byte, later two */
                       [FIELD_OWN_ADDRESS] = { "saddr_v6", 16 },
                       [FIELD_PEER_ADDRESS] = { "daddr_v6", 16 } };

/* The number behind key in a line. */
static gboolean perf_record_find_number(const char *line, const char *key, guint64 *number)
{
        const char *at = strstr(line, key);
        char *end = NULL;
        if (at)
                *number = g_ascii_strtoull(at + strlen(key), &end, 10);
        return at && end != at + strlen(key);
}

/* "	field:__u8 saddr_v6[16];	offset:40;	size:16;	signed:0;" */
static void field_parse(const char *line, SocketFormat *format)
{
        const char *stop = strchr(line, ';');
        guint64 offset, size;
        if (!stop || !perf_record_find_number(stop, "offset:", &offset) ||
            !perf_record_find_number(stop, "size:", &size) || offset > MAX_OFFSET || size == 0 ||
            size > MAX_OFFSET)
                return;
        while (stop > line && stop[-1] == ']')
                do
                        stop--;
                while (stop > line && *stop != '[');
        for (guint i = 0; i < N_FIELDS; i++) {
                gsize n = strlen(wanted[i].name);
                if ((gsize)(stop - line) > n && memcmp(stop - n, wanted[i].name, n) == 0 &&
                    stop[-(gssize)n - 1] == ' ' &&
                    (size == wanted[i].size || (!wanted[i].size && size <= 2)))
                        format->field[i] = (SampleField){ (guint32)offset, (guint32)size };
        }
}

gboolean socket_format_parse(const char *text, gsize n, SocketFormat *format)
{
        g_autofree char *copy = g_strndup(text, n);
        g_auto(GStrv) lines = g_strsplit(copy, "\n", -1);
        gboolean has_id = FALSE, is_it = FALSE;
        memset(format, 0, sizeof *format);
        for (char **line = lines; *line; line++) {
                if (g_str_has_prefix(*line, "ID:"))
                        has_id = perf_record_find_number(*line, "ID: ", &format->id);
                is_it |= strcmp(*line, "name: inet_sock_set_state") == 0;
                if (strstr(*line, "field:"))
                        field_parse(*line, format);
        }
        for (guint i = 0; i < N_FIELDS; i++)
                if (format->field[i].size == 0)
                        return FALSE;
        return has_id && is_it;
}

/* --- records --------------------------------------------------------------------- */

/* A number of at most 8 bytes at offset. FALSE: it is not there. */
static gboolean get(const guint8 *bytes, gsize n, gsize offset, gsize size, guint64 *value)
{
        guint32 four;
        guint16 two;
        if (n < size || offset > n - size)
                return FALSE;
        bytes += offset;
        switch (size) {
        case 8:
                memcpy(value, bytes, 8);
                return TRUE;
        case 4:
                memcpy(&four, bytes, 4);
                *value = four;
                return TRUE;
        case 2:
                memcpy(&two, bytes, 2);
                *value = two;
                return TRUE;
        default:
                *value = *bytes;
                return size == 1;
        }
}

static gboolean perf_record_get_end(const SocketFormat *format, const guint8 *raw, gsize n,
                                    guint address, guint port, Endpoint *end)
{
        const SampleField *a = &format->field[address], *p = &format->field[port];
        guint64 number;
        if (!get(raw, n, p->offset, p->size, &number) || n < a->size || a->offset > n - a->size)
                return FALSE;
        end->address = address_v6(raw + a->offset);
        end->port = (guint16)number;
        return TRUE;
}

static gboolean sample_parse(const SocketFormat *format, const guint8 *raw, gsize n,
                             ProcessEvent *event)
{
        const SampleField *field = format->field;
        guint64 old, new, protocol;
        if (!get(raw, n, field[FIELD_OLD_STATE].offset, 4, &old) ||
            !get(raw, n, field[FIELD_NEW_STATE].offset, 4, &new) ||
            !get(raw, n, field[FIELD_PROTOCOL].offset, field[FIELD_PROTOCOL].size, &protocol) ||
            !get(raw, n, field[FIELD_SOCKET].offset, sizeof(gpointer), &event->socket) ||
            !perf_record_get_end(format, raw, n, FIELD_OWN_ADDRESS, FIELD_OWN_PORT, &event->own) ||
            !perf_record_get_end(format, raw, n, FIELD_PEER_ADDRESS, FIELD_PEER_PORT, &event->peer))
                return FALSE;
        if (protocol != IP_TCP)
                event->kind = PROCESS_OTHER;
        else if (new == STATE_SYN_SENT)
                event->kind = PROCESS_CONNECTS;
        else if (old == STATE_SYN_SENT)
                event->kind = new == STATE_CLOSE ? PROCESS_REFUSED : PROCESS_OPENED;
        else if (new == STATE_LISTEN)
                event->kind = PROCESS_LISTENS;
        return TRUE;
}

/* pid, tid, time, size and the sample. */
static gboolean perf_record_take_sample(const SocketFormat *format, const guint8 *body, gsize n,
                                        ProcessEvent *event)
{
        enum { RAW = 20 };
        guint64 pid, time, size;
        if (!get(body, n, 0, 4, &pid) || !get(body, n, 8, 8, &time) ||
            !get(body, n, 16, 4, &size) || size > n - RAW)
                return FALSE;
        event->pid = (guint32)pid;
        event->time = (gint64)time;
        return sample_parse(format, body + RAW, size, event);
}

/* pid, tid, a name, and at the end pid, tid and time. A thread's name is not its process's. */
static gboolean take_comm(const guint8 *body, gsize n, gboolean exec, ProcessEvent *event)
{
        enum { COMM = 8, END = 16 };
        guint64 pid, tid, time;
        if (n < COMM + END || !get(body, n, 0, 4, &pid) || !get(body, n, 4, 4, &tid) ||
            !get(body, n, n - 8, 8, &time))
                return FALSE;
        event->pid = (guint32)pid;
        event->time = (gint64)time;
        g_strlcpy(event->comm, "", sizeof event->comm);
        memcpy(event->comm, body + COMM, MIN(n - COMM - END, COMM_SIZE - 1));
        event->kind = exec ? PROCESS_EXEC : pid == tid ? PROCESS_NAMED : PROCESS_OTHER;
        return TRUE;
}

/* pid, the parent's, tid, the parent's, and the time. */
static gboolean take_task(const guint8 *body, gsize n, gboolean fork, ProcessEvent *event)
{
        guint64 pid, parent, tid, time;
        if (!get(body, n, 0, 4, &pid) || !get(body, n, 4, 4, &parent) ||
            !get(body, n, 8, 4, &tid) || !get(body, n, 16, 8, &time))
                return FALSE;
        event->pid = (guint32)pid;
        event->parent = (guint32)parent;
        event->time = (gint64)time;
        if (pid == tid)
                event->kind = fork ? PROCESS_FORK : PROCESS_EXIT;
        return TRUE;
}

gboolean perf_record_parse(const SocketFormat *format, const guint8 *record, gsize n,
                           ProcessEvent *event)
{
        struct perf_event_header header;
        memset(event, 0, sizeof *event);
        if (n < sizeof header)
                return FALSE;
        memcpy(&header, record, sizeof header);
        if (header.size != n)
                return FALSE;
        const guint8 *body = record + sizeof header;
        n -= sizeof header;
        switch (header.type) {
        case PERF_RECORD_SAMPLE:
                return perf_record_take_sample(format, body, n, event);
        case PERF_RECORD_COMM:
                return take_comm(body, n, (header.misc & PERF_RECORD_MISC_COMM_EXEC) != 0, event);
        case PERF_RECORD_FORK:
        case PERF_RECORD_EXIT:
                return take_task(body, n, header.type == PERF_RECORD_FORK, event);
        case PERF_RECORD_LOST:
                event->kind = PROCESS_LOST;
                return get(body, n, 8, 8, &event->lost);
        default:
                return TRUE;
        }
}
