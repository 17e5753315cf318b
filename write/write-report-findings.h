/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What a page says first: findings in words, failures, pauses, and the heat map of latency.
 */
#pragma once

#include "analysis/report/report.h"
#include "write/json.h"

/* Keys and values into the object that j is in. */
void write_report_findings(Json *j, const Report *report);
