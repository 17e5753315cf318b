/* SPDX-License-Identifier: BSD-2-Clause
 *
 * ravel nesting --explain CALL: which calls might be the parent of a call, and why it has the one
 * that it has.
 */
#pragma once

#include "nesting/nesting.h"
#include "tracefmt/output-file.h"

/* After the last message: has the first few calls explained that name stands for, in the order of
 * time: an id, CALLER>CALLEE, CALLER>CALLEE:ID, or the moment of a call. FALSE with error set where
 * there is none; trace is the name for the error. The nesting keeps ids. */
gboolean explain_find(Nesting *nesting, const char *name, const char *trace, GError **error);

/* After nesting_find_paths(): writes a table for each, of parents that were found jointly or not,
 * with probabilities or without; at most columns wide, if that is not 0. */
gboolean explain_write(const Nesting *nesting, gboolean joint, gboolean probable, guint columns,
                       OutputFile *out, GError **error);
