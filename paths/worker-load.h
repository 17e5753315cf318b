/* SPDX-License-Identifier: BSD-2-Clause
 *
 * How busy the workers of a node are, and how many calls a second they can serve.
 */
#pragma once

#include <glib.h>

/* Sums over the calls into a node. A call holds its worker until it replies, calls below
 * included. */
typedef struct {
        guint32 workers; /* 0: no queue before workers is known */
        guint64 calls;
        gint64 served, waited; /* ns */
} WorkerLoad;

static inline void worker_load_add(WorkerLoad *load, guint32 workers, gint64 stay, gint64 wait)
{
        load->workers = workers;
        load->calls++;
        load->served += stay - wait;
        load->waited += wait;
}

/* The mean share of the workers that serve, in a time in ns. */
static inline double worker_load_busy(const WorkerLoad *load, gint64 time)
{
        return (double)load->served / load->workers / (double)time;
}

/* Calls a second with all workers busy all the time. */
static inline double worker_load_most(const WorkerLoad *load)
{
        return 1e9 * (double)load->calls * load->workers / (double)load->served;
}
