/* SPDX-License-Identifier: BSD-2-Clause */
#include "analysis/variance/variance.h"

#include <math.h>
#include <string.h>

#include "analysis/variance/variance-rows.h"
#include "base/compare.h"
#include "base/each.h"
#include "base/error.h"
#include "paths/path-own-time.h"
#include "store/stored-patterns.h"

/* Patterns with fewer of an entry's requests are one, "other paths": rare ones are mostly errors of
 * inference. */
#define RARE_PATTERN 0.01

/* Below this a call counts as doubtful. */
#define SURE_PROBABILITY 0.9

enum { MOST_SLOTS = 256 };

#define NO_ENTRY  ((guint32)-1)
#define NO_FACTOR ((guint32)-1)

/* Requests in the middle. */
#define MIDDLE_FROM 0.4
#define MIDDLE_TO   0.6

typedef struct {
        const StoredPattern *stored;
        guint32 first_place, n_places; /* in places */
        guint32 entry, group;
        guint64 count; /* requests */
} Pattern;

typedef struct {
        SlotPlace slot;
        guint32 chain;
        guint32 own, queued, way; /* factors; NO_FACTOR if the time does not count */
        guint32 kept;             /* number of its slot; NO_FACTOR if that is not kept */
        gint64 cell;              /* of the load, or NO_CELL */
} Place;

typedef struct {
        gint64 time;
        guint32 pattern, n_calls;
} Request;

typedef struct {
        VarianceEntry *result;
        GArray *patterns; /* of guint32: its patterns */
        PlaceSlots *slots;
        gint128 total; /* of the time */
        gint64 *times; /* rising, until they are counted */
        guint64 n_times;
        gint64 slow, low, high; /* slow requests from slow on, usual ones from low to high */
        GArray *kept;           /* of guint32: slots */
        guint32 *first_cell, *chains;
        guint n_groups;
        WaySum *ways;       /* by number of the kept slot and WayCause */
        VarianceSums *sums; /* NULL: not asked for, or too few requests */
} Entry;

typedef struct {
        StoreReader *reader;
        const NodeTable *nodes;
        const VarianceOptions *options;
        GArray *stored;      /* of StoredPattern */
        GArray *patterns;    /* of Pattern */
        GArray *places;      /* of Place */
        GArray *requests;    /* of Request */
        GPtrArray *entries;  /* of Entry */
        GHashTable *by_name; /* one more than the index of an entry */
        guint64 left_out;
        guint32 n_cells;
        guint n_factors; /* of the entry with most */
        NodeLoad *load;
} Reading;

static void clear_row(gpointer data)
{
        g_free(((VarianceRow *)data)->where);
        g_free(((VarianceRow *)data)->replica);
        g_free(((VarianceRow *)data)->slow);
        g_free(((VarianceRow *)data)->quick);
}

static void result_free(gpointer data)
{
        VarianceEntry *e = data;

        if (!e)
                return;
        g_free(e->label);
        g_array_unref(e->rows);
        g_array_unref(e->pairs);
        g_free(e);
}

static void variance_entry_free(gpointer data)
{
        Entry *e = data;

        result_free(e->result);
        g_array_unref(e->patterns);
        place_slots_free(e->slots);
        g_free(e->times);
        g_array_unref(e->kept);
        g_free(e->first_cell);
        g_free(e->ways);
        g_free(e->chains);
        variance_sums_free(e->sums);
        g_free(e);
}

static void reading_clear(Reading *r)
{
        g_array_unref(r->patterns);
        g_clear_pointer(&r->stored, g_array_unref);
        g_array_unref(r->places);
        g_array_unref(r->requests);
        g_ptr_array_unref(r->entries);
        g_hash_table_unref(r->by_name);
        node_load_free(r->load);
}

static void variance_reading_init(Reading *r)
{
        r->patterns = g_array_new(FALSE, FALSE, sizeof(Pattern));
        r->places = g_array_new(FALSE, FALSE, sizeof(Place));
        r->requests = g_array_new(FALSE, FALSE, sizeof(Request));
        r->entries = g_ptr_array_new_with_free_func(variance_entry_free);
        r->by_name = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
}

