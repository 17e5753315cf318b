/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The processes that mpirun or srun started together, numbered from 0: the only place that knows
 * MPI. What is a matter of all must be called by all, in the same order. Who waits sleeps.
 */
#ifndef RAVEL_RANKS_H
#define RAVEL_RANKS_H

#include <glib.h>

#include "base/peers.h"

/* First and last. FALSE: this is one of several processes that another MPI started, each alone;
 * that was said. ranks_end() returns the exit status. */
gboolean ranks_start(int *argc, char ***argv);
int ranks_end(int status);

/* Before anything that is a matter of all: FALSE with error set where a rank has given up before,
 * which it tells by ranks_end(). */
gboolean ranks_begin(GError **error);

guint ranks_mine(void);
guint ranks_n(void);

/* Rank 0 gets the bytes of all, by rank; the others get NULL. */
GPtrArray *ranks_gather(GBytes *mine);

/* All get the bytes of rank 0; theirs are not looked at and may be NULL. */
GBytes *ranks_share(GBytes *bytes);

/* TRUE if none has an error. Else all get that of the first rank that has one, which it names. */
gboolean ranks_agree(GError **error);

/* All ranks, in step. */
const Peers *ranks_peers(void);

/* From a rank to rank 0, which calls the second with that rank. */
void ranks_send(gconstpointer data, gsize n);
GBytes *ranks_receive(guint from);

#endif
