/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Edge signals (paper, section 5.2.1): the indicator function of a set of messages,
 * discretized. Time is cut into quanta; slot i is the time from origin + i quanta to
 * origin + (i + 1) quanta, and the signal there is the square root of the number of
 * messages in it, or the number itself.
 *
 * Only slots with a message are kept, so a signal takes no more room than its messages,
 * however long the trace and however short the quantum.
 *
 * This is the one place where a time becomes a slot and a delay a lag.
 */
#ifndef RAVEL_EDGE_SIGNAL_H
#define RAVEL_EDGE_SIGNAL_H

#include <glib.h>

/* How time is cut, the same for all signals that are to be compared. */
typedef struct {
        gint64 origin;  /* ns; no message is earlier */
        gint64 quantum; /* ns, at least 1 */
} Quanta;

typedef enum {
        SIGNAL_ROOT,  /* the square root of the count, as the paper's */
        SIGNAL_COUNT, /* the count: sums are of pairs of messages */
} SignalValue;

typedef struct {
        gsize n;      /* slots that have a message */
        gint64 *slot; /* n of them, rising */
        float *value; /* n of them, above 0 */
        guint uses;   /* how many correlations it will be part of, about; for the caller to
                         set, at first 1: the more, the more it pays to transform it */
} EdgeSignal;

/* The signal of the messages at n times, which are in order. Linear. */
EdgeSignal *edge_signal_new(const gint64 *times, gsize n, const Quanta *quanta, SignalValue value);
void edge_signal_free(EdgeSignal *signal);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(EdgeSignal, edge_signal_free)

/* The slot that a time lies in; time is origin or later. */
gint64 quanta_slot(const Quanta *quanta, gint64 time);

/* The time that a slot begins at: ns; as far as there are so many. */
gint64 quanta_start(const Quanta *quanta, gint64 slot);

/* The lag of a delay, rounded down (a delay below 0 has a lag below 0); and the delay that
 * a lag stands for. Messages that are d ns apart lie floor(d / quantum) slots apart or one
 * more, and d / quantum slots on average. */
gint64 quanta_lag(const Quanta *quanta, gint64 delay);
gint64 quanta_delay(const Quanta *quanta, gint64 lag);

#endif
