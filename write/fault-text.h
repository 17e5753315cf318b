/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What went wrong in a pattern, for people, in a sentence each: failed paths, what was tried again,
 * and what calls without an answer and late calls cost.
 */
#pragma once

#include "paths/collapsed-tree.h"

gboolean fault_text_has_errors(const PathPattern *pattern);

/* Appends a line for the failed paths, with the culprit of most, and one for each vertex of the
 * tree with retries. columns: of the terminal; 0: any number. */
void fault_text_append(GString *out, const PathSet *set, const PathPattern *pattern,
                       const CollapsedTree *tree, guint columns);

/* Appends a line for each vertex with calls without an answer or late calls: how long their caller
 * waited, in how many of the requests, and whether always as long, as a time-out makes it. */
void fault_text_append_missed(GString *out, const PathSet *set, const PathPattern *pattern,
                              const CollapsedTree *tree, guint columns);
