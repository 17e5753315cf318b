/* SPDX-License-Identifier: BSD-2-Clause
 *
 * FindCorrelation (paper, Figure 6, lines 28 to 31): the cross correlation of two edge
 * signals, for the lags that are asked for:
 *
 *     c(lag) = sum over all slots t of cause(t) * effect(t + lag)
 *
 * It is computed in one of these ways, which give the same numbers to 1e-5 of the greatest,
 * and exactly the same where they are whole numbers (each is rounded to what single
 * precision leaves sure):
 *
 *   pairs  adds up the pairs of slots that lie within the lags. Best where messages are
 *          few: 1 to 3 ns a pair.
 *   fft    transforms blocks of both signals, adds the products of the transforms up, and
 *          transforms the sum back, once. Single precision. Best where messages are many.
 *   whole  transforms both signals whole, in double precision, as the paper does it. Takes
 *          memory and time as the duration of the trace, and is there to compare with.
 *   auto   pairs or fft, whichever should take less time.
 *
 * Lags are bounded, so memory is: a few arrays as long as the lags, and the cache of
 * transforms. Neither grows with the signals but for whole.
 */
#ifndef RAVEL_CORRELATION_H
#define RAVEL_CORRELATION_H

#include "convolution/edge-signal.h"

typedef enum { CORRELATE_AUTO, CORRELATE_PAIRS, CORRELATE_FFT, CORRELATE_WHOLE } CorrelateBy;

/* Lags first, first + 1 ... first + n - 1, in quanta. Lags below 0, effects before their
 * causes, say what is accident. */
typedef struct {
        gint64 first;
        gsize n; /* at least 1 */
} Lags;

typedef struct Correlator Correlator;

/* To be used by one thread at a time; several threads have one each. The transforms of a
 * signal's blocks are kept, in up to cache bytes, until it is forgotten. */
Correlator *correlator_new(const Lags *lags, CorrelateBy by, gsize cache);
void correlator_free(Correlator *correlator);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Correlator, correlator_free)

/* Fills in c, lags.n numbers of it. Does not depend on what was correlated before. */
void correlator_run(Correlator *correlator, const EdgeSignal *cause, const EdgeSignal *effect,
                    float *c);

/* To be called before a signal that was correlated is freed. */
void correlator_forget(Correlator *correlator, const EdgeSignal *signal);

/* What auto takes for these two, which are not empty: CORRELATE_PAIRS or CORRELATE_FFT. It
 * looks at a sample of the slots, and at how often the signals are used. */
CorrelateBy correlator_choose(const Correlator *correlator, const EdgeSignal *cause,
                              const EdgeSignal *effect);

#endif
