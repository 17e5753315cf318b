/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Memory for arrays as long as the trace: pages straight from the kernel, huge ones if it has them.
 * An array mostly grows into the address space behind it. A page fault then brings 2 MB, not 4 KB:
 * faults of small pages take a fifth of the time of a whole analysis.
 */
#pragma once

#include <glib.h>

/* Resizes memory (NULL, or from an earlier call) from old_size to new_size bytes; new bytes are
 * zero. Aborts if memory runs out, as g_realloc(). */
gpointer big_renew(gpointer memory, gsize old_size, gsize new_size);

/* The same for arrays that are read in order, again and again. All but the first megabyte lies in a
 * temporary file, in pages of 4 KB, if TMPDIR is on a disk with room for it. */
gpointer big_renew_in_file(gpointer memory, gsize old_size, gsize new_size);

/* The part in a file is not needed now: the kernel may use its pages for others until it is read
 * again. The contents stay. memory may be NULL. Any thread may call this at any time. */
void big_put_away(gconstpointer memory, gsize size);

/* Whether bytes beyond the first megabyte are in memory, because there was no file or no room. */
gboolean big_is_in_memory(gconstpointer memory, gsize size);

void big_free(gpointer memory, gsize size); /* NULL is allowed */
