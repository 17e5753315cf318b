/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The last datagrams of a conversation, among which a copy is looked for: one that was captured at
 * several points.
 */
#pragma once

#include <glib.h>

/* ns within which the copies of a packet come that is captured at several points. Whoever sends the
 * same again on purpose waits for longer. */
#define COPY_TIME G_GINT64_CONSTANT(1000000)

enum { RECENT_DATAGRAMS = 4 };

typedef struct {
        guint64 hash; /* of side, length and bytes */
        gint64 time;  /* when it was seen first */
} RecentDatagram;

/* Zeros: none. */
typedef struct {
        RecentDatagram ring[RECENT_DATAGRAMS];
        guint8 n; /* how many were put into it, wrapping */
} RecentDatagrams;

/* Whether the datagram was just captured at another point; remembers it if not. n bytes, of length
 * on the wire. seed: of the hash. */
gboolean recent_datagrams_has(RecentDatagrams *recent, guint64 seed, guint side,
                              const guint8 *bytes, gsize n, gsize length, gint64 time);
