/* SPDX-License-Identifier: BSD-2-Clause */
#include "analysis/why/why.h"

#include <math.h>
#include <string.h>

#include "base/compare.h"
#include "base/error.h"
#include "base/time-search.h"
#include "paths/place-slots.h"
#include "store/stored-patterns.h"

enum { LEAST_OF_SLOW = 20 /* a burst has one in so many of the slow ones */ };
enum { FEWEST_OF_SUMMARY = 100, TAIL = 100 /* the slowest one in so many */ };

/* A store may say anything: lengths of time lie within this, so that no difference overflows. */
#define LENGTH_LIMIT ((gint64)1 << 61)

#define MIDDLE_FROM 0.4
#define MIDDLE_TO   0.6

typedef struct {
        guint32 parent;
        NodeId node;
        gboolean goes_on;
        double own;
        guint32 chain; /* of its kind's slots */
} Place;

typedef struct {
        const StoredPattern *stored;
        guint32 first_place, n_places, kind;
} Pattern;

typedef struct {
        guint32 pattern, first, n;
        gint64 start, time;
        double probability;
} Request;

typedef struct {
        gint64 enter, reply, own, network, queued, connecting;
        guint32 parent; /* within its request */
        guint32 place, load;
        NodeId node;
        float probability;
} Call;

/* What a request did at a slot. */
typedef struct {
        guint32 request, slot, calls, load;
        gint64 own, queued, connecting, most; /* most: own time of one call */
        NodeId node;
        float probability;
} Stay;

/* What is usual at a slot. */
typedef struct {
        GArray *sorted; /* of gint64: own times, ascending; NULL until it is asked for */
        gint64 own;
        guint calls, load;
        double each, goes_with_load; /* as in WhyPlace */
} Usual;

typedef struct {
        NodeId client, root;
        const char *label;
        PlaceSlots *slots;
        Usual *usual;      /* by slot, and the network's */
        GPtrArray *where;  /* by slot, and the network's; NULL until it is looked at */
        GArray *requests;  /* of guint32 */
        GArray **of_slots; /* by slot, and the network's: of Stay, by request */
        gint64 *sorted;    /* times of its requests, ascending */
        double total;
} Kind;

struct Why {
        StoreReader *reader; /* borrowed */
        const NodeTable *nodes;
        GArray *stored; /* of StoredPattern */
        GArray *patterns, *places, *requests, *calls;
        GPtrArray *kinds; /* of Kind */
        gboolean ports;   /* ids begin with the client's port */
};

static Pattern *pattern_at(const Why *w, guint32 i)
{
        return &g_array_index(w->patterns, Pattern, i);
}

static Request *request_at(const Why *w, guint32 i)
{
        return &g_array_index(w->requests, Request, i);
}

static Call *call_at(const Why *w, guint32 i)
{
        return &g_array_index(w->calls, Call, i);
}

static Kind *kind_of(const Why *w, guint32 request)
{
        return w->kinds->pdata[pattern_at(w, request_at(w, request)->pattern)->kind];
}

/* What a request's time is divided among: own time at each slot, time in the queue before each,
 * time until there was a connection to each, and the network. */
static guint32 n_slots(const Kind *k)
{
        return 3 * place_slots_size(k->slots) + 1;
}

static gboolean is_node(const Kind *k, guint32 slot)
{
        return slot < place_slots_size(k->slots);
}

static void free_kind(gpointer data)
{
        Kind *k = data;

        if (k->of_slots) {
                for (guint32 s = 0; s < n_slots(k); s++) {
                        g_array_unref(k->of_slots[s]);
                        g_clear_pointer(&k->usual[s].sorted, g_array_unref);
                }
                g_free(k->of_slots);
                g_free(k->usual);
                g_ptr_array_unref(k->where);
                g_free(k->sorted);
        }
        place_slots_free(k->slots);
        g_array_unref(k->requests);
        g_free(k);
}

void why_free(Why *w)
{
        if (!w)
                return;
        g_ptr_array_unref(w->kinds);
        g_array_unref(w->patterns);
        g_clear_pointer(&w->stored, g_array_unref);
        g_array_unref(w->places);
        g_array_unref(w->requests);
        g_array_unref(w->calls);
        g_free(w);
}

static gint64 limit_length(gint64 ns)
{
        return CLAMP(ns, -LENGTH_LIMIT, LENGTH_LIMIT);
}

static gint64 limit_time(gint64 ns)
{
        return CLAMP(ns, -PATH_TIME_LIMIT, PATH_TIME_LIMIT);
}

/* --- reading ----------------------------------------------------------------- */

