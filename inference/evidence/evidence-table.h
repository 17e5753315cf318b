/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The kinds of evidence that there are, a row each.
 */
#ifndef RAVEL_EVIDENCE_TABLE_H
#define RAVEL_EVIDENCE_TABLE_H

#include "inference/model/evidence.h"

/* Connections that are leased to parents, call by call or for longer. */
extern const EvidenceKind evidence_leases;

/* Connections into the node and out of it, as one of several processes or threads has them. */
extern const EvidenceKind evidence_processes;

/* Values that calls out of the node have in common with calls into it. */
extern const EvidenceKind evidence_identifiers;

/* The rows. NULL ends them. */
extern const EvidenceKind *const evidence_table[];

/* Before evidence_begin(), when candidates are known: leaves out those that cannot have made their
 * call, since they do not hold its connection (problem_keep_candidates()). */
void evidence_leases_narrow(const EvidenceSet *s, Joint *j);

#endif
