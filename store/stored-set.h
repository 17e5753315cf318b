/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The answer that a store holds, as the method that found it gave it: for the writers of
 * write/, which write the same bytes of both.
 */
#pragma once

#include "paths/verdict.h"
#include "store/store-reader.h"

typedef struct {
        PathSet *set;
        Verdict *verdict; /* NULL: the store has none */
        GArray *clocks;   /* of ClockOffset */
} StoredSet;

/* Reads the graph of linear patterns, and makes *graph if there is one. */
gboolean stored_graph_load(StoreReader *reader, PathGraph **graph, GError **error);

/* reader is read to its end, and with nodes must outlive it. NULL and error set where the store is
 * corrupt. */
StoredSet *stored_set_new(StoreReader *reader, NodeTable *nodes, GError **error);
void stored_set_free(StoredSet *stored);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(StoredSet, stored_set_free)
