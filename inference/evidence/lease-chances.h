/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Chances along a connection. The chances of a call's candidates depend on the evidence of each
 * call, and on the supposed parent of the call before. This is a hidden Markov model, whose states
 * are candidates (forward and backward, Baum and others, 1970).
 */
#pragma once

#include "inference/evidence/leases.h"

/* Refines the chances of all candidates by the tables that are in use. chance: by candidate. */
void leases_refine(const Leases *l, float *chance);
