/* SPDX-License-Identifier: BSD-2-Clause
 *
 * One store from several that follow each other in time, such as windows of an hour. Patterns,
 * percentiles and counts are exactly those of one store of all paths.
 */
#pragma once

#include <glib.h>

typedef struct {
        const char *arguments; /* the command line; parameters are those of the first input */
        guint slowest; /* keep only this number of requests, the slowest; 0: all. Patterns still
                          count all requests. The parameter slowest says so. */
} JoinOptions;

/* Whether a store has only its slowest requests. FALSE with error set if it is no store. */
gboolean store_is_thinned(const char *path, gboolean *thinned, GError **error);

/* Reads n stores of nesting, which have all their requests, in the order of time, and writes path.
 * FALSE with error set if one is no such store, or path cannot be written. Memory: the patterns and
 * the latencies of all requests. */
gboolean stores_join(const char *const *inputs, guint n, const char *path,
                     const JoinOptions *options, GError **error);
