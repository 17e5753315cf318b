/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Replays all requests and compares the latencies of each entry before and after.
 */
#pragma once

#include "analysis/whatif/figures.h"
#include "analysis/whatif/replay.h"

/* The workers of a node with more of them busy than this share cannot be foretold. */
#define ASKING_FULL 0.98

/* Latencies of the requests of each entry, in the order of time. ns */
typedef struct {
        const ReplayRequests *requests; /* borrowed */
        gint64 *base, *then;            /* by request, entry after entry */
        gint64 *latency;                /* by request, as replayed */
        guint32 *place;                 /* by request, in these */
        guint32 *first;                 /* by entry, in these */
        double *doubt;                  /* by entry: the share of parents that are wrong */
        FigureSample *of_now, *of_base; /* N_FIGURES for each entry: as observed; of base */
} Asking;

/* Replays without a change, too, and fills loads, by node. 28 bytes a request. */
void asking_begin(Asking *asking, const ReplayRequests *requests, const ReplaySettings *settings,
                  ReplayLoad *loads);
void asking_clear(Asking *asking);

/* Fills then, and loads, by node. */
void asking_replay(Asking *asking, const ReplaySettings *settings, ReplayLoad *loads);

/* The figures of an entry. now: asking->of_now or asking->of_base. */
void asking_figures(const Asking *asking, guint entry, const FigureSample *now,
                    WhatIfFigure *figures);

/* A node that cannot keep up with these loads, or with those before (NULL: they do not count);
 * NO_NODE: there is none. Clients that ask at their own times fill a queue without an end. */
NodeId asking_find_full(const Asking *asking, const ReplayLoad *before, const ReplayLoad *loads);
