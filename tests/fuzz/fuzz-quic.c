/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Datagrams of a connection of QUIC, each after two bytes: the side, in the highest bit, and its
 * length. The secrets of any connection are known. All memory must come back.
 */
#include <string.h>

#include "capture/quic/quic.h"

int LLVMFuzzerTestOneInput(const guint8 *data, gsize n);

static void take_hello(G_GNUC_UNUSED gpointer user, guint client, G_GNUC_UNUSED const guint8 *bytes,
                       gsize n)
{
        g_assert(client == 0 && n >= 2);
}

static void take_opened(gpointer user, guint client)
{
        gboolean *opened = user;
        g_assert(client == 0 && !*opened);
        *opened = TRUE;
}

static void take_frames(gpointer user, guint side, const guint8 *bytes, gsize n, gsize length,
                        G_GNUC_UNUSED Stamp stamp)
{
        gboolean *opened = user;
        g_assert(*opened && side < 2 && n <= length && (n == 0 || bytes));
}

static void take_id(G_GNUC_UNUSED gpointer user, const QuicId *id)
{
        g_assert(id->n > 0 && id->n <= QUIC_MAX_ID);
}

static void take_closed(gpointer user, guint side, G_GNUC_UNUSED gboolean in_order,
                        G_GNUC_UNUSED Stamp stamp)
{
        gboolean *opened = user;
        g_assert(*opened && side < 2);
}

int LLVMFuzzerTestOneInput(const guint8 *data, gsize n)
{
        gboolean opened = FALSE;
        g_autoptr(KeyLog) keys = key_log_new();
        QuicOpening opening = { .keys = keys, .most = 100000 };
        QuicSink sink = { take_hello, take_opened, { take_frames, &opened }, take_id, take_closed };
        Quic *q = quic_new(&opening, 0);
        gint64 since;
        for (guint i = 0; n > 2; i++) {
                guint head = read_u16(data);
                gsize length = MIN(head & 0x7fff, n - 2);
                g_autofree guint8 *copy = g_memdup2(data + 2, length);
                quic_add(q, head >> 15, copy, length, (Stamp){ i, i }, &sink);
                quic_waits_since(q, &since);
                data += 2 + length;
                n -= 2 + length;
        }
        quic_settle(q, &sink);
        g_assert(!quic_waits_since(q, &since));
        quic_free(q);
        g_assert(opening.held == 0);
        g_free(opening.plain);
        return 0;
}
