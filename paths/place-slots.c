/* SPDX-License-Identifier: BSD-2-Clause */
#include "paths/place-slots.h"

#include <string.h>

#include "base/compare.h"
#include "base/each.h"

/* Replicas: they nearly never come in one request, and nearly always one of them does. */
#define MOST_TOGETHER 0.01
#define LEAST_IN_ALL  0.98
enum { MOST_REPLICAS = 64 };

typedef struct {
        guint32 parent; /* chain, or NO_PARENT */
        NodeId node;
        gboolean goes_on;
        char mark;
        double own;
        guint32 last_child, older; /* or NO_PARENT; older is the sibling that came before */
        guint32 slot, cell;
        GArray *patterns; /* of guint32, rising: the patterns with this chain */
} Chain;

struct PlaceSlots {
        GArray *chains;      /* of Chain */
        GHashTable *by_key;  /* chain by its parent and node */
        GArray *counts;      /* of guint64, by pattern: requests */
        GArray *slots;       /* of PlaceSlot */
        GPtrArray *of_slots; /* by slot, a GArray of its chains */
        guint32 n_cells;
};

/* Callees with one name of all chains of a slot. */
typedef struct {
        NodeId node;
        gboolean goes_on;
        char mark;
        GArray *chains;   /* of guint32 */
        GArray *patterns; /* of guint32, rising */
        guint64 count;    /* requests */
        const char *name;
        gboolean taken;
} Kid;

static Chain *chain_at(const PlaceSlots *s, guint32 chain)
{
        return &g_array_index(s->chains, Chain, chain);
}

static void clear_chain(gpointer data)
{
        g_array_unref(((Chain *)data)->patterns);
}

static void clear_slot(gpointer data)
{
        g_array_unref(((PlaceSlot *)data)->nodes);
}

static void clear_kid(gpointer data)
{
        g_array_unref(((Kid *)data)->chains);
        g_array_unref(((Kid *)data)->patterns);
}

PlaceSlots *place_slots_new(void)
{
        PlaceSlots *s = g_new0(PlaceSlots, 1);

        s->chains = g_array_new(FALSE, FALSE, sizeof(Chain));
        g_array_set_clear_func(s->chains, clear_chain);
        s->by_key = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
        s->counts = g_array_new(FALSE, FALSE, sizeof(guint64));
        s->slots = g_array_new(FALSE, FALSE, sizeof(PlaceSlot));
        g_array_set_clear_func(s->slots, clear_slot);
        s->of_slots = g_ptr_array_new_with_free_func((GDestroyNotify)g_array_unref);
        return s;
}

void place_slots_free(PlaceSlots *s)
{
        if (!s)
                return;
        g_array_unref(s->chains);
        g_hash_table_unref(s->by_key);
        g_array_unref(s->counts);
        g_array_unref(s->slots);
        g_ptr_array_unref(s->of_slots);
        g_free(s);
}

/* --- chains ---------------------------------------------------------------- */

/* Calls of one node that are not one: 0 to 3. */
static guint variant_of(gboolean goes_on, char mark)
{
        return goes_on ? 1 : mark == '*' ? 2 : mark == '!' ? 3 : 0;
}

static guint32 add_chain(PlaceSlots *s, guint32 parent, const SlotPlace *place)
{
        Chain c = { .parent = parent,
                    .node = place->node,
                    .goes_on = place->goes_on,
                    .mark = place->mark,
                    .last_child = NO_PARENT,
                    .older = NO_PARENT,
                    .patterns = g_array_new(FALSE, FALSE, sizeof(guint32)) };
        guint32 chain = s->chains->len;

        if (parent != NO_PARENT) {
                c.older = chain_at(s, parent)->last_child;
                chain_at(s, parent)->last_child = chain;
        }
        g_array_append_val(s->chains, c);
        return chain;
}

static guint32 find_chain(PlaceSlots *s, guint32 parent, const SlotPlace *place)
{
        gint64 key = (gint64)((guint64)(parent + 1) << 34 | (guint64)place->node << 2 |
                              variant_of(place->goes_on, place->mark));
        gpointer found;

        if (g_hash_table_lookup_extended(s->by_key, &key, NULL, &found))
                return GPOINTER_TO_UINT(found);
        guint32 chain = add_chain(s, parent, place);
        g_hash_table_insert(s->by_key, g_memdup2(&key, sizeof key), GUINT_TO_POINTER(chain));
        return chain;
}

