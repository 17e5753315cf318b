/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The labels of calls, where the trace has them (label=, docs/trace-format.md): what
 * operation a call is. A column beside the call pairs, of numbers.
 */
#ifndef RAVEL_CALL_LABELS_H
#define RAVEL_CALL_LABELS_H

#include "tracefmt/message.h"

typedef struct {
        GHashTable *numbers; /* of labels, from 1; NULL: none seen */
        guint16 *label;      /* by call; 0: none, or one after the first 65,535 */
        guint32 n, size;     /* calls up to the last with a label */
        guint64 n_opened;    /* not those that were dropped */
} CallLabels;

void call_labels_clear(CallLabels *l);

/* For the first message of each call, in order. */
void call_labels_add(CallLabels *l, const Message *message);

/* A call has become another number, a smaller one. */
void call_labels_move(CallLabels *l, guint32 to, guint32 from);

/* Forgets the first calls; the others are so much smaller numbers. */
void call_labels_drop(CallLabels *l, guint32 n);

static inline guint16 call_labels_get(const CallLabels *l, guint32 call)
{
        return call < l->n ? l->label[call] : 0;
}

#endif
