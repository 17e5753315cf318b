/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/quic-flow.h"

#include "base/hash.h"
#include "capture/exchange.h"
#include "capture/quic/quic.h"

enum { MIN_SHORT_ID = 4 }; /* bytes of an id by which a datagram is known on other addresses */

typedef struct {
        ConnectionTable *table;
        Connection *connection;
} FlowUser;

/* --- ids ------------------------------------------------------------------- */

static guint quic_id_hash(gconstpointer id)
{
        return (guint)hash_keyed_bytes(hash_key(), id, sizeof(QuicId));
}

static gboolean quic_id_equal(gconstpointer a, gconstpointer b)
{
        return memcmp(a, b, sizeof(QuicId)) == 0;
}

/* No two connections have one id: the first keeps it. */
static void flow_has_id(gpointer user, const QuicId *id)
{
        const FlowUser *u = user;
        ConnectionTable *t = u->table;
        if (id->n < MIN_SHORT_ID)
                return;
        if (!t->quic_ids)
                t->quic_ids = g_hash_table_new_full(quic_id_hash, quic_id_equal, g_free, NULL);
        if (g_hash_table_contains(t->quic_ids, id))
                return;
        g_hash_table_insert(t->quic_ids, g_memdup2(id, sizeof *id), u->connection);
        t->quic_id_sizes |= 1u << id->n;
}

/* The connection that a datagram is sent to by the id in its first packet; NULL: none. */
static Connection *home_find(const ConnectionTable *t, const guint8 *bytes, gsize n, QuicId *id)
{
        QuicHeader h;
        if (!t->quic_ids)
                return NULL;
        for (guint size = QUIC_MAX_ID; size >= MIN_SHORT_ID; size--) {
                if (!(t->quic_id_sizes & 1u << size) || !quic_header_read(bytes, n, size, &h))
                        continue;
                Connection *home = g_hash_table_lookup(t->quic_ids, &h.to);
                *id = h.to;
                if (home)
                        return home;
        }
        return NULL;
}

/* --- what comes out -------------------------------------------------------- */

static void flow_hello(gpointer user, guint client, const guint8 *bytes, gsize n)
{
        const FlowUser *u = user;
        LearnedNames *learned = u->table->context->learned;
        if (learned)
                learned_names_add_hello(learned, u->connection->address[!client], bytes, n);
}

static void flow_opened(gpointer user, guint client)
{
        const FlowUser *u = user;
        Connection *c = u->connection;
        const CaptureContext *context = u->table->context;
        const NodeId node[2] = { c->exchange.pairing.node[0], c->exchange.pairing.node[1] };
        const guint16 port[2] = { c->exchange.pairing.port[0], c->exchange.pairing.port[1] };
        connection_begin_exchange(c, &protocol_http3, client, TRUE, node, port);
        exchange_end_trial(&c->exchange, context);
        signs_init(&c->signs, FALSE);
        account_add(context->account, ACCOUNT_QUIC_OPENED);
}

static void flow_frames(gpointer user, guint side, const guint8 *bytes, gsize n, gsize length,
                        Stamp stamp)
{
        const FlowUser *u = user;
        Connection *c = u->connection;
        exchange_bytes(&c->exchange, side, c->quic_seq[side], bytes, n, length, stamp,
                       u->table->context);
        c->quic_seq[side] += (guint32)length;
}

static void doubt_holes(Connection *c)
{
        for (guint side = 0; side < 2; side++)
                if (quic_has_holes(c->quic, side))
                        exchange_doubt_returns(&c->exchange, side);
}

static void flow_closed(gpointer user, guint side, gboolean in_order, Stamp stamp)
{
        const FlowUser *u = user;
        Connection *c = u->connection;
        CallEnding how = in_order ? ENDING_CLOSED : ENDING_RESET;
        doubt_holes(c);
        exchange_end(&c->exchange, side, how, stamp, u->table->context);
        exchange_end(&c->exchange, !side, how, stamp, u->table->context);
}

static QuicSink quic_sink_for(FlowUser *user)
{
        return (QuicSink){
                flow_hello, flow_opened, { flow_frames, user }, flow_has_id, flow_closed
        };
}

/* --- a datagram ------------------------------------------------------------ */

static void flow_update(ConnectionTable *t, Connection *c)
{
        QuicResult result = quic_result(c->quic);
        gint64 since;
        if (result != QUIC_WAITS && result != QUIC_OPENED) {
                quic_flow_finish(t, c);
        } else if (quic_waits_since(c->quic, &since)) {
                sequencer_open(t->context->sequencer, &c->sealed, since);
        } else {
                sequencer_close(&c->sealed);
        }
}

