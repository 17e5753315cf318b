/* SPDX-License-Identifier: BSD-2-Clause */
#include "analysis/map.h"

#include "analysis/map-merge.h"
#include "base/compare.h"
#include "base/each.h"
#include "base/hash.h"

enum { LOOK_BACK = 16 }; /* siblings that may be the one before a call */

/* A call of a pattern, to sort siblings by. */
typedef struct {
        guint32 parent, place;
        gint64 start, end; /* mean, after the parent was entered, ns */
} MapSibling;

/* How often a callee's answer came last before the calls of an edge. */
typedef struct {
        NodeId node;
        guint64 makers;
} MapBefore;

static void map_edge_free(gpointer edge)
{
        histogram_clear(&((MapEdge *)edge)->latency);
        g_free(edge);
}

static void map_node_free(gpointer node)
{
        if (!node)
                return;
        histogram_clear(&((MapNode *)node)->own);
        g_free(node);
}

static void map_context_free(gpointer data)
{
        MapContext *c = data;

        g_free(c->label);
        g_array_unref(c->branches);
        g_free(c);
}

static void map_state_free(gpointer data)
{
        MapState *s = data;

        g_array_unref(s->branches);
        g_free(s);
}

SystemMap *map_new(const NodeTable *nodes)
{
        SystemMap *m = g_new0(SystemMap, 1);
        MapLoading *l = m->loading = g_new0(MapLoading, 1);

        m->table = nodes;
        m->nodes = g_ptr_array_new_with_free_func(map_node_free);
        m->edges = g_ptr_array_new_with_free_func(map_edge_free);
        m->contexts = g_ptr_array_new_with_free_func(map_context_free);
        m->states = g_ptr_array_new_with_free_func(map_state_free);
        l->edges = g_hash_table_new_full(hash_int64, g_int64_equal, g_free, NULL);
        l->before = g_hash_table_new_full(NULL, NULL, NULL, (GDestroyNotify)g_array_unref);
        l->beside = g_hash_table_new_full(hash_int64, g_int64_equal, g_free, NULL);
        l->contexts = g_hash_table_new_full(hash_text, g_str_equal, g_free, NULL);
        l->shapes = g_array_new(FALSE, FALSE, sizeof(MapPlace));
        l->roots = g_array_new(FALSE, FALSE, sizeof(MapRoot));
        return m;
}

static void map_end_loading(SystemMap *m)
{
        MapLoading *l = g_steal_pointer(&m->loading);

        if (!l)
                return;
        g_hash_table_destroy(l->edges);
        g_hash_table_destroy(l->before);
        g_hash_table_destroy(l->beside);
        g_hash_table_destroy(l->contexts);
        g_array_unref(l->shapes);
        g_array_unref(l->roots);
        g_free(l);
}

void map_free(SystemMap *m)
{
        if (!m)
                return;
        map_end_loading(m);
        g_ptr_array_unref(m->nodes);
        g_ptr_array_unref(m->edges);
        g_ptr_array_unref(m->contexts);
        g_ptr_array_unref(m->states);
        g_free(m);
}

/* --- parts that a pattern names ---------------------------------------------- */

static MapNode *map_node(SystemMap *m, NodeId id)
{
        if (m->nodes->len <= id)
                g_ptr_array_set_size(m->nodes, (gint)id + 1);
        if (!m->nodes->pdata[id]) {
                MapNode *node = m->nodes->pdata[id] = g_new0(MapNode, 1);

                node->node = node->alike = id;
        }
        return m->nodes->pdata[id];
}

static MapEdge *map_edge(SystemMap *m, NodeId caller, NodeId callee)
{
        gint64 key = (gint64)((guint64)caller << 32 | callee);
        MapEdge *e = g_hash_table_lookup(m->loading->edges, &key);

        if (e)
                return e;
        e = g_new0(MapEdge, 1);
        e->caller = caller;
        e->callee = callee;
        e->after = NO_NODE;
        e->goes_on = TRUE;
        g_ptr_array_add(m->edges, e);
        g_hash_table_insert(m->loading->edges, g_memdup2(&key, sizeof key), e);
        return e;
}

