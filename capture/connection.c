/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/connection.h"

#include <stddef.h>
#include <string.h>

#include "base/hash.h"
#include "capture/caller-evidence.h"
#include "capture/connection-state.h"
#include "capture/exchange.h"
#include "capture/quic-flow.h"
#include "capture/streams.h"

enum {
        HALF_OPEN_SHARE = 4, /* of the connections, one in this number may be half open */
        /* Seconds of silence after which a connection is forgotten. */
        OPEN_PATIENCE = 3600,
        CLOSED_PATIENCE = 10,
        UDP_PATIENCE = 30,
        MOST_BYTES = 48 << 20, /* of segments that wait, in CAPTURE_MEMORY */
        HELLO_SEGMENTS = 32,   /* with payload, in which TLS says what it carries */
};

/* ns within which the forms of a connection open that stand before and after address
 * translation. */
#define TRANSLATION_TIME G_GINT64_CONSTANT(1000000000)

ConnectionTable *connection_table_new(const CaptureContext *context, NodeNames *names,
                                      const Protocol *const *ports, gsize most)
{
        ConnectionTable *t = g_new0(ConnectionTable, 1);
        t->most = most;
        t->totals.most = capture_memory_share(context->memory, MOST_BYTES);
        t->context = context;
        t->names = names;
        t->translates = node_names_has_translations(names);
        t->signs = sign_table_new();
        t->ports = ports;
        t->n_buckets = 1024;
        t->buckets = g_new0(Connection *, t->n_buckets);
        t->servers = server_set_new();
        /* No result depends on it: a list keeps the order. */
        t->seed = (guint64)g_random_int() << 32 | g_random_int();
        t->expired = G_MININT64;
        return t;
}

/* --- a connection ---------------------------------------------------------- */

typedef struct {
        ConnectionTable *table;
        Connection *connection;
        gint64 shown; /* the stamp of the bytes that the exchange was shown last, ns */
} SinkUser;

/* Whether side has not acknowledged all that the other has sent. */
static gboolean is_crossed(const Connection *c, guint side)
{
        const TcpHalf *other = &c->tcp.half[!side];
        return other->begun && (gint32)(other->next - other->acked) > 0;
}

/* A segment's bytes of side are about to be shown to the exchange. */
static void see_payload(ConnectionTable *t, Connection *c, guint side, gsize n, Stamp stamp,
                        gboolean crossed)
{
        pairing_see_payload(&c->exchange.pairing, side, n);
        signs_payload(t->signs, &c->signs, &c->exchange.pairing, c->exchange.protocol, side, n,
                      stamp.time, crossed);
}

static inline void show_bytes(const SinkUser *u, guint side, guint32 seq, const guint8 *bytes,
                              gsize n, gsize length, Stamp stamp)
{
        Connection *c = u->connection;
        exchange_bytes(&c->exchange, side, seq, bytes, n, length, stamp, u->table->context);
        if (c->exchange.protocol == &protocol_tls && c->signs.inside < TLS_CHOSE_H2 &&
            c->signs.segments < HELLO_SEGMENTS)
                c->signs.inside = exchange_tls_inside(&c->exchange);
}

/* Side sends no more: it was closed, or the connection was reset. */
static void show_end(const SinkUser *u, guint side, Stamp stamp)
{
        Connection *c = u->connection;
        CallEnding how = c->tcp.half[side].fin_seen ? ENDING_CLOSED : ENDING_RESET;
        for (guint i = 0; i < 2; i++)
                if (!tcp_is_whole(&c->tcp, i))
                        exchange_doubt_returns(&c->exchange, i);
        exchange_end(&c->exchange, side, how, stamp, u->table->context);
}

/* --- TLS whose keys are known ------------------------------------------------ */

