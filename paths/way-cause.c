/* SPDX-License-Identifier: BSD-2-Clause */
#include "paths/way-cause.h"

#include <string.h>

static const struct {
        const char *name, *key, *remedy;
} causes[N_WAY_CAUSES] = {
        [WAY_ROUND_TRIP] = { "round trip", "round_trip", NULL },
        [WAY_RECEIVING] = { "receiving", "receiving", NULL },
        [WAY_SENDING] = { "sending", "sending", NULL },
        [WAY_DELAYED_ACK] = { "delayed ACK", "delayed_ack",
                              "the sender writes in several pieces: TCP_NODELAY, or one write" },
        [WAY_SHUT] = { "window shut", "window_shut",
                       "the receiver reads too slowly, or its buffer is too small" },
        [WAY_RESENT] = { "resent", "resent",
                         "packets are lost: look at links, queues and drops on the way" },
        [WAY_TCP] = { "TCP handshake", "tcp_handshake", "keep connections open, or pool them" },
        [WAY_TLS] = { "TLS handshake", "tls_handshake",
                      "keep connections open, or resume sessions" },
        [WAY_LOGIN] = { "login", "login", "keep connections open, or pool them" },
};

const char *way_cause_name(guint cause)
{
        return causes[cause].name;
}

const char *way_cause_key(guint cause)
{
        return causes[cause].key;
}

gboolean way_cause_find(const char *name, guint *cause)
{
        for (*cause = 0; *cause < N_WAY_CAUSES; (*cause)++)
                if (!strcmp(causes[*cause].name, name))
                        return TRUE;
        return FALSE;
}

const char *way_cause_remedy(guint cause)
{
        return causes[cause].remedy;
}
