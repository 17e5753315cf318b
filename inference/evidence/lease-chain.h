/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Leases in the Markov chain: the present owner of each call, and the log of the ratio of each
 * call. A move changes the ratios of the calls that it moves, and of the calls that follow on their
 * connections.
 */
#pragma once

#include "inference/evidence/leases.h"
#include "inference/search/family.h"

typedef struct {
        guint32 call, owner;
        gint32 log;
} LeaseReplaced;

typedef struct {
        guint32 *owner; /* by call: its parent, or NO_PARENT */
        gint32 *log;    /* by call: the log of its ratio, in 1/LOG_UNIT */
        gboolean stale; /* log is not known */
        LeaseReplaced replaced[4 * MOST_CHILDREN];
        guint32 n_replaced;
} LeaseChain;

void lease_chain_init(LeaseChain *c, guint32 n_out);
void lease_chain_clear(LeaseChain *c);

/* These functions do what EvidenceKind asks for. */
void lease_chain_begin(LeaseChain *c, const Leases *l);
void lease_chain_place(LeaseChain *c, const Family *f);
gint64 lease_chain_swap(LeaseChain *c, const Leases *l, const Family f[2]);
void lease_chain_undo(LeaseChain *c);
guint32 lease_chain_block(const LeaseChain *c, const Leases *l, guint32 call, guint32 parent,
                          guint32 other, guint32 *calls);
