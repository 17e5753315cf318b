/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The input is a pcapng file. Each block is shown in a copy of just the size that
 * was asked for, so that reading past it is seen. A scan for stamps sees all of any file.
 */
#include "capture/source/pcapng.h"
#include "capture/source/stamp-scan.h"

int LLVMFuzzerTestOneInput(const guint8 *data, gsize n);

int LLVMFuzzerTestOneInput(const guint8 *data, gsize n)
{
        g_autoptr(PcapngReader) reader = pcapng_reader_new();
        g_autoptr(GError) error = NULL;
        guint64 kernel, interface;
        gsize at = 0, shown = 0, size = 0;
        while (at < n) {
                Packet packet;
                g_autofree guint8 *copy = g_memdup2(data + at, shown);
                PcapngResult result =
                        pcapng_parse(reader, copy ? copy : data, shown, &size, &packet, &error);
                g_assert((result == PCAPNG_BROKEN) == (error != NULL));
                if (result == PCAPNG_BROKEN)
                        break;
                if (result == PCAPNG_MORE) {
                        g_assert(size > shown && size <= (16 << 20) + 4);
                        if (size > n - at)
                                break;
                        shown = size;
                        continue;
                }
                g_assert(size >= 12);
                if (result == PCAPNG_PACKET) {
                        g_assert(packet.captured <= packet.length && packet.time >= -1);
                        g_assert(packet.bytes >= copy &&
                                 packet.bytes + packet.captured <= copy + shown);
                }
                at += MIN(size, n - at);
                shown = 0;
        }
        pcapng_drops(reader, &kernel, &interface);
        g_autoptr(StampScan) scan = stamp_scan_new();
        gsize used = stamp_scan_add(scan, data, n);
        g_assert(used >= n || stamp_scan_add(scan, data + used, n - used) == 0);
        return 0;
}