static gboolean read_facts(Why *w, GError **error)
{
        StoredCapture capture;
        int status;

        while ((status = store_reader_next_capture(w->reader, &capture, error)) > 0)
                w->ports |= strstr(capture.facts, "ids: connection.sequence") != NULL;
        return status == 0;
}

static gboolean why_read_places(Why *w, GError **error)
{
        StoredPatternNode n;
        int status;

        if (!(w->stored = stored_patterns_load(w->reader, error)))
                return FALSE;
        for (guint32 i = 0; i < w->stored->len; i++) {
                Pattern pattern = { .stored = stored_pattern_at(w->stored, i) };

                g_array_append_val(w->patterns, pattern);
        }
        while ((status = store_reader_next_pattern_node(w->reader, &n, error)) > 0) {
                Pattern *pattern = pattern_at(w, n.pattern);
                Place place = { .parent = n.parent,
                                .node = n.node,
                                .goes_on = n.continues != WORK_NESTED,
                                .own = (double)n.own_mean * (double)pattern->stored->count };

                if (pattern->n_places++ == 0)
                        pattern->first_place = w->places->len;
                g_array_append_val(w->places, place);
        }
        return status == 0;
}

static gboolean add_calls(Why *w, const Pattern *pattern, const GArray *calls, const GArray *places,
                          GError **error)
{
        for (guint i = 0; i < calls->len; i++) {
                const PathCall *c = &g_array_index(calls, PathCall, i);
                Call call = { .enter = limit_time(c->enter),
                              .reply = limit_time(c->reply),
                              .own = limit_length(c->own - c->own_queued),
                              .network = limit_length(c->network - c->connecting),
                              .queued = limit_length(c->queued + c->own_queued),
                              .connecting = limit_length(c->connecting),
                              .parent = c->parent,
                              .place = g_array_index(places, guint32, i),
                              .node = c->callee,
                              .probability = c->probability };

                if (call.place >= pattern->n_places)
                        return store_reader_fail(w->reader, error,
                                                 "a call has a place that its pattern has not");
                g_array_append_val(w->calls, call);
        }
        return TRUE;
}

static gboolean read_requests(Why *w, GError **error)
{
        g_autoptr(GArray) calls = g_array_new(FALSE, FALSE, sizeof(PathCall));
        g_autoptr(GArray) places = g_array_new(FALSE, FALSE, sizeof(guint32));
        StoredPath path;
        int status;

        while ((status = store_reader_next_path(w->reader, &path, error)) > 0) {
                Request r = { .pattern = path.pattern,
                              .first = w->calls->len,
                              .n = path.n_calls,
                              .start = limit_time(path.start),
                              .time = limit_length(path.completion),
                              .probability = path.probability };

                if (!store_reader_path_calls(w->reader, &path, calls, places, error) ||
                    !add_calls(w, pattern_at(w, path.pattern), calls, places, error))
                        return FALSE;
                g_array_append_val(w->requests, r);
        }
        return status == 0;
}

/* --- kinds ------------------------------------------------------------------- */

static guint32 find_kind(Why *w, const StoredPattern *p, NodeId root)
{
        Kind *k;

        for (guint32 i = 0; i < w->kinds->len; i++) {
                k = w->kinds->pdata[i];
                if (k->client == p->client && k->root == root && k->label == p->label)
                        return i;
        }
        k = g_new0(Kind, 1);
        k->client = p->client;
        k->root = root;
        k->label = p->label;
        k->slots = place_slots_new();
        k->requests = g_array_new(FALSE, FALSE, sizeof(guint32));
        g_ptr_array_add(w->kinds, k);
        return w->kinds->len - 1;
}

static void add_pattern(Why *w, Pattern *p)
{
        Place *places = &g_array_index(w->places, Place, p->first_place);
        g_autofree SlotPlace *of = g_new(SlotPlace, p->n_places);
        g_autofree guint32 *chains = g_new(guint32, p->n_places);

        p->kind = find_kind(w, p->stored, places[0].node);
        for (guint32 i = 0; i < p->n_places; i++)
                of[i] = (SlotPlace){ places[i].parent, places[i].node, places[i].goes_on,
                                     places[i].own };
        place_slots_add(((Kind *)w->kinds->pdata[p->kind])->slots, p->stored->count, of,
                        p->n_places, chains);
        for (guint32 i = 0; i < p->n_places; i++)
                places[i].chain = chains[i];
}

