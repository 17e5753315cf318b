/* SPDX-License-Identifier: BSD-2-Clause */
#include "calls/edge-table.h"

void edge_table_init(EdgeTable *t)
{
        t->mask = 255;
        t->slots = g_new0(EdgeSlot, t->mask + 1);
        t->edges = g_array_new(FALSE, FALSE, sizeof(Edge));
}

void edge_table_clear(EdgeTable *t)
{
        g_free(t->slots);
        g_array_free(t->edges, TRUE);
}

guint32 edge_table_add(EdgeTable *t, guint64 nodes)
{
        Edge edge = { .caller = nodes >> 32, .callee = (NodeId)nodes };

        g_array_append_val(t->edges, edge);
        if (t->edges->len * 2 > t->mask) {
                EdgeSlot *old = t->slots;
                guint32 old_mask = t->mask;

                t->mask = old_mask * 2 + 1;
                t->slots = g_new0(EdgeSlot, t->mask + 1);
                for (guint32 i = 0; i <= old_mask; i++)
                        if (old[i].edge)
                                *edge_table_slot(t, old[i].nodes) = old[i];
                g_free(old);
        }
        *edge_table_slot(t, nodes) = (EdgeSlot){ nodes, t->edges->len };
        return t->edges->len - 1;
}

void edge_table_clear_times(EdgeTable *t)
{
        for (guint i = 0; i < t->edges->len; i++) {
                Edge *e = edge_table_at(t, i);

                e->longest = e->longest_stay = 0;
                e->busy = 0;
        }
}
