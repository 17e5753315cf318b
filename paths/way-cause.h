/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Why a moment of a path belongs to the way between two nodes, and to no node (docs/paths.md).
 */
#pragma once

#include <glib.h>

/* The order is that of stores. */
typedef enum {
        WAY_ROUND_TRIP,  /* bytes were on the way, seen at both ends */
        WAY_RECEIVING,   /* the call came in, until its last byte */
        WAY_SENDING,     /* the return went out, from its first byte on */
        WAY_DELAYED_ACK, /* of these: the sender waited for a delayed acknowledgement, */
        WAY_SHUT,        /* or for the receiver's window; */
        WAY_RESENT,      /* bytes, a SYN or a datagram were sent again */
        WAY_TCP,         /* the caller opened a connection: the handshake of TCP, */
        WAY_TLS,         /* that of TLS, */
        WAY_LOGIN,       /* greeting and login */
        N_WAY_CAUSES
} WayCause;

/* "delayed ACK" */
const char *way_cause_name(guint cause);

/* "delayed_ack", as members of other formats are named. */
const char *way_cause_key(guint cause);

/* FALSE: no cause has this name. */
gboolean way_cause_find(const char *name, guint *cause);

/* What helps, as a sentence about "the sender"; NULL: nothing is known to. */
const char *way_cause_remedy(guint cause);

/* Whether it is a part of the opening of a connection. */
static inline gboolean way_cause_opens(guint cause)
{
        return cause >= WAY_TCP && cause <= WAY_LOGIN;
}
