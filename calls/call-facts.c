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

                f->of = big_renew_in_file(f->of, f->size * sizeof *f->of, size * sizeof *f->of);
                f->size = size;
        }
        for (; f->n <= call; f->n++)
                f->of[f->n] = (CallFact){ 0 };
        return &f->of[call];
}

/* The value of word where it is of key, else NULL. */
static inline const char *value_of(const char *word, const char *end, const char *key, gsize n)
{
        return (gsize)(end - word) > n && !memcmp(word, key, n) ? word + n : NULL;
}

/* One attribute, from word to end. */
static void take_word(CallFacts *f, guint64 call, const Message *message, gboolean bytes,
                      const char *word, const char *end)
{
        gboolean is_return = message_is_return(message);
        const char *value;
        gint64 number;

        if (bytes && (value = value_of(word, end, "bytes=", 6)) &&
            (number = message_value_number(value, (gsize)(end - value))) > 0) {
                CallFact *fact = place_of(f, call);

                *(is_return ? &fact->ret_bytes : &fact->call_bytes) = number;
        } else if (!is_return && (value = value_of(word, end, "syn=", 4)) &&
                   (number = message_value_number(value, (gsize)(end - value))) > 0) {
                place_of(f, call)->connect = number;
        } else if ((value = value_of(word, end, "stall=", 6)) &&
                   (number = message_value_number(value, (gsize)(end - value))) > 0) {
                CallFact *fact = place_of(f, call);

                *(is_return ? &fact->ret_stall : &fact->stall) = number;
        } else if (is_return && (value = value_of(word, end, "resent=", 7)) &&
                   (number = message_value_number(value, (gsize)(end - value))) > 0) {
                CallFact *fact = place_of(f, call);

                fact->stall = MAX(fact->stall, number);
        }
}

void call_facts_add(CallFacts *f, guint64 call, const Message *message, gboolean bytes)
{
        const char *p = message->attrs, *end;

        if (!message->attrs_length || call >= G_MAXUINT32)
                return;
        end = p + message->attrs_length;
        while (p < end) {
                const char *word = p;

                while (p < end && (guchar)*p > ' ')
                        p++;
                if (*word == 's' || *word == 'r' || *word == 'b')
                        take_word(f, call, message, bytes, word, p);
                while (p < end && (guchar)*p <= ' ')
                        p++;
        }
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
