/* SPDX-License-Identifier: BSD-2-Clause */
#include "nesting/node-habits.h"

#include <string.h>

enum { LEARN_AGAIN = 256 }; /* parents that came since: it costs as much as to find some dozens */

/* --- kinds of calls -------------------------------------------------------- */

/* Fewer calls than that share of a node's are of no kind of their own for their label. */
enum { RARE_SHARE = 100 };

#define NO_KIND G_MAXUINT32

/* What calls have at their other end. */
typedef struct {
        gint64 key; /* node << 32 | label */
        guint64 n_calls;
        guint32 kind; /* or NO_KIND */
} OtherEnd;

void call_kinds_init(CallKinds *k)
{
        *k = (CallKinds){ .seen = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free,
                                                        NULL) };
}

void call_kinds_clear(CallKinds *k)
{
        g_hash_table_unref(k->seen);
}

static OtherEnd *get_other_end(CallKinds *k, guint32 node, guint32 label)
{
        OtherEnd new = { (gint64)node << 32 | label, 0, NO_KIND };
        OtherEnd *end = g_hash_table_lookup(k->seen, &new.key);

        if (!end) {
                end = g_memdup2(&new, sizeof new);
                g_hash_table_add(k->seen, end);
        }
        return end;
}

void call_kinds_find(CallKinds *k, guint32 *kind, const guint16 *label, guint32 n)
{
        g_autofree OtherEnd **ends = g_new(OtherEnd *, n);

        for (guint32 i = 0; i < n; i++) {
                ends[i] = get_other_end(k, kind[i], label[i]);
                ends[i]->n_calls++;
        }
        k->n_calls += n;
        for (guint32 i = 0; i < n; i++) {
                OtherEnd *end = ends[i];

                if (end->kind == NO_KIND && end->n_calls < k->n_calls / RARE_SHARE)
                        end = get_other_end(k, kind[i], 0);
                if (end->kind == NO_KIND)
                        end->kind = k->n++;
                kind[i] = end->kind;
        }
}

/* --- habits ------------------------------------------------------------------ */

void node_habits_init(NodeHabits *h)
{
        memset(h, 0, sizeof *h);
        call_kinds_init(&h->in);
        call_kinds_init(&h->out);
}

static void clear_walks(NodeHabits *h)
{
        if (h->n_callees == 0)
                return;
        parent_walk_clear(&h->walk);
        delay_densities_clear(&h->bounds);
        g_free(h->enter_row);
        g_free(h->reply_row);
        g_free(h->whole);
        g_clear_pointer(&h->limits, g_free);
        g_clear_pointer(&h->first, g_free);
        serving_order_clear(&h->order);
}

void node_habits_start(NodeHabits *h, guint32 more_callees)
{
        clear_walks(h);
        h->n_parents = h->n_new = 0;
        h->n_callees = h->n_whole = MIN(h->out.n + more_callees, WALK_MAX_CALLEES);
        parent_walk_init(&h->walk, h->in.n, h->n_callees);
        delay_densities_init(&h->bounds);
        h->enter_row = g_new(guint32, h->n_callees);
        h->reply_row = g_new(guint32, h->n_callees);
        h->whole = g_new(guint32, h->n_callees);
        for (guint32 i = 0; i < h->n_callees; i++) {
                h->whole[i] = i;
                h->enter_row[i] = delay_densities_add_row(&h->bounds, 0);
                h->reply_row[i] = delay_densities_add_row(&h->bounds, 0);
        }
        serving_order_init(&h->order, h->n_callees > MOST_ORDERED
                                              ? 0
                                              : (2 * h->n_callees + 1) * (h->n_callees + 1));
}

void node_habits_tell_apart(NodeHabits *h, DurationLimits *limits)
{
        g_free(h->limits);
        h->limits = limits;
        h->first = g_renew(guint32, h->first, h->n_whole);
        h->n_callees = h->n_whole;
        for (guint32 i = 0; i < h->n_whole; i++) {
                h->first[i] = h->n_callees;
                h->n_callees += limits[i].n;
        }
        h->whole = g_renew(guint32, h->whole, h->n_callees);
        for (guint32 i = 0; i < h->n_whole; i++)
                for (guint32 k = 0; k < limits[i].n; k++)
                        h->whole[h->first[i] + k] = i;
        h->enter_row = g_renew(guint32, h->enter_row, h->n_callees);
        h->reply_row = g_renew(guint32, h->reply_row, h->n_callees);
        for (guint32 i = 0; i < h->n_callees; i++) {
                guint32 whole = h->whole[i];

                /* They lean on those of the whole callee, which have the first rows. */
                h->enter_row[i] = 1 + 2 * whole;
                h->reply_row[i] = 2 + 2 * whole;
                if (limits[whole].n == 0)
                        continue;
                h->enter_row[i] = delay_densities_add_row(&h->bounds, h->enter_row[i]);
                h->reply_row[i] = delay_densities_add_row(&h->bounds, h->reply_row[i]);
        }
        parent_walk_clear(&h->walk);
        parent_walk_init(&h->walk, h->in.n, h->n_callees);
}

gboolean node_habits_fit(NodeHabits *h)
{
        if (MIN(h->out.n, WALK_MAX_CALLEES) > h->n_whole)
                return FALSE;
        parent_walk_add_callers(&h->walk, h->in.n);
        return TRUE;
}

gboolean node_habits_are_stale(const NodeHabits *h, guint32 n)
{
        return h->n_new + n >= MIN(h->n_parents / 8, LEARN_AGAIN);
}

void node_habits_keep(NodeHabits *h, guint32 n, gboolean learned)
{
        gboolean half = h->n_parents + n >= 2 * LEARN_FROM;

        h->n_parents = (h->n_parents + n) >> half;
        h->n_new = learned ? 0 : h->n_new + n;
        parent_walk_keep(&h->walk, half);
        delay_densities_keep(&h->bounds, half);
        serving_order_keep(&h->order, half);
}

void node_habits_clear(NodeHabits *h)
{
        clear_walks(h);
        call_kinds_clear(&h->in);
        call_kinds_clear(&h->out);
        memset(h, 0, sizeof *h);
}
