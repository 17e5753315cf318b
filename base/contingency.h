/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A contingency table: how often each pair of values (row, column) occurs. Its log-likelihood ratio
 * (Wilks, 1938; half of G) says how well the row predicts the column.
 */
#pragma once

#include <glib.h>

typedef struct {
        GHashTable *pairs, *rows, *columns; /* a guint64 to its number of occurrences */
        guint n;
} Contingency;

void contingency_init(Contingency *t);
void contingency_clear(Contingency *t);

void contingency_add(Contingency *t, guint64 row, guint64 column);

/* The log-likelihood ratio in nats, less (rows - 1)(columns - 1) / 2, its mean for independent
 * values. */
double contingency_gain(const Contingency *t);
