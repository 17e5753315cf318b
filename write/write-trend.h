/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What changed over many stores, in each format.
 */
#pragma once

#include "analysis/trend/trend.h"

/* Appends it. columns: the width of lines; 0: no limit. */
void trend_write_text(const Trend *trend, guint columns, GString *out);
void trend_write_tsv(const Trend *trend, GString *out);
void trend_write_json(const Trend *trend, GString *out);
void trend_write_page(const Trend *trend, GString *out);

/* A change, or a pattern that is new or gone, in a few words: "own time of auth: +3.02 % a week".
 * Newly allocated. */
char *trend_change_words(const Trend *trend, const TrendSeries *series, const SeriesChange *change);
char *trend_pattern_words(const Trend *trend, const TrendPattern *pattern);