static Pattern *variance_pattern_at(const Reading *r, guint32 pattern)
{
        return &g_array_index(r->patterns, Pattern, pattern);
}

static Place *variance_place_at(const Reading *r, guint32 place)
{
        return &g_array_index(r->places, Place, place);
}

/* --- patterns -------------------------------------------------------------- */

static gboolean variance_read_places(Reading *r, GError **error)
{
        StoredPatternNode node;
        int status;

        if (!(r->stored = stored_patterns_load(r->reader, error)))
                return FALSE;
        for (guint32 i = 0; i < r->stored->len; i++) {
                Pattern p = { .stored = stored_pattern_at(r->stored, i), .entry = NO_ENTRY };

                g_array_append_val(r->patterns, p);
        }
        while ((status = store_reader_next_pattern_node(r->reader, &node, error)) > 0) {
                Pattern *p = variance_pattern_at(r, node.pattern);
                Place place = { .slot = { .parent = node.parent,
                                          .node = node.node,
                                          .goes_on = node.parent != NO_PARENT &&
                                                     work_goes_on(node.continues),
                                          .own = (double)node.own_mean,
                                          .mark = path_continues_mark(node.continues) },
                                .own = NO_FACTOR,
                                .queued = NO_FACTOR,
                                .way = NO_FACTOR,
                                .kept = NO_FACTOR,
                                .cell = NO_CELL };

                if (p->n_places++ == 0)
                        p->first_place = r->places->len;
                g_array_append_val(r->places, place);
        }
        return status == 0;
}

static gboolean fail_request(const Reading *r, guint row, const char *what, GError **error)
{
        return store_reader_fail(r->reader, error, "row %u of path: %s", row, what);
}

static gboolean variance_read_paths(Reading *r, GError **error)
{
        StoredPath path;
        int status;

        while ((status = store_reader_next_path(r->reader, &path, error)) > 0) {
                Request request = { r->options->completion ? path.completion : path.latency,
                                    path.pattern, path.n_calls };
                Pattern *p = variance_pattern_at(r, path.pattern);

                g_array_append_val(r->requests, request);
                if (p->n_places == 0)
                        return fail_request(r, r->requests->len,
                                            "its pattern has no node, expected one", error);
                if (ABS((gint128)request.time) >= MOMENT_LIMIT)
                        r->left_out++;
                else
                        p->count++;
        }
        return status == 0;
}

/* --- entries --------------------------------------------------------------- */

static gboolean is_asked_for(const Reading *r, const VarianceEntry *e)
{
        g_autofree char *name = g_strdup_printf("%s>%s", node_table_written(r->nodes, e->client),
                                                node_table_written(r->nodes, e->root));

        return (!r->options->entry || strcmp(r->options->entry, name) == 0) &&
               (!r->options->label || g_strcmp0(r->options->label, e->label) == 0);
}

static Entry *variance_add_entry(Reading *r, const StoredPattern *p, NodeId root)
{
        Entry *e = g_new0(Entry, 1);

        e->result = g_new0(VarianceEntry, 1);
        e->result->client = p->client;
        e->result->root = root;
        e->result->label = g_strdup(p->label);
        e->result->rows = g_array_new(FALSE, FALSE, sizeof(VarianceRow));
        g_array_set_clear_func(e->result->rows, clear_row);
        e->result->pairs = g_array_new(FALSE, FALSE, sizeof(VariancePair));
        e->patterns = g_array_new(FALSE, FALSE, sizeof(guint32));
        e->kept = g_array_new(FALSE, FALSE, sizeof(guint32));
        g_ptr_array_add(r->entries, e);
        return e;
}

/* Gives each pattern with requests its entry. */
static void find_entries(Reading *r)
{
        for (guint32 i = 0; i < r->patterns->len; i++) {
                Pattern *p = variance_pattern_at(r, i);
                NodeId root;
                guint found;

                if (p->count == 0)
                        continue;
                root = variance_place_at(r, p->first_place)->slot.node;
                char *key = g_strdup_printf("%u %u %s", p->stored->client, root,
                                            p->stored->label ? p->stored->label : "");
                if (!(found = GPOINTER_TO_UINT(g_hash_table_lookup(r->by_name, key)))) {
                        variance_add_entry(r, p->stored, root);
                        found = r->entries->len;
                        g_hash_table_insert(r->by_name, key, GUINT_TO_POINTER(found));
                } else {
                        g_free(key);
                }
                p->entry = found - 1;
                Entry *e = g_ptr_array_index(r->entries, p->entry);
                e->result->count += p->count;
                e->result->goes_on |= p->stored->goes_on;
                g_array_append_val(e->patterns, i);
        }
}

