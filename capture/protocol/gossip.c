/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What the servers of a cluster tell each other of the cluster, or copy to each other: Galera's
 * groups, memberlist (Consul, Nomad, Serf), and Cassandra between its nodes; and Corosync, in
 * datagrams. None is a call, so all bytes of such a connection are passed over. It is recognised by
 * the first bytes of either side.
 */
#include "capture/protocol/protocol.h"

#include <string.h>

enum {
        GALERA_HEADER = 8,   /* length, flags and version, then a checksum */
        GALERA_LEAST = 20,   /* version, type, flags, segment and the sender's UUID */
        GALERA_VERSIONS = 2, /* of messages, from 0 on */
        GALERA_TYPES = 8,    /* from 1 on; the last is of what a group sends */
        GALERA_FLAGS = 0x1f,

        LABEL = 244, /* of a cluster, before its messages */
        ENCRYPTED = 10,
        ENCRYPTED_HEADER = 5, /* that, and a length */
        MAP = 0x80,           /* of MessagePack, of up to 15 members */
        TEXT = 0xa0,          /* likewise, of up to 31 bytes */

        TOTEM_VERSION = 3,
        TOTEM_TYPES = 6,  /* from 0 on */
        KNET_VERSION = 1, /* and a type, and the sender's number */
        KNET_DATA = 0,
        KNET_DATA_HEADER = 14,
        KNET_PING = 0x81,
        KNET_PONG = 0x82,
        KNET_PING_SIZE = 26,
        KNET_LINKS = 8, /* from 0 on */
};

/* A message of a group, whole; several may follow each other. */
static ParseStatus galera_recognise(const guint8 *bytes, gsize n)
{
        gsize at = 0;
        while (at < n) {
                const guint8 *p = bytes + at;
                if (n - at < GALERA_HEADER + 4)
                        return at > 0 ? PARSE_MESSAGE : PARSE_MORE;
                gsize length = p[0] | (gsize)p[1] << 8 | (gsize)p[2] << 16;
                if ((p[3] != 1 && p[3] != 2) || length < GALERA_LEAST || p[8] >= GALERA_VERSIONS ||
                    p[9] == 0 || p[9] > GALERA_TYPES || p[10] > GALERA_FLAGS)
                        return PARSE_NOT_MINE;
                at += GALERA_HEADER + length;
        }
        return at == n ? PARSE_MESSAGE : PARSE_MORE;
}

/* A type, and a map of which the first member has one of the names of memberlist's messages. */
static ParseStatus memberlist_recognise(const guint8 *bytes, gsize n)
{
        static const char *const names[] = { "Algo",  "Buf",  "Error",        "Join",
                                             "Nodes", "Node", "UserStateLen", "SeqNo" };
        if (n > 2 && bytes[0] == LABEL && n > bytes[1] + 2u) {
                gsize label = bytes[1] + 2u;
                bytes += label;
                n -= label;
        }
        if (bytes[0] == ENCRYPTED)
                return n > ENCRYPTED_HEADER && read_u32(bytes + 1) == n - ENCRYPTED_HEADER
                               ? PARSE_MESSAGE
                               : PARSE_NOT_MINE;
        if (n < 4 || bytes[0] > 13 || (bytes[1] & 0xf0) != MAP || (bytes[2] & 0xe0) != TEXT)
                return PARSE_NOT_MINE;
        gsize length = bytes[2] & 0x1f;
        for (guint i = 0; i < G_N_ELEMENTS(names) && length <= n - 3; i++)
                if (strlen(names[i]) == length && memcmp(bytes + 3, names[i], length) == 0)
                        return PARSE_MESSAGE;
        return PARSE_NOT_MINE;
}

static ParseStatus gossip_recognise(const guint8 *bytes, gsize n)
{
        static const guint8 cassandra[] = { 0xca, 0x55, 0x2d, 0xfa };
        if (memcmp(bytes, cassandra, MIN(n, sizeof cassandra)) == 0)
                return n < sizeof cassandra ? PARSE_MORE : PARSE_MESSAGE;
        ParseStatus status = memberlist_recognise(bytes, n);
        return status == PARSE_NOT_MINE ? galera_recognise(bytes, n) : status;
}

static ParseStatus gossip_parse(G_GNUC_UNUSED gpointer state, guint8 call, const guint8 *bytes,
                                gsize n, gboolean eof, G_GNUC_UNUSED GString *label, Parsed *parsed)
{
        if (call == CALL_PROBE) {
                ParseStatus status = gossip_recognise(bytes, n);
                if (status != PARSE_MESSAGE)
                        return status;
        }
        parsed->kind = KIND_CONTROL;
        parsed->length = PARSE_FOREVER;
        return eof ? PARSE_MESSAGE : PARSE_MORE;
}

/* A message of Totem, in either order of bytes. */
static gboolean is_totem(const guint8 *p, gsize n)
{
        gboolean magic =
                n >= 4 && ((p[0] == 0x70 && p[1] == 0xc0) || (p[0] == 0xc0 && p[1] == 0x70));

        return magic && p[2] == TOTEM_VERSION && p[3] < TOTEM_TYPES;
}

/* Corosync in datagrams of its own, or in those of knet, which also sends pings on each link. */
static gboolean corosync_recognise(const guint8 *bytes, gsize n)
{
        if (is_totem(bytes, n))
                return TRUE;
        if (n < KNET_DATA_HEADER || bytes[0] != KNET_VERSION)
                return FALSE;
        if (bytes[1] == KNET_PING || bytes[1] == KNET_PONG)
                return n == KNET_PING_SIZE && bytes[4] < KNET_LINKS;
        return bytes[1] == KNET_DATA && is_totem(bytes + KNET_DATA_HEADER, n - KNET_DATA_HEADER);
}

static ParseStatus corosync_parse(G_GNUC_UNUSED gpointer state, guint8 call, const guint8 *bytes,
                                  gsize n, G_GNUC_UNUSED gboolean eof, G_GNUC_UNUSED GString *label,
                                  Parsed *parsed)
{
        if (call == CALL_PROBE && !corosync_recognise(bytes, n))
                return PARSE_NOT_MINE;
        parsed->kind = KIND_CONTROL;
        parsed->length = MAX(n, 1);
        return PARSE_MESSAGE;
}

static gsize gossip_find_boundary(G_GNUC_UNUSED const guint8 *bytes, G_GNUC_UNUSED gsize n)
{
        return 0;
}

const Protocol protocol_gossip = {
        .name = "gossip",
        .parse = gossip_parse,
        .find_boundary = gossip_find_boundary,
};

const Protocol protocol_gossip_udp = {
        .name = "gossip",
        .datagrams = TRUE,
        .parse = corosync_parse,
};
