/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What stands around the table of the patterns, for people: above it what was read, found and is to
 * be doubted; below it what went wrong in a pattern, in a sentence each.
 */
#pragma once

#include "paths/collapsed-tree.h"
#include "write/path-write.h"

gboolean fault_text_has_errors(const PathPattern *pattern);

/* Appends a line for the failed paths, with the culprit of most, and one for each vertex of the
 * tree with retries. columns: of the terminal; 0: any number. */
void fault_text_append(GString *out, const PathSet *set, const PathPattern *pattern,
                       const CollapsedTree *tree, guint columns);

/* Appends a line for each vertex with calls without an answer or late calls: how long their caller
 * waited, in how many of the requests, and whether always as long, as a time-out makes it. */
void fault_text_append_missed(GString *out, const PathSet *set, const PathPattern *pattern,
                              const CollapsedTree *tree, guint columns);

/* Appends lines that fit the terminal. options->n_patterns: the patterns in the table. */
void text_write_summary(const PathSet *set, const PathWriteOptions *options, GString *out);
