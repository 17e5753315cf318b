/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Why calls have their parents, as text: a table of candidates for each call.
 */
#pragma once

#include "calls/known-calls.h"
#include "nesting/explanation.h"

/* Appends the tables and a legend, at most columns wide (0: no limit). explanations, of Explanation,
 * are of calls in known. joint: the parents were found jointly. probable: probabilities are shown.
 * Sorts the candidates. */
void explanations_write(const GArray *explanations, const KnownCalls *known, gboolean joint,
                        gboolean probable, guint columns, GString *out);
