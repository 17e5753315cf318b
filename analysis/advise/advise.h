/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What to change in a system, and what that brings: each proposal (analysis/advise/proposals.h)
 * replayed as `ravel whatif` replays a change. A *finding* is a proposal whose gain is greater
 * than its error and than what a replay may be wrong by.
 */
#pragma once

#include "analysis/advise/proposals.h"
#include "analysis/whatif/figures.h"

enum {
        FINDING_EXAMPLES = 3,
        FINDINGS_AT_HEAD = 3 /* of a report */
};

/* Gains that a finding has at least, of an entry's figure now: what whatif may be wrong by
 * (docs/analysis.md). */
#define ADVICE_LEAST_MEAN 0.05
#define ADVICE_LEAST_P99  0.1

typedef struct {
        const Proposal *proposal; /* borrowed of the Advice */
        char *label;              /* of Proposal.label; NULL: none */
        NodeId client, root;      /* the entry that gains most in all, */
        char *entry_label;        /* NULL: none */
        guint64 count;            /* its requests */
        WhatIfFigure figures[N_FIGURES];
        guint64 requests;   /* of all entries, that get quicker */
        double gain;        /* of these in all, ns */
        double probability; /* the mean of these: that their calls are right */
        double busy;        /* of ADVICE_WORKERS: the mean share of workers that serve now */
        guint64 examples[FINDING_EXAMPLES]; /* the requests that gain most: path.id, or 0 */
} Finding;

typedef struct {
        GPtrArray *findings; /* of Finding, the greatest gain in all first */
        Proposals proposals;
        guint64 requests; /* of the store */
} Advice;

/* Reads all of the store. NULL and error set where it is corrupt or has no requests. 56 bytes a
 * call, 76 a request, and 16 for each call that a proposal changes. */
Advice *advice_new(StoreReader *reader, const NodeTable *nodes, GError **error);
void advice_free(Advice *advice);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Advice, advice_free)
