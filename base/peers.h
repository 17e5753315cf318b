/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Processes that run the same program in step and exchange results, as by MPI. All processes must
 * call the functions below, in the same order (collective operations).
 */
#pragma once

#include <glib.h>

typedef struct {
        guint mine, n; /* this process, from 0; and all processes */

        /* Sends to[i] to process i (NULL: nothing). Returns the bytes received, by process, for the
         * caller to unref; nothing from the process itself. */
        GPtrArray *(*swap)(GBytes *const *to);
        /* Whether no process has an error and all pass the same number. Else all get an error. */
        gboolean (*agree)(guint64 number, GError **error);
} Peers;

/* The process of n with the least load that is not taken (NULL: none is taken). Of equal ones the
 * last, since the first also writes the result. */
static inline guint peers_least_loaded(const double *load, const gboolean *taken, guint n)
{
        guint least = n;

        for (guint i = n; i-- > 0;)
                if (!(taken && taken[i]) && (least == n || load[i] < load[least]))
                        least = i;
        return least;
}
