/* SPDX-License-Identifier: BSD-2-Clause */
#include "nesting/learned.h"

#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "base/digest.h"
#include "base/error.h"
#include "base/hash.h"

static void row_clear(gpointer row)
{
        g_free(((LearnedRow *)row)->bin);
        g_free(((LearnedRow *)row)->weight);
}

static void slice_clear(gpointer slice)
{
        if (((LearnedSlice *)slice)->beyond)
                g_array_free(((LearnedSlice *)slice)->beyond, TRUE);
}

Learned *learned_new(void)
{
        Learned *l = g_new0(Learned, 1);

        l->facts = g_ptr_array_new_with_free_func(g_free);
        l->slices = g_array_new(FALSE, TRUE, sizeof(LearnedSlice));
        g_array_set_clear_func(l->slices, slice_clear);
        l->nodes = node_table_new();
        l->edges = g_array_new(FALSE, TRUE, sizeof(Edge));
        l->lone = g_array_new(FALSE, TRUE, sizeof(LoneMessage));
        l->rows = g_array_new(FALSE, TRUE, sizeof(LearnedRow));
        g_array_set_clear_func(l->rows, row_clear);
        l->counts.first = l->counts.last = NO_TIME;
        return l;
}

void learned_free(Learned *l)
{
        if (!l)
                return;
        g_free(l->trace);
        g_ptr_array_free(l->facts, TRUE);
        g_array_free(l->slices, TRUE);
        node_table_free(l->nodes);
        g_array_free(l->edges, TRUE);
        g_array_free(l->lone, TRUE);
        g_array_free(l->rows, TRUE);
        g_free(l);
}

static LearnedSlice *slice_at(const Learned *l, guint i)
{
        return &g_array_index(l->slices, LearnedSlice, i);
}

static Edge *edge_at(const Learned *l, guint i)
{
        return &g_array_index(l->edges, Edge, i);
}

static LoneMessage *lone_at(const GArray *lone, guint i)
{
        return &g_array_index(lone, LoneMessage, i);
}

static gboolean same_how(const LearnedHow *a, const LearnedHow *b)
{
        return a->overlap == b->overlap && a->same == b->same && a->any == b->any &&
               a->smooth == b->smooth && a->window == b->window && a->max_call == b->max_call &&
               a->fold == b->fold && a->strict == b->strict;
}

gboolean learned_how_is(const Learned *l, const LearnedHow *how)
{
        return same_how(&l->how, how);
}

gboolean learned_is_whole(const Learned *l)
{
        return l->slices->len > 0 && slice_at(l, 0)->slice.from == G_MININT64 &&
               slice_at(l, l->slices->len - 1)->slice.to == G_MAXINT64;
}

/* "2026-11-21T10:00:00.000000000Z", or a word for an end of the trace. */
static char *moment(gint64 time)
{
        g_autoptr(GDateTime) at = NULL;
        g_autofree char *text = NULL;
        gint64 second = time / 1000000000 - (time % 1000000000 < 0);

        if (time == G_MININT64 || time == G_MAXINT64)
                return g_strdup(time == G_MININT64 ? "the start" : "the end");
        at = g_date_time_new_from_unix_utc(second);
        text = at ? g_date_time_format(at, "%Y-%m-%dT%H:%M:%S") : g_strdup("?");
        return g_strdup_printf("%s.%09dZ", text, (int)(time - second * 1000000000));
}

static gboolean fail(GError **error, const char *format, ...) G_GNUC_PRINTF(2, 3);

static gboolean fail(GError **error, const char *format, ...)
{
        g_autofree char *text = NULL;
        va_list args;

        va_start(args, format);
        text = g_strdup_vprintf(format, args);
        va_end(args);
        g_set_error_literal(error, RAVEL_ERROR, RAVEL_ERROR_INPUT, text);
        return FALSE;
}

