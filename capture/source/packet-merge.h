/* SPDX-License-Identifier: BSD-2-Clause
 *
 * All packets of one run: of any number of files as one stream in the order of time, or of
 * interfaces as they come.
 *
 * Files that overlap in time are merged. Files that follow one another, such as those of a
 * rotated capture, are read one after the other, in whatever order they are named. A file is
 * open from its first packet's time to its end, so that only those are open at once that
 * overlap.
 */
#pragma once

#include "capture/source/pcap-source.h"

typedef struct PacketMerge PacketMerge;

/* n > 0 paths, "-" being standard input. All are looked at before this returns, so
 * that a file that is no capture is an error here. options are copied, paths and
 * filter borrowed. */
PacketMerge *packet_merge_new(const char *const *paths, guint n, const PcapOptions *options,
                              GError **error);
PacketMerge *packet_merge_new_live(const char *const *interfaces, guint n,
                                   const PcapOptions *options, GError **error);
void packet_merge_free(PacketMerge *merge);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(PacketMerge, packet_merge_free)

/* As pcap_source_next(). A file that breaks off ends there, and the others go on:
 * its error comes when they are at their end. */
int packet_merge_next(PacketMerge *merge, Packet *packet, GError **error);

/* While packet_merge_next() waits, from its idle(): see packet_order_next_waiting(). */
gboolean packet_merge_next_waiting(PacketMerge *merge, Packet *packet);

/* As pcap_source_stop(). */
void packet_merge_stop(PacketMerge *merge);

/* Of file i, or for 0 of the interfaces; as far as it was read. Borrowed. */
const char *packet_merge_link_type(const PacketMerge *merge, guint i);

/* How many interfaces the packets are from, of all files, as far as they were read. */
guint packet_merge_interfaces(const PacketMerge *merge);

/* Of all inputs. */
PcapCounts packet_merge_counts(const PacketMerge *merge);
