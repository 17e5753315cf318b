/* SPDX-License-Identifier: BSD-2-Clause */
#include "analysis/trend/trend-own.h"

#include <math.h>
#include <string.h>

#include "base/compare.h"
#include "base/each.h"

enum { MOST_ROUNDS = 200 };

/* A slot connects the stores in which it has this share of the calls of its node. */
#define CONNECTING_SHARE 0.05

typedef struct {
        guint point;
        double calls, sum, square;
} Cell;

struct OwnSlot {
        NodeId node;
        GArray *cells; /* of Cell */
        double mean, variance;
};

struct OwnTimes {
        GPtrArray *slots;
        GHashTable *by_key;
};

static void slot_free(gpointer data)
{
        OwnSlot *s = data;

        g_array_free(s->cells, TRUE);
        g_free(s);
}

OwnTimes *own_times_new(void)
{
        OwnTimes *own = g_new0(OwnTimes, 1);

        own->slots = g_ptr_array_new_with_free_func(slot_free);
        own->by_key = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
        return own;
}

void own_times_free(OwnTimes *own)
{
        if (!own)
                return;
        g_ptr_array_unref(own->slots);
        g_hash_table_unref(own->by_key);
        g_free(own);
}

OwnSlot *own_times_slot(OwnTimes *own, NodeId node, const char *label, GArray *callees)
{
        g_autoptr(GString) key = g_string_new(NULL);
        OwnSlot *slot;

        g_array_sort(callees, compare_uint32s);
        g_string_append_printf(key, "%u", node);
        for (guint i = 0; i < callees->len; i++)
                g_string_append_printf(key, ",%u", g_array_index(callees, NodeId, i));
        g_string_append_printf(key, " %s", label ? label : "");
        if ((slot = g_hash_table_lookup(own->by_key, key->str)))
                return slot;
        slot = g_new0(OwnSlot, 1);
        slot->node = node;
        slot->cells = g_array_new(FALSE, FALSE, sizeof(Cell));
        g_ptr_array_add(own->slots, slot);
        g_hash_table_insert(own->by_key, g_strdup(key->str), slot);
        return slot;
}

static void add_cell(GArray *cells, const Cell *c)
{
        Cell *last = cells->len ? &g_array_index(cells, Cell, cells->len - 1) : NULL;

        if (!last || last->point != c->point) {
                g_array_append_val(cells, *c);
                return;
        }
        last->calls += c->calls;
        last->sum += c->sum;
        last->square += c->square;
}

void own_slot_add(OwnSlot *slot, guint store, guint64 calls, double sum, double square)
{
        Cell c = { store, (double)calls, sum, square };

        if (calls > 0)
                add_cell(slot->cells, &c);
}

COMPARISON(own_times_compare_cells, Cell, COMPARE(a->point, b->point))

void own_times_move(OwnTimes *own, const guint *point_of)
{
        EACH_OF (OwnSlot, s, own->slots) {
                GArray *moved = g_array_new(FALSE, FALSE, sizeof(Cell));

                EACH (Cell, c, s->cells)
                        c->point = point_of[c->point];
                g_array_sort(s->cells, own_times_compare_cells);
                for (guint k = 0; k < s->cells->len; k++)
                        add_cell(moved, &g_array_index(s->cells, Cell, k));
                g_array_free(s->cells, TRUE);
                s->cells = moved;
        }
}

typedef struct {
        NodeId node;
        double own;
} NodeOwn;

COMPARISON(own_times_compare_own, NodeOwn, COMPARE(b->own, a->own) ?: COMPARE(a->node, b->node))

GArray *own_times_nodes(const OwnTimes *own)
{
        g_autoptr(GArray) nodes = g_array_new(FALSE, TRUE, sizeof(NodeOwn));
        GArray *result = g_array_new(FALSE, FALSE, sizeof(NodeId));

        EACH_OF (const OwnSlot, s, own->slots) {
                if (nodes->len <= s->node)
                        g_array_set_size(nodes, s->node + 1);
                g_array_index(nodes, NodeOwn, s->node).node = s->node;
                for (guint k = 0; k < s->cells->len; k++)
                        g_array_index(nodes, NodeOwn, s->node).own +=
                                g_array_index(s->cells, Cell, k).sum;
        }
        g_array_sort(nodes, own_times_compare_own);
        for (guint i = 0; i < nodes->len; i++)
                if (g_array_index(nodes, NodeOwn, i).own > 0)
                        g_array_append_val(result, g_array_index(nodes, NodeOwn, i).node);
        return result;
}

/* --- adjusting ------------------------------------------------------------- */

static guint own_times_find_root(guint *parent, guint i)
{
        while (parent[i] != i)
                i = parent[i] = parent[parent[i]];
        return i;
}

