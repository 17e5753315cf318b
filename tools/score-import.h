/* SPDX-License-Identifier: BSD-2-Clause
 *
 * How right inference is on what other programs know: spans to a trace with its truth, the true
 * paths, the paths that each method finds, and a table.
 */
#pragma once

#include <glib.h>

/* files: n of them, as ravel import takes them. The result is the exit status. */
int score_import(char **files, int n);
