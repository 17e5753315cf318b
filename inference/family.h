/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A family: one parent, a call into the node, with the children that it is given.
 */
#ifndef RAVEL_FAMILY_H
#define RAVEL_FAMILY_H

#include <glib.h>

typedef struct Joint Joint;

enum { MOST_CHILDREN = 48 }; /* a parent with more children keeps them */

/* An output of the node, a call or a reply, as one parent would make it. Its delay counts since the
 * trigger, an earlier event of the same parent. */
typedef struct {
        guint32 output; /* number, in order of time: Joint.output */
        guint32 parent;
        guint32 class; /* the kind of the trigger and its own kind: trellis_class() */
        guint32 row;   /* of the densities of its delay */
        gint64 trigger;
} PlacedOutput;

typedef struct {
        guint32 parent, n;
        guint32 child[MOST_CHILDREN]; /* in order of start */
        gint32 log; /* the log likelihood of its walk, in 1/LOG_UNIT: family_walk() */
        PlacedOutput made[MOST_CHILDREN + 1]; /* by child, then the reply: family_walk() */
} Family;

/* Gets the family of a parent in the assignment. FALSE if it has too many children. */
gboolean family_gather(const Joint *j, guint32 parent, Family *f);

/* Finds the log likelihood of a family, and the outputs of its parent. */
void family_walk(Joint *j, Family *f);

/* Removes a child; adds one, for which there must be room. */
void family_take_out(Family *f, guint32 call);
void family_put_in(Family *f, guint32 call);

#endif