static gboolean make_kinds(Why *w, GError **error)
{
        for (guint i = 0; i < w->patterns->len; i++) {
                if (pattern_at(w, i)->n_places == 0)
                        return store_reader_fail(w->reader, error,
                                                 "a pattern has no nodes, expected some");
                add_pattern(w, pattern_at(w, i));
        }
        for (guint i = 0; i < w->kinds->len; i++)
                place_slots_find(((Kind *)w->kinds->pdata[i])->slots, w->nodes);
        for (guint32 i = 0; i < w->requests->len; i++) {
                Kind *k = kind_of(w, i);

                g_array_append_val(k->requests, i);
                k->total += (double)request_at(w, i)->time;
        }
        return TRUE;
}

/* --- load -------------------------------------------------------------------- */

static GArray **list_moments(const Why *w, guint n, gboolean replies)
{
        GArray **moments = g_new(GArray *, n);

        for (guint i = 0; i < n; i++)
                moments[i] = g_array_new(FALSE, FALSE, sizeof(gint64));
        for (guint i = 0; i < w->calls->len; i++) {
                const Call *c = call_at(w, i);
                gint64 moment = replies ? MAX(c->reply, c->enter) : c->enter;

                g_array_append_val(moments[c->node], moment);
        }
        for (guint i = 0; i < n; i++)
                g_array_sort(moments[i], compare_int64s);
        return moments;
}

static void free_moments(GArray **moments, guint n)
{
        for (guint i = 0; i < n; i++)
                g_array_unref(moments[i]);
        g_free(moments);
}

/* The calls that came before it and were there after it came. */
static void find_loads(Why *w)
{
        guint n = node_table_size(w->nodes);
        GArray **enters = list_moments(w, n, FALSE), **replies = list_moments(w, n, TRUE);

        for (guint i = 0; i < w->calls->len; i++) {
                Call *c = call_at(w, i);
                const GArray *in = enters[c->node], *out = replies[c->node];
                guint came = (guint)time_search((const gint64 *)in->data, in->len, c->enter);
                guint left = (guint)time_search((const gint64 *)out->data, out->len, c->enter + 1);

                c->load = came > left ? came - left : 0;
        }
        free_moments(enters, n);
        free_moments(replies, n);
}

Why *why_new(StoreReader *reader, const NodeTable *nodes, GError **error)
{
        g_autoptr(Why) w = g_new0(Why, 1);

        w->reader = reader;
        w->nodes = nodes;
        w->patterns = g_array_new(FALSE, FALSE, sizeof(Pattern));
        w->places = g_array_new(FALSE, FALSE, sizeof(Place));
        w->requests = g_array_new(FALSE, FALSE, sizeof(Request));
        w->calls = g_array_new(FALSE, FALSE, sizeof(Call));
        w->kinds = g_ptr_array_new_with_free_func(free_kind);
        if (!store_reader_expect_requests(reader, error) || !read_facts(w, error) ||
            !why_read_places(w, error) || !read_requests(w, error) || !make_kinds(w, error))
                return NULL;
        find_loads(w);
        return g_steal_pointer(&w);
}

guint64 why_requests(const Why *w)
{
        return w->requests->len;
}

/* --- what requests did at slots -------------------------------------------------- */

/* The least of it, of the calls above it, and of those that it made. */
static float trust(const Why *w, const Request *r, guint32 call)
{
        float least = 1;

        for (guint32 i = call; i != NO_PARENT; i = call_at(w, r->first + i)->parent)
                least = MIN(least, call_at(w, r->first + i)->probability);
        for (guint32 i = call + 1; i < r->n; i++)
                if (call_at(w, r->first + i)->parent == call)
                        least = MIN(least, call_at(w, r->first + i)->probability);
        return least;
}

static Stay *stay_of(GArray *stays, guint32 request, guint32 slot)
{
        Stay none = { .request = request, .slot = slot, .probability = 1, .most = G_MININT64 };

        if (stays->len == 0 || g_array_index(stays, Stay, stays->len - 1).request != request)
                g_array_append_val(stays, none);
        return &g_array_index(stays, Stay, stays->len - 1);
}

/* At a slot where no call is made. */
static void add_waiting(const Kind *k, guint32 request, guint32 slot, gint64 time)
{
        Stay *s;

        if (!time)
                return;
        s = stay_of(k->of_slots[slot], request, slot);
        s->own = limit_length(s->own + time);
}

static void add_request(const Why *w, const Kind *k, guint32 request)
{
        const Request *r = request_at(w, request);
        guint32 first_place = pattern_at(w, r->pattern)->first_place;

        for (guint32 i = 0; i < r->n; i++) {
                const Call *c = call_at(w, r->first + i);
                const Place *place = &g_array_index(w->places, Place, first_place + c->place);
                guint32 slot = place_slots_slot(k->slots, place->chain);
                Stay *s = stay_of(k->of_slots[slot], request, slot);

                s->calls++;
                s->own = limit_length(s->own + c->own);
                s->queued = limit_length(s->queued + c->queued);
                s->connecting = limit_length(s->connecting + c->connecting);
                if (c->own > s->most) {
                        s->most = c->own;
                        s->load = c->load;
                        s->node = c->node;
                }
                add_waiting(k, request, place_slots_size(k->slots) + slot, c->queued);
                add_waiting(k, request, 2 * place_slots_size(k->slots) + slot, c->connecting);
                add_waiting(k, request, n_slots(k) - 1, c->network);
        }
}

