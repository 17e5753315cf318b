/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What to call the services of a host: by the name of their processes. If several services share
 * a name each gets a number: the port, of one that listens.
 */
#pragma once

#include "tracefmt/node-table.h"

typedef struct ServiceNames ServiceNames;

/* Names are added to nodes, which is borrowed. */
ServiceNames *service_names_new(NodeTable *nodes);
void service_names_free(ServiceNames *names);

/* That there is a service of processes of this name, so that the first of several that listen gets
 * its port, too. Before the first service_names_find(). */
void service_names_expect(ServiceNames *names, const char *process, guint64 key);

/* The node of the service that is known by key among those of this name; port: where it listens, or
 * 0. */
NodeId service_names_find(ServiceNames *names, const char *process, guint64 key, guint16 port);
