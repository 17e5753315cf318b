/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The account of a capture: how many packets and messages there were, and how many packets
 * became no message, and why. It is written into the trace as facts, and shown as a short
 * summary. If the capture is not fit for its use, plain words say so.
 */
#pragma once

#include "tracefmt/fitness.h"

/* Name, key of the fact in the trace. The order is that of the facts. */
#define ACCOUNT_ENTRIES(X)                                                                         \
        X(PACKETS, "packets")                                                                      \
        X(PACKETS_CUT, "packets cut by the snapshot length")                                       \
        X(SORTED, "packets sorted: one with a later stamp came before them")                       \
        X(TOO_LATE, "packets not sorted: they came too late in a pipe")                            \
        X(BAD_TIME, "packets not used: no or impossible time stamp")                               \
        X(NOT_IP, "packets not used: not IP")                                                      \
        X(BAD_LINK, "packets not used: link-layer header broken or cut")                           \
        X(BAD_IP, "packets not used: IP header broken or cut")                                     \
        X(BAD_TRANSPORT, "packets not used: TCP or UDP header broken or cut")                      \
        X(NOT_TRANSPORT, "packets not used: neither TCP nor UDP")                                  \
        X(GROUP, "packets not used: to a group address")                                           \
        X(TOO_DEEP, "packets not used: too many tunnels in one another")                           \
        X(TUNNELLED, "packets in tunnels")                                                         \
        X(FRAGMENTS, "fragments")                                                                  \
        X(FRAGMENTS_LOST, "fragments not used: datagram incomplete")                               \
        X(CONNECTIONS, "connections")                                                              \
        X(MID_STREAM, "connections whose start was not seen")                                      \
        X(ROLE_BY_OPTION, "connections whose server is known by --proto")                          \
        X(ROLE_BY_ACCEPT, "connections whose server is known by other connections")                \
        X(ROLE_BY_NAME, "connections whose server is known by --nodes")                            \
        X(ROLE_BY_PORTS, "connections whose server is known by the port numbers")                  \
        X(NOT_AS_SAID, "connections that do not speak what --proto says")                          \
        X(ROLE_DOUBTED, "connections whose server is doubtful: the client accepts others")         \
        X(CALLER_BY_PROCESS, "connections whose caller is known by its process")                   \
        X(CALLER_UNKNOWN, "connections whose caller's process was missed")                         \
        X(EVICTED, "connections forgotten to bound memory")                                        \
        X(EVICTED_HALF_OPEN, "half-open connections forgotten to bound memory")                    \
        X(FORGOTTEN_NAMES, "operations forgotten to bound memory")                                 \
        X(FORGOTTEN_LINKS, "links forgotten to bound memory")                                      \
        X(FORGOTTEN_KEYS, "keys of TLS connections forgotten to bound memory")                     \
        X(TLS_OPENED, "TLS connections opened by their keys")                                      \
        X(TLS_NO_KEYS, "TLS connections not opened: no keys for them")                             \
        X(TLS_WRONG_KEYS, "TLS connections not opened: the keys are not theirs")                   \
        X(TLS_UNKNOWN_CIPHER, "TLS connections not opened: version or cipher not known")           \
        X(TLS_NO_HELLO, "TLS connections not opened: handshake not seen whole")                    \
        X(TLS_RECORDS, "TLS records not opened, of opened connections")                            \
        X(QUIC, "QUIC connections")                                                                \
        X(QUIC_2, "QUIC connections of version 2")                                                 \
        X(QUIC_MOVED, "QUIC connections that have changed their addresses")                        \
        X(QUIC_OPENED, "QUIC connections opened by their keys")                                    \
        X(QUIC_NO_KEYS, "QUIC connections not opened: no keys for them")                           \
        X(QUIC_NO_HANDSHAKE, "QUIC connections not opened: handshake not seen whole")              \
        X(QUIC_NO_HTTP, "QUIC connections opened: not HTTP/3 inside")                              \
        X(QUIC_PACKETS, "QUIC datagrams not opened, of opened connections")                        \
        X(TRANSLATED, "connections not used: seen before and after address translation")           \
        X(TRANSLATED_SEGMENTS, "segments not used: seen before and after address translation")     \
        X(NO_PAYLOAD, "segments without payload")                                                  \
        X(REPEATED, "segments not used: repeated")                                                 \
        X(COPIES, "datagrams not used: repeated")                                                  \
        X(HOLES, "holes skipped")                                                                  \
        X(HOLE_BYTES, "bytes in holes")                                                            \
        X(CALLS, "calls")                                                                          \
        X(RETURNS, "returns")                                                                      \
        X(ONE_WAY, "one-way messages")                                                             \
        X(ROLE_UNKNOWN, "one-way messages: who calls is not known")                                \
        X(INTERIM, "interim responses not used")                                                   \
        X(SESSION, "messages not used: beginnings and ends of sessions")                           \
        X(CUT_DOUBTFUL, "calls in doubt: packets cut by the snapshot length")                      \
        X(CUT_UNSEEN, "calls of which no byte was captured: cut by the snapshot length")           \
        X(REPEATED_CALLS, "calls not used: repeated")                                              \
        X(UNANSWERED, "calls without return")                                                      \
        X(ENDED, "calls without return: that ended")                                               \
        X(RETURN_WITHOUT_CALL, "returns not used: call not seen")                                  \
        X(ORDER_LOST, "returns not used: which call they answer is not known")                     \
        X(UNPARSED, "pieces not used: not understood")                                             \
        X(BEFORE_BOUNDARY, "pieces not used: before the first message boundary")                   \
        X(LATE, "messages stamped later than they were: their packets came too late")              \
        X(CLOCK_STEPS, "steps back in time")                                                       \
        X(DROPPED_KERNEL, "packets dropped by the kernel")                                         \
        X(DROPPED_INTERFACE, "packets dropped by the interface")