/* "web1|web2 / auth" */
static char *name_slot(const Why *w, const Kind *k, guint32 slot)
{
        GString *text = g_string_new(NULL);

        for (guint32 s = slot; s != NO_PARENT; s = place_slots_at(k->slots, s)->parent) {
                const PlaceSlot *at = place_slots_at(k->slots, s);
                g_autoptr(GString) names = g_string_new(NULL);

                if (at->parent == NO_PARENT && text->len > 0)
                        break;
                for (guint i = 0; i < at->nodes->len; i++)
                        g_string_append_printf(
                                names, "%s%s", i > 0 ? "|" : "",
                                node_table_written(w->nodes, g_array_index(at->nodes, NodeId, i)));
                if (text->len > 0)
                        g_string_append(names, " / ");
                g_string_prepend(text, names->str);
        }
        return g_string_free(text, FALSE);
}

static char *name_factor(const Why *w, const Kind *k, guint32 slot)
{
        static const char *const what[] = { "", " (queue)", " (connecting)" };
        guint32 n = place_slots_size(k->slots);
        g_autofree char *name = NULL;

        if (is_node(k, slot))
                return name_slot(w, k, slot);
        if (slot + 1 == n_slots(k))
                return g_strdup("(network)");
        name = name_slot(w, k, slot % n);
        return g_strconcat(name, what[slot / n], NULL);
}

/* Once, when it is asked for. */
static void look_at(const Why *w, Kind *k)
{
        guint32 n;

        if (k->of_slots)
                return;
        n = n_slots(k);
        k->of_slots = g_new(GArray *, n);
        k->usual = g_new0(Usual, n);
        k->where = g_ptr_array_new_with_free_func(g_free);
        for (guint32 s = 0; s < n; s++) {
                k->of_slots[s] = g_array_new(FALSE, FALSE, sizeof(Stay));
                g_ptr_array_add(k->where, name_factor(w, k, s));
        }
        k->sorted = g_new(gint64, k->requests->len);
        for (guint i = 0; i < k->requests->len; i++) {
                guint32 request = g_array_index(k->requests, guint32, i);

                add_request(w, k, request);
                k->sorted[i] = request_at(w, request)->time;
        }
        qsort(k->sorted, k->requests->len, sizeof *k->sorted, compare_int64s);
}

/* --- one request ------------------------------------------------------------------- */

/* The median of all requests, of which those that are not among the values have 0. */
static gint64 median_of(GArray *values, guint64 all)
{
        guint64 rank = (all + 1) / 2, zeros = all - values->len, below;

        g_array_sort(values, compare_int64s);
        below = (guint)time_search((const gint64 *)values->data, values->len, 0);
        if (rank <= below)
                return g_array_index(values, gint64, rank - 1);
        return rank <= below + zeros ? 0 : g_array_index(values, gint64, rank - zeros - 1);
}

typedef enum { OF_OWN, OF_CALLS, OF_LOAD } Measure;

static GArray *list_values(const GArray *stays, Measure measure)
{
        GArray *values = g_array_sized_new(FALSE, FALSE, sizeof(gint64), stays->len);

        for (guint i = 0; i < stays->len; i++) {
                const Stay *s = &g_array_index(stays, Stay, i);
                gint64 value = measure == OF_OWN     ? s->own
                               : measure == OF_CALLS ? s->calls
                                                     : s->load;

                g_array_append_val(values, value);
        }
        return values;
}

/* Least squares of own time on load. */
static void find_trend(const GArray *stays, Usual *u)
{
        double n = stays->len, x = 0, y = 0, xx = 0, yy = 0, xy = 0;

        for (guint i = 0; i < stays->len; i++) {
                const Stay *s = &g_array_index(stays, Stay, i);

                x += s->load;
                y += (double)s->own;
        }
        x /= n;
        y /= n;
        for (guint i = 0; i < stays->len; i++) {
                const Stay *s = &g_array_index(stays, Stay, i);

                xx += (s->load - x) * (s->load - x);
                yy += ((double)s->own - y) * ((double)s->own - y);
                xy += (s->load - x) * ((double)s->own - y);
        }
        if (n < WHY_FEWEST || xx <= 0 || yy <= 0)
                return;
        u->each = xy / xx;
        u->goes_with_load = xy * xy / (xx * yy);
}

