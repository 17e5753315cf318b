/* SPDX-License-Identifier: BSD-2-Clause */
#include "tracefmt/output-file.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"

enum { BUFFER = 1 << 16 };

struct OutputFile {
        int fd;
        char *path;      /* what the user called it */
        char *temporary; /* NULL where path itself is written */
        gboolean made;   /* path itself was not there before */
        guint64 size;    /* bytes in all */
        gsize used;
        char buffer[BUFFER];
};

static void set_errno(GError **error, const char *what, const char *path, int code)
{
        g_set_error(error, RAVEL_ERROR, code == EPIPE ? RAVEL_ERROR_PIPE : RAVEL_ERROR_OUTPUT,
                    "%s: cannot %s: %s", path, what, g_strerror(code));
}

/* --- temporary files -------------------------------------------------------- */

/* The only thing that a signal handler can reach: the temporary files there are. */
enum { MOST_TEMPORARIES = 48 }; /* a run has three outputs at most, and 40 scratch files */
static char *volatile temporaries[MOST_TEMPORARIES];

static void temporary_remember(char *temporary)
{
        for (guint i = 0; i < MOST_TEMPORARIES; i++)
                if (!temporaries[i]) {
                        temporaries[i] = temporary;
                        return;
                }
}

/* Before it is freed. */
static void temporary_forget(const char *temporary)
{
        for (guint i = 0; i < MOST_TEMPORARIES; i++)
                if (temporaries[i] && !strcmp(temporaries[i], temporary))
                        g_clear_pointer(&temporaries[i], g_free);
}

/* Makes the file of that pattern, and remembers it before a signal can come. */
static int make_temporary(char *pattern, int flags, int mode)
{
        sigset_t all, before;
        int fd, code;

        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, &before);
        fd = g_mkstemp_full(pattern, flags | O_CLOEXEC, mode);
        code = errno;
        if (fd >= 0)
                temporary_remember(g_strdup(pattern));
        pthread_sigmask(SIG_SETMASK, &before, NULL);
        errno = code;
        return fd;
}

int output_scratch_open(void)
{
        g_autofree char *pattern = g_build_filename(g_get_tmp_dir(), "ravel-XXXXXX", NULL);
        int fd = make_temporary(pattern, O_RDWR, 0600), code = errno;

        if (fd >= 0) {
                unlink(pattern);
                temporary_forget(pattern);
        }
        errno = code;
        return fd;
}

char *output_scratch_new(const char *suffix, GError **error)
{
        g_autofree char *name = g_strconcat("ravel-XXXXXX", suffix, NULL);
        g_autofree char *pattern = g_build_filename(g_get_tmp_dir(), name, NULL);
        int fd = make_temporary(pattern, O_RDWR, 0600);

        if (fd < 0) {
                set_errno(error, "create it", pattern, errno);
                return NULL;
        }
        close(fd);
        return g_steal_pointer(&pattern);
}

void output_scratch_remove(char *path)
{
        if (path) {
                unlink(path);
                temporary_forget(path);
                g_free(path);
        }
}

void output_files_die(int number)
{
        for (guint i = 0; i < MOST_TEMPORARIES; i++)
                if (temporaries[i])
                        unlink(temporaries[i]);
        signal(number, SIG_DFL);
        raise(number);
}

void output_files_catch_signals(void)
{
        static const int numbers[] = { SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGXCPU };
        struct sigaction action = { .sa_handler = output_files_die }, now;

        sigfillset(&action.sa_mask);
        for (guint i = 0; i < G_N_ELEMENTS(numbers); i++)
                if (sigaction(numbers[i], NULL, &now) == 0 && now.sa_handler != SIG_IGN)
                        sigaction(numbers[i], &action, NULL);
}

/* --- files ------------------------------------------------------------------- */

/* Whether path may be replaced by a rename: absent, or a regular file and not a
 * link to one. */
static gboolean replaceable(const char *path)
{
        struct stat st;

        if (lstat(path, &st) < 0)
                return errno == ENOENT;
        return S_ISREG(st.st_mode);
}

char *output_path_temporary(const char *path, GError **error)
{
        char *temporary;
        int fd;

        if (!replaceable(path))
                return g_strdup(path);
        temporary = g_strdup_printf("%s.XXXXXX", path);
        fd = make_temporary(temporary, O_WRONLY, 0666);
        if (fd < 0) {
                set_errno(error, "create it", path, errno);
                g_free(temporary);
                return NULL;
        }
        close(fd);
        return temporary;
}

