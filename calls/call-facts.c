/* SPDX-License-Identifier: BSD-2-Clause */
#include "calls/call-facts.h"

void call_facts_clear(CallFacts *f)
{
        call_column_clear(&f->column);
        g_clear_pointer(&f->delays, g_array_unref);
        g_clear_pointer(&f->unused, g_array_unref);
}

static CallFact *fact_place(CallFacts *f, guint64 call)
{
        return call_column_place(&f->column, sizeof(CallFact), call);
}

/* Those of a call, all 0 if it has had none. */
static CallDelays *delays_place(CallFacts *f, CallFact *fact)
{
        static const CallDelays none;

        if (!f->delays) {
                f->delays = g_array_new(FALSE, FALSE, sizeof(CallDelays));
                f->unused = g_array_new(FALSE, FALSE, sizeof(guint32));
        }
        if (fact->delays == 0 && f->unused->len > 0) {
                fact->delays = g_array_index(f->unused, guint32, f->unused->len - 1) + 1;
                g_array_set_size(f->unused, f->unused->len - 1);
                g_array_index(f->delays, CallDelays, fact->delays - 1) = none;
        } else if (fact->delays == 0) {
                g_array_append_val(f->delays, none);
                fact->delays = f->delays->len;
        }
        return &g_array_index(f->delays, CallDelays, fact->delays - 1);
}

void call_facts_add(CallFacts *f, guint64 call, MessageOp op, const Attributes *a, gboolean bytes)
{
        gint64 size = bytes ? a->bytes : 0;
        gboolean delays = attributes_have_delays(a), returns = op == RET_SENT || op == RET_RECV;
        gboolean ends = returns && (a->outcome || a->end.at);
        CallFact *fact;

        if (call >= G_MAXUINT32 || !(size | delays | ends | (a->fetch.at != NULL)))
                return;
        fact = fact_place(f, call);
        if (size)
                *(returns ? &fact->ret_bytes : &fact->call_bytes) = size;
        if (returns) {
                fact->unanswered = a->end.at ? UNANSWERED : 0;
                fact->outcome = a->outcome ? a->outcome : fact->outcome;
        } else {
                fact->asks |= a->fetch.at != NULL;
        }
        if (G_UNLIKELY(delays))
                call_delays_add(delays_place(f, fact), op, a);
}

void call_facts_join(CallFacts *f, guint64 call, guint64 from)
{
        CallFact *fact, other;
        CallDelays ret;

        if (from >= f->column.n)
                return;
        other = call_facts_get(f, (guint32)from);
        fact = fact_place(f, call);
        fact->ret_bytes = other.ret_bytes;
        fact->unanswered = other.unanswered;
        fact->outcome = other.outcome;
        if (other.delays == 0)
                return;
        ret = g_array_index(f->delays, CallDelays, other.delays - 1);
        delays_place(f, fact)->ret = ret.ret;
        delays_place(f, fact)->call.again = ret.call.again;
}

void call_facts_set_silent(CallFacts *f, guint32 call)
{
        fact_place(f, call)->unanswered = UNANSWERED | UNANSWERED_SILENT;
}

void call_facts_set_lost(CallFacts *f, guint32 call, gint64 again)
{
        CallFact *fact = fact_place(f, call);

        fact->unanswered = 0;
        delays_place(f, fact)->call.again = again;
}

void call_facts_add_wait(CallFacts *f, guint32 call, guint32 workers, gint64 wait)
{
        CallFact *fact = fact_place(f, call);

        if (fact->workers)
                return;
        fact->workers = workers;
        fact->wait = wait;
}

void call_facts_drop(CallFacts *f, guint32 n)
{
        for (guint32 i = 0; f->delays && i < MIN(n, f->column.n); i++) {
                CallFact fact = call_facts_get(f, i);
                guint32 unused = fact.delays - 1;

                if (fact.delays)
                        g_array_append_val(f->unused, unused);
        }
        call_column_drop(&f->column, n);
}