static const Usual *usual_at(const Kind *k, guint32 slot)
{
        const GArray *stays = k->of_slots[slot];
        Usual *u = &k->usual[slot];

        if (u->sorted)
                return u;
        g_autoptr(GArray) calls = list_values(stays, OF_CALLS), load = list_values(stays, OF_LOAD);
        u->sorted = list_values(stays, OF_OWN);
        u->own = median_of(u->sorted, k->requests->len);
        u->calls = (guint)median_of(calls, k->requests->len);
        u->load = load->len ? (guint)median_of(load, load->len) : 0;
        if (is_node(k, slot) && stays->len > 0)
                find_trend(stays, u);
        return u;
}

static const Stay *find_stay(const GArray *stays, guint32 request)
{
        guint low = 0, high = stays->len;

        while (low < high) {
                guint middle = low + (high - low) / 2;
                const Stay *s = &g_array_index(stays, Stay, middle);

                if (s->request == request)
                        return s;
                if (s->request < request)
                        low = middle + 1;
                else
                        high = middle;
        }
        return NULL;
}

static void add_place(const Why *w, const Kind *k, guint32 slot, guint32 request, GArray *places)
{
        const Stay *s = find_stay(k->of_slots[slot], request);
        const Usual *u = usual_at(k, slot);
        guint64 all = k->requests->len;
        WhyPlace p = { .where = k->where->pdata[slot],
                       .usual = u->own,
                       .usual_calls = u->calls,
                       .usual_load = u->load,
                       .probability = 1 };

        if (s) {
                guint less =
                        (guint)time_search((const gint64 *)u->sorted->data, u->sorted->len, s->own);

                p.own = s->own;
                p.slower = (double)(less + (s->own > 0 ? all - u->sorted->len : 0)) / (double)all;
                p.calls = s->calls;
                p.load = s->load;
                p.queued = s->queued;
                p.connecting = s->connecting;
                p.node = is_node(k, slot) ? node_table_written(w->nodes, s->node) : NULL;
                p.each = u->each;
                p.goes_with_load = u->goes_with_load;
        }
        p.excess = p.own - p.usual;
        if (s || p.usual || p.usual_calls)
                g_array_append_val(places, p);
}

static int compare_places(gconstpointer va, gconstpointer vb)
{
        const WhyPlace *a = va, *b = vb;

        return a->excess != b->excess ? COMPARE(b->excess, a->excess) : strcmp(a->where, b->where);
}

/* Of the places of its calls. */
static void find_trust(const Why *w, const Kind *k, guint32 request, GArray *places)
{
        const Request *r = request_at(w, request);
        guint32 first_place = pattern_at(w, r->pattern)->first_place;

        for (guint32 i = 0; i < r->n; i++) {
                const Call *c = call_at(w, r->first + i);
                const Place *at = &g_array_index(w->places, Place, first_place + c->place);
                const char *where = k->where->pdata[place_slots_slot(k->slots, at->chain)];

                for (guint p = 0; p < places->len; p++) {
                        WhyPlace *place = &g_array_index(places, WhyPlace, p);

                        if (place->where == where)
                                place->probability = MIN(place->probability, trust(w, r, i));
                }
        }
}

WhyRequest *why_request(Why *w, guint64 id)
{
        guint32 request = (guint32)id - 1;
        const Request *r = request_at(w, request);
        const StoredPattern *pattern = pattern_at(w, r->pattern)->stored;
        WhyRequest *why = g_new0(WhyRequest, 1);
        Kind *k = kind_of(w, request);
        guint n = k->requests->len;

        look_at(w, k);
        *why = (WhyRequest){ .request = id,
                             .signature = pattern->signature,
                             .label = pattern->label,
                             .start = r->start,
                             .time = r->time,
                             .usual = k->sorted[(n + 1) / 2 - 1],
                             .slower = (double)(guint)time_search(k->sorted, n, r->time) / n,
                             .alike = n,
                             .pattern_count = pattern->count,
                             .probability = r->probability };
        why->places = g_array_new(FALSE, FALSE, sizeof(WhyPlace));
        for (guint32 s = 0; s < n_slots(k); s++)
                add_place(w, k, s, request, why->places);
        find_trust(w, k, request, why->places);
        g_array_sort(why->places, compare_places);
        return why;
}

void why_request_free(WhyRequest *r)
{
        if (!r)
                return;
        g_array_unref(r->places);
        g_free(r);
}

/* --- which requests ---------------------------------------------------------------- */

typedef struct {
        gint64 key; /* the greatest first */
        guint32 request;
} Keyed;

