/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A connection, and the table of all known connections. It finds a connection by its two ends, and
 * lists connections by how long they have been silent. connection.c uses both.
 */
#pragma once

#include "capture/exchange-state.h"
#include "capture/network/ip.h"
#include "capture/network/node-names.h"
#include "capture/prefix.h"
#include "capture/quic/quic.h"
#include "capture/recent-datagrams.h"
#include "capture/server-set.h"
#include "capture/signs.h"

enum {
        MAX_OPENINGS = 4096, /* of which another form may be seen; a power of 2 */
};

typedef struct ConnectionTable ConnectionTable;

/* What a connection lacks of its first three packets, which go to and fro. Nobody who forges an
 * address sends the third. */
typedef enum {
        WHOLE_OPEN,
        ASKED_BY_0, /* side 0 has sent something, and the other nothing */
        ASKED_BY_1,
        ANSWERED_TO_0, /* side 1 has answered */
        ANSWERED_TO_1,
} HalfOpen;

/* What a connection of UDP is, as far as QUIC goes. */
typedef enum {
        QUIC_UNDECIDED,
        QUIC_NO_FLOW,
        QUIC_FLOW,
        QUIC_MOVED, /* of another connection, which has changed its addresses */
} QuicFlowKind;

typedef struct Connection Connection;
struct Connection {
        Connection *chain;                             /* in its bucket; or the next free one */
        Connection *older, *newer;                     /* in its list of silence */
        Connection *older_half_open, *newer_half_open; /* by age, while it is half open */
        Address address[2];                            /* the lower first, with its port */
        guint16 port[2];
        guint8 protocol;   /* IP_TCP or IP_UDP */
        guint8 patient;    /* on which list */
        guint8 payload;    /* a bit a side: it has sent some */
        guint8 evidence;   /* CallerEvidence */
        guint8 translated; /* another connection is the same, and counts */
        guint8 syn_seen;   /* it was the first segment */
        guint8 named;      /* by the other sides of translators, and for good */
        guint32 asked;     /* how many servers were known when there was none */
        gint64 seen;       /* in seconds */
        OpenItem held;     /* open while segments wait */
        TcpConnection tcp;
        RecentDatagrams recent;             /* UDP */
        guint64 opening;                    /* a hash of what translation leaves alike, or 0 */
        Stamp client_opened, server_opened; /* the SYN, where that end's address was seen */
        Exchange exchange;
        Signs signs;
        TlsOpener *opener; /* while it may be opened, or is; else NULL */
        OpenItem sealed;   /* open while what it has waits, or prefix */
        Prefix prefix;
        Quic *quic;          /* while it may be opened, or is; else NULL */
        QuicId moved;        /* an id of the other connection, */
        guint8 moved_side;   /* and the side there that is side 0 here */
        guint8 quic_kind;    /* QuicFlowKind */
        guint32 quic_seq[2]; /* of the next byte inside */
        guint8 greeted;      /* a hello was seen where keys were there */
        guint8 half_open;    /* HalfOpen */
};

typedef struct {
        Connection *oldest, *newest;
} SilenceList;

struct ConnectionTable {
        const CaptureContext *context;
        NodeNames *names;
        SignTable *signs;
        const Protocol *const *ports;
        Connection **buckets;
        gsize n_buckets, n, most;
        Connection *oldest_half_open, *newest_half_open;
        gsize n_half_open;
        Connection *free;
        SilenceList lists[2]; /* those soon to be forgotten, and the patient */
        TcpTotals totals;
        Connection *openings[MAX_OPENINGS]; /* by hash of their opening; may be gone since */
        GHashTable *quic_ids;  /* connections by the ids of QUIC; NULL before the first */
        guint32 quic_id_sizes; /* a bit for each size of these */
        guint64 seed;
        ServerSet *servers;
        gint64 expired;      /* when that was last done, in seconds */
        gboolean translates; /* names know of address translation */
};

/* Moves a connection, seen in this second, to the end of one of the two lists. */
void connection_move(ConnectionTable *t, Connection *c, gint64 seconds, guint8 patient);

/* A packet of the connection was seen in this second. */
static inline void connection_touch(ConnectionTable *t, Connection *c, gint64 seconds)
{
        guint8 patient = c->protocol == IP_TCP && !c->tcp.closed;
        if (c->seen != seconds || c->patient != patient)
                connection_move(t, c, seconds, patient);
}

/* A packet of side has come. */
void connection_hear_half_open(ConnectionTable *t, Connection *c, guint side);
static inline void connection_hear(ConnectionTable *t, Connection *c, guint side)
{
        if (G_UNLIKELY(c->half_open != WHOLE_OPEN))
                connection_hear_half_open(t, c, side);
}

/* What the two sides say begins, or begins anew: see exchange_init(). */
void connection_begin_exchange(Connection *c, const Protocol *protocol, guint client,
                               gboolean start_seen, const NodeId node[2], const guint16 port[2]);

/* Adds a connection without a conversation. address and port: of its ends, in
 * order. side sends its first packet. */
Connection *connection_insert(ConnectionTable *t, const Address address[2], const guint16 port[2],
                              guint8 protocol, guint side, gint64 seconds);

/* Takes a connection out of the table. Its memory will be used again. */
void connection_remove(ConnectionTable *t, Connection *c);

/* The connection of these two ends; NULL: it is new. address and port get its true ends in
 * order; side: which end is the source. */
Connection *connection_find(const ConnectionTable *t, const IpPacket *ip, guint16 source_port,
                            guint16 destination_port, gint64 time, Address address[2],
                            guint16 port[2], guint *side);