gint learned_find_slice(const Learned *l, const Slice *slice, GError **error)
{
        g_autofree char *from = moment(slice->from), *to = moment(slice->to);

        for (guint i = 0; i < l->slices->len; i++) {
                const Slice *s = &slice_at(l, i)->slice;

                if (s->from == slice->from && s->to == slice->to && s->halo == slice->halo)
                        return (gint)i;
        }
        fail(error,
             "nothing was learned of a slice from %s to %s with this halo: expected one of the "
             "%u slices that the state is of",
             from, to, l->slices->len);
        return -1;
}

/* --- merging: do they fit together? ------------------------------------------ */

static int compare_parts(const void *a, const void *b)
{
        const Learned *const *x = a, *const *y = b;
        gint64 from = slice_at(*x, 0)->slice.from, other = slice_at(*y, 0)->slice.from;

        return COMPARE(from, other);
}

static gboolean same_facts(const GPtrArray *a, const GPtrArray *b)
{
        if (a->len != b->len)
                return FALSE;
        for (guint i = 0; i < a->len; i++)
                if (strcmp(a->pdata[i], b->pdata[i]) != 0)
                        return FALSE;
        return TRUE;
}

static gboolean fits(const Learned *part, const Learned *before, GError **error)
{
        const LearnedSlice *s = slice_at(part, 0);
        gint64 expected = before ? slice_at(before, 0)->slice.to : G_MININT64;
        g_autofree char *from = moment(s->slice.from), *end = moment(expected);

        if (part->slices->len != 1)
                return fail(error, "a state is of several slices already: expected all states of "
                                   "single slices at once");
        if (s->slice.from != expected)
                return fail(error, "a slice begins at %s: expected one that begins at %s", from,
                            end);
        if (!before)
                return TRUE;
        if (!same_how(&part->how, &before->how))
                return fail(error,
                            "the slice from %s was learned by other options: expected the "
                            "same for all slices",
                            from);
        if (strcmp(part->trace, before->trace) != 0 || !same_facts(part->facts, before->facts))
                return fail(error, "the slice from %s is of another trace: expected slices of one",
                            from);
        if (s->seam[0] != slice_at(before, 0)->seam[1])
                return fail(error,
                            "calls that are open at %s are not the same in the slices before and "
                            "after it, as where one lasts longer than the halo: expected a longer "
                            "--halo",
                            from);
        return TRUE;
}

static gboolean all_fit(Learned **parts, guint n, GError **error)
{
        for (guint i = 0; i < n; i++)
                if (!fits(parts[i], i > 0 ? parts[i - 1] : NULL, error))
                        return FALSE;
        return slice_at(parts[n - 1], 0)->slice.to == G_MAXINT64 ||
               fail(error, "no slice lasts until the end of the trace: expected one --slice FROM/");
}

/* --- merging: calls that found no return ------------------------------------- */

static guint64 key_of(const LoneMessage *m)
{
        return digest_number(digest_number(m->key, m->caller), m->callee);
}

static gboolean remember(GHashTable *times, guint64 key, gint64 time)
{
        gint64 *known = g_hash_table_lookup(times, &key);

        if (known)
                *known = MIN(*known, time);
        else
                g_hash_table_insert(times, g_memdup2(&key, sizeof key),
                                    g_memdup2(&time, sizeof time));
        return known != NULL;
}

/* A return that no process had the call of, and a call that none had the return of: one process
 * has both. */
static gboolean none_match(const Learned *l, GError **error)
{
        g_autoptr(GHashTable) calls =
                g_hash_table_new_full(hash_int64, g_int64_equal, g_free, g_free);

        for (guint i = 0; i < l->lone->len; i++)
                if (!lone_at(l->lone, i)->is_return)
                        remember(calls, key_of(lone_at(l->lone, i)), lone_at(l->lone, i)->time);
        for (guint i = 0; i < l->lone->len; i++) {
                const LoneMessage *m = lone_at(l->lone, i);
                guint64 key = key_of(m);
                const gint64 *time = m->is_return ? g_hash_table_lookup(calls, &key) : NULL;
                g_autofree char *at = moment(m->time);

                if (time && *time <= m->time + l->how.window &&
                    (!l->how.max_call || m->time - *time <= l->how.max_call))
                        return fail(error,
                                    "the return of %s from %s to %s may answer a call of %d s "
                                    "before: expected a longer --halo",
                                    at, node_table_written(l->nodes, m->callee),
                                    node_table_written(l->nodes, m->caller),
                                    (int)((m->time - *time) / 1000000000));
        }
        return TRUE;
}

