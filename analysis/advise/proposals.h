/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What could be changed in a system: calls that a visit repeats or makes in series, waits for what
 * happens on the way, retries, workers, and replicas that are slower than others. Each has the
 * edits of requests by which a replay tells what the change brings.
 *
 * A *visit* is a call into a node, with the calls that the node makes for it.
 */
#pragma once

#include "analysis/whatif/replay.h"

enum {
        REPEATED_FEWEST = 5, /* calls in a row */
        SERIAL_FEWEST = 3    /* calls in series: the first of two is often a check */
};

typedef enum {
        ADVICE_REPEATED, /* the same call again and again: all but the first are dropped */
        ADVICE_SERIAL,   /* different calls in series: they are sent at the same time */
        ADVICE_WAY,      /* a cause on the way with a remedy: its time is taken from the way */
        ADVICE_DNS,      /* queries of DNS: they are dropped */
        ADVICE_RETRY,    /* calls in error that are tried again: dropped, and the backoff */
        ADVICE_WORKERS,  /* a queue before workers: one worker more */
        ADVICE_REPLICA,  /* own time of a replica: as that of the others */
        ADVICE_SHARE,    /* a replica with a queue gets more calls than others: they get some */
        N_ADVICE_KINDS
} AdviceKind;

typedef struct {
        guint32 call;
        guint32 other; /* of ADVICE_SERIAL: the call that it is sent with; of ADVICE_RETRY: the call
                          that tries it again; of ADVICE_SHARE: the node that gets it instead */
        gint64 time;   /* of ADVICE_WAY, ns */
} AdviceEdit;

/* Members that the kind has no use for are 0. */
typedef struct {
        AdviceKind kind;
        NodeId node;       /* the caller, the node with workers, or the replica */
        NodeId callee;     /* NO_NODE: none */
        guint8 label;      /* of the call of ADVICE_REPEATED, or the visit of
                              ADVICE_SERIAL, as in ReplayCall */
        guint cause;       /* WayCause */
        GArray *callees;   /* of NodeId: the calls in series; the other replicas; else NULL */
        gboolean varies;   /* the order of calls in series does */
        guint64 visits;    /* with calls to change */
        guint64 calls;     /* in these visits */
        double own, usual; /* of ADVICE_REPLICA: mean own time, and that of the others, ns; of
                              ADVICE_SHARE: the share of calls, and an even one */
        guint32 workers;
        GArray *edits; /* of AdviceEdit; NULL once they were tried */
} Proposal;

typedef struct {
        guint32 call;
        guint32 retried; /* the call that it tries again; NO_PARENT: a wait on the way */
        guint cause;     /* WayCause */
        gint64 time;     /* ns */
} ProposalFact;

typedef struct {
        const ReplayRequests *requests; /* borrowed */
        GPtrArray *all;                 /* of Proposal */
        GHashTable *by_name;            /* one more than their index */
        GHashTable *ended;              /* by name of a series: visits that made no more calls */
        GArray *facts;                  /* of ProposalFact, by call */
        GArray *series;                 /* of guint32: calls of a visit, one after the other */
        guint32 *times;                 /* by node: calls in series, while a visit is looked at */
        gboolean is_query[256];         /* by label */
} Proposals;

void proposals_begin(Proposals *proposals);
void proposals_clear(Proposals *proposals);

/* A ReplayCallsSink: takes facts that replays have no use for. */
void proposals_take(gpointer proposals, guint32 first, const PathCall *calls, guint32 n);

/* All but replicas. O(calls). */
void proposals_find(Proposals *proposals, const ReplayRequests *requests, StoreReader *reader);

/* Adds replicas with more own time or more calls than others of the same caller, beyond chance. */
void proposals_find_replicas(Proposals *proposals);

/* The proposal of this name, or a new one. Takes name. */
Proposal *proposals_get(Proposals *proposals, char *name, AdviceKind kind, NodeId node,
                        NodeId callee);
