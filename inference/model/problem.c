/* SPDX-License-Identifier: BSD-2-Clause */
#include "inference/model/problem.h"

#include <stdlib.h>

#include "base/compare.h"
#include "inference/model/concurrency.h"
#include "inference/model/pass-calls.h"

/* --- candidates ------------------------------------------------------------ */

/* Keeps the candidates that are open even without the skew window, if there are any. Clocks are
 * already corrected as far as possible. A candidate that is open only by the window would train the
 * model on delays that do not exist. Returns how many are left. */
static guint32 drop_unlikely(Candidates *c, const CallOut *child, gint64 tie, guint32 n_found)
{
        gint64 end = MAX(child->start, child->end);
        guint32 kept = 0;

        for (guint32 k = 0; k < n_found; k++) {
                guint32 i = c->found[k];

                if (c->active[i].enter < child->start + tie && c->reply[i] >= end)
                        c->found[kept++] = i;
        }
        return kept > 0 ? kept : n_found;
}

/* Keeps MOST_CANDIDATES of n candidates. Requests that wait in a queue are served from the first
 * on, and requests beside long ones are among the last. Returns how many are left. */
static guint32 keep_ends(guint32 *found, guint32 n)
{
        const guint32 half = MOST_CANDIDATES / 2;

        if (n <= MOST_CANDIDATES)
                return n;
        memmove(found + half, found + n - half, half * sizeof *found);
        return MOST_CANDIDATES;
}

/* Goes through the calls out of a node in order of start. */
typedef struct {
        const Problem *problem;
        Candidates *open;
        guint32 next_in;
} CandidateSearch;

/* Finds the candidates of a call that does not start before the previous one. Puts indices of calls
 * into the node into open->found, and returns how many there are. */
static guint32 search_candidates(CandidateSearch *s, guint32 child)
{
        const NodeProblem *node = s->problem->node;
        const CallOut *out = &node->out[child];
        gint64 window = s->open->window;
        gboolean known = (out->flags & OUT_DECIDED) && s->problem->from > G_MININT64;
        guint32 n_found, kept = 0, *found;

        if (out->flags & OUT_ROOT)
                return 0;
        for (; s->next_in < node->n_in && node->in[s->next_in].enter < out->start + window;
             s->next_in++)
                if (node->in[s->next_in].reply + window >= out->start)
                        candidates_add(s->open, node->in[s->next_in].enter,
                                       node->in[s->next_in].reply, 0, s->next_in);
        n_found = candidates_find(s->open, out->start, out->end);
        if (node->window > 0)
                n_found = drop_unlikely(s->open, out, problem_tie(s->problem), n_found);
        found = s->open->found;
        for (guint32 k = 0; k < n_found; k++) {
                guint32 parent = s->open->active[found[k]].which;

                if (node->in[parent].call != out->call && /* a node that calls itself */
                    (!known || node->in[parent].call == out->parent))
                        found[kept++] = parent;
        }
        s->open->most = MAX(s->open->most, kept);
        return keep_ends(found, kept);
}

gsize problem_count_candidates(const Problem *p, Candidates *open, guint32 *n_candidates)
{
        CandidateSearch search = { p, open, 0 };
        gsize n = 0;

        candidates_restart(open);
        for (guint32 i = 0; i < p->node->n_out; i++) {
                node_problem_pass(p->node, i);
                n += n_candidates[i] = search_candidates(&search, i);
        }
        return n;
}

static gboolean any_training_parent(const Problem *p, const guint32 *parent, guint32 n)
{
        for (guint32 k = 0; k < n; k++)
                if (is_training_parent(p, parent[k]))
                        return TRUE;
        return FALSE;
}

void problem_find_candidates(Problem *p, Candidates *open, guint32 first_in, guint32 first,
                             guint32 end, gboolean to_learn)
{
        CandidateSearch search = { p, open, first_in };
        gsize n_all = 0, room = end - first + 1;

        candidates_restart(open);
        p->candidates = g_new(gsize, room);
        p->candidate = g_new(guint32, room);
        for (guint32 i = first; i < end; i++) {
                guint32 n_found = search_candidates(&search, i);

                p->candidates[i - first] = n_all;
                if (n_found == 0 || (to_learn && (n_all >= MOST_IN_PART ||
                                                  !any_training_parent(p, open->found, n_found))))
                        continue;
                if (n_all + n_found > room) {
                        room = 2 * (n_all + n_found);
                        p->candidate = g_renew(guint32, p->candidate, room);
                }
                memcpy(p->candidate + n_all, open->found, n_found * sizeof *open->found);
                n_all += n_found;
                p->n_choice += n_found > 1;
                p->n_sole += n_found == 1;
        }
        p->candidates[end - first] = n_all;
}

