/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The last logins of a connection. Programs check a password by a bind of LDAP. Logins are held
 * with their answers. If the connection ends without another call, they are calls and returns.
 * Otherwise they are of the session.
 */
#pragma once

#include "capture/network/sequencer.h"

enum { MAX_HELD_LOGINS = 8 }; /* messages of a connection; more are of the session */

typedef struct {
        OpenItem item;                             /* at the first message */
        CapturedMessage messages[MAX_HELD_LOGINS]; /* owned */
        guint n;
} HeldLogins;

HeldLogins *held_logins_new(guint item_kind);
void held_logins_free(HeldLogins *logins); /* and its messages; NULL is allowed */

/* Takes message, and holds the sequencer at the first. FALSE: there are too many. */
gboolean held_logins_keep(HeldLogins *logins, const CapturedMessage *message, Sequencer *sequencer);

/* All are of the session. Returns the number of messages that were held. */
guint held_logins_drop(HeldLogins *logins);
