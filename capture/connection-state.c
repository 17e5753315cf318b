/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/connection-state.h"

#include <string.h>

#include "base/hash.h"
#include "capture/exchange.h"

static void list_remove(ConnectionTable *t, Connection *c)
{
        SilenceList *list = &t->lists[c->patient];
        *(c->older ? &c->older->newer : &list->oldest) = c->newer;
        *(c->newer ? &c->newer->older : &list->newest) = c->older;
}

static void silence_list_append(ConnectionTable *t, Connection *c)
{
        SilenceList *list = &t->lists[c->patient];
        c->newer = NULL;
        c->older = list->newest;
        *(list->newest ? &list->newest->newer : &list->oldest) = c;
        list->newest = c;
}

void connection_move(ConnectionTable *t, Connection *c, gint64 seconds, guint8 patient)
{
        list_remove(t, c);
        c->seen = seconds;
        c->patient = patient;
        silence_list_append(t, c);
}

static void half_open_add(ConnectionTable *t, Connection *c, guint side)
{
        c->half_open = side ? ASKED_BY_1 : ASKED_BY_0;
        c->older_half_open = t->newest_half_open;
        *(t->newest_half_open ? &t->newest_half_open->newer_half_open : &t->oldest_half_open) = c;
        t->newest_half_open = c;
        t->n_half_open++;
}

static void half_open_remove(ConnectionTable *t, Connection *c)
{
        *(c->older_half_open ? &c->older_half_open->newer_half_open : &t->oldest_half_open) =
                c->newer_half_open;
        *(c->newer_half_open ? &c->newer_half_open->older_half_open : &t->newest_half_open) =
                c->older_half_open;
        c->half_open = WHOLE_OPEN;
        t->n_half_open--;
}

void connection_hear_half_open(ConnectionTable *t, Connection *c, guint side)
{
        if (c->half_open == (side ? ASKED_BY_0 : ASKED_BY_1))
                c->half_open = side ? ANSWERED_TO_0 : ANSWERED_TO_1;
        else if (c->half_open == (side ? ANSWERED_TO_1 : ANSWERED_TO_0))
                half_open_remove(t, c);
}

static guint64 connection_hash(const ConnectionTable *t, const Address address[2],
                               const guint16 port[2], guint8 protocol)
{
        guint64 h =
                hash_word(t->seed, address[0].low ^ (address[1].low << 32 | address[1].low >> 32));
        if (address[0].high | address[1].high)
                h = hash_word(hash_word(h, address[0].high), address[1].high);
        return hash_word(h, (guint64)port[0] << 32 | (guint64)port[1] << 16 | protocol);
}

static void table_grow(ConnectionTable *t)
{
        gsize n = t->n_buckets * 2;
        Connection **buckets = g_new0(Connection *, n);
        for (gsize i = 0; i < t->n_buckets; i++)
                for (Connection *c = t->buckets[i], *next; c; c = next) {
                        next = c->chain;
                        guint64 h = connection_hash(t, c->address, c->port, c->protocol);
                        c->chain = buckets[h & (n - 1)];
                        buckets[h & (n - 1)] = c;
                }
        g_free(t->buckets);
        t->buckets = buckets;
        t->n_buckets = n;
}

Connection *connection_insert(ConnectionTable *t, const Address address[2], const guint16 port[2],
                              guint8 protocol, guint side, gint64 seconds)
{
        if (t->n >= t->n_buckets)
                table_grow(t);
        Connection *c = t->free;
        if (c)
                t->free = c->chain;
        else
                c = g_new(Connection, 1);
        memset(c, 0, sizeof *c);
        memcpy(c->address, address, sizeof c->address);
        memcpy(c->port, port, sizeof c->port);
        c->protocol = protocol;
        c->patient = protocol == IP_TCP;
        c->seen = seconds;
        c->held.kind = ITEM_HELD;
        c->sealed.kind = ITEM_TLS;
        guint64 h = connection_hash(t, address, port, protocol);
        c->chain = t->buckets[h & (t->n_buckets - 1)];
        t->buckets[h & (t->n_buckets - 1)] = c;
        silence_list_append(t, c);
        half_open_add(t, c, side);
        t->n++;
        return c;
}

void connection_remove(ConnectionTable *t, Connection *c)
{
        guint64 h = connection_hash(t, c->address, c->port, c->protocol);
        Connection **place = &t->buckets[h & (t->n_buckets - 1)];
        while (*place != c)
                place = &(*place)->chain;
        *place = c->chain;
        list_remove(t, c);
        if (c->half_open != WHOLE_OPEN)
                half_open_remove(t, c);
        c->opening = 0;
        c->chain = t->free;
        t->free = c;
        t->n--;
}

Connection *connection_find(const ConnectionTable *t, const IpPacket *ip, guint16 source_port,
                            guint16 destination_port, gint64 time, Address address[2],
                            guint16 port[2], guint *side)
{
        Address from = ip->source, to = ip->destination;
        if (t->translates) {
                Endpoint ends[2] = { { from, source_port }, { to, destination_port } };
                node_names_translate(t->names, ends, time);
                from = ends[0].address;
                to = ends[1].address;
                source_port = ends[0].port;
                destination_port = ends[1].port;
        }
        int order = address_compare(from, to);
        *side = order > 0 || (order == 0 && source_port > destination_port);
        address[*side] = from;
        address[!*side] = to;
        port[*side] = source_port;
        port[!*side] = destination_port;
        guint64 h = connection_hash(t, address, port, ip->protocol);
        Connection *c = t->buckets[h & (t->n_buckets - 1)];
        while (c && (!address_equal(c->address[0], address[0]) ||
                     !address_equal(c->address[1], address[1]) || c->port[0] != port[0] ||
                     c->port[1] != port[1] || c->protocol != ip->protocol))
                c = c->chain;
        return c;
}

void connection_begin_exchange(Connection *c, const Protocol *protocol, guint client,
                               gboolean start_seen, const NodeId node[2], const guint16 port[2])
{
        exchange_init(&c->exchange, protocol, client, start_seen, node, port);
        for (guint side = 0; side < 2; side++)
                c->exchange.pairing.message[side].item.kind = ITEM_MESSAGE_0 + side;
}
