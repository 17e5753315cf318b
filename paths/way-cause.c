/* SPDX-License-Identifier: BSD-2-Clause */
#include "paths/way-cause.h"

#include <string.h>

static const struct {
        const char *name, *remedy;
} causes[N_WAY_CAUSES] = {
        [WAY_ROUND_TRIP] = { "round trip", NULL },
        [WAY_RECEIVING] = { "receiving", NULL },
        [WAY_SENDING] = { "sending", NULL },
        [WAY_DELAYED_ACK] = { "delayed ACK",
                              "the sender writes in several pieces: TCP_NODELAY, or one write" },
        [WAY_SHUT] = { "window shut", "the receiver reads too slowly, or its buffer is too small" },
        [WAY_RESENT] = { "resent", "packets are lost: look at links, queues and drops on the way" },
        [WAY_TCP] = { "TCP handshake", "keep connections open, or pool them" },
        [WAY_TLS] = { "TLS handshake", "keep connections open, or resume sessions" },
        [WAY_LOGIN] = { "login", "keep connections open, or pool them" },
};

const char *way_cause_name(guint cause)
{
        return causes[cause].name;
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
