/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The requests of a store as analysis/why/ has them: its own files alone include this.
 */
#pragma once

#include "analysis/why/why.h"
#include "paths/place-slots.h"
#include "store/stored-patterns.h"

typedef struct {
        const StoredPattern *stored;
        guint32 first_place, n_places, kind;
} Pattern;

typedef struct {
        guint32 pattern, first, n;
        NodeId client; /* the real one */
        gint64 start, time;
        double probability;
} Request;

typedef struct {
        gint64 enter, reply, own, network, queued, connecting;
        gint64 start, end; /* at its caller */
        gint64 begin;      /* its enter, or when a worker took it */
        guint32 parent;    /* within its request */
        guint32 place, load;
        NodeId node;
        float probability;
        guint16 label, tags;    /* as in PathCall */
        gboolean is_waited_for; /* by its caller */
        guint32 causes_end; /* index after the last of its causes, which follow the last call's */
} Call;

/* A part of the time on the way to a call and back. */
typedef struct {
        gint64 time;
        WayCause cause;
} CallCause;

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

/* Texts "NAME=VALUE", each once. Those of calls with tags i are numbers[first[i - 1]] up to
 * numbers[first[i]]. */
typedef struct {
        GPtrArray *texts;
        GArray *first, *numbers; /* of guint32 */
} WhyTags;

struct Why {
        WhyTags *tags;
        StoreReader *reader; /* borrowed */
        const NodeTable *nodes;
        GArray *stored;                      /* of StoredPattern */
        GArray *patterns, *requests, *calls; /* of Pattern, Request, Call */
        GArray *causes;                      /* of CallCause, by call */
        GArray *places;                      /* of SlotPlace, by pattern */
        guint32 *chains;                     /* by place: the chain in the slots of its kind */
        GPtrArray *kinds;                    /* of Kind */
        gboolean ports;                      /* ids begin with the client's port */
};

static inline Pattern *why_pattern_at(const Why *w, guint32 i)
{
        return &g_array_index(w->patterns, Pattern, i);
}

static inline Request *why_request_at(const Why *w, guint32 i)
{
        return &g_array_index(w->requests, Request, i);
}

static inline Call *why_call_at(const Why *w, guint32 i)
{
        return &g_array_index(w->calls, Call, i);
}

static inline Kind *why_kind_of(const Why *w, guint32 request)
{
        return w->kinds->pdata[why_pattern_at(w, why_request_at(w, request)->pattern)->kind];
}

/* What a request's time is divided among: own time at each slot, time in the queue before each,
 * time on the way to each by cause, and the rest of the network. */
static inline guint32 why_n_slots(const Kind *k)
{
        return (2 + N_WAY_CAUSES) * place_slots_size(k->slots) + 1;
}

static inline gboolean why_is_node(const Kind *k, guint32 slot)
{
        return slot < place_slots_size(k->slots);
}

/* A request in an order. */
typedef struct {
        gint64 key; /* the greatest first */
        guint32 request;
} Keyed;

gboolean why_read_tags(Why *why, GError **error);
void why_tags_free(WhyTags *tags);

/* What the slowest of some requests share, of WhyShared. order: of Keyed, the slowest first. n: how
 * many are the slow ones; 0: what parts of order. kinds: how many of such questions are asked. */
GArray *why_shared_of(const Why *why, const GArray *order, guint n, guint kinds);

int why_compare_keyed(gconstpointer a, gconstpointer b);

/* By request: whether it is among the slowest hundredth of its kind, and how many are. The caller's
 * to free. */
guint8 *why_find_slow(const Why *why, guint64 *n_slow);

/* Sums up what the requests of a kind did at its slots, once. */
void why_look_at(const Why *why, Kind *kind);
