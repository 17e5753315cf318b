/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Finds the clock offsets of mail hosts. Each host stamps the mail that it receives. So the
 * apparent time between two hosts is the transit plus the difference of their clocks. No transit is
 * negative, and the fastest mails take hardly a second.
 *
 * Offsets are searched only if mails arrive before they were sent, by more than the rounding to
 * seconds explains. They minimise the transits of the fastest mails between pairs of hosts, with a
 * penalty on negative transits and on moved clocks. Each host has one offset for all the time, in
 * whole seconds as the stamps. A host at which every mail waits looks like one whose clock is slow;
 * it is not moved for that alone.
 */
#pragma once

#include "tracefmt/node-table.h"

/* A mail that went from one host to another, each stamp by its host's clock. */
typedef struct {
        NodeId from, to;
        gint64 transit; /* ns */
} MailTransit;

/* How far the clock of each of n_nodes nodes is ahead, in ns, the caller's to free; NULL if the
 * clocks agree. Sorts the n transits. Takes 200 rounds over the pairs of hosts. */
gint64 *mail_clocks_find(MailTransit *transits, gsize n, guint n_nodes);
