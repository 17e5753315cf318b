/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The processes that mpirun or srun started together, numbered from 0. Only this file knows MPI.
 * All processes must call the functions that concern all, in the same order. A waiting process
 * sleeps.
 */
#pragma once

#include <glib.h>

#include "base/peers.h"

/* Call it first. FALSE: another MPI started this process and others, each alone. The first of them
 * has error set, to say so. */
gboolean ranks_start(int *argc, char ***argv, GError **error);

/* Call it last, with the exit status, which it returns, and the last message. A rank that ends
 * before its first ranks_peers()->agree() tells the others why. */
int ranks_end(int status, const char *message);

/* All ranks, in step. An error of agree() names its rank. */
const Peers *ranks_peers(void);