static void inside_closed(gpointer user, guint side, const TlsSegment *s)
{
        const SinkUser *u = user;
        if (s->bytes) {
                see_payload(u->table, u->connection, side, s->length, s->stamp, s->mark);
                show_bytes(u, side, s->seq, s->bytes, s->n, s->length, s->stamp);
        } else if (s->length > 0) {
                exchange_missing(&u->connection->exchange, side, s->seq, s->length,
                                 u->table->context);
        }
        if (s->ends)
                show_end(u, side, s->stamp);
}

/* The exchange begins anew with what is inside. */
static void inside_opened(gpointer user)
{
        const SinkUser *u = user;
        ConnectionTable *t = u->table;
        Connection *c = u->connection;
        Pairing *p = &c->exchange.pairing;
        Stamp stamp = { c->seen * 1000000000, 0 };
        guint client = tls_opener_client(c->opener);
        NodeId node[2] = { p->node[0], p->node[1] };
        guint16 port[2] = { p->port[0], p->port[1] };
        const Protocol *protocol = t->ports ? t->ports[c->port[!client]] : NULL;
        gboolean alone = c->signs.alone;
        ConnectionOpening opening = p->opening;
        guint32 number = p->number;
        if (protocol == &protocol_tls || (protocol && protocol->datagrams))
                protocol = NULL;
        exchange_clear(&c->exchange, stamp, t->context);
        signs_take(t->signs, &c->signs, p, c->exchange.protocol);
        connection_begin_exchange(c, protocol, client, TRUE, node, port);
        p->opening = opening;
        p->number = number;
        signs_init(&c->signs, alone);
        account_add(t->context->account, ACCOUNT_TLS_OPENED);
}

static void inside_bytes(gpointer user, guint side, guint32 seq, const guint8 *bytes, gsize n,
                         Stamp first, Stamp last)
{
        const SinkUser *u = user;
        Exchange *x = &u->connection->exchange;
        if (!bytes) {
                exchange_missing(x, side, seq, n, u->table->context);
                return;
        }
        if (first.time != last.time && n > 1) { /* a call is stamped at its record's first byte */
                exchange_bytes(x, side, seq++, bytes++, 1, 1, first, u->table->context);
                n--;
        }
        exchange_bytes(x, side, seq, bytes, n, n, last, u->table->context);
}

static void inside_no_data(gpointer user, guint side)
{
        const SinkUser *u = user;
        pairing_account(&u->connection->exchange.pairing, side, TRUE);
}

static void inside_end(gpointer user, guint side, Stamp stamp)
{
        show_end(user, side, stamp);
}

static TlsOpenerSink opener_sink_for(SinkUser *user)
{
        return (TlsOpenerSink){ inside_closed,  inside_opened, inside_bytes,
                                inside_no_data, inside_end,    user };
}

/* Something was added to the opener, or settled. */
static void opener_update(const SinkUser *u)
{
        static const AccountEntry entries[] = { [TLS_NO_KEYS] = ACCOUNT_TLS_NO_KEYS,
                                                [TLS_WRONG_KEYS] = ACCOUNT_TLS_WRONG_KEYS,
                                                [TLS_UNKNOWN_CIPHER] = ACCOUNT_TLS_UNKNOWN_CIPHER,
                                                [TLS_NO_HELLO] = ACCOUNT_TLS_NO_HELLO };
        const CaptureContext *context = u->table->context;
        Connection *c = u->connection;
        gint64 since;
        TlsResult result = tls_opener_result(c->opener);
        if (result != TLS_WAITS && result != TLS_OPENED) {
                if (key_log_is_used(context->tls->keys))
                        account_add(context->account, entries[result]);
                g_clear_pointer(&c->opener, tls_opener_free);
                sequencer_close(&c->sealed);
        } else if (tls_opener_waits_since(c->opener, &since)) {
                sequencer_open(context->sequencer, &c->sealed, since);
        } else {
                sequencer_close(&c->sealed);
        }
}

