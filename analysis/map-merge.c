/* SPDX-License-Identifier: BSD-2-Clause */
#include "analysis/map-merge.h"

#include <math.h>
#include <string.h>

#include "base/compare.h"
#include "base/each.h"
#include "base/hash.h"

#define MERGE_ALPHA 0.01 /* of Hoeffding's bound: the chance that it parts what is the same */

void map_branch_add(GArray *branches, const MapBranch *more)
{
        EACH (MapBranch, b, branches) {
                if (b->callee == more->callee) {
                        b->makers += more->makers;
                        b->latency += more->latency;
                        return;
                }
        }
        g_array_append_val(branches, *more);
}

/* Follows alike to the first node, whose alike is itself. */
static NodeId merge_find(const SystemMap *m, NodeId id)
{
        while (map_node_of(m, id)->alike != id)
                id = map_node_of(m, id)->alike;
        return id;
}

/* --- whether two behave in the same way --------------------------------------- */

COMPARISON(compare_branches, MapBranch, COMPARE(a->callee, b->callee))

GArray *map_branches_merge(const SystemMap *m, const GArray *branches, GArray *into)
{
        if (!into)
                into = g_array_new(FALSE, FALSE, sizeof(MapBranch));
        EACH (const MapBranch, b, branches) {
                MapBranch one = *b;

                one.callee = merge_find(m, b->callee);
                map_branch_add(into, &one);
        }
        g_array_sort(into, compare_branches);
        return into;
}

/* Hoeffding's bound for the difference of two shares, of n and m calls. */
static double merge_bound(guint64 n, guint64 m)
{
        return sqrt(0.5 * log(2 / MERGE_ALPHA)) * (1 / sqrt((double)n) + 1 / sqrt((double)m));
}

/* Whether a callee has another probability in n calls than in m. Both are in order. */
static gboolean branches_differ(const GArray *a, guint64 n, const GArray *b, guint64 m)
{
        double bound = merge_bound(MAX(n, 1), MAX(m, 1));
        guint i = 0, k = 0;

        while (i < a->len || k < b->len) {
                const MapBranch *x = i < a->len ? &g_array_index(a, MapBranch, i) : NULL;
                const MapBranch *y = k < b->len ? &g_array_index(b, MapBranch, k) : NULL;
                gboolean in_a = x && (!y || x->callee <= y->callee);
                gboolean in_b = y && (!x || y->callee <= x->callee);
                double p = in_a ? (double)x->makers / (double)MAX(n, 1) : 0;
                double q = in_b ? (double)y->makers / (double)MAX(m, 1) : 0;

                if (fabs(p - q) > bound)
                        return TRUE;
                i += in_a;
                k += in_b;
        }
        return FALSE;
}

/* --- nodes that are alike -------------------------------------------------------- */

/* By node. */
typedef struct {
        GArray **branches; /* of all its contexts, callees by themselves */
        guint64 *served;   /* calls, requests of a client among them */
        GArray **callers;  /* of NodeId, in order */
        gboolean *entry;   /* a client calls it */
} Ends;

static Ends ends_find(const SystemMap *m)
{
        guint n = m->nodes->len;
        Ends e = { g_new0(GArray *, n), g_new0(guint64, n), g_new0(GArray *, n),
                   g_new0(gboolean, n) };

        for (guint i = 0; i < n; i++) {
                e.branches[i] = g_array_new(FALSE, FALSE, sizeof(MapBranch));
                e.callers[i] = g_array_new(FALSE, FALSE, sizeof(NodeId));
        }
        EACH_OF (const MapContext, c, m->contexts) {
                e.served[c->node] += c->calls;
                EACH (const MapBranch, b, c->branches) {
                        map_branch_add(e.branches[c->node], b);
                        e.entry[b->callee] |= c->caller == NO_NODE;
                }
        }
        EACH_OF (const MapEdge, edge, m->edges)
                g_array_append_val(e.callers[edge->callee], edge->caller);
        return e;
}

static void ends_clear(Ends *e, guint n)
{
        for (guint i = 0; i < n; i++) {
                g_array_unref(e->branches[i]);
                g_array_unref(e->callers[i]);
        }
        g_free(e->branches);
        g_free(e->callers);
        g_free(e->served);
        g_free(e->entry);
}

/* "web" of "web-12"; NULL: a name without a number, or of numbers alone. Newly allocated. */
static char *name_stem(const char *name)
{
        gsize n = strlen(name), digits = n;

        while (digits > 0 && g_ascii_isdigit(name[digits - 1]))
                digits--;
        if (digits == n)
                return NULL;
        if (digits > 1 && strchr("-_.", name[digits - 1]))
                digits--;
        if (digits == 0 || g_ascii_isdigit(name[digits - 1]) || strchr(".:-_", name[digits - 1]))
                return NULL;
        return g_strndup(name, digits);
}