static int compare_keyed(gconstpointer va, gconstpointer vb)
{
        const Keyed *a = va, *b = vb;

        return a->key != b->key ? COMPARE(b->key, a->key) : COMPARE(a->request, b->request);
}

/* The first n, as ids; keyed is freed. */
static GArray *first_of(GArray *keyed, guint n)
{
        GArray *ids = g_array_new(FALSE, FALSE, sizeof(guint64));

        g_array_sort(keyed, compare_keyed);
        for (guint i = 0; i < MIN(n, keyed->len); i++) {
                guint64 id = g_array_index(keyed, Keyed, i).request + (guint64)1;

                g_array_append_val(ids, id);
        }
        g_array_unref(keyed);
        return ids;
}

GArray *why_slowest(Why *w, guint n)
{
        GArray *keyed = g_array_new(FALSE, FALSE, sizeof(Keyed));

        for (guint32 i = 0; i < w->requests->len; i++) {
                Keyed k = { request_at(w, i)->time, i };

                g_array_append_val(keyed, k);
        }
        return first_of(keyed, n);
}

GArray *why_at(Why *w, gint64 time, guint n, guint *n_there)
{
        GArray *keyed = g_array_new(FALSE, FALSE, sizeof(Keyed));

        for (guint32 i = 0; i < w->requests->len; i++) {
                const Request *r = request_at(w, i);
                Kind *k = kind_of(w, i);

                if (r->start > time || r->time < time - r->start)
                        continue;
                look_at(w, k);
                Keyed key = { r->time - k->sorted[(k->requests->len + 1) / 2 - 1], i };
                g_array_append_val(keyed, key);
        }
        *n_there = keyed->len;
        return first_of(keyed, n);
}

/* --- slow against middle ------------------------------------------------------------ */

/* Of a stretch of time with more slow ones than the others there let expect: the log likelihood
 * ratio of a scan statistic. */
static double log_ratio(double n, double expected, double of)
{
        double outside = of - n;

        if (n <= expected)
                return 0;
        return n * log(n / expected) + (outside > 0 ? outside * log(outside / (of - expected)) : 0);
}

/* Finds the stretch between starts of slow ones that is the least likely to be chance. */
static WhyBurst find_burst(GArray *slow, GArray *all)
{
        enum { MOST = 2000 }; /* stretches begin with, or end */
        const gint64 *s, *a;
        WhyBurst best = { .of = slow->len };
        double most = 0;
        guint step = slow->len / MOST + 1;

        g_array_sort(slow, compare_int64s);
        g_array_sort(all, compare_int64s);
        s = (const gint64 *)slow->data;
        a = (const gint64 *)all->data;
        for (guint i = 0; i < slow->len; i += step) {
                guint before = (guint)time_search(a, all->len, s[i]);

                for (guint k = i + 2; k < slow->len; k += step) {
                        guint there = (guint)time_search(a, all->len, s[k] + 1) - before;
                        double n = k - i + 1;
                        double ratio =
                                log_ratio(n, (double)slow->len * there / all->len, slow->len);

                        if (ratio <= most)
                                continue;
                        most = ratio;
                        best = (WhyBurst){ k - i + 1, slow->len, there, s[i], s[k], 0 };
                }
        }
        /* By chance about once in ten thousand kinds: stretches that overlap are no tests of their
         * own, about five of each start are. */
        if (most < log(slow->len * 5 * 1000.0) || best.n * LEAST_OF_SLOW < best.of)
                best.n = 0;
        best.since = best.n ? best.from - a[0] : 0;
        return best;
}

/* Which part of a kind a request is in. */
typedef enum { NEITHER, SLOW, MIDDLE } Part;

static guint8 *divide(const Why *w, const Kind *k, guint *n_slow, guint *n_middle)
{
        GArray *keyed = g_array_new(FALSE, FALSE, sizeof(Keyed));
        guint8 *part = g_new0(guint8, w->requests->len);
        guint n = k->requests->len;

        for (guint i = 0; i < n; i++) {
                guint32 request = g_array_index(k->requests, guint32, i);
                Keyed key = { request_at(w, request)->time, request };

                g_array_append_val(keyed, key);
        }
        g_array_sort(keyed, compare_keyed);
        *n_slow = (n + TAIL - 1) / TAIL;
        *n_middle = 0;
        for (guint i = 0; i < n; i++) {
                guint32 request = g_array_index(keyed, Keyed, i).request;

                if (i < *n_slow)
                        part[request] = SLOW;
                if (i >= MIDDLE_FROM * n && i < MIDDLE_TO * n) {
                        part[request] = MIDDLE;
                        ++*n_middle;
                }
        }
        g_array_unref(keyed);
        return part;
}

