/* SPDX-License-Identifier: BSD-2-Clause
 *
 * How the model of a node is learned, and the outcome.
 */
#pragma once

#include <glib.h>

typedef struct Learning {
        gboolean keeps;      /* the model outlives this problem: --window calls again with it */
        gboolean given_away; /* the model is to decide on other problems */
        gboolean counts;     /* new parents are only counted; a later step learns from them */
        double true_log;     /* the log likelihood of the true assignment, if that is known */
} Learning;
