/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What people are told of how far to trust what was found, in the same words wherever it is.
 */
#pragma once

#include <glib.h>

/* Which counts to believe, and why, where patterns are counted by drawings, too (docs/paths.md,
 * "Probability"). probability is the mean of a path's; elsewhere is the share of a drawing in
 * patterns that no path found has. Newly allocated. */
char *trust_in_counts(double probability, double elsewhere);

/* The same of what is compared: names of what has counts by drawings ("A and B"), and the mean
 * probability of a path in each ("0.02 and 0.03"). Newly allocated. */
char *trust_in_changes(const char *names, const char *probabilities);

/* How often guessed parents with 0.9 or more are right, on systems of known truth with about this
 * mean parallelism, with or without operations; or that no such system is known. Newly allocated.
 */
char *trust_in_probabilities(double parallelism, gboolean operations);
