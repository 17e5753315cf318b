/* SPDX-License-Identifier: BSD-2-Clause
 *
 * ravel cut STORE [REQUEST]: the packets of requests, out of the captures that they are from.
 */
#include <string.h>

#include "analysis/why/why.h"
#include "base/compare.h"
#include "base/error.h"
#include "capture/network/packet-opener.h"
#include "capture/source/packet-merge.h"
#include "capture/source/pcapng-writer.h"
#include "store/store-query.h"
#include "tools/run-files.h"
#include "tools/tool.h"

static struct {
        char **read;
        char *write, *query;
        gint slowest;
        guint64 request; /* 0: none */
} options;

static const GOptionEntry entries[] = {
        { "read", 'r', 0, G_OPTION_ARG_FILENAME_ARRAY, &options.read,
          "The packets that the store is made of; may be repeated", "FILE" },
        { "write", 'w', 0, G_OPTION_ARG_FILENAME, &options.write,
          "Write to FILE, as pcapng (default -: standard output)", "FILE" },
        { "slowest", 0, 0, G_OPTION_ARG_INT, &options.slowest, "Cut the N slowest requests", "N" },
        { "query", 0, 0, G_OPTION_ARG_STRING, &options.query,
          "Cut the requests whose ids SQL gives", "SQL" },
        G_OPTION_ENTRY_NULL
};

static gboolean check_arguments(int argc, char **argv, GError **error)
{
        if (argc < 2 || argc > 3)
                return ravel_fail(error, RAVEL_ERROR_USAGE,
                                  "arguments: %d, expected a store, and perhaps the number of a "
                                  "request",
                                  argc - 1);
        if (argc == 3 &&
            !g_ascii_string_to_unsigned(argv[2], 10, 1, G_MAXUINT32, &options.request, NULL))
                return ravel_fail(error, RAVEL_ERROR_USAGE,
                                  "\"%s\", expected the number of a request, 1 or more", argv[2]);
        if ((argc == 3) + (options.slowest > 0) + (options.query != NULL) != 1)
                return ravel_fail(error, RAVEL_ERROR_USAGE,
                                  "expected one of a request's number, --slowest N and --query "
                                  "SQL");
        if (!options.read)
                return ravel_fail(error, RAVEL_ERROR_USAGE,
                                  "expected the packets that the store is made of, as -r FILE");
        for (char **path = options.read; *path; path++)
                if (!run_files_read(*path, error))
                        return FALSE;
        return run_files_read_store(argv[1], error) &&
               run_files_write("-w", options.write, error) &&
               run_files_confine_reader(FALSE, error);
}

/* --- which packets ----------------------------------------------------------- */

/* The ids that options.query gives; NULL and error set where it is no such question. */
static GArray *query_requests(const char *path, GError **error)
{
        g_autoptr(GArray) ids = g_array_new(FALSE, FALSE, sizeof(guint64));
        g_autoptr(StoreQuery) query = store_query_new(path, options.query, error);
        int row = 0;

        while (query && (row = store_query_next(query, error)) > 0) {
                StoreValue value = store_query_value(query, 0);

                if (value.type != STORE_INTEGER) {
                        ravel_fail(error, RAVEL_ERROR_USAGE,
                                   "--query: found \"%s\", expected ids of requests, such as "
                                   "'SELECT id FROM request WHERE latency > 1e9'",
                                   value.text ? value.text : "NULL");
                        return NULL;
                }
                g_array_append_val(ids, value.integer);
        }
        return query && row == 0 ? g_steal_pointer(&ids) : NULL;
}

static GArray *find_requests(Why *why, const char *path, GError **error)
{
        g_autoptr(GArray) ids = NULL;

        if (options.query)
                ids = query_requests(path, error);
        else if (options.slowest > 0)
                ids = why_slowest(why, (guint)options.slowest);
        else
                ids = g_array_append_vals(g_array_new(FALSE, FALSE, sizeof(guint64)),
                                          &options.request, 1);
        for (guint i = 0; ids && i < ids->len; i++)
                if (!why_expect_request(why, g_array_index(ids, guint64, i), error))
                        return NULL;
        return g_steal_pointer(&ids);
}

COMPARISON(compare_packets, WhyPackets, COMPARE(a->port, b->port) ?: COMPARE(a->from, b->from))

