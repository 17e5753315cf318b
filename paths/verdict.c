/* SPDX-License-Identifier: BSD-2-Clause */
#include "paths/verdict.h"

Verdict *verdict_new(char *judgement, gboolean fit, GArray *doubts)
{
        Verdict *v = g_new0(Verdict, 1);

        v->judgement = judgement;
        v->fit = fit;
        v->doubts = doubts;
        v->folded = NO_NODE;
        return v;
}

void verdict_free(Verdict *v)
{
        if (!v)
                return;
        g_free(v->judgement);
        g_array_free(v->doubts, TRUE);
        g_free(v);
}

/* Of a linear path an edge may as well be the way back of a call. */
static const Doubt *doubt_between(const PathSet *set, const GArray *doubts, NodeId from, NodeId to)
{
        const Doubt *there = doubts_find(doubts, from, to), *back;

        if (!path_set_graph(set))
                return there;
        back = doubts_find(doubts, to, from);
        return !there || (back && back->count > there->count) ? back : there;
}

int path_set_find_doubt(const PathSet *set, const PathPattern *p)
{
        const Verdict *v = path_set_summary(set)->verdict;
        const Doubt *worst = NULL;

        for (guint32 i = 0; v && v->doubts->len > 0 && i < p->n_nodes; i++) {
                NodeId from = i > 0 ? p->nodes[p->nodes[i].parent].node : p->client;
                const Doubt *d;

                if (from == v->folded)
                        from = NO_NODE;
                d = doubt_between(set, v->doubts, from, p->nodes[i].node);
                if (d && (!worst || d < worst))
                        worst = d;
        }
        return worst ? (int)(worst - (const Doubt *)v->doubts->data) : -1;
}
