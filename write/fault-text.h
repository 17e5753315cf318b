/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What went wrong in a pattern, for people: failed paths, and what was tried again.
 */
#pragma once

#include "paths/collapsed-tree.h"

gboolean fault_text_has_errors(const PathPattern *pattern);

/* "40 of 400 failed, 40 of them by db (500).": the culprit of most. NULL: none failed. The
 * caller's to free. */
char *fault_text_failed(const PathSet *set, const PathPattern *pattern);

/* "db x4: 120 of 160 calls in error (503), 120 retries, 90.4 ms lost a path." NULL: there were no
 * retries. The caller's to free. */
char *fault_text_retries(const PathSet *set, const PathPattern *pattern, const CollapsedCall *call);