/* A call that starts soon after a slice is without a return for it only if it is for its own. */
static gboolean beyond_is_lone(const Learned *l, GError **error)
{
        g_autoptr(GHashTable) calls =
                g_hash_table_new_full(hash_int64, g_int64_equal, g_free, g_free);

        for (guint i = 0; i < l->lone->len; i++)
                if (!lone_at(l->lone, i)->is_return)
                        remember(calls,
                                 digest_number(key_of(lone_at(l->lone, i)),
                                               (guint64)lone_at(l->lone, i)->time),
                                 0);
        for (guint i = 0; i < l->slices->len; i++)
                for (guint k = 0; k < slice_at(l, i)->beyond->len; k++) {
                        const LoneMessage *m = lone_at(slice_at(l, i)->beyond, k);
                        guint64 key = digest_number(key_of(m), (guint64)m->time);
                        g_autofree char *at = moment(m->time);

                        if (!g_hash_table_contains(calls, &key))
                                return fail(error,
                                            "a call of %s from %s to %s lasts longer than half "
                                            "the halo: expected a longer --halo",
                                            at, node_table_written(l->nodes, m->caller),
                                            node_table_written(l->nodes, m->callee));
                }
        return TRUE;
}

/* --- merging: sums -------------------------------------------------------------- */

/* Where the nodes and edges of a part are in the whole. */
typedef struct {
        GHashTable *edges; /* of the whole: caller << 32 | callee, to its index plus one */
        NodeId *node;
        guint32 *edge;
} Places;

static guint32 place_edge(Learned *into, GHashTable *edges, const Edge *edge)
{
        gint64 key = (gint64)((guint64)edge->caller << 32 | edge->callee);
        guint at = GPOINTER_TO_UINT(g_hash_table_lookup(edges, &key));

        if (at)
                return at - 1;
        g_array_append_vals(into->edges,
                            &(Edge){ .caller = edge->caller,
                                     .callee = edge->callee,
                                     .first = { G_MAXINT64, G_MAXINT64, G_MAXINT64, G_MAXINT64 } },
                            1);
        g_hash_table_insert(edges, g_memdup2(&key, sizeof key), GUINT_TO_POINTER(into->edges->len));
        return into->edges->len - 1;
}

static void add_edge(Edge *into, const Edge *edge)
{
        into->kinds |= edge->kinds;
        for (guint i = 0; i < G_N_ELEMENTS(into->first); i++)
                into->first[i] = MIN(into->first[i], edge->first[i]);
        into->messages += edge->messages;
        into->pairs += edge->pairs;
        into->lone_calls += edge->lone_calls;
        into->lone_returns += edge->lone_returns;
        into->one_way[0] += edge->one_way[0];
        into->one_way[1] += edge->one_way[1];
        into->longest = MAX(into->longest, edge->longest);
        into->longest_stay = MAX(into->longest_stay, edge->longest_stay);
}

static void add_graph(Learned *into, const Learned *part, Places *places)
{
        places->node = g_renew(NodeId, places->node, node_table_size(part->nodes));
        for (guint i = 0; i < node_table_size(part->nodes); i++) {
                const char *name = node_table_name(part->nodes, i);

                places->node[i] = node_table_add(into->nodes, name, strlen(name));
        }
        places->edge = g_renew(guint32, places->edge, part->edges->len);
        for (guint i = 0; i < part->edges->len; i++) {
                Edge edge = *edge_at(part, i);

                edge.caller = places->node[edge.caller];
                edge.callee = places->node[edge.callee];
                places->edge[i] = place_edge(into, places->edges, &edge);
                add_edge(edge_at(into, places->edge[i]), &edge);
        }
}

