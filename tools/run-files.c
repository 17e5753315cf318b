/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/run-files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/sandbox.h"
#include "tools/options.h"
#include "tracefmt/file-kind.h"
#include "write/drawer.h"

/* One of a run's files. */
typedef struct {
        const char *option; /* NULL: it is read */
        char *path;
        gboolean is_store, is_regular;
        dev_t device;
        ino_t inode;  /* of the file; of its folder where it is not there yet */
        char *absent; /* its name in the folder then, else NULL */
} RunFile;

static GArray *files; /* of RunFile */

static void run_file_clear(gpointer data)
{
        RunFile *f = data;

        g_free(f->path);
        g_free(f->absent);
}

static gboolean is_standard(const char *path)
{
        return !strcmp(path, "-");
}

/* What path is. FALSE where it can be no regular file, or nothing that can be opened. */
static gboolean identify(const char *path, int standard, RunFile *f)
{
        enum { MOST_LINKS = 40 }; /* as the kernel has it */
        g_autofree char *name = g_strdup(path);
        struct stat st;

        if ((is_standard(path) ? fstat(standard, &st) : stat(path, &st)) == 0) {
                f->device = st.st_dev;
                f->inode = st.st_ino;
                return S_ISREG(st.st_mode);
        }
        /* A link to a file that is not there makes it. */
        for (guint links = 0; links < MOST_LINKS; links++) {
                g_autofree char *folder = g_path_get_dirname(name);
                g_autofree char *target = g_file_read_link(name, NULL);

                if (!target) {
                        if (stat(folder, &st) < 0)
                                return FALSE;
                        f->device = st.st_dev;
                        f->inode = st.st_ino;
                        f->absent = g_path_get_basename(name);
                        return TRUE;
                }
                g_free(name);
                name = g_path_is_absolute(target) ? g_steal_pointer(&target)
                                                  : g_build_filename(folder, target, NULL);
        }
        return FALSE;
}

static gboolean is_same(const RunFile *a, const RunFile *b)
{
        return a->is_regular && b->is_regular && a->device == b->device && a->inode == b->inode &&
               !g_strcmp0(a->absent, b->absent);
}

/* Whether both cannot be files of one run. Two results on standard output are one after the
 * other. */
static gboolean clash(const RunFile *a, const RunFile *b)
{
        return (a->option || b->option) && g_strcmp0(a->option, b->option) &&
               !(a->option && b->option && is_standard(a->path) && is_standard(b->path)) &&
               is_same(a, b);
}

/* As the user named it. */
static char *describe(const RunFile *f)
{
        if (is_standard(f->path))
                return g_strdup(f->option ? "standard output" : "standard input");
        return f->option ? g_strdup_printf("%s %s", f->option, f->path) : g_strdup(f->path);
}

static void set_clash(const RunFile *a, const RunFile *b, GError **error)
{
        const RunFile *output = a->option ? a : b, *other = a->option ? b : a;
        g_autofree char *name = describe(output), *other_name = describe(other);

        g_set_error(error, RAVEL_ERROR, RAVEL_ERROR_USAGE, "%s: that is the same file as %s%s: %s",
                    name, other_name, other->option ? "" : ", which is read",
                    "expected another one");
}

static gboolean add(const char *option, const char *path, gboolean is_store, GError **error)
{
        RunFile f = { .option = option, .is_store = is_store };

        if (!files) {
                files = g_array_new(FALSE, FALSE, sizeof(RunFile));
                g_array_set_clear_func(files, run_file_clear);
        }
        f.is_regular = identify(path, option ? STDOUT_FILENO : STDIN_FILENO, &f);
        f.path = g_strdup(path);
        for (guint i = 0; i < files->len; i++) {
                const RunFile *known = &g_array_index(files, RunFile, i);

                if (clash(&f, known)) {
                        set_clash(&f, known, error);
                        run_file_clear(&f);
                        return FALSE;
                }
                if (option && !g_strcmp0(option, known->option))
                        g_array_remove_index_fast(files, i--);
        }
        g_array_append_val(files, f);
        return TRUE;
}

gboolean run_files_read(const char *path, GError **error)
{
        return add(NULL, path, FALSE, error);
}

gboolean run_files_read_store(const char *path, GError **error)
{
        return run_files_read(path, error) &&
               file_kind_expect(file_kind_read(path), FILE_STORE, path, error);
}

