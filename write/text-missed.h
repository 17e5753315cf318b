/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What a pattern's calls without an answer and late calls cost, in a sentence each.
 */
#pragma once

#include "paths/collapsed-tree.h"

/* Appends a line for each vertex of the tree with such calls: how long their caller waited, in how
 * many of the requests, and whether always as long, as a time-out makes it. columns: of the
 * terminal; 0: any number. */
void text_append_missed(GString *out, const PathSet *set, const PathPattern *pattern,
                        const CollapsedTree *tree, guint columns);