void place_slots_add(PlaceSlots *s, guint64 count, const SlotPlace *places, guint32 n,
                     guint32 *chains)
{
        guint32 pattern = s->counts->len;

        g_array_append_val(s->counts, count);
        for (guint32 i = 0; i < n; i++) {
                const SlotPlace *p = &places[i];
                guint32 parent = p->parent == NO_PARENT ? NO_PARENT : chains[p->parent];
                Chain *c;

                chains[i] = find_chain(s, parent, p);
                c = chain_at(s, chains[i]);
                c->own += p->own;
                if (c->patterns->len == 0 ||
                    g_array_index(c->patterns, guint32, c->patterns->len - 1) != pattern)
                        g_array_append_val(c->patterns, pattern);
        }
}

/* --- patterns -------------------------------------------------------------- */

static guint64 count_requests(const PlaceSlots *s, const GArray *patterns)
{
        guint64 n = 0;

        for (guint i = 0; i < patterns->len; i++)
                n += g_array_index(s->counts, guint64, g_array_index(patterns, guint32, i));
        return n;
}

static void append_all(GArray *a, const GArray *b)
{
        g_array_append_vals(a, b->data, b->len);
}

/* Each once, rising. */
static void sort_patterns(GArray *a)
{
        guint n = 0;

        g_array_sort(a, compare_uint32s);
        for (guint i = 0; i < a->len; i++)
                if (i == 0 || g_array_index(a, guint32, i) != g_array_index(a, guint32, n - 1))
                        g_array_index(a, guint32, n++) = g_array_index(a, guint32, i);
        g_array_set_size(a, n);
}

static guint64 count_both(const PlaceSlots *s, const GArray *a, const GArray *b)
{
        guint64 n = 0;

        for (guint i = 0, k = 0; i < a->len && k < b->len;) {
                guint32 x = g_array_index(a, guint32, i), y = g_array_index(b, guint32, k);

                if (x == y)
                        n += g_array_index(s->counts, guint64, x);
                i += x <= y;
                k += y <= x;
        }
        return n;
}

/* --- slots ----------------------------------------------------------------- */

/* known: one more than its index, by node. */
static Kid *find_kid(GArray *kids, GHashTable *known, const Chain *c)
{
        gpointer key = GUINT_TO_POINTER(c->node << 2 | variant_of(c->goes_on, c->mark));
        guint found = GPOINTER_TO_UINT(g_hash_table_lookup(known, key));

        if (found)
                return &g_array_index(kids, Kid, found - 1);
        Kid new = { .node = c->node,
                    .goes_on = c->goes_on,
                    .mark = c->mark,
                    .chains = g_array_new(FALSE, FALSE, sizeof(guint32)),
                    .patterns = g_array_new(FALSE, FALSE, sizeof(guint32)) };
        g_array_append_val(kids, new);
        g_hash_table_insert(known, key, GUINT_TO_POINTER(kids->len));
        return &g_array_index(kids, Kid, kids->len - 1);
}

COMPARISON(compare_kids, Kid,
           COMPARE(b->count, a->count) ?:
           strcmp(a->name, b->name) ?:
           COMPARE(a->goes_on, b->goes_on) ?:
           COMPARE(a->mark, b->mark))

/* Most frequent first. */
static GArray *find_kids(const PlaceSlots *s, const GArray *chains, const NodeTable *nodes)
{
        g_autoptr(GHashTable) known = g_hash_table_new(NULL, NULL);
        GArray *kids = g_array_new(FALSE, FALSE, sizeof(Kid));

        g_array_set_clear_func(kids, clear_kid);
        for (guint i = 0; i < chains->len; i++) {
                const Chain *c = chain_at(s, g_array_index(chains, guint32, i));

                for (guint32 k = c->last_child; k != NO_PARENT; k = chain_at(s, k)->older) {
                        Kid *kid = find_kid(kids, known, chain_at(s, k));

                        g_array_append_val(kid->chains, k);
                        append_all(kid->patterns, chain_at(s, k)->patterns);
                }
        }
        EACH (Kid, kid, kids) {
                sort_patterns(kid->patterns);
                kid->name = node_table_written(nodes, kid->node);
                kid->count = count_requests(s, kid->patterns);
        }
        g_array_sort(kids, compare_kids);
        return kids;
}

/* Whether it nearly never comes in a request with one of a group. */
static gboolean is_apart(const PlaceSlots *s, const Kid *kid, const GPtrArray *group)
{
        EACH_OF (const Kid, other, group)
                if (other->goes_on != kid->goes_on || other->mark != kid->mark ||
                    (double)count_both(s, kid->patterns, other->patterns) >
                            MOST_TOGETHER * (double)kid->count)
                        return FALSE;
        return TRUE;
}

/* Those of the kids from first on that are never together with it or each other; only it, where
 * all of them are not nearly always there. */