static void add_counts(Learned *into, const Learned *part)
{
        MatchCounts *c = &into->counts;
        const MatchCounts *p = &part->counts;

        c->pairs += p->pairs;
        c->lone_calls += p->lone_calls;
        c->lone_returns += p->lone_returns;
        c->one_way += p->one_way;
        if (p->first != NO_TIME) {
                c->first = c->first == NO_TIME ? p->first : MIN(c->first, p->first);
                c->last = MAX(c->last, p->last);
        }
        c->disorder |= p->disorder;
        into->split |= part->split;
        into->both_ends += part->both_ends;
        into->too_early += part->too_early;
        into->children += part->children;
        into->nestings += part->nestings;
}

static void place_lone(GArray *lone, const Places *places)
{
        for (guint i = 0; i < lone->len; i++) {
                lone_at(lone, i)->caller = places->node[lone_at(lone, i)->caller];
                lone_at(lone, i)->callee = places->node[lone_at(lone, i)->callee];
        }
}

static int compare_rows(const void *a, const void *b)
{
        const LearnedRow *x = a, *y = b;

        return x->out != y->out ? COMPARE(x->out, y->out) : COMPARE(x->in, y->in);
}

/* Adds what the next row has to a row of all bins. */
static void spread_row(guint64 *all, const LearnedRow *row)
{
        for (guint32 i = 0; i < row->n; i++)
                all[row->bin[i]] += row->weight[i];
}

static LearnedRow gather_row(guint32 out, guint32 in, const guint64 *all)
{
        LearnedRow row = { .out = out, .in = in };

        for (guint32 i = 0; i < N_DELAY_BINS; i++)
                row.n += all[i] > 0;
        row.bin = g_new(guint32, row.n);
        row.weight = g_new(guint64, row.n);
        for (guint32 i = 0, k = 0; i < N_DELAY_BINS; i++)
                if (all[i] > 0) {
                        row.bin[k] = i;
                        row.weight[k++] = all[i];
                }
        return row;
}

/* Those of the same two edges become one. */
static void add_up_rows(Learned *l)
{
        GArray *rows = g_array_new(FALSE, TRUE, sizeof(LearnedRow));

        g_array_set_clear_func(rows, row_clear);
        g_array_sort(l->rows, compare_rows);
        for (guint i = 0, end; i < l->rows->len; i = end) {
                const LearnedRow *row = &g_array_index(l->rows, LearnedRow, i);
                guint64 all[N_DELAY_BINS] = { 0 };
                LearnedRow sum;

                for (end = i; end < l->rows->len && compare_rows(&row[end - i], row) == 0; end++)
                        spread_row(all, &row[end - i]);
                sum = gather_row(row->out, row->in, all);
                g_array_append_val(rows, sum);
        }
        g_array_free(l->rows, TRUE);
        l->rows = rows;
}

static void add_part(Learned *into, Learned *part, Places *places)
{
        add_graph(into, part, places);
        add_counts(into, part);
        place_lone(part->lone, places);
        place_lone(slice_at(part, 0)->beyond, places);
        g_array_append_vals(into->lone, part->lone->data, part->lone->len);
        g_array_append_vals(into->slices, part->slices->data, 1);
        g_array_index(part->slices, LearnedSlice, 0).beyond = NULL;
        for (guint i = 0; i < part->rows->len; i++) {
                LearnedRow *row = &g_array_index(part->rows, LearnedRow, i);

                row->out = places->edge[row->out];
                row->in = places->edge[row->in];
        }
        g_array_append_vals(into->rows, part->rows->data, part->rows->len);
        g_array_set_clear_func(part->rows, NULL);
        g_array_set_size(part->rows, 0);
}

