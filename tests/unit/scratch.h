/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A directory for the files of a test, gone at its end.
 */
#pragma once

#include <glib.h>
#include <glib/gstdio.h>

static char *scratch;

static inline void scratch_make(void)
{
        g_autoptr(GError) error = NULL;

        scratch = g_dir_make_tmp("ravel-test-XXXXXX", &error);
        g_assert_no_error(error);
}

/* The path of a file there; the caller's to free. */
static inline char *scratch_path(const char *name)
{
        return g_build_filename(scratch, name, NULL);
}

static inline char *scratch_write(const char *name, const char *data, gssize n)
{
        g_autoptr(GError) error = NULL;
        char *path = scratch_path(name);

        g_unlink(path); /* a file that is replaced would be waited for to reach the disk */
        g_file_set_contents(path, data, n, &error);
        g_assert_no_error(error);
        return path;
}

/* How many files are there. */
static inline guint scratch_count(void)
{
        g_autoptr(GDir) dir = g_dir_open(scratch, 0, NULL);
        guint n = 0;

        while (g_dir_read_name(dir))
                n++;
        return n;
}

static inline void scratch_empty(void)
{
        g_autoptr(GDir) dir = g_dir_open(scratch, 0, NULL);
        const char *name;

        while ((name = g_dir_read_name(dir))) {
                g_autofree char *path = scratch_path(name);

                g_unlink(path);
        }
}

static inline void scratch_remove(void)
{
        scratch_empty();
        g_rmdir(scratch);
        g_clear_pointer(&scratch, g_free);
}
