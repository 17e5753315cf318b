/* SPDX-License-Identifier: BSD-2-Clause */
#include "analysis/trend/trend-stores.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "base/each.h"
#include "base/error.h"
#include "base/printable.h"
#include "store/stored-patterns.h"

/* Stamps of a store may be anything. */
#define TIME_LIMIT (G_MAXINT64 / 4)

/* --- what is read ---------------------------------------------------------- */

static void cell_clear(gpointer data)
{
        MergedCell *c = data;

        if (c->latency) {
                histogram_clear(c->latency);
                g_free(c->latency);
        }
}

static void pattern_free(gpointer data)
{
        MergedPattern *p = data;

        g_free(p->signature);
        g_free(p->label);
        g_array_free(p->cells, TRUE);
        g_array_free(p->places, TRUE);
        g_free(p);
}

static void trend_stores_entry_free(gpointer data)
{
        MergedEntry *e = data;

        g_free(e->subject);
        g_free(e->label);
        g_free(e->counts);
        g_free(e->steady);
        g_free(e);
}

static void store_clear(gpointer data)
{
        TrendStore *s = data;

        g_free(s->name);
        g_free(s->likeness);
}

void trend_stores_clear(TrendStores *r)
{
        if (r->stores)
                g_array_free(r->stores, TRUE);
        g_clear_pointer(&r->by_key, g_hash_table_unref);
        g_clear_pointer(&r->by_entry, g_hash_table_unref);
        g_clear_pointer(&r->patterns, g_ptr_array_unref);
        g_clear_pointer(&r->entries, g_ptr_array_unref);
        own_times_free(r->own);
}
static void trend_stores_reading_init(TrendStores *r, Trend *t, const char *likeness,
                                      gboolean labels)
{
        *r = (TrendStores){ .trend = t,
                            .likeness = likeness,
                            .labels = labels,
                            .stores = g_array_new(FALSE, TRUE, sizeof(TrendStore)),
                            .patterns = g_ptr_array_new_with_free_func(pattern_free),
                            .by_key = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL),
                            .entries = g_ptr_array_new_with_free_func(trend_stores_entry_free),
                            .by_entry =
                                    g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL),
                            .own = own_times_new() };
        g_array_set_clear_func(r->stores, store_clear);
}

MergedPattern *trend_stores_pattern(const TrendStores *r, guint i)
{
        return g_ptr_array_index(r->patterns, i);
}

MergedEntry *trend_stores_entry(const TrendStores *r, guint i)
{
        return g_ptr_array_index(r->entries, i);
}

static guint trend_stores_add_entry(TrendStores *r, const char *subject, const char *label)
{
        g_autofree char *key = g_strconcat(subject, label ? " " : NULL, label, NULL);
        gpointer known;
        guint whole = label ? trend_stores_add_entry(r, subject, NULL) : r->entries->len;

        if (g_hash_table_lookup_extended(r->by_entry, key, NULL, &known))
                return GPOINTER_TO_UINT(known);
        MergedEntry *e = g_new0(MergedEntry, 1);
        e->subject = g_strdup(subject);
        e->label = g_strdup(label);
        e->whole = whole;
        if (label)
                trend_stores_entry(r, whole)->parts++;
        g_hash_table_insert(r->by_entry, g_steal_pointer(&key), GUINT_TO_POINTER(r->entries->len));
        g_ptr_array_add(r->entries, e);
        return r->entries->len - 1;
}

/* "client>lb" of "client>lb(web(db))". Linear paths begin so, too. */
static char *entry_subject(const char *signature)
{
        const char *client_end = strchr(signature, '>');
        gsize rest = client_end ? strcspn(client_end + 1, ">~(") : 0;

        return client_end ? g_strndup(signature, (gsize)(client_end + 1 - signature) + rest)
                          : g_strdup(signature);
}

static MergedPattern *trend_stores_add_pattern(TrendStores *r, const StoredPattern *stored)
{
        const char *label = r->labels ? stored->label : NULL;
        g_autofree char *key = stored_pattern_key(stored, r->labels);
        g_autofree char *subject = NULL;
        MergedPattern *p = g_hash_table_lookup(r->by_key, key);

        if (p)
                return p;
        subject = entry_subject(stored->signature);
        p = g_new0(MergedPattern, 1);
        p->signature = g_strdup(stored->signature);
        p->label = g_strdup(label);
        p->id = path_pattern_id(label, stored->signature);
        p->entry = trend_stores_add_entry(r, subject, label);
        p->cells = g_array_new(FALSE, TRUE, sizeof(MergedCell));
        g_array_set_clear_func(p->cells, cell_clear);
        p->places = g_array_new(FALSE, TRUE, sizeof(MergedPlace));
        g_ptr_array_add(r->patterns, p);
        g_hash_table_insert(r->by_key, g_steal_pointer(&key), p);
        return p;
}

