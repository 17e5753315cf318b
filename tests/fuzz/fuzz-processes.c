/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What the kernel says about processes and sockets. Up to the first NUL the input is a format file
 * of tracefs. Then come records of perf_event_open(2), each with its own length. The whole input is
 * also read as a cgroup file and as lines of /proc/net/tcp.
 */
#include <linux/perf_event.h>
#include <string.h>

#include "capture/processes/perf-record.h"
#include "capture/processes/proc-sockets.h"
#include "capture/processes/process-table.h"

int LLVMFuzzerTestOneInput(const guint8 *data, gsize n);

/* As the kernel has it. */
static const SocketFormat usual = { .id = 1,
                                    .field = { [FIELD_SOCKET] = { 8, 8 },
                                               [FIELD_OLD_STATE] = { 16, 4 },
                                               [FIELD_NEW_STATE] = { 20, 4 },
                                               [FIELD_OWN_PORT] = { 24, 2 },
                                               [FIELD_PEER_PORT] = { 26, 2 },
                                               [FIELD_PROTOCOL] = { 30, 2 },
                                               [FIELD_OWN_ADDRESS] = { 40, 16 },
                                               [FIELD_PEER_ADDRESS] = { 56, 16 } } };

static void parse_text(const char *text, gsize n)
{
        ProcSocket socket;
        for (ProcessNaming naming = NAMED_BY_COMM; naming <= NAMED_BY_CGROUP; naming++)
                g_free(process_group_name(text, naming));
        while (n > 0) {
                const char *end = memchr(text, '\n', n);
                gsize length = end ? (gsize)(end - text) : n;
                proc_socket_parse(text, length, &socket);
                length += end != NULL;
                text += length;
                n -= length;
        }
}

int LLVMFuzzerTestOneInput(const guint8 *data, gsize n)
{
        const guint8 *divided = n > 0 ? memchr(data, 0, n) : NULL;
        gsize first = divided ? (gsize)(divided - data) : n;
        SocketFormat format;
        g_autofree char *text = n > 0 ? g_strndup((const char *)data, first) : g_strdup("");
        if (!socket_format_parse(text, first, &format))
                format = usual;
        parse_text(text, first);
        if (!divided)
                return 0;
        data = divided + 1;
        n -= first + 1;
        while (n >= sizeof(struct perf_event_header)) {
                struct perf_event_header header;
                ProcessEvent event;
                memcpy(&header, data, sizeof header);
                gsize length = MIN(MAX(header.size, sizeof header), n);
                g_autofree guint8 *copy = g_memdup2(data, length);
                if (perf_record_parse(&format, copy, length, &event))
                        g_assert(memchr(event.comm, '\0', sizeof event.comm));
                data += length;
                n -= length;
        }
        return 0;
}
