/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The processes behind one address, told apart by their connections. A process has connections into
 * the node and out, which no other process uses. A thread may keep its own, and counts as a process
 * here. So connections that the same parents use are of one process. Connections that never overlap
 * would show processes without parents. As leases they tell no more.
 *
 * The search finds the groups of connections that make the pairs used by parents likeliest
 * (correlation clustering: Bansal, Blum and Chawla, 2004). Pairs have a frequency relative to
 * connections dealt at random, which is higher in one group than in two.
 */
#pragma once

#include <glib.h>

/* The connections of a node, and how often parents used two of them. */
typedef struct {
        guint32 n_in;       /* connections into the node: 0 to n_in - 1 */
        guint32 n;          /* all connections; the others lead out of the node */
        guint32 n_ends;     /* numbers of where they lead to */
        const guint32 *end; /* by connection: where it leads to, 0: into the node; n */
        const float *seen;  /* pairs, by connection and connection out: n rows of n - n_in */
        const float *dealt; /* likewise, where connections are dealt at random */
        const float *kept_seen, *kept_dealt; /* likewise, of other parents, to try groups by */
} ConnectionPairs;

typedef struct {
        guint32 n;     /* 0: no two processes can be told apart */
        guint32 *of;   /* by connection: its process, or NO_PARENT; n of ConnectionPairs */
        float *share;  /* by process: its share of random calls; room for the connections out */
        float strange; /* use of another process's connections, relative to chance */
} Processes;

/* Finds the processes. Each has two connections or more; a connection in few pairs has no process.
 * Cost: some hundred times the pairs. */
void processes_find(Processes *p, const ConnectionPairs *pairs);

/* The likelihood that a parent of a process uses a connection, relative to chance. strange: the
 * same for a connection of another process. Over all connections the mean is 1. */
static inline double process_ratio(const Processes *p, guint32 process, guint32 connection,
                                   double strange)
{
        guint32 of = p->of[connection];

        if (of == G_MAXUINT32)
                return 1;
        return of == process ? strange + (1 - strange) / p->share[process] : strange;
}
