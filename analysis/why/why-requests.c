/* SPDX-License-Identifier: BSD-2-Clause */
#include "analysis/why/why-failed.h"
#include "analysis/why/why-model.h"

#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "base/each.h"
#include "base/error.h"
#include "base/time-search.h"

/* A store may say anything: lengths of time lie within this, so that no difference overflows. */
#define LENGTH_LIMIT ((gint64)1 << 61)

static void free_kind(gpointer data)
{
        Kind *k = data;

        if (k->of_slots) {
                for (guint32 s = 0; s < why_n_slots(k); s++) {
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
        g_free(w->chains);
        g_array_unref(w->requests);
        g_array_unref(w->calls);
        g_array_unref(w->causes);
        why_tags_free(w->tags);
        g_free(w);
}

static gint64 limit_length(gint64 ns)
{
        return CLAMP(ns, -LENGTH_LIMIT, LENGTH_LIMIT);
}

static gint64 why_limit_time(gint64 ns)
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
                Pattern *pattern = why_pattern_at(w, n.pattern);
                SlotPlace place = { .parent = n.parent,
                                    .node = n.node,
                                    .goes_on = work_goes_on(n.continues),
                                    .own = (double)n.own_mean * (double)pattern->stored->count,
                                    .mark = path_continues_mark(n.continues) };

                if (pattern->n_places++ == 0)
                        pattern->first_place = w->places->len;
                g_array_append_val(w->places, place);
        }
        return status == 0;
}

/* Returns what they leave of its network. */
static gint64 why_add_causes(Why *w, const PathCall *c)
{
        gint64 rest = c->network;

        for (WayCause i = 0; i < N_WAY_CAUSES; i++) {
                CallCause cause = { limit_length(c->cause[i]), i };

                if (cause.time > 0)
                        g_array_append_val(w->causes, cause);
                rest -= cause.time;
        }
        return rest;
}

static gboolean why_add_calls(Why *w, const Pattern *pattern, const GArray *calls,
                              const GArray *places, GError **error)
{
        for (guint i = 0; i < calls->len; i++) {
                const PathCall *c = &g_array_index(calls, PathCall, i);
                Call call = { .enter = why_limit_time(c->enter),
                              .reply = why_limit_time(c->reply),
                              .begin = why_limit_time(why_limit_time(c->enter) + c->wait),
                              .start = why_limit_time(c->start),
                              .end = why_limit_time(c->end),
                              .own = limit_length(c->own - c->own_queued),
                              .network = limit_length(why_add_causes(w, c)),
                              .queued = limit_length(c->queued + c->own_queued),
                              .connecting = limit_length(c->connecting),
                              .parent = c->parent,
                              .place = g_array_index(places, guint32, i),
                              .node = c->callee,
                              .label = c->label,
                              .is_waited_for = !work_goes_on(c->continues),
                              .probability = c->probability,
                              .tags = c->tags,
                              .causes_end = w->causes->len };

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
                              .start = why_limit_time(path.start),
                              .time = limit_length(path.completion),
                              .probability = path.probability };

                if (!store_reader_path_calls(w->reader, &path, calls, places, error) ||
                    !why_add_calls(w, why_pattern_at(w, path.pattern), calls, places, error))
                        return FALSE;
                r.client = g_array_index(calls, PathCall, 0).caller;
                g_array_append_val(w->requests, r);
        }
        return status == 0;
}

/* --- kinds ------------------------------------------------------------------- */

static guint32 why_find_kind(Why *w, const StoredPattern *p, NodeId root)
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

static void why_add_pattern(Why *w, Pattern *p)
{
        const SlotPlace *places = &g_array_index(w->places, SlotPlace, p->first_place);
        Kind *k;

        p->kind = why_find_kind(w, p->stored, places[0].node);
        k = w->kinds->pdata[p->kind];
        place_slots_add(k->slots, p->stored->count, places, p->n_places,
                        w->chains + p->first_place);
}

