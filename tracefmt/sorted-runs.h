/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Sorts any number of messages by time in bounded memory. Parts are sorted one by one, written to a
 * temporary file without a name, and merged while they are read again. If all messages fit into
 * memory, they are sorted there. Equal stamps keep their order.
 */
#pragma once

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
