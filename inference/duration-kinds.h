/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The duration of a call says what is done for it: a look-up, or a search. Where durations go with
 * what the caller does before and after, calls to a callee are of different kinds, as if they had
 * labels (call-labels.h). This finds the limits between the kinds.
 */
#ifndef RAVEL_DURATION_KINDS_H
#define RAVEL_DURATION_KINDS_H

#include "inference/delay-density.h"

enum {
        DURATION_DEPTH = 1, /* levels of bisection below the first limit of a callee */
        DURATION_LIMITS = (2 << DURATION_DEPTH) - 1, /* the most limits of a callee */
        DURATION_CONTEXTS = 256,                     /* values of a context, a hash */
};

/* A call to a callee. */
typedef struct {
        guint32 callee;
        guint16 context; /* what its caller does before and after, below DURATION_CONTEXTS */
        guint16 bin;     /* density_bin() of its duration */
} DurationSample;

/* Bins where the next kind begins, ascending. */
typedef struct {
        guint n;
        guint16 limit[DURATION_LIMITS];
} DurationLimits;

/* Finds the limits of each callee. Sorts the samples. Returns the number of limits. */
guint32 duration_limits_find(DurationLimits *limits, guint32 n_callees, DurationSample *samples,
                             guint32 n);

/* The kind, from 0, of a call with this duration. */
static inline guint32 duration_kind(const DurationLimits *limits, guint bin)
{
        guint32 kind = 0;

        while (kind < limits->n && limits->limit[kind] <= bin)
                kind++;
        return kind;
}

#endif
