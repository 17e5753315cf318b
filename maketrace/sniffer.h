/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The sniffer (paper, section 7.5.5): it captures messages at a peak rate from a finite queue. A
 * message that finds the queue full is lost.
 */
#pragma once

#include <glib.h>

typedef struct {
        gint64 capture_time; /* ns to capture one message; 0: it captures everything */
        guint32 queue;       /* messages it holds, the one being captured included; at least 1 */
        gint64 idle_at;      /* ns: when it has captured all that it holds */
        guint64 lost;
} Sniffer;

/* Whether it captures a message at time, ns. Times never go back. */
static inline gboolean sniffer_take(Sniffer *s, gint64 time)
{
        /* The messages in the queue are the time left until idle over capture_time, rounded up. */
        if (s->idle_at - time > (s->queue - 1) * s->capture_time) {
                s->lost++;
                return FALSE;
        }
        s->idle_at = MAX(s->idle_at, time) + s->capture_time;
        return TRUE;
}