/* Whether slots that are frequent in both lead from each point with calls to each other. */
static gboolean connect_points(const GPtrArray *slots, const OwnTime *times, guint n)
{
        g_autofree guint *parent = g_new(guint, n);
        gint64 root = -1;

        for (guint i = 0; i < n; i++)
                parent[i] = i;
        for (guint k = 0; k < slots->len; k++) {
                const GArray *cells = ((const OwnSlot *)g_ptr_array_index(slots, k))->cells;
                gint64 before = -1;

                EACH (const Cell, c, cells) {
                        if (c->calls < CONNECTING_SHARE * (double)times[c->point].calls)
                                continue;
                        if (before >= 0)
                                parent[own_times_find_root(parent, c->point)] =
                                        own_times_find_root(parent, (guint)before);
                        before = c->point;
                }
        }
        for (guint i = 0; i < n; i++) {
                if (!times[i].calls)
                        continue;
                if (root >= 0 && root != own_times_find_root(parent, i))
                        return FALSE;
                root = own_times_find_root(parent, i);
        }
        return TRUE;
}

/* All slots as one: a mean of all calls. */
static OwnSlot *join_slots(const GPtrArray *slots)
{
        OwnSlot *all = g_new0(OwnSlot, 1);
        g_autoptr(GArray) cells = g_array_new(FALSE, FALSE, sizeof(Cell));

        all->cells = g_array_new(FALSE, FALSE, sizeof(Cell));
        EACH_OF (const OwnSlot, s, slots)
                g_array_append_vals(cells, s->cells->data, s->cells->len);
        g_array_sort(cells, own_times_compare_cells);
        for (guint i = 0; i < cells->len; i++)
                add_cell(all->cells, &g_array_index(cells, Cell, i));
        return all;
}

/* The mean of a slot where factor is 1, and the variance of its calls about their mean in each
 * point. */
static void measure_slot(OwnSlot *s, const double *factor)
{
        double sum = 0, calls = 0, squares = 0, freedom = 0;

        EACH (const Cell, c, s->cells) {
                sum += c->sum;
                calls += c->calls * factor[c->point];
                squares += MAX(0, c->square - c->sum * c->sum / c->calls);
                freedom += c->calls - 1;
        }
        s->mean = calls > 0 ? sum / calls : 0;
        s->variance = freedom > 0 ? squares / freedom : s->mean * s->mean;
}

/* Each own time is the mean of its slot times the factor of its point: both by turns, until they
 * stay (iterative proportional fitting). */
static void fit_factors(const GPtrArray *slots, double *factor, guint n)
{
        g_autofree double *sum = g_new(double, n), *expected = g_new(double, n);

        for (guint i = 0; i < n; i++)
                factor[i] = 1;
        for (guint round = 0; round < MOST_ROUNDS; round++) {
                double moved = 0;

                memset(sum, 0, n * sizeof *sum);
                memset(expected, 0, n * sizeof *expected);
                EACH_OF (OwnSlot, s, slots) {
                        measure_slot(s, factor);
                        EACH (const Cell, c, s->cells) {
                                sum[c->point] += c->sum;
                                expected[c->point] += c->calls * s->mean;
                        }
                }
                for (guint i = 0; i < n; i++) {
                        double next = expected[i] > 0 ? sum[i] / expected[i] : 1;

                        moved = MAX(moved, fabs(next - factor[i]));
                        factor[i] = next;
                }
                if (moved < 1e-10)
                        break;
        }
}

static void adjust(const GPtrArray *slots, OwnTime *times, guint n)
{
        g_autofree double *factor = g_new(double, n);
        g_autofree double *expected = g_new0(double, n), *variance = g_new0(double, n);
        double sum = 0, calls = 0;

        fit_factors(slots, factor, n);
        EACH_OF (const OwnSlot, s, slots) {
                EACH (const Cell, c, s->cells) {
                        expected[c->point] += c->calls * s->mean;
                        variance[c->point] += c->calls * s->variance;
                }
        }
        for (guint i = 0; i < n; i++) {
                sum += times[i].mean * (double)times[i].calls;
                calls += factor[i] * (double)times[i].calls;
        }
        for (guint i = 0; i < n; i++) {
                if (!times[i].calls)
                        continue;
                times[i].adjusted = calls > 0 ? factor[i] * sum / calls : 0;
                times[i].variance = expected[i] > 0 ? variance[i] / expected[i] / expected[i] : 1;
        }
}

OwnTime *own_times_of(const OwnTimes *own, NodeId node, guint n)
{
        g_autoptr(GPtrArray) slots = g_ptr_array_new();
        OwnTime *times = g_new0(OwnTime, n);

        EACH_OF (OwnSlot, s, own->slots) {
                if (s->node != node)
                        continue;
                g_ptr_array_add(slots, s);
                EACH (const Cell, c, s->cells) {
                        times[c->point].calls += (guint64)c->calls;
                        times[c->point].mean += c->sum;
                }
        }
        for (guint i = 0; i < n; i++)
                if (times[i].calls)
                        times[i].mean /= (double)times[i].calls;
        if (!connect_points(slots, times, n)) {
                OwnSlot *all = join_slots(slots);

                g_ptr_array_set_size(slots, 0);
                g_ptr_array_add(slots, all);
                adjust(slots, times, n);
                slot_free(all);
        } else {
                adjust(slots, times, n);
        }
        return times;
}
