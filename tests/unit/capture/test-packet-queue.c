/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Against an array of the same packets: what goes in comes out, in order.
 */
#include "capture/source/packet-queue.h"

#include <string.h>

enum { PACKETS = 20000, MAX_BYTES = 3000, SIZE = 4 << 20 };

static guint8 byte_at(guint packet, gsize i)
{
        return (guint8)(packet * 7 + i);
}

static gsize length_of(guint packet)
{
        return packet % 100 == 99 ? 3 << 20 : (packet * 2654435761u >> 7) % MAX_BYTES;
}

static void add(PacketQueue *q, guint number)
{
        gsize n = length_of(number);
        g_autofree guint8 *bytes = n ? g_malloc(n) : NULL;
        for (gsize i = 0; i < n; i++)
                bytes[i] = byte_at(number, i);
        packet_queue_add(q, &(Packet){ .bytes = bytes,
                                       .captured = n,
                                       .length = n + 1,
                                       .link_type = (int)number,
                                       .time = -1 - (gint64)number });
}

static void check_next(PacketQueue *q, guint number)
{
        Packet packet;
        g_assert_true(packet_queue_next(q, &packet));
        g_assert_cmpint(packet.link_type, ==, number);
        g_assert_cmpint(packet.time, ==, -1 - (gint64)number);
        g_assert_cmpuint(packet.captured, ==, length_of(number));
        g_assert_cmpuint(packet.length, ==, length_of(number) + 1);
        for (gsize i = 0; i < packet.captured; i++)
                if (packet.bytes[i] != byte_at(number, i))
                        g_error("packet %u: byte %" G_GSIZE_FORMAT, number, i);
}

/* Few wait, and then as many as there is room for. */
static void test_order(void)
{
        PacketQueue *q = packet_queue_new(SIZE);
        guint added = 0, taken = 0;
        Packet packet;
        while (taken < PACKETS) {
                guint n = added % 3000 < 1500 ? 1 + added % 5 : PACKETS;
                for (; n > 0 && added < PACKETS && !packet_queue_is_full(q); n--)
                        add(q, added++);
                for (n = 1 + taken % 7; n > 0 && taken < added; n--)
                        check_next(q, taken++);
        }
        g_assert_false(packet_queue_next(q, &packet));
        packet_queue_free(q);
}

static void test_full(void)
{
        PacketQueue *q = packet_queue_new(SIZE);
        Packet packet;
        gsize bytes = 0;
        guint n = 0;
        for (; !packet_queue_is_full(q); n++) {
                add(q, n);
                bytes += length_of(n);
                g_assert_cmpuint(bytes, <, 2 * SIZE);
        }
        g_assert_cmpuint(bytes, >, SIZE / 2);
        while (packet_queue_next(q, &packet))
                n--;
        g_assert_cmpuint(n, ==, 0);
        g_assert_false(packet_queue_is_full(q));
        add(q, 0);
        packet_queue_free(q); /* with one that waits */
        packet_queue_free(NULL);
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/packet-queue/order", test_order);
        g_test_add_func("/packet-queue/full", test_full);
        return g_test_run();
}
