/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What each source says of a call adds up to the likelihood.
 */
#include "inference/search/family.h"
#include "inference/solve/weigh.h"
#include "tests/unit/inference/small-node.h"

/* Evidence that goes by both families: the more children one parent has, the less likely. */
typedef struct {
        Evidence evidence;
        guint32 n[3]; /* by parent: children */
        Family before[2];
} BySize;

static Evidence *make_by_size(void)
{
        return (Evidence *)g_new0(BySize, 1);
}

static void place_size(Evidence *e, const Family *f)
{
        ((BySize *)e)->n[f->parent] = f->n;
}

static gint64 swap_sizes(Evidence *e, const Family f[2])
{
        BySize *s = (BySize *)e;
        gint64 log = 0;

        for (guint m = 0; m < 2; m++) {
                guint32 *n = &s->n[f[m].parent];

                s->before[m] = (Family){ .parent = f[m].parent, .n = *n };
                log += ((gint64)*n * *n - (gint64)f[m].n * f[m].n) * LOG_UNIT;
                *n = f[m].n;
        }
        return log;
}

static void undo_sizes(Evidence *e)
{
        BySize *s = (BySize *)e;

        for (guint m = 0; m < 2; m++)
                s->n[s->before[m].parent] = s->before[m].n;
}

static const EvidenceKind by_size = { .name = "size",
                                      .make = make_by_size,
                                      .place = place_size,
                                      .swap = swap_sizes,
                                      .undo = undo_sizes };

static const EvidenceKind *const table_of_two[] = { &by_number, &by_size, NULL };

/* Log likelihoods of one assignment: of walks, and by each of the two. */
typedef struct {
        double walks, number, size;
} SmallLog;

static SmallLog small_log(SmallJoint *small, guint choices)
{
        Joint *j = &small->j;
        EvidenceSet *evidence = &small->model->evidence;
        SmallLog l = { 0 };

        evidence_unwatch(evidence);
        l.walks = log(likelihood_of(j, choices));
        evidence_watch_used(evidence);
        for (guint32 p = 0; p < 3; p++) {
                guint n = 0;

                for (guint32 k = j->assignment->first[p]; k != NO_PARENT;
                     k = j->assignment->next[k], n++)
                        l.number += log((p + k) % 3 + 0.5);
                l.size -= n * n;
        }
        return l;
}

static double sum_of_logs(SmallLog l)
{
        return l.walks + l.number + l.size;
}

/* The weights on a call's other candidate: those of the likelier one of two moves. */
static void check_weights(const CandidateWeights *w, SmallLog was, SmallLog alone,
                          SmallLog exchanged)
{
        SmallLog best = sum_of_logs(alone) >= sum_of_logs(exchanged) ? alone : exchanged;

        g_assert_cmpfloat_with_epsilon((double)w->weight[WEIGHT_DELAYS] +
                                               (double)w->weight[WEIGHT_EVENTS],
                                       best.walks - was.walks, 0.1);
        g_assert_cmpfloat_with_epsilon((double)w->weight[WEIGHT_ROWS], best.number - was.number,
                                       0.1);
        g_assert_cmpfloat_with_epsilon((double)w->weight[WEIGHT_ROWS + 1], best.size - was.size,
                                       0.1);
}

/* The first of n children that has returned by a time, and has not before; n: none. */
static guint32 next_return(const Joint *j, const Family *f, guint32 n, gint64 time,
                           const gboolean *returned)
{
        const WalkCall *calls = j->kinds->calls;
        guint32 next = n;

        for (guint32 k = 0; k < n; k++)
                if (!returned[k] && calls[f->child[k]].end <= time &&
                    (next == n || calls[f->child[k]].end < calls[f->child[next]].end))
                        next = k;
        return next;
}

static double take_step(ParentWalk *w, guint32 *state, guint32 event)
{
        WalkEntry step = parent_walk_get(w, *state, event);

        *state = step.next;
        return log(step.probability);
}

