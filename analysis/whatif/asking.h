/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Replays all requests and compares the latencies of each entry before and after.
 */
#pragma once

#include "analysis/whatif/figures.h"
#include "analysis/whatif/replay.h"

/* Latencies of the requests of each entry, in the order of time. ns */
typedef struct {
        const ReplayRequests *requests; /* borrowed */
        gint64 *now, *base, *then;      /* by request, entry after entry */
        gint64 *latency;                /* by request, as replayed */
        guint32 *place;                 /* by request, in these */
        guint32 *first;                 /* by entry, in these */
        double *doubt;                  /* by entry: the share of parents that are wrong */
} Asking;

/* Sets all but base and then, which have room. 36 bytes a request. */
void asking_begin(Asking *asking, const ReplayRequests *requests);
void asking_clear(Asking *asking);

/* Fills times, which is base or then, and loads, by node. */
void asking_replay(Asking *asking, const ReplaySettings *settings, gint64 *times,
                   ReplayLoad *loads);

/* The figures of an entry. now: asking->now or asking->base. */
void asking_figures(const Asking *asking, guint entry, const gint64 *now, WhatIfFigure *figures);