/* Whether the packet of home was sent by side 0 or 1 there. */
static gboolean moved_add(ConnectionTable *t, Connection *c, guint side, const guint8 *bytes,
                          gsize n, Stamp stamp)
{
        QuicId id = { 0 };
        Connection *home = home_find(t, bytes, n, &id);
        guint to;
        if (home && home->quic && home != c && (to = quic_side_to(home->quic, &id)) < 2) {
                c->moved_side = (guint8)(side ^ !to); /* of home, side 0 here */
                c->moved = id;
        } else if (c->moved.n == 0 || !t->quic_ids ||
                   !(home = g_hash_table_lookup(t->quic_ids, &c->moved)) || !home->quic) {
                return FALSE;
        }
        FlowUser user = { t, home };
        QuicSink sink = quic_sink_for(&user);
        if (!quic_add(home->quic, side ^ c->moved_side, bytes, n, stamp, &sink) &&
            c->quic_kind == QUIC_UNDECIDED)
                return FALSE;
        flow_update(t, home);
        connection_touch(t, home, stamp.time / 1000000000);
        return TRUE;
}

/* The first datagram of a connection says whether it is of QUIC. */
static void kind_find(ConnectionTable *t, Connection *c, guint side, const guint8 *bytes, gsize n,
                      Stamp stamp)
{
        const CaptureContext *context = t->context;
        QuicKind kind = c->exchange.protocol ? QUIC_NOT : quic_recognise(c->port, bytes, n);
        if (kind < QUIC_LONG && n > 0 && moved_add(t, c, side, bytes, n, stamp)) {
                c->quic_kind = QUIC_MOVED;
                context->account->count[ACCOUNT_CONNECTIONS]--;
                account_add(context->account, ACCOUNT_QUIC_MOVED);
                return;
        }
        c->quic_kind = kind == QUIC_NOT ? QUIC_NO_FLOW : QUIC_FLOW;
        if (kind == QUIC_NOT)
                return;
        account_add(context->account, ACCOUNT_QUIC);
        if (kind == QUIC_V2)
                account_add(context->account, ACCOUNT_QUIC_2);
        if (kind != QUIC_DATA && context->quic &&
            (context->learned || key_log_is_used(context->quic->keys)))
                c->quic = quic_new(context->quic, side);
        else
                quic_flow_finish(t, c);
}

gboolean quic_flow_add(ConnectionTable *t, Connection *c, guint side, const guint8 *bytes, gsize n,
                       gsize length, Stamp stamp)
{
        if (c->quic_kind == QUIC_NO_FLOW)
                return FALSE;
        gboolean first = c->quic_kind == QUIC_UNDECIDED;
        if (first)
                kind_find(t, c, side, bytes, n, stamp);
        if (c->quic_kind == QUIC_NO_FLOW)
                return FALSE;
        t->context->account->udp_port[MIN(c->port[0], c->port[1])]--; /* it is no tunnel's */
        if (c->quic_kind == QUIC_MOVED) {
                if (!first)
                        moved_add(t, c, side, bytes, n, stamp);
                return TRUE;
        }
        if (c->quic && n == length) { /* of a packet that was cut nothing can be opened */
                FlowUser user = { t, c };
                QuicSink sink = quic_sink_for(&user);
                quic_add(c->quic, side, bytes, n, stamp, &sink);
                flow_update(t, c);
        }
        signs_datagram(&c->signs, !c->quic || quic_result(c->quic) != QUIC_OPENED, length);
        return TRUE;
}

void quic_flow_settle(ConnectionTable *t, Connection *c)
{
        FlowUser user = { t, c };
        QuicSink sink = quic_sink_for(&user);
        quic_settle(c->quic, &sink);
        sequencer_close(&c->sealed);
        if (quic_result(c->quic) != QUIC_OPENED)
                quic_flow_finish(t, c);
}

void quic_flow_forget(ConnectionTable *t, Connection *c)
{
        if (!c->quic)
                return;
        const QuicId *id;
        for (guint i = 0; t->quic_ids && (id = quic_id(c->quic, i)); i++)
                if (g_hash_table_lookup(t->quic_ids, id) == c)
                        g_hash_table_remove(t->quic_ids, id);
        g_clear_pointer(&c->quic, quic_free);
        sequencer_close(&c->sealed);
}

void quic_flow_finish(ConnectionTable *t, Connection *c)
{
        Account *account = t->context->account;
        FlowUser user = { t, c };
        QuicSink sink = quic_sink_for(&user);
        if (c->quic)
                quic_settle(c->quic, &sink);
        QuicResult result = c->quic ? quic_result(c->quic) : QUIC_NO_HANDSHAKE;
        if (result == QUIC_OPENED)
                doubt_holes(c);
        else if (result == QUIC_NO_HTTP)
                account_add(account, ACCOUNT_QUIC_NO_HTTP);
        else if (result == QUIC_NO_HANDSHAKE && t->context->quic &&
                 key_log_is_used(t->context->quic->keys))
                account_add(account, ACCOUNT_QUIC_NO_HANDSHAKE);
        else
                account_add(account, ACCOUNT_QUIC_NO_KEYS);
        quic_flow_forget(t, c);
}
