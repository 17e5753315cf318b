/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The nodes of a trace: a node's name and the small number that stands for it.
 *
 * A node is whatever sends and receives messages (paper, section 2): a host, a
 * service, a process. Everything past the reader speaks of nodes by NodeId, so
 * that comparing, hashing and indexing them costs nothing.
 *
 * A name has two forms. The *name* is UTF-8 text without a NUL byte. The *written* form stands in
 * traces and signatures. It has %XX for blanks, unprintable characters (printable.h) and the
 * characters "% ( ) , > ~ * \" { } |"; also for one of "= + - @" at the beginning. Two names are
 * the same node if they are equal as names, however they were written.
 */
#pragma once

#include <glib.h>

typedef guint32 NodeId; /* 0 .. node_table_size() - 1, in order of first sight */
#define NO_NODE ((NodeId)-1)

typedef struct NodeTable NodeTable;

NodeTable *node_table_new(void);
void node_table_free(NodeTable *nodes);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(NodeTable, node_table_free)

/* The node called by the n bytes at name, added if it is new. Bytes that are
 * not UTF-8 become U+FFFD and a NUL byte too: names that come from packets are
 * never refused. Amortised constant time. */
NodeId node_table_add(NodeTable *nodes, const char *name, gsize n);

/* The same as node_table_add() for the written form. NO_NODE and error set where the bytes are not
 * the written form of a name (a bad %XX, not UTF-8, a NUL, empty). */
NodeId node_table_add_written(NodeTable *nodes, const char *text, gsize n, GError **error);

/* NO_NODE where there is none. */
NodeId node_table_lookup(const NodeTable *nodes, const char *name, gsize n);

/* Both borrowed, NUL-terminated, valid as long as the table. */
const char *node_table_name(const NodeTable *nodes, NodeId node);
const char *node_table_written(const NodeTable *nodes, NodeId node);

guint node_table_size(const NodeTable *nodes);

/* Appends the written form of the n bytes at text to out. what = TRUE escapes a node name, as
 * above; FALSE escapes only blanks, unprintable characters and '%', for ids and attribute values.
 */
void node_table_escape(GString *out, const char *text, gsize n, gboolean node_name);

/* Of two NodeIds that a and b point to, which name comes first in its written form; nodes is the
 * table. For g_array_sort_with_data() and qsort_r(). */
int node_table_compare(gconstpointer a, gconstpointer b, gpointer nodes);
