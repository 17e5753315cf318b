/* SPDX-License-Identifier: BSD-2-Clause */
#include "convolution/edge-signal.h"

#include <math.h>

gint64 quanta_lag(const Quanta *q, gint64 delay)
{
        return delay / q->quantum - (delay % q->quantum < 0);
}

gint64 quanta_delay(const Quanta *q, gint64 lag)
{
        return lag * q->quantum;
}

gint64 quanta_slot(const Quanta *q, gint64 time)
{
        return quanta_lag(q, time - q->origin);
}

gint64 quanta_start(const Quanta *q, gint64 slot)
{
        gint64 time;

        if (__builtin_mul_overflow(slot, q->quantum, &time) ||
            __builtin_add_overflow(time, q->origin, &time))
                return slot < 0 ? G_MININT64 : G_MAXINT64;
        return time;
}

EdgeSignal *edge_signal_new(const gint64 *times, gsize n, const Quanta *q, SignalValue value)
{
        EdgeSignal *s = g_new0(EdgeSignal, 1);
        gsize i = 0;

        s->uses = 1;
        s->slot = g_new(gint64, n);
        s->value = g_new(float, n);
        while (i < n) {
                gint64 slot = quanta_slot(q, times[i]);
                gint64 end = quanta_start(q, slot + 1);
                gsize first = i;

                g_assert(slot >= 0);
                while (i < n && times[i] < end)
                        i++;
                s->slot[s->n] = slot;
                s->value[s->n++] =
                        value == SIGNAL_ROOT ? sqrtf((float)(i - first)) : (float)(i - first);
        }
        s->slot = g_renew(gint64, s->slot, s->n);
        s->value = g_renew(float, s->value, s->n);
        return s;
}

void edge_signal_free(EdgeSignal *s)
{
        if (!s)
                return;
        g_free(s->slot);
        g_free(s->value);
        g_free(s);
}
