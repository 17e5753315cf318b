/* SPDX-License-Identifier: BSD-2-Clause
 *
 * ZooKeeper: requests and responses with ids (xid), many at a time. An event of a watch is one-way.
 * What begins and ends a session is of the session: connecting, authentication, the watches that a
 * client sets again, closing; pings are nothing.
 *
 * A packet is a length and its bytes. A request has id and type, a response id, transaction and
 * error; which of them it is is seen by the path of a request, and by who talks.
 */
#include "capture/protocol/path-label.h"
#include "capture/protocol/protocol.h"

#include <string.h>

enum {
        LENGTH = 4,
        LOOK = 256, /* bytes of a packet that are looked at */
        MAX_PACKET = 1 << 28,
        MAX_RECOGNISED =
                1 << 22, /* of a packet by which a connection is; by default 1 MiB at most */
        MIN_RESPONSE = 16,

        PING = 11,
        MULTI = 14,
        AUTH = 100,
        SET_WATCHES = 101,
        SASL = 102,
        SET_WATCHES_2 = 105,
        CLOSE = -11,

        XID_EVENT = -1,
        XID_PING = -2,
        XID_AUTH = -4,
        XID_WATCHES = -8,
};

static const struct {
        gint32 type;
        gboolean path; /* with which it begins */
        const char *name;
} operations[] = {
        { 1, TRUE, "create" },
        { 2, TRUE, "delete" },
        { 3, TRUE, "exists" },
        { 4, TRUE, "getData" },
        { 5, TRUE, "setData" },
        { 6, TRUE, "getACL" },
        { 7, TRUE, "setACL" },
        { 8, TRUE, "getChildren" },
        { 9, TRUE, "sync" },
        { PING, FALSE, NULL },
        { 12, TRUE, "getChildren2" },
        { 13, TRUE, "check" },
        { MULTI, FALSE, "multi" },
        { 15, TRUE, "create2" },
        { 16, FALSE, "reconfig" },
        { 17, TRUE, "checkWatches" },
        { 18, TRUE, "removeWatches" },
        { 19, TRUE, "createContainer" },
        { 20, TRUE, "deleteContainer" },
        { 21, TRUE, "createTTL" },
        { 22, FALSE, "multiRead" },
        { AUTH, FALSE, NULL },
        { SET_WATCHES, FALSE, NULL },
        { SASL, FALSE, NULL },
        { 103, TRUE, "getEphemerals" },
        { 104, TRUE, "getAllChildrenNumber" },
        { SET_WATCHES_2, FALSE, NULL },
        { 106, TRUE, "addWatch" },
        { 107, FALSE, "whoAmI" },
        { CLOSE, FALSE, NULL },
};

typedef struct {
        gint32 session; /* client: id of the request that ends it, or authenticates it by SASL */
        guint8 sender;  /* Sender */
} ZooKeeperState;

G_STATIC_ASSERT(sizeof(ZooKeeperState) <= PROTOCOL_STATE_SIZE);

typedef struct {
        guint32 length; /* after it */
        gint32 xid, type;
        Cursor rest; /* after these, as far as it is looked at */
} ZooKeeperPacket;

static gint operation_find(gint32 type)
{
        for (guint i = 0; i < G_N_ELEMENTS(operations); i++)
                if (operations[i].type == type)
                        return (gint)i;
        return -1;
}

static ParseStatus zookeeper_packet_read(const guint8 *bytes, gsize n, ZooKeeperPacket *p)
{
        if (n > 0 && bytes[0] > MAX_PACKET >> 24)
                return PARSE_NOT_MINE;
        if (n < LENGTH)
                return PARSE_MORE;
        p->length = read_u32(bytes);
        if (p->length < 8 || p->length > MAX_PACKET)
                return PARSE_NOT_MINE;
        gsize needed = MIN(p->length, (gsize)LOOK);
        if (n < LENGTH + needed)
                return PARSE_MORE;
        p->xid = (gint32)read_u32(bytes + LENGTH);
        p->type = (gint32)read_u32(bytes + LENGTH + 4);
        p->rest = cursor(bytes + LENGTH + 8, needed - 8);
        return PARSE_MESSAGE;
}

/* A path, as far as it is there. */
static gboolean path_read(Cursor c, gsize left, Cursor *path)
{
        guint32 n;
        if (!cursor_u32(&c, &n) || n == 0 || n > left - 4)
                return FALSE;
        *path = cursor(c.at, MIN(n, cursor_left(&c)));
        if (*c.at != '/')
                return FALSE;
        for (const guint8 *p = path->at; p < path->end; p++)
                if (*p < ' ')
                        return FALSE;
        return TRUE;
}

/* What a client says first: version 0, a transaction, a timeout, a session and its password, and
 * in newer versions whether reading is enough. */
static gboolean is_connect(const ZooKeeperPacket *p)
{
        return (p->length == 44 || p->length == 45) && p->xid == 0 &&
               read_u32(p->rest.at + 16) == 16;
}

/* And what the server does. */
static gboolean is_connected(const ZooKeeperPacket *p)
{
        return (p->length == 36 || p->length == 37) && p->xid == 0 &&
               read_u32(p->rest.at + 8) == 16;
}

/* Whether nothing but a request can look so. */
static gboolean is_surely_request(const ZooKeeperPacket *p)
{
        Cursor path;
        gint i = operation_find(p->type);
        if (i < 0)
                return FALSE;
        return p->length == 8 || (operations[i].path && path_read(p->rest, p->length - 8, &path));
}

