/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Whether clients wait for an answer before they ask again (a closed loop), or ask at their own
 * times (an open one).
 *
 * With M users who wait, new requests come at a rate that is in proportion to the M - n users who
 * are not waiting when n requests are open. The likelihood of this rate is compared with one that
 * does not depend on n.
 */
#pragma once

#include <glib.h>

/* Requests of one caller, by start. */
typedef struct {
        gint64 start, end; /* ns */
        guint32 caller;    /* any number */
        guint32 group;     /* callers that are alike: of one client */
        guint32 previous; /* set: the request whose answer its client waited for; NO_PARENT: none */
} ClientRequest;

/* Sets previous of all n requests, which are sorted by start. A user of those who wait asks again
 * in the order of their answers. O(n log n). */
void client_requests_link(ClientRequest *requests, guint32 n);
