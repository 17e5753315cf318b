/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The choice of a connection's protocol, and taking it back. The input: a byte, whose lowest bit
 * says whether the start was seen, and the others which protocol --proto names; then segments. A
 * segment has a byte (its side, whether ten seconds pass before it, its length, of which 63 means
 * that two bytes of length follow), and bytes.
 *
 * Messages come in order of time, and at the end nothing is left.
 */
#include <string.h>

#include "capture/exchange.h"
#include "capture/links.h"
#include "capture/settling.h"
#include "capture/streams.h"

int LLVMFuzzerTestOneInput(const guint8 *data, gsize n);

#define SECOND G_GINT64_CONSTANT(1000000000)

typedef struct {
        Account account;
        CaptureMemory memory;
        CaptureContext context;
        Exchange exchange;
        gint64 last;
} Talk;

static void take_messages(Talk *t, gint64 now)
{
        CapturedMessage m;
        while (sequencer_next(t->context.sequencer, now, &m)) {
                g_assert_cmpint(m.stamp.time, >=, t->last);
                t->last = m.stamp.time;
                captured_message_clear(&m);
        }
}

static void settle(Talk *t, Stamp now)
{
        Pairing *p = &t->exchange.pairing;
        OpenItem *item;
        while ((item = sequencer_overdue(t->context.sequencer, now.time))) {
                if (item == &p->trial_item)
                        exchange_end_trial(&t->exchange, &t->context);
                else if (item->kind == ITEM_UNACKED)
                        sequencer_close(item);
                else if (item->kind == ITEM_STREAM)
                        streams_settle(item, &t->context);
                else
                        exchange_settle(&t->exchange, item == &p->message[1].item, now,
                                        &t->context);
        }
}

static void converse(Talk *t, Cursor *c)
{
        Stamp now = { SECOND, 0 };
        guint32 next[2] = { 1, 1000000 };
        guint8 segment;
        while (cursor_u8(c, &segment)) {
                guint side = segment >> 7;
                guint16 length = segment & 63;
                if (length == 63 && !cursor_u16(c, &length))
                        break;
                length = (guint16)MIN(length, cursor_left(c));
                if (length == 0)
                        continue;
                now.time += segment & 64 ? 10 * SECOND : SECOND / 1000;
                now.packet++;
                settle(t, now);
                g_autofree guint8 *bytes = g_memdup2(cursor_take(c, length), length);
                pairing_see_payload(&t->exchange.pairing, side, length);
                exchange_bytes(&t->exchange, side, next[side], bytes, length, length, now,
                               &t->context);
                next[side] += length;
        }
        for (guint side = 0; side < 2; side++)
                exchange_end(&t->exchange, side, ENDING_CLOSED, now, &t->context);
        exchange_clear(&t->exchange, now, &t->context);
}

int LLVMFuzzerTestOneInput(const guint8 *data, gsize n)
{
        static const NodeId node[2] = { 0, 1 };
        static const guint16 port[2] = { 40000, 80 };
        Talk t = { 0 };
        Cursor c = cursor(data, n);
        const Protocol *named = NULL;
        guint8 choice;
        if (!cursor_u8(&c, &choice))
                return 0;
        for (guint i = 0; protocols[i]; i++)
                if (i + 1 == choice >> 1 && !protocols[i]->datagrams)
                        named = protocols[i];
        t.context = (CaptureContext){ .sequencer = sequencer_new(5 * SECOND, 0),
                                      .account = &t.account,
                                      .streams = stream_pool_new(262144),
                                      .memory = &t.memory,
                                      .label = g_string_new(NULL),
                                      .numbers = connection_numbers_new(),
                                      .links = link_table_new(1 << 20),
                                      .settling = settling_new(1 << 20) };
        exchange_init(&t.exchange, named, 0, choice & 1, node, port);
        t.exchange.pairing.message[0].item.kind = ITEM_MESSAGE_0;
        t.exchange.pairing.message[1].item.kind = ITEM_MESSAGE_1;
        converse(&t, &c);
        sequencer_start_anew(t.context.sequencer);
        take_messages(&t, G_MAXINT64);
        g_assert_cmpuint(t.memory.buffers, ==, 0);
        g_assert_cmpuint(t.memory.calls, ==, 0);
        g_assert_cmpuint(t.memory.trials, ==, 0);
        g_assert_null(t.exchange.pairing.trial);
        settling_free(t.context.settling);
        link_table_free(t.context.links);
        connection_numbers_free(t.context.numbers);
        g_string_free(t.context.label, TRUE);
        piece_memory_clear(&t.memory.pieces);
        stream_pool_free(t.context.streams);
        sequencer_free(t.context.sequencer);
        return 0;
}
