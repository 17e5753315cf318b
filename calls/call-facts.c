/* SPDX-License-Identifier: BSD-2-Clause */
#include "calls/call-facts.h"

void call_facts_clear(CallFacts *f)
{
        call_column_clear(&f->column);
}

static CallFact *fact_place(CallFacts *f, guint64 call)
{
        return call_column_place(&f->column, sizeof(CallFact), call);
}

void call_facts_add(CallFacts *f, guint64 call, const Attributes *a, gboolean bytes)
{
        gint64 size = bytes ? a->bytes : 0;
        CallFact *fact;

        if (call >= G_MAXUINT32 || !(size | a->syn | a->stall | (a->fetch.at != NULL)))
                return;
        fact = fact_place(f, call);
        fact->asks |= a->fetch.at != NULL;
        fact->call_bytes = size ? size : fact->call_bytes;
        fact->connect = a->syn ? a->syn : fact->connect;
        fact->stall = a->stall ? a->stall : fact->stall;
}

void call_facts_add_return(CallFacts *f, guint64 call, const Attributes *a, gboolean bytes)
{
        gint64 size = bytes ? a->bytes : 0;
        CallFact *fact;

        if (call >= G_MAXUINT32 || (!(size | a->stall | a->resent | (a->end.at != NULL)) && !a->outcome))
                return;
        fact = fact_place(f, call);
        fact->unanswered = a->end.at ? UNANSWERED : 0;
        fact->ret_bytes = size ? size : fact->ret_bytes;
        fact->ret_stall = a->stall ? a->stall : fact->ret_stall;
        fact->stall = MAX(fact->stall, a->resent);
        fact->outcome = a->outcome ? a->outcome : fact->outcome;
}

void call_facts_join(CallFacts *f, guint64 call, guint64 from)
{
        CallFact other;
        CallFact *fact;

        if (from >= f->column.n)
                return;
        other = call_facts_get(f, (guint32)from);
        fact = fact_place(f, call);
        fact->ret_bytes = other.ret_bytes;
        fact->ret_stall = other.ret_stall;
        fact->stall = MAX(fact->stall, other.stall);
}

void call_facts_set_silent(CallFacts *f, guint32 call)
{
        fact_place(f, call)->unanswered = UNANSWERED | UNANSWERED_SILENT;
}

void call_facts_add_wait(CallFacts *f, guint32 call, guint32 workers, gint64 wait)
{
        CallFact *fact = fact_place(f, call);

        if (fact->workers)
                return;
        fact->workers = workers;
        fact->wait = wait;
}
