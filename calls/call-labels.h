/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The labels of calls (label=, docs/trace-format.md): the operation of each call. A column of
 * numbers beside the call pairs. The tags of calls (tags=) are kept in the same way, all of a call
 * as one text.
 */
#pragma once

#include "calls/call-column.h"
#include "tracefmt/attributes.h"

typedef struct {
        GHashTable
                *numbers;   /* numbers of labels as written in the trace, from 1; NULL: none seen */
        GPtrArray *names;   /* by number less 1: the operation, as text */
        GPtrArray *written; /* by number less 1: as written in the trace; owned by numbers */
        guint16 cache[256]; /* by hash: the number of a label looked for lately; 0: none */
        CallColumn column;  /* of guint16; 0: no label, or one after the first 65,535 */
} CallLabels;

void call_labels_init(CallLabels *l);
void call_labels_clear(CallLabels *l);

/* The next number is for this label, as written. Before the first call. */
void call_labels_know(CallLabels *l, const char *written);

/* A message of a call (by number) has this label. The first message with a label counts. */
void call_labels_add(CallLabels *l, guint64 call, AttributeText label);

static inline guint16 call_labels_get(const CallLabels *l, guint32 call)
{
        return call < l->column.n ? ((const guint16 *)l->column.of)[call] : 0;
}
