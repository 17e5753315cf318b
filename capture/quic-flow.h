/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Datagrams of QUIC on a connection of the table: they are never messages. If the keys are known
 * the exchange is shown what HTTP/3 has inside. A connection that changes its addresses is found
 * again by its connection ids.
 */
#pragma once

#include "capture/connection-state.h"

/* A datagram of side, of which n bytes of length are at hand. FALSE: it is not of QUIC. */
gboolean quic_flow_add(ConnectionTable *t, Connection *c, guint side, const guint8 *bytes, gsize n,
                       gsize length, Stamp stamp);

/* What the connection holds may wait no longer. */
void quic_flow_settle(ConnectionTable *t, Connection *c);

/* The connection is over. */
void quic_flow_finish(ConnectionTable *t, Connection *c);

/* Frees what the connection holds, and says nothing. */
void quic_flow_forget(ConnectionTable *t, Connection *c);
