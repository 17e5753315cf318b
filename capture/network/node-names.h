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
 *     10.0.0.7          web1 until 12:30
 *     10.0.0.7          web2 from 12:30       times in UTC, of the first packet's day, or whole
 *     127.0.0.1:40312>127.0.0.1:8080  lb      who calls on a connection, from a time on or ever
 *
 * The most specific line counts: address and port, then a connection, then address, then the
 * longest prefix. Among equally specific lines the one that began last counts, or else the
 * first. Many addresses may have one name. Further names on a line (aliases) are ignored. What
 * no line names is called by its address.
 *
 * Beside lines of a file others may tell who has a connection, who listens, and where
 * connections go through address translation.
 */
#pragma once

#include "capture/network/address.h"
#include "tracefmt/node-table.h"

typedef struct NodeNames NodeNames;

/* Names are added to nodes, which is borrowed. */
NodeNames *node_names_new(NodeTable *nodes);
void node_names_free(NodeNames *names);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(NodeNames, node_names_free)

/* At most this number of addresses without a name are a node each; all further ones are together
 * the node other-addresses. */
void node_names_bound(NodeNames *names, gsize most);

/* Adds the lines in the n bytes at text, called source in errors. FALSE and error set, naming
 * the line, where one is none. */
gboolean node_names_parse(NodeNames *names, const char *text, gsize n, const char *source,
                          GError **error);

/* Forgets the lines, and what files told of connections: they are to be read anew. Connections keep
 * the names that they have. */
void node_names_clear(NodeNames *names);

typedef enum { ROLE_NAMELESS, ROLE_UNKNOWN, ROLE_CALLER, ROLE_SERVER } NodeRole;

/* own, an end of its connection with peer, is node from that time on (ns; G_MININT64: ever). */
void node_names_add_connection(NodeNames *names, const Endpoint *own, const Endpoint *peer,
                               gint64 from, NodeId node, NodeRole role);

/* Who listens at own. */
void node_names_add_service(NodeNames *names, const Endpoint *own, gint64 from, NodeId node);

/* A connection of the client seen[0] to the server seen[1] is one of ends[0] to ends[1]. */
void node_names_add_translation(NodeNames *names, const Endpoint seen[2], const Endpoint ends[2],
                                gint64 from);

/* Connections go on being added without end, and are named soon after: the oldest may be
 * forgotten. Before the first. */
void node_names_forget(NodeNames *names);

/* Names go on being told while connections open: update is called before one is named for good,
 * when its first payload was sent. */
void node_names_follow(NodeNames *names, void (*update)(gpointer user), gpointer user);

/* Asks for what is new. FALSE: there is nobody to ask, and names are for good. */
gboolean node_names_update(NodeNames *names);

/* Which node own is, on a connection with peer (NULL: on any) that began at that time. */
NodeId node_names_lookup(NodeNames *names, const Endpoint *own, const Endpoint *peer, gint64 time);

/* What is known of own on its connection with peer: ROLE_NAMELESS where nothing names just it. */
NodeRole node_names_role(NodeNames *names, const Endpoint *own, const Endpoint *peer, gint64 time);

/* The node of the line for just this address and port; NO_NODE where there is none. */
NodeId node_names_service(NodeNames *names, const Endpoint *own, gint64 time);

/* Makes the ends of a connection, of which either may have called, its true ones. FALSE: they are.
 */
gboolean node_names_translate(const NodeNames *names, Endpoint ends[2], gint64 time);
gboolean node_names_has_translations(const NodeNames *names);

/* Whether address was looked up and no line named it: it is called by its digits. */
gboolean node_names_is_nameless(const NodeNames *names, Address address);

/* Whether a line has named any address that was looked up. */
gboolean node_names_is_used(const NodeNames *names);

/* How many lines give an address another name than an earlier line does for the same time. The
 * earlier one counts. *first: such an address with both names, the caller's to free. */
guint node_names_count_twice(NodeNames *names, char **first);