G_GNUC_NO_INLINE static void opener_add(SinkUser *u, guint side, TlsSegment segment)
{
        TlsOpenerSink sink = opener_sink_for(u);
        Connection *c = u->connection;
        segment.mark = (guint8)is_crossed(c, side);
        if (segment.bytes && tls_opener_result(c->opener) == TLS_OPENED)
                see_payload(u->table, c, side, segment.length, segment.stamp, segment.mark);
        tls_opener_add(c->opener, side, &segment, &sink);
        if (!c->exchange.pairing.called && segment.length > 0)
                pairing_see_handshake(&c->exchange.pairing, segment.stamp.time);
        opener_update(u);
}

/* The connection is over. */
static void opener_finish(SinkUser *u)
{
        TlsOpenerSink sink = opener_sink_for(u);
        const CaptureContext *context = u->table->context;
        Connection *c = u->connection;
        if (c->opener) {
                tls_opener_settle(c->opener, &sink);
                opener_update(u);
                g_clear_pointer(&c->opener, tls_opener_free);
                sequencer_close(&c->sealed);
        } else if (context->tls && !c->greeted && c->exchange.protocol == &protocol_tls &&
                   key_log_is_used(context->tls->keys)) {
                account_add(context->account, ACCOUNT_TLS_NO_HELLO);
        }
}

/* --- bytes in order ---------------------------------------------------------- */

/* Whether side is within a message: a gap before its next bytes is then the message's. */
static inline gboolean is_within_message(const Pairing *p, guint side)
{
        return p->message[side].open || p->streams;
}

static inline gboolean bytes_take(SinkUser *u, guint side, guint32 seq, const guint8 *bytes,
                                  gsize n, gsize length, Stamp stamp)
{
        Connection *c = u->connection;
        Pairing *p = &c->exchange.pairing;
        TlsOpening *tls = u->table->context->tls;
        if (!c->opener && tls && key_log_is_used(tls->keys) && tls_opener_recognises(bytes, n)) {
                c->opener = tls_opener_new(tls, side);
                c->greeted = TRUE;
        }
        if (c->opener) {
                opener_add(u, side, (TlsSegment){ seq, bytes, n, length, stamp, FALSE, 0 });
                p->stall[side] = 0;
                return TRUE;
        }
        see_payload(u->table, c, side, length, stamp, is_crossed(c, side));
        show_bytes(u, side, seq, bytes, n, length, stamp);
        u->shown = stamp.time;
        p->stall[side] = 0;
        return is_within_message(p, side);
}

static gboolean segment_take(gpointer user, guint side, const PrefixSegment *s)
{
        return bytes_take(user, side, s->seq, s->bytes, s->n, s->length, s->stamp);
}

/* A header says for whom the proxy calls. */
static void prefix_caller(gpointer user, guint side, const ProxyHeader *header, Stamp stamp)
{
        const SinkUser *u = user;
        Connection *c = u->connection;
        if (!u->table->context->named_by_proxy)
                return;
        c->exchange.pairing.node[side] = node_names_lookup(u->table->names, &header->source,
                                                           &header->destination, stamp.time);
        c->named = TRUE;
        c->signs.alone = FALSE;
}

static PrefixSink prefix_sink_for(SinkUser *user)
{
        return (PrefixSink){ segment_take, prefix_caller, user->table->context->sequencer,
                             &user->connection->sealed, user };
}

static gboolean sink_bytes(gpointer user, guint side, guint32 seq, const guint8 *bytes, gsize n,
                           gsize length, Stamp stamp)
{
        SinkUser *u = user;
        Connection *c = u->connection;
        if (G_LIKELY(!prefix_is_open(&c->prefix, side)))
                return bytes_take(u, side, seq, bytes, n, length, stamp);
        prefix_take(&c->prefix, side, c->evidence != BY_SYN || side == c->exchange.pairing.client,
                    (PrefixSegment){ seq, bytes, n, length, stamp }, prefix_sink_for(u));
        return is_within_message(&c->exchange.pairing, side);
}

static void sink_missing(gpointer user, guint side, guint32 seq, gsize n)
{
        SinkUser *u = user;
        Stamp nobody = { 0, 0 };
        prefix_miss(&u->connection->prefix, side, prefix_sink_for(u));
        if (u->connection->opener)
                opener_add(u, side, (TlsSegment){ seq, NULL, 0, n, nobody, FALSE, 0 });
        else
                exchange_missing(&u->connection->exchange, side, seq, n, u->table->context);
}