static MapContext *map_context(SystemMap *m, NodeId node, NodeId caller, const char *label)
{
        g_autofree char *key = g_strdup_printf("%u %u %s", node, caller, label ? label : "");
        MapContext *c = g_hash_table_lookup(m->loading->contexts, key);

        if (c)
                return c;
        c = g_new0(MapContext, 1);
        c->node = node;
        c->caller = caller;
        c->label = g_strdup(label);
        c->branches = g_array_new(FALSE, FALSE, sizeof(MapBranch));
        g_ptr_array_add(m->contexts, c);
        g_hash_table_insert(m->loading->contexts, g_steal_pointer(&key), c);
        return c;
}

/* --- one pattern --------------------------------------------------------------- */

COMPARISON(compare_siblings, MapSibling,
           COMPARE(a->parent, b->parent) ?:
           COMPARE(a->start, b->start) ?:
           COMPARE(a->place, b->place))

static NodeId pattern_caller(const PathPattern *p, guint32 place)
{
        guint32 parent = p->nodes[place].parent;

        return parent == NO_PARENT ? p->client : p->nodes[parent].node;
}

static void map_add_call(SystemMap *m, const PathPattern *p, guint32 place)
{
        const PatternNode *n = &p->nodes[place];
        MapEdge *e = map_edge(m, pattern_caller(p, place), n->node);
        MapNode *node = map_node(m, n->node);

        e->calls += p->count;
        e->goes_on &= work_goes_on(n->continues);
        if (n->faults.errors > 0 && e->errors == 0)
                e->outcome = n->faults.outcome;
        e->errors += n->faults.errors;
        histogram_merge(&e->latency, &n->latency);
        for (guint i = 0; i < N_WAY_CAUSES; i++)
                e->cause[i] += pattern_node_cause_sum(n, i);
        node->calls += p->count;
        node->errors += n->faults.errors;
        histogram_merge(&node->own, &n->own);
}

static void map_count_requests(SystemMap *m, NodeId id, guint64 count, GHashTable *seen)
{
        if (g_hash_table_add(seen, GUINT_TO_POINTER(id)))
                map_node(m, id)->requests += count;
}

/* The sibling whose answer came last before a call began; NULL: none. */
static const MapSibling *sibling_before(const MapSibling *first, const MapSibling *s)
{
        const MapSibling *found = NULL;

        for (const MapSibling *k = s; k > first && s - k < LOOK_BACK;) {
                k--;
                if (k->end <= s->start && (!found || k->end > found->end))
                        found = k;
        }
        return found;
}

static void map_add_before(SystemMap *m, const MapEdge *e, NodeId node, guint64 count)
{
        GArray *befores = g_hash_table_lookup(m->loading->before, e);
        MapBefore before = { node, count };

        if (!befores) {
                befores = g_array_new(FALSE, FALSE, sizeof(MapBefore));
                g_hash_table_insert(m->loading->before, (gpointer)e, befores);
        }
        EACH (MapBefore, b, befores) {
                if (b->node == node) {
                        b->makers += count;
                        return;
                }
        }
        g_array_append_val(befores, before);
}

static void map_add_beside(SystemMap *m, NodeId a, NodeId b)
{
        gint64 key = (gint64)((guint64)MIN(a, b) << 32 | MAX(a, b));

        if (!g_hash_table_contains(m->loading->beside, &key))
                g_hash_table_add(m->loading->beside, g_memdup2(&key, sizeof key));
}

