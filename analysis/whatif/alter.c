/* SPDX-License-Identifier: BSD-2-Clause */
#include "analysis/whatif/alter.h"

#include <string.h>

#include "base/compare.h"
#include "base/error.h"

static gboolean is_callee(const WhatIfChange *change, NodeId node)
{
        for (guint i = 0; i < change->callees->len; i++)
                if (g_array_index(change->callees, NodeId, i) == node)
                        return TRUE;
        return FALSE;
}

guint64 replay_requests_drop(ReplayRequests *r, const WhatIfChange *change)
{
        guint64 n = 0;

        for (guint32 i = 0; i < r->calls->len; i++) {
                ReplayCall *c = replay_call_at(r, i);

                if (c->up == 0 || c[-(gint64)c->up].node != change->node ||
                    !is_callee(change, c->node))
                        continue;
                c->dropped = TRUE;
                n++;
        }
        return n;
}

/* One visit. */
static gboolean join_calls(ReplayCall *c, const WhatIfChange *change)
{
        guint32 first = 0, joined = 0;

        for (guint32 i = 1; i < c->size && c[i].follows != AFTER_REPLY; i += c[i].size) {
                if (!is_callee(change, c[i].node) || c[i].loose || c[i].dropped)
                        continue;
                if (first > 0) {
                        c[i].follows = AFTER_START;
                        c[i].after = i - first;
                        c[i].gap = 0;
                        joined++;
                } else {
                        first = i;
                }
        }
        c->unordered |= joined > 0;
        return joined > 0;
}

guint64 replay_requests_join(ReplayRequests *r, const WhatIfChange *change)
{
        guint64 n = 0;

        for (guint32 i = 0; i < r->calls->len; i++)
                if (replay_call_at(r, i)->node == change->node)
                        n += join_calls(replay_call_at(r, i), change);
        return n;
}

/* --- hits and misses ------------------------------------------------------- */

/* The calls that visits of a kind make: its node and operation, and the sorted callees. */
typedef struct {
        GArray *callees; /* of NodeId */
        GArray *visits;  /* of guint32: calls */
        guint32 kind;    /* number of the node and operation */
} VisitShape;

typedef enum { VISIT_OTHER, VISIT_HIT, VISIT_MISS } VisitUse;

typedef struct {
        GPtrArray *shapes;   /* of VisitShape */
        GHashTable *by_name; /* one more than their index */
        GArray *hits;        /* of guint32, by kind: the shape of its hits, or NO_PARENT */
        GPtrArray *pools[3]; /* by VisitUse: of GArray of guint32, by kind: calls */
        GHashTable *turned;  /* a call, and its donor */
} Cache;

static void shape_free(gpointer data)
{
        VisitShape *s = data;

        g_array_unref(s->callees);
        g_array_unref(s->visits);
        g_free(s);
}

static gboolean is_read_through(const ReplayRequests *r, NodeId node)
{
        for (guint32 i = 0; i < r->calls->len; i++)
                if (replay_call_at(r, i)->node == node && replay_call_at(r, i)->size > 1)
                        return TRUE;
        return FALSE;
}

static guint32 cache_number(GHashTable *table, char *name, guint32 next)
{
        guint found = GPOINTER_TO_UINT(g_hash_table_lookup(table, name));

        if (found)
                g_free(name);
        else
                g_hash_table_insert(table, name, GUINT_TO_POINTER(next + 1));
        return found ? found - 1 : next;
}

static void cache_add_visit(Cache *cache, const ReplayCall *c, guint32 call)
{
        g_autoptr(GArray) callees = g_array_new(FALSE, FALSE, sizeof(NodeId));
        g_autoptr(GString) name = g_string_new(NULL);

        for (guint32 i = 1; i < c->size; i += c[i].size)
                if (!c[i].dropped)
                        g_array_append_val(callees, c[i].node);
        g_array_sort(callees, compare_uint32s);
        g_string_printf(name, "%u %u", c->node, c->label);
        guint32 kind = cache_number(cache->by_name, g_strdup(name->str), cache->hits->len);
        if (kind == cache->hits->len) {
                guint32 none = NO_PARENT;
                g_array_append_val(cache->hits, none);
        }
        for (guint i = 0; i < callees->len; i++)
                g_string_append_printf(name, ",%u", g_array_index(callees, NodeId, i));
        g_string_append_c(name, ';');
        guint32 shape = cache_number(cache->by_name, g_strdup(name->str), cache->shapes->len);
        if (shape == cache->shapes->len) {
                VisitShape *s = g_new0(VisitShape, 1);
                s->callees = g_array_ref(callees);
                s->visits = g_array_new(FALSE, FALSE, sizeof(guint32));
                s->kind = kind;
                g_ptr_array_add(cache->shapes, s);
        }
        g_array_append_val(((VisitShape *)g_ptr_array_index(cache->shapes, shape))->visits, call);
}

