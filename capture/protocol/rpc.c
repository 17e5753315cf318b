/* SPDX-License-Identifier: BSD-2-Clause
 *
 * ONC RPC (RFC 5531), over UDP and, in records of fragments, over TCP: NFS and
 * others. Calls and replies are paired by transaction id; a call that is repeated
 * before its reply is one call. Either side of a connection may call.
 */
#include "capture/protocol/protocol.h"

#include <string.h>

enum {
        CALL,
        REPLY,
        ACCEPTED = 0,
        RPC_VERSION = 2,
        MARK = 4, /* before each fragment: its length, and whether it is the last */
        LAST_FRAGMENT = 0x80,
        MAX_FRAGMENT = 0xffffff,
        MAX_AUTH = 400,
        MAX_HEAD = 512,  /* bytes of a message that are looked at */
        MAX_LOOK = 1024, /* bytes by which a boundary is known */
        CALL_HEAD = 32,  /* to the length of the credentials */
        REPLY_HEAD = 24, /* of one that is accepted, without the body of its verifier */
        CALL_RPC = 1,
};

typedef struct {
        guint8 continued; /* fragments of a record that has begun follow */
} RpcState;

G_STATIC_ASSERT(sizeof(RpcState) <= PROTOCOL_STATE_SIZE);

/* A flavor and the length of what follows: RFC 5531, 8.2. */
static gboolean auth_is_sound(const guint8 *p)
{
        guint32 flavor = read_u32(p), n = read_u32(p + 4);
        return (flavor <= 7 || (flavor >= 390000 && flavor < 400000)) && n <= MAX_AUTH &&
               n % 4 == 0 && (flavor != 0 || n == 0);
}

static ParseStatus call_read(const guint8 *p, gsize n, gsize length)
{
        if (length < CALL_HEAD + 8)
                return PARSE_NOT_MINE;
        /* The null procedure takes nothing, but a context of security. NTP may look like it. */
        if (n >= CALL_HEAD && read_u32(p + 20) == 0 && read_u32(p + 24) == 0 &&
            MIN(n, length) > CALL_HEAD + 8)
                return PARSE_NOT_MINE;
        if (n < CALL_HEAD)
                return n < 12 || read_u32(p + 8) == RPC_VERSION ? PARSE_MORE : PARSE_NOT_MINE;
        return read_u32(p + 8) == RPC_VERSION && read_u32(p + 12) > 0 &&
                               read_u32(p + 12) < 0x60000000 && read_u32(p + 16) < 0x10000 &&
                               read_u32(p + 20) < 0x10000 && auth_is_sound(p + 24) &&
                               CALL_HEAD + read_u32(p + 28) + 8 <= length
                       ? PARSE_MESSAGE
                       : PARSE_NOT_MINE;
}

static ParseStatus reply_read(const guint8 *p, gsize n, gsize length)
{
        if (n < 12)
                return length < 12 ? PARSE_NOT_MINE : PARSE_MORE;
        if (read_u32(p + 8) != ACCEPTED) /* of another version, or without the right */
                return read_u32(p + 8) == 1 && (length == 20 || length == 24) ? PARSE_MESSAGE
                                                                              : PARSE_NOT_MINE;
        if (length < REPLY_HEAD)
                return PARSE_NOT_MINE;
        if (n < 20)
                return PARSE_MORE;
        if (!auth_is_sound(p + 12))
                return PARSE_NOT_MINE;
        gsize status = 20 + read_u32(p + 16);
        if (status + 4 > length)
                return PARSE_NOT_MINE;
        if (status + 4 > n)
                return PARSE_MORE;
        return read_u32(p + status) <= 5 ? PARSE_MESSAGE : PARSE_NOT_MINE;
}

