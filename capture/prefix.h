/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The header of a proxy (network/proxy-header.h) before the first bytes of a connection. It is
 * taken from them before any protocol sees them, also where it comes in several segments.
 */
#pragma once

#include "capture/network/proxy-header.h"
#include "capture/network/sequencer.h"

/* length bytes of a side, of which n are at hand. */
typedef struct {
        guint32 seq; /* sequence number of the first */
        const guint8 *bytes;
        gsize n, length;
        Stamp stamp;
} PrefixSegment;

/* The first bytes of a side, which may be a header. */
typedef struct PrefixBytes PrefixBytes;

/* Of a connection; zero at its beginning. */
typedef struct {
        PrefixBytes *bytes; /* that wait; NULL: none */
        guint8 begun;       /* a bit a side: its bytes are no header any more */
} Prefix;

/* Where the bytes go, and what keeps the trace waiting meanwhile. */
typedef struct {
        /* Bytes of the side's own. Its answer is for others. */
        gboolean (*segment)(gpointer user, guint side, const PrefixSegment *segment);
        /* A header that has ends. */
        void (*caller)(gpointer user, guint side, const ProxyHeader *header, Stamp stamp);
        Sequencer *sequencer;
        OpenItem *item; /* open while bytes wait */
        gpointer user;
} PrefixSink;

/* Whether bytes of side still go through prefix_take(). */
static inline gboolean prefix_is_open(const Prefix *prefix, guint side)
{
        return !(prefix->begun & 1 << side);
}

/* The next bytes of side. client: FALSE where it cannot be a proxy's. */
void prefix_take(Prefix *prefix, guint side, gboolean client, PrefixSegment segment,
                 PrefixSink sink);

/* What waits is no header. */
void prefix_release(Prefix *prefix, PrefixSink sink);

/* Bytes of side are missing, and what comes after them is no header. */
void prefix_miss(Prefix *prefix, guint side, PrefixSink sink);

/* Frees what waits, as at a beginning. */
void prefix_clear(Prefix *prefix);

/* Narrows a datagram, n bytes of length, to what follows its header (version 2), if it has one. */
void prefix_skip_datagram(const guint8 **bytes, gsize *n, gsize *length);