static gboolean nodes_differ(const SystemMap *m, const Ends *e, NodeId a, NodeId b)
{
        g_autoptr(GArray) x = map_branches_merge(m, e->branches[a], NULL);
        g_autoptr(GArray) y = map_branches_merge(m, e->branches[b], NULL);

        return branches_differ(x, e->served[a], y, e->served[b]);
}

static gboolean nodes_call(const SystemMap *m, NodeId a, NodeId b)
{
        gint64 there = (gint64)((guint64)a << 32 | b), back = (gint64)((guint64)b << 32 | a);

        return g_hash_table_contains(m->loading->edges, &there) ||
               g_hash_table_contains(m->loading->edges, &back);
}

static gboolean nodes_are_beside(const SystemMap *m, NodeId a, NodeId b)
{
        gint64 key = (gint64)((guint64)MIN(a, b) << 32 | MAX(a, b));

        return g_hash_table_contains(m->loading->beside, &key);
}

static void append_ids(GString *text, GArray *ids)
{
        NodeId last = NO_NODE;

        g_array_sort(ids, compare_uint32s);
        EACH (const NodeId, id, ids) {
                if (*id != last)
                        g_string_append_printf(text, " %u", *id);
                last = *id;
        }
}

/* The callers and callees of a node that has both, in words; NULL: it has not. */
static char *ends_text(const SystemMap *m, const Ends *e, NodeId id)
{
        g_autoptr(GArray) callers = g_array_new(FALSE, FALSE, sizeof(NodeId));
        g_autoptr(GArray) callees = g_array_new(FALSE, FALSE, sizeof(NodeId));
        GString *text;

        if (e->callers[id]->len == 0 || e->branches[id]->len == 0)
                return NULL;
        EACH (const NodeId, caller, e->callers[id]) {
                NodeId one = merge_find(m, *caller);
                g_array_append_val(callers, one);
        }
        EACH (const MapBranch, b, e->branches[id]) {
                NodeId one = merge_find(m, b->callee);
                g_array_append_val(callees, one);
        }
        text = g_string_new(NULL);
        append_ids(text, callers);
        g_string_append_c(text, '>');
        append_ids(text, callees);
        return g_string_free(text, FALSE);
}

/* Makes id alike the first node of this key, if it is; key is taken. TRUE: something has changed.
 */
static gboolean merge_by_key(const SystemMap *m, const Ends *e, GHashTable *first, char *key,
                             NodeId id, gboolean by_name)
{
        gpointer found;
        NodeId other;

        if (!key)
                return FALSE;
        if (!(found = g_hash_table_lookup(first, key))) {
                g_hash_table_insert(first, key, GUINT_TO_POINTER(id + 1));
                return FALSE;
        }
        g_free(key);
        other = GPOINTER_TO_UINT(found) - 1;
        if (merge_find(m, id) == merge_find(m, other) || nodes_differ(m, e, id, other) ||
            (by_name ? nodes_call(m, id, other) : nodes_are_beside(m, id, other)))
                return FALSE;
        NodeId a = merge_find(m, id), b = merge_find(m, other);
        map_node_of(m, MAX(a, b))->alike = MIN(a, b);
        return TRUE;
}

static gboolean merge_once(const SystemMap *m, const Ends *e)
{
        g_autoptr(GHashTable) names = g_hash_table_new_full(hash_text, g_str_equal, g_free, NULL);
        g_autoptr(GHashTable) ends = g_hash_table_new_full(hash_text, g_str_equal, g_free, NULL);
        gboolean changed = FALSE;

        for (NodeId id = 0; id < m->nodes->len; id++) {
                if (!map_node_of(m, id) || e->entry[id])
                        continue;
                changed |= merge_by_key(m, e, names, name_stem(node_table_written(m->table, id)),
                                        id, TRUE);
                changed |= merge_by_key(m, e, ends, ends_text(m, e, id), id, FALSE);
        }
        return changed;
}

/* Nodes of one name but for a number, and nodes with the same callers and callees of which no
 * place calls two. What clients call are different requests, so these stay apart. Goes on until
 * nothing changes: once one tier is alike, the tiers beside it may be. */
static void merge_nodes(const SystemMap *m)
{
        Ends e = ends_find(m);

        while (merge_once(m, &e))
                ;
        for (NodeId id = 0; id < m->nodes->len; id++)
                if (map_node_of(m, id))
                        map_node_of(m, id)->alike = merge_find(m, id);
        ends_clear(&e, m->nodes->len);
}

/* --- states ------------------------------------------------------------------------ */

COMPARISON_OF_POINTERS(compare_contexts, MapContext,
                       COMPARE(a->node, b->node) ?:
                       COMPARE(b->calls, a->calls) ?:
                       COMPARE(a->caller, b->caller) ?:
                       g_strcmp0(a->label, b->label))
COMPARISON_OF_POINTERS(compare_states, MapContext,
                       COMPARE(a->state, b->state) ?: compare_contexts(va, vb))

