/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Signs that the calls of a connection are not what they look like, though no byte was lost. A
 * run is a call only where who calls waits for the answer, and these say that it does not:
 *
 * - one side begins to talk before it has all that the other has said: the segment does not
 *   acknowledge it. Who answers, or goes on after an answer, has read it;
 * - the client goes on long after it was silent, and after the server acknowledged what it sent.
 *   A request in two writes goes on at once, or, where Nagle's algorithm holds the second one
 *   back, as soon as the first is acknowledged. In TLS each answer has records of its own. There
 *   the server must go on late as often: a server that answers once has got one request, sent
 *   slowly;
 * - of TLS, the client's runs are multiples of its usual one; of what is not parsed, they are
 *   many small segments;
 * - after each return one call still waits. The pairing may be behind by one: something that
 *   nothing answers was taken for a call;
 * - a return comes when another connection has called the server, and not when its own did. The
 *   server sends what it got from others, and the client's answer was taken for the call.
 *
 * Signs are weighed a connection; those of connections that show too few by themselves, by pairs
 * of nodes and protocols.
 */
#pragma once

#include "capture/pairing.h"
#include "capture/protocol/tls.h"
#include "tracefmt/fitness.h"

/* How many runs there were on a connection, or on several, and with which signs. */
typedef struct {
        guint64 calls;   /* that are in the trace */
        guint64 shifted; /* returns after which one call still waited, */
        guint64 drained; /* and after which none did */
        guint64 runs;    /* of the client */
        guint64 crossed; /* runs, of either side, that began before the other's was read */
        guint64 late[2]; /* of the client and of the server, that went on long after */
        guint64 again;   /* of the client, that went on at all */
        guint64 many;    /* that were many small segments */
        guint64 multiples;
        guint64 returns, prompted; /* runs of the server; when another connection had called */
} SignCounts;

typedef struct {
        gint64 last[2];  /* stamp of the last payload of a side; NO_TIME before */
        gint64 acked[2]; /* when a side's payload was last acknowledged */
        gint64 turn[2];  /* the shortest time in which a side's end answered the other's */
        gint64 waited;   /* the client's last */
        guint64 bytes;
        guint32 segments; /* or datagrams */
        SignCounts counts;
        guint32 usual, votes; /* length of the client's run that is most frequent */
        guint32 run_bytes, run_segments;
        guint16 warm;
        guint8 talks; /* the side whose run it is, or NO_SIDE */
        guint8 run_again, run_late;
        guint8 quic;   /* that is what it speaks */
        guint8 inside; /* TlsInside */
        guint8 alone;  /* an address calls itself, and no name tells who */
} Signs;

typedef struct SignTable SignTable;

SignTable *sign_table_new(void);
void sign_table_free(SignTable *table);

/* alone: the address calls itself, and the client's port has no name. */
void signs_init(Signs *signs, gboolean alone);

/* A segment of side, with n bytes that are new. protocol: NULL where it is not decided. crossed:
 * it does not acknowledge all of the other side. */
void signs_payload(SignTable *table, Signs *signs, const Pairing *pairing, const Protocol *protocol,
                   guint side, gsize n, gint64 time, gboolean crossed);

/* A datagram of length bytes. quic: it is of QUIC, and hides what it says. */
void signs_datagram(Signs *signs, gboolean quic, gsize length);

/* One without payload: a SYN of the server, or one that acknowledges all of the other side. */
void signs_syn(Signs *signs, const Pairing *pairing, guint side, gint64 time);
void signs_ack(Signs *signs, guint side, gint64 time);

/* Adds what was counted since the last time to the tally of the connection's nodes, and starts
 * anew. protocol: NULL where it is not decided. */
void signs_take(SignTable *table, Signs *signs, Pairing *pairing, const Protocol *protocol);

/* What is doubtful of all that was taken, and the calls of each edge (EdgeCalls); starts anew. */
void sign_table_weigh(SignTable *table, GArray *doubts, GArray *edges);
