/* SPDX-License-Identifier: BSD-2-Clause */
#include "inference/evidence/lease-spans.h"

#include "base/exact-log.h"
#include "base/fill.h"
#include "inference/model/tuning.h"

/* Finds by call the next one of its lease, or NO_PARENT. */
static guint32 *find_next(const Joint *j, const LeaseSequence *s, const guint32 *callee,
                          const Leased *leased)
{
        guint32 n_out = j->problem->node->n_out;
        guint32 *next = g_new(guint32, n_out);

        fill(next, 0xff, n_out * sizeof *next);
        for (guint32 i = 0; i < n_out; i++)
                if (lease_spans_join(j, s, i, leased[callee[i]]))
                        next[s->before[i]] = i;
        return next;
}

/* Keeps the parents that are candidates of a call. */
static void keep_candidates(const Problem *p, guint32 call, GArray *parents)
{
        guint n = 0;

        for (guint i = 0; i < parents->len; i++) {
                guint32 parent = g_array_index(parents, guint32, i);

                if (problem_find_candidate(p, call, parent) != G_MAXSIZE)
                        g_array_index(parents, guint32, n++) = parent;
        }
        g_array_set_size(parents, n);
}

/* Finds the parents that span a lease, in ascending order, given its first call. A call without
 * candidates is skipped. Stops when no parent is left. Returns the number of calls with candidates
 * so far. */
static guint32 find_spanning(const Problem *p, const guint32 *next, guint32 first, GArray *parents)
{
        guint32 n = 0;

        g_array_set_size(parents, 0);
        for (guint32 i = first; i != NO_PARENT; i = next[i]) {
                if (n_candidates(p, i) == 0)
                        continue;
                if (n++ == 0)
                        g_array_append_vals(parents, &p->candidate[p->candidates[i]],
                                            n_candidates(p, i));
                else
                        keep_candidates(p, i, parents);
                if (parents->len == 0)
                        break;
        }
        return n;
}

static Leased *each(Leased leased, const guint32 *callee, guint32 n_out)
{
        guint32 n = 0;
        Leased *all;

        for (guint32 i = 0; i < n_out; i++)
                n = MAX(n, callee[i] + 1);
        all = g_new(Leased, n);
        for (guint32 i = 0; i < n; i++)
                all[i] = leased;
        return all;
}

void lease_spans_count(const Joint *j, const LeaseSequence *s, const guint32 *callee, Leased leased,
                       SpanCount *count)
{
        guint32 n_out = j->problem->node->n_out;
        g_autofree Leased *all = each(leased, callee, n_out);
        g_autofree guint32 *next = find_next(j, s, callee, all);
        g_autoptr(GArray) parents = g_array_new(FALSE, FALSE, sizeof(guint32));

        for (guint32 i = 0; i < n_out; i++) {
                if (next[i] == NO_PARENT || lease_spans_join(j, s, i, leased) ||
                    find_spanning(j->problem, next, i, parents) < 2)
                        continue;
                count[callee[i]].n++;
                count[callee[i]].spanned += parents->len > 0;
        }
}

gboolean lease_spans_tell(Leased leased, SpanCount seen, SpanCount dealt)
{
        double chance = (dealt.spanned + 1.0) / (dealt.n + 2.0);
        guint32 astray = seen.n - seen.spanned;

        if (astray > tuning.lease_error_rate * seen.n)
                return FALSE;
        return -exact_log(chance) * seen.spanned > tuning.evidence_gain ||
               (leased == LEASED_TRANSACTION &&
                seen.spanned * exact_log((1 - tuning.transaction_error_rate) / chance) +
                                astray * exact_log(tuning.transaction_error_rate / (1 - chance)) >
                        0);
}

/* Leaves out parents that entered after the connection was opened for its first call, as far as
 * stamps show. If none would remain, it keeps all. */
static void keep_before_opening(const Problem *p, const LeaseSequence *s, guint32 first,
                                GArray *parents)
{
        gint64 opened = p->node->out[first].start - s->lead[first] + p->resolution;
        guint n = 0;

        while (n < parents->len && p->node->in[g_array_index(parents, guint32, n)].enter <= opened)
                n++;
        if (n > 0)
                g_array_set_size(parents, n);
}

/* Notes which candidates of a call are among these parents. */
static void mark(const Problem *p, guint32 call, const GArray *parents, guint8 *spans)
{
        guint k = 0;

        for (gsize c = p->candidates[call]; c < p->candidates[call + 1]; c++) {
                while (k < parents->len && g_array_index(parents, guint32, k) < p->candidate[c])
                        k++;
                spans[c] =
                        k < parents->len && g_array_index(parents, guint32, k) == p->candidate[c];
        }
}

guint8 *lease_spans_find(const Joint *j, const LeaseSequence *s, const guint32 *callee,
                         const Leased *leased)
{
        guint32 n_out = j->problem->node->n_out;
        guint8 *spans = g_malloc(problem_n_all(j->problem) + 1);
        g_autofree guint32 *next = find_next(j, s, callee, leased);
        g_autoptr(GArray) parents = g_array_new(FALSE, FALSE, sizeof(guint32));

        fill(spans, 1, problem_n_all(j->problem));
        for (guint32 i = 0; i < n_out; i++) {
                if (s->connection[i] == NO_PARENT || leased[callee[i]] == LEASED_NO ||
                    lease_spans_join(j, s, i, leased[callee[i]]))
                        continue;
                find_spanning(j->problem, next, i, parents);
                if (parents->len == 0)
                        continue;
                if (s->before[i] == NO_PARENT)
                        keep_before_opening(j->problem, s, i, parents);
                for (guint32 k = i; k != NO_PARENT; k = next[k])
                        mark(j->problem, k, parents, spans);
        }
        return spans;
}
