/* SPDX-License-Identifier: BSD-2-Clause */
#include "inference/evidence/evidence-table.h"

/* Kinds are tried in this order. */
const EvidenceKind *const evidence_table[] = {
        &evidence_sizes,
        &evidence_numbers,
        &evidence_workers,
        &evidence_leases,
        &evidence_processes,
        &evidence_identifiers,
        &evidence_order,
        NULL,
};
