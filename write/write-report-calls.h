/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The parts of a report's page that are of calls: loads, workers, edges, the slowest requests,
 * variance, and what a pattern's slow requests spend. Nobody but write/write-report.c includes
 * this.
 */
#pragma once

#include "analysis/report/report.h"
#include "paths/collapsed-tree.h"
#include "write/json.h"

/* Keys and values into the object that j is in. */
void write_report_calls(Json *j, const Report *report, const StoreReader *reader);
/* The time on the way of a call, an array; nothing if it has none. */
void write_report_way(Json *j, const PathCall *call);
void write_report_spent(Json *j, const ReportDetail *detail, const CollapsedTree *tree);
