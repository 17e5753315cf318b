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

void big_free(gpointer memory, gsize size); /* NULL is allowed */

#endif