/* As many as one process takes. */
static gboolean not_too_many(const Learned *l, GError **error)
{
        return l->counts.pairs < NO_PARENT ||
               fail(error, "%" G_GUINT64_FORMAT " calls, expected at most %u: narrow the trace",
                    l->counts.pairs, NO_PARENT - 1);
}

Learned *learned_merge(Learned **parts, guint n, GError **error)
{
        g_autoptr(Learned) all = learned_new();
        Places places = { .edges = g_hash_table_new_full(hash_int64, g_int64_equal, g_free, NULL) };

        g_assert(n > 0);
        qsort(parts, n, sizeof *parts, compare_parts);
        if (!all_fit(parts, n, error)) {
                g_hash_table_unref(places.edges);
                return NULL;
        }
        all->how = parts[0]->how;
        all->trace = g_strdup(parts[0]->trace);
        for (guint i = 0; i < parts[0]->facts->len; i++)
                g_ptr_array_add(all->facts, g_strdup(parts[0]->facts->pdata[i]));
        for (guint i = 0; i < n; i++)
                add_part(all, parts[i], &places);
        add_up_rows(all);
        g_hash_table_unref(places.edges);
        g_free(places.node);
        g_free(places.edge);
        return not_too_many(all, error) && none_match(all, error) && beyond_is_lone(all, error)
                       ? g_steal_pointer(&all)
                       : NULL;
}

/* --- bytes ------------------------------------------------------------------------ */

/* A moment of a trace. */
static void time_bytes(Bytes *b, gint64 *time)
{
        bytes_i64(b, time);
        if (!bytes_expect(b, *time >= -MAX_STAMP && *time <= MAX_STAMP, "a moment"))
                *time = 0;
}

/* The same, or one of two values for none. */
static void end_bytes(Bytes *b, gint64 *time)
{
        bytes_i64(b, time);
        if (*time != G_MININT64 && *time != G_MAXINT64 &&
            !bytes_expect(b, *time >= -MAX_STAMP && *time <= MAX_STAMP, "a moment"))
                *time = 0;
}

static void duration_bytes(Bytes *b, gint64 *duration)
{
        bytes_i64(b, duration);
        if (!bytes_expect(b, *duration >= 0 && *duration <= 2 * MAX_STAMP, "a duration"))
                *duration = 0;
}

static void positive_bytes(Bytes *b, double *x)
{
        bytes_double(b, x);
        bytes_expect(b, *x >= 0, "a number of 0 or more");
}

static void how_bytes(LearnedHow *how, Bytes *b)
{
        positive_bytes(b, &how->overlap);
        positive_bytes(b, &how->same);
        positive_bytes(b, &how->any);
        positive_bytes(b, &how->smooth);
        bytes_expect(b, how->smooth <= 100, "a deviation of at most 100 bins");
        duration_bytes(b, &how->window);
        bytes_expect(b, how->window <= G_GINT64_CONSTANT(86400000000000),
                     "a skew window of at most a day");
        duration_bytes(b, &how->max_call);
        bytes_bool(b, &how->fold);
        bytes_bool(b, &how->strict);
}

void state_texts_bytes(GPtrArray *texts, Bytes *b)
{
        guint32 n = texts->len;

        bytes_count(b, &n, 4);
        for (guint32 i = 0; i < n && bytes_good(b); i++) {
                if (bytes_reads(b))
                        g_ptr_array_add(texts, NULL);
                bytes_text(b, (char **)&texts->pdata[i]);
        }
}

void state_nodes_bytes(NodeTable *nodes, Bytes *b)
{
        guint32 n = node_table_size(nodes);

        bytes_count(b, &n, 4);
        for (guint32 i = 0; i < n && bytes_good(b); i++) {
                char *name = bytes_reads(b) ? NULL : (char *)node_table_written(nodes, i);

                bytes_text(b, &name);
                if (!bytes_reads(b))
                        continue;
                if (bytes_good(b))
                        bytes_expect(b,
                                     node_table_add_written(nodes, name, strlen(name), NULL) == i &&
                                             !strcmp(node_table_written(nodes, i), name),
                                     "another node");
                g_free(name);
        }
}

