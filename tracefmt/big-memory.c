/* SPDX-License-Identifier: BSD-2-Clause */
#include "tracefmt/big-memory.h"

#include <sys/mman.h>

enum { HUGE = 1 << 21 };

gpointer big_renew(gpointer memory, gsize old_size, gsize new_size)
{
        void *p;

        if (old_size == new_size)
                return memory;
        if (!memory)
                p = mmap(NULL, new_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
                         0);
        else
                p = mremap(memory, old_size, new_size, MREMAP_MAYMOVE);
        if (p == MAP_FAILED)
                g_error("out of memory for %" G_GSIZE_FORMAT " bytes", new_size);
        /* Advice only: not every kernel has huge pages. Small arrays do without. */
        if (new_size >= 2 * HUGE)
                madvise(p, new_size, MADV_HUGEPAGE);
        return p;
}

void big_free(gpointer memory, gsize size)
{
        if (memory)
                munmap(memory, size);
}
