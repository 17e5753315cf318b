/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Patterns that are probably errors of inference. A path that got a call of another path, or lost
 * one, seldom looks like a true path. Such errors scatter over very many patterns of very few
 * paths.
 */
#pragma once

#include "paths/path-set.h"

/* No pattern of more paths is one, found or by drawings. */
enum { MISASSIGNED_PATHS = 5 };

/* By pattern, whether it probably is one; to be freed with g_free(). NULL where none is, where the
 * set is linear, or where its probabilities mean nothing. O(patterns). */
gboolean *misassigned_find(const PathSet *set);
