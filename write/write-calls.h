/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The file of ravel nesting --calls: a line for each call, with its parent.
 */
#pragma once

#include "calls/known-calls.h"
#include "nesting/explanation.h"
#include "paths/path-set.h"
#include "tracefmt/output-file.h"

/* Opens the file and writes its header. */
OutputFile *calls_open(const char *path, gboolean in_place, GError **error);

/* Writes the calls whose instance is first_instance or later. Their patterns are in set. */
gboolean calls_write(const KnownCalls *known, const PathSet *set, guint64 first_instance,
                     OutputFile *out, GError **error);

/* Why calls have their parents, as text: a table of candidates for each call. */

/* Appends the tables and a legend, at most columns wide (0: no limit). explanations, of
 * Explanation, are of calls in known. joint: the parents were found jointly. probable:
 * probabilities are shown. Sorts the candidates. */
void explanations_write(const GArray *explanations, const KnownCalls *known, gboolean joint,
                        gboolean probable, guint columns, GString *out);
