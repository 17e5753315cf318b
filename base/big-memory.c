/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/big-memory.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

/* Address space costs nothing until it is used, so that an array has ROOM times its size from the
 * start, at least LEAST, and grows where it is: of what it has in the end, a fifteenth was copied
 * at most. mremap() would copy nothing, but to lie at a multiple of HUGE it has to be told where
 * (MREMAP_FIXED), which the memory hooks of some libraries leave out. Where it is limited (ulimit
 * -v), LEAST_LIMITED. */
enum { HUGE = 1 << 21, PAGE = 4096, ROOM = 16, LEAST = 1 << 29, LEAST_LIMITED = 1 << 25 };

/* In the page before the memory. */
typedef struct {
        gsize reserved; /* bytes from the memory on */
} Header;

/* So much is used for size bytes: the end of a large one is a huge page, too. */
static gsize mapped(gsize size)
{
        gsize page = size >= HUGE ? HUGE : PAGE;

        return (size + page - 1) & ~(page - 1);
}

static Header *header_of(gpointer memory)
{
        return (Header *)((char *)memory - PAGE);
}

/* Pages of nobody at a multiple of HUGE, where huge pages can lie. NULL: there are not so many. */
static gpointer reserve(gsize size)
{
        char *p = mmap(NULL, size + 2 * HUGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        char *start, *end = p + size + 2 * HUGE;

        if (p == MAP_FAILED)
                return NULL;
        start = (char *)(((gsize)p + PAGE + HUGE - 1) & ~(gsize)(HUGE - 1));
        if (start - PAGE > p)
                munmap(p, start - PAGE - p);
        munmap(start + size, end - (start + size));
        if (mprotect(start - PAGE, PAGE, PROT_READ | PROT_WRITE) < 0) {
                munmap(start - PAGE, PAGE + size);
                return NULL;
        }
        madvise(start, size, MADV_HUGEPAGE); /* only advice: not all kernels have them */
        header_of(start)->reserved = size;
        return start;
}

/* With room to grow, unless a limit leaves none. */
static gpointer reserve_room(gsize size)
{
        struct rlimit limit;
        gboolean is_limited = getrlimit(RLIMIT_AS, &limit) < 0 || limit.rlim_cur != RLIM_INFINITY;
        gpointer memory = reserve(MAX(size * ROOM, is_limited ? LEAST_LIMITED : LEAST));

        return memory ? memory : reserve(size);
}

gpointer big_renew(gpointer memory, gsize old_size, gsize new_size)
{
        gsize size = mapped(new_size), used = memory ? mapped(old_size) : 0;
        gpointer old = memory;

        if (old_size == new_size)
                return memory;
        if (!old_size)
                memory = old = NULL;
        if (memory && size <= used) {
                madvise((char *)memory + size, used - size, MADV_DONTNEED);
                return memory;
        }
        if (!memory || size > header_of(memory)->reserved) {
                memory = reserve_room(size);
                used = 0;
        }
        if (!memory || mprotect((char *)memory + used, size - used, PROT_READ | PROT_WRITE) < 0)
                g_error("out of memory for %" G_GSIZE_FORMAT " bytes", new_size);
        if (old && old != memory) {
                memcpy(memory, old, old_size);
                big_free(old, old_size);
        }
        return memory;
}

void big_free(gpointer memory, gsize size)
{
        if (memory && size)
                munmap((char *)memory - PAGE, PAGE + header_of(memory)->reserved);
}
