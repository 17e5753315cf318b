/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Latencies after a change, and what each node would bring, in each format.
 */
#pragma once

#include "analysis/whatif/whatif.h"

/* Appends the first n entries. columns: the width of lines; 0: no limit. */
void whatif_write_text(const WhatIf *whatif, const NodeTable *nodes, guint n, guint columns,
                       GString *out);
void whatif_write_tsv(const WhatIf *whatif, const NodeTable *nodes, guint n, GString *out);
void whatif_write_json(const WhatIf *whatif, const NodeTable *nodes, guint n, GString *out);

/* "client>lb". Newly allocated. */
char *whatif_entry_name(const WhatIfEntry *entry, const NodeTable *nodes);