/* The cell of the store that is read. */
static MergedCell *cell_of(MergedPattern *p, guint store)
{
        if (p->cells->len == 0 ||
            g_array_index(p->cells, MergedCell, p->cells->len - 1).point != store) {
                MergedCell c = { .point = store };

                g_array_append_val(p->cells, c);
        }
        return &g_array_index(p->cells, MergedCell, p->cells->len - 1);
}

/* --- reading --------------------------------------------------------------- */

/* The parameters that shape patterns, and whether they are of calls or of messages. */
static char *likeness_of(const StoredRun *run)
{
        static const char *const keys[] = { "fold=", "sibling_order=", NULL };
        g_auto(GStrv) lines = g_strsplit(run->parameters, "\n", -1);
        GString *like = g_string_new("method ");

        g_string_append(like, run->method);
        for (guint i = 0; lines[i]; i++) {
                if (g_str_has_prefix(lines[i], "quantum"))
                        g_string_append(like, " of convolution");
                for (guint k = 0; keys[k]; k++)
                        if (g_str_has_prefix(lines[i], keys[k])) {
                                g_string_append(like, ", ");
                                printable_append(like, lines[i], -1, PRINTABLE_TEXT);
                        }
        }
        return g_string_free(like, FALSE);
}

/* A call of the pattern in hand, whose calls come in the order of the signature. */
typedef struct {
        NodeId node;
        guint32 parent;
        char *label;
        guint64 count;
        double sum, square;
} ReadCall;

static void read_call_clear(gpointer data)
{
        g_free(((ReadCall *)data)->label);
}

/* Adds the own times of one pattern in one store. */
static void trend_stores_add_calls(TrendStores *r, MergedPattern *p, GArray *calls, guint store)
{
        if (p->places->len == 0) {
                for (guint i = 0; i < calls->len; i++) {
                        const ReadCall *c = &g_array_index(calls, ReadCall, i);
                        g_autoptr(GArray) callees = g_array_new(FALSE, FALSE, sizeof(NodeId));
                        MergedPlace place = { .node = c->node };

                        /* Those of a place come after it, in the order of signatures. */
                        for (guint k = i + 1; k < calls->len; k++) {
                                const ReadCall *callee = &g_array_index(calls, ReadCall, k);

                                if (callee->parent == i)
                                        g_array_append_val(callees, callee->node);
                        }
                        place.slot = own_times_slot(r->own, c->node, c->label, callees);
                        g_array_append_val(p->places, place);
                }
        }
        /* A store that is corrupt may have other calls of the same signature. */
        for (guint i = 0; i < MIN(calls->len, p->places->len); i++) {
                const ReadCall *c = &g_array_index(calls, ReadCall, i);
                MergedPlace *place = &g_array_index(p->places, MergedPlace, i);

                own_slot_add(place->slot, store, c->count, c->sum, c->square);
                place->own += c->sum;
        }
        g_array_set_size(calls, 0);
}

static gboolean add_latency(TrendStores *r, StoreReader *reader, const StoredPatternNode *n,
                            MergedCell *cell, GError **error)
{
        Histogram h = HISTOGRAM_INIT;

        if (!store_reader_histogram(reader, &n->latency, &h, error))
                return FALSE;
        cell->sum += (double)h.sum;
        cell->square += (double)h.square;
        cell->p99 = MAX(cell->p99, n->latency_p99);
        if (r->trend->by == TREND_BY_STORE) {
                histogram_clear(&h);
                return TRUE;
        }
        if (!cell->latency)
                cell->latency = g_new0(Histogram, 1);
        histogram_merge(cell->latency, &h);
        histogram_clear(&h);
        return TRUE;
}

