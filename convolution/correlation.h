/* SPDX-License-Identifier: BSD-2-Clause
 *
 * FindCorrelation (paper, Figure 6, lines 28 to 31): the cross correlation of two edge signals, for
 * a range of lags:
 *
 *     c(lag) = sum over all slots t of cause(t) * effect(t + lag)
 *
 * There are several ways to compute it. They agree to 1e-5 of the greatest number, and exactly if
 * all numbers are whole: results are rounded to the certain part of single precision.
 *
 *   pairs  adds up the pairs of slots that lie within the lags. Best where messages are
 *          few: 1 to 3 ns a pair.
 *   fft    transforms blocks of both signals, adds the products of the transforms up, and
 *          transforms the sum back, once. Single precision. Best where messages are many.
 *   whole  transforms both signals whole, in double precision, as the paper does it. Takes
 *          memory and time as the duration of the trace, and is there to compare with.
 *   auto   pairs or fft, whichever should take less time.
 *
 * Memory is bounded by the number of lags: a few arrays of that length, and the cache of
 * transforms. Only whole takes more with longer signals.
 */
#pragma once

#include "convolution/edge-signal.h"

typedef enum { CORRELATE_AUTO, CORRELATE_PAIRS, CORRELATE_FFT, CORRELATE_WHOLE } CorrelateBy;

/* Lags first, first + 1 ... first + n - 1, in quanta. Lags below 0, effects before their causes,
 * measure accidental pairs. */
typedef struct {
        gint64 first;
        gsize n; /* at least 1 */
} Lags;

typedef struct Correlator Correlator;

/* Each thread needs its own. Keeps transforms of a signal's blocks, in up to cache bytes, until
 * correlator_forget(). */
Correlator *correlator_new(const Lags *lags, CorrelateBy by, gsize cache);
void correlator_free(Correlator *correlator);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Correlator, correlator_free)

/* Sets the lags.n numbers of c. The result does not depend on earlier calls. */
void correlator_run(Correlator *correlator, const EdgeSignal *cause, const EdgeSignal *effect,
                    float *c);

/* Must be called before a signal that was correlated is freed. */
void correlator_forget(Correlator *correlator, const EdgeSignal *signal);

/* The way that auto chooses for two signals, not empty: CORRELATE_PAIRS or CORRELATE_FFT. Estimates
 * the cost from a sample of slots and from the signals' uses. */
CorrelateBy correlator_choose(const Correlator *correlator, const EdgeSignal *cause,
                              const EdgeSignal *effect);
