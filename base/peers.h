/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Processes that do the same in step, and tell each other what each has found. What is a matter of
 * all is called by all, in the same order.
 */
#ifndef RAVEL_PEERS_H
#define RAVEL_PEERS_H

#include <glib.h>

typedef struct {
        guint mine, n; /* this one, counted from 0 */

        /* to[i] goes to process i; NULL: nothing. Returns what came, by process; the user's to
         * unref. Of this one itself nothing comes. */
        GPtrArray *(*swap)(GBytes *const *to);
        /* Whether no process has an error, and all have the same number; else all get an error. */
        gboolean (*agree)(guint64 number, GError **error);
} Peers;

/* The process with the least to do, of those the last, as the first one has the result to write; of
 * n. taken: by process, those that are no choice; NULL: all are. */
static inline guint peers_least_loaded(const double *load, const gboolean *taken, guint n)
{
        guint least = n;

        for (guint i = n; i-- > 0;)
                if (!(taken && taken[i]) && (least == n || load[i] < load[least]))
                        least = i;
        return least;
}

#endif