/* --- times ----------------------------------------------------------------- */

static void collect_times(Reading *r)
{
        EACH_OF (Entry, e, r->entries)
                e->times = g_new(gint64, e->result->count);
        EACH (const Request, q, r->requests) {
                if (ABS((gint128)q->time) >= MOMENT_LIMIT)
                        continue;
                Entry *e = g_ptr_array_index(r->entries, variance_pattern_at(r, q->pattern)->entry);
                e->times[e->n_times++] = q->time;
                e->total += q->time;
        }
}

/* The value of rank ceil(q n). */
static gint64 quantile(const Entry *e, double q)
{
        double rank = ceil(q * (double)e->n_times);

        return e->times[(guint64)CLAMP(rank, 1, (double)e->n_times) - 1];
}

/* How few of the times have half of the squares of what they are away from the mean. The
 * farthest are at the ends. */
static guint64 count_half(const Entry *e, double mean)
{
        guint64 low = 0, high = e->n_times, n = 0;
        double all = 0, taken = 0;

        for (guint64 i = 0; i < e->n_times; i++)
                all += ((double)e->times[i] - mean) * ((double)e->times[i] - mean);
        for (; low < high && taken < all / 2; n++) {
                double below = mean - (double)e->times[low];
                double above = (double)e->times[high - 1] - mean;
                double away = MAX(below, above);

                if (below >= above)
                        low++;
                else
                        high--;
                taken += away * away;
        }
        return n;
}

static void measure_times(const Reading *r, Entry *e)
{
        VarianceEntry *v = e->result;

        qsort(e->times, e->n_times, sizeof *e->times, compare_int64s);
        v->mean = (double)e->total / (double)e->n_times;
        v->p50 = quantile(e, 0.5);
        v->p99 = quantile(e, 0.99);
        e->slow = v->tail = quantile(e, r->options->tail);
        e->low = quantile(e, MIDDLE_FROM);
        e->high = quantile(e, MIDDLE_TO);
        v->half = count_half(e, v->mean);
        g_clear_pointer(&e->times, g_free);
}

/* --- factors --------------------------------------------------------------- */

/* Whether the call is part of the time: work that goes on is not part of the latency. */
static guint32 copy_places(const Reading *r, const Pattern *p, SlotPlace *places, guint32 *at)
{
        g_autofree guint32 *index = g_new(guint32, p->n_places);
        guint32 n = 0;

        for (guint32 i = 0; i < p->n_places; i++) {
                SlotPlace s = variance_place_at(r, p->first_place + i)->slot;

                index[i] = NO_PARENT;
                if (s.parent != NO_PARENT) {
                        s.parent = index[s.parent];
                        if (s.parent == NO_PARENT || (s.goes_on && !r->options->completion))
                                continue;
                }
                s.own *= (double)p->count;
                index[i] = n;
                at[n] = p->first_place + i;
                places[n++] = s;
        }
        return n;
}

static void find_slots(const Reading *r, Entry *e)
{
        e->slots = place_slots_new();
        for (guint i = 0; i < e->patterns->len; i++) {
                const Pattern *p = variance_pattern_at(r, g_array_index(e->patterns, guint32, i));
                g_autofree SlotPlace *places = g_new(SlotPlace, p->n_places);
                g_autofree guint32 *at = g_new(guint32, p->n_places);
                g_autofree guint32 *chains = g_new(guint32, p->n_places);
                guint32 n = copy_places(r, p, places, at);

                place_slots_add(e->slots, p->count, places, n, chains);
                for (guint32 k = 0; k < n; k++) {
                        variance_place_at(r, at[k])->chain = chains[k];
                        variance_place_at(r, at[k])->own = 0; /* it has one */
                }
        }
        place_slots_find(e->slots, r->nodes);
}

