/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The traces that ravel capture writes: one, or with -G and -C one after another. Each begins with
 * facts of what is captured, and ends with the account.
 */
#pragma once

#include "tools/capture-run.h"

/* Begins the trace, or its next part. */
gboolean capture_trace_begin(CaptureRun *run, GError **error);

/* Writes the messages that are ready. */
gboolean capture_trace_write(CaptureRun *run, GError **error);

/* Takes over how many packets were dropped. */
void capture_trace_take_counts(CaptureRun *run);

/* Writes what is still under way, and ends the last trace. */
gboolean capture_trace_end(CaptureRun *run, GError **error);