/* The calls of one place: the first call to each callee is what its maker is counted by. */
static void map_add_siblings(SystemMap *m, const PathPattern *p, MapContext *context,
                             gint128 latency, const MapSibling *first, guint n)
{
        NodeId caller = pattern_caller(p, first->place);
        g_autoptr(GHashTable) seen = g_hash_table_new(NULL, NULL);

        for (const MapSibling *s = first; s < first + n; s++) {
                NodeId callee = p->nodes[s->place].node;
                MapBranch branch = { callee, p->count, latency };
                const MapSibling *before;

                if (g_hash_table_contains(seen, GUINT_TO_POINTER(callee)))
                        continue;
                GHashTableIter other;
                gpointer id;
                g_hash_table_iter_init(&other, seen);
                while (g_hash_table_iter_next(&other, &id, NULL))
                        map_add_beside(m, GPOINTER_TO_UINT(id), callee);
                g_hash_table_add(seen, GUINT_TO_POINTER(callee));
                map_branch_add(context->branches, &branch);
                MapEdge *e = map_edge(m, caller, callee);
                e->makers += p->count;
                if ((before = sibling_before(first, s)))
                        map_add_before(m, e, p->nodes[before->place].node, p->count);
        }
}

static void map_keep_shape(SystemMap *m, const PathPattern *p)
{
        MapRoot root = { m->loading->shapes->len, p->n_nodes, p->client, p->count, p->label };

        g_array_append_val(m->loading->roots, root);
        for (guint32 i = 0; i < p->n_nodes; i++) {
                const PatternNode *n = &p->nodes[i];
                MapPlace place = { n->parent, n->node, n->continues };

                g_array_append_val(m->loading->shapes, place);
        }
}

void map_add(SystemMap *m, const PathPattern *p)
{
        g_autofree MapSibling *siblings = g_new(MapSibling, p->n_nodes);
        g_autoptr(GHashTable) seen = g_hash_table_new(NULL, NULL);
        MapContext *client = map_context(m, p->client, NO_NODE, NULL);

        map_keep_shape(m, p);
        m->requests += p->count;
        client->calls += p->count;
        map_count_requests(m, p->client, p->count, seen);
        for (guint32 i = 0; i < p->n_nodes; i++) {
                const PatternNode *n = &p->nodes[i];
                gint64 start = histogram_mean(&n->call_delay);

                siblings[i] = (MapSibling){ n->parent, i, start, start };
                if (__builtin_add_overflow(start, histogram_mean(&n->latency), &siblings[i].end))
                        siblings[i].end = G_MAXINT64;
                map_count_requests(m, n->node, p->count, seen);
                map_add_call(m, p, i);
        }
        qsort(siblings, p->n_nodes, sizeof *siblings, compare_siblings);
        for (guint32 i = 0, n; i < p->n_nodes; i += n) {
                guint32 parent = siblings[i].parent;

                for (n = 1; i + n < p->n_nodes && siblings[i + n].parent == parent;)
                        n++;
                if (parent == NO_PARENT)
                        map_add_siblings(m, p, client, 0, siblings + i, n);
                else
                        map_add_siblings(m, p,
                                         map_context(m, p->nodes[parent].node,
                                                     pattern_caller(p, parent),
                                                     p->nodes[parent].label),
                                         p->nodes[parent].latency.sum, siblings + i, n);
        }
        for (guint32 i = 0; i < p->n_nodes; i++) {
                MapContext *c =
                        map_context(m, p->nodes[i].node, pattern_caller(p, i), p->nodes[i].label);

                c->calls += p->count;
                c->latency += p->nodes[i].latency.sum;
        }
}

/* --- probabilities ---------------------------------------------------------------- */

static double map_share(guint64 part, guint64 whole)
{
        return whole > 0 ? MIN((double)part / (double)whole, 1) : 0;
}