static gboolean trend_stores_read_nodes(TrendStores *r, StoreReader *reader, const GPtrArray *found,
                                        guint store, GError **error)
{
        g_autoptr(GArray) calls = g_array_new(FALSE, FALSE, sizeof(ReadCall));
        StoredPatternNode n;
        MergedPattern *in_hand = NULL;
        int status;

        g_array_set_clear_func(calls, read_call_clear);
        while ((status = store_reader_next_pattern_node(reader, &n, error)) > 0) {
                MergedPattern *p = g_ptr_array_index(found, n.pattern);
                Histogram own = HISTOGRAM_INIT;

                if (n.place == 0) {
                        if (in_hand)
                                trend_stores_add_calls(r, in_hand, calls, store);
                        in_hand = p;
                        if (!add_latency(r, reader, &n, cell_of(p, store), error))
                                return FALSE;
                }
                if (!store_reader_histogram(reader, &n.own, &own, error))
                        return FALSE;
                ReadCall call = { .node = n.node,
                                  .parent = n.parent,
                                  .label = g_strdup(r->labels ? n.label : NULL),
                                  .count = own.count,
                                  .sum = (double)own.sum,
                                  .square = (double)own.square };
                histogram_clear(&own);
                g_array_append_val(calls, call);
        }
        if (in_hand)
                trend_stores_add_calls(r, in_hand, calls, store);
        return status == 0;
}

static gboolean trend_add_patterns(TrendStores *r, StoreReader *reader, guint index, GError **error)
{
        g_autoptr(GPtrArray) found = g_ptr_array_new();
        TrendStore *store = &g_array_index(r->stores, TrendStore, index);
        g_autoptr(GArray) patterns = stored_patterns_load(reader, error);

        for (guint32 i = 0; patterns && i < patterns->len; i++) {
                const StoredPattern *stored = stored_pattern_at(patterns, i);
                MergedPattern *p = trend_stores_add_pattern(r, stored);

                cell_of(p, index)->count += stored->count;
                cell_of(p, index)->number +=
                        stored->is_drawn ? stored->drawn : (double)stored->count;
                p->count += stored->count;
                p->total += (double)stored->total;
                store->paths += stored->count;
                store->is_drawn |= stored->is_drawn;
                store->drawn_error += stored->drawn_error;
                g_ptr_array_add(found, p);
        }
        return patterns && trend_stores_read_nodes(r, reader, found, index, error);
}

static gboolean read_store(TrendStores *r, const char *path, GError **error)
{
        g_autoptr(StoreReader) reader = store_reader_new(path, r->trend->nodes, error);
        guint index = r->stores->len;

        if (!reader)
                return FALSE;
        const StoredRun *run = store_reader_run(reader);
        TrendStore s = { .name = g_strdup(path),
                         .likeness = likeness_of(run),
                         .fit = run->fit,
                         .has_labels = store_reader_has_labels(reader),
                         .first = run->first == NO_TIME
                                          ? NO_TIME
                                          : CLAMP(run->first, -TIME_LIMIT, TIME_LIMIT),
                         .last = CLAMP(run->last, -TIME_LIMIT, TIME_LIMIT),
                         .parallelism = isfinite(run->parallelism) ? run->parallelism : 0 };
        if (!r->likeness && s.first != NO_TIME)
                r->likeness = g_intern_string(s.likeness);
        s.compared = s.first != NO_TIME && !g_strcmp0(s.likeness, r->likeness);
        g_array_append_val(r->stores, s);
        return !s.compared || trend_add_patterns(r, reader, index, error);
}

/* The likeness that most stores have, the first of several. */
static const char *common_likeness(const TrendStores *r)
{
        const char *best = NULL;
        guint most = 0;

        EACH (const TrendStore, s, r->stores) {
                guint n = 0;

                if (s->first == NO_TIME)
                        continue;
                for (guint k = 0; k < r->stores->len; k++)
                        n += !strcmp(s->likeness,
                                     g_array_index(r->stores, TrendStore, k).likeness) &&
                             g_array_index(r->stores, TrendStore, k).first != NO_TIME;
                if (n > most) {
                        most = n;
                        best = s->likeness;
                }
                if (2 * n > r->stores->len)
                        break;
        }
        return best ? g_intern_string(best) : NULL;
}

/* Whether all that are compared have operations. */
static gboolean all_have_labels(const TrendStores *r)
{
        EACH (const TrendStore, s, r->stores)
                if (s->compared && !s->has_labels)
                        return FALSE;
        return TRUE;
}

/* As if the first store was like the others, and had operations if they do; where that shows to
 * be wrong all is read again. */
