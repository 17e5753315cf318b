/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What ravel capture says on standard error: its counts as tcpdump has them, how it is getting on,
 * and what the trace will do for.
 */
#pragma once

#include "tools/capture-run.h"

void capture_report_counts(CaptureRun *run);

/* On a terminal, how a live capture is getting on. */
void capture_report_progress(CaptureRun *run);

/* The one sentence on what these counts will do for, with these doubts of these edges. The
 * caller's to free. */
char *capture_report_judge(const CaptureRun *run, const guint64 *count, const GArray *doubts,
                           const GArray *edges);

/* At the end. Whether all is fit for nesting, as far as there is anything. */
gboolean capture_report_end(CaptureRun *run);
