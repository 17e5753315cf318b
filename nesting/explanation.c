/* SPDX-License-Identifier: BSD-2-Clause */
#include "nesting/explanation.h"

#include "base/each.h"

#include <string.h>

static void explanation_clear(gpointer explanation)
{
        g_array_free(((Explanation *)explanation)->parents, TRUE);
}

GArray *explanations_new(void)
{
        GArray *explanations = g_array_new(FALSE, FALSE, sizeof(Explanation));

        g_array_set_clear_func(explanations, explanation_clear);
        return explanations;
}

void explanations_add(GArray *explanations, guint32 call)
{
        Explanation e = { call, g_array_new(FALSE, FALSE, sizeof(PossibleParent)) };

        g_array_append_val(explanations, e);
}

static PossibleParent *find_possible_parent(const Explanation *e, guint32 call)
{
        EACH (PossibleParent, p, e->parents)
                if (p->call == call)
                        return p;
        return NULL;
}

void explanation_weigh(Explanation *e, const CandidateWeights *w)
{
        PossibleParent *p = find_possible_parent(e, w->parent);
        PossibleParent left_out = { .call = w->parent, .penalty = 1, .left_out = TRUE };

        if (w->left_out) {
                g_array_append_val(e->parents, left_out);
        } else if (p) {
                p->weighed = TRUE;
                memcpy(p->weight, w->weight, sizeof p->weight);
        }
}

void explanation_compare(Explanation *e, guint32 parent)
{
        const PossibleParent *with = find_possible_parent(e, parent);
        float base[WEIGHTS_MOST];

        if (!with || !with->weighed)
                return;
        memcpy(base, with->weight, sizeof base);
        for (guint k = 0; k < e->parents->len; k++)
                for (guint i = 0; i < WEIGHTS_MOST; i++)
                        g_array_index(e->parents, PossibleParent, k).weight[i] -= base[i];
}

Explanation *explanations_lookup(const GArray *explanations, guint32 call)
{
        EACH (Explanation, e, explanations)
                if (e->call == call)
                        return e;
        return NULL;
}
