/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Findings, in each format.
 */
#pragma once

#include "analysis/advise/advise.h"
#include "write/json.h"

/* store: its file, for commands. columns: the width of lines; 0: no limit. */
void advice_write_text(const Advice *advice, const NodeTable *nodes, const char *store,
                       guint columns, GString *out);
void advice_write_tsv(const Advice *advice, const NodeTable *nodes, const char *store,
                      GString *out);
void advice_write_json(const Advice *advice, const NodeTable *nodes, const char *store,
                       GString *out);

/* The first findings, as a member of an object. */
void advice_put(const Advice *advice, const NodeTable *nodes, const char *store, guint most,
                Json *json);

/* A finding in a line: what is so, and what to do. Newly allocated. */
char *finding_sentence(const Finding *finding, const NodeTable *nodes);
