/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Patterns and their operations as people read them.
 */
#pragma once

#include "paths/path-set.h"

/* The signature for people: siblings with the same one are written once, "db x17". */
char *path_short_signature(const char *signature);

/* A pattern for people: the operation of its root, if it has one (label), and the short signature.
 */
char *path_pattern_title(const char *label, const char *signature);

/* Appends an operation as a cell of TSV; "-" where there is none. */
void path_append_label_cell(GString *out, const char *label);

/* The operation of a node of a pattern: "GET /cart", and "+2" where its calls had two more. NULL:
 * none. Newly allocated; printable. */
char *path_node_operation(const PatternNode *node);
