/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Which node an address and port is. Names come from a file in the syntax of
 * hosts(5), an address and its name a line, '#' begins a comment:
 *
 *     10.0.0.5          db
 *     10.0.0.5:6379     redis          a port, and so a service, of it
 *     [2001:db8::1]:80  web
 *     10.1.0.0/16       clients        all addresses with this prefix
 *
 * The most specific line counts: address and port, then address, then the
 * longest prefix; of two that are equally specific, the first. Many addresses
 * may have one name. Further names on a line (aliases) are ignored. What no line
 * names is called by its address.
 */
#ifndef RAVEL_NODE_NAMES_H
#define RAVEL_NODE_NAMES_H

#include "capture/network/address.h"
#include "tracefmt/node-table.h"

typedef struct NodeNames NodeNames;

/* Names are added to nodes, which is borrowed. */
NodeNames *node_names_new(NodeTable *nodes);
void node_names_free(NodeNames *names);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(NodeNames, node_names_free)

/* Adds the lines of a file, or of the n bytes at text, called source in errors.
 * FALSE and error set, naming the line, where it cannot be read. */
gboolean node_names_load(NodeNames *names, const char *path, GError **error);
gboolean node_names_parse(NodeNames *names, const char *text, gsize n, const char *source,
                          GError **error);

NodeId node_names_lookup(NodeNames *names, Address address, guint16 port);

/* Whether address was looked up and no line named it: it is called by its digits. */
gboolean node_names_is_nameless(const NodeNames *names, Address address);

/* Whether a line has named any address that was looked up. */
gboolean node_names_is_used(const NodeNames *names);

/* How many lines give an address another name than an earlier one, which counts; *first is
 * such an address, as the caller's text, with both names. */
guint node_names_count_twice(NodeNames *names, char **first);

/* Whether a line names just this address and port. */
gboolean node_names_has_port(NodeNames *names, Address address, guint16 port);

#endif
