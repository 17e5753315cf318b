/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Which connections have a number in the trace. Whoever reads it tells them apart by caller,
 * callee and the client's port, which begins the id, and by the openings. That is not enough if
 * a node stands for several addresses, and two connections of the same port are open at a time.
 * Nor is it if no opening was seen. The later connection then gets a number.
 */
#pragma once

#include "tracefmt/node-table.h"

typedef struct ConnectionNumbers ConnectionNumbers;

ConnectionNumbers *connection_numbers_new(void);
void connection_numbers_free(ConnectionNumbers *numbers);

/* The number of a connection that makes its first call; 0: its port tells. owner stands for the
 * connection until connection_numbers_drop(), and is not looked into. */
guint32 connection_numbers_take(ConnectionNumbers *numbers, NodeId client, NodeId server,
                                guint16 port, gconstpointer owner);

/* The connection is gone. Nothing where it was not the first of its port. */
void connection_numbers_drop(ConnectionNumbers *numbers, NodeId client, NodeId server, guint16 port,
                             gconstpointer owner);
