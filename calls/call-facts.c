/* SPDX-License-Identifier: BSD-2-Clause */
#include "calls/call-facts.h"

#include <string.h>

#include "base/big-memory.h"

void call_facts_clear(CallFacts *f)
{
        big_free(f->of, f->size * sizeof *f->of);
}

static CallFact *place_of(CallFacts *f, guint64 call)
{
        if (call >= f->size) {
                guint32 size = MIN(MAX(1024, 2 * call), G_MAXUINT32);

                f->of = big_renew(f->of, f->size * sizeof *f->of, size * sizeof *f->of);
                f->size = size;
        }
        for (; f->n <= call; f->n++)
                f->of[f->n] = (CallFact){ 0 };
        return &f->of[call];
}

void call_facts_add(CallFacts *f, guint64 call, const Message *message)
{
        gint64 bytes, connect;

        if (!message->attrs_length || call >= G_MAXUINT32)
                return;
        bytes = message_number(message, "bytes");
        connect = message_is_return(message) ? 0 : message_number(message, "syn");
        if (bytes > 0 && message_is_return(message))
                place_of(f, call)->ret_bytes = bytes;
        else if (bytes > 0)
                place_of(f, call)->call_bytes = bytes;
        if (connect > 0)
                place_of(f, call)->connect = connect;
}

void call_facts_add_wait(CallFacts *f, guint32 call, guint32 workers, gint64 wait)
{
        CallFact *fact = place_of(f, call);

        if (fact->workers)
                return;
        fact->workers = workers;
        fact->wait = wait;
}

void call_facts_move(CallFacts *f, guint32 to, guint32 from, guint32 n)
{
        for (guint32 i = 0; i < n && to + i < f->n; i++)
                f->of[to + i] = call_facts_get(f, from + i);
}

void call_facts_drop(CallFacts *f, guint32 n)
{
        guint32 drop = MIN(n, f->n);

        f->n -= drop;
        if (f->n > 0)
                memmove(f->of, f->of + drop, f->n * sizeof *f->of);
}
