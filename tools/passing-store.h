/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A store that lasts as long as the run, of packets or traces: what ravel capture, merge and
 * nesting make of them one after the other, each in a process of its own (tools/run-verb.h), in
 * files that are gone at the end, also of one by a signal.
 */
#pragma once

#include "tracefmt/file-kind.h"

enum { PASSING_INPUTS = 32 }; /* at most */

/* FILE_CAPTURE where one is among them, else FILE_TRACE; FILE_STORE where one store alone, or
 * something else alone, is named, which the reader of stores says what it is of. FILE_UNKNOWN and
 * error set where these n files cannot be read together. */
FileKind passing_store_kind(char *const *paths, guint n, GError **error);

/* Runs them all. capture and nesting are options for these verbs, strings. What there is to say is
 * said by each verb, of the files by their names in paths. Returns the exit status; *store is to
 * be removed by output_scratch_remove(), or NULL where there is none. */
int passing_store_make(char *const *paths, guint n, const GPtrArray *capture,
                       const GPtrArray *nesting, char **store);