typedef struct {
        double own, calls, load, waiting, there;
} Sums;

static void add_difference(const Kind *k, guint32 slot, const guint8 *part, guint n_slow,
                           guint n_middle, WhyKind *kind)
{
        const GArray *stays = k->of_slots[slot];
        Sums sums[3] = { { 0 } };

        for (guint i = 0; i < stays->len; i++) {
                const Stay *s = &g_array_index(stays, Stay, i);
                Sums *sum = &sums[part[s->request]];

                sum->own += (double)s->own;
                sum->calls += s->calls;
                sum->load += s->load;
                sum->waiting += (double)(s->queued + s->connecting);
                sum->there++;
        }
        WhyDifference d = { .where = k->where->pdata[slot],
                            .slow = sums[SLOW].own / n_slow,
                            .middle = sums[MIDDLE].own / n_middle,
                            .slow_calls = sums[SLOW].calls / n_slow,
                            .middle_calls = sums[MIDDLE].calls / n_middle,
                            .slow_load = sums[SLOW].load / MAX(sums[SLOW].there, 1),
                            .middle_load = sums[MIDDLE].load / MAX(sums[MIDDLE].there, 1),
                            .slow_waiting = sums[SLOW].waiting / n_slow,
                            .middle_waiting = sums[MIDDLE].waiting / n_middle };
        d.share = kind->slow > kind->middle ? (d.slow - d.middle) / (kind->slow - kind->middle) : 0;
        if (sums[SLOW].there + sums[MIDDLE].there > 0)
                g_array_append_val(kind->places, d);
}

static int compare_differences(gconstpointer va, gconstpointer vb)
{
        const WhyDifference *a = va, *b = vb;

        return a->share != b->share ? COMPARE(b->share, a->share) : strcmp(a->where, b->where);
}

static void add_starts(const Why *w, const Kind *k, const guint8 *part, WhyKind *kind, GArray *slow,
                       GArray *all)
{
        guint n_middle = 0;

        for (guint i = 0; i < k->requests->len; i++) {
                guint32 request = g_array_index(k->requests, guint32, i);
                const Request *r = request_at(w, request);

                g_array_append_val(all, r->start);
                if (part[request] == MIDDLE) {
                        kind->middle += (double)r->time;
                        n_middle++;
                }
                if (part[request] != SLOW)
                        continue;
                g_array_append_val(slow, r->start);
                kind->slow += (double)r->time;
                kind->doubtful += r->probability < WHY_SURE;
        }
        kind->slow /= kind->n_slow;
        kind->doubtful /= kind->n_slow;
        kind->middle /= n_middle;
}

static void append_starts(GArray *to, const GArray *from)
{
        g_array_append_vals(to, from->data, from->len);
}

static WhyKind *compare_parts(Why *w, Kind *k, GArray *slow_of_all, GArray *all_of_all)
{
        g_autoptr(GArray) slow = g_array_new(FALSE, FALSE, sizeof(gint64));
        g_autoptr(GArray) all = g_array_new(FALSE, FALSE, sizeof(gint64));
        WhyKind *kind = g_new0(WhyKind, 1);
        guint n_slow, n_middle;
        g_autofree guint8 *part = divide(w, k, &n_slow, &n_middle);

        look_at(w, k);
        kind->client = node_table_written(w->nodes, k->client);
        kind->entry = node_table_written(w->nodes, k->root);
        kind->label = k->label;
        kind->count = k->requests->len;
        kind->n_slow = n_slow;
        add_starts(w, k, part, kind, slow, all);
        append_starts(slow_of_all, slow);
        append_starts(all_of_all, all);
        kind->burst = find_burst(slow, all);
        kind->places = g_array_new(FALSE, FALSE, sizeof(WhyDifference));
        for (guint32 s = 0; s < n_slots(k); s++)
                add_difference(k, s, part, n_slow, n_middle, kind);
        g_array_sort(kind->places, compare_differences);
        return kind;
}

static void free_why_kind(gpointer data)
{
        WhyKind *k = data;

        g_array_unref(k->places);
        g_free(k);
}

static int compare_kinds(gconstpointer va, gconstpointer vb)
{
        const Kind *a = *(Kind *const *)va, *b = *(Kind *const *)vb;

        return COMPARE(b->total, a->total);
}

