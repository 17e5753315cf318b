/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/caller-evidence.h"

#include "capture/pairing.h"

enum {
        /* Kernels give clients ports from here on: Linux to 60999, others from 49152. */
        FIRST_CLIENT_PORT = 32768,
        /* And privileged clients get ports from here on. */
        FIRST_PRIVILEGED_CLIENT_PORT = 512,
};

static gboolean serves(const Protocol *const *ports, const ServerSet *servers, NodeNames *names,
                       const Endpoint *own, const Endpoint *peer, gint64 time,
                       CallerEvidence evidence)
{
        switch (evidence) {
        case BY_OPTION:
                return ports && ports[own->port];
        case BY_ACCEPT:
                return server_set_has(servers, own->address, own->port);
        case BY_NAME:
                return node_names_role(names, own, peer, time) == ROLE_SERVER ||
                       node_names_role(names, peer, own, time) == ROLE_CALLER;
        case BY_PORTS:
                return own->port < FIRST_CLIENT_PORT && (peer->port >= FIRST_CLIENT_PORT ||
                                                         own->port < FIRST_PRIVILEGED_CLIENT_PORT);
        case BY_SYN:
        case BY_NOTHING:
                break;
        }
        return FALSE;
}

guint caller_find(const Protocol *const *ports, const ServerSet *servers, NodeNames *names,
                  const Endpoint ends[2], gint64 time, CallerEvidence *evidence)
{
        for (CallerEvidence e = BY_OPTION; e < BY_NOTHING; e++) {
                gboolean first = serves(ports, servers, names, &ends[0], &ends[1], time, e),
                         second = serves(ports, servers, names, &ends[1], &ends[0], time, e);
                if (first != second) {
                        *evidence = e;
                        return first ? 1 : 0;
                }
        }
        *evidence = BY_NOTHING;
        return NO_SIDE;
}
