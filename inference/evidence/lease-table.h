/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The table of the connections to one callee. The *situation* of a call has two parts. One is what
 * came before it on its connection; the other, whether the parent of the call before may have made
 * this call, too. The *standing* of a candidate is its relation to the connection. A table counts
 * how often the parent has which standing in which situation. It does so by the assignment, and
 * with connections dealt at random. The ratio of the two frequencies is the factor of a candidate's
 * likelihood. A table is not in use if it fits its calls hardly better than one of connections
 * dealt at random.
 */
#pragma once

#include "base/bytes.h"

/* What came before on the connection. */
typedef enum {
        OPENED,      /* nothing: it was opened for this call, or not long before */
        IDLE,        /* a call that has returned */
        TRANSACTION, /* one after whose return a transaction was open */
        OVERLAP,     /* one that has not returned */
        N_BEFORE,
        NOT_KNOWN = N_BEFORE,
} Before;

/* A situation is twice the Before, and 1 where the parent of the call before is a candidate. */
enum { N_SITUATIONS = 2 * N_BEFORE };

/* Standings change their meaning after an opening, where no call came before. HOLDS is then a
 * parent that used the callee before and entered after the opening. USED is one that entered after
 * it and did not; the others entered before it. */
typedef enum {
        HOLDS,
        USED, /* after an opening: entered after it */
        ELSEWHERE,
        FRESH,
        N_STANDINGS
} Standing;

/* The calls for which one parent is known to hold a connection (lease-spans.h). */
typedef enum {
        LEASED_NO,          /* nothing */
        LEASED_TRANSACTION, /* the calls of a transaction */
        LEASED_WHOLE,       /* all calls of the connection */
        N_LEASED
} Leased;

typedef double LeaseCounts[N_SITUATIONS][N_STANDINGS];

/* The counts of the connections to one callee, and what follows from them. */
typedef struct {
        LeaseCounts seen, dealt; /* counts of the parent's standing, as assigned and at random */
        double ratio[N_SITUATIONS][N_STANDINGS];
        gint32 log[N_SITUATIONS][N_STANDINGS]; /* in 1/LOG_UNIT */
        double run;                            /* calls in a row with one parent, in the mean */
        guint32 n_connections, n_opened;       /* in this problem; with a known opening */
        double other[N_SITUATIONS]; /* the ratio for a parent that did not make the call before */
        guint8 ties[N_BEFORE];      /* calls that follow each other hang together */
        Leased leased;
        gboolean only_known; /* only known leases count, not what was learned */
        gboolean in_use;
} LeaseTable;

static inline guint situation(Before before, gboolean open)
{
        return 2 * before + (open != FALSE);
}

/* Learns from the counts of a round: the counts of the table, and more, the counts of one more
 * random deal. supposes: whether a parent that may hold a connection is supposed to, where leases
 * are likely. */
void lease_table_learn(LeaseTable *t, LeaseCounts *more, gboolean supposes);

/* Rejects what was learned, or lets it count again. Known leases always count. */
void lease_table_reject(LeaseTable *t, gboolean rejected);

/* The number of bytes of a table. */
enum { LEASE_TABLE_BYTES = 3 + 2 * 8 * N_SITUATIONS * N_STANDINGS };

void lease_table_bytes(LeaseTable *t, Bytes *b);
