/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/source/packet-relay.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/error.h"

enum { PATIENCE = 100 }; /* ms until it looks again */

struct PacketRelay {
        GThread *thread;
        RelayTake take;
        gpointer user;
        const int *fds; /* borrowed */
        guint n_fds;
        struct pollfd *polled; /* the thread's: fds, and stop_fd */
        int stop_fd, arrived_fd;
        atomic_bool stopped;

        GMutex lock;           /* of these four */
        PacketQueue *arriving; /* the thread adds */
        GCond room;            /* arriving is not full any more, or it is stopped */
        gboolean over;
        gint64 quiet; /* us; when take was last called that left nothing behind */

        PacketQueue *waiting; /* the user takes; when it is empty the two are exchanged */
};

static void notify(int fd)
{
        const guint64 one = 1;
        gssize written = write(fd, &one, sizeof one);
        (void)written; /* full, then: whoever reads it will wake up anyway */
}

/* --- the thread ------------------------------------------------------------ */

static RelayStatus take_some(PacketRelay *r)
{
        RelayStatus status = RELAY_OVER;
        g_mutex_lock(&r->lock);
        while (packet_queue_is_full(r->arriving) && !r->stopped)
                g_cond_wait(&r->room, &r->lock);
        if (!r->stopped) {
                gboolean was_empty = packet_queue_is_empty(r->arriving);
                gint64 before = g_get_monotonic_time();
                status = r->take(r->user, r->arriving);
                if (status == RELAY_NONE)
                        r->quiet = before;
                r->over = status == RELAY_OVER;
                if (r->over || (was_empty && !packet_queue_is_empty(r->arriving)))
                        notify(r->arrived_fd);
        }
        g_mutex_unlock(&r->lock);
        return status;
}

static void wait_some(PacketRelay *r)
{
        for (guint i = 0; i <= r->n_fds; i++)
                r->polled[i] = (struct pollfd){ .fd = i < r->n_fds ? r->fds[i] : r->stop_fd,
                                                .events = POLLIN };
        poll(r->polled, r->n_fds + 1, PATIENCE);
}

static gpointer take_all(gpointer user)
{
        PacketRelay *r = user;
        RelayStatus status = RELAY_NONE;
        while (status != RELAY_OVER) {
                if (status == RELAY_NONE)
                        wait_some(r);
                status = take_some(r);
        }
        return NULL;
}

/* --- from outside ---------------------------------------------------------- */

PacketRelay *packet_relay_new(const int *fds, guint n, gsize size, RelayTake take, gpointer user,
                              GError **error)
{
        PacketRelay *r = g_new0(PacketRelay, 1);
        sigset_t all, before;
        r->take = take;
        r->user = user;
        r->stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
        r->arrived_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
        r->fds = fds;
        r->n_fds = n;
        r->polled = g_new0(struct pollfd, n + 1);
        g_mutex_init(&r->lock);
        g_cond_init(&r->room);
        r->arriving = packet_queue_new(size / 2);
        r->waiting = packet_queue_new(size / 2);
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, &before);
        if (r->stop_fd >= 0 && r->arrived_fd >= 0)
                r->thread = g_thread_try_new("packets", take_all, r, NULL);
        pthread_sigmask(SIG_SETMASK, &before, NULL);
        if (r->thread)
                return r;
        g_set_error(error, RAVEL_ERROR, RAVEL_ERROR_INPUT,
                    "cannot start the thread that takes packets from the kernel");
        packet_relay_free(r);
        return NULL;
}

/* The thread ends, if it has not yet. */
static void packet_relay_join(PacketRelay *r)
{
        if (!r->thread)
                return;
        packet_relay_stop(r);
        g_mutex_lock(&r->lock);
        g_cond_signal(&r->room);
        g_mutex_unlock(&r->lock);
        g_thread_join(g_steal_pointer(&r->thread));
}

void packet_relay_free(PacketRelay *r)
{
        if (!r)
                return;
        packet_relay_join(r);
        if (r->stop_fd >= 0)
                close(r->stop_fd);
        if (r->arrived_fd >= 0)
                close(r->arrived_fd);
        packet_queue_free(r->arriving);
        packet_queue_free(r->waiting);
        g_mutex_clear(&r->lock);
        g_cond_clear(&r->room);
        g_free(r->polled);
        g_free(r);
}

int packet_relay_fd(const PacketRelay *r)
{
        return r->arrived_fd;
}

/* Exchanges the queues, of which the user's is empty. Whether it is over. */
static gboolean exchange(PacketRelay *r)
{
        guint64 n;
        gssize got = read(r->arrived_fd, &n, sizeof n); /* before looking: nothing is missed */
        (void)got;
        g_mutex_lock(&r->lock);
        PacketQueue *empty = r->waiting;
        r->waiting = r->arriving;
        r->arriving = empty;
        gboolean over = r->over || r->stopped;
        g_cond_signal(&r->room);
        g_mutex_unlock(&r->lock);
        return over;
}

gint64 packet_relay_quiet(PacketRelay *r)
{
        g_mutex_lock(&r->lock);
        gint64 quiet = packet_queue_is_empty(r->arriving) ? r->quiet : 0;
        g_mutex_unlock(&r->lock);
        return quiet;
}

RelayStatus packet_relay_next(PacketRelay *r, Packet *packet)
{
        while (!packet_queue_next(r->waiting, packet)) {
                if (r->stopped)
                        packet_relay_join(r);
                gboolean over = exchange(r);
                if (packet_queue_is_empty(r->waiting))
                        return over ? RELAY_OVER : RELAY_NONE;
        }
        return RELAY_MORE;
}

void packet_relay_stop(PacketRelay *r)
{
        r->stopped = TRUE;
        notify(r->stop_fd);
}

void packet_relay_lock(PacketRelay *r)
{
        g_mutex_lock(&r->lock);
}

void packet_relay_unlock(PacketRelay *r)
{
        g_mutex_unlock(&r->lock);
}
