/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The correlation of two edges as a series (paper, Figure 7), with the fate of each spike. It shows
 * why an edge is in the graph or not.
 */
#pragma once

#include "convolution/convolution.h"
#include "tracefmt/output-file.h"

typedef struct CorrelationSeries CorrelationSeries;

/* Correlates all messages of cause with all of effect, which leaves the node that cause enters.
 * graph is the result of the run. */
CorrelationSeries *correlation_series_new(const Convolution *run, const EdgeTrace *cause,
                                          const EdgeTrace *effect, const PathGraph *graph);
void correlation_series_free(CorrelationSeries *series);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(CorrelationSeries, correlation_series_free)

/* Writes a line a lag: delay (ns), correlation, background, deviations above the background,
 * "spike" or "-", and the spike's fate. */
gboolean correlation_series_write_tsv(const CorrelationSeries *series, OutputFile *out,
                                      GError **error);

gboolean correlation_series_write_svg(const CorrelationSeries *series, OutputFile *out,
                                      GError **error);
