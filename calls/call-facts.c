/* SPDX-License-Identifier: BSD-2-Clause */
#include "calls/call-facts.h"

#include <string.h>

void call_facts_clear(CallFacts *f)
{
        call_column_clear(&f->column, sizeof(CallFact));
}

static CallFact *place_of(CallFacts *f, guint64 call)
{
        return call_column_place(&f->column, sizeof(CallFact), call);
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
        call_column_move(&f->column, sizeof(CallFact), to, from, n);
}

void call_facts_drop(CallFacts *f, guint32 n)
{
        call_column_drop(&f->column, sizeof(CallFact), n);
}