static void sink_end(gpointer user, guint side, Stamp stamp)
{
        SinkUser *u = user;
        prefix_release(&u->connection->prefix, prefix_sink_for(u));
        if (u->connection->opener)
                opener_add(u, side, (TlsSegment){ 0, NULL, 0, 0, stamp, TRUE, 0 });
        else
                show_end(u, side, stamp);
}

static void sink_stall(gpointer user, guint side, TcpStall stall, gint64 ns)
{
        SinkUser *u = user;
        Pairing *p = &u->connection->exchange.pairing;
        if (stall == TCP_KEPT) {
                if (p->streams)
                        streams_keep(p, side, u->shown, ns);
                else
                        pairing_keep(p, side, u->shown, ns, u->table->context);
                return;
        }
        if (p->streams)
                streams_hold_up(p, side, stall, ns);
        if (!p->streams || stall != TCP_PAUSED)
                pairing_stall(p, side, stall, ns, u->table->context);
}

static TcpSink sink_for(SinkUser *user)
{
        return (TcpSink){ sink_bytes, sink_missing, sink_end, sink_stall, user };
}

static Endpoint end_of(const Connection *c, guint side)
{
        return (Endpoint){ c->address[side], c->port[side] };
}

/* Which side calls on a connection whose opening was not seen, or NO_SIDE. */
static guint client_find(const ConnectionTable *t, Connection *c, Stamp stamp)
{
        const Endpoint ends[2] = { end_of(c, 0), end_of(c, 1) };
        CallerEvidence evidence;
        guint client = caller_find(t->ports, t->servers, t->names, ends, stamp.time, &evidence);
        c->asked = server_set_count(t->servers);
        c->evidence = (guint8)evidence;
        return client;
}

/* A role that was not known may be by now: an end has since accepted a connection. */
static void client_find_late(const ConnectionTable *t, Connection *c, Stamp stamp)
{
        if (c->evidence == BY_NOTHING && c->asked != server_set_count(t->servers) &&
            c->exchange.pairing.client == NO_SIDE)
                c->exchange.pairing.client = (guint8)client_find(t, c, stamp);
}

/* What the ends are called, and so whether it can be told who calls. */
static void connection_name(ConnectionTable *t, Connection *c, NodeId node[2], Stamp stamp)
{
        guint client = c->exchange.pairing.client;
        const Endpoint ends[2] = { end_of(c, 0), end_of(c, 1) };
        for (guint i = 0; i < 2; i++)
                node[i] = node_names_lookup(t->names, &ends[i], &ends[!i], stamp.time);
        c->signs.alone = address_equal(c->address[0], c->address[1]) && client != NO_SIDE &&
                         node_names_role(t->names, &ends[client], &ends[!client], stamp.time) ==
                                 ROLE_NAMELESS;
}

/* Its first payload was sent: what is told of the ends by now. */
static void connection_name_late(ConnectionTable *t, Connection *c, Stamp stamp)
{
        const Pairing *p = &c->exchange.pairing;
        NodeId node[2];
        if (!node_names_update(t->names) || c->named)
                return;
        connection_name(t, c, node, stamp);
        memcpy(c->exchange.pairing.node, node, sizeof node);
        if (address_equal(c->address[0], c->address[1]) && p->client != NO_SIDE)
                account_add(t->context->account,
                            c->signs.alone ? ACCOUNT_CALLER_UNKNOWN : ACCOUNT_CALLER_BY_PROCESS);
}

