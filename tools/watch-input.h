/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The input of ravel watch: processes that turn packets or traces into one trace, on this process's
 * standard input. Each has its own processor, and the pipe between bounds what waits.
 */
#pragma once

#include <glib.h>

#include "tools/capture-run.h"

typedef struct {
        char **interfaces; /* -i; NULL */
        char **files;      /* -r; with --follow: patterns; NULL */
        char *traces;      /* --traces: a folder; NULL */
        gint64 wait;       /* ns until a trace is late */
        gboolean follow;
        char **capture; /* options for ravel capture, may be empty */
        gint64 since;   /* --follow: files that were last written before it are left out, ns */
} WatchInput;

/* What the processes count; shared memory. */
typedef struct {
        CaptureCounts capture;
        guint64 late; /* messages of traces that came too late */
} WatchShared;

/* Starts the processes. FALSE with error set if that is impossible. */
gboolean watch_input_start(const WatchInput *input, WatchShared **shared, GError **error);

/* Asks the processes to end what they have begun. */
void watch_input_stop(void);

/* Has the names of nodes read anew. */
void watch_input_reload(void);

/* After the end of the input: waits for the processes. Returns the worst exit status. */
int watch_input_wait(void);
