/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/big-memory.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/vfs.h>
#include <unistd.h>

/* Address space costs nothing until it is used, so that an array has ROOM times its size from the
 * start, at least LEAST, and grows where it is: of what it has in the end, a fifteenth was copied
 * at most. mremap() would copy nothing, but to lie at a multiple of HUGE it has to be told where
 * (MREMAP_FIXED), which the memory hooks of some libraries leave out. Where it is limited (ulimit
 * -v), LEAST_LIMITED. */
enum { HUGE = 1 << 21, PAGE = 4096, ROOM = 16, LEAST = 1 << 29, LEAST_LIMITED = 1 << 25 };

/* So much of an array lies in memory that may lie in a file. */
enum { IN_MEMORY = 1 << 20 };

/* In the page before the memory. */
typedef struct {
        gsize reserved; /* bytes from the memory on */
        int file;       /* NO_FILE */
        gsize from, to; /* what of the memory lies in it, at the same place */
} Header;

enum { NO_FILE = -1 };

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
        *header_of(start) = (Header){ .reserved = size, .file = NO_FILE };
        return start;
}

static gboolean is_limited(void)
{
        struct rlimit limit;

        return getrlimit(RLIMIT_AS, &limit) < 0 || limit.rlim_cur != RLIM_INFINITY;
}

/* With room to grow, unless a limit leaves none. */
static gpointer reserve_room(gsize size)
{
        gpointer memory = reserve(MAX(size * ROOM, is_limited() ? LEAST_LIMITED : LEAST));

        return memory ? memory : reserve(size);
}

/* A file without a name, on a disk. What is in memory anyway (tmpfs) saves none, nor does a file
 * where address space is limited. */
static int open_file(void)
{
        struct statfs system;
        int file;

        if (is_limited() ||
            (file = open(g_get_tmp_dir(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600)) < 0)
                return NO_FILE;
        if (fstatfs(file, &system) == 0 && system.f_type != TMPFS_MAGIC &&
            system.f_type != RAMFS_MAGIC)
                return file;
        close(file);
        return NO_FILE;
}

/* Whether it takes no more than half of what is left there. */
static gboolean has_room(int file, gsize size)
{
        struct statfs system;

        return fstatfs(file, &system) == 0 &&
               size / (gsize)system.f_bsize <= (gsize)system.f_bavail / 2;
}

/* Bytes of it, up to the last, become those of its file. FALSE: that is not possible. */
static gboolean lay_in_file(gpointer memory, gsize from, gsize to)
{
        Header *h = header_of(memory);

        if (h->file == NO_FILE) {
                if (from > IN_MEMORY || (h->file = open_file()) < 0)
                        return FALSE;
                h->from = h->to = from;
        }
        /* Room that is not there would be a signal later. */
        if (h->to != from || !has_room(h->file, to - from) ||
            posix_fallocate(h->file, (off_t)from, (off_t)(to - from)) != 0 ||
            mmap((char *)memory + from, to - from, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
                 h->file, (off_t)from) == MAP_FAILED)
                return FALSE;
        h->to = to;
        return TRUE;
}

/* What is given back comes again as zeros. */
static void give_back(gpointer memory, gsize from, gsize to)
{
        Header *h = header_of(memory);

        if (to > h->from && from < h->to) {
                memset((char *)memory + from, 0, to - from);
                big_put_away(memory, to);
        } else {
                madvise((char *)memory + from, to - from, MADV_DONTNEED);
        }
}

/* A part at a time, so that little of what lies in files is in memory. */
static void copy(gpointer to, gconstpointer from, gsize size)
{
        enum { PART = 1 << 24 };

        for (gsize at = 0; at < size; at += PART) {
                memcpy((char *)to + at, (const char *)from + at, MIN(size - at, PART));
                big_put_away(to, size);
                big_put_away(from, size);
        }
}

static gpointer renew(gpointer memory, gsize old_size, gsize new_size, gboolean in_file)
{
        gsize size = mapped(new_size), used = memory ? mapped(old_size) : 0;
        gpointer old = memory;

        if (old_size == new_size)
                return memory;
        if (!old_size)
                memory = old = NULL;
        if (memory && size <= used) {
                give_back(memory, size, used);
                return memory;
        }
        if (!memory || size > header_of(memory)->reserved) {
                memory = reserve_room(size);
                used = 0;
        }
        if (memory && in_file && size > IN_MEMORY) {
                gsize from = MAX(used, IN_MEMORY);

                if (lay_in_file(memory, from, size))
                        size = from;
        }
        if (!memory || mprotect((char *)memory + used, size - used, PROT_READ | PROT_WRITE) < 0)
                g_error("out of memory for %" G_GSIZE_FORMAT " bytes", new_size);
        if (old && old != memory) {
                copy(memory, old, old_size);
                big_free(old, old_size);
        }
        return memory;
}

gpointer big_renew(gpointer memory, gsize old_size, gsize new_size)
{
        return renew(memory, old_size, new_size, FALSE);
}

gpointer big_renew_in_file(gpointer memory, gsize old_size, gsize new_size)
{
        return renew(memory, old_size, new_size, TRUE);
}

void big_put_away(gconstpointer memory, gsize size)
{
        const Header *h = memory && size ? header_of((gpointer)memory) : NULL;

        if (h && h->to > h->from)
                madvise((char *)memory + h->from, h->to - h->from, MADV_DONTNEED);
}

gboolean big_is_in_memory(gconstpointer memory, gsize size)
{
        return memory && mapped(size) > IN_MEMORY && header_of((gpointer)memory)->to < mapped(size);
}

void big_free(gpointer memory, gsize size)
{
        if (!memory || !size)
                return;
        if (header_of(memory)->file != NO_FILE)
                close(header_of(memory)->file);
        munmap((char *)memory - PAGE, PAGE + header_of(memory)->reserved);
}