void problem_keep_candidates(Problem *p, const guint8 *keep)
{
        gsize n = 0, from = 0;

        p->n_choice = p->n_sole = 0;
        for (guint32 i = 0; i < p->node->n_out; i++) {
                gsize first = n, end = p->candidates[i + 1];

                for (; from < end; from++)
                        if (keep[from])
                                p->candidate[n++] = p->candidate[from];
                p->candidates[i] = first;
                p->n_choice += n - first > 1;
                p->n_sole += n - first == 1;
        }
        p->candidates[p->node->n_out] = n;
}

static void drop_candidates(Problem *p)
{
        g_clear_pointer(&p->candidates, g_free);
        g_clear_pointer(&p->candidate, g_free);
}

gsize problem_find_candidate(const Problem *p, guint32 call, guint32 parent)
{
        gsize from = p->candidates[call], to = p->candidates[call + 1];

        while (from < to) {
                gsize middle = from + (to - from) / 2;

                if (p->candidate[middle] < parent)
                        from = middle + 1;
                else
                        to = middle;
        }
        return from < p->candidates[call + 1] && p->candidate[from] == parent ? from : G_MAXSIZE;
}

/* --- what is looked at --------------------------------------------------------- */

void problem_find_view(Problem *p, gboolean anew)
{
        NodeProblem *node = p->node;
        guint32 n_in = 0, n_out = 0;

        p->from = anew ? G_MININT64 : node->from;
        p->before = node->decide;
        if (anew)
                return;
        for (guint32 i = 0; i < node->n_in; i++)
                if (node->in[i].reply + 2 * node->window >= p->from)
                        node->in[n_in++] = node->in[i];
        for (guint32 i = 0; i < node->n_out; i++)
                if (!(node->out[i].flags & OUT_PAST)) {
                        if (node->truth)
                                node->truth[n_out] = node->truth[i];
                        node->out[n_out++] = node->out[i];
                }
        node->n_in = n_in;
        node->n_out = n_out;
}

/* The greatest power of ten that is a factor of by and no more than most. */
static gint64 power_in(gint64 by, gint64 most)
{
        while (most > 1 && by % most != 0)
                most /= 10;
        return most;
}

/* How many calls out of the node have a call into it that enters `later` ns after their start. */
static guint32 count_meetings(const NodeProblem *node, gint64 later)
{
        guint32 n = 0, k = 0;

        for (guint32 i = 0; i < node->n_out; i++) {
                gint64 enter = node->out[i].start + later;

                node_problem_pass(node, i);
                while (k < node->n_in && node->in[k].enter < enter)
                        k++;
                n += k < node->n_in && node->in[k].enter == enter;
        }
        return n;
}

/* Whether calls begin at the stamps of their causes more often than by chance. By chance, a call
 * begins as often just before a call into the node. */
static gboolean begins_with_cause(const NodeProblem *node, gint64 resolution)
{
        return count_meetings(node, 0) > 2 * count_meetings(node, resolution) + STAMPS_ENOUGH;
}

void problem_find_resolution(Problem *p, gint64 known)
{
        const NodeProblem *node = p->node;
        gint64 found = STAMPS_COARSEST, first = node->n_in > 0 ? node->in[0].enter : 0;

        for (guint32 i = 0; i < node->n_in && found >= STAMPS_FINE; i++) {
                node_problem_pass(node, i);
                found = power_in(node->in[i].reply - first,
                                 power_in(node->in[i].enter - first, found));
        }
        for (guint32 i = 0; i < node->n_out && found >= STAMPS_FINE; i++) {
                node_problem_pass(node, i);
                found = power_in(node->out[i].end - first,
                                 power_in(node->out[i].start - first, found));
        }
        if (node->n_in + node->n_out < STAMPS_ENOUGH)
                found = known;
        if (found < STAMPS_FINE || (found < STAMPS_COARSE && !begins_with_cause(node, found)))
                found = 0;
        p->resolution = found;
}