static int variance_compare_own(const void *va, const void *vb, void *data)
{
        const PlaceSlots *slots = data;
        guint32 a = *(const guint32 *)va, b = *(const guint32 *)vb;
        double own_a = place_slots_at(slots, a)->own, own_b = place_slots_at(slots, b)->own;

        if (!a || !b || own_a == own_b) /* the root's is always kept */
                return COMPARE(a, b);
        return own_a > own_b ? -1 : 1;
}

/* The root's and those with the most own time, and the cells of each. */
static void keep_slots(Reading *r, Entry *e)
{
        for (guint32 i = 0; i < place_slots_size(e->slots); i++)
                g_array_append_val(e->kept, i);
        if (e->kept->len > MOST_SLOTS) {
                g_array_sort_with_data(e->kept, variance_compare_own, e->slots);
                g_array_set_size(e->kept, MOST_SLOTS);
                g_array_sort(e->kept, compare_uint32s);
        }
        e->first_cell = g_new(guint32, e->kept->len);
        e->ways = g_new0(WaySum, (gsize)N_WAY_CAUSES * e->kept->len);
        for (guint i = 0; i < e->kept->len; i++) {
                guint32 slot = g_array_index(e->kept, guint32, i);

                e->first_cell[i] = r->n_cells;
                r->n_cells += place_slots_at(e->slots, slot)->nodes->len;
        }
}

static void set_place(const Entry *e, const guint32 *number_of, Place *place)
{
        guint32 slot = place_slots_slot(e->slots, place->chain);
        guint32 number = number_of[slot], n_kept = e->kept->len;

        if (number == NO_FACTOR) {
                place->own = place->queued = place->way = factor_elsewhere(n_kept);
                return;
        }
        place->own = factor_own(number);
        place->queued = factor_queued(number, n_kept);
        place->way = factor_way(number, n_kept);
        place->kept = number;
        place->cell = (gint64)e->first_cell[number] + place_slots_cell(e->slots, place->chain) -
                      place_slots_at(e->slots, slot)->first_cell;
}

/* Which chain of each slot the pattern has. */
static void note_chains(const Reading *r, const Entry *e, const Pattern *p)
{
        guint32 *chains = &e->chains[(gsize)p->group * e->kept->len];

        for (guint32 i = 0; i < p->n_places; i++) {
                const Place *place = variance_place_at(r, p->first_place + i);

                if (place->own >= e->kept->len) /* elsewhere, or none */
                        continue;
                if (chains[place->own] == NO_CHAIN)
                        chains[place->own] = place->chain;
                else if (chains[place->own] != place->chain)
                        chains[place->own] = MANY_CHAINS;
        }
}

static void set_places(const Reading *r, Entry *e)
{
        guint32 n = place_slots_size(e->slots);
        g_autofree guint32 *number_of = g_new(guint32, n);

        for (guint32 i = 0; i < n; i++)
                number_of[i] = NO_FACTOR;
        for (guint i = 0; i < e->kept->len; i++)
                number_of[g_array_index(e->kept, guint32, i)] = i;
        for (guint i = 0; i < e->patterns->len; i++) {
                const Pattern *p = variance_pattern_at(r, g_array_index(e->patterns, guint32, i));

                for (guint32 k = 0; k < p->n_places; k++)
                        if (variance_place_at(r, p->first_place + k)->own != NO_FACTOR)
                                set_place(e, number_of, variance_place_at(r, p->first_place + k));
        }
}

/* Group 0 is of the rare patterns, each other has a group of its own. */
static void variance_find_groups(const Reading *r, Entry *e)
{
        e->n_groups = 1;
        for (guint i = 0; i < e->patterns->len; i++) {
                Pattern *p = variance_pattern_at(r, g_array_index(e->patterns, guint32, i));
                gboolean rare = (double)p->count < RARE_PATTERN * (double)e->result->count;

                p->group = rare ? 0 : e->n_groups++;
        }
        e->chains = g_new(guint32, (gsize)e->n_groups * e->kept->len);
        for (gsize i = 0; i < (gsize)e->n_groups * e->kept->len; i++)
                e->chains[i] = i < e->kept->len ? MANY_CHAINS : NO_CHAIN;
        for (guint i = 0; i < e->patterns->len; i++)
                note_chains(r, e, variance_pattern_at(r, g_array_index(e->patterns, guint32, i)));
}