/* Whether path can be made, or replaced, or written to: said before any work is done. */
static gboolean check_writable(const char *path, GError **error)
{
        g_autofree char *folder = g_path_get_dirname(path);
        struct stat st;
        gboolean is_there = stat(path, &st) == 0;

        if (is_there && S_ISDIR(st.st_mode))
                errno = EISDIR;
        else if (faccessat(AT_FDCWD, is_there && !S_ISREG(st.st_mode) ? path : folder, W_OK,
                           AT_EACCESS) == 0)
                return TRUE;
        return ravel_fail(error, RAVEL_ERROR_OUTPUT, "%s: cannot create it: %s", path,
                          g_strerror(errno));
}

gboolean run_files_same(const char *a, const char *b)
{
        RunFile is_a = { 0 }, is_b = { 0 };

        is_a.is_regular = identify(a, STDIN_FILENO, &is_a);
        is_b.is_regular = identify(b, STDIN_FILENO, &is_b);
        return is_same(&is_a, &is_b);
}

gboolean run_files_write(const char *option, const char *path, GError **error)
{
        if (!path || is_standard(path))
                return add(option, "-", FALSE, error);
        return add(option, path, FALSE, error) && check_writable(path, error);
}

gboolean run_files_write_store(const char *option, const char *path, GError **error)
{
        return add(option, path, TRUE, error) && check_writable(path, error);
}

/* --- the sandbox --------------------------------------------------------------- */

/* Allows to write path, which may be replaced by a file beside it, or be a link to one. SQLite
 * reads what it has written. */
static void allow_output(Sandbox *s, const char *path, gboolean is_store)
{
        SandboxAccess access = is_store ? SANDBOX_SCRATCH : SANDBOX_WRITE;
        g_autofree char *target = realpath(path, NULL);
        g_autofree char *link = target ? NULL : g_file_read_link(path, NULL);
        g_autofree char *beside = g_path_get_dirname(path);
        g_autofree char *named =
                link ? g_build_filename(g_path_is_absolute(link) ? "/" : beside, link, NULL) : NULL;
        g_autofree char *behind = named ? g_path_get_dirname(named) : NULL;

        sandbox_allow(s, path, access);
        sandbox_allow(s, beside, access);
        if (behind)
                sandbox_allow(s, behind, access);
}

static void allow_files(Sandbox *s)
{
        for (guint i = 0; files && i < files->len; i++) {
                const RunFile *f = &g_array_index(files, RunFile, i);

                if (!f->option)
                        sandbox_allow(s, is_standard(f->path) ? "/dev/stdin" : f->path,
                                      SANDBOX_READ);
                else if (!is_standard(f->path))
                        allow_output(s, f->path, f->is_store);
        }
}

/* The folders where we, and SQLite, make temporary files. */
static void allow_temporary_files(Sandbox *s)
{
        sandbox_allow(s, g_get_tmp_dir(), SANDBOX_SCRATCH);
        if (!g_getenv("TMPDIR") && !g_getenv("SQLITE_TMPDIR"))
                sandbox_allow(s, "/var/tmp", SANDBOX_SCRATCH);
        else if (g_getenv("SQLITE_TMPDIR"))
                sandbox_allow(s, g_getenv("SQLITE_TMPDIR"), SANDBOX_SCRATCH);
}

gboolean run_files_confine(const RunNeeds *needs, GError **error)
{
        static gboolean confined;
        g_autoptr(Sandbox) sandbox = NULL;

        if (tool_has_no_sandbox() || confined)
                return TRUE;
        confined = TRUE;
        tzset(); /* reads a file */
        sandbox = sandbox_new();
        sandbox_allow(sandbox, "/dev/urandom", SANDBOX_READ);
        allow_files(sandbox);
        if (needs->folder)
                sandbox_allow(sandbox, needs->folder, SANDBOX_WRITE);
        if (needs->processes)
                sandbox_allow(sandbox, "/proc", SANDBOX_READ);
        if (needs->open_files)
                sandbox_allow_all_files(sandbox);
        if (!needs->interfaces)
                allow_temporary_files(sandbox);
        return sandbox_enter(sandbox, needs->packets ? SANDBOX_CAPTURE : SANDBOX_FILES,
                             needs->draws ? drawer_start_early() : 0, error);
}

gboolean run_files_confine_reader(gboolean draws, GError **error)
{
        return run_files_confine(&(RunNeeds){ .draws = draws }, error);
}