static gboolean make_kinds(Why *w, GError **error)
{
        w->chains = g_new(guint32, w->places->len);
        for (guint i = 0; i < w->patterns->len; i++) {
                if (why_pattern_at(w, i)->n_places == 0)
                        return store_reader_fail(w->reader, error,
                                                 "a pattern has no nodes, expected some");
                why_add_pattern(w, why_pattern_at(w, i));
        }
        for (guint i = 0; i < w->kinds->len; i++)
                place_slots_find(((Kind *)w->kinds->pdata[i])->slots, w->nodes);
        for (guint32 i = 0; i < w->requests->len; i++) {
                Kind *k = why_kind_of(w, i);

                g_array_append_val(k->requests, i);
                k->total += (double)why_request_at(w, i)->time;
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
                const Call *c = why_call_at(w, i);
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
                Call *c = why_call_at(w, i);
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
        w->places = g_array_new(FALSE, FALSE, sizeof(SlotPlace));
        w->requests = g_array_new(FALSE, FALSE, sizeof(Request));
        w->calls = g_array_new(FALSE, FALSE, sizeof(Call));
        w->causes = g_array_new(FALSE, FALSE, sizeof(CallCause));
        w->kinds = g_ptr_array_new_with_free_func(free_kind);
        if (!store_reader_expect_requests(reader, error) || !read_facts(w, error) ||
            !why_read_tags(w, error) || !why_read_places(w, error) || !read_requests(w, error) ||
            !make_kinds(w, error))
                return NULL;
        find_loads(w);
        return g_steal_pointer(&w);
}

guint64 why_requests(const Why *w)
{
        return w->requests->len;
}

gboolean why_expect_request(const Why *w, guint64 request, GError **error)
{
        return (request >= 1 && request <= why_requests(w)) ||
               ravel_fail(error, RAVEL_ERROR_USAGE,
                          "%s: no request %" G_GUINT64_FORMAT
                          ", expected one from 1 to %" G_GUINT64_FORMAT,
                          store_reader_name(w->reader), request, why_requests(w));
}

/* --- what requests did at slots -------------------------------------------------- */

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

static void add_causes(const Why *w, const Kind *k, guint32 request, guint32 call, guint32 slot)
{
        guint32 n = place_slots_size(k->slots);

        for (guint32 i = call > 0 ? why_call_at(w, call - 1)->causes_end : 0;
             i < why_call_at(w, call)->causes_end; i++) {
                const CallCause *c = &g_array_index(w->causes, CallCause, i);

                add_waiting(k, request, (2 + c->cause) * n + slot, c->time);
        }
}

static void why_add_request(const Why *w, const Kind *k, guint32 request)
{
        const Request *r = why_request_at(w, request);
        guint32 first_place = why_pattern_at(w, r->pattern)->first_place;

        for (guint32 i = 0; i < r->n; i++) {
                const Call *c = why_call_at(w, r->first + i);
                guint32 slot = place_slots_slot(k->slots, w->chains[first_place + c->place]);
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
                add_causes(w, k, request, r->first + i, slot);
                add_waiting(k, request, why_n_slots(k) - 1, c->network);
        }
}

/* "web1|web2", "db!" */
static char *name_replicas(const Why *w, const PlaceSlot *at)
{
        GString *names = g_string_new(NULL);

        for (guint i = 0; i < at->nodes->len; i++)
                g_string_append_printf(
                        names, "%s%s", i > 0 ? "|" : "",
                        node_table_written(w->nodes, g_array_index(at->nodes, NodeId, i)));
        if (at->mark)
                g_string_append_c(names, at->mark);
        return g_string_free(names, FALSE);
}

/* "web1|web2 / auth" */
static char *why_name_slot(const Why *w, const Kind *k, guint32 slot)
{
        GString *text = g_string_new(NULL);

        for (guint32 s = slot; s != NO_PARENT; s = place_slots_at(k->slots, s)->parent) {
                const PlaceSlot *at = place_slots_at(k->slots, s);
                g_autofree char *names = NULL;

                if (at->parent == NO_PARENT && text->len > 0)
                        break;
                names = name_replicas(w, at);
                if (text->len > 0)
                        g_string_prepend(text, " / ");
                g_string_prepend(text, names);
        }
        return g_string_free(text, FALSE);
}

/* "web1|web2 > auth (resent)" */
static char *name_way(const Why *w, const Kind *k, guint32 slot, WayCause cause)
{
        const PlaceSlot *at = place_slots_at(k->slots, slot);
        g_autofree char *callee = name_replicas(w, at);
        g_autofree char *caller = at->parent == NO_PARENT
                                          ? g_strdup(node_table_written(w->nodes, k->client))
                                          : name_replicas(w, place_slots_at(k->slots, at->parent));

        return g_strdup_printf("%s > %s (%s)", caller, callee, way_cause_name(cause));
}

static char *name_factor(const Why *w, const Kind *k, guint32 slot)
{
        guint32 n = place_slots_size(k->slots);
        g_autofree char *name = NULL;

        if (why_is_node(k, slot))
                return why_name_slot(w, k, slot);
        if (slot + 1 == why_n_slots(k))
                return g_strdup("(network)");
        if (slot >= 2 * n)
                return name_way(w, k, slot % n, slot / n - 2);
        name = why_name_slot(w, k, slot - n);
        return g_strconcat(name, " (queue)", NULL);
}

/* Once, when it is asked for. */
void why_look_at(const Why *w, Kind *k)
{
        guint32 n;

        if (k->of_slots)
                return;
        n = why_n_slots(k);
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

                why_add_request(w, k, request);
                k->sorted[i] = why_request_at(w, request)->time;
        }
        qsort(k->sorted, k->requests->len, sizeof *k->sorted, compare_int64s);
}