static gboolean visits_cache(const ReplayCall *c, NodeId cache)
{
        for (guint32 i = 1; i < c->size; i += c[i].size)
                if (c[i].node == cache && !c[i].dropped)
                        return TRUE;
        return FALSE;
}

static void cache_find_visits(Cache *cache, const ReplayRequests *r, NodeId node)
{
        gboolean through = is_read_through(r, node);

        for (guint32 i = 0; i < r->calls->len; i++) {
                const ReplayCall *c = replay_call_at(r, i);

                if (through ? c->node == node && !c->dropped : visits_cache(c, node))
                        cache_add_visit(cache, c, i);
        }
}

/* Both sorted. */
static gboolean contains(const GArray *more, const GArray *less)
{
        guint k = 0;

        for (guint i = 0; i < more->len && k < less->len; i++)
                k += g_array_index(more, NodeId, i) == g_array_index(less, NodeId, k);
        return k == less->len;
}

/* Hits make the fewest calls; of those as few, the most frequent. */
static void cache_find_hits(Cache *cache)
{
        for (guint32 i = 0; i < cache->shapes->len; i++) {
                const VisitShape *s = g_ptr_array_index(cache->shapes, i);
                guint32 *hit = &g_array_index(cache->hits, guint32, s->kind);
                const VisitShape *best =
                        *hit == NO_PARENT ? NULL : g_ptr_array_index(cache->shapes, *hit);

                if (!best || s->callees->len < best->callees->len ||
                    (s->callees->len == best->callees->len && s->visits->len > best->visits->len))
                        *hit = i;
        }
}

static VisitUse shape_use(const Cache *cache, guint32 shape)
{
        const VisitShape *s = g_ptr_array_index(cache->shapes, shape);
        guint32 hit = g_array_index(cache->hits, guint32, s->kind);

        if (shape == hit)
                return VISIT_HIT;
        return contains(s->callees, ((VisitShape *)g_ptr_array_index(cache->shapes, hit))->callees)
                       ? VISIT_MISS
                       : VISIT_OTHER;
}

static void cache_fill_pools(Cache *cache)
{
        for (guint use = 0; use < G_N_ELEMENTS(cache->pools); use++) {
                cache->pools[use] = g_ptr_array_new_with_free_func((GDestroyNotify)g_array_unref);
                for (guint kind = 0; kind < cache->hits->len; kind++)
                        g_ptr_array_add(cache->pools[use],
                                        g_array_new(FALSE, FALSE, sizeof(guint32)));
        }
        for (guint32 i = 0; i < cache->shapes->len; i++) {
                const VisitShape *s = g_ptr_array_index(cache->shapes, i);
                GArray *pool = g_ptr_array_index(cache->pools[shape_use(cache, i)], s->kind);

                g_array_append_vals(pool, s->visits->data, s->visits->len);
        }
}

static void cache_count(const Cache *cache, CacheUse *use)
{
        *use = (CacheUse){ 0, 0 };
        for (guint kind = 0; kind < cache->hits->len; kind++) {
                use->hits += ((GArray *)g_ptr_array_index(cache->pools[VISIT_HIT], kind))->len;
                use->misses += ((GArray *)g_ptr_array_index(cache->pools[VISIT_MISS], kind))->len;
        }
}

/* From 0 to below 1: the same for a call each time. */
static double draw(guint32 call, guint64 salt)
{
        guint64 x = (call + 1 + (salt << 32)) * G_GUINT64_CONSTANT(0x9e3779b97f4a7c15);

        x = (x ^ x >> 30) * G_GUINT64_CONSTANT(0xbf58476d1ce4e5b9);
        x = (x ^ x >> 27) * G_GUINT64_CONSTANT(0x94d049bb133111eb);
        return (double)((x ^ x >> 31) >> 11) / (double)(G_GUINT64_CONSTANT(1) << 53);
}

static void cache_turn(Cache *cache, VisitUse from, double share)
{
        const GPtrArray *to = cache->pools[from == VISIT_HIT ? VISIT_MISS : VISIT_HIT];

        for (guint kind = 0; kind < to->len; kind++) {
                const GArray *visits = g_ptr_array_index(cache->pools[from], kind);
                const GArray *donors = g_ptr_array_index(to, kind);

                for (guint i = 0; i < visits->len && donors->len > 0; i++) {
                        guint32 call = g_array_index(visits, guint32, i);
                        guint at = (guint)(draw(call, 1) * donors->len);

                        if (draw(call, 0) < share)
                                g_hash_table_insert(
                                        cache->turned, GUINT_TO_POINTER(call + 1),
                                        GUINT_TO_POINTER(g_array_index(donors, guint32, at) + 1));
                }
        }
}

/* --- copies of visits ------------------------------------------------------ */

