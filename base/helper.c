/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/helper.h"

#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"

static gboolean is_program(const char *path)
{
        struct stat st;

        return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

char *helper_find(const char *name, GError **error)
{
        g_autofree char *self = g_file_read_link("/proc/self/exe", NULL);
        g_autofree char *beside = self ? g_path_get_dirname(self) : NULL;
        g_autofree char *above = beside ? g_path_get_dirname(beside) : NULL;
        g_autofree char *moved = above ? g_build_filename(above, "libexec", "ravel", NULL) : NULL;
        const char *const folders[] = { beside, moved, PKGLIBEXECDIR };

        for (gsize i = 0; i < G_N_ELEMENTS(folders); i++) {
                g_autofree char *path =
                        folders[i] ? g_build_filename(folders[i], name, NULL) : NULL;

                if (path && is_program(path))
                        return g_steal_pointer(&path);
        }
        g_set_error(error, RAVEL_ERROR, RAVEL_ERROR_OUTPUT,
                    "the program %s is missing, which is neither beside ravel nor in %s: expected "
                    "all of ravel's programs to be installed together",
                    name, PKGLIBEXECDIR);
        return NULL;
}
