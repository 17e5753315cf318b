/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The answer to a question to a store, in each format.
 */
#pragma once

#include "store/store-query.h"
#include "tracefmt/output-file.h"

/* Writes all rows. later: the same question to another store was written before, so the names of
 * columns stand there. FALSE with error set where the question fails, or in JSON two columns have one
 * name. */
gboolean query_write_text(StoreQuery *query, gboolean later, OutputFile *out, GError **error);
gboolean query_write_tsv(StoreQuery *query, gboolean later, OutputFile *out, GError **error);
gboolean query_write_json(StoreQuery *query, gboolean later, OutputFile *out, GError **error);
