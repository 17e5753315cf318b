/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The context of a call: the set of nodes that its parent calls before it, the set that it calls
 * after it, and the parent's own context. Nodes are solved callers first (node-order.h), so no
 * node's contexts depend on its own parents. evidence-contexts.c uses them.
 */
#ifndef RAVEL_CONTEXTS_H
#define RAVEL_CONTEXTS_H

#include "inference/joint.h"
#include <glib.h>

/* Sets the contexts of calls out of the node, by the assignment. A call without a parent keeps its
 * 0. */
void joint_set_contexts(const Joint *j, guint32 *context);

#endif
