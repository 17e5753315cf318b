/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A run of ravel capture: what it works with, what it says on standard error, and the traces that
 * it writes: one, or with -G and -C one after another.
 */
#pragma once

#include "capture/capture.h"
#include "capture/source/packet-merge.h"
#include "tools/capture-options.h"
#include "tracefmt/output-file.h"
#include "tracefmt/trace-writer.h"

/* What a run works with. */
typedef struct {
        CaptureCommand *command;
        NodeTable *nodes;
        KeyLog *keys;
        Identifiers *identifiers; /* NULL: none are wanted */
        TagRules *tags;           /* likewise */
        NodeNames *names;
        LearnedNames *learned;
        ProcessWatch *watch;       /* NULL without --processes */
        OutputFile *process_lines; /* NULL without --processes-to */
        Capture *capture;
        PacketMerge *packets; /* while they are open */
        TraceWriter *writer;
        gboolean begun; /* the sources are open, and the output, where it need not wait */
        gboolean live;
        char *boot;                       /* which running system captures live; NULL: unknown */
        gboolean polls;                   /* watch knows only what /proc says */
        Account written;                  /* the counts that earlier traces have */
        gint64 rotate_start, rotate_time; /* ns; when the trace begins, and when the next one */
        gint64 files;                     /* how many were begun */
        gint64 part;                      /* the trace's number in its time: -C */
        guint since_look;                 /* packets */
        guint64 in_trace[4];              /* calls, returns, one-way messages and ends */
        GError *write_error;              /* of a write while waiting for packets */
        gint64 left;                      /* packets until --count is reached */
        GPtrArray *sources;               /* files, or one text that names the interfaces */
        GArray *doubts, *edges;           /* of Doubt and EdgeCalls, of all traces */
        GPtrArray *link_types;            /* of each, as the trace has it */
        gboolean host_is_sure;            /* else it may be only a star of one busy node */
        char *host;                       /* recognised; NULL where it was not, or was given */
        gboolean one_clock;               /* the trace says so */
} CaptureRun;

/* Loads all that the command names. NULL: error set. */
CaptureRun *capture_run_new(CaptureCommand *command, GError **error);

/* Enters the sandbox: with interfaces, once these and the output are open. FALSE: error set. */
gboolean capture_run_confine(const CaptureRun *run, GError **error);
void capture_run_free(CaptureRun *run);

/* Reads the files of --nodes anew. If one is wrong, says so and keeps the names. */
void capture_run_reload_names(CaptureRun *run);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(CaptureRun, capture_run_free)

void capture_report_counts(CaptureRun *run);

/* Counts of a capture that another process looks at while it goes on. */
typedef struct {
        guint64 packets;
        guint64 dropped; /* packets, by the kernel and by the interface */
        guint64 holes;   /* in connections */
} CaptureCounts;

/* From now on the capture of this process counts there, too. */
void capture_share_counts(CaptureCounts *shared);

/* From now on SIGHUP reads the names anew. */
void capture_reload_on_hangup(void);

/* On a terminal, how a live capture is getting on. */
void capture_report_progress(CaptureRun *run);

/* The one sentence on what these counts will do for, with these doubts of these edges. The
 * caller's to free. */
char *capture_report_judge(const CaptureRun *run, const guint64 *count, const GArray *doubts,
                           const GArray *edges);

/* At the end. Whether all is fit for nesting, as far as there is anything. */
gboolean capture_report_end(CaptureRun *run);

/* Begins the trace, or its next part. */
gboolean capture_trace_begin(CaptureRun *run, GError **error);

/* Writes the messages that are ready. */
gboolean capture_trace_write(CaptureRun *run, GError **error);

/* Takes over how many packets were dropped. */
void capture_trace_take_counts(CaptureRun *run);

/* Writes what is still under way, and ends the last trace. */
gboolean capture_trace_end(CaptureRun *run, GError **error);
