/* SPDX-License-Identifier: BSD-2-Clause */
#include "write/drawer.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "base/helper.h"

struct Drawer {
        GPid child; /* 0: not started */
        int to, from;
};

static Drawer early; /* of drawer_start_early(), until the first drawing takes it */

Drawer *drawer_new(void)
{
        Drawer *d = g_new0(Drawer, 1);

        d->to = d->from = -1;
        return d;
}

/* Closes the pipes, at which the child ends, and waits for that. FALSE: there is none, or nobody
 * can say how it ended. */
static gboolean drawer_end(Drawer *d, int *status)
{
        pid_t ended;

        if (d->to >= 0)
                close(d->to);
        if (d->from >= 0)
                close(d->from);
        d->to = d->from = -1;
        if (!d->child)
                return FALSE;
        do
                ended = waitpid(d->child, status, 0);
        while (ended < 0 && errno == EINTR);
        ended = ended == d->child;
        d->child = 0;
        return ended;
}

void drawer_free(Drawer *d)
{
        int status;

        if (!d)
                return;
        drawer_end(d, &status);
        g_free(d);
}

/* With these flags GLib starts it by posix_spawn(), which copies none of our memory, however much
 * that is. */
static gboolean start(Drawer *d, GError **error)
{
        g_autofree char *path = helper_find("ravel-draw", error);
        char *argv[] = { path, NULL };
        GSpawnFlags flags =
                G_SPAWN_LEAVE_DESCRIPTORS_OPEN | G_SPAWN_DO_NOT_REAP_CHILD | G_SPAWN_CLOEXEC_PIPES;
        g_autoptr(GError) why = NULL;

        if (!path)
                return FALSE;
        if (g_spawn_async_with_pipes(NULL, argv, NULL, flags, NULL, NULL, &d->child, &d->to,
                                     &d->from, NULL, &why)) {
                /* So that a write never waits for a child that itself waits to write. */
                fcntl(d->to, F_SETFL, O_NONBLOCK);
                return TRUE;
        }
        return ravel_fail(error, RAVEL_ERROR_OUTPUT, "cannot start %s: %s", path, why->message);
}

GPid drawer_start_early(void)
{
        if (!early.child)
                start(&early, NULL);
        return early.child;
}

/* Ends the child, which is no good any more, and says in error what was wrong with it. */
static void drawer_fail(Drawer *d, GError **error)
{
        int status = 0;

        /* It may be in the middle of something, or hang. */
        kill(d->child, SIGTERM);
        if (drawer_end(d, &status) && WIFSIGNALED(status) && WTERMSIG(status) != SIGTERM)
                g_set_error(error, RAVEL_ERROR, RAVEL_ERROR_OUTPUT,
                            "ravel-draw ended before it had drawn: %s",
                            g_strsignal(WTERMSIG(status)));
        else if (WIFEXITED(status))
                g_set_error(error, RAVEL_ERROR, RAVEL_ERROR_OUTPUT,
                            "ravel-draw ended before it had drawn, with status %d",
                            WEXITSTATUS(status));
        else
                g_set_error(error, RAVEL_ERROR, RAVEL_ERROR_OUTPUT,
                            "ravel-draw answered nonsense: expected that of this version of ravel");
}

static gboolean send_bytes(Drawer *d, const guint8 *data, gsize n)
{
        while (n > 0) {
                struct pollfd fds[] = { { d->to, POLLOUT, 0 }, { d->from, POLLIN, 0 } };
                gssize sent;

                if (poll(fds, 2, -1) < 0 && errno != EINTR)
                        return FALSE;
                if (fds[1].revents) /* an answer to what was not asked yet, or the end */
                        return FALSE;
                sent = fds[0].revents ? write(d->to, data, n) : 0;
                if (sent < 0 && errno != EINTR && errno != EAGAIN)
                        return FALSE;
                data += MAX(sent, 0);
                n -= (gsize)MAX(sent, 0);
        }
        return TRUE;
}

static gboolean receive_bytes(Drawer *d, void *to, gsize n)
{
        for (guint8 *data = to; n > 0;) {
                gssize received = read(d->from, data, n);

                if (received == 0 || (received < 0 && errno != EINTR))
                        return FALSE;
                data += MAX(received, 0);
                n -= (gsize)MAX(received, 0);
        }
        return TRUE;
}

/* The bytes of an answer. The memory for them grows as they come: not as they are announced. */
static char *receive_answer(Drawer *d, const DrawFrame *frame)
{
        enum { CHUNK = 1 << 20 };
        g_autoptr(GByteArray) bytes = g_byte_array_new();

        if (frame->n > G_MAXINT32)
                return NULL;
        while (bytes->len < frame->n) {
                guint old = bytes->len, n = (guint)MIN(frame->n - old, CHUNK);

                g_byte_array_set_size(bytes, old + n);
                if (!receive_bytes(d, bytes->data + old, n))
                        return NULL;
        }
        g_byte_array_append(bytes, (const guint8 *)"", 1);
        return (char *)g_byte_array_free(g_steal_pointer(&bytes), FALSE);
}

char *drawer_draw(Drawer *d, const Drawing *drawing, DrawKind what, gsize *n, GError **error)
{
        DrawFrame frame = { DRAW_MAGIC, what, drawing->steps->len };
        g_autofree char *answer = NULL;

        if (!d->child && early.child) {
                *d = early;
                early.child = 0;
        }
        if (!d->child && !start(d, error))
                return NULL;
        if (!send_bytes(d, (const guint8 *)&frame, sizeof frame) ||
            !send_bytes(d, drawing->steps->data, drawing->steps->len) ||
            !receive_bytes(d, &frame, sizeof frame) || frame.magic != DRAW_MAGIC ||
            frame.what > DRAW_FAILED || !(answer = receive_answer(d, &frame))) {
                drawer_fail(d, error);
                return NULL;
        }
        *n = (gsize)frame.n;
        if (frame.what == DRAW_DONE)
                return g_steal_pointer(&answer);
        g_set_error_literal(error, RAVEL_ERROR, RAVEL_ERROR_OUTPUT, answer);
        return NULL;
}