static void edge_bytes(Edge *e, guint n_nodes, Bytes *b)
{
        bytes_u32(b, &e->caller);
        bytes_u32(b, &e->callee);
        bytes_expect(b, e->caller < n_nodes && e->callee < n_nodes, "a node");
        bytes_u8(b, &e->kinds);
        bytes_expect(b, e->kinds < 16, "kinds of stamps");
        for (guint i = 0; i < G_N_ELEMENTS(e->first); i++)
                end_bytes(b, &e->first[i]);
        bytes_u64(b, &e->messages);
        bytes_u64(b, &e->pairs);
        bytes_u64(b, &e->lone_calls);
        bytes_u64(b, &e->lone_returns);
        bytes_u64(b, &e->one_way[0]);
        bytes_u64(b, &e->one_way[1]);
        duration_bytes(b, &e->longest);
        duration_bytes(b, &e->longest_stay);
}

/* Makes room for n records of an array when reading. Returns how many there are. */
static guint32 array_bytes(GArray *array, gsize each, Bytes *b)
{
        guint32 n = array->len;

        bytes_count(b, &n, each);
        if (bytes_reads(b))
                g_array_set_size(array, n);
        return n;
}

/* No two are the same: the nodes at their ends name them. */
static void edges_bytes(Learned *l, Bytes *b)
{
        guint32 n = array_bytes(l->edges, 105, b);
        g_autoptr(GHashTable) seen = g_hash_table_new_full(hash_int64, g_int64_equal, g_free, NULL);

        for (guint32 i = 0; i < n && bytes_good(b); i++) {
                Edge *e = edge_at(l, i);
                gint64 key;

                edge_bytes(e, node_table_size(l->nodes), b);
                key = (gint64)((guint64)e->caller << 32 | e->callee);
                bytes_expect(b, g_hash_table_add(seen, g_memdup2(&key, sizeof key)),
                             "another edge");
        }
}

static void counts_bytes(Learned *l, Bytes *b)
{
        MatchCounts *c = &l->counts;

        bytes_u64(b, &c->pairs);
        bytes_u64(b, &c->lone_calls);
        bytes_u64(b, &c->lone_returns);
        bytes_u64(b, &c->one_way);
        end_bytes(b, &c->first);
        end_bytes(b, &c->last);
        bytes_expect(b, (c->first == NO_TIME) == (c->last == NO_TIME) && c->first <= c->last,
                     "a first and a last moment");
        bytes_bool(b, &c->disorder);
        bytes_bool(b, &l->split);
        bytes_u64(b, &l->both_ends);
        bytes_u64(b, &l->too_early);
        bytes_u64(b, &l->children);
        bytes_u64(b, &l->nestings);
}

static guint32 find_edge(const Learned *l, const LoneMessage *m, GHashTable *edges)
{
        gint64 key = (gint64)((guint64)m->caller << 32 | m->callee);

        (void)l;
        return GPOINTER_TO_UINT(g_hash_table_lookup(edges, &key)) - 1;
}

static GHashTable *index_edges(const Learned *l)
{
        GHashTable *edges = g_hash_table_new_full(hash_int64, g_int64_equal, g_free, NULL);

        for (guint i = 0; i < l->edges->len; i++) {
                gint64 key = (gint64)((guint64)edge_at(l, i)->caller << 32 | edge_at(l, i)->callee);

                g_hash_table_insert(edges, g_memdup2(&key, sizeof key), GUINT_TO_POINTER(i + 1));
        }
        return edges;
}

static void lone_bytes(Learned *l, GArray *lone, GHashTable *edges, Bytes *b)
{
        guint32 n = array_bytes(lone, 21, b);

        for (guint32 i = 0; i < n && bytes_good(b); i++) {
                LoneMessage *m = lone_at(lone, i);
                guint32 edge = bytes_reads(b) ? 0 : find_edge(l, m, edges);

                bytes_u32(b, &edge);
                if (bytes_expect(b, edge < l->edges->len, "an edge") && bytes_reads(b)) {
                        m->caller = edge_at(l, edge)->caller;
                        m->callee = edge_at(l, edge)->callee;
                }
                time_bytes(b, &m->time);
                bytes_bool(b, &m->is_return);
                bytes_u64(b, &m->key);
        }
}

