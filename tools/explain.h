/* SPDX-License-Identifier: BSD-2-Clause
 *
 * ravel nesting --explain CALL: finds the calls that a user means.
 */
#pragma once

#include "nesting/nesting.h"

/* After the last message: has the first few calls explained that name stands for, in the order of
 * time: an id, CALLER>CALLEE, CALLER>CALLEE:ID, or the moment of a call. FALSE with error set where
 * there is none; trace is the name for the error. The nesting keeps ids. */
gboolean explain_find(Nesting *nesting, const char *name, const char *trace, GError **error);
