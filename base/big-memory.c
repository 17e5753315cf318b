/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/big-memory.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/vfs.h>
#include <unistd.h>

/* Address space costs nothing until it is used. So an array reserves ROOM times its size, at least
 * LEAST, and grows in place: at most a fifteenth of its final size was copied. mremap() would copy
 * nothing, but needs MREMAP_FIXED to land at a multiple of HUGE, which the memory hooks of some
 * libraries do not support. If address space is limited (ulimit -v), the least reservation is
 * LEAST_LIMITED. */
enum { HUGE = 1 << 21, PAGE = 4096, ROOM = 16, LEAST = 1 << 29, LEAST_LIMITED = 1 << 25 };

/* Bytes at the start of an array that are in memory even if the rest is in a file. */
enum { IN_MEMORY = 1 << 20 };

/* Lies in the page before the memory. */
typedef struct {
        gsize reserved; /* bytes from the memory on */
        int file;       /* its descriptor, or NO_FILE */
        gsize from, to; /* the bytes in the file, at the same offsets */
} Header;

enum { NO_FILE = -1 };

/* The bytes mapped for an array of size bytes. A large array ends in a whole huge page. */
static gsize mapped_size(gsize size)
{
        gsize page = size >= HUGE ? HUGE : PAGE;

        return (size + page - 1) & ~(page - 1);
}

static Header *header_of(gpointer memory)
{
        return (Header *)((char *)memory - PAGE);
}

/* Reserves address space at a multiple of HUGE, where huge pages are possible. NULL if there is
 * none. */
static gpointer reserve_space(gsize size)
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
        madvise(start, size, MADV_HUGEPAGE); /* advice: not all kernels have huge pages */
        *header_of(start) = (Header){ .reserved = size, .file = NO_FILE };
        return start;
}

static gboolean is_limited(void)
{
        struct rlimit limit;

        return getrlimit(RLIMIT_AS, &limit) < 0 || limit.rlim_cur != RLIM_INFINITY;
}

/* Reserves size bytes with room to grow, or without if a limit leaves no room. */
static gpointer reserve_space_to_grow(gsize size)
{
        gpointer memory = reserve_space(MAX(size * ROOM, is_limited() ? LEAST_LIMITED : LEAST));

        return memory ? memory : reserve_space(size);
}

/* Opens a file without a name on a disk. A file system in memory (tmpfs) saves no memory, nor does
 * a file if address space is limited. */
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

/* Whether size bytes are at most half of the free space of the file's disk. */
static gboolean has_room(int file, gsize size)
{
        struct statfs system;

        return fstatfs(file, &system) == 0 &&
               size / (gsize)system.f_bsize <= (gsize)system.f_bavail / 2;
}

/* Maps the bytes from `from` to to - 1, the last of memory, to its file. FALSE if that is not
 * possible. */
static gboolean lay_in_file(gpointer memory, gsize from, gsize to)
{
        Header *h = header_of(memory);

        if (h->file == NO_FILE) {
                if (from > IN_MEMORY || (h->file = open_file()) < 0)
                        return FALSE;
                h->from = h->to = from;
        }
        /* A full disk would be a signal later (SIGBUS). */
        if (h->to != from || !has_room(h->file, to - from) ||
            posix_fallocate(h->file, (off_t)from, (off_t)(to - from)) != 0 ||
            mmap((char *)memory + from, to - from, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
                 h->file, (off_t)from) == MAP_FAILED)
                return FALSE;
        h->to = to;
        return TRUE;
}

/* Gives back the bytes from `from` to to - 1. They read as zeros from now on. */
static void give_back_bytes(gpointer memory, gsize from, gsize to)
{
        Header *h = header_of(memory);

        if (to > h->from && from < h->to) {
                memset((char *)memory + from, 0, to - from);
                big_put_away(memory, to);
        } else {
                madvise((char *)memory + from, to - from, MADV_DONTNEED);
        }
}

/* Copies in parts, so that few pages of files are in memory. */
static void copy_memory(gpointer to, gconstpointer from, gsize size)
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
        gsize size = mapped_size(new_size), used = memory ? mapped_size(old_size) : 0;
        gpointer old = memory;

        if (old_size == new_size)
                return memory;
        if (!old_size)
                memory = old = NULL;
        if (memory && size <= used) {
                give_back_bytes(memory, size, used);
                return memory;
        }
        if (!memory || size > header_of(memory)->reserved) {
                memory = reserve_space_to_grow(size);
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
                copy_memory(memory, old, old_size);
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
        return memory && mapped_size(size) > IN_MEMORY &&
               header_of((gpointer)memory)->to < mapped_size(size);
}

void big_free(gpointer memory, gsize size)
{
        if (!memory || !size)
                return;
        if (header_of(memory)->file != NO_FILE)
                close(header_of(memory)->file);
        munmap((char *)memory - PAGE, PAGE + header_of(memory)->reserved);
}
