/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What is known of a call that decides on no parent, but belongs in the store: how many bytes the
 * call and its return have (bytes=, docs/trace-format.md), how long before it its connection was
 * opened (syn=), how long the network held it up (stall=, resent=), and how long it waited for a
 * worker. A column beside the call pairs.
 */
#ifndef RAVEL_CALL_FACTS_H
#define RAVEL_CALL_FACTS_H

#include "calls/call-column.h"
#include "tracefmt/attributes.h"

typedef struct {
        gint64 call_bytes, ret_bytes; /* 0: unknown */
        gint64 connect;               /* ns; 0: unknown, or not the first of its connection */
        gint64 stall, ret_stall;      /* how long the network held it up, and its return, ns */
        gint64 wait;                  /* from its entry until one of them took it, ns */
        guint32 workers;              /* of its callee; 0: no bound, or not known */
} CallFact;

typedef struct {
        CallColumn column; /* of CallFact */
} CallFacts;

void call_facts_clear(CallFacts *f);

/* A message of a call (by number), or of its return. bytes: the size is kept, too. */
void call_facts_add(CallFacts *f, guint64 call, const Attributes *attributes, gboolean bytes);
void call_facts_add_return(CallFacts *f, guint64 call, const Attributes *attributes,
                           gboolean bytes);

/* What was found of a call, unless something was found before. */
void call_facts_add_wait(CallFacts *f, guint32 call, guint32 workers, gint64 wait);

static inline CallFact call_facts_get(const CallFacts *f, guint32 call)
{
        return call < f->column.n ? ((const CallFact *)f->column.of)[call] : (CallFact){ 0 };
}

#endif