static void prepare_entries(Reading *r)
{
        EACH_OF (Entry, e, r->entries) {
                guint n_factors;

                measure_times(r, e);
                if (e->result->count < r->options->fewest || !is_asked_for(r, e->result))
                        continue;
                find_slots(r, e);
                keep_slots(r, e);
                set_places(r, e);
                variance_find_groups(r, e);
                n_factors = factor_count(e->kept->len);
                r->n_factors = MAX(r->n_factors, n_factors);
                e->sums = variance_sums_new(n_factors, e->n_groups, e->result->count);
        }
        r->load = node_load_new(r->n_cells);
}

/* --- calls ----------------------------------------------------------------- */

typedef struct {
        GArray *calls;    /* of PathCall */
        GArray *places;   /* of guint32 */
        GArray *nested;   /* of PathCall */
        GArray *delays;   /* of CallDelays, by call */
        GArray *doubtful; /* of gboolean */
        RequestFactors *factors;
} Work;

static gint64 variance_limit_time(gint64 time)
{
        return CLAMP(time, -PATH_TIME_LIMIT, PATH_TIME_LIMIT);
}

/* Own times that are part of the latency alone: as if what goes on was not there. */
static void leave_out_continued(Work *w)
{
        g_autofree guint32 *at = g_new(guint32, w->calls->len);

        g_array_set_size(w->nested, 0);
        g_array_set_size(w->delays, w->calls->len);
        for (guint i = 0; i < w->calls->len; i++) {
                PathCall c = g_array_index(w->calls, PathCall, i);

                at[i] = NO_PARENT;
                if (i > 0) {
                        c.parent = at[c.parent];
                        if (c.parent == NO_PARENT || work_goes_on(c.continues))
                                continue;
                }
                if (!work_is_missed(c.continues))
                        c.continues = WORK_NESTED;
                if (c.connect > 0) { /* the store has no other delays, and these not by parts */
                        g_array_index(w->delays, CallDelays, i) =
                                (CallDelays){ .opened = c.connect };
                        c.delays = &g_array_index(w->delays, CallDelays, i);
                }
                at[i] = w->nested->len;
                g_array_append_val(w->nested, c);
        }
        path_own_times((PathCall *)w->nested->data, w->nested->len);
        for (guint i = 0; i < w->calls->len; i++) {
                PathCall *c = &g_array_index(w->calls, PathCall, i);
                const PathCall *n =
                        at[i] == NO_PARENT ? NULL : &g_array_index(w->nested, PathCall, at[i]);

                c->own = n ? n->own : 0;
                c->network = n ? n->network : 0;
                c->own_queued = n ? n->own_queued : 0;
                if (n)
                        memcpy(c->cause, n->cause, sizeof c->cause);
                else
                        memset(c->cause, 0, sizeof c->cause);
                c->queued = 0;
        }
}

/* A call is in doubt with the one that made it. */
static gboolean find_doubt(Work *w, guint i)
{
        const PathCall *c = &g_array_index(w->calls, PathCall, i);
        gboolean doubtful =
                c->parent != NO_PARENT && ((double)c->probability < SURE_PROBABILITY ||
                                           g_array_index(w->doubtful, gboolean, c->parent));

        g_array_index(w->doubtful, gboolean, i) = doubtful;
        return doubtful;
}

static gboolean variance_is_small(gint64 time)
{
        return time > -MOMENT_LIMIT && time < MOMENT_LIMIT;
}

/* Its own time but for what it waited for a worker. */
static gint64 serving(const PathCall *c)
{
        return c->own - c->own_queued;
}

