/* SPDX-License-Identifier: BSD-2-Clause
 *
 * How long a call takes says what is done for it: a look-up, or a search. Where that goes with what
 * the caller does before and after, calls to a callee are of different kinds, as if they had
 * labels (call-labels.h); the limits between them are found here.
 */
#ifndef RAVEL_DURATION_KINDS_H
#define RAVEL_DURATION_KINDS_H

#include "inference/delay-density.h"

enum {
        DURATION_DEPTH = 1, /* limits are looked for to either side of one so often */
        DURATION_LIMITS = (2 << DURATION_DEPTH) - 1, /* of a callee, at most */
        DURATION_CONTEXTS = 256,
};

/* A call to a callee. */
typedef struct {
        guint32 callee;
        guint16 context; /* what its caller does before and after, below DURATION_CONTEXTS */
        guint16 bin;     /* density_bin() of its duration */
} DurationSample;

/* Bins where another kind begins, ascending. */
typedef struct {
        guint n;
        guint16 limit[DURATION_LIMITS];
} DurationLimits;

/* Finds those of each of n_callees; sorts the samples. Returns how many there are. */
guint32 duration_limits_find(DurationLimits *limits, guint32 n_callees, DurationSample *samples,
                             guint32 n);

/* The kind of a call that lasted so long, from 0. */
static inline guint32 duration_kind(const DurationLimits *limits, guint bin)
{
        guint32 kind = 0;

        while (kind < limits->n && limits->limit[kind] <= bin)
                kind++;
        return kind;
}

#endif
