/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What ravel nesting says of its result.
 */
#pragma once

#include "nesting/nesting.h"
#include "paths/verdict.h"
#include "tracefmt/fitness.h"
#include "tracefmt/trace-reader.h"

/* What a user should know before trusting the patterns. reader: that of the trace, at its end. */
void nesting_report_matching(const KnownCalls *known, const TraceReader *reader);

/* The parameters of a run, for the database; to be freed. clocks and n may be NULL. */
char *nesting_report_parameters(const NestingOptions *options, SiblingOrder siblings,
                                const NodeTable *nodes, const GArray *clocks, const Nesting *n);

/* What the trace will do for; reader as above. */
Verdict *nesting_report_judge(const KnownCalls *known, const TraceReader *reader);
