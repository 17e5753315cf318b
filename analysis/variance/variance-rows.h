/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The rows of an entry's table (analysis/variance/variance.h), from the sums over its requests.
 */
#pragma once

#include "analysis/variance/node-load.h"
#include "analysis/variance/variance-sums.h"
#include "paths/place-slots.h"

typedef enum {
        FACTOR_OWN,
        FACTOR_QUEUED,
        FACTOR_WAY,      /* on the way there, by a known cause */
        FACTOR_NETWORK,  /* the rest of the way */
        FACTOR_ELSEWHERE /* own, queued and way in all slots beyond the greatest */
} FactorKind;

/* Shares are of the variance; over the factors of an entry, all adds up to 1. mean and tail are
 * shares of the mean and of the excess of slow requests, and add up to 1 too. */
typedef struct {
        FactorKind kind;
        char *where;  /* "web1|web2 / auth" in written names, from below the root on; the root's is
                         its  node; of the way "web1|web2 > auth (resent)", the cause that varies
                         most;  NULL of the network and elsewhere */
        guint depth;  /* of the slot; 0 for the root's */
        double all;   /* Cov(factor, time) / Var(time) */
        double same;  /* within patterns */
        double which; /* all - same: by which pattern it is */
        double error; /* all is that much more or less with 95 %; -1: unknown */
        double mean, tail;
        double doubtful;      /* the part of all from calls of which the parent, or one above, has a
                                 probability below 0.9 */
        LoadEffect load;      /* of a call there; calls is 0 where there is nothing to say */
        char *replica;        /* the chain that has most of `same` though it has not most of the
                                 requests, "web2 / auth"; NULL: none */
        double replica_share; /* of the variance, within patterns */
        double by_replica; /* the part of all that the means by chain have: by which replica it is
                            */
        char *slow,
                *quick; /* the chains with the greatest and the least mean; NULL: there is one */
        double slow_mean, quick_mean; /* of a request, ns */
} VarianceRow;

/* Two factors that vary together within patterns. */
typedef struct {
        guint a, b;   /* indices of rows, a < b */
        double share; /* 2 Cov(a, b) / Var(time) */
        double r;     /* the correlation */
} VariancePair;

/* Of a pair that is listed: less is nothing to look for, and wrong parents make as much of nothing.
 */
#define VARIANCE_PAIR        0.05
#define VARIANCE_CORRELATION 0.25

/* Factors are numbered: own time in each slot that is kept, queued time in each, time on the way to
 * each, elsewhere, network. */
static inline guint factor_own(guint kept)
{
        return kept;
}

static inline guint factor_queued(guint kept, guint n_kept)
{
        return n_kept + kept;
}

static inline guint factor_way(guint kept, guint n_kept)
{
        return 2 * n_kept + kept;
}

static inline guint factor_elsewhere(guint n_kept)
{
        return 3 * n_kept;
}

static inline guint factor_network(guint n_kept)
{
        return 3 * n_kept + 1;
}

static inline guint factor_count(guint n_kept)
{
        return 3 * n_kept + 2;
}

/* Of time on the way, over the calls that have it: ns, and ns^2. */
typedef struct {
        double time, square;
} WaySum;

/* No chain of the slot is in a group, or more than one. */
#define NO_CHAIN    ((guint32)-1)
#define MANY_CHAINS ((guint32)-2)

typedef struct {
        const PlaceSlots *slots;
        const guint32
                *kept; /* n_kept slots that have factors of their own, rising; the root's first */
        guint n_kept;
        const guint32 *first_cell; /* by number of the kept slot: of load, one for each replica */
        const guint32 *chains;     /* by group and number of the kept slot */
        const WaySum *ways;        /* by number of the kept slot and WayCause */
        const VarianceSums *sums;
        const NodeLoad *load;
        const NodeTable *nodes;
} VarianceFactors;

/* Fills rows, of VarianceRow, and pairs, of VariancePair, which are empty; nothing where all take
 * the same time. */
void variance_rows_find(const VarianceFactors *factors, GArray *rows, GArray *pairs);
