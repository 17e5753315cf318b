/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The processes that mpirun or srun started together, numbered from 0: the only place that knows
 * MPI. All must call what concerns all, in the same order. A process that waits sleeps.
 */
#ifndef RAVEL_RANKS_H
#define RAVEL_RANKS_H

#include <glib.h>

#include "base/peers.h"

/* First. FALSE: this is one of several processes that another MPI started, each alone. The first of
 * them has error set, to say it. */
gboolean ranks_start(int *argc, char ***argv, GError **error);

/* Last, with the exit status, which it returns, and the last message. A rank that ends before its
 * first ranks_peers()->agree() tells the others why. */
int ranks_end(int status, const char *message);

/* All ranks, in step. An error of agree() names its rank. */
const Peers *ranks_peers(void);

#endif
