/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The kinds of evidence that there are, a row each.
 */
#ifndef RAVEL_EVIDENCE_TABLE_H
#define RAVEL_EVIDENCE_TABLE_H

#include "inference/model/evidence.h"

/* Kinds of calls by the sizes of calls and returns, where parents do different things for and around
 * calls of different size; and not by labels where these mean nothing. First, as it begins all others
 * anew. */
extern const EvidenceKind evidence_sizes;

/* How many calls parents of a kind make, where that is always the same number. */
extern const EvidenceKind evidence_numbers;

/* When a worker takes a call, where calls wait for one of a few. */
extern const EvidenceKind evidence_workers;

/* Connections that are leased to parents, call by call or for longer. */
extern const EvidenceKind evidence_leases;

/* Connections into the node and out of it, as one of several processes or threads has them. */
extern const EvidenceKind evidence_processes;

/* Values that calls out of the node have in common with calls into it. */
extern const EvidenceKind evidence_identifiers;

/* Whether the node serves in order, as event loops and queues do. */
extern const EvidenceKind evidence_order;

/* The rows. NULL ends them. */
extern const EvidenceKind *const evidence_table[];

#endif
