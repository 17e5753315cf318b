/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What is known of pairs of endpoints from some time on: a value for each, the latest that has
 * begun. Of bounded size: the oldest is forgotten.
 */
#pragma once

#include "capture/network/address.h"

typedef struct PairTable PairTable;

PairTable *pair_table_new(guint limit);
void pair_table_free(PairTable *table);

/* From now on the table keeps limit pairs, at least 64. If it has more it keeps them. */
void pair_table_limit(PairTable *table, guint limit);

/* From this time (ns; G_MININT64: ever) on the pair has value. Of equal times the last counts. */
void pair_table_add(PairTable *table, const Endpoint *first, const Endpoint *second, gint64 from,
                    guint32 value);

/* FALSE where nothing is known of the pair at that time. */
gboolean pair_table_find(const PairTable *table, const Endpoint *first, const Endpoint *second,
                         gint64 time, guint32 *value);
