/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What is learned of the connections to one callee. The *situation* of a call is what came before
 * it on its connection, and whether the parent of the call before may have made it too. The
 * *standing* of a candidate is what it has to do with the connection. A table counts how often the
 * parent has which standing in which situation, by the assignment and with connections dealt at
 * random; the ratio of the two frequencies is the factor of a candidate's likelihood. A table that
 * fits its calls hardly better than one of connections dealt at random is not in use.
 */
#ifndef RAVEL_LEASE_TABLE_H
#define RAVEL_LEASE_TABLE_H

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

/* After an opening, where nobody has made the call before, parents that entered after it, that
 * did not, and those that have used another connection. */
typedef enum {
        HOLDS,
        USED, /* or: entered before the opening */
        ELSEWHERE,
        FRESH,
        N_STANDINGS
} Standing;

/* What one parent is known to hold a connection for (lease-spans.h). */
typedef enum {
        LEASED_NO,          /* nothing */
        LEASED_TRANSACTION, /* the calls of a transaction */
        LEASED_WHOLE,       /* all calls of the connection */
        N_LEASED
} Leased;

typedef double LeaseCounts[N_SITUATIONS][N_STANDINGS];

/* What is known of the connections to one callee. */
typedef struct {
        LeaseCounts seen, dealt; /* how often the parent has which standing; the latter at random */
        double ratio[N_SITUATIONS][N_STANDINGS];
        gint32 log[N_SITUATIONS][N_STANDINGS]; /* in 1/LOG_UNIT */
        double run;                            /* calls in a row with one parent, in the mean */
        guint32 n_connections, n_opened;       /* in this problem; whose opening is known */
        double other[N_SITUATIONS]; /* the ratio for a parent that did not make the call before */
        guint8 ties[N_BEFORE];      /* calls that follow each other hang together */
        Leased leased;
        gboolean only_known; /* what was learned counts no more, but what is known */
        gboolean in_use;
} LeaseTable;

static inline guint situation(Before before, gboolean open)
{
        return 2 * before + (open != FALSE);
}

/* Learns from the counts of a round: those of the table, and more, those of one more random deal.
 * supposes: whether a parent that may hold a connection is supposed to, where leases are likely. */
void lease_table_learn(LeaseTable *t, LeaseCounts *more, gboolean supposes);

/* Rejects what was learned, or lets it count again; what is known counts. */
void lease_table_reject(LeaseTable *t, gboolean rejected);

/* To bytes, of this number; or back. */
enum { LEASE_TABLE_BYTES = 3 + 2 * 8 * N_SITUATIONS * N_STANDINGS };

void lease_table_bytes(LeaseTable *t, Bytes *b);

#endif
