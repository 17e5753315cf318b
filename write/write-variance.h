/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Which nodes make latency vary, in each format.
 */
#pragma once

#include "analysis/variance/variance.h"

/* Appends the first n entries. columns: the width of lines; 0: no limit. tail: the quantile that
 * slow requests begin at. */
void variance_write_text(const Variance *variance, const NodeTable *nodes, guint n, guint columns,
                         GString *out);
void variance_write_tsv(const Variance *variance, const NodeTable *nodes, guint n, GString *out);
void variance_write_json(const Variance *variance, const NodeTable *nodes, guint n, double tail,
                         GString *out);

/* "client>lb". Newly allocated. */
char *variance_entry_name(const VarianceEntry *entry, const NodeTable *nodes);
