/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The identifiers of calls (ids=, docs/trace-format.md) as numbers: two calls that carry the same
 * value have the same number. A column beside the call pairs. A hash is kept for four minutes of
 * the trace at most.
 */
#pragma once

#include "calls/call-column.h"
#include "tracefmt/attributes.h"

enum { MOST_IDENTIFIERS = 32 }; /* of a call, seen at both ends */

typedef struct {
        GHashTable *newer, *older; /* numbers by hash, of two minutes each; NULL: none seen */
        gint64 minutes;            /* which two the newer one is of */
        guint32 last;              /* the largest number */
        CallColumn column;         /* of guint32: where its list begins; 0: it has none */
        /* Lists, each the number of its identifiers and then these, ascending. The first is
         * empty. */
        GArray *lists;
} CallIdentifiers;

void call_identifiers_clear(CallIdentifiers *c);

/* A message of a call (by number) has these identifiers. time: its stamp, ns. */
void call_identifiers_add(CallIdentifiers *c, guint64 call, gint64 time, AttributeText ids);

/* After call_column_drop(): drops the lists that no call has any more. */
void call_identifiers_close_up(CallIdentifiers *c);

/* Where the list of a call begins in c->lists. */
static inline guint32 call_identifiers_get(const CallIdentifiers *c, guint32 call)
{
        return call < c->column.n ? ((const guint32 *)c->column.of)[call] : 0;
}

/* All lists; NULL: no call has any. */
static inline const guint32 *call_identifiers_lists(const CallIdentifiers *c)
{
        return c->lists ? (const guint32 *)c->lists->data : NULL;
}

/* The number of identifiers that two lists have in common. */
guint32 call_identifiers_shared(const guint32 *list, const guint32 *other);