GPtrArray *why_kinds(Why *w, WhyBurst *burst)
{
        GPtrArray *kinds = g_ptr_array_new_with_free_func(free_why_kind);
        g_autoptr(GArray) slow = g_array_new(FALSE, FALSE, sizeof(gint64));
        g_autoptr(GArray) all = g_array_new(FALSE, FALSE, sizeof(gint64));
        g_autoptr(GPtrArray) sorted = g_ptr_array_new();

        for (guint i = 0; i < w->kinds->len; i++)
                g_ptr_array_add(sorted, w->kinds->pdata[i]);
        g_ptr_array_sort(sorted, compare_kinds);
        for (guint i = 0; i < sorted->len; i++) {
                Kind *k = sorted->pdata[i];

                if (k->requests->len >= FEWEST_OF_SUMMARY)
                        g_ptr_array_add(kinds, compare_parts(w, k, slow, all));
        }
        *burst = find_burst(slow, all);
        return kinds;
}

/* --- packets -------------------------------------------------------------------------- */

typedef struct {
        guint port;
        gint64 from, to;
} Packets;

/* "c4e2.3a6f6d92" */
static gboolean parse_port(const PathCall *c, guint *port)
{
        const char *point = c->id_length ? memchr(c->id, '.', c->id_length) : NULL;
        guint n = point ? (guint)(point - c->id) : 0;

        *port = 0;
        for (guint i = 0; i < n && n <= 4; i++) {
                if (!g_ascii_isxdigit(c->id[i]))
                        return FALSE;
                *port = *port << 4 | (guint)g_ascii_xdigit_value(c->id[i]);
        }
        return n > 0 && n <= 4;
}

static gboolean fail_ids(const Why *w, GError **error)
{
        g_set_error(error, RAVEL_ERROR, RAVEL_ERROR_INPUT,
                    "%s: no packets can be named, expected calls with the ids that ravel capture "
                    "gives",
                    store_reader_name(w->reader));
        return FALSE;
}

static gboolean find_packets(Why *w, guint64 request, GArray *packets, GError **error)
{
        g_autoptr(GArray) calls = g_array_new(FALSE, FALSE, sizeof(PathCall));
        g_autoptr(GArray) places = g_array_new(FALSE, FALSE, sizeof(guint32));
        const Request *r = request_at(w, (guint32)request - 1);
        const StoredPath path = { .first_call = r->first, .n_calls = r->n };

        if (!w->ports)
                return fail_ids(w, error);
        if (!store_reader_path_calls(w->reader, &path, calls, places, error))
                return FALSE;
        for (guint i = 0; i < calls->len; i++) {
                const PathCall *c = &g_array_index(calls, PathCall, i);
                Packets p = { .from = MIN(c->start, c->enter), .to = MAX(c->reply, c->end) };

                if (!parse_port(c, &p.port))
                        return fail_ids(w, error);
                g_array_append_val(packets, p);
        }
        return TRUE;
}

static void append_seconds(GString *text, gint64 time)
{
        gint64 seconds = time / 1000000000 - (time % 1000000000 < 0);

        g_string_append_printf(text, "%" G_GINT64_FORMAT ".%09" G_GINT64_FORMAT, seconds,
                               time - seconds * 1000000000);
}

guint why_call_port(const Why *w, const PathCall *call)
{
        guint port;

        return w->ports && parse_port(call, &port) ? port : 0;
}

char *why_display_filter(Why *w, guint64 request, GError **error)
{
        g_autoptr(GArray) packets = g_array_new(FALSE, FALSE, sizeof(Packets));
        g_autoptr(GString) text = g_string_new(NULL);

        if (!find_packets(w, request, packets, error))
                return NULL;
        for (guint i = 0; i < packets->len; i++) {
                const Packets *p = &g_array_index(packets, Packets, i);

                g_string_append_printf(text, "%s((tcp.port == %u || udp.port == %u) && ",
                                       i > 0 ? " || " : "", p->port, p->port);
                g_string_append(text, "frame.time_epoch >= ");
                append_seconds(text, p->from);
                g_string_append(text, " && frame.time_epoch <= ");
                append_seconds(text, p->to);
                g_string_append_c(text, ')');
        }
        return g_string_free(g_steal_pointer(&text), FALSE);
}

char *why_capture_filter(Why *w, guint64 request, GError **error)
{
        g_autoptr(GArray) packets = g_array_new(FALSE, FALSE, sizeof(Packets));
        g_autoptr(GHashTable) known = g_hash_table_new(NULL, NULL);
        g_autoptr(GString) text = g_string_new(NULL);

        if (!find_packets(w, request, packets, error))
                return NULL;
        for (guint i = 0; i < packets->len; i++) {
                guint port = g_array_index(packets, Packets, i).port;

                if (g_hash_table_add(known, GUINT_TO_POINTER(port)))
                        g_string_append_printf(text, "%sport %u", text->len ? " or " : "", port);
        }
        return g_string_free(g_steal_pointer(&text), FALSE);
}