static void map_find_after(const SystemMap *m, MapEdge *e)
{
        const GArray *befores = g_hash_table_lookup(m->loading->before, e);
        const MapBefore *most = NULL;

        if (!befores)
                return;
        EACH (const MapBefore, b, befores)
                if (!most || b->makers > most->makers)
                        most = b;
        if (most->makers * 2 <= e->makers)
                return;
        gint64 key = (gint64)((guint64)e->caller << 32 | most->node);
        const MapEdge *after = g_hash_table_lookup(m->loading->edges, &key);
        e->after = most->node;
        e->given_after = map_share(most->makers, after->makers);
}

/* What calls take longer that call a node or one alike, weighed and summed over contexts. */
typedef struct {
        double weight, more;
} MapGain;

static MapGain *gain_of(GHashTable *gains, NodeId caller, NodeId alike)
{
        gint64 key = (gint64)((guint64)caller << 32 | alike);
        MapGain *gain = g_hash_table_lookup(gains, &key);

        if (!gain) {
                gain = g_new0(MapGain, 1);
                g_hash_table_insert(gains, g_memdup2(&key, sizeof key), gain);
        }
        return gain;
}

/* A difference of two means has the variance of both: it weighs as much as calls with and without
 * allow. Where either are rare they may be errors of inference. */
static void map_find_more(const SystemMap *m)
{
        g_autoptr(GHashTable) gains =
                g_hash_table_new_full(hash_int64, g_int64_equal, g_free, g_free);

        EACH_OF (const MapContext, c, m->contexts) {
                g_autoptr(GArray) branches = map_branches_merge(m, c->branches, NULL);
                double rare = (1 - MAP_MOST) * (double)c->calls;

                EACH (const MapBranch, b, branches) {
                        double with = (double)b->makers, without = (double)c->calls - with;
                        MapGain *gain = gain_of(gains, c->node, b->callee);
                        double weight = with * without / (double)c->calls;

                        if (c->caller == NO_NODE || MIN(with, without) < rare || without <= 0)
                                continue;
                        gain->weight += weight;
                        gain->more += weight * ((double)b->latency / with -
                                                (double)(c->latency - b->latency) / without);
                }
        }
        EACH_OF (MapEdge, e, m->edges) {
                const MapGain *gain = gain_of(gains, e->caller, map_node_of(m, e->callee)->alike);

                e->more_known = gain->weight > 0;
                e->more = e->more_known ? gain->more / gain->weight : 0;
        }
}

COMPARISON_OF_POINTERS(compare_map_edges, MapEdge,
                       COMPARE(a->caller, b->caller) ?: COMPARE(a->callee, b->callee))

void map_finish(SystemMap *m)
{
        g_ptr_array_sort(m->edges, compare_map_edges);
        map_merge(m);
        map_find_more(m);
        EACH_OF (MapEdge, e, m->edges) {
                guint64 served = map_node_of(m, e->caller)->calls;
                const MapContext *client;
                g_autofree char *key = g_strdup_printf("%u %u ", e->caller, NO_NODE);

                if ((client = g_hash_table_lookup(m->loading->contexts, key)))
                        served += client->calls;
                e->probability = map_share(e->makers, served);
                e->mean = (double)e->calls / (double)MAX(served, 1);
                map_find_after(m, e);
        }
        map_end_loading(m);
}

SystemMap *map_new_of_set(const PathSet *set)
{
        const PathSetSummary *summary = path_set_summary(set);
        SystemMap *m = map_new(path_set_nodes(set));
        guint32 n;
        const WorkerLoad *loads = path_set_workers(set, &n);

        m->time = summary->first == NO_TIME ? 0 : summary->last - summary->first;
        for (guint32 i = 0; i < path_set_size(set); i++)
                map_add(m, path_set_pattern(set, i));
        map_finish(m);
        for (NodeId id = 0; id < MIN(n, m->nodes->len); id++) {
                MapNode *node = m->nodes->pdata[id];

                if (!node || loads[id].served <= 0 || m->time <= 0)
                        continue;
                node->workers = loads[id].workers;
                node->busy = worker_load_busy(&loads[id], m->time);
        }
        return m;
}