/* An event: no transaction, no error, a type of event and a state, a path. */
static gboolean is_event(const ZooKeeperPacket *p)
{
        Cursor c = p->rest, path;
        guint32 low, error, type, state;
        return p->xid == XID_EVENT && p->type == -1 && p->length >= 28 && cursor_u32(&c, &low) &&
               low == G_MAXUINT32 && cursor_u32(&c, &error) && cursor_u32(&c, &type) &&
               cursor_u32(&c, &state) && error == 0 &&
               (path_read(c, p->length - 24, &path) ||
                (cursor_left(&c) == 4 && type == G_MAXUINT32));
}

/* The answer to a ping. */
static gboolean is_pong(const ZooKeeperPacket *p)
{
        return p->xid == XID_PING && p->length == MIN_RESPONSE && read_u32(p->rest.at + 4) == 0;
}

/* PARSE_MESSAGE where the bytes begin with a packet that is surely of ZooKeeper. */
static ParseStatus zookeeper_recognise(const guint8 *bytes, gsize n)
{
        ZooKeeperPacket p;
        if (n >= LENGTH && read_u32(bytes) > MAX_RECOGNISED)
                return PARSE_NOT_MINE;
        ParseStatus status = zookeeper_packet_read(bytes, n, &p);
        if (status != PARSE_MESSAGE)
                return status;
        if (p.length == 8)
                return p.xid == XID_PING && p.type == PING ? PARSE_MESSAGE : PARSE_NOT_MINE;
        return is_connect(&p) || is_connected(&p) || is_event(&p) || is_pong(&p) ||
                               is_surely_request(&p)
                       ? PARSE_MESSAGE
                       : PARSE_NOT_MINE;
}

/* The name of the operation, and the first part of the path. */
static void zookeeper_label_append(GString *label, gint operation, const ZooKeeperPacket *p)
{
        Cursor path;
        if (!label || !operations[operation].name)
                return;
        g_string_append(label, operations[operation].name);
        if (!operations[operation].path || !path_read(p->rest, p->length - 8, &path))
                return;
        const guint8 *slash = memchr(path.at + 1, '/', cursor_left(&path) - 1);
        gsize n = slash ? (gsize)(slash - path.at) : cursor_left(&path);
        for (gsize i = 0; i < n; i++)
                if (g_ascii_isdigit(path.at[i])) { /* of a sequence */
                        g_string_append(label, " /{id}");
                        return;
                }
        g_string_append_c(label, ' ');
        path_label_append(label, path.at, n);
}

static gboolean zookeeper_request_read(ZooKeeperState *s, const ZooKeeperPacket *p, GString *label,
                                       Parsed *parsed)
{
        gint operation = operation_find(p->type);
        if (operation < 0)
                return FALSE;
        if (p->type == PING) {
                parsed->kind = KIND_CONTROL;
        } else if (p->type == CLOSE || p->type == SASL || p->xid < 0) {
                s->session = p->xid;
                parsed->kind = KIND_SESSION;
        } else {
                zookeeper_label_append(label, operation, p);
                parsed_set_keyed(parsed, KIND_CALL, PART_BEGINS | PART_ENDS, (guint32)p->xid);
        }
        return TRUE;
}

static gboolean response_read(const ZooKeeperState *other, const ZooKeeperPacket *p, Parsed *parsed)
{
        if (p->length < MIN_RESPONSE)
                return FALSE;
        if (p->xid == XID_PING)
                parsed->kind = KIND_CONTROL;
        else if (p->xid == XID_EVENT)
                parsed->kind = KIND_ONE_WAY;
        else if (p->xid < 0 || (other && other->session == p->xid && p->xid != 0))
                parsed->kind = KIND_SESSION;
        else
                parsed_set_keyed(parsed, KIND_RETURN, PART_ENDS, (guint32)p->xid);
        return TRUE;
}

static ParseStatus zookeeper_parse(gpointer state, guint8 call, const guint8 *bytes, gsize n,
                                   gboolean eof, GString *label, Parsed *parsed)
{
        ZooKeeperState *s = state;
        ZooKeeperPacket p;
        if (eof)
                return PARSE_NOT_MINE; /* within a packet */
        ParseStatus status = call == CALL_PROBE ? zookeeper_recognise(bytes, n) : PARSE_MESSAGE;
        if (status == PARSE_MESSAGE)
                status = zookeeper_packet_read(bytes, n, &p);
        if (status != PARSE_MESSAGE)
                return status;
        gboolean connects = is_connect(&p);
        if (connects || is_surely_request(&p))
                s->sender = SENDER_CLIENT;
        else if (is_connected(&p) || is_event(&p) || is_pong(&p))
                s->sender = SENDER_SERVER;
        else if (s->sender == SENDER_ANY)
                s->sender = parsed->sender;
        parsed->sender = s->sender;
        if (connects || is_connected(&p))
                parsed->kind = KIND_SESSION;
        else if (s->sender == SENDER_ANY)
                parsed->kind = KIND_CONTROL;
        else if (s->sender == SENDER_CLIENT ? !zookeeper_request_read(s, &p, label, parsed)
                                            : !response_read(parsed->other, &p, parsed))
                return PARSE_NOT_MINE;
        parsed->length = LENGTH + (guint64)p.length;
        return PARSE_MESSAGE;
}

static gsize zookeeper_find_boundary(const guint8 *bytes, gsize n)
{
        for (gsize at = 0; at < n; at++)
                if (zookeeper_recognise(bytes + at, n - at) == PARSE_MESSAGE)
                        return at;
        return n;
}

const Protocol protocol_zookeeper = {
        .name = "zookeeper",
        .keyed = TRUE,
        .mutual = TRUE,
        .parse = zookeeper_parse,
        .find_boundary = zookeeper_find_boundary,
};