static GPtrArray *find_replicas(const PlaceSlots *s, GArray *kids, guint first, guint64 all)
{
        GPtrArray *group = g_ptr_array_new();
        g_autoptr(GArray) patterns = g_array_new(FALSE, FALSE, sizeof(guint32));

        for (guint i = first; i < MIN(kids->len, MOST_REPLICAS); i++) {
                Kid *kid = &g_array_index(kids, Kid, i);

                if (!kid->taken && is_apart(s, kid, group)) {
                        g_ptr_array_add(group, kid);
                        append_all(patterns, kid->patterns);
                }
        }
        sort_patterns(patterns);
        if (group->len == 0 || (double)count_requests(s, patterns) < LEAST_IN_ALL * (double)all) {
                g_ptr_array_set_size(group, 0);
                g_ptr_array_add(group, &g_array_index(kids, Kid, first));
        }
        return group;
}

COMPARISON_OF_POINTERS(place_slots_compare_names, Kid, strcmp(a->name, b->name))

static void take_chains(PlaceSlots *s, PlaceSlot *slot, const GArray *chains, GArray *all)
{
        for (guint i = 0; i < chains->len; i++) {
                guint32 chain = g_array_index(chains, guint32, i);
                Chain *c = chain_at(s, chain);

                c->slot = s->slots->len;
                c->cell = s->n_cells;
                slot->own += c->own;
                g_array_append_val(all, chain);
        }
        s->n_cells++;
}

static void add_slot(PlaceSlots *s, guint32 parent, GPtrArray *replicas)
{
        PlaceSlot slot = { .parent = parent,
                           .goes_on = ((Kid *)replicas->pdata[0])->goes_on,
                           .mark = ((Kid *)replicas->pdata[0])->mark,
                           .nodes = g_array_new(FALSE, FALSE, sizeof(NodeId)),
                           .first_cell = s->n_cells };
        GArray *all = g_array_new(FALSE, FALSE, sizeof(guint32));

        g_ptr_array_sort(replicas, place_slots_compare_names);
        EACH_OF (Kid, kid, replicas) {
                g_array_append_val(slot.nodes, kid->node);
                take_chains(s, &slot, kid->chains, all);
                kid->taken = TRUE;
        }
        g_array_append_val(s->slots, slot);
        g_ptr_array_add(s->of_slots, all);
}

/* The slots below one. */
static void find_below(PlaceSlots *s, guint32 slot, const NodeTable *nodes)
{
        GArray *chains = g_ptr_array_index(s->of_slots, slot);
        g_autoptr(GArray) kids = find_kids(s, chains, nodes);
        g_autoptr(GArray) patterns = g_array_new(FALSE, FALSE, sizeof(guint32));
        guint64 all;

        for (guint i = 0; i < chains->len; i++)
                append_all(patterns, chain_at(s, g_array_index(chains, guint32, i))->patterns);
        sort_patterns(patterns);
        all = count_requests(s, patterns);
        for (guint i = 0; i < kids->len; i++) {
                if (g_array_index(kids, Kid, i).taken)
                        continue;
                g_autoptr(GPtrArray) replicas = find_replicas(s, kids, i, all);
                add_slot(s, slot, replicas);
        }
}

void place_slots_find(PlaceSlots *s, const NodeTable *nodes)
{
        guint32 root = 0;
        Kid kid = { .node = chain_at(s, 0)->node,
                    .chains = g_array_new(FALSE, FALSE, sizeof(guint32)) };
        g_autoptr(GPtrArray) replicas = g_ptr_array_new();

        g_array_append_val(kid.chains, root);
        g_ptr_array_add(replicas, &kid);
        add_slot(s, NO_PARENT, replicas);
        g_array_unref(kid.chains);
        for (guint32 slot = 0; slot < s->slots->len; slot++)
                find_below(s, slot, nodes);
}

guint32 place_slots_size(const PlaceSlots *s)
{
        return s->slots->len;
}

const PlaceSlot *place_slots_at(const PlaceSlots *s, guint32 slot)
{
        return &g_array_index(s->slots, PlaceSlot, slot);
}

guint32 place_slots_slot(const PlaceSlots *s, guint32 chain)
{
        return chain_at(s, chain)->slot;
}

guint32 place_slots_cell(const PlaceSlots *s, guint32 chain)
{
        return chain_at(s, chain)->cell;
}

guint32 place_slots_chain_parent(const PlaceSlots *s, guint32 chain)
{
        return chain_at(s, chain)->parent;
}

NodeId place_slots_chain_node(const PlaceSlots *s, guint32 chain)
{
        return chain_at(s, chain)->node;
}
