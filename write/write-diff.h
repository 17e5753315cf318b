/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What changed between two runs, in each format.
 */
#pragma once

#include "analysis/diff.h"

/* Appends it. names are the stores'; columns: the width of lines; 0: no limit. */
void diff_write_text(const Diff *diff, const char *const names[N_SIDES], guint columns,
                     GString *out);
void diff_write_tsv(const Diff *diff, GString *out);
void diff_write_json(const Diff *diff, GString *out);

/* The page. FALSE with error set where graphs cannot be drawn. */
gboolean diff_write_page(const Diff *diff, const char *const names[N_SIDES], GString *out,
                         GError **error);

/* What to say where counts are by drawings; NULL where none are. Newly allocated. */
char *diff_trust_in_counts(const Diff *diff);
