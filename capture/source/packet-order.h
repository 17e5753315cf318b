/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Packets of a file in the order of their stamps. Several queues of a network card, several
 * interfaces, or files put one after the other (mergecap -a) write them otherwise.
 *
 * The file's stamps are known beforehand (stamp-scan.h). Packets in order pass. Others are sorted
 * as they are read: by a buffer in memory if that suffices, else by parts on disk
 * (tracefmt/sorted-runs.h). If the clock was set back (stamp-evidence.h), none is.
 *
 * A pipe is read once. If its packets are of now, they pass. The packets of a recording wait in the
 * buffer, until it is full or the pipe pauses.
 */
#pragma once

#include "capture/source/pcap-source.h"

typedef struct PacketOrder PacketOrder;

/* Of the file at path, opened as source with a scan and not read yet; filtered: it has a filter.
 * Sets order, NULL if packets need not be sorted. FALSE: error set, as temporary files cannot be
 * written. */
gboolean packet_order_find(const char *path, PcapSource *source, gboolean filtered,
                           PacketOrder **order, GError **error);
PacketOrder *packet_order_new_pipe(void);
void packet_order_free(PacketOrder *order); /* NULL is allowed */

/* The next packet of source in order; as pcap_source_next(). An error of source comes after all
 * its packets; one of temporary files, RAVEL_ERROR_OUTPUT, at once. */
int packet_order_next(PacketOrder *order, PcapSource *source, Packet *packet, GError **error);

/* While source waits for a pipe: a packet that has waited for long enough. FALSE: there is none. */
gboolean packet_order_next_waiting(PacketOrder *order, Packet *packet);

/* Adds to counts what was out of order. */
void packet_order_count(const PacketOrder *order, PcapCounts *counts);
