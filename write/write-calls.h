/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The file of ravel nesting --calls: a line for each call, with its parent.
 */
#pragma once

#include "calls/known-calls.h"
#include "paths/path-set.h"
#include "tracefmt/output-file.h"

/* Opens the file and writes its header. */
OutputFile *calls_open(const char *path, gboolean in_place, GError **error);

/* Writes the calls whose instance is first_instance or later. Their patterns are in set. */
gboolean calls_write(const KnownCalls *known, const PathSet *set, guint64 first_instance,
                             OutputFile *out, GError **error);