gboolean trend_stores_read(TrendStores *r, Trend *t, char *const *paths, guint n, GError **error)
{
        const char *likeness = NULL, *common;
        gboolean labels = TRUE;

        for (;;) {
                trend_stores_clear(r);
                trend_stores_reading_init(r, t, likeness, labels);
                for (guint i = 0; i < n; i++)
                        if (!read_store(r, paths[i], error))
                                return FALSE;
                common = common_likeness(r);
                if (g_strcmp0(common, r->likeness)) {
                        likeness = common;
                        continue;
                }
                if (!labels || all_have_labels(r))
                        return TRUE;
                likeness = common;
                labels = FALSE;
        }
}

/* --- points ---------------------------------------------------------------- */

static int compare_stores(const void *va, const void *vb, gpointer data)
{
        const GArray *stores = data;
        const TrendStore *a = &g_array_index(stores, TrendStore, *(const guint *)va);
        const TrendStore *b = &g_array_index(stores, TrendStore, *(const guint *)vb);

        return COMPARE(a->first, b->first) ?: compare_uint32s(va, vb);
}

double trend_middle(gint64 first, gint64 last)
{
        return (double)first / 2 + (double)last / 2;
}

/* Whether each begins in the second half of the one before, or later. */
static gboolean follow_each_other(const GArray *stores, const GArray *order)
{
        for (guint i = 1; i < order->len; i++) {
                const TrendStore *before =
                        &g_array_index(stores, TrendStore, g_array_index(order, guint, i - 1));
                const TrendStore *s =
                        &g_array_index(stores, TrendStore, g_array_index(order, guint, i));

                if (s->first <= before->first ||
                    (double)s->first < trend_middle(before->first, before->last))
                        return FALSE;
        }
        return TRUE;
}

gint64 trend_floor(gint64 time, gint64 unit)
{
        gint64 rest = time % unit;

        return time - (rest < 0 ? rest + unit : rest);
}

static void add_to_point(Trend *t, const TrendStore *s)
{
        static const gint64 units[] = { [TREND_BY_HOUR] = TREND_HOUR, [TREND_BY_DAY] = TREND_DAY };
        TrendPoint *last =
                t->points->len ? &g_array_index(t->points, TrendPoint, t->points->len - 1) : NULL;
        double seconds = ((double)s->last - (double)s->first) / 1e9;
        double drawn_error = s->drawn_error / (double)MAX(s->paths, 1);

        if (last && t->by != TREND_BY_STORE &&
            trend_floor(last->first, units[t->by]) == trend_floor(s->first, units[t->by])) {
                last->stores++;
                last->last = MAX(last->last, s->last);
                last->seconds += seconds;
                last->paths += s->paths;
                last->parallelism = MAX(last->parallelism, s->parallelism);
                last->drawn_error = MAX(last->drawn_error, drawn_error);
                return;
        }
        TrendPoint p = { .name = g_strdup(s->name),
                         .stores = 1,
                         .first = s->first,
                         .last = s->last,
                         .seconds = seconds,
                         .parallelism = s->parallelism,
                         .drawn_error = drawn_error,
                         .paths = s->paths };
        g_array_append_val(t->points, p);
}

COMPARISON(trend_stores_compare_cells, MergedCell, COMPARE(a->point, b->point))

/* From stores to points. */
static void move_cells(GArray *cells, const guint *point_of)
{
        guint n = 0;

        EACH (MergedCell, c, cells)
                c->point = point_of[c->point];
        g_array_sort(cells, trend_stores_compare_cells);
        EACH (MergedCell, c, cells) {
                MergedCell *into = n > 0 ? &g_array_index(cells, MergedCell, n - 1) : NULL;

                if (!into || into->point != c->point) {
                        MergedCell moved = *c;

                        c->latency = NULL;
                        g_array_index(cells, MergedCell, n++) = moved;
                        continue;
                }
                into->count += c->count;
                into->number += c->number;
                into->sum += c->sum;
                into->square += c->square;
                if (into->latency && c->latency) {
                        histogram_merge(into->latency, c->latency);
                        into->p99 = histogram_quantile(into->latency, 0.99);
                }
                cell_clear(c);
                c->latency = NULL;
        }
        g_array_set_size(cells, n);
}