typedef struct {
        const Cache *cache;
        const ReplayCall *calls;
        GArray *copy; /* of ReplayCall */
        guint32 *at;  /* by call of the request: its index in copy */
        guint32 first;
} Copying;

static guint32 find_donor(const Copying *c, guint32 call)
{
        guint32 donor =
                GPOINTER_TO_UINT(g_hash_table_lookup(c->cache->turned, GUINT_TO_POINTER(call + 1)));

        return donor ? donor - 1 : NO_PARENT;
}

/* The donor, with all below it, in the place of a call, which keeps its place at its caller. */
static void copy_donor(Copying *copying, guint32 call, guint32 donor)
{
        const ReplayCall *c = &copying->calls[call];
        guint at = copying->copy->len;

        g_array_append_vals(copying->copy, &copying->calls[donor], copying->calls[donor].size);
        ReplayCall *d = &g_array_index(copying->copy, ReplayCall, at);
        d->gap = c->gap;
        d->there = c->there;
        d->back = c->back;
        d->follows = c->follows;
        d->after = c->after;
        d->up = c->up;
        d->loose = c->loose;
        d->missed = c->missed;
        d->dropped = c->dropped;
}

static void copy_call(Copying *copying, guint32 call)
{
        const ReplayCall *c = &copying->calls[call];
        guint32 donor = find_donor(copying, call), at = copying->copy->len;

        copying->at[call - copying->first] = at;
        if (donor != NO_PARENT) {
                copy_donor(copying, call, donor);
                return;
        }
        g_array_append_val(copying->copy, *c);
        for (guint32 i = 1; i < c->size; i += c[i].size) {
                guint32 to = copying->copy->len;

                copy_call(copying, call + i);
                ReplayCall *child = &g_array_index(copying->copy, ReplayCall, to);
                child->up = to - at;
                if (c[i].after > 0)
                        child->after = to - copying->at[call + i - c[i].after - copying->first];
        }
        ReplayCall *own = &g_array_index(copying->copy, ReplayCall, at);
        own->size = copying->copy->len - at;
        if (c->reply_after > 0)
                own->reply_after = copying->at[call + c->reply_after - copying->first] - at;
}

static void copy_requests(ReplayRequests *r, const Cache *cache)
{
        g_autofree guint32 *at = g_new(guint32, r->most_calls);
        GArray *copy = g_array_sized_new(FALSE, FALSE, sizeof(ReplayCall), r->calls->len);
        Copying c = { cache, (const ReplayCall *)r->calls->data, copy, at, 0 };

        for (guint32 i = 0; i < r->requests->len; i++) {
                ReplayRequest *q = replay_request_at(r, i);
                guint32 first = copy->len;

                c.first = q->first_call;
                copy_call(&c, q->first_call);
                q->first_call = first;
                r->most_calls = MAX(r->most_calls, copy->len - first);
        }
        g_array_unref(r->calls);
        r->calls = copy;
}

static gboolean check_cache(const CacheUse *use, const WhatIfChange *change, const NodeTable *nodes,
                            GError **error)
{
        const char *name = node_table_written(nodes, change->node);

        if (use->hits + use->misses == 0)
                return ravel_fail(error, RAVEL_ERROR_USAGE, "nobody calls %s", name);
        if (use->misses > 0)
                return TRUE;
        return ravel_fail(error, RAVEL_ERROR_USAGE,
                          "%s: no look-up is followed by more calls than others, so no miss is "
                          "known",
                          name);
}

static void cache_clear(Cache *cache)
{
        g_ptr_array_unref(cache->shapes);
        g_hash_table_unref(cache->by_name);
        g_array_unref(cache->hits);
        g_hash_table_unref(cache->turned);
        for (guint i = 0; i < G_N_ELEMENTS(cache->pools); i++)
                g_ptr_array_unref(cache->pools[i]);
}

gboolean replay_requests_hit(ReplayRequests *r, const WhatIfChange *change, const NodeTable *nodes,
                             CacheUse *use, GError **error)
{
        Cache cache = { .shapes = g_ptr_array_new_with_free_func(shape_free),
                        .by_name = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL),
                        .hits = g_array_new(FALSE, FALSE, sizeof(guint32)),
                        .turned = g_hash_table_new(NULL, NULL) };
        gboolean ok;

        cache_find_visits(&cache, r, change->node);
        cache_find_hits(&cache);
        cache_fill_pools(&cache);
        cache_count(&cache, use);
        if ((ok = check_cache(use, change, nodes, error))) {
                double hit = (double)use->hits / (double)(use->hits + use->misses);

                if (change->factor > hit)
                        cache_turn(&cache, VISIT_MISS, (change->factor - hit) / (1 - hit));
                else
                        cache_turn(&cache, VISIT_HIT, (hit - change->factor) / hit);
                copy_requests(r, &cache);
        }
        cache_clear(&cache);
        return ok;
}
