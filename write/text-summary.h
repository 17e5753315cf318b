/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What stands above the table of the patterns: what was read, what was found, and what to doubt.
 */
#pragma once

#include "write/path-write.h"

/* Appends lines that fit the terminal. options->n_patterns: the patterns in the table. */
void text_write_summary(const PathSet *set, const PathWriteOptions *options, GString *out);
