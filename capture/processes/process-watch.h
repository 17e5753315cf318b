/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Names the ends of this machine's connections by the processes that have them. The kernel's
 * records (perf-rings.h) say who opens a connection. If they are not to be had, /proc is looked
 * at again and again. Connections that are open already, and who listens, are read from /proc at
 * the start.
 */
#pragma once

#include "capture/processes/process-table.h"
#include "tracefmt/output-file.h"

typedef struct ProcessWatch ProcessWatch;

/* Begins, with whatever rights there are; everything is borrowed. *why: the kernel's records are
 * not to be had, and /proc is looked at instead; the caller's to free. */
ProcessWatch *process_watch_new(ProcessNaming naming, NodeNames *names, NodeTable *nodes,
                                char **why);
void process_watch_free(ProcessWatch *watch);

/* Lines for --nodes are written there, from now on; borrowed. */
void process_watch_write_to(ProcessWatch *watch, OutputFile *lines);

/* Tells names what has happened since. FALSE: a line could not be written, error set. */
gboolean process_watch_update(ProcessWatch *watch, GError **error);

/* What a trace should say: facts, "key: value", as they are now. The caller's to free. */
GPtrArray *process_watch_facts(const ProcessWatch *watch);

typedef struct {
        guint64 opened; /* connections that processes opened while it watched */
        guint64 lost;   /* the kernel's records */
} ProcessCounts;

ProcessCounts process_watch_counts(const ProcessWatch *watch);
