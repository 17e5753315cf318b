/* SPDX-License-Identifier: BSD-2-Clause */
#include "paths/collapsed-tree.h"

#include <stdlib.h>
#include <string.h>

#include "base/compare.h"

/* Equal operations have equal numbers, from 1; 0: none. */
static guint32 number_label(GHashTable *labels, const char *label)
{
        gpointer number = label ? g_hash_table_lookup(labels, label) : NULL;

        if (label && !number) {
                number = GUINT_TO_POINTER(g_hash_table_size(labels) + 1);
                g_hash_table_insert(labels, (gpointer)label, number);
        }
        return GPOINTER_TO_UINT(number);
}

/* Numbers the shapes of subtrees: equal ones have equal numbers. Children are in the order of the
 * signature, which is the same for equal multisets. */
static guint32 *number_shapes(const PathPattern *p, const guint32 *children, const guint32 *first)
{
        g_autoptr(GHashTable) known =
                g_hash_table_new_full((GHashFunc)g_bytes_hash, (GEqualFunc)g_bytes_equal,
                                      (GDestroyNotify)g_bytes_unref, NULL);
        g_autoptr(GHashTable) labels = g_hash_table_new(g_str_hash, g_str_equal);
        guint32 *shapes = g_new(guint32, p->n_nodes);

        for (guint32 i = p->n_nodes; i-- > 0;) {
                guint32 n = first[i + 1] - first[i];
                guint32 *key = g_new(guint32, 3 + (gsize)n);
                gpointer number;

                key[0] = p->nodes[i].node;
                key[1] = number_label(labels, p->nodes[i].label);
                key[2] = p->nodes[i].continues;
                for (guint32 k = 0; k < n; k++)
                        key[3 + k] = shapes[children[first[i] + k]];
                GBytes *bytes = g_bytes_new_take(key, (3 + (gsize)n) * sizeof *key);
                if (g_hash_table_lookup_extended(known, bytes, NULL, &number)) {
                        shapes[i] = GPOINTER_TO_UINT(number);
                        g_bytes_unref(bytes);
                } else {
                        shapes[i] = g_hash_table_size(known);
                        g_hash_table_insert(known, bytes, GUINT_TO_POINTER(shapes[i]));
                }
        }
        return shapes;
}

/* The children of each node: children[first[i]] to children[first[i + 1] - 1]. */
static guint32 *list_children(const PathPattern *p, guint32 *first)
{
        guint32 *children = g_new(guint32, p->n_nodes);
        g_autofree guint32 *next = g_new(guint32, p->n_nodes);

        memset(first, 0, (p->n_nodes + (gsize)1) * sizeof *first);
        for (guint32 i = 1; i < p->n_nodes; i++)
                first[p->nodes[i].parent + 1]++;
        for (guint32 i = 0; i < p->n_nodes; i++)
                first[i + 1] += first[i];
        memcpy(next, first, p->n_nodes * sizeof *next);
        for (guint32 i = 1; i < p->n_nodes; i++)
                children[next[p->nodes[i].parent]++] = i;
        return children;
}

/* A child of the first of a vertex's places. */
typedef struct {
        guint32 shape;
        guint32 k; /* which child */
        gint64 delay;
        gint64 earliest; /* delay of the first with its shape */
} Child;

COMPARISON(compare_shapes, Child,
           COMPARE(a->shape, b->shape) ?:
           COMPARE(a->delay, b->delay) ?:
           COMPARE(a->k, b->k))

COMPARISON(collapsed_compare_delays, Child,
           COMPARE(a->earliest, b->earliest) ?: compare_shapes(a, b))

typedef struct {
        const PathPattern *pattern;
        guint32 *children, *first, *shapes;
        GArray *vertices, *places;
} Builder;

/* A vertex that waits for its turn. */
typedef struct {
        guint32 parent, first, n;
} Waiting;

static void collapsed_add_vertex(Builder *b, const Waiting *w)
{
        const guint32 *places = &g_array_index(b->places, guint32, w->first);
        const PatternNode *node = &b->pattern->nodes[places[0]];
        CollapsedCall v = { .parent = w->parent, .first = w->first, .n = w->n, .all = *node };

        v.all.faults = (NodeFaults){ 0 };

        memset(v.all.times, 0, sizeof v.all.times);
        v.all.causes = NULL;
        for (guint32 i = 0; i < w->n; i++)
                pattern_node_merge(&v.all, &b->pattern->nodes[places[i]]);
        g_array_append_val(b->vertices, v);
}

