/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The command line of ravel capture.
 */
#pragma once

#include "capture/processes/process-watch.h"
#include "capture/protocol/protocol.h"
#include "capture/source/pcap-source.h"

typedef struct {
        char **read;
        char **interfaces;
        char *write;
        char *filter, *filter_file;
        char *direction, *link_type;
        char **nodes;
        char *tls_keys;
        char *ids_key, *ids_ignore;
        char **tags;
        gboolean ids, tag_hash;
        char *processes_to;
        char *host;
        char **protocols;
        char **tunnels;
        char *duration;
        guint64 memory; /* bytes; 0: a quarter of the machine's, at most CAPTURE_MEMORY */
        char *user;
        gboolean labels, no_labels, names, no_promiscuous, list_interfaces, immediate, strict;
        gboolean flush, numeric, processes, proxy_protocol;
        ProcessNaming naming;
        gint64 count, rotate, files, megabytes;
        int snapshot, buffer;
        char **rest;
        Direction way;                /* of direction */
        gint64 end_after;             /* ns, of duration; 0: never */
        const Protocol *ports[65536]; /* of protocols */
        guint8 tunnel_ports[65536];   /* of tunnels: their kinds (tunnel.h) */
} CaptureCommand;

enum { MAX_SNAPSHOT = 262144 };

/* Parses the command line. NULL: the tool ends with *status. Static. */
CaptureCommand *capture_command_parse(int *argc, char ***argv, int *status);

/* Whether the options go together, and every file can be read or written; reads the filter of -F,
 * and looks up the protocols. sources: of list_sources(), the files to read. */
gboolean capture_command_check(CaptureCommand *command, const GPtrArray *sources, GError **error);

/* Whether more traces than one are written. */
gboolean capture_command_rotates(const CaptureCommand *command);

/* The name of the trace that begins at time, s since the epoch. The caller's to free. */
char *capture_command_name_at(const CaptureCommand *command, gint64 time);