/* A conversation begins with this segment; NULL: with a datagram. */
static void connection_begin(ConnectionTable *t, Connection *c, const TcpSegment *segment,
                             guint side, Stamp stamp)
{
        Account *account = t->context->account;
        gboolean start_seen = segment && (segment->flags & TCP_SYN);
        const NodeId node[2] = { NO_NODE, NO_NODE };
        const Protocol *protocol = NULL;
        guint client = NO_SIDE;
        c->evidence = BY_SYN;
        if (start_seen) {
                client = segment->flags & TCP_ACK ? !side : side;
        } else if (segment) {
                node_names_update(t->names);
                client = client_find(t, c, stamp);
        }
        for (guint i = 0; t->ports && i < 2; i++)
                if (!protocol)
                        protocol = t->ports[c->port[i]];
        if (protocol && protocol != &protocol_generic && protocol->datagrams != !segment)
                protocol = NULL;
        c->payload = 0;
        c->translated = c->named = FALSE;
        c->opening = 0;
        c->syn_seen = segment && (segment->flags & (TCP_SYN | TCP_ACK)) == TCP_SYN;
        c->client_opened = c->server_opened = stamp;
        c->greeted = FALSE;
        c->quic_kind = QUIC_UNDECIDED;
        c->moved.n = 0;
        prefix_clear(&c->prefix);
        memset(&c->tcp, 0, sizeof c->tcp);
        connection_begin_exchange(c, protocol, client, start_seen, node, c->port);
        if (c->syn_seen)
                c->exchange.pairing.opening.asked = stamp.time;
        signs_init(&c->signs, FALSE);
        connection_name(t, c, c->exchange.pairing.node, stamp);
        account_add(account, ACCOUNT_CONNECTIONS);
        if (segment && !start_seen)
                account_add(account, ACCOUNT_MID_STREAM);
}

/* By what evidence it was known who calls, where the opening and the content did not say. */
static void account_role(const ConnectionTable *t, const Connection *c)
{
        static const AccountEntry entries[] = { [BY_OPTION] = ACCOUNT_ROLE_BY_OPTION,
                                                [BY_ACCEPT] = ACCOUNT_ROLE_BY_ACCEPT,
                                                [BY_NAME] = ACCOUNT_ROLE_BY_NAME,
                                                [BY_PORTS] = ACCOUNT_ROLE_BY_PORTS };
        guint client = c->exchange.pairing.client;
        if (c->protocol != IP_TCP || c->exchange.parsed || !c->payload || c->evidence == BY_SYN ||
            c->evidence == BY_NOTHING)
                return;
        account_add(t->context->account, entries[c->evidence]);
        if (c->evidence == BY_PORTS &&
            server_set_has(t->servers, c->address[client], c->port[client]))
                account_add(t->context->account, ACCOUNT_ROLE_DOUBTED);
}

/* Whether the ends are of one address, and then, of one node. */
static void account_ends(Account *account, const Connection *c)
{
        const Pairing *p = &c->exchange.pairing;
        if (!address_equal(c->address[0], c->address[1])) {
                account->to_others++;
                return;
        }
        account->to_itself++;
        account->to_named += p->node[0] != p->node[1];
}

/* The conversation is over: everything that waits is written or counted. */
static void connection_finish(ConnectionTable *t, Connection *c, Stamp now)
{
        SinkUser user = { t, c, 0 };
        TcpSink sink = sink_for(&user);
        Account *account = t->context->account;
        tcp_settle(&c->tcp, G_MAXINT64, &sink, &t->totals);
        prefix_release(&c->prefix, prefix_sink_for(&user));
        opener_finish(&user);
        if (c->quic)
                quic_flow_finish(t, c);
        exchange_clear(&c->exchange, now, t->context);
        signs_take(t->signs, &c->signs, &c->exchange.pairing, c->exchange.protocol);
        sequencer_close(&c->held);
        account_role(t, c);
        account_ends(account, c);
        if (c->protocol == IP_TCP && c->payload)
                *(c->payload == 3 ? &account->tcp_two_sided : &account->tcp_one_sided) += 1;
}

