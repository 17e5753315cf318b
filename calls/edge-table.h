/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The edges of a trace, with what their calls add up to, and a hash table to find them by.
 */
#pragma once

#include "base/hash.h"
#include "base/int128.h"
#include "tracefmt/message.h"

/* An edge: messages from one node to another, both ways of a call together. */
typedef struct {
        NodeId caller, callee;
        guint8 kinds;       /* 1 << MessageOp of every kind of stamp of calls seen on it */
        gint64 kinds_since; /* when the last of those was first seen */
        guint64 messages, pairs, lone_calls, lone_returns;
        guint64 one_way[2];  /* MSG_SENT, MSG_RECV: not in messages */
        gint64 longest;      /* end - start of the longest call pair, ns; at least 0 */
        gint64 longest_stay; /* reply - enter of the one that is longest there, ns; at least 0 */
        gint128 busy;        /* reply - enter of all call pairs together, ns */
} Edge;

typedef struct {
        guint64 nodes; /* caller << 32 | callee */
        guint32 edge;  /* index of an edge, plus one; 0: free */
} EdgeSlot;

typedef struct {
        GArray *edges; /* of Edge, in order of first sight */
        EdgeSlot *slots;
        guint32 mask;
} EdgeTable;

void edge_table_init(EdgeTable *table);
void edge_table_clear(EdgeTable *table); /* frees what it holds */

/* The index of the edge, which is added if it is new. nodes: caller << 32 | callee. */
static inline guint32 edge_table_find(EdgeTable *table, guint64 nodes);

static inline Edge *edge_table_at(const EdgeTable *table, guint32 i)
{
        return &g_array_index(table->edges, Edge, i);
}

void edge_table_clear_times(EdgeTable *table);

/* Adds the durations of a call: at its caller, and of its stay at the callee; ns. */
static inline void edge_add_times(Edge *edge, gint64 call, gint64 stay)
{
        edge->longest = MAX(edge->longest, call);
        edge->longest_stay = MAX(edge->longest_stay, stay);
        edge->busy += MAX(stay, 0);
}

/* --- inline ----------------------------------------------------------------- */

guint32 edge_table_add(EdgeTable *table, guint64 nodes);

static inline EdgeSlot *edge_table_slot(const EdgeTable *t, guint64 nodes)
{
        guint32 i = hash_word(HASH_SEED, nodes) & t->mask;

        while (t->slots[i].edge && t->slots[i].nodes != nodes)
                i = (i + 1) & t->mask;
        return &t->slots[i];
}

static inline guint32 edge_table_find(EdgeTable *t, guint64 nodes)
{
        guint32 e = edge_table_slot(t, nodes)->edge;

        return G_LIKELY(e) ? e - 1 : edge_table_add(t, nodes);
}