/* Sorts them and joins ranges that overlap, so that no two have a moment in common. */
static void join_packets(GArray *packets)
{
        guint n = 0;

        g_array_sort(packets, compare_packets);
        for (guint i = 0; i < packets->len; i++) {
                WhyPackets p = g_array_index(packets, WhyPackets, i);
                WhyPackets *last = n > 0 ? &g_array_index(packets, WhyPackets, n - 1) : NULL;

                if (last && last->port == p.port && p.from <= last->to)
                        last->to = MAX(last->to, p.to);
                else
                        g_array_index(packets, WhyPackets, n++) = p;
        }
        g_array_set_size(packets, n);
}

/* Of all requests that are asked for; NULL and error set. */
static GArray *find_packets(const char *path, guint *n_requests, GError **error)
{
        g_autoptr(NodeTable) nodes = node_table_new();
        g_autoptr(StoreReader) reader = store_reader_new(path, nodes, error);
        g_autoptr(Why) why = reader ? why_new(reader, nodes, error) : NULL;
        g_autoptr(GArray) ids = why ? find_requests(why, path, error) : NULL;
        g_autoptr(GArray) packets = g_array_new(FALSE, FALSE, sizeof(WhyPackets));

        for (guint i = 0; ids && i < ids->len; i++)
                if (!why_packets(why, g_array_index(ids, guint64, i), packets, error))
                        return NULL;
        if (!ids)
                return NULL;
        *n_requests = ids->len;
        join_packets(packets);
        return g_steal_pointer(&packets);
}

/* --- the packets --------------------------------------------------------------- */

static gboolean is_among(const GArray *packets, guint port, gint64 time)
{
        guint low = 0, high = packets->len; /* the last that begins by then is before high */

        while (low < high) {
                guint middle = (low + high) / 2;
                const WhyPackets *p = &g_array_index(packets, WhyPackets, middle);

                if (p->port < port || (p->port == port && p->from <= time))
                        low = middle + 1;
                else
                        high = middle;
        }
        return low > 0 && g_array_index(packets, WhyPackets, low - 1).port == port &&
               g_array_index(packets, WhyPackets, low - 1).to >= time;
}

static gboolean is_wanted(const GArray *packets, PacketOpener *opener, const Packet *packet,
                          Account *account)
{
        IpPacket ip;

        return packet_open(opener, packet, packet->time, &ip, account) == ACCOUNT_NONE &&
               (ip.protocol == IP_TCP || ip.protocol == IP_UDP) && ip.captured >= 4 &&
               (is_among(packets, read_u16(ip.payload), packet->time) ||
                is_among(packets, read_u16(ip.payload + 2), packet->time));
}

static gboolean copy_packets(const GArray *packets, PcapngWriter *out, guint64 *n, GError **error)
{
        PcapOptions pcap = { .progress = tool_progress_read };
        guint n_files = g_strv_length(options.read);
        g_autoptr(PacketOpener) opener = packet_opener_new(NULL);
        g_autofree Account *account = g_new0(Account, 1);
        g_autoptr(PacketMerge) merge = NULL;
        Packet packet;
        int result;

        tool_progress_start((const char *const *)options.read, n_files, FALSE);
        merge = packet_merge_new((const char *const *)options.read, n_files, &pcap, error);
        if (!merge)
                return FALSE;
        while ((result = packet_merge_next(merge, &packet, error)) == 1) {
                if (!is_wanted(packets, opener, &packet, account))
                        continue;
                if (!pcapng_writer_add(out, &packet, error))
                        return FALSE;
                ++*n;
        }
        return result == 0;
}

static gboolean cut(const char *store, guint64 *n, guint *n_requests, GError **error)
{
        g_autoptr(GArray) packets = find_packets(store, n_requests, error);
        g_autoptr(PcapngWriter) out =
                packets ? pcapng_writer_new(options.write ? options.write : "-", error) : NULL;

        return out && copy_packets(packets, out, n, error) &&
               pcapng_writer_close(g_steal_pointer(&out), error);
}

int tool_cut(int argc, char **argv)
{
        GError *error = NULL;
        guint64 n = 0;
        guint n_requests = 0;
        int status;

        if (!tool_parse("STORE [REQUEST] - the packets of requests", entries, NULL, &argc, &argv,
                        &status))
                return status;
        if (!check_arguments(argc, argv, &error) || !cut(argv[1], &n, &n_requests, &error))
                return tool_fail(error);
        tool_warn("%" G_GUINT64_FORMAT " %s of %u %s", n, n == 1 ? "packet" : "packets", n_requests,
                  n_requests == 1 ? "request" : "requests");
        if (n > 0 || n_requests == 0)
                return EXIT_DONE;
        tool_warn("none of the packets has the time and port of a call: expected the capture that "
                  "the store is made of");
        return EXIT_DIFFERS;
}
