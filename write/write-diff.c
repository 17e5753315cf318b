/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What changed between two runs as the JSON that write/page.js draws, for that script
 * alone, as write/write-report.c's is.
 */
#include "write/write-diff.h"
#include "base/each.h"
#include "paths/path-text.h"
#include "write/page-data.h"
#include "write/trust-text.h"
#include "write/write-tree.h"

enum { MAX_SHARES = 1000 }; /* patterns of which only the counts are compared */

static void put_two(Json *j, const char *key, gint64 a, gint64 b)
{
        json_put_open(j, key, '[');
        page_numbers(j, a, b);
        json_close(j, ']');
}

/* A, B, lowest and highest change or null, beyond chance. */
static void append_delay(Json *j, const DiffDelay *d)
{
        json_open(j, '[');
        page_numbers(j, d->value[DIFF_A], d->value[DIFF_B]);
        if (d->bounded) {
                page_numbers(j, d->low, d->high, d->beyond);
        } else {
                json_null(j);
                json_null(j);
                page_numbers(j, d->beyond);
        }
        json_close(j, ']');
}

/* The limit, shares of values above it in A and B, whether they differ beyond chance. */
static void append_tail(Json *j, const DiffTail *t)
{
        json_open(j, '[');
        page_numbers(j, t->limit);
        page_exact(j, t->share[DIFF_A]);
        page_exact(j, t->share[DIFF_B]);
        page_numbers(j, t->beyond);
        json_close(j, ']');
}

/* Node, its parent in a tree or the caller of an edge, repeats, calls in A and B, means, p50, p99,
 * tail; operation or cause, if any. */
static void append_node(Json *j, const Diff *d, const DiffNode *n)
{
        const DiffTimes *t = diff_times(d, n->times);

        json_open(j, '[');
        page_numbers(j, n->node, (int)(n->caller == NO_NODE ? n->parent : n->caller), n->repeats,
                     t->count[DIFF_A], t->count[DIFF_B], t->mean[DIFF_A], t->mean[DIFF_B]);
        append_delay(j, &t->quantiles[DIFF_P50]);
        append_delay(j, &t->quantiles[DIFF_P99]);
        append_tail(j, &t->tail);
        if (n->label)
                json_string(j, n->label);
        json_close(j, ']');
}

static gboolean append_tree(Json *j, Drawer *drawer, const Diff *d, const DiffPattern *p,
                            GError **error)
{
        g_autoptr(TreeLayout) layout =
                tree_layout_new_calls(drawer, p->tree, d->nodes, p->client, error);

        if (!layout)
                return FALSE;
        json_put_open(j, "latency", '[');
        append_delay(j, &diff_times(d, p->latency)->quantiles[DIFF_P50]);
        append_delay(j, &diff_times(d, p->latency)->quantiles[DIFF_P99]);
        append_tail(j, &diff_times(d, p->latency)->tail);
        json_close(j, ']');
        json_put_open(j, "vertices", '[');
        for (guint i = 0; i < p->nodes->len; i++)
                append_node(j, d, &g_array_index(p->nodes, DiffNode, i));
        json_close(j, ']');
        json_put_integer(j, "hidden", p->tree->hidden);
        tree_layout_put(layout, j);
        return TRUE;
}

static gboolean diff_page_append_pattern(Json *j, Drawer *drawer, const Diff *d,
                                         const DiffPattern *p, GError **error)
{
        json_open(j, '{');
        json_put_id(j, "id", p->id);
        json_put_string(j, "signature", p->signature);
        if (p->label)
                json_put_string(j, "label", p->label);
        json_put_integer(j, "client", p->client);
        put_two(j, "count", (gint64)p->count[DIFF_A], (gint64)p->count[DIFF_B]);
        if (d->is_drawn[DIFF_A] || d->is_drawn[DIFF_B]) {
                json_put_open(j, "drawn", '['); /* the number in A and B, and their errors */
                for (int side = 0; side < N_SIDES; side++)
                        page_exact(j, p->number[side]);
                for (int side = 0; side < N_SIDES; side++)
                        page_exact(j, p->error[side]);
                json_close(j, ']');
        }
        put_two(j, "mean", p->mean[DIFF_A], p->mean[DIFF_B]);
        json_put_open(j, "share", '[');
        page_exact(j, p->low);
        page_exact(j, p->high);
        json_integer(j, p->beyond);
        json_close(j, ']');
        if (p->tested && !append_tree(j, drawer, d, p, error))
                return FALSE;
        json_close(j, '}');
        return TRUE;
}