static Connection *connection_new(ConnectionTable *t, const Address address[2],
                                  const guint16 port[2], guint8 protocol, guint side, Stamp stamp)
{
        if (t->n >= t->most) {
                gboolean flood = t->n_half_open > t->most / HALF_OPEN_SHARE;
                Connection *old = flood                ? t->oldest_half_open
                                  : t->lists[0].oldest ? t->lists[0].oldest
                                                       : t->lists[1].oldest;
                account_add(t->context->account,
                            flood ? ACCOUNT_EVICTED_HALF_OPEN : ACCOUNT_EVICTED);
                connection_finish(t, old, stamp);
                connection_remove(t, old);
        }
        return connection_insert(t, address, port, protocol, side, stamp.time / 1000000000);
}

/* --- address translation ----------------------------------------------------- */

/* c is kept under other addresses too, by a translator that both sides of were seen. The
 * SYN came to it from the true client's address, and left it for the true server's. */
static void translation_add(ConnectionTable *t, Connection *kept, Connection *c, guint server)
{
        guint kept_server = kept->exchange.pairing.client == 0 ? 1 : 0;
        Pairing *to = &kept->exchange.pairing;
        const Pairing *from = &c->exchange.pairing;
        c->translated = TRUE;
        t->context->account->count[ACCOUNT_CONNECTIONS]--;
        account_add(t->context->account, ACCOUNT_TRANSLATED);
        if (kept->payload || !kept->syn_seen || !c->syn_seen)
                return; /* too late to change names, or not known to what */
        kept->named = TRUE;
        if (stamp_before(c->client_opened, kept->client_opened)) {
                to->node[!kept_server] = from->node[!server];
                to->port[!kept_server] = from->port[!server];
                kept->client_opened = c->client_opened;
        }
        if (stamp_before(kept->server_opened, c->server_opened)) {
                to->node[kept_server] = from->node[server];
                to->port[kept_server] = from->port[server];
                kept->server_opened = c->server_opened;
        }
}

/* The segment answers a SYN: server has accepted the connection. Translation of addresses
 * leaves both initial sequence numbers and both timestamps as they are. Made captures have
 * sequence numbers alike that are not, so without timestamps nothing is decided. */
static void opening_seen(ConnectionTable *t, Connection *c, guint server, const TcpSegment *segment,
                         Stamp stamp)
{
        guint64 stamps;
        server_set_add(t->servers, c->address[server], c->port[server]);
        if (c->opening || c->translated || c->payload || !tcp_timestamps(segment, &stamps))
                return;
        guint64 opening =
                hash_word(hash_word(0, (guint64)segment->ack << 32 | segment->seq), stamps);
        Connection **place = &t->openings[opening & (MAX_OPENINGS - 1)];
        Connection *kept = *place;
        if (kept && kept != c && kept->opening == opening &&
            stamp.time - kept->server_opened.time < TRANSLATION_TIME) {
                translation_add(t, kept, c, server);
                return;
        }
        c->opening = opening;
        *place = c;
}

static inline void held_update(ConnectionTable *t, Connection *c)
{
        gint64 since;
        if (tcp_may_wait(&c->tcp) && tcp_waits_since(&c->tcp, &since))
                sequencer_open(t->context->sequencer, &c->held, since);
        else
                sequencer_close(&c->held);
}

/* --- from outside ---------------------------------------------------------- */

void connection_table_free(ConnectionTable *t)
{
        if (!t)
                return;
        for (guint i = 0; i < 2; i++)
                for (Connection *c = t->lists[i].oldest, *next; c; c = next) {
                        next = c->newer;
                        tcp_clear(&c->tcp, &t->totals);
                        exchange_clear(&c->exchange, (Stamp){ 0, 0 }, t->context);
                        tls_opener_free(c->opener);
                        quic_flow_forget(t, c);
                        prefix_clear(&c->prefix);
                        sequencer_close(&c->held);
                        sequencer_close(&c->sealed);
                        g_free(c);
                }
        for (Connection *c = t->free, *next; c; c = next) {
                next = c->chain;
                g_free(c);
        }
        if (t->quic_ids)
                g_hash_table_unref(t->quic_ids);
        sign_table_free(t->signs);
        g_free(t->buckets);
        server_set_free(t->servers);
        g_free(t);
}