void trend_stores_make_points(TrendStores *r, Trend *t)
{
        g_autoptr(GArray) order = g_array_new(FALSE, FALSE, sizeof(guint));
        g_autoptr(GArray) named = g_array_new(FALSE, FALSE, sizeof(guint));
        g_autofree guint *point_of = g_new0(guint, MAX(r->stores->len, 1));

        for (guint i = 0; i < r->stores->len; i++)
                if (g_array_index(r->stores, TrendStore, i).compared) {
                        g_array_append_val(order, i);
                        g_array_append_val(named, i);
                }
        g_array_sort_with_data(order, compare_stores, r->stores);
        t->timed = t->by != TREND_BY_STORE || follow_each_other(r->stores, order);
        for (guint i = 0; i < order->len; i++) {
                guint store = g_array_index(t->timed ? order : named, guint, i);

                add_to_point(t, &g_array_index(r->stores, TrendStore, store));
                point_of[store] = t->points->len - 1;
        }
        for (guint i = 0; i < r->patterns->len; i++)
                move_cells(trend_stores_pattern(r, i)->cells, point_of);
        own_times_move(r->own, point_of);
}

/* --- what to mind ---------------------------------------------------------- */

void trend_add_note(Trend *t, const char *format, ...)
{
        va_list arguments;

        va_start(arguments, format);
        g_ptr_array_add(t->notes, g_strdup_vprintf(format, arguments));
        va_end(arguments);
}

/* "a.sqlite, b.sqlite and 3 more" of the stores that are so. */
static char *name_stores(const TrendStores *r,
                         gboolean (*is_so)(const TrendStores *, const TrendStore *), guint *n)
{
        enum { MOST_NAMES = 3 };
        GString *names = g_string_new(NULL);

        *n = 0;
        EACH (const TrendStore, s, r->stores) {
                if (!is_so(r, s) || ++*n > MOST_NAMES)
                        continue;
                g_string_append(names, *n > 1 ? ", " : "");
                printable_append(names, s->name, -1, PRINTABLE_TEXT);
        }
        if (*n > MOST_NAMES)
                g_string_append_printf(names, " and %u more", *n - MOST_NAMES);
        return g_string_free(names, FALSE);
}

static gboolean is_other(const TrendStores *r, const TrendStore *s)
{
        (void)r;
        return !s->compared && s->first != NO_TIME;
}

static gboolean is_empty(const TrendStores *r, const TrendStore *s)
{
        (void)r;
        return s->first == NO_TIME;
}

static gboolean is_unfit(const TrendStores *r, const TrendStore *s)
{
        (void)r;
        return s->compared && !s->fit;
}

static gboolean is_drawn(const TrendStores *r, const TrendStore *s)
{
        (void)r;
        return s->compared && s->is_drawn;
}

static gboolean is_without_labels(const TrendStores *r, const TrendStore *s)
{
        return !r->labels && s->compared && !s->has_labels;
}

void trend_stores_note(const TrendStores *r, Trend *t)
{
        guint n;
        g_autofree char *other = name_stores(r, is_other, &n);

        if (n > 0) {
                const char *found = "";

                for (guint i = 0; i < r->stores->len; i++)
                        if (is_other(r, &g_array_index(r->stores, TrendStore, i)))
                                found = g_array_index(r->stores, TrendStore, i).likeness;
                trend_add_note(t,
                               "Left out, as their patterns do not compare: %s (found by %s; the "
                               "others by %s).",
                               other, found, r->likeness);
        }
        g_autofree char *empty = name_stores(r, is_empty, &n);
        if (n > 0)
                trend_add_note(t, "Left out, as nothing is in them: %s.", empty);
        g_autofree char *without = name_stores(r, is_without_labels, &n);
        if (n > 0 && n < r->stores->len) {
                gboolean mixed = FALSE;

                for (guint i = 0; i < r->stores->len; i++)
                        mixed |= g_array_index(r->stores, TrendStore, i).compared &&
                                 g_array_index(r->stores, TrendStore, i).has_labels;
                if (mixed)
                        trend_add_note(t,
                                       "Without operations: %s. So patterns of all are compared by "
                                       "their signatures alone.",
                                       without);
        }
        g_autofree char *unfit = name_stores(r, is_unfit, &n);
        if (n > 0)
                trend_add_note(t,
                               "Not fit for the method that found them: %s. Own times and patterns "
                               "say little there.",
                               unfit);
        g_autofree char *drawn = name_stores(r, is_drawn, &n);
        if (n > 0)
                trend_add_note(t,
                               "Most paths are probably wrong in: %s. There patterns are counted "
                               "by drawings, and what does not exceed the error of these is no "
                               "change; their latencies are of the paths found.",
                               drawn);
}
