/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What /proc says of TCP sockets. /proc/net/tcp and tcp6 list them. /proc/PID/fd tells which
 * process has which, as far as we may look there.
 */
#pragma once

#include "capture/network/address.h"

typedef struct {
        Endpoint own, peer;
        guint64 inode; /* 0: no process has it any more */
        gboolean listening;
} ProcSocket;

/* A line of /proc/net/tcp or tcp6. FALSE where it is none, or a title. */
gboolean proc_socket_parse(const char *line, gsize n, ProcSocket *socket);

/* Those of one network, as proc, "/proc", has them: of ProcSocket, the caller's to free. */
GArray *proc_sockets_read(const char *proc);

/* The addresses of the network that process who ("self", "12") is in: of Address. */
GArray *proc_addresses_read(const char *proc, const char *who);

/* The process of each socket, by its inode, both as guint64: of several the one with the lowest
 * number. Adds those of one process, or of all, as far as we may look at them. */
GHashTable *proc_owners_new(void);
void proc_owners_add(GHashTable *owners, const char *proc, guint32 pid);
void proc_owners_add_all(GHashTable *owners, const char *proc);
