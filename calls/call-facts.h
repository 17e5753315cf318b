/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Facts of calls that the store keeps (docs/trace-format.md):
 *
 * - the bytes of the call and its return: bytes=
 * - its delays on the way, which few calls have
 * - how it ended: st=
 * - how long it waited for a worker
 * - whether its caller got no return: end=
 *
 * A column beside the call pairs.
 */
#pragma once

#include "calls/call-column.h"
#include "tracefmt/call-delays.h"

enum {
        UNANSWERED = 1,
        UNANSWERED_SILENT =
                2, /* nothing says until when its caller waited; it ends with the trace */
};

typedef struct {
        gint64 call_bytes, ret_bytes; /* 0: unknown */
        gint64 wait;                  /* from its entry until a worker took it, ns */
        guint32 workers;              /* workers of its callee; 0: no bound, or unknown */
        Outcome outcome;              /* of its return */
        guint8 unanswered;            /* UNANSWERED flags; 0: its return is a message */
        gboolean asks;                /* for work, which may come at any time: fetch= */
        guint32 delays;               /* one more than the index of its delays; 0: it has none */
} CallFact;

typedef struct {
        CallColumn column; /* of CallFact */
        GArray *delays;    /* of CallDelays; NULL before the first */
        GArray *unused;    /* of guint32: indices in delays that no call has */
} CallFacts;

void call_facts_clear(CallFacts *f);

/* A message of a call (by number), or of its return, seen as op. bytes: the size is kept, too. */
void call_facts_add(CallFacts *f, guint64 call, MessageOp op, const Attributes *attributes,
                    gboolean bytes);

/* The facts of a return that was noted under another number go to its call. */
void call_facts_join(CallFacts *f, guint64 call, guint64 from);
/* Nobody answered a call by the end of the trace. */
void call_facts_set_silent(CallFacts *f, guint32 call);

/* A call without an answer was lost on the way, and asked again after this time, ns. */
void call_facts_set_lost(CallFacts *f, guint32 call, gint64 again);

/* The wait of a call, unless it has one. */
void call_facts_add_wait(CallFacts *f, guint32 call, guint32 workers, gint64 wait);

/* Forgets the first n calls; the others move to the front. */
void call_facts_drop(CallFacts *f, guint32 n);

static inline CallFact call_facts_get(const CallFacts *f, guint32 call)
{
        return call < f->column.n ? ((const CallFact *)f->column.of)[call] : (CallFact){ 0 };
}

/* The delays of a call; NULL: it has none. Valid until the next are added. */
static inline const CallDelays *call_facts_delays(const CallFacts *f, const CallFact *fact)
{
        return fact->delays ? &g_array_index(f->delays, CallDelays, fact->delays - 1) : NULL;
}
