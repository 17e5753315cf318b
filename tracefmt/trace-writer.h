/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Writes a trace (docs/trace-format.md): "# ravel trace 1", facts as comments,
 * then a line a message, fields separated by one tab.
 */
#pragma once

#include <sys/types.h>

#include "tracefmt/message.h"

typedef struct TraceWriter TraceWriter;

/* Opens path ("-" is standard output). live = FALSE writes under a temporary name that
 * trace_writer_close() renames. live = TRUE writes whole lines at a time under the final name, for
 * readers who do not wait for the end. nodes is borrowed and must outlive the writer. NULL with
 * error set if path cannot be opened. */
TraceWriter *trace_writer_new(const char *path, const NodeTable *nodes, gboolean live,
                              GError **error);

/* As output_file_give(). */
void trace_writer_give(TraceWriter *w, uid_t user, gid_t group);

/* A fact about the capture, written as "# key: value". Control characters in
 * value are escaped. May come at any time, facts known at the end included. */
gboolean trace_writer_fact(TraceWriter *w, const char *key, const char *value, GError **error);

/* A fact as trace_reader_facts() gave it, "key: value": the same bytes again. */
gboolean trace_writer_copy_fact(TraceWriter *w, const char *fact, GError **error);

gboolean trace_writer_add(TraceWriter *w, const Message *m, GError **error);

/* Bytes so far. */
guint64 trace_writer_size(const TraceWriter *w);

/* Lets readers see what there is. */
gboolean trace_writer_flush(TraceWriter *w, GError **error);

/* Flushes, notices a full disk, renames. The writer is freed either way. */
gboolean trace_writer_close(TraceWriter *w, GError **error);

/* Gives up: what was not renamed yet is removed. NULL is allowed. */
void trace_writer_free(TraceWriter *w);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TraceWriter, trace_writer_free)
