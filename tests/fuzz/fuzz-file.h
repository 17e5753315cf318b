/* SPDX-License-Identifier: BSD-2-Clause
 *
 * For fuzz targets of what is read from a file and written to one: files in memory that
 * have names.
 */
#include <sys/mman.h>
#include <unistd.h>

#include <glib.h>

int LLVMFuzzerTestOneInput(const guint8 *data, gsize n);

/* A file of these bytes; *fd is to be closed, and the name is the caller's to free. */
static char *as_file(const guint8 *data, gsize n, int *fd)
{
        *fd = memfd_create("fuzz", MFD_CLOEXEC);
        g_assert(*fd >= 0 && write(*fd, data, n) == (gssize)n);
        return g_strdup_printf("/proc/self/fd/%d", *fd);
}
