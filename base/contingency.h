/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A contingency table: how often each two values go together, and by how much one tells the other
 * (the log-likelihood ratio of Wilks, 1938, half of G).
 */
#ifndef RAVEL_CONTINGENCY_H
#define RAVEL_CONTINGENCY_H

#include <glib.h>

typedef struct {
        GHashTable *pairs, *rows, *columns; /* of guint64, to how often */
        guint n;
} Contingency;

void contingency_init(Contingency *t);
void contingency_clear(Contingency *t);

/* These two went together once more. */
void contingency_add(Contingency *t, guint64 row, guint64 column);

/* By how many nats rows tell columns, less what they would by chance in the mean. */
double contingency_gain(const Contingency *t);

#endif
