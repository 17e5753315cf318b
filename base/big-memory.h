/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Memory for arrays as long as the trace: pages straight from the kernel, huge
 * ones where it has them. Growing mostly takes what lies behind, and filling
 * it costs one page fault for 2 MB and not for 4 KB, which is otherwise a
 * fifth of the time of a whole analysis.
 */
#ifndef RAVEL_BIG_MEMORY_H
#define RAVEL_BIG_MEMORY_H

#include <glib.h>

/* Resizes memory (NULL, or what a call before returned) from old_size to
 * new_size bytes, new bytes zero. Aborts where there is none, as g_realloc(). */
gpointer big_renew(gpointer memory, gsize old_size, gsize new_size);

/* The same for what is gone through in order, again and again: what is beyond the first megabyte
 * lies in a temporary file (TMPDIR) where that is on a disk with room for it, in pages of 4 KB. */
gpointer big_renew_in_file(gpointer memory, gsize old_size, gsize new_size);

/* What of it lies in a file is not needed now: it takes no memory that others want until it is
 * looked at again. What it holds stays. NULL is allowed. On any thread, at any time. */
void big_put_away(gconstpointer memory, gsize size);

/* Whether what it has beyond the first megabyte is in memory: there was no file, or no more room.
 */
gboolean big_is_in_memory(gconstpointer memory, gsize size);

void big_free(gpointer memory, gsize size); /* NULL is allowed */

#endif
