/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Links: which messages carry the same. What a broker delivers is what was published to it, so
 * a delivery continues the message with the same content, on whatever connection that came.
 *
 * Contents are known by a hash, which stays in memory. A link is the id of the first message
 * that had the content. So a trace says that two messages carry the same, and nothing about the
 * content.
 */
#pragma once

#include "capture/network/sequencer.h"

typedef struct LinkTable LinkTable;

/* most: the last contents that are known, or half of them. */
LinkTable *link_table_new(guint most);
void link_table_free(LinkTable *table);

/* The message of this port and number, sent by a node, carries content. The first that did: this
 * one where none is known. */
Link link_table_add(LinkTable *table, guint64 content, NodeId by, guint16 port, guint32 number);

/* How many contents were forgotten. */
guint64 link_table_forgotten(const LinkTable *table);

/* From now on this link has content, whichever had it before. */
void link_table_set(LinkTable *table, guint64 content, NodeId by, Link link);

/* The first message that carried content, if another node than this one sent it; else none. */
Link link_table_find(const LinkTable *table, guint64 content, NodeId not_by);

/* The same, which carried it no longer. */
Link link_table_take(LinkTable *table, guint64 content, NodeId not_by);
