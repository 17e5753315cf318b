/* SPDX-License-Identifier: BSD-2-Clause */
#include "calls/call-column.h"

#include <string.h>

#include "base/big-memory.h"

void call_column_clear(CallColumn *c)
{
        big_free(c->of, c->size * c->width);
}

static inline gpointer record_at(const CallColumn *c, guint64 call)
{
        return (guint8 *)c->of + call * c->width;
}

gpointer call_column_place(CallColumn *c, gsize width, guint64 call)
{
        c->width = width;
        if (call >= c->size) {
                guint32 size = MIN(MAX(1024, 2 * call), G_MAXUINT32);

                c->of = big_renew_in_file(c->of, c->size * width, size * width);
                c->size = size;
        }
        if (call >= c->n) {
                memset(record_at(c, c->n), 0, (call + 1 - c->n) * width);
                c->n = (guint32)call + 1;
        }
        return record_at(c, call);
}

void call_column_move(CallColumn *c, guint32 to, guint32 from, guint32 n)
{
        guint32 room = to < c->n ? MIN(n, c->n - to) : 0,
                noted = from < c->n ? MIN(room, c->n - from) : 0;

        if (room == 0)
                return;
        memmove(record_at(c, to), record_at(c, from), noted * c->width);
        memset(record_at(c, to + noted), 0, (room - noted) * c->width);
}

void call_column_drop(CallColumn *c, guint32 n)
{
        guint32 drop = MIN(n, c->n);

        c->n -= drop;
        if (c->n > 0)
                memmove(c->of, record_at(c, drop), c->n * c->width);
}

void call_column_put_away(const CallColumn *c)
{
        big_put_away(c->of, c->size * c->width);
}
