/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A report of a store, read and written.
 */
#pragma once

#include "analysis/report/report-data.h"

/* NULL and error set where the store cannot be read. reader's rows are used up.
 * Memory: a few hundred bytes a row, 100 bytes a path and 100 bytes a call. */
Report *report_new(StoreReader *reader, NodeTable *nodes, GError **error);
void report_free(Report *report);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Report, report_free)

/* Appends the page. made_of: what to call what it was made of, where the store is not kept; else
 * NULL. FALSE with error set where graphs cannot be drawn. */
gboolean report_write(const Report *report, const StoreReader *reader, const char *made_of,
                      GString *out, GError **error);

/* The same in at most 20,000 bytes of JSON, for programs; out holds that alone afterwards. */
void report_write_summary(const Report *report, const StoreReader *reader, const char *made_of,
                          GString *out);

/* A distribution as pages have it: "r:first:n,n,-g,n". Bins are those of Histogram with 2^r to an
 * octave, r from 3 to 6: bin b is (histogram_bin() - 1) >> (6 - r). first is the first bin that
 * holds values. n is the number of values in it and in each bin that follows; -g stands for g empty
 * bins. All are in base 36. The bins are as fine as max_bins bins with values allow. Delays below 0
 * count as 0. */
void report_append_distribution(GString *out, const Histogram *h, guint max_bins);

/* "7.04e+09" as a JSON number of at most four digits: 704e7. */
void report_append_rounded(GString *out, gint64 n);
