/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A family: one parent, a call into the node, with the children that it is given; and the outputs
 * of that parent. search/family.h finds how likely it is.
 */
#pragma once

#include <glib.h>

enum { MOST_CHILDREN = 48 }; /* the chain leaves parents with more children alone */

/* An output of the node, a call or a reply, as one parent would make it. Its delay counts since the
 * trigger, an earlier event of the same parent. */
typedef struct {
        guint32 output; /* number, in order of time: Problem.output */
        guint32 parent;
        guint32 class; /* the kind of the trigger and its own kind: trellis_class() */
        guint32 row;   /* of the densities of its delay */
        gint64 trigger;
} PlacedOutput;

typedef struct {
        guint32 parent, n;
        guint32 child[MOST_CHILDREN];         /* in order of start */
        gint32 log;                           /* the log likelihood of its walk, in 1/LOG_UNIT */
        PlacedOutput made[MOST_CHILDREN + 1]; /* by child, then the reply */
} Family;