guint32 problem_n_new(const Problem *p)
{
        guint32 n = 0;

        for (guint32 i = 0; i < p->node->n_in; i++)
                n += is_training_parent(p, i) && is_new(p, i);
        return n;
}

/* The greatest concurrency of a calm parent rises from round to round, to all. Sorts them. */
static void set_calm(Problem *p, guint64 *concurrencies)
{
        guint64 last = p->node->n_in - 1;

        qsort(concurrencies, p->node->n_in, sizeof *concurrencies, compare_int64s);
        for (guint64 round = 0; round < CALM_ROUNDS; round++)
                p->calm[round] =
                        concurrencies[last * (CALM_ROUNDS + 9 * round) / (10 * CALM_ROUNDS)];
}

void problem_find_concurrency(Problem *p)
{
        concurrency_find(p->node, p->concurrency);
}

void problem_find_calm(Problem *p)
{
        gsize size = p->node->n_in * sizeof *p->concurrency;
        g_autofree guint64 *concurrencies =
                p->concurrency ? g_memdup2(p->concurrency, size) : g_malloc(size);

        if (!p->concurrency)
                concurrency_find(p->node, concurrencies);
        set_calm(p, concurrencies);
}

void problem_done(const Problem *p, double share)
{
        if (p->node->work)
                work_part_done(p->node->work, share);
}

double problem_learnt(const Problem *p)
{
        /* Where it learns from all calls. Measured on the testbed at concurrency 8. */
        static const double all = 0.7;

        return all / (all + (1 - all) * p->times);
}

void problem_round_done(Problem *p)
{
        double n = ++p->n_rounds;

        problem_done(p, problem_learnt(p) * n / (n + HALF_THE_ROUNDS));
}

/* --- outputs --------------------------------------------------------------------- */

typedef struct {
        gint64 time;
        guint32 which;
} OutputTime;

COMPARISON(compare_outputs, OutputTime, COMPARE(a->time, b->time) ?: COMPARE(a->which, b->which))

void problem_order_outputs(Problem *p)
{
        guint32 n_in = p->node->n_in, n_out = p->node->n_out;
        g_autofree OutputTime *times = g_new(OutputTime, n_out + n_in);

        for (guint32 i = 0; i < n_out; i++)
                times[i] = (OutputTime){ p->node->out[i].start, i };
        for (guint32 i = 0; i < n_in; i++)
                times[n_out + i] = (OutputTime){ p->node->in[i].reply, n_out + i };
        qsort(times, n_out + n_in, sizeof *times, compare_outputs);
        for (guint32 i = 0; i < n_out + n_in; i++)
                p->output[times[i].which] = i;
}

/* --- life ---------------------------------------------------------------------------- */

void problem_init(Problem *p)
{
        guint32 n_in = p->node->n_in, n_out = p->node->n_out;

        p->start = g_new(gint64, n_in);
        p->output = g_new(guint32, n_out + n_in);
        p->concurrency = g_new0(guint64, n_in);
}

Problem problem_narrow(const Problem *whole, NodeProblem *slice, Candidates *open, guint32 first_in,
                       guint32 first, guint32 end)
{
        Problem p = {
                .node = whole->node,
                .from = whole->from,
                .before = whole->before,
                .resolution = whole->resolution,
                .n_stretches = 1,
        };
        guint32 from = whole->node->n_in, end_in = 0;
        gsize n;

        problem_find_candidates(&p, open, first_in, first, end, FALSE);
        n = p.candidates[end - first];
        for (gsize k = 0; k < n; k++) {
                from = MIN(from, p.candidate[k]);
                end_in = MAX(end_in, p.candidate[k] + 1);
        }
        from = MIN(from, end_in);
        for (gsize k = 0; k < n; k++)
                p.candidate[k] -= from;
        *slice = *whole->node;
        slice->in_files = FALSE; /* they are the whole node's */
        slice->work = NULL;      /* reports no progress of its own */
        slice->in += from;
        slice->out += first;
        slice->n_in = end_in - from;
        slice->n_out = end - first;
        p.node = slice;
        problem_init(&p);
        return p;
}

void problem_clear(Problem *p)
{
        drop_candidates(p);
        g_free(p->start);
        g_free(p->output);
        g_free(p->concurrency);
}
