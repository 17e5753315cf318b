/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What ravel nesting says of its result, the calls it explains, and the files of --model and
 * --learn.
 */
#pragma once

#include "nesting/nesting-options.h"
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

/* After the last message: has the first few calls explained that name stands for, in the order of
 * time: an id, CALLER>CALLEE, CALLER>CALLEE:ID, or the moment of a call. FALSE with error set where
 * there is none; trace is the name for the error. The nesting keeps ids. */
gboolean explain_find(Nesting *nesting, const char *name, const char *trace, GError **error);

/* Reads the model for options, which it must fit, and its id, to be freed. FALSE: error set. */
gboolean nesting_model_load(const char *path, NestingOptions *options, char **id, GError **error);

/* Writes the models that were learned of a trace, with the last part of its name. */
gboolean nesting_model_save(const char *path, Models *models, const char *trace, GError **error);
