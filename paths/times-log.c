/* SPDX-License-Identifier: BSD-2-Clause */
#include "paths/times-log.h"

#include <string.h>

#include "base/big-memory.h"

/* Pages of the file are released after this many bytes were added or places were read. The kernel
 * maps pages around each place. */
enum { LEAST_SIZE = 1 << 16, ADDED = 1 << 20, AROUND = 1 << 16, LOOKED_AT = 32 };

struct TimesLog {
        guint8 *data;
        gsize n, size;     /* bytes used, and allocated */
        gsize added;       /* bytes, since what is in the file was put away */
        guint looked_at;   /* places, since then */
        TimesBlockAt last; /* the last of them */
};

TimesLog *times_log_new(void)
{
        return g_new0(TimesLog, 1);
}

void times_log_free(TimesLog *log)
{
        big_free(log->data, log->size);
        g_free(log);
}

static void put_away(TimesLog *log)
{
        big_put_away(log->data, log->size);
        log->added = log->looked_at = 0;
}

static void times_log_make_room(TimesLog *log, gsize n)
{
        gsize size = MAX(log->size, LEAST_SIZE);

        if (log->n == 0)
                log->n = sizeof(TimesBlock); /* no block has the place 0 */
        while (size - log->n < n)
                size *= 2;
        log->data = big_renew_in_file(log->data, log->size, size);
        log->size = size;
}

static gsize block_size(guint32 n, gboolean is_wide)
{
        gsize bytes = n * (is_wide ? sizeof(gint64) : sizeof(gint32));

        return sizeof(TimesBlock) + ((bytes + 7) & ~(gsize)7);
}

TimesBlockAt times_log_add(TimesLog *log, TimesBlockAt last, gconstpointer times, guint32 n,
                           gboolean is_wide)
{
        gsize size = block_size(n, is_wide);
        TimesBlockAt at;
        TimesBlock *block;

        if (log->size - log->n < size || log->n == 0)
                times_log_make_room(log, size);
        at = log->n;
        block = (TimesBlock *)(log->data + at);
        block->before = last;
        block->n = n;
        block->is_wide = is_wide != 0;
        memcpy(block->times, times, n * (is_wide ? sizeof(gint64) : sizeof(gint32)));
        log->n += size;
        log->added += size;
        if (log->added >= ADDED)
                put_away(log);
        return at;
}

const TimesBlock *times_log_block(TimesLog *log, TimesBlockAt at)
{
        if (at == 0)
                return NULL;
        if (at / AROUND != log->last / AROUND && ++log->looked_at >= LOOKED_AT)
                put_away(log);
        log->last = at;
        return (const TimesBlock *)(log->data + at);
}

gboolean times_log_is_in_memory(const TimesLog *log)
{
        return big_is_in_memory(log->data, log->size);
}