/* Of a call, but for the round trip, which is the network's. */
static gint64 add_way(const Entry *e, const Place *place, const PathCall *c)
{
        gint64 way = 0;

        for (WayCause i = WAY_ROUND_TRIP + 1; c->network && i < N_WAY_CAUSES; i++) {
                way += c->cause[i];
                if (place->kept != NO_FACTOR) {
                        WaySum *sum = &e->ways[(gsize)place->kept * N_WAY_CAUSES + i];

                        sum->time += (double)c->cause[i];
                        sum->square += (double)c->cause[i] * (double)c->cause[i];
                }
        }
        return way;
}

static gboolean variance_add_call(const Entry *e, const Place *place, const PathCall *c,
                                  gboolean doubtful, RequestFactors *factors)
{
        gint64 queued = c->queued + c->own_queued, way = add_way(e, place, c);

        return request_factors_add(factors, place->own, serving(c), doubtful) &&
               (!queued || request_factors_add(factors, place->queued, queued, doubtful)) &&
               (!way || request_factors_add(factors, place->way, way, doubtful));
}

static void variance_add_load(const Reading *r, const Place *place, const PathCall *c)
{
        if (!path_call_is_message(c) && variance_is_small(c->own))
                node_load_add(r->load, place->cell, c->callee, c->enter, MAX(c->enter, c->reply),
                              serving(c));
}

/* What the factors lack of the time is the network's: the sum is exact, also where clocks disagree.
 */
static gboolean finish_request(Entry *e, const Pattern *p, const Request *q,
                               RequestFactors *factors)
{
        gint64 network = q->time;

        for (guint i = 0; i < factors->n_used; i++)
                network -= factors->value[factors->used[i]];
        if (network && !request_factors_add(factors, factor_network(e->kept->len), network, FALSE))
                return FALSE;
        factors->time = q->time;
        variance_sums_add(e->sums, factors, p->group, q->time >= e->slow,
                          q->time >= e->low && q->time <= e->high);
        return TRUE;
}

static void limit_call(PathCall *c)
{
        c->start = variance_limit_time(c->start);
        c->enter = variance_limit_time(c->enter);
        c->reply = variance_limit_time(c->reply);
        c->end = variance_limit_time(c->end);
}

static gboolean read_request(Reading *r, Work *w, const StoredPath *path, guint number,
                             GError **error)
{
        const Request *q = &g_array_index(r->requests, Request, number);
        const Pattern *p = variance_pattern_at(r, q->pattern);
        Entry *e = p->entry == NO_ENTRY ? NULL : g_ptr_array_index(r->entries, p->entry);
        gboolean counts = e && e->sums && variance_is_small(q->time);

        if (!store_reader_path_calls(r->reader, path, w->calls, w->places, error))
                return FALSE;
        for (guint i = 0; i < w->calls->len; i++) {
                if (g_array_index(w->places, guint32, i) >= p->n_places)
                        return fail_request(r, number + 1, "a call has no place in its pattern",
                                            error);
                limit_call(&g_array_index(w->calls, PathCall, i));
        }
        if (p->stored->goes_on && !r->options->completion)
                leave_out_continued(w);
        g_array_set_size(w->doubtful, w->calls->len);
        node_load_advance(r->load, g_array_index(w->calls, PathCall, 0).start);
        for (guint i = 0; i < w->calls->len; i++) {
                const PathCall *c = &g_array_index(w->calls, PathCall, i);
                const Place *place =
                        variance_place_at(r, p->first_place + g_array_index(w->places, guint32, i));
                gboolean doubtful = find_doubt(w, i);

                variance_add_load(r, place, c);
                if (counts && place->own != NO_FACTOR &&
                    !variance_add_call(e, place, c, doubtful, w->factors))
                        return fail_request(r, number + 1, "own times above 39 hours", error);
        }
        if (counts && !finish_request(e, p, q, w->factors))
                return fail_request(r, number + 1, "own times above 39 hours", error);
        return TRUE;
}

