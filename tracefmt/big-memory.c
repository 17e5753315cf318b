/* SPDX-License-Identifier: BSD-2-Clause */
#include "tracefmt/big-memory.h"

#include <sys/mman.h>

enum { HUGE = 1 << 21 };

/* So much is mapped for size bytes: the end of a large one is a huge page, too. */
static gsize mapped(gsize size)
{
        gsize page = size >= HUGE ? HUGE : 4096;

        return (size + page - 1) & ~(page - 1);
}

/* Pages of nobody at a multiple of HUGE, where huge pages can lie. */
static void *reserve(gsize size)
{
        char *p = mmap(NULL, size + HUGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        char *start;

        if (p == MAP_FAILED)
                return MAP_FAILED;
        start = (char *)(((gsize)p + HUGE - 1) & ~(gsize)(HUGE - 1));
        if (start > p)
                munmap(p, start - p);
        munmap(start + size, p + HUGE - start);
        return start;
}

gpointer big_renew(gpointer memory, gsize old_size, gsize new_size)
{
        gboolean huge = new_size >= HUGE;
        void *p = MAP_FAILED, *place = NULL;
        gsize size = mapped(new_size);

        if (old_size == new_size)
                return memory;
        if (huge)
                place = reserve(size);
        if (place == MAP_FAILED)
                p = MAP_FAILED;
        else if (memory && old_size)
                p = mremap(memory, mapped(old_size), size,
                           MREMAP_MAYMOVE | (huge ? MREMAP_FIXED : 0), place);
        else
                p = mmap(place, size, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | (huge ? MAP_FIXED : 0), -1, 0);
        if (p == MAP_FAILED)
                g_error("out of memory for %" G_GSIZE_FORMAT " bytes", new_size);
        if (huge)
                madvise(p, size, MADV_HUGEPAGE); /* only advice: not all kernels have them */
        return p;
}

void big_free(gpointer memory, gsize size)
{
        if (memory && size)
                munmap(memory, mapped(size));
}