/* The log of the probabilities of the events of a family, without their delays. */
static double log_of_events(Joint *j, const Family *f)
{
        ParentWalk *w = &j->model->walk;
        guint32 state = parent_walk_start(w, j->kinds->kind[f->parent], 0).state, k;
        gboolean returned[MOST_CHILDREN] = { FALSE };
        double sum = 0;

        for (guint32 i = 0; i <= f->n; i++) {
                const WalkCall *call = i < f->n ? &j->kinds->calls[f->child[i]] : NULL;

                while ((k = next_return(j, f, i, call ? call->start : G_MAXINT64, returned)) < i) {
                        returned[k] = TRUE;
                        sum += take_step(w, &state,
                                         w->n_callees + j->kinds->calls[f->child[k]].callee);
                }
                sum += take_step(w, &state, call ? call->callee : 2 * w->n_callees);
        }
        return sum;
}

/* The likelihood of a family is that of its events and that of its delays. */
static void test_delays_of_families(void)
{
        static const gsize candidates[] = { 0, 2, 4, 6, 7, 8 };
        static const guint32 candidate[] = { 0, 1, 0, 1, 1, 2, 2, 0 };
        g_autoptr(GRand) rand = g_rand_new_with_seed(13);

        for (guint round = 0; round < 40; round++) {
                SmallJoint small;

                begin_small(&small, rand, 3, 5, candidates, candidate);
                likelihood_of(&small.j, round % 8);
                for (guint32 p = 0; p < 3; p++) {
                        Family f;

                        g_assert_true(family_gather(&small.j, p, &f));
                        family_walk(&small.j, &f);
                        g_assert_cmpfloat_with_epsilon(
                                (double)(f.log - family_log_of_delays(&small.j, &f)) / LOG_UNIT,
                                log_of_events(&small.j, &f), 0.05);
                }
                end_small(&small);
        }
}

/* The weights of the sources add up to the likelihood, in each of the eight assignments. The parent
 * that a call has weighs nothing. Of the moves to the other candidate the likeliest counts. The
 * first two calls may be exchanged. */
static void test_weights(void)
{
        static const gsize candidates[] = { 0, 2, 4, 6, 7, 8 };
        static const guint32 candidate[] = { 0, 1, 0, 1, 1, 2, 2, 0 };
        g_autoptr(GRand) rand = g_rand_new_with_seed(12);

        for (guint round = 0; round < 80; round++) {
                guint a = round % 8;
                SmallJoint small;
                SmallLog logs[8];
                g_autoptr(GArray) listed = NULL;

                begin_small(&small, rand, 3, 5, candidates, candidate);
                evidence_end(&small.model->evidence);
                evidence_set_clear(&small.model->evidence);
                evidence_set_make(&small.model->evidence, table_of_two, small.model->n_callees);
                for (guint i = 0; i < 2; i++)
                        small.model->evidence.of[i]->in_use = TRUE;
                for (guint i = 0; i < 8; i++)
                        logs[i] = small_log(&small, i);
                likelihood_of(&small.j, a);
                for (guint i = 0; i < 3; i++)
                        small.s.node.out[i].flags |= OUT_EXPLAIN;
                listed = weigh_list(&small.problem, 0, 5);
                g_assert_cmpuint(listed->len, ==, 6);
                weigh(&small.j, listed);
                for (guint k = 0; k < 6; k++) {
                        const CandidateWeights *w = &g_array_index(listed, CandidateWeights, k);
                        guint i = k / 2, moved = a ^ 1U << i;
                        gboolean faces = i < 2 && (a & 1) != (a >> 1 & 1);

                        g_assert_false(w->left_out);
                        if ((a >> i & 1) == k % 2)
                                check_weights(w, logs[a], logs[a], logs[a]);
                        else
                                check_weights(w, logs[a], logs[moved], logs[faces ? a ^ 3 : moved]);
                }
                end_small(&small);
        }
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/weigh/delays-of-families", test_delays_of_families);
        g_test_add_func("/weigh/weights", test_weights);
        return g_test_run();
}