static gboolean variance_read_calls(Reading *r, GError **error)
{
        Work w = { .calls = g_array_new(FALSE, FALSE, sizeof(PathCall)),
                   .places = g_array_new(FALSE, FALSE, sizeof(guint32)),
                   .nested = g_array_new(FALSE, FALSE, sizeof(PathCall)),
                   .delays = g_array_new(FALSE, FALSE, sizeof(CallDelays)),
                   .doubtful = g_array_new(FALSE, FALSE, sizeof(gboolean)),
                   .factors = request_factors_new(r->n_factors) };
        StoredPath path = { .first_call = 0 };
        gboolean ok = TRUE;

        for (guint i = 0; ok && r->n_factors > 0 && i < r->requests->len; i++) {
                const Request *q = &g_array_index(r->requests, Request, i);

                path.n_calls = q->n_calls;
                ok = read_request(r, &w, &path, i, error);
                path.first_call += q->n_calls;
        }
        g_array_unref(w.calls);
        g_array_unref(w.places);
        g_array_unref(w.nested);
        g_array_unref(w.delays);
        g_array_unref(w.doubtful);
        request_factors_free(w.factors);
        node_load_finish(r->load);
        return ok;
}

/* --- the answer ------------------------------------------------------------ */

COMPARISON_OF_POINTERS(variance_compare_entries, Entry,
                       COMPARE(b->total, a->total) ?:
                       COMPARE(a->result->client, b->result->client) ?:
                       COMPARE(a->result->root, b->result->root) ?:
                       g_strcmp0(a->result->label, b->result->label))

static void measure_entry(const Reading *r, Entry *e)
{
        VarianceFactors factors = { .slots = e->slots,
                                    .kept = (const guint32 *)e->kept->data,
                                    .n_kept = e->kept->len,
                                    .first_cell = e->first_cell,
                                    .chains = e->chains,
                                    .ways = e->ways,
                                    .sums = e->sums,
                                    .load = r->load,
                                    .nodes = r->nodes };
        VarianceEntry *v = e->result;
        guint time;

        if (!e->sums)
                return;
        time = e->sums->n_factors;
        v->deviation = sqrt(MAX(0, factor_sums_covariance(&e->sums->all, time, time)) /
                            (double)MAX(e->sums->all.n, 1));
        variance_rows_find(&factors, v->rows, v->pairs);
        for (guint i = 0; i < v->rows->len; i++)
                v->which += g_array_index(v->rows, VarianceRow, i).which;
}

static Variance *take_results(Reading *r)
{
        Variance *v = g_new0(Variance, 1);

        v->entries = g_ptr_array_new_with_free_func(result_free);
        v->completion = r->options->completion;
        v->has_labels = store_reader_has_labels(r->reader);
        v->left_out = r->left_out;
        g_ptr_array_sort(r->entries, variance_compare_entries);
        EACH_OF (Entry, e, r->entries) {
                if (!is_asked_for(r, e->result))
                        continue;
                measure_entry(r, e);
                g_ptr_array_add(v->entries, g_steal_pointer(&e->result));
        }
        return v;
}

static gboolean check_asked_for(const Reading *r, GError **error)
{
        for (guint i = 0; i < r->entries->len; i++)
                if (is_asked_for(r, ((Entry *)g_ptr_array_index(r->entries, i))->result))
                        return TRUE;
        if (!r->options->entry && !r->options->label)
                return TRUE;
        return ravel_fail(error, RAVEL_ERROR_USAGE, "%s: no request%s%s%s%s, expected such as %s",
                          store_reader_name(r->reader), r->options->entry ? " of entry " : "",
                          r->options->entry ? r->options->entry : "",
                          r->options->label ? " with operation " : "",
                          r->options->label ? r->options->label : "",
                          "ravel variance without --entry and --label shows");
}

Variance *variance_new(StoreReader *reader, const NodeTable *nodes, const VarianceOptions *options,
                       GError **error)
{
        Reading r = { .reader = reader, .nodes = nodes, .options = options };
        Variance *v = NULL;

        variance_reading_init(&r);
        if (store_reader_expect_requests(reader, error) && variance_read_places(&r, error) &&
            variance_read_paths(&r, error)) {
                find_entries(&r);
                collect_times(&r);
                prepare_entries(&r);
                if (check_asked_for(&r, error) && variance_read_calls(&r, error))
                        v = take_results(&r);
        }
        reading_clear(&r);
        return v;
}

void variance_free(Variance *v)
{
        if (!v)
                return;
        g_ptr_array_unref(v->entries);
        g_free(v);
}