/* Gives up a file: removes the temporary one, unless that is path. */
static void temporary_remove(const char *temporary, const char *path)
{
        if (!strcmp(temporary, path))
                return;
        unlink(temporary);
        temporary_forget(temporary);
}

gboolean output_path_commit(const char *temporary, const char *path, GError **error)
{
        if (!strcmp(temporary, path))
                return TRUE;
        if (rename(temporary, path) == 0) {
                temporary_forget(temporary);
                return TRUE;
        }
        set_errno(error, "rename the finished file", path, errno);
        temporary_remove(temporary, path);
        return FALSE;
}

OutputFile *output_file_new(const char *path, gboolean in_place, GError **error)
{
        g_autoptr(OutputFile) out = g_new0(OutputFile, 1);

        out->fd = -1;
        if (!strcmp(path, "-")) {
                out->fd = STDOUT_FILENO;
                out->path = g_strdup("standard output");
                return g_steal_pointer(&out);
        }
        out->path = g_strdup(path);
        if (!in_place && replaceable(path)) {
                out->temporary = output_path_temporary(path, error);
                if (!out->temporary)
                        return NULL;
                out->fd = open(out->temporary, O_WRONLY | O_CLOEXEC);
        } else {
                out->fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
                out->made = out->fd >= 0;
                if (out->fd < 0 && errno == EEXIST)
                        out->fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
        }
        if (out->fd < 0) {
                set_errno(error, "open it for writing", path, errno);
                return NULL;
        }
        return g_steal_pointer(&out);
}

void output_file_give(OutputFile *out, uid_t user, gid_t group)
{
        /* One that was there may be a link to what is not to be given away. */
        if ((out->made || out->temporary) && fchown(out->fd, user, group) < 0)
                return; /* it can be written all the same */
}

static gboolean write_all(OutputFile *out, const char *data, gsize n, GError **error)
{
        while (n > 0) {
                gssize k = write(out->fd, data, n);

                if (k < 0 && errno == EINTR)
                        continue;
                if (k < 0) {
                        set_errno(error, "write", out->path, errno);
                        return FALSE;
                }
                data += k;
                n -= k;
        }
        return TRUE;
}

gboolean output_file_take(OutputFile *out, GString *text, GError **error)
{
        gboolean ok = output_file_write(out, text->str, text->len, error);

        g_string_truncate(text, 0);
        return ok;
}

gboolean output_file_flush(OutputFile *out, GError **error)
{
        gsize n = out->used;

        out->used = 0;
        return write_all(out, out->buffer, n, error);
}

gboolean output_file_write(OutputFile *out, const void *data, gsize n, GError **error)
{
        out->size += n;
        if (n > BUFFER - out->used) {
                if (!output_file_flush(out, error))
                        return FALSE;
                if (n > BUFFER)
                        return write_all(out, data, n, error);
        }
        memcpy(out->buffer + out->used, data, n);
        out->used += n;
        return TRUE;
}

guint64 output_file_size(const OutputFile *out)
{
        return out->size;
}

const char *output_file_name(const OutputFile *out)
{
        return out->path;
}

gboolean output_file_close(OutputFile *out, GError **error)
{
        gboolean ok = output_file_flush(out, error);
        /* Some file systems say only here that the disk is full. */
        int closed = out->fd == STDOUT_FILENO ? 0 : close(out->fd);

        if (out->fd != STDOUT_FILENO)
                out->fd = -1;
        if (ok && closed < 0) {
                set_errno(error, "write", out->path, errno);
                ok = FALSE;
        }
        if (ok && out->temporary) {
                ok = output_path_commit(out->temporary, out->path, error);
                g_clear_pointer(&out->temporary, g_free);
        }
        output_file_free(out);
        return ok;
}

gboolean output_file_put(const char *path, const GString *text, GError **error)
{
        g_autoptr(OutputFile) out = output_file_new(path, FALSE, error);

        return out && output_file_write(out, text->str, text->len, error) &&
               output_file_close(g_steal_pointer(&out), error);
}

void output_file_free(OutputFile *out)
{
        if (!out)
                return;
        if (out->fd >= 0 && out->fd != STDOUT_FILENO)
                close(out->fd);
        if (out->temporary)
                temporary_remove(out->temporary, out->path);
        g_free(out->temporary);
        g_free(out->path);
        g_free(out);
}
