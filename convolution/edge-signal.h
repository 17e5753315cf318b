/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Edge signals (paper, section 5.2.1): the indicator function of a set of messages, discretized.
 * Time is cut into slots of a quantum each; slot i begins at origin + i quanta. The value of a slot
 * is the square root of its number of messages, or the number itself.
 *
 * Only slots with a message are kept. So the memory of a signal depends on its messages, not on the
 * length of the trace or the quantum.
 *
 * This is the one place where a time becomes a slot and a delay a lag.
 */
#pragma once

#include <glib.h>

/* The division of time into slots, the same for all signals that are correlated. */
typedef struct {
        gint64 origin;  /* ns; no message is earlier */
        gint64 quantum; /* ns, at least 1 */
} Quanta;

typedef enum {
        SIGNAL_ROOT,  /* the square root of the count, as the paper's */
        SIGNAL_COUNT, /* the count: a correlation then counts pairs of messages */
} SignalValue;

typedef struct {
        gsize n;      /* slots that have a message */
        gint64 *slot; /* n of them, rising */
        float *value; /* n of them, above 0 */
        guint uses; /* the number of correlations it will be part of, about, 1 at first; set by the
                       caller, so that transforms pay off */
} EdgeSignal;

/* The signal of messages at n times, which are in order. Linear. */
EdgeSignal *edge_signal_new(const gint64 *times, gsize n, const Quanta *quanta, SignalValue value);
void edge_signal_free(EdgeSignal *signal);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(EdgeSignal, edge_signal_free)

/* The slot that a time lies in; time is origin or later. */
gint64 quanta_slot(const Quanta *quanta, gint64 time);

/* The time at which a slot begins, in ns; saturates at the ends of gint64. */
gint64 quanta_start(const Quanta *quanta, gint64 slot);

/* The lag of a delay, rounded down (a delay below 0 has a lag below 0); and the delay of a lag.
 * Messages d ns apart are floor(d / quantum) slots apart or one more, and d / quantum slots on
 * average. */
gint64 quanta_lag(const Quanta *quanta, gint64 delay);
gint64 quanta_delay(const Quanta *quanta, gint64 lag);
