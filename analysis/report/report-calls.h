/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What a report has that takes more than patterns: all calls of the store, or of its slowest
 * requests. analysis/report/report.c fills the rest, and nobody else includes this.
 */
#pragma once

#include "analysis/report/report-data.h"

/* A path of the store. */
typedef struct {
        StoredPath path;
        guint32 row;    /* of its pattern, or G_MAXUINT32 */
        guint32 bucket; /* of its start */
        guint8 part;    /* ReportPart */
} ReportPath;

/* The octave of a time, ns; below 1 ns: 0. */
static inline guint report_octave(gint64 time)
{
        return g_bit_storage((gulong)MAX(time, 1)) - 1;
}

/* Fills report->loads and what each detail spent, of paths, of ReportPath: all of the store. FALSE
 * with error set where it cannot be read. */
gboolean report_read_calls(Report *report, StoreReader *reader, const GArray *paths,
                           GError **error);

/* Fills report->slowest and what is found beside these, where there are any paths. */
gboolean report_read_slowest(Report *report, StoreReader *reader, const GArray *paths,
                             GError **error);
void report_clear_slowest(Report *report);

/* FALSE with error set where a call has a place that is not among n. */
gboolean report_check_places(const StoreReader *reader, const GArray *places, guint32 n,
                             GError **error);
