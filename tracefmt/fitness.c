/* SPDX-License-Identifier: BSD-2-Clause */
#include "tracefmt/fitness.h"

#include <string.h>

#include "base/compare.h"
#include "base/each.h"

#define N "%" G_GUINT64_FORMAT

/* One-way messages are no fault. A write to three servers that agree by raft is one call and six
 * one-way messages, and a broker may send nothing else. But if no protocol says so, they are calls
 * of an unknown direction, and then they are nearly all messages of the trace. */
enum { ONE_WAY_A_CALL = 10 };

/* Why nesting will not find much; NULL where it will. */
static char *against_nesting(const Fitness *f)
{
        if (f->calls == 0)
                return g_strdup("there are no calls, only one-way messages");
        if (f->returns == 0 && f->one_sided)
                return g_strdup("no call has a return, since only one direction of every "
                                "connection was captured");
        if (f->returns == 0)
                return g_strdup("no call has a return");
        if (f->returns < f->calls / 2)
                return g_strdup_printf(N " of " N " calls have no return", f->calls - f->returns,
                                       f->calls);
        if (f->one_way / ONE_WAY_A_CALL > f->calls)
                return g_strdup_printf("there are many more one-way messages (" N ") than calls (" N
                                       ")",
                                       f->one_way, f->calls);
        if (f->lost > f->packets / 10)
                return g_strdup_printf("more than one packet in ten was lost (" N
                                       " dropped or in holes)",
                                       f->lost);
        return NULL;
}

/* --- doubts ---------------------------------------------------------------- */

static gboolean is_of(const Doubt *d, const EdgeCalls *edge)
{
        return edge->calls > 0 && d->callee == edge->callee &&
               (d->caller == edge->caller || d->caller == NO_NODE);
}

/* How many of an edge's calls are doubtful. Doubts of a longer trace than this count as their
 * share. */
static double doubtful_calls(const GArray *doubts, const EdgeCalls *edge)
{
        double share = 0;

        EACH (const Doubt, d, doubts)
                if (is_of(d, edge) && doubt_class(d->reason) == DOUBT_OF_CALLS)
                        share += (double)d->count / (double)d->of;
        return MIN(share, 1) * (double)edge->calls;
}

/* The worst edge whose doubt counts, remarks aside; NULL where there is none. n: how many. */
static const Doubt *find_worst(const GArray *doubts, guint *n)
{
        const Doubt *worst = NULL;

        *n = 0;
        EACH (const Doubt, d, doubts) {
                DoubtClass class = doubt_class(d->reason);
                if (class == DOUBT_REMARK)
                        continue;
                ++*n;
                if (!worst || class < doubt_class(worst->reason) ||
                    (class == doubt_class(worst->reason) && d->count > worst->count))
                        worst = d;
        }
        return worst;
}

/* More than a tenth of the calls are doubtful: the sentence; else NULL. */
static char *against_all(const GArray *doubts, const EdgeCalls *edges, guint n,
                         const NodeTable *nodes)
{
        double doubtful = 0, calls = 0;
        guint n_worst;

        for (guint i = 0; i < n; i++) {
                doubtful += doubtful_calls(doubts, &edges[i]);
                calls += (double)edges[i].calls;
        }
        if (10 * doubtful <= calls)
                return NULL;
        g_autofree char *worst = doubt_to_text(find_worst(doubts, &n_worst), nodes, FALSE);
        return g_strdup_printf("not fit for nesting or convolution: %.0f of %.0f calls are "
                               "doubtful; %s",
                               doubtful, calls, worst);
}

/* ", but for EDGE: ...", or nothing. */
static char *but_for(const GArray *doubts, const NodeTable *nodes)
{
        guint n = 0;
        const Doubt *worst = doubts ? find_worst(doubts, &n) : NULL;

        if (!worst)
                return g_strdup("");
        g_autofree char *text = doubt_to_text(worst, nodes, FALSE);
        return n > 1 ? g_strdup_printf(", but for %s; and for %u more", text, n - 1)
                     : g_strconcat(", but for ", text, NULL);
}

/* --- calls that nesting knows less of ------------------------------------------ */

