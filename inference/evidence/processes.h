/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The processes behind one address, told by their connections. A process has connections into the
 * node and out of it, which no other one uses; a thread may keep its own, and counts as one here.
 * So connections that the same parents use are of one process.
 *
 * Groups of connections are sought (correlation clustering: Bansal, Blum and Chawla, 2004) by which
 * the pairs that parents use are as likely as can be: so many times as frequent as where
 * connections are dealt at random, more in one group than in two.
 */
#ifndef RAVEL_PROCESSES_H
#define RAVEL_PROCESSES_H

#include <glib.h>

/* The connections of a node, and how often parents used two of them. */
typedef struct {
        guint32 n_in;       /* those into the node: 0 to n_in - 1 */
        guint32 n;          /* all of them; the others lead out of it */
        guint32 n_ends;     /* numbers of where they lead to */
        const guint32 *end; /* by connection: where it leads to, 0: into the node; n */
        const float *seen;  /* pairs, by connection and connection out: n rows of n - n_in */
        const float *dealt; /* likewise, where connections are dealt at random */
        const float *kept_seen, *kept_dealt; /* likewise, of other parents, to try groups by */
} ConnectionPairs;

typedef struct {
        guint32 n;     /* 0: no two processes can be told apart */
        guint32 *of;   /* by connection: its process, or NO_PARENT; n of ConnectionPairs */
        float *share;  /* by process: of calls at random; sums to 1. Room for the connections out */
        float strange; /* how often parents were seen to use another process's connections, by how
                        * often they would at random */
} Processes;

/* Finds them. Each has two connections or more; one that is in few pairs is of none.
 * Cost: some hundred times the pairs. */
void processes_find(Processes *p, const ConnectionPairs *pairs);

/* How much likelier than at random a parent of a process uses a connection, where that of another
 * process is used so often. Of all connections the mean is 1. */
static inline double process_ratio(const Processes *p, guint32 process, guint32 connection,
                                   double strange)
{
        guint32 of = p->of[connection];

        if (of == G_MAXUINT32)
                return 1;
        return of == process ? strange + (1 - strange) / p->share[process] : strange;
}

#endif
