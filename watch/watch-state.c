/* SPDX-License-Identifier: BSD-2-Clause */
#include "watch/watch-state.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/error.h"

enum { SECONDS = 4096 }; /* more than a request is open */

#define SECOND G_GINT64_CONSTANT(1000000000)

static const char MAGIC[16] = "ravel watch 1\n";

/* The file: numbers in this machine's byte order. */
typedef struct {
        char magic[16];
        gint64 closed;
        struct {
                gint64 second; /* since the epoch */
                guint64 requests;
        } begun[SECONDS]; /* by second, modulo */
} Kept;

struct WatchState {
        Kept *kept;
        int fd; /* -1: in memory */
};

static gint64 second_of(gint64 time)
{
        return time / SECOND - (time % SECOND < 0);
}

/* Whole, because a page of a mapped file needs room on the disk before it is written. */
static gboolean make_kept(int fd)
{
        g_autofree Kept *kept = g_new0(Kept, 1);

        memcpy(kept->magic, MAGIC, sizeof MAGIC);
        kept->closed = G_MININT64;
        return ftruncate(fd, 0) == 0 && pwrite(fd, kept, sizeof *kept, 0) == sizeof *kept;
}

static gboolean is_kept(int fd)
{
        char magic[sizeof MAGIC];

        return lseek(fd, 0, SEEK_END) == sizeof(Kept) &&
               pread(fd, magic, sizeof magic, 0) == sizeof magic &&
               !memcmp(magic, MAGIC, sizeof magic);
}

static gboolean map_kept(WatchState *s, const char *path, GError **error)
{
        /* Children do not hold it. */
        struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };

        if (fcntl(s->fd, F_SETLK, &lock) < 0)
                return ravel_fail(error, RAVEL_ERROR_USAGE, "%s: another ravel watch uses it",
                                  path);
        if (!is_kept(s->fd) && !make_kept(s->fd))
                return ravel_fail(error, RAVEL_ERROR_OUTPUT, "%s: cannot write: %s", path,
                                  g_strerror(errno));
        s->kept = mmap(NULL, sizeof *s->kept, PROT_READ | PROT_WRITE, MAP_SHARED, s->fd, 0);
        if (s->kept != MAP_FAILED)
                return TRUE;
        s->kept = NULL;
        return ravel_fail(error, RAVEL_ERROR_OUTPUT, "%s: cannot map: %s", path, g_strerror(errno));
}

WatchState *watch_state_new(const char *dir, GError **error)
{
        g_autoptr(WatchState) s = g_new0(WatchState, 1);
        g_autofree char *path = dir ? g_build_filename(dir, "state", NULL) : NULL;

        s->fd = -1;
        if (!dir) {
                s->kept = g_new0(Kept, 1);
                s->kept->closed = G_MININT64;
                return g_steal_pointer(&s);
        }
        s->fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
        if (s->fd < 0) {
                ravel_fail(error, RAVEL_ERROR_OUTPUT, "%s: cannot open: %s", path,
                           g_strerror(errno));
                return NULL;
        }
        return map_kept(s, path, error) ? g_steal_pointer(&s) : NULL;
}

void watch_state_free(WatchState *s)
{
        if (!s)
                return;
        if (s->fd < 0)
                g_free(s->kept);
        else if (s->kept)
                munmap(s->kept, sizeof *s->kept);
        if (s->fd >= 0)
                close(s->fd);
        g_free(s);
}

gint64 watch_state_closed(const WatchState *s)
{
        return s->kept->closed;
}

guint64 watch_state_open(const WatchState *s)
{
        gint64 from = second_of(s->kept->closed);
        guint64 n = 0;

        for (guint i = 0; i < SECONDS; i++)
                if (s->kept->begun[i].second >= from)
                        n += s->kept->begun[i].requests;
        return n;
}

void watch_state_forget(WatchState *s)
{
        memset(s->kept->begun, 0, sizeof s->kept->begun);
}

void watch_state_add(WatchState *s, gint64 time)
{
        gint64 second = second_of(time);
        guint place = (guint)((guint64)second % SECONDS);

        if (time < s->kept->closed)
                return;
        if (s->kept->begun[place].second != second) {
                s->kept->begun[place].requests = 0;
                s->kept->begun[place].second = second;
        }
        s->kept->begun[place].requests++;
}

void watch_state_close(WatchState *s, gint64 to)
{
        gint64 second = second_of(to);

        s->kept->closed = to;
        /* Windows begin at whole seconds, except where the input ended. */
        if (to % SECOND)
                s->kept->begun[(guint64)second % SECONDS].requests = 0;
}
