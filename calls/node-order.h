/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Nodes in an order in which callers come before those they call, as far as there is one: where
 * calls go round in circles, the node that waits for the fewest others does not wait.
 */
#ifndef RAVEL_NODE_ORDER_H
#define RAVEL_NODE_ORDER_H

#include <glib.h>

/* One node calls another one; both below n. */
typedef struct {
        guint32 caller, callee;
} NodeLink;

typedef struct {
        guint32 n;
        guint32 *rank;  /* by node, its place in the order, from 0 */
        guint32 *first; /* by node, where its callees begin; n + 1 */
        guint32 *callee;
        guint32 *n_before; /* by node, how many links there are to it from nodes before it */
} NodeOrder;

/* Of n nodes; of equal ones the smaller number comes first. In proportion to nodes and links; to
 * the square of nodes where all calls go round in circles. */
void node_order_init(NodeOrder *o, guint32 n, const NodeLink *links, guint32 n_links);
void node_order_clear(NodeOrder *o);

#endif