static void copy_totals(ConnectionTable *t)
{
        Account *account = t->context->account;
        account->count[ACCOUNT_REPEATED] = t->totals.repeated;
        account->count[ACCOUNT_HOLES] = t->totals.holes;
        account->count[ACCOUNT_HOLE_BYTES] = t->totals.hole_bytes;
        if (t->context->tls)
                account->count[ACCOUNT_TLS_RECORDS] = t->context->tls->not_opened;
        if (t->context->quic)
                account->count[ACCOUNT_QUIC_PACKETS] = t->context->quic->not_opened;
}

void connection_table_add_tcp(ConnectionTable *t, const IpPacket *ip, const TcpSegment *segment,
                              Stamp stamp)
{
        Address address[2];
        guint16 port[2];
        guint side;
        Connection *c = connection_find(t, ip, segment->source_port, segment->destination_port,
                                        stamp.time, address, port, &side);
        if (!c) {
                if (segment->flags & TCP_RST)
                        return; /* of nothing that is known */
                c = connection_new(t, address, port, IP_TCP, side, stamp);
                connection_begin(t, c, segment, side, stamp);
        } else if (tcp_is_new(&c->tcp, side, segment)) {
                connection_finish(t, c, stamp);
                connection_begin(t, c, segment, side, stamp);
        }
        connection_hear(t, c, side);
        if ((segment->flags & (TCP_SYN | TCP_ACK)) == (TCP_SYN | TCP_ACK))
                opening_seen(t, c, side, segment, stamp);
        if (c->translated) {
                account_add(t->context->account, ACCOUNT_TRANSLATED_SEGMENTS);
                c->tcp.closed |= (segment->flags & (TCP_FIN | TCP_RST)) != 0;
                connection_touch(t, c, stamp.time / 1000000000);
                return;
        }
        client_find_late(t, c, stamp);
        if (segment->length == 0) {
                account_add(t->context->account, ACCOUNT_NO_PAYLOAD);
                if (segment->flags & TCP_SYN)
                        signs_syn(&c->signs, &c->exchange.pairing, side, stamp.time);
                else if (segment->ack == c->tcp.half[!side].next)
                        signs_ack(&c->signs, side, stamp.time);
        } else {
                if (!c->payload)
                        connection_name_late(t, c, stamp);
                c->payload |= (guint8)(1 << side);
        }
        SinkUser user = { t, c, 0 };
        TcpSink sink = sink_for(&user);
        if (G_UNLIKELY(!c->exchange.pairing.called))
                pairing_see_opening(&c->exchange.pairing.opening, segment, stamp.time);
        tcp_add(&c->tcp, side, segment, stamp, &sink, &t->totals);
        if (pairing_has_unacked(&c->exchange.pairing))
                for (guint i = 0; i < 2; i++) {
                        const TcpHalf *h = &c->tcp.half[i];
                        pairing_see_ack(&c->exchange.pairing, i, h->next, h->acked,
                                        c->tcp.half[!i].sends);
                }
        held_update(t, c);
        connection_touch(t, c, stamp.time / 1000000000);
}

void connection_table_add_udp(ConnectionTable *t, const IpPacket *ip, guint16 source_port,
                              guint16 destination_port, const guint8 *bytes, gsize n, gsize length,
                              Stamp stamp)
{
        Address address[2];
        guint16 port[2];
        guint side;
        Connection *c = connection_find(t, ip, source_port, destination_port, stamp.time, address,
                                        port, &side);
        if (!c) {
                c = connection_new(t, address, port, IP_UDP, side, stamp);
                connection_begin(t, c, NULL, side, stamp);
        }
        connection_hear(t, c, side);
        if (recent_datagrams_has(&c->recent, t->seed, side, bytes, n, length, stamp.time)) {
                account_add(t->context->account, ACCOUNT_COPIES);
                return;
        }
        prefix_skip_datagram(&bytes, &n, &length);
        if (quic_flow_add(t, c, side, bytes, n, length, stamp)) {
                connection_touch(t, c, stamp.time / 1000000000);
                return;
        }
        signs_datagram(&c->signs, FALSE, length);
        pairing_see_payload(&c->exchange.pairing, side, length);
        exchange_datagram(&c->exchange, side, bytes, n, length, stamp, t->context);
        connection_touch(t, c, stamp.time / 1000000000);
}

