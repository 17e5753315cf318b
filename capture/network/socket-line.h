/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Lines of the programs that list a host's sockets and connections: `ss -tnp`, `lsof -nP -i` and
 * `conntrack -L` (or -E, or /proc/net/nf_conntrack). The line tells which program printed it.
 * Lines have names that processes gave themselves, and so are a stranger's text.
 */
#pragma once

#include "capture/network/address.h"

typedef enum { LISTING_NONE, LISTING_SS, LISTING_LSOF, LISTING_CONNTRACK } Listing;

/* LISTING_NONE: none of these programs printed the line, or the title of its columns. */
Listing listing_recognise(const char *line, gsize n);

enum { MAX_SOCKET_PIDS = 64 };

/* A TCP socket of processes. */
typedef struct {
        Endpoint local, peer; /* of a listening socket there is no peer */
        gboolean listening;
        const char *comm; /* of the first process; borrowed of the line, n_comm bytes */
        gsize n_comm;
        guint n_pids;                 /* 0: the line does not say whose it is */
        guint32 pid[MAX_SOCKET_PIDS]; /* the first processes that share the socket */
} SocketLine;

/* A line of ss or lsof. FALSE where it is of no TCP socket, or not understood. */
gboolean socket_line_parse(Listing listing, const char *line, gsize n, SocketLine *socket);

/* A connection before and after address translation. */
typedef struct {
        Endpoint client, server; /* as the client has them */
        Endpoint true_server;    /* whom it reaches */
        Endpoint seen_client;    /* whom that sees */
        gint64 time;             /* ns, of the line; -1: it does not say */
        guint8 protocol;         /* IP_TCP or IP_UDP */
} TranslationLine;

/* A line of conntrack. FALSE where it is not understood, or is of a connection that ended. */
gboolean translation_line_parse(const char *line, gsize n, TranslationLine *translation);
