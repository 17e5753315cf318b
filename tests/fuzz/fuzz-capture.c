/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The whole way of a packet. The input: a byte for the link type, then records. A record has two
 * bytes of length, one of bytes cut off, one of time since the last packet (in units that grow
 * fast), and the frame.
 */
#include <string.h>

#include "capture/capture.h"
#include "capture/network/link-layer.h"

int LLVMFuzzerTestOneInput(const guint8 *data, gsize n);

static void take_messages(Capture *capture)
{
        Message message;
        while (capture_next(capture, &message)) {
                g_assert(message.time >= 0);
                g_assert(message.sender != NO_NODE && message.receiver != NO_NODE);
        }
}

int LLVMFuzzerTestOneInput(const guint8 *data, gsize n)
{
        static const int link_types[] = { LINK_ETHERNET, LINK_RAW, LINK_LINUX_SLL, LINK_LINUX_SLL2,
                                          LINK_NULL,     LINK_PPP, LINK_NFLOG,     LINK_LOOP };
        CaptureOptions options = { .patience = CAPTURE_PATIENCE,
                                   .disorder = CAPTURE_DISORDER,
                                   .labels = LABELS_WORDS };
        static const guint8 secret[LEAST_SECRET] = { 1 };
        Identifiers *identifiers = NULL;
        g_autoptr(NodeTable) nodes = node_table_new();
        g_autoptr(NodeNames) names = node_names_new(nodes);
        Cursor c = cursor(data, n);
        guint8 choice, cut, delay;
        guint16 length;
        gint64 time = 1000000000;
        if (!cursor_u8(&c, &choice))
                return 0;
        if (choice & 0x80)
                options.identifiers = identifiers = identifiers_new(
                        secret, sizeof secret, choice & 0x40 ? "@[0-9.]+@" : NULL, NULL);
        Capture *capture = capture_new(&options, nodes, names);
        while (cursor_u16(&c, &length) && cursor_u8(&c, &cut) && cursor_u8(&c, &delay)) {
                gsize captured = MIN(length, cursor_left(&c));
                Packet packet = { .captured = captured,
                                  .length = captured + cut,
                                  .link_type = link_types[choice % G_N_ELEMENTS(link_types)] };
                /* A copy of just its size, so that reading past it is seen. */
                g_autofree guint8 *bytes = g_memdup2(cursor_take(&c, captured), captured);
                packet.bytes = bytes ? bytes : data;
                time += (delay & 0x80 ? -1 : 1) * (G_GINT64_CONSTANT(1) << (delay & 0x3f) % 38);
                packet.time = time = MAX(time, 0);
                capture_add(capture, &packet);
                take_messages(capture);
        }
        capture_finish(capture);
        take_messages(capture);
        capture_free(capture);
        identifiers_free(identifiers);
        return 0;
}
