/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Chances along a connection. The chances of the candidates of the calls of one connection go by
 * what each call says and by who is supposed to have made the one before: a hidden Markov model,
 * whose states are candidates (forward and backward, Baum and others, 1970).
 */
#ifndef RAVEL_LEASE_CHANCES_H
#define RAVEL_LEASE_CHANCES_H

#include "inference/evidence/leases.h"

/* Refines the chances of all candidates by the tables that are in use. chance: by candidate. */
void leases_refine(const Leases *l, float *chance);

#endif
