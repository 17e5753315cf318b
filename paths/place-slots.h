/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The places in which nodes work for an entry, whatever the pattern. A *chain* is the nodes from
 * the root to a call; a *slot* is all chains that do the same for a request. Nodes that one caller
 * asks one at a time, and nearly always one of them, are replicas, and one slot.
 *
 *     lb(web1(auth)) and lb(web2(auth,auth)):  lb;  web1|web2;  web1|web2 / auth
 */
#pragma once

#include "paths/path-call.h"
#include "tracefmt/node-table.h"

/* A call of a pattern. Parents come before their children, and the first is the root. */
typedef struct {
        guint32 parent; /* index; NO_PARENT of the root */
        NodeId node;
        gboolean goes_on; /* its caller does not wait for it */
        double own;       /* own time of all requests of the pattern, in any unit */
        char mark;        /* path_continues_mark() */
} SlotPlace;

typedef struct {
        guint32 parent; /* slot, less than its own; NO_PARENT of the root's, which is slot 0 */
        gboolean goes_on;
        char mark;          /* of its calls, '!' or '*'; 0: none */
        GArray *nodes;      /* of NodeId: the replicas, in the order of their names */
        guint32 first_cell; /* cells are replicas, one for each of nodes, numbered over all slots */
        double own;
} PlaceSlot;

typedef struct PlaceSlots PlaceSlots;

PlaceSlots *place_slots_new(void);
void place_slots_free(PlaceSlots *slots);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(PlaceSlots, place_slots_free)

/* Adds a pattern of n >= 1 places that count requests have, with the same root node as all.
 * chains: room for the chain of each place. */
void place_slots_add(PlaceSlots *slots, guint64 count, const SlotPlace *places, guint32 n,
                     guint32 *chains);

/* Finds the slots, once all patterns are there, one at least. Each caller's 64 most frequent
 * callees may be replicas. O(places log places), and for each slot the patterns it is in times the
 * square of its callees, as far as they may be replicas. */
void place_slots_find(PlaceSlots *slots, const NodeTable *nodes);

/* After that. A slot is borrowed. */
guint32 place_slots_size(const PlaceSlots *slots);
const PlaceSlot *place_slots_at(const PlaceSlots *slots, guint32 slot);
guint32 place_slots_slot(const PlaceSlots *slots, guint32 chain);
guint32 place_slots_cell(const PlaceSlots *slots, guint32 chain);

/* A chain's nodes. */
guint32 place_slots_chain_parent(const PlaceSlots *slots, guint32 chain); /* or NO_PARENT */
NodeId place_slots_chain_node(const PlaceSlots *slots, guint32 chain);