/* --- one request ------------------------------------------------------------------- */

/* The median over all requests; requests without a value have 0. */
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

        EACH (const Stay, s, stays) {
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

        EACH (const Stay, s, stays) {
                x += s->load;
                y += (double)s->own;
        }
        x /= n;
        y /= n;
        EACH (const Stay, s, stays) {
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
        if (why_is_node(k, slot) && stays->len > 0)
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

static void add_place(const Why *w, const Kind *k, guint32 slot, guint32 request,
                      double probability, GArray *places)
{
        const Stay *s = find_stay(k->of_slots[slot], request);
        const Usual *u = usual_at(k, slot);
        guint64 all = k->requests->len;
        guint32 n = place_slots_size(k->slots);
        WhyPlace p = { .where = k->where->pdata[slot],
                       .usual = u->own,
                       .usual_calls = u->calls,
                       .usual_load = u->load,
                       .cause = slot >= 2 * n && slot + 1 < why_n_slots(k) ? slot / n - 2
                                                                           : N_WAY_CAUSES,
                       .probability = probability };

        if (s) {
                guint less =
                        (guint)time_search((const gint64 *)u->sorted->data, u->sorted->len, s->own);

                p.own = s->own;
                p.slower = (double)(less + (s->own > 0 ? all - u->sorted->len : 0)) / (double)all;
                p.calls = s->calls;
                p.load = s->load;
                p.queued = s->queued;
                p.connecting = s->connecting;
                p.node = why_is_node(k, slot) ? node_table_written(w->nodes, s->node) : NULL;
                p.each = u->each;
                p.goes_with_load = u->goes_with_load;
        }
        p.excess = p.own - p.usual;
        if (s || p.usual || p.usual_calls)
                g_array_append_val(places, p);
}

COMPARISON(compare_places, WhyPlace, COMPARE(b->excess, a->excess) ?: strcmp(a->where, b->where))

/* By slot, the least probability of a parent among its calls, the calls above and the calls that
 * they made. The caller's to free. */
static double *find_trust(const Why *w, const Kind *k, guint32 request)
{
        const Request *r = why_request_at(w, request);
        const guint32 *chains = &w->chains[why_pattern_at(w, r->pattern)->first_place];
        g_autofree float *above = g_new(float, r->n); /* the least so far down to each call */
        double *least = g_new(double, why_n_slots(k));

        for (guint32 s = 0; s < why_n_slots(k); s++)
                least[s] = 1;
        for (guint32 i = 0; i < r->n; i++) {
                const Call *c = why_call_at(w, r->first + i);
                guint32 slot = place_slots_slot(k->slots, chains[c->place]);

                above[i] = c->probability;
                if (c->parent != NO_PARENT) {
                        const Call *up = why_call_at(w, r->first + c->parent);
                        guint32 upper = place_slots_slot(k->slots, chains[up->place]);

                        above[i] = MIN(above[i], above[c->parent]);
                        least[upper] = MIN(least[upper], (double)c->probability);
                }
                least[slot] = MIN(least[slot], (double)above[i]);
        }
        return least;
}

/* The store was read to its end before, so that it can be read again. */
static char *find_faults(const Why *w, const Request *r)
{
        g_autoptr(GArray) calls = g_array_new(FALSE, FALSE, sizeof(PathCall));
        g_autoptr(GArray) places = g_array_new(FALSE, FALSE, sizeof(guint32));
        const StoredPath path = { .first_call = r->first, .n_calls = r->n };

        if (!store_reader_path_calls(w->reader, &path, calls, places, NULL))
                return NULL;
        return why_faults_text(w->nodes, (const PathCall *)(gconstpointer)calls->data, calls->len);
}

WhyRequest *why_request(Why *w, guint64 id)
{
        guint32 request = (guint32)id - 1;
        const Request *r = why_request_at(w, request);
        const StoredPattern *pattern = why_pattern_at(w, r->pattern)->stored;
        WhyRequest *why = g_new0(WhyRequest, 1);
        Kind *k = why_kind_of(w, request);
        guint n = k->requests->len;

        why_look_at(w, k);
        g_autofree double *least = find_trust(w, k, request);
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
        for (guint32 s = 0; s < why_n_slots(k); s++)
                add_place(w, k, s, request, least[s], why->places);
        g_array_sort(why->places, compare_places);
        why->faults = find_faults(w, r);
        return why;
}

void why_request_free(WhyRequest *r)
{
        if (!r)
                return;
        g_array_unref(r->places);
        g_free(r->faults);
        g_free(r);
}

/* --- which requests ---------------------------------------------------------------- */

int why_compare_keyed(gconstpointer va, gconstpointer vb)
{
        const Keyed *a = va, *b = vb;

        return COMPARE(b->key, a->key) ?: COMPARE(a->request, b->request);
}

/* The first n, as ids; keyed is freed. */
static GArray *why_first_of(GArray *keyed, guint n)
{
        GArray *ids = g_array_new(FALSE, FALSE, sizeof(guint64));

        g_array_sort(keyed, why_compare_keyed);
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
                Keyed k = { why_request_at(w, i)->time, i };

                g_array_append_val(keyed, k);
        }
        return why_first_of(keyed, n);
}

GArray *why_at(Why *w, gint64 time, guint n, guint *n_there)
{
        GArray *keyed = g_array_new(FALSE, FALSE, sizeof(Keyed));

        for (guint32 i = 0; i < w->requests->len; i++) {
                const Request *r = why_request_at(w, i);
                Kind *k = why_kind_of(w, i);

                if (r->start > time || r->time < time - r->start)
                        continue;
                why_look_at(w, k);
                Keyed key = { r->time - k->sorted[(k->requests->len + 1) / 2 - 1], i };
                g_array_append_val(keyed, key);
        }
        *n_there = keyed->len;
        return why_first_of(keyed, n);
}
