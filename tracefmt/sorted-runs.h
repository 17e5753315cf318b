/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Sorts any number of messages by time in bounded memory: parts of them are sorted one by
 * one and written to a temporary file, which has no name and is gone with the process,
 * and merged as they are read again. What fits into memory is sorted there. Equal stamps
 * keep their order.
 */
#ifndef RAVEL_SORTED_RUNS_H
#define RAVEL_SORTED_RUNS_H

#include "tracefmt/message.h"

typedef struct SortedRuns SortedRuns;

/* memory: bytes that a part may have; merging takes as many. */
SortedRuns *sorted_runs_new(gsize memory);
void sorted_runs_free(SortedRuns *runs); /* NULL is allowed */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(SortedRuns, sorted_runs_free)

/* Copies message. FALSE and error set where the temporary file cannot be written. */
gboolean sorted_runs_add(SortedRuns *runs, const Message *message, GError **error);

/* After the last message; then sorted_runs_next() hands them out. */
gboolean sorted_runs_finish(SortedRuns *runs, GError **error);

/* The next: 1, 0 at the end, or -1 with error set. Its texts are valid until the next call. */
int sorted_runs_next(SortedRuns *runs, Message *message, GError **error);

/* How many parts are on disk; 0: all is in memory. */
guint sorted_runs_parts(const SortedRuns *runs);

#endif
