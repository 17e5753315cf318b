/* SPDX-License-Identifier: BSD-2-Clause */
#include "nesting/explanation.h"

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

Explanation *explanations_lookup(const GArray *explanations, guint32 call)
{
        for (guint i = 0; i < explanations->len; i++) {
                Explanation *e = &g_array_index(explanations, Explanation, i);

                if (e->call == call)
                        return e;
        }
        return NULL;
}
