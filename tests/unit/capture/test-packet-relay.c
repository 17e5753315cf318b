/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Packets made of what another thread writes into a pipe: all of them arrive, in order,
 * also where they come faster than they are used.
 */
#include "capture/source/packet-relay.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

enum { PACKETS = 20000, MAX_BYTES = 2000, SIZE = 4 << 20, SOME = 50 };

typedef struct {
        int fd[2];
        guint taken; /* by the relay's thread */
} Pipe;

/* A packet for each byte in the pipe. */
static RelayStatus take(gpointer user, PacketQueue *queue)
{
        static const guint8 payload[MAX_BYTES];
        Pipe *p = user;
        guint8 bytes[SOME];
        gssize n = read(p->fd[0], bytes, sizeof bytes);
        if (n <= 0)
                return n < 0 && errno == EAGAIN ? RELAY_NONE : RELAY_OVER;
        for (gssize i = 0; i < n; i++, p->taken++) {
                g_assert_cmpuint(bytes[i], ==, p->taken % 251);
                packet_queue_add(queue, &(Packet){ .bytes = payload,
                                                   .captured = p->taken % MAX_BYTES,
                                                   .time = p->taken });
        }
        return RELAY_MORE;
}

static gpointer write_all(gpointer user)
{
        const Pipe *p = user;
        for (guint i = 0; i < PACKETS; i++) {
                guint8 byte = (guint8)(i % 251);
                g_assert_cmpint(write(p->fd[1], &byte, 1), ==, 1);
                if (i % 5000 == 0)
                        g_usleep(20000);
        }
        close(p->fd[1]);
        return NULL;
}

static PacketRelay *relay_of(Pipe *p, GThread **writer)
{
        p->taken = 0;
        g_assert_cmpint(pipe(p->fd), ==, 0);
        g_assert_cmpint(fcntl(p->fd[0], F_SETFL, O_NONBLOCK), ==, 0);
        PacketRelay *relay = packet_relay_new(p->fd, 1, SIZE, take, p, NULL);
        g_assert_nonnull(relay);
        *writer = g_thread_new("writer", write_all, p);
        return relay;
}

/* The next packet is that number, or it is over: FALSE. */
static gboolean wait_for_packet(PacketRelay *relay, guint number)
{
        Packet packet;
        RelayStatus status;
        while ((status = packet_relay_next(relay, &packet)) == RELAY_NONE) {
                struct pollfd fd = { .fd = packet_relay_fd(relay), .events = POLLIN };
                g_assert_cmpint(poll(&fd, 1, 10000), ==, 1);
        }
        if (status == RELAY_OVER)
                return FALSE;
        g_assert_cmpint(packet.time, ==, number);
        g_assert_cmpuint(packet.captured, ==, number % MAX_BYTES);
        return TRUE;
}

static void test_all(void)
{
        Pipe p;
        GThread *writer;
        PacketRelay *relay = relay_of(&p, &writer);
        guint n = 0;
        g_usleep(100000); /* meanwhile it is full */
        packet_relay_lock(relay);
        g_assert_cmpuint(p.taken, >, SOME);
        g_assert_cmpuint(p.taken, <, PACKETS / 2);
        packet_relay_unlock(relay);
        for (; wait_for_packet(relay, n); n++)
                if (n % 3000 == 0)
                        g_usleep(5000);
        g_assert_cmpuint(n, ==, PACKETS);
        g_thread_join(writer);
        packet_relay_free(relay);
        close(p.fd[0]);
}

/* When there was surely nothing left: not while packets wait, and not by the time that passed
 * since, in which this process may have stood still. */
static void test_quiet(void)
{
        Pipe p = { .taken = 0 };
        Packet packet;
        guint8 byte = 0;
        gint64 before = g_get_monotonic_time();
        g_assert_cmpint(pipe(p.fd), ==, 0);
        g_assert_cmpint(fcntl(p.fd[0], F_SETFL, O_NONBLOCK), ==, 0);
        PacketRelay *relay = packet_relay_new(p.fd, 1, SIZE, take, &p, NULL);
        g_assert_nonnull(relay);
        for (guint turn = 0; packet_relay_quiet(relay) < before && turn < 10000; turn++)
                g_usleep(1000);
        gint64 first = packet_relay_quiet(relay);
        g_assert_cmpint(first, >=, before);
        g_assert_cmpint(first, <=, g_get_monotonic_time());
        for (guint turn = 0; packet_relay_quiet(relay) == first && turn < 10000; turn++)
                g_usleep(1000);
        g_assert_cmpint(packet_relay_quiet(relay), >, first); /* it looks again */
        packet_relay_lock(relay);                             /* from here on it cannot */
        gint64 locked = g_get_monotonic_time();
        g_usleep(300000);
        packet_relay_unlock(relay);
        g_assert_cmpint(write(p.fd[1], &byte, 1), ==, 1);
        while (packet_relay_quiet(relay) != 0)
                g_assert_cmpint(packet_relay_quiet(relay), <=, locked + 300000000);
        g_assert_cmpint(packet_relay_next(relay, &packet), ==, RELAY_MORE);
        packet_relay_free(relay);
        close(p.fd[0]);
        close(p.fd[1]);
}

/* What was taken is handed out, and no more; also where the thread waits for room. */
static void test_stop(void)
{
        for (guint first = 0; first < 2000; first += 100) {
                Pipe p;
                GThread *writer;
                PacketRelay *relay = relay_of(&p, &writer);
                guint n = 0;
                Packet packet;
                while (n < first)
                        g_assert_true(wait_for_packet(relay, n++));
                packet_relay_stop(relay);
                while (wait_for_packet(relay, n))
                        n++;
                g_assert_cmpuint(n, ==, p.taken);
                g_assert_cmpint(packet_relay_next(relay, &packet), ==, RELAY_OVER);
                packet_relay_free(relay);
                for (guint8 rest[1000]; n < PACKETS;) { /* the writer may go home */
                        gssize got = read(p.fd[0], rest, sizeof rest);
                        n += got > 0 ? (guint)got : 0;
                }
                g_thread_join(writer);
                close(p.fd[0]);
        }
        packet_relay_free(NULL);
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/packet-relay/quiet", test_quiet);
        g_test_add_func("/packet-relay/all", test_all);
        g_test_add_func("/packet-relay/stop", test_stop);
        return g_test_run();
}
