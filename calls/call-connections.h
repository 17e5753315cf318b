/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The connections of calls (conn=, syn=, txn= and the fact ids, docs/trace-format.md). A column
 * beside the call pairs.
 */
#pragma once

#include "calls/call-column.h"
#include "tracefmt/attributes.h"

typedef struct {
        gint64 lead;        /* of its first call: the time since it was opened, ns; 0: unknown, or a
                               later call */
        guint32 connection; /* from 1, in order of first use; 0: unknown */
        gboolean transaction; /* a transaction is open after its return */
} CallConnection;

typedef struct {
        GHashTable *numbers; /* the latest connection of each edge and port; NULL: none seen */
        guint32 last;        /* the number of the latest connection */
        gboolean by_id;      /* ids begin with the client's port */
        CallColumn column;   /* of CallConnection */
} CallConnections;

/* Whether the facts of a trace say that ids begin with the client's port. */
gboolean call_connections_by_id(char *const *facts, guint n);

void call_connections_clear(CallConnections *c);

/* A message of a call (by number). */
void call_connections_add(CallConnections *c, guint64 call, const Message *message,
                          const Attributes *attributes);

/* The return of a call leaves a transaction open. */
void call_connections_add_transaction(CallConnections *c, guint64 call);

static inline CallConnection call_connections_get(const CallConnections *c, guint32 call)
{
        return call < c->column.n ? ((const CallConnection *)c->column.of)[call]
                                  : (CallConnection){ 0 };
}
