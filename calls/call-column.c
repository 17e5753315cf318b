/* SPDX-License-Identifier: BSD-2-Clause */
#include "calls/call-column.h"

#include <string.h>

#include "base/big-memory.h"

void call_column_clear(CallColumn *c, gsize width)
{
        big_free(c->of, c->size * width);
}

static inline gpointer record(const CallColumn *c, gsize width, guint64 number)
{
        return (guint8 *)c->of + number * width;
}

gpointer call_column_place(CallColumn *c, gsize width, guint64 call)
{
        if (call >= c->size) {
                guint32 size = MIN(MAX(1024, 2 * call), G_MAXUINT32);

                c->of = big_renew_in_file(c->of, c->size * width, size * width);
                c->size = size;
        }
        if (call >= c->n) {
                memset(record(c, width, c->n), 0, (call + 1 - c->n) * width);
                c->n = (guint32)call + 1;
        }
        return record(c, width, call);
}

void call_column_move(CallColumn *c, gsize width, guint32 to, guint32 from, guint32 n)
{
        guint32 room = to < c->n ? MIN(n, c->n - to) : 0,
                noted = from < c->n ? MIN(room, c->n - from) : 0;

        if (room == 0)
                return;
        memmove(record(c, width, to), record(c, width, from), noted * width);
        memset(record(c, width, to + noted), 0, (room - noted) * width);
}

void call_column_drop(CallColumn *c, gsize width, guint32 n)
{
        guint32 drop = MIN(n, c->n);

        c->n -= drop;
        if (c->n > 0)
                memmove(c->of, record(c, width, drop), c->n * width);
}

void call_column_put_away(const CallColumn *c, gsize width)
{
        big_put_away(c->of, c->size * width);
}
