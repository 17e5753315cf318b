/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The bus of Redis Cluster, on which each server tells the others what it knows of the cluster. A
 * message begins with "RCmb" and its length. None is a call.
 */
#include "capture/protocol/protocol.h"

#include <string.h>

enum {
        HEADER = 8, /* the signature and the length, from which on a message is settled */
        LEAST_LENGTH = 16,
        MOST_LENGTH = 1 << 30,
};

static const char signature[] = "RCmb";
enum { SIGNATURE = sizeof signature - 1 };

static ParseStatus redis_bus_parse(G_GNUC_UNUSED gpointer state, G_GNUC_UNUSED guint8 call,
                                   const guint8 *bytes, gsize n, gboolean eof,
                                   G_GNUC_UNUSED GString *label, Parsed *parsed)
{
        if (eof || memcmp(bytes, signature, MIN(n, SIGNATURE)) != 0)
                return PARSE_NOT_MINE;
        if (n < HEADER)
                return PARSE_MORE;
        guint32 length = read_u32(bytes + SIGNATURE);
        if (length < LEAST_LENGTH || length > MOST_LENGTH)
                return PARSE_NOT_MINE;
        parsed->kind = KIND_CONTROL;
        parsed->length = length;
        return PARSE_MESSAGE;
}

static gsize redis_bus_find_boundary(const guint8 *bytes, gsize n)
{
        for (gsize at = 0; at < n; at++)
                if (memcmp(bytes + at, signature, MIN(n - at, SIGNATURE)) == 0)
                        return at;
        return n;
}

const Protocol protocol_redis_bus = {
        .name = "redis-bus",
        .parse = redis_bus_parse,
        .find_boundary = redis_bus_find_boundary,
};
