/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The clocks of hosts that mail went through. Each stamps the mail that it takes, so from one host
 * to the next a mail takes its transit and what their clocks differ by. No transit is negative, and
 * the quickest mails take hardly a second.
 *
 * Clocks that agree stay as they are: offsets are looked for where mails arrive before they were
 * sent, by more than whole seconds explain. Then they are those with which the quickest mails from
 * host to host take least in all and few take less than nothing, and most hosts keep their clock.
 * One offset a host is for all the time, in whole seconds as the stamps are. A host behind which
 * every mail waits cannot be told from one whose clock is late; it is not moved for that alone.
 */
#ifndef RAVEL_MAIL_CLOCKS_H
#define RAVEL_MAIL_CLOCKS_H

#include "tracefmt/node-table.h"

/* A mail that was at one host, and then at another, by the clock of each. */
typedef struct {
        NodeId from, to;
        gint64 transit; /* ns */
} MailTransit;

/* How far the clock of each of n_nodes nodes is ahead, ns, the caller's to free; NULL where they
 * agree. Sorts the n transits. 200 rounds over the pairs of hosts. */
gint64 *mail_clocks_find(MailTransit *transits, gsize n, guint n_nodes);

#endif
