/* SPDX-License-Identifier: BSD-2-Clause */
#include "inference/evidence/evidence-table.h"

/* Kinds learn in this order. */
const EvidenceKind *const evidence_table[] = {
        &evidence_leases,
        &evidence_processes,
        &evidence_identifiers,
        NULL,
};
