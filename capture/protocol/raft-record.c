/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/protocol/raft-record.h"

#include "capture/packet/packet.h"

typedef gboolean (*SkipRecord)(Cursor *c);

/* A length and its bytes. */
static gboolean message_skip(Cursor *c)
{
        guint64 length;
        return cursor_u64(c, &length) && length > 0 && length <= cursor_left(c) &&
               cursor_skip(c, (gsize)length);
}

/* A heartbeat of the link; entries, their number before them and a number after; a message. */
static gboolean typed_skip(Cursor *c)
{
        guint8 type;
        guint64 n;
        if (!cursor_u8(c, &type) || type > 2)
                return FALSE;
        if (type == 0)
                return TRUE;
        if (type == 2)
                return message_skip(c);
        if (!cursor_u64(c, &n))
                return FALSE;
        while (n-- > 0)
                if (!message_skip(c))
                        return FALSE;
        return cursor_skip(c, 8);
}

gsize raft_record_length(const guint8 *chunk, gsize n)
{
        static const SkipRecord encodings[] = { message_skip, typed_skip };
        for (guint i = 0; i < G_N_ELEMENTS(encodings); i++) {
                Cursor c = cursor(chunk, n);
                gsize first = 0;
                gboolean sound = TRUE;
                while (cursor_left(&c) > 0 && (sound = encodings[i](&c)))
                        if (first == 0)
                                first = (gsize)(c.at - chunk);
                if (sound)
                        return first;
        }
        return n;
}