/* Puts what the places of a vertex call on the stack, what is called first on top. */
static void push_children(Builder *b, guint32 vertex, GArray *stack)
{
        const CollapsedCall v = g_array_index(b->vertices, CollapsedCall, vertex);
        guint32 place = g_array_index(b->places, guint32, v.first);
        guint32 n = b->first[place + 1] - b->first[place];
        if (n == 0)
                return;
        g_autofree Child *c = g_new(Child, n);

        for (guint32 k = 0; k < n; k++) {
                guint32 child = b->children[b->first[place] + k];
                c[k] = (Child){ b->shapes[child], k,
                                histogram_mean(&b->pattern->nodes[child].call_delay), 0 };
        }
        if (n > 0)
                qsort(c, n, sizeof *c, compare_shapes);
        for (guint32 k = 0; k < n; k++)
                c[k].earliest =
                        k > 0 && c[k - 1].shape == c[k].shape ? c[k - 1].earliest : c[k].delay;
        qsort(c, n, sizeof *c, collapsed_compare_delays);
        for (guint32 end = n; end > 0;) {
                guint32 begin = end - 1;
                while (begin > 0 && c[begin - 1].shape == c[end - 1].shape)
                        begin--;
                Waiting w = { vertex, b->places->len, v.n * (end - begin) };
                for (guint32 i = 0; i < v.n; i++) {
                        guint32 at = b->first[g_array_index(b->places, guint32, v.first + i)];
                        for (guint32 k = begin; k < end; k++)
                                g_array_append_val(b->places, b->children[at + c[k].k]);
                }
                g_array_append_val(stack, w);
                end = begin;
        }
}

CollapsedTree *collapsed_tree_new(const PathPattern *p, guint32 max_vertices)
{
        CollapsedTree *tree = g_new0(CollapsedTree, 1);
        g_autofree guint32 *first = g_new(guint32, p->n_nodes + (gsize)1);
        g_autofree guint32 *children = list_children(p, first);
        g_autofree guint32 *shapes = number_shapes(p, children, first);
        g_autoptr(GArray) stack = g_array_new(FALSE, FALSE, sizeof(Waiting));
        Builder b = { p,
                      children,
                      first,
                      shapes,
                      g_array_new(FALSE, FALSE, sizeof(CollapsedCall)),
                      g_array_new(FALSE, FALSE, sizeof(guint32)) };
        Waiting w = { NO_PARENT, 0, 1 };
        guint32 root = 0, shown = 0;

        g_array_append_val(b.places, root);
        g_array_append_val(stack, w);
        while (stack->len > 0 && b.vertices->len < max_vertices) {
                w = g_array_index(stack, Waiting, stack->len - 1);
                g_array_set_size(stack, stack->len - 1);
                collapsed_add_vertex(&b, &w);
                shown += w.n;
                push_children(&b, b.vertices->len - 1, stack);
        }
        tree->hidden = p->n_nodes - shown;
        tree->n_vertices = b.vertices->len;
        tree->vertices = (CollapsedCall *)g_array_free(b.vertices, FALSE);
        tree->places = (guint32 *)g_array_free(b.places, FALSE);
        return tree;
}

char *collapsed_call_times(const CollapsedCall *v)
{
        return v->n > 1 ? g_strdup_printf(" x%u", v->n) : g_strdup("");
}

NodeId collapsed_call_caller(const CollapsedCall *v, const CollapsedTree *tree,
                             const PathPattern *p)
{
        return v->parent == NO_PARENT ? p->client : tree->vertices[v->parent].all.node;
}

gint64 collapsed_call_mean(const CollapsedCall *v, const PathPattern *p, const Histogram *h)
{
        return v->n == 1 ? histogram_mean(h) : (gint64)(h->sum / (gint128)MAX(p->count, 1));
}

guint32 collapsed_tree_slowest(const CollapsedTree *tree)
{
        guint32 slowest = 0;

        for (guint32 i = 1; i < tree->n_vertices; i++) {
                const CollapsedCall *v = &tree->vertices[i], *most = &tree->vertices[slowest];

                if (v->all.own.sum > most->all.own.sum ||
                    (v->all.own.sum == most->all.own.sum &&
                     tree->places[v->first] < tree->places[most->first]))
                        slowest = i;
        }
        return slowest;
}

void collapsed_tree_free(CollapsedTree *tree)
{
        if (!tree)
                return;
        for (guint32 i = 0; i < tree->n_vertices; i++)
                pattern_node_clear(&tree->vertices[i].all);
        g_free(tree->vertices);
        g_free(tree->places);
        g_free(tree);
}
