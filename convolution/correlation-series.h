/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The correlation of two edges as a series to look at (paper, Figure 7), with what became
 * of its spikes: why an edge of the graph is there, or is not.
 */
#ifndef RAVEL_CORRELATION_SERIES_H
#define RAVEL_CORRELATION_SERIES_H

#include "convolution/convolution.h"
#include "tracefmt/output-file.h"

typedef struct CorrelationSeries CorrelationSeries;

/* The correlation of all messages of cause with all of effect, which leaves the node that
 * cause enters. graph is what the run found. */
CorrelationSeries *correlation_series_new(const Convolution *run, const EdgeTrace *cause,
                                          const EdgeTrace *effect, const PathGraph *graph);
void correlation_series_free(CorrelationSeries *series);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(CorrelationSeries, correlation_series_free)

/* A line a lag: delay (ns), correlation, background, deviations above it, "spike" or "-",
 * and what became of it. */
gboolean correlation_series_write_tsv(const CorrelationSeries *series, OutputFile *out,
                                      GError **error);

/* The same as a plot. */
gboolean correlation_series_write_svg(const CorrelationSeries *series, OutputFile *out,
                                      GError **error);

#endif