static void slices_bytes(Learned *l, GHashTable *edges, Bytes *b)
{
        guint32 n = array_bytes(l->slices, 52, b);

        bytes_expect(b, n > 0, "a slice");
        for (guint32 i = 0; i < n; i++) {
                LearnedSlice *s = slice_at(l, i);

                if (bytes_reads(b))
                        s->beyond = g_array_new(FALSE, TRUE, sizeof(LoneMessage));
                end_bytes(b, &s->slice.from);
                end_bytes(b, &s->slice.to);
                bytes_expect(b,
                             s->slice.from < s->slice.to &&
                                     (i == 0 || s[-1].slice.to == s->slice.from),
                             "slices of time in order");
                duration_bytes(b, &s->slice.halo);
                bytes_u64(b, &s->calls);
                bytes_u64(b, &s->seam[0]);
                bytes_u64(b, &s->seam[1]);
                lone_bytes(l, s->beyond, edges, b);
        }
}

static void row_bytes(const Learned *l, LearnedRow *row, Bytes *b)
{
        bytes_u32(b, &row->out);
        bytes_u32(b, &row->in);
        bytes_expect(b,
                     row->out < l->edges->len && row->in < l->edges->len &&
                             edge_at(l, row->out)->caller == edge_at(l, row->in)->callee,
                     "two edges at a node");
        bytes_count(b, &row->n, 12);
        bytes_u32s(b, &row->bin, row->n);
        for (guint32 i = 0; row->bin && i < row->n && bytes_good(b); i++)
                bytes_expect(
                        b, row->bin[i] < N_DELAY_BINS && (i == 0 || row->bin[i] > row->bin[i - 1]),
                        "bins in order");
        if (bytes_room(b, &row->weight, row->n, sizeof *row->weight, 8) == row->n)
                for (guint32 i = 0; i < row->n; i++) {
                        bytes_u64(b, &row->weight[i]);
                        bytes_expect(b, row->weight[i] <= G_MAXINT64, "a weight");
                }
}

static void rows_bytes(Learned *l, Bytes *b)
{
        guint32 n = array_bytes(l->rows, 12, b);

        for (guint32 i = 0; i < n && bytes_good(b); i++) {
                LearnedRow *row = &g_array_index(l->rows, LearnedRow, i);

                row_bytes(l, row, b);
                bytes_expect(b, i == 0 || compare_rows(&row[-1], row) < 0, "histograms in order");
        }
}

void learned_bytes(Learned *l, gboolean rows, Bytes *b)
{
        g_autoptr(GHashTable) edges = NULL;

        how_bytes(&l->how, b);
        bytes_text(b, &l->trace);
        state_texts_bytes(l->facts, b);
        state_nodes_bytes(l->nodes, b);
        edges_bytes(l, b);
        edges = index_edges(l);
        counts_bytes(l, b);
        lone_bytes(l, l->lone, edges, b);
        slices_bytes(l, edges, b);
        if (rows)
                rows_bytes(l, b);
}

void state_head_bytes(StateKind *kind, Bytes *b)
{
        guint16 version = STATE_VERSION;
        guint8 byte = (guint8)*kind;

        bytes_word(b, "ravel state");
        bytes_u16(b, &version);
        if (version != STATE_VERSION) {
                g_autofree char *what =
                        g_strdup_printf("a state of version %d, not of %u", STATE_VERSION, version);

                bytes_expect(b, FALSE, what);
        }
        bytes_u8(b, &byte);
        *kind = bytes_expect(b, byte <= STATE_MODELS, "a kind of state") ? byte : STATE_LEARNED;
}
