/* SPDX-License-Identifier: BSD-2-Clause
 *
 * How far the packets of a file (pcap or pcapng) are from the order of their stamps, found from
 * the headers of its records alone, before packets are read.
 */
#pragma once

#include "capture/packet/packet.h"
#include "tracefmt/byte-source.h"

/* Packets first to last, counted from 0: late ones, and what belongs after them. All before
 * have earlier stamps, all after later ones. */
typedef struct {
        guint64 first, last;
} DisorderedRange;

typedef struct {
        guint64 late;     /* packets after one with a later stamp */
        gint64 most_late; /* ns, by which they come after it at most */
        /* What comes at most before a late packet and belongs after it. */
        guint64 behind_packets, behind_bytes;
        GArray *ranges; /* of DisorderedRange, ascending and apart */
} StampOrder;

typedef struct StampScan StampScan;

StampScan *stamp_scan_new(void);
void stamp_scan_free(StampScan *scan);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(StampScan, stamp_scan_free)

/* Looks at the n bytes at bytes, the file's beginning or what comes after the bytes that were
 * used. Returns how many are used: fewer than n where the last record is not whole, more where
 * bytes that come do not matter. After what is no capture, or broken, all are used. */
gsize stamp_scan_add(StampScan *scan, const guint8 *bytes, gsize n);

/* The whole file, from bytes, until go_on returns FALSE; an error of bytes is its end. */
void stamp_scan_read(StampScan *scan, ByteSource *bytes, gboolean (*go_on)(gpointer user),
                     gpointer user);

/* Of the packets so far. */
const StampOrder *stamp_scan_order(const StampScan *scan);
