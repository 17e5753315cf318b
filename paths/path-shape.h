/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The shape of a path instance: the tree of its calls with the siblings in the
 * order that the signature lists them in. Within paths/ only.
 */
#pragma once

#include "paths/path-call.h"

/* The signature of an instance that client called, newly allocated; slot[i] becomes the place of
 * calls[i] in the pattern's pre-order. Siblings are sorted by the bytes of their
 * own part of the signature, equal ones staying in call order; SIBLINGS_STRICT
 * keeps call order throughout. O(n log^2 n) names to compare at worst, whatever
 * the depth or the number of siblings. */
char *path_shape_signature(const NodeTable *nodes, NodeId client, const PathCall *calls, guint32 n,
                           SiblingOrder order, guint32 *slot);
