/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What a trace will do for: nesting needs calls with their returns, convolution only
 * messages, and neither works on the remains of a capture that has lost most of it.
 */
#ifndef RAVEL_FITNESS_H
#define RAVEL_FITNESS_H

#include <glib.h>

typedef struct {
        guint64 calls;      /* with and without a return */
        guint64 returns;    /* that have their call */
        guint64 one_way;    /* messages that are neither */
        guint64 packets;    /* captured; 0 where that is not known */
        guint64 lost;       /* packets dropped, and holes in connections, at least one each */
        guint64 both_ends;  /* calls that both ends stamped */
        guint64 too_early;  /* of these, those that arrived before they were sent, or back */
        gboolean one_sided; /* only one direction of every connection was captured */
} Fitness;

/* One sentence: "fit for nesting and convolution", "fit for convolution only: ..." or "fit
 * for neither ...", and why. The caller's to free. */
char *fitness_judge(const Fitness *fitness);

#endif
