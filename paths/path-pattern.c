/* SPDX-License-Identifier: BSD-2-Clause */
#include "paths/path-pattern.h"

void pattern_node_clear(PatternNode *node)
{
        for (NodeTime i = 0; i < N_NODE_TIMES; i++)
                histogram_clear(&node->times[i]);
        for (guint i = 0; node->causes && i < N_WAY_CAUSES; i++)
                histogram_clear(&node->causes[i]);
        g_clear_pointer(&node->causes, g_free);
}

Histogram *pattern_node_cause(PatternNode *node, WayCause cause)
{
        if (!node->causes)
                node->causes = g_new0(Histogram, N_WAY_CAUSES);
        return &node->causes[cause];
}

void pattern_node_merge(PatternNode *into, const PatternNode *from)
{
        for (NodeTime i = 0; i < N_NODE_TIMES; i++)
                histogram_merge(&into->times[i], &from->times[i]);
        into->faults.errors += from->faults.errors;
        into->faults.own += from->faults.own;
        into->faults.culprits += from->faults.culprits;
        into->faults.retries += from->faults.retries;
        into->faults.lost += from->faults.lost;
        if (into->faults.outcome == OUTCOME_OK)
                into->faults.outcome = from->faults.outcome;
        for (guint i = 0; from->causes && i < N_WAY_CAUSES; i++)
                if (from->causes[i].count > 0)
                        histogram_merge(pattern_node_cause(into, i), &from->causes[i]);
}

void path_pattern_clear(PathPattern *p)
{
        for (guint32 i = 0; p->nodes && i < p->n_nodes; i++)
                pattern_node_clear(&p->nodes[i]);
        histogram_clear(&p->completion);
        histogram_clear(&p->good);
        g_free(p->nodes);
        g_free(p->signature);
}

const Histogram *path_pattern_good(const PathPattern *p)
{
        return p->failed > 0 ? &p->good : &p->nodes[0].latency;
}

gint64 pattern_node_good_own(const PatternNode *node)
{
        guint64 good = node->own.count - MIN(node->faults.errors, node->own.count);

        return good > 0 ? (gint64)((node->own.sum - node->faults.own) / (gint128)good) : 0;
}

gint128 path_pattern_sum(const PathPattern *pattern, NodeTime time)
{
        gint128 sum = 0;

        for (guint32 i = 0; i < pattern->n_nodes; i++)
                sum += pattern->nodes[i].times[time].sum;
        return sum;
}

gint128 path_pattern_total(const PathPattern *pattern)
{
        return path_pattern_sum(pattern, NODE_NETWORK) + path_pattern_sum(pattern, NODE_QUEUED) +
               path_pattern_sum(pattern, NODE_OWN);
}

const char *path_continues_name(guint continues)
{
        static const char *const names[] = { NULL, "goes on", "queued", "late", "no answer" };

        return names[continues];
}

char path_continues_mark(guint continues)
{
        static const char marks[] = { 0, 0, 0, '*', '!' };

        return marks[continues];
}

PatternNode *path_pattern_append(PathPattern *pattern, NodeId node, guint32 parent)
{
        guint32 n = pattern->n_nodes++;

        if ((n & (n - 1)) == 0) /* full: there is room for the next power of two */
                pattern->nodes = g_renew(PatternNode, pattern->nodes, n ? n * (gsize)2 : 1);
        pattern->nodes[n] = (PatternNode){
                .node = node,
                .parent = parent,
                .depth = parent == NO_PARENT ? 0 : pattern->nodes[parent].depth + 1,
        };
        return &pattern->nodes[n];
}

const Histogram *path_pattern_completion(const PathPattern *pattern)
{
        return pattern->goes_on ? &pattern->completion : &pattern->nodes[0].latency;
}

guint32 path_pattern_slowest(const PathPattern *pattern)
{
        guint32 slowest = 0;

        for (guint32 i = 1; i < pattern->n_nodes; i++)
                if (pattern->nodes[i].own.sum > pattern->nodes[slowest].own.sum)
                        slowest = i;
        return slowest;
}

static guint64 fnv(guint64 hash, const char *text)
{
        for (const guchar *c = (const guchar *)text; *c; c++)
                hash = (hash ^ *c) * G_GUINT64_CONSTANT(0x100000001b3);
        return hash;
}

guint64 path_pattern_id(const char *label, const char *signature)
{
        guint64 hash = G_GUINT64_CONSTANT(0xcbf29ce484222325);

        if (label)
                hash = fnv(fnv(hash, label), " ");
        return fnv(hash, signature);
}
