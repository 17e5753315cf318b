/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The blocks of a pcapng file (draft-ietf-opsawg-pcapng). libpcap refuses files whose interfaces
 * differ in link type or snapshot length, as in merged captures. Here each packet has the link
 * type, resolution and offset of its own interface. Sections may follow one another, each in its
 * own byte order. Blocks that carry no packet, interface, statistics or secrets of TLS are
 * skipped, whatever they are.
 */
#pragma once

#include "capture/packet/packet.h"

#define PCAPNG_MAGIC 0x0a0d0d0a /* how a file begins, in either byte order */

typedef struct PcapngReader PcapngReader;

PcapngReader *pcapng_reader_new(void);
void pcapng_reader_free(PcapngReader *reader);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(PcapngReader, pcapng_reader_free)

typedef enum {
        PCAPNG_MORE,      /* show at least *size bytes of the same block */
        PCAPNG_SKIP,      /* *size bytes are done; perhaps more than were shown */
        PCAPNG_INTERFACE, /* the same, and they described an interface */
        PCAPNG_SECRETS,   /* the same, and packet has the lines of a key log, of TLS */
        PCAPNG_PACKET, /* the same, and packet is filled; its bytes are borrowed from those shown */
        PCAPNG_BROKEN  /* error is set */
} PcapngResult;

/* Looks at the n bytes at bytes, where a block begins. A packet without a stamp,
 * or with an impossible one, has time -1. At most 16 MiB are ever asked for. */
PcapngResult pcapng_parse(PcapngReader *reader, const guint8 *bytes, gsize n, gsize *size,
                          Packet *packet, GError **error);

/* Of the interface that was described last, or that had the packet last. */
int pcapng_link_type(const PcapngReader *reader);

/* How many packets were dropped, by the statistics of the interfaces and by what the
 * packets themselves say, of all sections so far. */
void pcapng_drops(const PcapngReader *reader, guint64 *kernel, guint64 *interface);