/* The message, or its first fragment, of length bytes, of which n are there. */
static ParseStatus rpc_message_read(const guint8 *p, gsize n, gsize length, GString *label,
                                    Parsed *parsed)
{
        if (n < 8)
                return length < 8 ? PARSE_NOT_MINE : PARSE_MORE;
        guint32 type = read_u32(p + 4);
        if (type > REPLY)
                return PARSE_NOT_MINE;
        ParseStatus status = type == CALL ? call_read(p, n, length) : reply_read(p, n, length);
        if (status != PARSE_MESSAGE)
                return status;
        parsed->kind = type == CALL ? KIND_CALL : KIND_RETURN;
        parsed->keyed = TRUE;
        parsed->key = read_u32(p);
        parsed->call = CALL_RPC;
        if (label && type == CALL)
                g_string_append_printf(label, "RPC %u.%u.%u", read_u32(p + 12), read_u32(p + 16),
                                       read_u32(p + 20));
        return PARSE_MESSAGE;
}

/* The same of a message whose fragments begin at bytes. The first ones may be tiny: they are put
 * together. */
static ParseStatus rpc_record_read(const guint8 *bytes, gsize n, GString *label, Parsed *parsed)
{
        guint8 head[MAX_HEAD];
        gsize have = 0, length = 0, at = 0;
        gboolean last = FALSE;
        while (!last && length < MAX_HEAD && at < n && n - at >= MARK) {
                guint32 size = read_u32(bytes + at) & 0x7fffffff;
                last = (bytes[at] & LAST_FRAGMENT) != 0;
                at += MARK;
                if (size > MAX_FRAGMENT || size == 0)
                        return PARSE_NOT_MINE;
                if (length == 0 && (last || size >= MAX_HEAD))
                        return rpc_message_read(bytes + at, n - at, size, label, parsed);
                gsize shown = MIN(MIN(size, n - at), MAX_HEAD - have);
                memcpy(head + have, bytes + at, shown);
                have += shown;
                length += size;
                at += size;
        }
        return rpc_message_read(head, have, last ? length : MAX(length, MAX_HEAD), label, parsed);
}

static ParseStatus rpc_parse(gpointer state, guint8 call, const guint8 *bytes, gsize n,
                             gboolean eof, GString *label, Parsed *parsed)
{
        RpcState *s = state;
        (void)call;
        if (eof)
                return PARSE_NOT_MINE; /* within a record */
        for (;;) {
                gsize at = (gsize)parsed->length;
                if (at < n && (bytes[at] & ~LAST_FRAGMENT))
                        return PARSE_NOT_MINE; /* longer than that */
                if (at > n || n - at < MARK)
                        return PARSE_MORE;
                const guint8 *mark = bytes + at;
                gboolean last = (mark[0] & LAST_FRAGMENT) != 0;
                guint32 length = read_u32(mark) & 0x7fffffff;
                if (length > MAX_FRAGMENT || length == 0)
                        return PARSE_NOT_MINE;
                if (!s->continued) {
                        ParseStatus status = rpc_record_read(mark, n - at, label, parsed);
                        if (status != PARSE_MESSAGE)
                                return status;
                }
                parsed->length += MARK + length;
                s->continued = !last;
                if (last)
                        return PARSE_MESSAGE;
        }
}

static gsize rpc_find_boundary(const guint8 *bytes, gsize n)
{
        for (gsize at = 0; at + MARK + 12 <= n; at++) {
                RpcState state = { 0 };
                Parsed parsed = { 0 };
                if (rpc_parse(&state, CALL_NONE, bytes + at, MIN(n - at, MAX_LOOK), FALSE, NULL,
                              &parsed) != PARSE_NOT_MINE)
                        return at;
        }
        return n;
}

static ParseStatus rpc_udp_parse(gpointer state, guint8 call, const guint8 *bytes, gsize n,
                                 gboolean eof, GString *label, Parsed *parsed)
{
        (void)state, (void)call;
        /* What the capture has cut off was there: 65,507 bytes at most. */
        ParseStatus status = rpc_message_read(bytes, n, eof ? n : MAX(n, 65507), label, parsed);
        parsed->length = n;
        return status == PARSE_MESSAGE ? status : PARSE_NOT_MINE;
}

const Protocol protocol_rpc = {
        .name = "rpc",
        .keyed = TRUE,
        .parse = rpc_parse,
        .find_boundary = rpc_find_boundary,
};

const Protocol protocol_rpc_udp = {
        .name = "rpc-udp",
        .datagrams = TRUE,
        .parse = rpc_udp_parse,
};
