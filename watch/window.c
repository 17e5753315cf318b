/* SPDX-License-Identifier: BSD-2-Clause */
#include "watch/window.h"

#include "base/compare.h"
#include "base/each.h"

static void clear_operation(gpointer data)
{
        histogram_clear(&((WatchOperation *)data)->latency);
}

const char *watch_window_operation(const WatchWindow *w, const PathPattern *p)
{
        return p->label ? p->label : node_table_name(path_set_nodes(w->set), p->nodes[0].node);
}

static WatchOperation *find_operation(WatchWindow *w, GHashTable *by_name, const PathPattern *p)
{
        const char *name = watch_window_operation(w, p);
        guint place = GPOINTER_TO_UINT(g_hash_table_lookup(by_name, name));
        WatchOperation *o;

        if (!place) {
                WatchOperation none = { .name = name, .node = p->nodes[0].node };

                g_array_append_val(w->operations, none);
                place = w->operations->len;
                g_hash_table_insert(by_name, (gpointer)name, GUINT_TO_POINTER(place));
        }
        o = &g_array_index(w->operations, WatchOperation, place - 1);
        return o;
}

static void add_node(WatchNode *sum, const PatternNode *n)
{
        sum->calls += n->latency.count;
        sum->errors += n->faults.errors;
        sum->own += n->own.sum;
        sum->queued += n->own_queued.sum;
        sum->network += n->network.sum;
        histogram_merge(&sum->latency, &n->latency);
}

COMPARISON(compare_operations, WatchOperation,
           COMPARE(b->latency.sum, a->latency.sum) ?: g_strcmp0(a->name, b->name))

void watch_window_sum(WatchWindow *w)
{
        g_autoptr(GHashTable) by_name = g_hash_table_new(g_str_hash, g_str_equal);
        guint32 n_loads;
        const WorkerLoad *loads = path_set_workers(w->set, &n_loads);

        w->operations = g_array_new(FALSE, FALSE, sizeof(WatchOperation));
        g_array_set_clear_func(w->operations, clear_operation);
        w->n_nodes = node_table_size(path_set_nodes(w->set));
        w->nodes = g_new0(WatchNode, w->n_nodes + 1);
        for (guint32 i = 0; i < path_set_size(w->set); i++) {
                const PathPattern *p = path_set_pattern(w->set, i);
                WatchOperation *o = find_operation(w, by_name, p);

                w->requests += p->count;
                w->failed += p->failed;
                o->requests += p->count;
                o->failed += p->failed;
                histogram_merge(&w->latency, &p->nodes[0].latency);
                histogram_merge(&o->latency, &p->nodes[0].latency);
                for (guint32 k = 0; k < p->n_nodes; k++)
                        add_node(&w->nodes[p->nodes[k].node], &p->nodes[k]);
        }
        for (guint32 i = 0; i < MIN(n_loads, w->n_nodes); i++)
                w->nodes[i].load = loads[i];
        g_array_sort(w->operations, compare_operations);
}

static int compare_own(gconstpointer a, gconstpointer b, gpointer data)
{
        const WatchNode *nodes = data, *x = &nodes[*(const NodeId *)a],
                        *y = &nodes[*(const NodeId *)b];

        return COMPARE(y->own, x->own) ?: COMPARE(*(const NodeId *)a, *(const NodeId *)b);
}

GArray *watch_window_rank_nodes(const WatchWindow *w)
{
        GArray *ranked = g_array_new(FALSE, FALSE, sizeof(NodeId));

        for (NodeId i = 0; i < w->n_nodes; i++)
                if (w->nodes[i].calls)
                        g_array_append_val(ranked, i);
        g_array_sort_with_data(ranked, compare_own, w->nodes);
        return ranked;
}

void watch_window_clear(WatchWindow *w)
{
        g_clear_pointer(&w->operations, g_array_unref);
        histogram_clear(&w->latency);
        for (guint i = 0; w->nodes && i < w->n_nodes; i++)
                histogram_clear(&w->nodes[i].latency);
        g_clear_pointer(&w->nodes, g_free);
}