/* Patterns that are compared in full or differ in count; then the rest, most first. */
static gboolean diff_page_append_patterns(Json *j, const Diff *d, GError **error)
{
        g_autoptr(Drawer) drawer = drawer_new();
        guint rest = 0;

        json_put_open(j, "patterns", '[');
        EACH (const DiffPattern, p, d->by_pattern) {
                if (!p->tested && !p->beyond && ++rest > MAX_SHARES)
                        continue;
                if (!diff_page_append_pattern(j, drawer, d, p, error))
                        return FALSE;
        }
        json_close(j, ']');
        json_put_integer(j, "patternCount", d->by_pattern->len);
        return TRUE;
}

/* Nodes with calls. */
static void diff_page_append_nodes(Json *j, const char *key, const Diff *d, const GArray *nodes)
{
        json_put_open(j, key, '[');
        EACH (const DiffNode, n, nodes) {
                const DiffTimes *t = diff_times(d, n->times);

                if (t->count[DIFF_A] || t->count[DIFF_B])
                        append_node(j, d, n);
        }
        json_close(j, ']');
}

char *diff_trust_in_counts(const Diff *d)
{
        g_autofree char *a = path_format_probability(d->probability[DIFF_A]),
                        *b = path_format_probability(d->probability[DIFF_B]);
        g_autofree char *both = g_strdup_printf("%s and %s", a, b);

        if (d->is_drawn[DIFF_A] && d->is_drawn[DIFF_B])
                return trust_in_changes("A and B", both);
        if (d->is_drawn[DIFF_A])
                return trust_in_changes("A", a);
        return d->is_drawn[DIFF_B] ? trust_in_changes("B", b) : NULL;
}

gboolean diff_write_page(const Diff *d, const char *const names[N_SIDES], GString *out,
                         GError **error)
{
        g_autoptr(GString) text = g_string_new(NULL);
        Json json = JSON_TIGHT_IN(text), *j = &json;

        json_open(j, '{');
        json_put_string(j, "kind", "diff");
        json_put_open(j, "stores", '[');
        for (int side = 0; side < N_SIDES; side++)
                page_string(j, names[side]);
        json_close(j, ']');
        json_put_open(j, "nodes", '[');
        for (NodeId i = 0; i < node_table_size(d->nodes); i++)
                json_string(j, node_table_written(d->nodes, i));
        json_close(j, ']');
        put_two(j, "paths", (gint64)d->paths[DIFF_A], (gint64)d->paths[DIFF_B]);
        put_two(j, "patternCounts", (gint64)d->patterns[DIFF_A], (gint64)d->patterns[DIFF_B]);
        json_put_open(j, "dependence", '[');
        page_exact(j, d->dependence[DIFF_A]);
        page_exact(j, d->dependence[DIFF_B]);
        json_close(j, ']');
        g_autofree char *trust = diff_trust_in_counts(d);
        if (trust)
                page_text(j, "trustInCounts", trust);
        put_two(j, "measured", d->has_paths[DIFF_A], d->has_paths[DIFF_B]);
        json_put_open(j, "latency", '[');
        append_delay(j, &diff_times(d, d->latency)->quantiles[DIFF_P50]);
        append_delay(j, &diff_times(d, d->latency)->quantiles[DIFF_P99]);
        json_close(j, ']');
        diff_page_append_nodes(j, "byNode", d, d->by_node);
        diff_page_append_nodes(j, "queued", d, d->queued);
        diff_page_append_nodes(j, "edges", d, d->edges);
        diff_page_append_nodes(j, "causes", d, d->causes);
        if (!diff_page_append_patterns(j, d, error))
                return FALSE;
        json_close(j, '}');
        page_append(out, "ravel diff", text);
        return TRUE;
}
