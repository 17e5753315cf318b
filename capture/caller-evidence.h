/* SPDX-License-Identifier: BSD-2-Clause
 *
 * How it is known which side of a connection calls.
 */
#pragma once

#include "capture/network/node-names.h"
#include "capture/protocol/protocol.h"
#include "capture/server-set.h"

/* The surest first. */
typedef enum {
        BY_SYN,    /* its opening was seen */
        BY_OPTION, /* --proto */
        BY_ACCEPT, /* one end was seen to accept another connection */
        BY_NAME,   /* --nodes names one end with its port, and so as a service */
        BY_PORTS,  /* one end has a port as clients are given, and the other has not */
        BY_NOTHING
} CallerEvidence;

/* Which side (0 or 1) calls on a connection whose opening was not seen, or NO_SIDE. The surest
 * evidence by which only one side serves decides. ports: 65536 protocols by server port, or NULL.
 * time: when, ns. */
guint caller_find(const Protocol *const *ports, const ServerSet *servers, NodeNames *names,
                  const Endpoint ends[2], gint64 time, CallerEvidence *evidence);
