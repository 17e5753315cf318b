/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/recent-datagrams.h"

#include "base/hash.h"
#include "capture/packet/packet.h"

static guint64 datagram_hash(guint64 seed, guint side, const guint8 *bytes, gsize n, gsize length)
{
        guint64 h = hash_word(hash_word(seed, side), length);
        for (; n >= 8; bytes += 8, n -= 8)
                h = hash_word(h, read_u64(bytes));
        for (; n > 0; bytes++, n--)
                h = hash_word(h, *bytes);
        return h;
}

gboolean recent_datagrams_has(RecentDatagrams *recent, guint64 seed, guint side,
                              const guint8 *bytes, gsize n, gsize length, gint64 time)
{
        guint64 hash = datagram_hash(seed, side, bytes, n, length);
        for (guint i = 0; i < RECENT_DATAGRAMS; i++) {
                const RecentDatagram *d = &recent->ring[i];
                if (d->hash == hash && ABS(time - d->time) < COPY_TIME)
                        return TRUE;
        }
        recent->ring[recent->n++ % RECENT_DATAGRAMS] = (RecentDatagram){ hash, time };
        return FALSE;
}
