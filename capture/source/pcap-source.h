/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Where packets come from: a capture file (pcap or pcapng, also compressed, also
 * a pipe), or live interfaces. The only user of libpcap; pcapng files are read by
 * pcapng.h, since libpcap refuses those of mixed interfaces.
 */
#pragma once

#include "capture/packet/packet.h"
#include "capture/source/stamp-scan.h"
#include "tracefmt/byte-source.h"

typedef struct PcapSource PcapSource;

typedef enum { DIRECTION_BOTH, DIRECTION_IN, DIRECTION_OUT } Direction;

typedef struct {
        const char *filter;    /* in pcap-filter(7)'s language, or NULL */
        int snapshot;          /* bytes of a packet, live */
        int buffer;            /* KiB of the kernel's buffer, live; 0 is libpcap's choice */
        gboolean promiscuous;  /* live */
        gboolean immediate;    /* live: the kernel hands each packet over at once */
        Direction direction;   /* live: of packets, as this machine sees it */
        const char *link_type; /* live: libpcap's name of the one to ask for, or NULL */
        /* Called with a live source or a pipe before it waits for packets, also while it is
         * opened. While none comes it is called about every fifth of a second. ns: how much time
         * has surely passed since it began to wait, or since the last call, given that packets
         * may still be under way. FALSE stops the source. May be NULL. */
        gboolean (*idle)(gpointer user, gint64 ns);
        /* What happened to an interface: "eth0 went down". May be NULL. */
        void (*notice)(gpointer user, const char *text);
        /* A pcapng file has n bytes of a key log, of TLS. May be NULL. */
        void (*secrets)(gpointer user, const guint8 *bytes, gsize n);
        gpointer user;
        gboolean scan;               /* a file's stamps are looked at first: pcap_source_order() */
        ByteSourceProgress progress; /* called as a file is read, or NULL */
} PcapOptions;

/* path "-" is standard input. NULL and error set where it cannot be opened, does
 * not begin as a capture, or has a link type that carries no IP. options are
 * copied, their texts borrowed. */
PcapSource *pcap_source_open(const char *path, const PcapOptions *options, GError **error);

/* All of the n interfaces at once. Where one of several is gone, the others go on, and
 * it is an error when none is left. Errors say what permission is needed, or which
 * interfaces there are. */
PcapSource *pcap_source_open_live(const char *const *interfaces, guint n,
                                  const PcapOptions *options, GError **error);

void pcap_source_free(PcapSource *source);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(PcapSource, pcap_source_free)

/* 1: a packet, its bytes valid until the next call; 0: the end, or stopped; -1:
 * error set, the packets before it are good. A time of -1 stands for a stamp that
 * is none. */
int pcap_source_next(PcapSource *source, Packet *packet, GError **error);

/* The order of the packets of a regular file opened with scan, before the filter; else NULL.
 * Borrowed. */
const StampOrder *pcap_source_order(const PcapSource *source);

/* Makes pcap_source_next() return 0 as soon as it can. May be called from a
 * signal handler. */
void pcap_source_stop(PcapSource *source);
gboolean pcap_source_is_stopped(const PcapSource *source);

/* Whether packets may come from path as they happen: a pipe, not a file. */
gboolean pcap_source_path_is_live(const char *path);

/* What to open to read the regular file at path from its beginning, while it is also read as path:
 * standard input as "-" has one place for all. Borrowed. */
const char *pcap_source_path_again(const char *path);

/* "EN10MB (Ethernet)"; of several interfaces the first's; of a pcapng file all that
 * were seen so far, separated by commas. Borrowed. */
const char *pcap_source_link_type(const PcapSource *source);

/* How many interfaces its packets are from, as far as it was read; of a file that does not say, 1.
 */
guint pcap_source_interfaces(const PcapSource *source);

/* What is known of packets that did not come. */
typedef struct {
        guint64 received; /* live: that passed the filter, those dropped included on Linux */
        /* Live, or as a pcapng file says. The kernel's include packets that it still had when an
         * interface went away. */
        guint64 dropped_by_kernel, dropped_by_interface;
        /* Files and pipes: packets that come after one with a later stamp, by most_late (ns) at
         * most. How many were sorted, and not left in place as a clock was set back; and how many
         * came too late for that in a pipe. */
        guint64 late, sorted, too_late;
        gint64 most_late;
} PcapCounts;

/* What the kernel says of an interface since it was opened. */
typedef struct {
        guint64 received; /* those dropped included */
        guint64 dropped_by_kernel, dropped_by_interface;
} InterfaceCounts;

/* Adds them to counts. taken: packets that were read. gone: no more can be read, and packets
 * that the kernel still had are lost. */
void pcap_counts_add(PcapCounts *counts, const InterfaceCounts *interface, guint64 taken,
                     gboolean gone);

/* Adds those of source to counts. */
void pcap_source_count(const PcapSource *source, PcapCounts *counts);

/* The interfaces that there are, a line each: number, name, what it is. Newly
 * allocated; NULL and error set where they cannot be listed. */
char *pcap_source_list_interfaces(GError **error);