/* "; 12 of 100 calls have no end: ...", or nothing. */
static char *without_end(const Fitness *f)
{
        if (f->calls - f->returns <= f->calls / 100)
                return g_strdup("");
        return g_strdup_printf("; " N " of " N " calls have no end: capture until they return, "
                               "in both directions and without loss",
                               f->calls - f->returns, f->calls);
}

static char *late(const Fitness *f)
{
        if (f->late <= f->calls / 10)
                return g_strdup("");
        return g_strdup_printf("; " N " of " N " calls outlast the call that they were made for: "
                               "capture with --ids to be surer of their parents",
                               f->late, f->calls);
}

/* --- from outside ---------------------------------------------------------- */

COMPARISON(compare_edges, EdgeCalls, COMPARE(a->caller, b->caller) ?: COMPARE(a->callee, b->callee))

void edge_calls_merge(GArray *edges)
{
        guint kept = 0;

        g_array_sort(edges, compare_edges);
        EACH (const EdgeCalls, edge, edges) {
                EdgeCalls *last = &g_array_index(edges, EdgeCalls, kept ? kept - 1 : 0);

                if (kept && !compare_edges(last, edge))
                        last->calls += edge->calls;
                else
                        g_array_index(edges, EdgeCalls, kept++) = *edge;
        }
        g_array_set_size(edges, kept);
}

void doubts_keep_called(GArray *doubts, const EdgeCalls *edges, guint n)
{
        for (guint i = doubts->len; i-- > 0;) {
                const Doubt *d = &g_array_index(doubts, Doubt, i);
                guint k = 0;

                while (k < n && !is_of(d, &edges[k]))
                        k++;
                if (k == n && doubt_class(d->reason) != DOUBT_OF_PAYLOAD)
                        g_array_remove_index(doubts, i);
        }
}

void fitness_add_facts(Fitness *f, char *const *facts, guint n)
{
        const struct {
                const char *key;
                guint64 *sum;
        } counters[] = { { "packets: ", &f->packets },
                         { "packets dropped by the kernel: ", &f->lost },
                         { "packets dropped by the interface: ", &f->lost },
                         { "holes skipped: ", &f->lost } };

        for (guint i = 0; i < n; i++)
                for (guint k = 0; k < G_N_ELEMENTS(counters); k++)
                        if (g_str_has_prefix(facts[i], counters[k].key))
                                *counters[k].sum += g_ascii_strtoull(
                                        facts[i] + strlen(counters[k].key), NULL, 10);
}

char *fitness_judge(const Fitness *f, const GArray *doubts, const EdgeCalls *edges, guint n_edges,
                    const NodeTable *nodes)
{
        g_autofree char *reason = NULL, *doubtful = NULL, *but = NULL, *open = NULL, *after = NULL;

        if (f->calls == 0 && f->one_way == 0)
                return g_strdup("not fit for nesting or convolution: there are no calls and no "
                                "one-way messages");
        if (f->packets && f->lost > f->packets)
                return g_strdup_printf("not fit for nesting or convolution: more packets were "
                                       "lost (" N ") than captured (" N ")",
                                       f->lost, f->packets);
        doubtful = doubts ? against_all(doubts, edges, n_edges, nodes) : NULL;
        if (doubtful)
                return g_steal_pointer(&doubtful);
        but = but_for(doubts, nodes);
        reason = against_nesting(f);
        if (reason)
                return g_strconcat("fit for convolution only: ", reason, but, NULL);
        open = without_end(f);
        after = late(f);
        if (f->too_early > f->both_ends / 100)
                return g_strdup_printf("fit for nesting and convolution, each node on its own "
                                       "clock; but the clocks are apart, as " N " of " N
                                       " calls arrived before they were sent, or back%s%s%s",
                                       f->too_early, f->both_ends, but, open, after);
        return g_strconcat("fit for nesting and convolution", but, open, after, NULL);
}

gboolean judgement_is_fit_for_nesting(const char *judgement)
{
        return g_str_has_prefix(judgement, "fit for nesting");
}

gboolean judgement_is_fit_for_convolution(const char *judgement)
{
        return g_str_has_prefix(judgement, "fit ");
}
