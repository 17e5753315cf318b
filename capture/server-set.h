/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The endpoints that were seen to accept a connection. On a connection whose opening was not seen,
 * the end that is among them serves.
 */
#pragma once

#include "capture/network/address.h"

typedef struct ServerSet ServerSet;

ServerSet *server_set_new(void);
void server_set_free(ServerSet *set);

/* 65,536 are kept; later ones are not. */
void server_set_add(ServerSet *set, Address a, guint16 port);

gboolean server_set_has(const ServerSet *set, Address a, guint16 port);

guint32 server_set_count(const ServerSet *set);
