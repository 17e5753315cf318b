/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The parts of a report's page that are of calls: loads, the slowest requests, variance, and what
 * a pattern's slow requests spend. Nobody but write/write-report.c includes this.
 */
#pragma once

#include "analysis/report/report.h"
#include "paths/collapsed-tree.h"
#include "write/json.h"

/* Keys and values into the object that j is in. */
void write_report_calls(Json *j, const Report *report, const StoreReader *reader);
void write_report_spent(Json *j, const ReportDetail *detail, const CollapsedTree *tree);
