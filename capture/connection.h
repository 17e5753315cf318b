/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The connections that are open at one time: TCP, and pairs of UDP ports that
 * talk. A table by addresses and ports, bounded in number. If it is full, the oldest half-open
 * connection is forgotten where these are many: a flood of SYNs or a scan. Else it is the one that
 * has been silent longest.
 */
#pragma once

#include "capture/network/ip.h"
#include "capture/network/node-names.h"
#include "capture/network/tcp.h"
#include "capture/pairing.h"

typedef struct ConnectionTable ConnectionTable;

/* All borrowed. ports: 65536 protocols by server port, NULL where content
 * decides; may itself be NULL. most: connections that are kept, at least 1. */
ConnectionTable *connection_table_new(const CaptureContext *context, NodeNames *names,
                                      const Protocol *const *ports, gsize most);

/* The connections are forgotten, not settled: see connection_table_flush(). */
void connection_table_free(ConnectionTable *table);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(ConnectionTable, connection_table_free)

void connection_table_add_tcp(ConnectionTable *table, const IpPacket *ip, const TcpSegment *segment,
                              Stamp stamp);

/* n payload bytes, of length on the wire. */
void connection_table_add_udp(ConnectionTable *table, const IpPacket *ip, guint16 source_port,
                              guint16 destination_port, const guint8 *bytes, gsize n, gsize length,
                              Stamp stamp);

/* Settles what item, one of this table's, has kept open. */
void connection_table_settle(ConnectionTable *table, OpenItem *item, Stamp now);

/* Forgets who has been silent for too long. */
void connection_table_expire(ConnectionTable *table, Stamp now);

/* What is doubtful of the calls since the last time, and how many there were (signs.h). */
void connection_table_weigh(ConnectionTable *table, GArray *doubts, GArray *edges);

/* Settles and forgets every connection. */
void connection_table_flush(ConnectionTable *table, Stamp now);
