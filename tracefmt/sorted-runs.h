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

/* A bounded buffer that sorts messages which are a little out of order, as from several interfaces.
 * Each message waits until 65,536 messages are there, or 64 MB of text. Equal stamps keep their
 * order. A message in order costs its copy; a late one costs the logarithm of the number of late
 * messages. */
typedef struct Reorder Reorder;

Reorder *reorder_new(void);
void reorder_free(Reorder *reorder); /* NULL is allowed */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Reorder, reorder_free)

/* Whether one has to be taken before the next is put. */
gboolean reorder_is_full(const Reorder *reorder);

/* Copies message. */
void reorder_put(Reorder *reorder, const Message *message);

/* The earliest: its texts are valid until the next call. FALSE where there is none. */
gboolean reorder_take(Reorder *reorder, Message *message);

/* How many came late, and by how much at most (ns). */
guint64 reorder_late(const Reorder *reorder, gint64 *most);
