/* SPDX-License-Identifier: BSD-2-Clause */
#include "calls/forwarded.h"
#include "base/hash.h"

#include <stdlib.h>

#include "base/compare.h"

enum { MOST_CALLEES = 16 };

/* By caller, then the most calls without a return first, then as they are. */
COMPARISON_OF_POINTERS(compare_lone, Edge,
                       COMPARE(a->caller, b->caller) ?:
                       COMPARE(b->lone_calls, a->lone_calls) ?:
                       COMPARE(a, b))

COMPARISON(compare_answers, Forwarded,
           COMPARE(b->answers, a->answers) ?:
           COMPARE(a->caller, b->caller) ?:
           COMPARE(a->answering, b->answering))

/* The first of the edges of a caller. */
static guint first_of(const Edge *const *edges, guint n, NodeId caller)
{
        guint low = 0, high = n;

        while (low < high) {
                guint middle = low + (high - low) / 2;

                if (edges[middle]->caller < caller)
                        low = middle + 1;
                else
                        high = middle;
        }
        return low;
}

GArray *forwarded_find(const CallMatcher *matcher)
{
        GArray *found = g_array_new(FALSE, FALSE, sizeof(Forwarded));
        guint n;
        const Edge *edges = call_matcher_edges(matcher, &n);
        g_autofree const Edge **by_caller = g_new(const Edge *, n);
        g_autoptr(GHashTable) sends = g_hash_table_new(hash_int64, g_int64_equal);
        g_autofree gint64 *keys = g_new(gint64, n);

        for (guint i = 0; i < n; i++) {
                by_caller[i] = &edges[i];
                keys[i] = (gint64)edges[i].caller << 32 | edges[i].callee;
                g_hash_table_add(sends, &keys[i]);
        }
        if (n > 0)
                qsort(by_caller, n, sizeof *by_caller, compare_lone);
        for (guint i = 0; i < n; i++) {
                const Edge *answers = &edges[i];
                guint first = first_of(by_caller, n, answers->caller);

                if (!answers->lone_returns || answers->pairs || answers->lone_calls)
                        continue;
                for (guint k = first; k < MIN(n, first + MOST_CALLEES); k++) {
                        const Edge *calls = by_caller[k];
                        gint64 on = (gint64)calls->callee << 32 | answers->callee;
                        Forwarded f = { answers->caller, calls->callee, answers->callee,
                                        answers->lone_returns };

                        if (calls->caller != answers->caller || !calls->lone_calls)
                                break;
                        if (!g_hash_table_contains(sends, &on))
                                continue;
                        g_array_append_val(found, f);
                        break;
                }
        }
        g_array_sort(found, compare_answers);
        return found;
}
