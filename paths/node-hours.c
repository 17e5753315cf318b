/* SPDX-License-Identifier: BSD-2-Clause */
#include "paths/node-hours.h"

#include "base/compare.h"
#include "base/hash.h"

enum { SECONDS = 3600 };

struct NodeHours {
        GHashTable *known; /* of NodeHour, by node and hour */
        GPtrArray *latest; /* by node: the one that was added to last */
};

static guint hour_hash(gconstpointer p)
{
        const NodeHour *h = p;
        const guint64 words[] = { (guint64)h->hour, h->node };

        return (guint)(hash_words(words, 2) >> 32);
}

static gboolean hour_equal(gconstpointer p, gconstpointer q)
{
        const NodeHour *a = p, *b = q;

        return a->hour == b->hour && a->node == b->node;
}

static void hour_free(gpointer p)
{
        NodeHour *h = p;

        histogram_clear(&h->latency);
        g_free(h);
}

NodeHours *node_hours_new(void)
{
        NodeHours *hours = g_new(NodeHours, 1);

        hours->known = g_hash_table_new_full(hour_hash, hour_equal, hour_free, NULL);
        hours->latest = g_ptr_array_new();
        return hours;
}

void node_hours_free(NodeHours *hours)
{
        if (!hours)
                return;
        g_hash_table_unref(hours->known);
        g_ptr_array_unref(hours->latest);
        g_free(hours);
}

/* At or before time, also where that is before 1970. */
static gint64 hour_of(gint64 time)
{
        const gint64 hour = SECONDS * G_GINT64_CONSTANT(1000000000);
        gint64 past = time % hour;

        return time - past - (past < 0 ? hour : 0);
}

static NodeHour *node_hours_find(NodeHours *hours, NodeId node, gint64 hour)
{
        const NodeHour key = { .hour = hour, .node = node };
        NodeHour *found = g_hash_table_lookup(hours->known, &key);

        if (!found) {
                found = g_new0(NodeHour, 1);
                *found = key;
                g_hash_table_add(hours->known, found);
        }
        return found;
}

void node_hours_add(NodeHours *hours, const PathCall *call)
{
        gint64 hour = hour_of(call->enter);
        NodeHour *h;

        if (call->callee >= hours->latest->len)
                g_ptr_array_set_size(hours->latest, (gint)call->callee + 1);
        h = hours->latest->pdata[call->callee];
        if (!h || h->hour != hour)
                h = hours->latest->pdata[call->callee] = node_hours_find(hours, call->callee, hour);
        histogram_add(&h->latency, call->end - call->start);
        h->own += call->own;
}

COMPARISON_OF_POINTERS(compare_hours, NodeHour,
                       COMPARE(a->node, b->node) ?: COMPARE(a->hour, b->hour))

GPtrArray *node_hours_list(const NodeHours *hours)
{
        GPtrArray *list = g_ptr_array_new();
        GHashTableIter iter;
        gpointer hour;

        g_hash_table_iter_init(&iter, hours->known);
        while (g_hash_table_iter_next(&iter, &hour, NULL))
                g_ptr_array_add(list, hour);
        g_ptr_array_sort(list, compare_hours);
        return list;
}

gint64 node_hour_own_mean(const NodeHour *h)
{
        gint128 n = (gint128)h->latency.count, half = h->own < 0 ? -n / 2 : n / 2;

        return n ? (gint64)((h->own + half) / n) : 0;
}