#define CONTAINER(type, member, pointer)                                                           \
        ((type *)(gpointer)((char *)(pointer)-offsetof(type, member)))

void connection_table_settle(ConnectionTable *t, OpenItem *item, Stamp now)
{
        if (item->kind == ITEM_HELD) {
                Connection *c = CONTAINER(Connection, held, item);
                SinkUser user = { t, c, 0 };
                TcpSink sink = sink_for(&user);
                tcp_settle(&c->tcp, item->time, &sink, &t->totals);
                held_update(t, c);
        } else if (item->kind == ITEM_TLS) {
                Connection *c = CONTAINER(Connection, sealed, item);
                SinkUser user = { t, c, 0 };
                TlsOpenerSink sink = opener_sink_for(&user);
                if (c->quic) {
                        quic_flow_settle(t, c);
                        return;
                }
                prefix_release(&c->prefix, prefix_sink_for(&user));
                if (!c->opener)
                        return;
                tls_opener_settle(c->opener, &sink);
                opener_update(&user);
        } else if (item->kind == ITEM_UNACKED) {
                sequencer_close(item);
        } else if (item->kind == ITEM_TRIAL) {
                Connection *c = CONTAINER(Connection, exchange.pairing.trial_item, item);
                exchange_end_trial(&c->exchange, t->context);
        } else if (item->kind == ITEM_LOGINS) {
                t->context->account->count[ACCOUNT_SESSION] +=
                        held_logins_drop(CONTAINER(HeldLogins, item, item));
        } else if (item->kind == ITEM_STREAM) {
                streams_settle(item, t->context);
        } else if (item->kind == ITEM_MESSAGE_0) {
                Connection *c = CONTAINER(Connection, exchange.pairing.message[0].item, item);
                exchange_settle(&c->exchange, 0, now, t->context);
        } else {
                Connection *c = CONTAINER(Connection, exchange.pairing.message[1].item, item);
                exchange_settle(&c->exchange, 1, now, t->context);
        }
}

G_GNUC_NO_INLINE static void table_expire(ConnectionTable *t, gint64 seconds, Stamp now)
{
        t->expired = seconds;
        for (guint patient = 0; patient < 2; patient++)
                for (Connection *c = t->lists[patient].oldest, *next; c; c = next) {
                        gint64 patience = patient                 ? OPEN_PATIENCE
                                          : c->protocol == IP_UDP ? UDP_PATIENCE
                                                                  : CLOSED_PATIENCE;
                        next = c->newer;
                        if (seconds - c->seen <= patience)
                                break;
                        connection_finish(t, c, now);
                        connection_remove(t, c);
                }
        copy_totals(t);
}

void connection_table_expire(ConnectionTable *t, Stamp now)
{
        gint64 seconds = now.time / 1000000000;
        if (seconds != t->expired)
                table_expire(t, seconds, now);
}

void connection_table_weigh(ConnectionTable *t, GArray *doubts, GArray *edges)
{
        for (guint i = 0; i < 2; i++)
                for (Connection *c = t->lists[i].oldest; c; c = c->newer)
                        signs_take(t->signs, &c->signs, &c->exchange.pairing, c->exchange.protocol);
        sign_table_weigh(t->signs, doubts, edges);
}

void connection_table_flush(ConnectionTable *t, Stamp now)
{
        for (guint i = 0; i < 2; i++)
                while (t->lists[i].oldest) {
                        Connection *c = t->lists[i].oldest;
                        connection_finish(t, c, now);
                        connection_remove(t, c);
                }
        copy_totals(t);
}