static void state_add(const SystemMap *m, MapState *s, const MapContext *c)
{
        s->calls += c->calls;
        map_branches_merge(m, c->branches, s->branches);
}

static MapState *map_state(SystemMap *m, guint i)
{
        return m->states->pdata[i];
}

/* The first state of the node from `first` on that the context does not differ from, or a new one.
 */
static guint32 find_state(SystemMap *m, const MapContext *c, guint first)
{
        g_autoptr(GArray) mine = map_branches_merge(m, c->branches, NULL);

        for (guint i = first; i < m->states->len; i++)
                if (!branches_differ(mine, c->calls, map_state(m, i)->branches,
                                     map_state(m, i)->calls))
                        return i;
        MapState *s = g_new0(MapState, 1);
        s->node = c->node;
        s->branches = g_array_new(FALSE, FALSE, sizeof(MapBranch));
        g_ptr_array_add(m->states, s);
        return m->states->len - 1;
}

static void merge_contexts(SystemMap *m)
{
        NodeId node = NO_NODE;
        guint first = 0;

        g_ptr_array_sort(m->contexts, compare_contexts);
        EACH_OF (MapContext, c, m->contexts) {
                if (c->node != node)
                        first = m->states->len;
                node = c->node;
                c->state = find_state(m, c, first);
                state_add(m, map_state(m, c->state), c);
                map_node_of(m, node)->n_states = m->states->len - first;
        }
        g_ptr_array_sort(m->contexts, compare_states);
}

/* --- patterns -------------------------------------------------------------------------- */

/* Numbers texts from 1. */
static guint32 number_of(GHashTable *numbers, const char *text)
{
        gpointer found = g_hash_table_lookup(numbers, text);

        if (!found) {
                found = GUINT_TO_POINTER(g_hash_table_size(numbers) + 1);
                g_hash_table_insert(numbers, g_strdup(text), found);
        }
        return GPOINTER_TO_UINT(found);
}

/* The number of the root's tree: a place is its node and how it continues, and the trees below it
 * as a set. Places come after their parents. */
static guint32 number_tree(const SystemMap *m, const MapRoot *root, GHashTable *trees,
                           GPtrArray *below, GString *text)
{
        const MapPlace *places = &g_array_index(m->loading->shapes, MapPlace, root->first);
        guint32 number = 0;

        while (below->len < root->n)
                g_ptr_array_add(below, g_array_new(FALSE, FALSE, sizeof(guint32)));
        for (guint32 i = root->n; i-- > 0;) {
                g_string_printf(text, "%u %u:", map_node_of(m, places[i].node)->alike,
                                places[i].continues);
                append_ids(text, below->pdata[i]);
                g_array_set_size(below->pdata[i], 0);
                number = number_of(trees, text->str);
                if (i > 0)
                        g_array_append_val((GArray *)below->pdata[places[i].parent], number);
        }
        return number;
}

static int compare_counts(gconstpointer a, gconstpointer b)
{
        return COMPARE(*(const guint64 *)b, *(const guint64 *)a);
}

/* The fewest of counts with MAP_MOST of all. */
static guint32 count_most(GArray *counts, guint64 all)
{
        guint64 left = all;
        guint32 n = 0;

        g_array_sort(counts, compare_counts);
        while (n < counts->len && (double)left > (1 - MAP_MOST) * (double)all)
                left -= g_array_index(counts, guint64, n++);
        return n;
}

static void count_patterns(SystemMap *m)
{
        g_autoptr(GHashTable) trees = g_hash_table_new_full(hash_text, g_str_equal, g_free, NULL);
        g_autoptr(GHashTable) roots = g_hash_table_new_full(hash_text, g_str_equal, g_free, NULL);
        g_autoptr(GPtrArray) below = g_ptr_array_new_with_free_func((GDestroyNotify)g_array_unref);
        g_autoptr(GArray) patterns = g_array_new(FALSE, FALSE, sizeof(guint64));
        g_autoptr(GArray) abstract = g_array_new(FALSE, TRUE, sizeof(guint64));
        g_autoptr(GString) text = g_string_new(NULL);

        EACH (const MapRoot, root, m->loading->roots) {
                guint32 number = number_tree(m, root, trees, below, text);

                g_string_printf(text, "%u %u %s", number, map_node_of(m, root->client)->alike,
                                root->label ? root->label : "");
                number = number_of(roots, text->str);
                g_array_set_size(abstract, g_hash_table_size(roots));
                g_array_index(abstract, guint64, number - 1) += root->count;
                g_array_append_val(patterns, root->count);
        }
        m->patterns = count_most(patterns, m->requests);
        m->abstract_paths = count_most(abstract, m->requests);
}

void map_merge(SystemMap *m)
{
        merge_nodes(m);
        merge_contexts(m);
        count_patterns(m);
}
