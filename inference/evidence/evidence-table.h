/* SPDX-License-Identifier: BSD-2-Clause
 *
 * All kinds of evidence, a row each.
 */
#pragma once

#include "inference/model/evidence.h"

/* Connections that are leased to parents, call by call or for longer. */
extern const EvidenceKind evidence_leases;

/* Connections into the node and out, as each of several processes or threads has its own. */
extern const EvidenceKind evidence_processes;

/* Values that calls out of the node have in common with calls into it. */
extern const EvidenceKind evidence_identifiers;

/* The rows. NULL ends them. */
extern const EvidenceKind *const evidence_table[];

/* Leaves out candidates that cannot have made their call, since they do not hold its connection
 * (problem_keep_candidates()). Call it when candidates are known, before evidence_begin(). */
void evidence_leases_narrow(const EvidenceSet *s, Joint *j);