typedef enum {
#define X(name, key) ACCOUNT_##name,
        ACCOUNT_ENTRIES(X)
#undef X
                N_ACCOUNT,
        ACCOUNT_NONE = N_ACCOUNT /* no reason: it was used */
} AccountEntry;

/* The header at which decoding ended, with its number in the low 16 bits. Without one of these the
 * number is a link type. */
typedef enum {
        UNOPENED_ETHERTYPE = 0x10000,
        UNOPENED_PPP = 0x20000, /* PPP's protocol field */
        UNOPENED_ENCRYPTED_802_11 = 0x30000,
        UNOPENED_IP_PROTOCOL = 0x40000,
        UNOPENED_UDP_PORT = 0x50000, /* the lower one */
} Unopened;

enum { MAX_UNOPENED = 64 }; /* kinds that are counted, the first ones */

typedef struct {
        guint32 what;
        guint64 n;
} UnopenedCount;

typedef struct {
        guint64 count[N_ACCOUNT];
        UnopenedCount unopened[MAX_UNOPENED]; /* packets by what was not opened; n = 0: no more */
        guint64 tcp_one_sided;                /* connections with payload in one direction only */
        guint64 tcp_two_sided;                /* and in both */
        guint64 to_itself;                    /* connections of an address with itself */
        guint64 to_named;                     /* of those, with a name for one of the ports */
        guint64 to_others;                    /* and with another */
        /* One-way messages for want of knowing who calls, by the lower port. */
        guint32 unclear_port[65536];
        guint32 udp_port[65536]; /* datagrams that are no tunnel's, by the lower port */
} Account;

static inline void account_add(Account *account, AccountEntry entry)
{
        account->count[entry]++;
}

/* A packet ended at this header. */
void account_add_unopened(Account *account, guint32 what);

/* The key of the entry's fact. */
const char *account_key(AccountEntry entry);

/* One line for a user: "12 packets: 4 calls, ...". Newly allocated. */
char *account_summary(const Account *account);

/* What the messages are fit for, as far as a capture can tell. count: the N_ACCOUNT counts of
 * the account, or of a part. */
Fitness account_fitness(const guint64 *count, const Account *account);

/* Where the capture will not do: one sentence each on why, and what to do about
 * it, NULL-terminated. Empty where nothing is wrong. Free with g_strfreev(). */
char **account_judge(const Account *account);
