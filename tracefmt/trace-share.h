/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A trace in a file, divided by time among several processes without going through it: lines are
 * in the order of time, so a binary search finds where a moment begins.
 */
#ifndef RAVEL_TRACE_SHARE_H
#define RAVEL_TRACE_SHARE_H

#include "tracefmt/trace-reader.h"

typedef struct TraceIndex TraceIndex;

/* NULL where path is no file that can be read from the middle: a pipe, or compressed. */
TraceIndex *trace_index_new(const char *path);
void trace_index_free(TraceIndex *index);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TraceIndex, trace_index_free)

guint64 trace_index_size(const TraceIndex *index); /* bytes */

/* Where the first line begins whose time is not before this; the size where there is none. */
guint64 trace_index_find(TraceIndex *index, gint64 time);

/* The time of the first message whose line begins at a byte or later. FALSE: there is none. */
gboolean trace_index_time(TraceIndex *index, guint64 at, gint64 *time);

#endif
