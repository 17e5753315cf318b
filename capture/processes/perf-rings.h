/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The kernel's records of which process opens and awaits TCP connections (perf-record.h), for
 * the whole machine. They come by perf_event_open(2) and a ring of memory for each processor,
 * without BPF. That needs CAP_PERFMON, and tracefs to know the tracepoint. Rings stay open when
 * rights are given up.
 */
#pragma once

#include "capture/processes/perf-record.h"

typedef struct PerfRings PerfRings;

/* NULL: why says in words why it cannot be, the caller's to free. */
PerfRings *perf_rings_open(char **why);
void perf_rings_free(PerfRings *rings);

/* Calls take with each event that had happened when it was called, in the order of their times,
 * which are ns since the Unix epoch. */
void perf_rings_read(PerfRings *rings, void (*take)(gpointer user, const ProcessEvent *event),
                     gpointer user);

/* Records that were lost, or broken. */
guint64 perf_rings_lost(const PerfRings *rings);
