/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Doubts: what packets could not show, edge by edge. A capture writes them at the end of its trace
 * as facts
 *
 *     # doubt: CALLER CALLEE REASON COUNT OF [kind=PROTOCOL] [bytes=COUNT/OF]
 *
 * with names as written in messages, a word for the reason, and how many of the edge's calls, or of
 * the segments between the two nodes, are doubtful. CALLER is * for more than MANY_CALLERS callers
 * of the callee together. Every later verb reads them.
 */
#pragma once

#include "tracefmt/node-table.h"

/* A doubt of calls makes them worthless. A doubt of payload names what is missing; the other calls
 * stand. A remark names a possible fault. */
typedef enum { DOUBT_OF_CALLS, DOUBT_OF_PAYLOAD, DOUBT_REMARK } DoubtClass;

/* Name, word, class, what is counted, and what it means in the words of the remedy. */
#define DOUBT_REASONS(X)                                                                           \
        X(MULTIPLEXED, "multiplexed", DOUBT_OF_CALLS, "calls",                                     \
          "several calls at a time inside TLS look like one: capture where they are not "          \
          "encrypted, or let the client speak HTTP/1.1")                                           \
        X(SEVERAL_AT_ONCE, "several-at-once", DOUBT_OF_CALLS, "calls",                             \
          "calls are made before the last is answered, in a protocol that is not parsed, and "     \
          "look like one: let the client wait for each answer, or use a connection a call")        \
        X(INVERTED, "inverted", DOUBT_OF_CALLS, "calls",                                           \
          "the server sends unasked and the client answers, so that what looks like latency is "   \
          "waiting: take such calls for messages, or leave the edge out with --exclude")           \
        X(CALLERS, "callers", DOUBT_OF_CALLS, "calls",                                             \
          "several programs call from this one address and cannot be told apart: give each an "    \
          "address of its own, or name their ports with --nodes")                                  \
        X(SHIFTED, "shifted", DOUBT_OF_CALLS, "calls",                                             \
          "each return may belong to the call before: capture from before the connections are "    \
          "opened, or say with --proto what the port speaks")                                      \
        X(CUT, "cut", DOUBT_OF_CALLS, "calls",                                                     \
          "packets were cut by the snapshot length where their bytes were needed: capture whole "  \
          "packets (-s 0)")                                                                        \
        X(UNSEEN, "unseen", DOUBT_OF_PAYLOAD, "segments",                                          \
          "payload that is in no call, return or message: what these nodes do with each other "    \
          "is not all seen")                                                                       \
        X(QUIC, "quic", DOUBT_OF_PAYLOAD, "datagrams",                                             \
          "QUIC hides its calls: give its keys with --tls-keys, or turn HTTP/3 off")              \
        X(MAY_BE_MULTIPLEXED, "may-be-multiplexed", DOUBT_REMARK, "calls",                         \
          "the client offered HTTP/2 inside TLS, where several calls at a time would look like "   \
          "one; none was seen to overlap")

typedef enum {
#define X(name, ...) DOUBT_##name,
        DOUBT_REASONS(X)
#undef X
                N_DOUBT_REASONS
} DoubtReason;

enum {
        MANY_CALLERS = 16, /* of one callee with one reason are written as one, with * */
        MAX_DOUBTS = 1000, /* that a trace has: the worst */
        MAX_DOUBT_LINES = 5,
};

typedef struct {
        NodeId caller, callee; /* caller may be NO_NODE: many */
        DoubtReason reason;
        guint64 count, of;
        char kind[16];           /* of connections: a protocol's name; "" where it is no matter */
        guint64 bytes, of_bytes; /* of payload; 0 where that is no matter */
} Doubt;

const char *doubt_word(DoubtReason reason);
DoubtClass doubt_class(DoubtReason reason);

/* The value of the fact "doubt". The caller's to free. */
char *doubt_to_value(const Doubt *doubt, const NodeTable *nodes);

/* FALSE where fact ("key: value") is none, or is broken, or its reason is not known here; no
 * reader makes that an error. Nodes that are new are added. */
gboolean doubt_from_fact(Doubt *doubt, const char *fact, NodeTable *nodes);

/* Adds to doubts, of Doubt: the counts of the same edge, reason and kind are added up. */
void doubts_add(GArray *doubts, const Doubt *doubt);

/* Those of all facts, the worst first: of calls before those of payload before remarks, then
 * by count. */
GArray *doubts_from_facts(char *const *facts, guint n, NodeTable *nodes);

/* Sets that order. */
void doubts_sort(GArray *doubts, const NodeTable *nodes);

/* Puts more than MANY_CALLERS callers of one callee together. */
void doubts_fold(GArray *doubts);

/* The worst that makes calls of this edge doubtful; NULL where there is none. caller may be
 * NO_NODE: any. */
const Doubt *doubts_find(const GArray *doubts, NodeId caller, NodeId callee);

/* "a>b: 12 of 20 calls: " and the sentence, with its remedy or without. The caller's to free. */
char *doubt_to_text(const Doubt *doubt, const NodeTable *nodes, gboolean remedy);

/* A line each of the first MAX_DOUBT_LINES of sorted doubts, and one that says how many more
 * there are. NULL-terminated, the caller's to free. */
char **doubts_to_lines(const GArray *doubts, const NodeTable *nodes);
