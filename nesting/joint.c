/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The parents of all calls that a node makes, found together: a call's parent is more
 * likely the less it leaves the others without.
 *
 * How likely a call into the node has made just these calls, parent-walk.c says. Each call into
 * the node has a claim on each call that it may have made: how likely it is, per ns, that it makes
 * this one then, by all that it may have done with what the others leave it. What they leave it is
 * the share of its claim in the sum of all claims on that call. So claims follow from claims, and
 * they are found by going round, parent by parent: belief propagation (Pearl, 1982; for data
 * association Williams and Lau, 2014).
 *
 * The walks learn from what is believed, and that follows from what the walks say, so both go in
 * rounds: expectation maximisation (Dempster, Laird and Rubin, 1977). The first rounds learn from
 * parents of calm moments, when few calls were open and there is little to mistake.
 */
#include <math.h>
#include <stdlib.h>

#include "nesting/crowds.h"
#include "nesting/nesting.h"
#include "nesting/node-habits.h"
#include "nesting/walk-lattice.h"
#include "tracefmt/fill.h"
#include "tracefmt/hash.h"

enum {
        BOUNDS_ROUNDS = 12, /* before the first assignment */
        FRESH_ROUNDS = 6,   /* that assign anew, in the order of time */
        ROUNDS = 16,        /* of learning from beliefs */
        CALM_ROUNDS = 14,   /* until all parents are learned from */
        STRETCH = 1024,     /* parents that follow each other teach, of more than LEARN_FROM */
        GO_ON_ROUNDS = 3,   /* of learning, from what was learned before */
        SETTLE = 4,         /* rounds after these */
        SETTLE_ANEW = 7,    /* the same, where claims begin anew */
        DECIDE = 3,         /* rounds that make the likeliest parent of a call likelier */
        MOST_WEIGHT = 255,  /* of a candidate, less 1 */
        ORDER_ROUNDS = 8,   /* of learning, where a node may work in order; */
        SUPPOSE_ROUNDS = 5, /* of these, those that suppose that it does */
        CERTAIN_SHARE = 4,  /* of calls that durations are looked at of, at least one of so many */
        REMEMBERED = 16,    /* earlier children that the first assignment looks at */
};

/* How likely an inversion is, next to what delays alone say, where a node works in order: while it
 * is being found out, and then. */
#define MAYBE_ORDER 0.7
#define ORDER       0.4

/* Order may make a node's parents less likely by so much, in nats a call out of it. */
#define ORDER_PRICE (1.0 / 64)

/* The weight of the first of two opinions, which beyond a share are too sure. */
#define FIRST_OPINION (2.0 / 3)
#define SURE_SHARE    (2.0 / 3)

/* The claim of a call's parent in an assignment, as a multiple of those of its other
 * candidates, where beliefs begin. */
#define ASSIGNED 100

/* No claim has a larger share, but that of the only candidate: it can be lost. */
#define MOST_TAKEN  (1 - 1e-6)
#define LEAST_SHARE 1e-8

/* A parent is not offered what it has less of than this. */
#define LEAST_OFFERED 1e-9

/* Per ns. */
#define LEAST_RATE 1e-20
#define MOST_RATE  1e10

/* A parent's on a call. */
typedef struct {
        guint32 child;
        float rate; /* per ns */
} Claim;

typedef struct {
        NodeCalls *node;
        gint64 window;
        gint64 from, before; /* when the parents replied that are learned from */
        gboolean counts;     /* these are counted alone, and learned from later */
        NodeHabits *habits;
        WalkLattice lattice;

        /* By call out of the node. */
        WalkCall *calls;
        guint32 *parent;   /* in an assignment: index of a call into the node, or NO_PARENT */
        guint32 *next;     /* child of that parent, or NO_PARENT */
        guint32 *output;   /* its number among calls out of the node and replies */
        gsize *candidates; /* where they begin; those of the next one end them */
        double *claimed;   /* the sum of claims */

        /* By call into the node. */
        guint32 *first;     /* child, or NO_PARENT */
        gsize *first_claim; /* where they begin; those of the next one end them */
        guint32 *kind;      /* by caller and label */
        guint64 *crowd;     /* see crowds.h */

        guint32 *candidate; /* indices of calls into the node, ascending by call */
        Claim *claims;      /* of parents, each one's in order of start */
        float *share;       /* by candidate: of its claim, then its probability; */
        float *score;       /* the same, once it is decided */
        guint32 n_choice;   /* calls with more than one candidate */
        guint32 n_children; /* of calls that are decided, those with candidates, */
        guint64 n_nestings; /* and all of these */
        double log, true_log;

        LatticeCall *offered; /* room for those of one parent */
} Joint;

/* --- kinds of calls -------------------------------------------------------- */

static void find_all_kinds(Joint *j, const CallLabels *labels)
{
        const NodeCalls *node = j->node;
        g_autofree guint16 *label = g_new(guint16, MAX(node->n_in, node->n_out));
        g_autofree guint32 *out_kind = g_new(guint32, node->n_out);

        for (guint32 p = 0; p < node->n_in; p++) {
                j->kind[p] = node->in[p].caller;
                label[p] = call_labels_get(labels, node->in[p].call);
        }
        call_kinds_find(&j->habits->in, j->kind, label, node->n_in);
        for (guint32 i = 0; i < node->n_out; i++) {
                out_kind[i] = node->out[i].callee;
                label[i] = call_labels_get(labels, node->out[i].call);
        }
        call_kinds_find(&j->habits->out, out_kind, label, node->n_out);
        for (guint32 i = 0; i < node->n_out; i++)
                j->calls[i] = (WalkCall){ node->out[i].start, node->out[i].end,
                                          MIN(out_kind[i], WALK_MAX_CALLEES - 1) };
}

/* --- candidates ------------------------------------------------------------ */

/* Of the candidates that were found for a child, those that need no skew window, if there are
 * such: clocks were set right as far as they can be, and what is open only by the window would
 * teach delays that there are not. */
static guint32 drop_unlikely(Candidates *c, const CallOut *child, guint32 n_found)
{
        gint64 end = MAX(child->start, child->end);
        guint32 kept = 0;

        for (guint32 k = 0; k < n_found; k++) {
                guint32 i = c->found[k];

                if (c->active[i].enter < child->start && c->reply[i] >= end)
                        c->found[kept++] = i;
        }
        return kept > 0 ? kept : n_found;
}

static void find_candidates(const Nesting *n, Joint *j, Candidates *candidates)
{
        const NodeCalls *node = j->node;
        gsize n_all = 0, room = node->n_out;
        guint32 next_in = 0;

        j->candidate = g_new(guint32, room);
        for (guint32 i = 0; i < node->n_out; i++) {
                const CallOut *child = &node->out[i];
                gboolean known = nesting_is_decided(n, child->call) && j->from > G_MININT64;
                guint32 n_found;

                for (; next_in < node->n_in && node->in[next_in].enter < child->start + j->window;
                     next_in++)
                        candidates_add(candidates, node->in[next_in].enter, node->in[next_in].reply,
                                       0, next_in);
                n_found = candidates_find(candidates, child->start, child->end);
                if (j->window > 0)
                        n_found = drop_unlikely(candidates, child, n_found);
                if (n_all + n_found > room) {
                        room = 2 * (n_all + n_found);
                        j->candidate = g_renew(guint32, j->candidate, room);
                }
                j->candidates[i] = n_all;
                for (guint32 k = 0; k < n_found; k++) {
                        guint32 parent = candidates->active[candidates->found[k]].which;

                        if (node->in[parent].call != child->call && /* a node that calls itself */
                            (!known || node->in[parent].call == n->calls.cause[child->call].parent))
                                j->candidate[n_all++] = parent;
                }
                n_found = n_all - j->candidates[i];
                j->n_choice += n_found > 1;
                if (!nesting_decides(n, child->call))
                        continue;
                if (n->calls.candidates)
                        n->calls.candidates[child->call] = n_found;
                j->n_children += n_found > 0;
                j->n_nestings += n_found;
        }
        j->candidates[node->n_out] = n_all;
}

static inline guint32 n_candidates(const Joint *j, guint32 child)
{
        return j->candidates[child + 1] - j->candidates[child];
}

typedef struct {
        gint64 time;
        guint32 which;
} OutputTime;

static int compare_outputs(const void *a, const void *b)
{
        const OutputTime *x = a, *y = b;

        if (x->time != y->time)
                return x->time < y->time ? -1 : 1;
        return (x->which > y->which) - (x->which < y->which);
}

/* Numbers the calls out of the node and, after them, its replies in the order of time. */
static void order_outputs(Joint *j)
{
        guint32 n_in = j->node->n_in, n_out = j->node->n_out;
        g_autofree OutputTime *times = g_new(OutputTime, n_out + n_in);
        Output *outputs = g_new(Output, n_out + n_in);

        for (guint32 i = 0; i < n_out; i++)
                times[i] = (OutputTime){ j->calls[i].start, i };
        for (guint32 p = 0; p < n_in; p++)
                times[n_out + p] = (OutputTime){ j->node->in[p].reply, n_out + p };
        qsort(times, n_out + n_in, sizeof *times, compare_outputs);
        for (guint32 i = 0; i < n_out + n_in; i++) {
                outputs[i].time = times[i].time;
                j->output[times[i].which] = i;
        }
        serving_order_take(&j->habits->order, outputs, n_out + n_in);
}

/* Gives each candidate a claim, in the order of parents. */
static void make_claims(Joint *j)
{
        guint32 n_in = j->node->n_in, n_out = j->node->n_out, most = 0;
        gsize n = j->candidates[n_out], *end;

        j->first_claim = g_new0(gsize, n_in + 2);
        end = j->first_claim + 1;
        for (gsize k = 0; k < n; k++)
                end[j->candidate[k] + 1]++;
        for (guint32 p = 0; p < n_in; p++) {
                most = MAX(most, end[p + 1]);
                end[p + 1] += end[p];
        }
        j->claims = g_new(Claim, n);
        for (guint32 i = 0; i < n_out; i++)
                for (gsize k = j->candidates[i]; k < j->candidates[i + 1]; k++)
                        j->claims[end[j->candidate[k]]++].child = i;
        j->claimed = g_new(double, n_out);
        j->offered = g_new(LatticeCall, most);
}

/* --- bounds: since a parent's enter, until its reply ------------------------ */

static void count_bounds(Joint *j, guint32 child, guint32 parent, guint32 count)
{
        const WalkCall *call = &j->calls[child];
        const CallIn *in = &j->node->in[parent];

        delay_densities_count(&j->habits->bounds, j->habits->enter_row[call->callee],
                              density_bin(call->start - in->enter), count);
        delay_densities_count(&j->habits->bounds, j->habits->reply_row[call->callee],
                              density_bin(in->reply - call->end), count);
}

/* Weighs the candidates of each call by how usual its delays are since their enter and until
 * their reply: from 1 to MOST_WEIGHT + 1, the latter the best one's. */
static void weigh_candidates(const Joint *j, guint32 *weight)
{
        double power[128] = { MOST_WEIGHT };

        for (guint i = 1; i < G_N_ELEMENTS(power); i++)
                power[i] = power[i - 1] * 0.939413062813476; /* e^(-1/16) */
        for (guint32 child = 0; child < j->node->n_out; child++) {
                guint32 sum = 0;
                const WalkCall *call = &j->calls[child];
                const gint16 *since = j->habits->bounds.log[j->habits->enter_row[call->callee]];
                const gint16 *until = j->habits->bounds.log[j->habits->reply_row[call->callee]];
                gsize first = j->candidates[child], end = j->candidates[child + 1];
                gint32 best = G_MININT32;

                for (gsize k = first; k < end; k++) {
                        const CallIn *in = &j->node->in[j->candidate[k]];
                        gint32 log = since[density_bin(call->start - in->enter)] +
                                     until[density_bin(in->reply - call->end)];

                        weight[k] = (guint32)log;
                        best = MAX(best, log);
                }
                for (gsize k = first; k < end; k++) {
                        guint32 below = (guint32)(best - (gint32)weight[k]) / (LOG_UNIT / 16);

                        sum += 1 + (guint32)power[MIN(below, G_N_ELEMENTS(power) - 1)];
                        weight[k] = sum;
                }
        }
}

static inline guint32 weight_of(const Joint *j, const guint32 *weight, guint32 child, gsize k)
{
        return weight[k] - (k > j->candidates[child] ? weight[k - 1] : 0);
}

/* --- assignments ------------------------------------------------------------ */

/* Lines up the children of each parent. */
static void link_children(Joint *j)
{
        fill(j->first, 0xff, j->node->n_in * sizeof *j->first);
        for (guint32 i = j->node->n_out; i-- > 0;) {
                guint32 parent = j->parent[i];

                j->next[i] = NO_PARENT;
                if (parent != NO_PARENT) {
                        j->next[i] = j->first[parent];
                        j->first[parent] = i;
                }
        }
}

/* --- the first assignment --------------------------------------------------- */

/* Learns bounds where nothing is known of parents, by expectation maximisation: each call counts
 * for all its candidates, first alike, then as their weights are. */
static void learn_bounds(Joint *j, guint32 *weight)
{
        for (guint32 i = 0; i < j->node->n_out; i++)
                for (gsize k = j->candidates[i]; k < j->candidates[i + 1]; k++)
                        weight[k] = 1 + k - j->candidates[i];
        for (guint round = 0; round < BOUNDS_ROUNDS; round++) {
                delay_densities_fade(&j->habits->bounds);
                for (guint32 i = 0; i < j->node->n_out; i++) {
                        gsize end = j->candidates[i + 1];

                        for (gsize k = j->candidates[i]; k < end; k++)
                                count_bounds(j, i, j->candidate[k],
                                             weight_of(j, weight, i, k) * DENSITY_COUNT /
                                                     weight[end - 1]);
                }
                delay_densities_learn(&j->habits->bounds);
                weigh_candidates(j, weight);
        }
}

/* What speaks against a parent of child, by the children it was given so far: each to the same
 * callee, and that it waits for one. last is the latest by parent, before the one before by child.
 */
static guint32 count_against(const Joint *j, guint32 child, guint32 parent, const guint32 *last,
                             const guint32 *before)
{
        guint32 k = last[parent], same = 0;
        gboolean waits = FALSE;

        for (guint32 i = 0; i < REMEMBERED && k != NO_PARENT; i++, k = before[k]) {
                same += j->calls[k].callee == j->calls[child].callee;
                waits |= j->calls[k].end > j->calls[child].start;
        }
        return 2 * same + waits;
}

/* Each call, in order, to the candidate with the most weight and the least against it. */
static void assign_first(Joint *j)
{
        guint32 n_out = j->node->n_out, n_in = j->node->n_in;
        g_autofree guint32 *last = g_new(guint32, n_in), *before = g_new(guint32, n_out);
        g_autofree guint32 *weight = g_new(guint32, j->candidates[n_out]);

        learn_bounds(j, weight);
        fill(last, 0xff, n_in * sizeof *last);
        for (guint32 i = 0; i < n_out; i++) {
                guint32 parent = NO_PARENT;
                double best = 0;

                for (gsize k = j->candidates[i]; k < j->candidates[i + 1]; k++) {
                        guint32 against = count_against(j, i, j->candidate[k], last, before);
                        double score = weight_of(j, weight, i, k) / (1.0 + 4 * against);

                        if (score > best) {
                                best = score;
                                parent = j->candidate[k];
                        }
                }
                j->parent[i] = parent;
                if (parent == NO_PARENT)
                        continue;
                before[i] = last[parent];
                last[parent] = i;
        }
        link_children(j);
}

/* --- assignment in the order of time --------------------------------------- */

/* A parent on its way. */
typedef struct {
        WalkPlace at;
        guint32 open; /* the child that returns next, or NO_PARENT */
} Way;

/* Takes p over the returns up to time; later links children that are under way. */
static void advance(Joint *j, Way *p, const guint32 *later, gint64 time)
{
        for (; p->open != NO_PARENT && j->calls[p->open].end <= time; p->open = later[p->open])
                p->at = parent_walk_return(&j->habits->walk, p->at, j->calls[p->open].callee,
                                           j->calls[p->open].end);
}

/* Each call, in order, to the candidate that is most likely to make it now, as far as that
 * has come by what it was given before, and to reply so long after its return. */
static void assign_in_time(Joint *j)
{
        guint32 n_in = j->node->n_in, n_out = j->node->n_out;
        g_autofree guint32 *later = g_new(guint32, n_out);
        g_autofree Way *ways = g_new(Way, n_in);

        parent_walk_learn_patience(&j->habits->walk);
        for (guint32 p = 0; p < n_in; p++) {
                const CallIn *in = &j->node->in[p];

                ways[p] = (Way){ parent_walk_start(&j->habits->walk, j->kind[p], in->enter),
                                 NO_PARENT };
        }
        for (guint32 i = 0; i < n_out; i++) {
                const WalkCall *call = &j->calls[i];
                const gint16 *rest = j->habits->bounds.log[j->habits->reply_row[call->callee]];
                gint32 best = G_MININT32;
                guint32 parent = NO_PARENT, *open;
                Way *way;

                for (gsize k = j->candidates[i]; k < j->candidates[i + 1]; k++) {
                        guint32 p = j->candidate[k];
                        gint32 log;

                        advance(j, &ways[p], later, call->start);
                        log = parent_walk_urge(&j->habits->walk, ways[p].at, call->callee,
                                               call->start) +
                              rest[density_bin(j->node->in[p].reply - call->end)];
                        if (log > best) {
                                best = log;
                                parent = p;
                        }
                }
                j->parent[i] = parent;
                if (parent == NO_PARENT)
                        continue;
                way = &ways[parent];
                way->at = parent_walk_call(&j->habits->walk, way->at, call->callee, call->start);
                for (open = &way->open; *open != NO_PARENT && j->calls[*open].end <= call->end;)
                        open = &later[*open];
                later[i] = *open;
                *open = i;
        }
        link_children(j);
}

static int compare_crowds(const void *a, const void *b)
{
        guint64 x = *(const guint64 *)a, y = *(const guint64 *)b;

        return (x > y) - (x < y);
}

/* Each call to its true parent, as far as that is a candidate. */
static void assign_truth(Joint *j, const guint32 *true_parent)
{
        for (guint32 i = 0; i < j->node->n_out; i++) {
                j->parent[i] = NO_PARENT;
                for (gsize k = j->candidates[i]; k < j->candidates[i + 1]; k++)
                        if (j->node->in[j->candidate[k]].call == true_parent[j->node->out[i].call])
                                j->parent[i] = j->candidate[k];
        }
        link_children(j);
}

/* --- learning -------------------------------------------------------------- */

/* The crowd at which parents are no longer calm enough for a round. */
static guint64 calm_until(const guint64 *crowds, guint32 n, guint round)
{
        if (round >= CALM_ROUNDS)
                return G_MAXUINT64;
        return crowds[(guint64)(n - 1) * (CALM_ROUNDS + 9 * round) / (10 * CALM_ROUNDS)];
}

/* Of many parents it is enough to learn from some, in stretches all over the trace. */
static inline guint32 n_stretches(const Joint *j)
{
        return MAX(j->node->n_in / LEARN_FROM, 1);
}

static inline gboolean teaches(const Joint *j, guint32 parent)
{
        return parent / STRETCH % n_stretches(j) == 0;
}

/* Those that are known to their end, and were not learned from already. */
static inline gboolean is_new(const Joint *j, guint32 parent)
{
        gint64 reply = j->node->in[parent].reply;

        return reply >= j->from && reply < j->before;
}

static guint32 n_new(const Joint *j)
{
        guint32 n = 0;

        for (guint32 p = 0; p < j->node->n_in; p++)
                n += teaches(j, p) && is_new(j, p);
        return n;
}

static LatticeParent lattice_parent_of(const Joint *j, guint32 parent)
{
        const CallIn *in = &j->node->in[parent];

        return (LatticeParent){ parent, j->kind[parent], in->enter, in->reply,
                                j->output[j->node->n_out + parent] };
}

/* What a parent did by the assignment: the calls that it made, and no other, are on offer. */
static void run_assigned(Joint *j, guint32 parent, gboolean count)
{
        LatticeParent lattice_parent = lattice_parent_of(j, parent);
        guint32 n = 0;

        for (guint32 k = j->first[parent]; k != NO_PARENT; k = j->next[k])
                j->offered[n++] = (LatticeCall){
                        .call = j->calls[k], .output = j->output[k], .claimed = 1, .taken = 1
                };
        walk_lattice_run(&j->lattice, &j->habits->walk, &lattice_parent, j->offered, n, count);
}

/* Counts what parents do by the assignment, as far as they are calm. */
static void count_assigned(Joint *j, guint64 calm)
{
        for (guint32 p = 0; p < j->node->n_in; p++) {
                if (j->crowd[p] > calm || !teaches(j, p) || !is_new(j, p))
                        continue;
                run_assigned(j, p, 1);
                for (guint32 k = j->first[p]; k != NO_PARENT; k = j->next[k])
                        count_bounds(j, k, p, DENSITY_COUNT);
        }
}

/* Learns from the assignment, as far as parents are calm. */
static void learn(Joint *j, guint64 calm)
{
        parent_walk_fade(&j->habits->walk);
        delay_densities_fade(&j->habits->bounds);
        count_assigned(j, calm);
        parent_walk_learn(&j->habits->walk);
        delay_densities_learn(&j->habits->bounds);
}

/* The natural logarithm of how likely the assignment is. */
static double log_of_assignment(Joint *j)
{
        gint64 log = 0;

        for (guint32 p = 0; p < j->node->n_in; p++) {
                run_assigned(j, p, 0);
                log += j->lattice.log;
        }
        return (double)log / LOG_UNIT;
}

static void begin_lattice(Joint *j)
{
        const NodeHabits *h = j->habits;

        walk_lattice_clear(&j->lattice);
        walk_lattice_init(&j->lattice, h->n_callees, h->whole, h->n_whole);
}

/* --- kinds by duration ------------------------------------------------------- */

/* What a parent does before and after a child, the next of same ones to its callee. */
static guint16 context_of(const Joint *j, guint32 child, guint32 before, guint32 same)
{
        guint32 after = j->next[child];
        guint64 h = hash_word(HASH_SEED, j->kind[j->parent[child]]);

        h = hash_word(h, before == NO_PARENT ? NO_PARENT : j->calls[before].callee);
        h = hash_word(h, after == NO_PARENT ? NO_PARENT : j->calls[after].callee);
        return hash_word(h, MIN(same, 3)) % DURATION_CONTEXTS;
}

static gint64 duration_of(const WalkCall *call)
{
        return MAX(call->end - call->start, 0);
}

/* Of calls with one candidate alone, where there are enough: those are not mistaken. */
static guint32 sample_durations(const Joint *j, DurationSample *samples)
{
        g_autofree guint32 *same = g_new(guint32, j->habits->n_callees);
        gboolean certain = j->n_choice <= j->node->n_out - j->node->n_out / CERTAIN_SHARE;
        guint32 n = 0;

        for (guint32 p = 0; p < j->node->n_in; p++) {
                guint32 before = NO_PARENT;

                fill(same, 0, j->habits->n_callees * sizeof *same);
                for (guint32 k = j->first[p]; k != NO_PARENT; before = k, k = j->next[k]) {
                        guint16 context = context_of(j, k, before, same[j->calls[k].callee]++);

                        if (!certain || n_candidates(j, k) == 1)
                                samples[n++] =
                                        (DurationSample){ j->calls[k].callee, context,
                                                          density_bin(duration_of(&j->calls[k])) };
                }
        }
        return n;
}

/* Gives calls to whole callees the kinds that the habits tell apart. */
static void use_limits(Joint *j)
{
        for (guint32 i = 0; i < j->node->n_out; i++) {
                WalkCall *call = &j->calls[i];

                call->callee = node_habits_callee(j->habits, call->callee, duration_of(call));
        }
}

static void set_limits(Joint *j, DurationLimits *limits)
{
        NodeHabits *h = j->habits;

        for (guint32 i = 0; i < j->node->n_out; i++)
                j->calls[i].callee = h->whole[j->calls[i].callee];
        node_habits_tell_apart(h, limits);
        use_limits(j);
        begin_lattice(j);
}

/* The logarithm of how likely the kinds are by themselves, of the children of every other
 * parent, as those of the rest have them. */
static double log_of_kinds(const Joint *j)
{
        const NodeHabits *h = j->habits;
        g_autofree double *learned = g_new0(double, h->n_callees);
        g_autofree double *tested = g_new0(double, h->n_callees);
        g_autofree double *all = g_new0(double, h->n_whole);
        double log = 0;

        for (guint32 i = 0; i < j->node->n_out; i++) {
                guint32 callee = j->calls[i].callee;

                if (j->parent[i] == NO_PARENT || !teaches(j, j->parent[i]))
                        continue;
                if (j->parent[i] % 2) {
                        tested[callee]++;
                } else {
                        learned[callee]++;
                        all[h->whole[callee]]++;
                }
        }
        for (guint32 k = 0; k < h->n_callees; k++)
                log += tested[k] * exact_log((learned[k] + 1) / (all[h->whole[k]] + 2));
        return log;
}

/* The logarithm of how likely every other parent is, by what walks learn from the rest. */
static double log_of_others(Joint *j)
{
        gint64 log = 0;

        parent_walk_forget(&j->habits->walk);
        for (guint32 p = 0; p < j->node->n_in; p += 2)
                if (teaches(j, p))
                        run_assigned(j, p, TRUE);
        parent_walk_learn(&j->habits->walk);
        for (guint32 p = 1; p < j->node->n_in; p += 2) {
                if (!teaches(j, p))
                        continue;
                run_assigned(j, p, FALSE);
                log += j->lattice.log;
        }
        return (double)log / LOG_UNIT;
}

/* Tells callees apart by the durations of calls, where by the assignment parents do different
 * things then, and if that makes parents likelier which were not learned from. Walks begin anew
 * if anything is tried. */
static void tell_apart(Joint *j)
{
        guint32 n_whole = j->habits->n_whole;
        g_autofree DurationSample *samples = g_new(DurationSample, j->node->n_out);
        g_autofree DurationLimits *limits = g_new0(DurationLimits, n_whole);
        double whole, apart;

        if (n_whole > MOST_ORDERED ||
            !duration_limits_find(limits, n_whole, samples, sample_durations(j, samples)))
                return;
        whole = log_of_others(j);
        set_limits(j, g_memdup2(limits, n_whole * sizeof *limits));
        apart = log_of_others(j) - log_of_kinds(j);
        if (apart <= whole)
                memset(limits, 0, n_whole * sizeof *limits);
        set_limits(j, g_steal_pointer(&limits));
}

/* --- beliefs --------------------------------------------------------------- */

/* Claims as an assignment makes them: alike in a parent's life, but for its children. */
static void start_claims(Joint *j)
{
        fill(j->claimed, 0, j->node->n_out * sizeof *j->claimed);
        for (guint32 p = 0; p < j->node->n_in; p++) {
                const CallIn *in = &j->node->in[p];
                double rate = 1.0 / (double)(MAX(in->reply - in->enter, 0) + 1000);

                for (gsize k = j->first_claim[p]; k < j->first_claim[p + 1]; k++) {
                        Claim *claim = &j->claims[k];

                        claim->rate = rate * (j->parent[claim->child] == p ? ASSIGNED : 1);
                        j->claimed[claim->child] += claim->rate;
                }
        }
}

/* The share that a claim has. */
static inline double taken_by(const Joint *j, const Claim *claim)
{
        if (n_candidates(j, claim->child) == 1)
                return 1;
        return MIN(claim->rate / j->claimed[claim->child], MOST_TAKEN);
}

/* A parent claims again, what it may have done being as likely as the others leave it that.
 * decide: a claim counts for more the larger a share it had. */
static void claim_again(Joint *j, guint32 parent, gboolean count, gboolean decide)
{
        LatticeParent lattice_parent = lattice_parent_of(j, parent);
        Claim *claims = &j->claims[j->first_claim[parent]];
        guint32 n = j->first_claim[parent + 1] - j->first_claim[parent], n_offered = 0;

        for (guint32 i = 0; i < n; i++) {
                double taken = taken_by(j, &claims[i]);

                if (taken >= LEAST_OFFERED)
                        j->offered[n_offered++] =
                                (LatticeCall){ .call = j->calls[claims[i].child],
                                               .output = j->output[claims[i].child],
                                               .claimed = j->claimed[claims[i].child],
                                               .taken = taken };
        }
        if (!walk_lattice_run(&j->lattice, &j->habits->walk, &lattice_parent, j->offered, n_offered,
                              count))
                return;
        n_offered = 0;
        for (guint32 i = 0; i < n; i++) {
                const LatticeCall *o = &j->offered[n_offered];
                double *claimed = &j->claimed[claims[i].child];
                double share = CLAMP(o->share, LEAST_SHARE, MOST_TAKEN), rate;

                if (taken_by(j, &claims[i]) < LEAST_OFFERED)
                        continue;
                n_offered++;
                if (o->taken == 1)
                        continue;
                /* It is made at this rate if share : 1 - share is rate : what others claim. */
                rate = share / (1 - share) * o->claimed * (1 - o->taken);
                if (decide)
                        rate *= sqrt(o->taken);
                rate = CLAMP(rate, LEAST_RATE, MOST_RATE);
                *claimed = MAX(*claimed - claims[i].rate, 0);
                claims[i].rate = rate;
                *claimed += claims[i].rate;
        }
}

/* So that what is rounded off does not add up. */
static void sum_claims(Joint *j)
{
        fill(j->claimed, 0, j->node->n_out * sizeof *j->claimed);
        for (gsize k = 0; k < j->candidates[j->node->n_out]; k++)
                j->claimed[j->claims[k].child] += j->claims[k].rate;
}

/* All parents claim again, or, learning, those that teach; of the calm ones is counted what they
 * do. */
static void claim_to_learn(Joint *j, guint64 calm)
{
        for (guint32 p = 0; p < j->node->n_in; p++)
                if (teaches(j, p))
                        claim_again(j, p, j->crowd[p] <= calm && is_new(j, p), FALSE);
        sum_claims(j);
}

/* Whether a parent's claims can change: not where they are the only ones on its calls. */
static gboolean is_contested(const Joint *j, guint32 parent)
{
        for (gsize k = j->first_claim[parent]; k < j->first_claim[parent + 1]; k++)
                if (n_candidates(j, j->claims[k].child) > 1)
                        return TRUE;
        return FALSE;
}

/* All claim again, for nothing to be learned. Those whose claims cannot change do so only for the
 * order of others. */
static void claim_all(Joint *j, gboolean decide)
{
        gboolean ordered = j->lattice.order && j->lattice.order->in_use;

        for (guint32 p = 0; p < j->node->n_in; p++)
                if (ordered || is_contested(j, p))
                        claim_again(j, p, FALSE, decide);
        sum_claims(j);
}

/* By candidate, the share of its claim. */
static void get_shares(const Joint *j, float *share)
{
        g_autofree gsize *next = g_memdup2(j->candidates, j->node->n_out * sizeof *next);

        for (gsize k = 0; k < j->candidates[j->node->n_out]; k++) {
                const Claim *claim = &j->claims[k];

                share[next[claim->child]++] = n_candidates(j, claim->child) == 1
                                                      ? 1
                                                      : claim->rate / j->claimed[claim->child];
        }
}

/* Each child to the candidate with the best score, of equal ones the earliest; or to the second
 * best, if there is one. */
static void assign_best(Joint *j, gboolean second)
{
        for (guint32 i = 0; i < j->node->n_out; i++) {
                guint32 best = NO_PARENT, next = NO_PARENT;
                float most = -1, less = -1;

                for (gsize k = j->candidates[i]; k < j->candidates[i + 1]; k++) {
                        guint32 p = j->candidate[k];

                        if (j->score[k] > most) {
                                less = most;
                                next = best;
                                most = j->score[k];
                                best = p;
                        } else if (j->score[k] > less) {
                                less = j->score[k];
                                next = p;
                        }
                }
                j->parent[i] = second && next != NO_PARENT ? next : best;
        }
        link_children(j);
}

/* By how much a node is surer of its calls' parents than another opinion bears out: the mean share
 * of the best ones of calls with a choice, less how often they are the best by the other, too. */
static double overconfidence(const Joint *j, const float *other)
{
        double sure = 0;
        guint32 same = 0;

        for (guint32 i = 0; i < j->node->n_out; i++) {
                gsize best = j->candidates[i], others = best;

                if (n_candidates(j, i) <= 1)
                        continue;
                for (gsize k = best + 1; k < j->candidates[i + 1]; k++) {
                        if (j->score[k] > j->score[best])
                                best = k;
                        if (other[k] > other[others])
                                others = k;
                }
                sure += j->share[best];
                same += best == others;
        }
        return MAX(sure - same, 0) / j->n_choice;
}

/* A share as a probability. Claims that agree in a circle are surer of each other than they should
 * be, so what goes beyond SURE_SHARE counts by the eighth root of its odds. All odds are divided by
 * doubt. */
static float trust(double share, double doubt)
{
        const double sure_odds = SURE_SHARE / (1 - SURE_SHARE);
        double odds = share / MAX(1 - share, 1e-9);

        if (odds > sure_odds)
                odds = sure_odds * sqrt(sqrt(sqrt(odds / sure_odds)));
        odds /= doubt;
        return odds / (1 + odds);
}

/* The second opinion: what claims come to that begin with the second best parent of each call.
 * Where there is another way to agree, it shows that; and where there is for many calls of a node,
 * what they agree on is worth less. Shares become probabilities. */
static void doubt(Joint *j)
{
        gsize n = j->candidates[j->node->n_out];
        g_autofree float *second = g_new(float, n);
        double excess;

        assign_best(j, TRUE);
        start_claims(j);
        for (guint round = 0; round < SETTLE_ANEW; round++)
                claim_all(j, FALSE);
        get_shares(j, second);
        excess = overconfidence(j, second);
        for (guint32 i = 0; i < j->node->n_out; i++) {
                double doubt = 1 + excess * excess * (MAX(n_candidates(j, i), 2) - 2);

                for (gsize k = j->candidates[i]; k < j->candidates[i + 1]; k++)
                        if (n_candidates(j, i) > 1)
                                j->share[k] = trust(FIRST_OPINION * j->share[k] +
                                                            (1 - FIRST_OPINION) * second[k],
                                                    doubt);
        }
}

/* --- all of it ------------------------------------------------------------- */

/* The logarithm of how likely the best parents are, of those that teach, whatever the order. */
static double log_of_best(Joint *j)
{
        ServingOrder *order = j->lattice.order;
        gint64 log = 0;

        get_shares(j, j->score);
        assign_best(j, FALSE);
        j->lattice.order = NULL;
        for (guint32 p = 0; p < j->node->n_in; p++) {
                if (!teaches(j, p))
                        continue;
                run_assigned(j, p, FALSE);
                log += j->lattice.log;
        }
        j->lattice.order = order;
        return (double)log / LOG_UNIT;
}

/* Learns again from an assignment, and claims as they were then. */
static void go_back(Joint *j, const guint32 *parent, const Claim *claims)
{
        ParentWalk *walk = &j->habits->walk;

        memcpy(j->parent, parent, j->node->n_out * sizeof *parent);
        link_children(j);
        parent_walk_forget(walk);
        learn(j, G_MAXUINT64);
        memcpy(j->claims, claims, j->candidates[j->node->n_out] * sizeof *claims);
        sum_claims(j);
        parent_walk_forget(walk);
        claim_to_learn(j, G_MAXUINT64);
        parent_walk_learn(walk);
}

/* More rounds, which suppose that the node works in order. Where it does, that makes its parents
 * about as likely as they were, or likelier, and shows in what claims agree on; else it is given
 * up again. */
static void learn_order(Joint *j)
{
        ServingOrder *order = &j->habits->order;
        ParentWalk *walk = &j->habits->walk;
        double before = log_of_best(j), price = j->node->n_out * ORDER_PRICE / n_stretches(j);
        g_autofree guint32 *parent = g_memdup2(j->parent, j->node->n_out * sizeof *parent);
        g_autofree Claim *claims =
                g_memdup2(j->claims, j->candidates[j->node->n_out] * sizeof *claims);

        serving_order_suppose(order, &walk->delays);
        if (!order->in_use)
                return;
        for (guint round = 0; round < ORDER_ROUNDS && order->in_use; round++) {
                parent_walk_forget(walk);
                claim_to_learn(j, G_MAXUINT64);
                parent_walk_learn(walk);
                if (round < SUPPOSE_ROUNDS)
                        serving_order_suppose(order, &walk->delays);
                else
                        serving_order_learn(order, &walk->delays,
                                            round + 1 < ORDER_ROUNDS ? MAYBE_ORDER : ORDER);
        }
        if (log_of_best(j) < before - (order->in_use ? price : 0)) {
                serving_order_drop(order);
                go_back(j, parent, claims);
        }
}

static void learn_in_rounds(Joint *j)
{
        g_autofree guint64 *crowds = NULL;

        crowds_find(j->node->in, j->node->n_in, j->crowd);
        crowds = g_memdup2(j->crowd, j->node->n_in * sizeof *crowds);
        qsort(crowds, j->node->n_in, sizeof *crowds, compare_crowds);
        assign_first(j);
        tell_apart(j);
        for (guint round = 0; round < FRESH_ROUNDS; round++) {
                learn(j, calm_until(crowds, j->node->n_in, round));
                assign_in_time(j);
        }
        learn(j, calm_until(crowds, j->node->n_in, 0));
        start_claims(j);
        for (guint round = 0; round < ROUNDS; round++) {
                parent_walk_forget(&j->habits->walk);
                claim_to_learn(j, calm_until(crowds, j->node->n_in, round));
                parent_walk_learn(&j->habits->walk);
                if (round + 2 == ROUNDS && j->habits->n_whole <= MOST_ORDERED)
                        j->lattice.order = &j->habits->order;
        }
        if (j->lattice.order)
                learn_order(j);
}

/* Learning goes on: from what is new, if that is enough, and from what was kept. */
static void go_on(Joint *j)
{
        if (j->habits->n_whole <= MOST_ORDERED)
                j->lattice.order = &j->habits->order;
        j->counts = j->from > G_MININT64 && !node_habits_are_stale(j->habits, n_new(j));
}

static void forget_new(Joint *j)
{
        parent_walk_forget(&j->habits->walk);
        delay_densities_forget(&j->habits->bounds);
}

static void learn_all(Joint *j, double most)
{
        NodeHabits *h = j->habits;

        if (!j->counts) {
                parent_walk_learn(&h->walk);
                delay_densities_learn(&h->bounds);
        }
        if (j->lattice.order)
                serving_order_learn(&h->order, &h->walk.delays, most);
}

static void go_on_in_rounds(Joint *j)
{
        guint rounds;

        go_on(j);
        rounds = j->counts ? 1 : GO_ON_ROUNDS;
        assign_in_time(j);
        start_claims(j);
        for (guint round = 0; round < rounds; round++) {
                parent_walk_forget(&j->habits->walk);
                claim_to_learn(j, G_MAXUINT64);
                learn_all(j, round + 1 < rounds ? MAYBE_ORDER : ORDER);
        }
}

/* From an assignment that is no guess. */
static void go_on_from_assignment(Joint *j)
{
        go_on(j);
        forget_new(j);
        count_assigned(j, G_MAXUINT64);
        learn_all(j, ORDER);
        serving_order_forget(&j->habits->order);
}

/* What was learned, of bounds by the parents that were found, is kept for the next calls. */
static void keep_habits(Joint *j)
{
        assign_best(j, FALSE);
        delay_densities_forget(&j->habits->bounds);
        for (guint32 p = 0; p < j->node->n_in; p++)
                for (guint32 k = j->first[p]; k != NO_PARENT; k = j->next[k])
                        if (teaches(j, p) && is_new(j, p))
                                count_bounds(j, k, p, DENSITY_COUNT);
        if (!j->counts)
                delay_densities_learn(&j->habits->bounds);
        node_habits_keep(j->habits, n_new(j), !j->counts);
}

/* The oracle: learns from the true parents, and keeps to that. */
static void learn_from_truth(Joint *j, const guint32 *true_parent)
{
        assign_truth(j, true_parent);
        if (j->from > G_MININT64) {
                go_on_from_assignment(j);
                return;
        }
        tell_apart(j);
        learn(j, G_MAXUINT64);
        j->true_log = log_of_assignment(j);
        if (j->habits->n_whole > MOST_ORDERED)
                return;
        j->lattice.order = &j->habits->order;
        learn(j, G_MAXUINT64); /* the same again; now it says its outputs */
        serving_order_learn(&j->habits->order, &j->habits->walk.delays, ORDER);
        serving_order_forget(&j->habits->order);
}

static void start_walks(Joint *j)
{
        make_claims(j);
        order_outputs(j);
        begin_lattice(j);
}

/* Finds shares and scores. */
static void find_beliefs(Joint *j, const Nesting *n)
{
        guint settle = SETTLE;

        start_walks(j);
        if (n->true_parent)
                learn_from_truth(j, n->true_parent);
        else if (j->from == G_MININT64)
                learn_in_rounds(j);
        else
                go_on_in_rounds(j);
        if (n->true_parent || n_stretches(j) > 1) {
                assign_in_time(j);
                start_claims(j);
                settle = SETTLE_ANEW;
        }
        for (guint round = 0; round < settle; round++)
                claim_all(j, FALSE);
        get_shares(j, j->share);
        for (guint round = 0; round < DECIDE; round++)
                claim_all(j, TRUE);
        get_shares(j, j->score);
        doubt(j);
        if (j->node->habits) {
                keep_habits(j);
        } else if (n->options.keep) {
                j->lattice.order = NULL;
                assign_best(j, FALSE);
                j->log = log_of_assignment(j);
        }
}

/* Whether a call out of the node matters in a step: its parent is not known, or may have
 * others. */
static gboolean is_in_view(const Joint *j, const Nesting *n, guint32 call)
{
        guint32 parent = n->calls.cause[call].parent;

        return !nesting_is_decided(n, call) ||
               (parent < n->calls.n && n->calls.at_callee[parent].to + 2 * j->window >= j->from);
}

/* What is to be learned from: where there are habits already, the step's calls, and only these stay
 * in view; where there are none, or far more calls than when learning began, all calls that
 * there are. */
static void find_view(Joint *j, const Nesting *n)
{
        NodeCalls *node = j->node;
        const NodeHabits *h = j->habits;
        guint32 n_in = 0, n_out = 0;

        j->from = G_MININT64;
        j->before = n->view.decide;
        if (h->n_parents == 0 || (h->n_parents < LEARN_FROM && node->n_in >= 2 * h->n_known))
                return;
        j->from = n->view.from;
        for (guint32 p = 0; p < node->n_in; p++)
                if (node->in[p].reply + 2 * j->window >= j->from)
                        node->in[n_in++] = node->in[p];
        for (guint32 i = 0; i < node->n_out; i++)
                if (is_in_view(j, n, node->out[i].call))
                        node->out[n_out++] = node->out[i];
        node->n_in = n_in;
        node->n_out = n_out;
}

/* There is nothing to find out, but something to learn for what comes. */
static void learn_without_choice(Joint *j)
{
        start_walks(j);
        assign_best(j, FALSE);
        go_on_from_assignment(j);
        keep_habits(j);
}

static void joint_init(Joint *j)
{
        guint32 n_in = j->node->n_in, n_out = j->node->n_out;

        j->calls = g_new(WalkCall, n_out);
        j->parent = g_new(guint32, n_out);
        j->output = g_new(guint32, n_out + n_in);
        j->next = g_new(guint32, n_out);
        j->kind = g_new(guint32, n_in);
        j->candidates = g_new(gsize, n_out + 1);
        j->first = g_new(guint32, n_in);
        j->crowd = g_new0(guint64, n_in);
}

/* Begins to learn, where it does not go on or what there is has no room for these calls. */
static void begin_habits(Joint *j, const CallLabels *labels)
{
        NodeHabits *h = j->habits;

        if (j->from > G_MININT64) {
                find_all_kinds(j, labels);
                if (node_habits_fit(h))
                        return;
                j->from = G_MININT64;
        }
        node_habits_clear(h);
        node_habits_init(h);
        find_all_kinds(j, labels);
        node_habits_start(h, j->node->habits ? h->out.n / 2 + 2 : 0);
        h->n_known = j->node->n_in;
}

static void joint_clear(Joint *j)
{
        walk_lattice_clear(&j->lattice);
        g_free(j->calls);
        g_free(j->parent);
        g_free(j->next);
        g_free(j->claimed);
        g_free(j->first);
        g_free(j->first_claim);
        g_free(j->output);
        g_free(j->kind);
        g_free(j->crowd);
        g_free(j->claims);
        g_free(j->offered);
}

/* Hands out the candidates with their shares and scores. */
static void take_found(Joint *j, const Nesting *nesting, NodeParents *found)
{
        const NodeCalls *node = j->node;
        gsize n = j->candidates[node->n_out];

        *found = (NodeParents){ .n_out = node->n_out,
                                .call = g_new(guint32, node->n_out),
                                .first = j->candidates,
                                .parent = j->candidate,
                                .share = j->share,
                                .score = j->score,
                                .children = j->n_children,
                                .nestings = j->n_nestings,
                                .log = j->log,
                                .true_log = j->true_log };
        for (guint32 i = 0; i < node->n_out; i++)
                found->call[i] =
                        nesting_decides(nesting, node->out[i].call) ? node->out[i].call : NO_PARENT;
        for (gsize k = 0; k < n; k++)
                found->parent[k] = node->in[found->parent[k]].call;
}

void find_parents_jointly(const Nesting *n, NodeCalls *node, Candidates *candidates,
                          NodeParents *found)
{
        NodeHabits own;
        Joint j = { .node = node,
                    .window = n->options.window,
                    .habits = node->habits ? node->habits : &own };

        node_habits_init(&own);
        find_view(&j, n);
        joint_init(&j);
        begin_habits(&j, &n->labels);
        find_candidates(n, &j, candidates);
        j.share = g_new(float, j.candidates[node->n_out] + 1);
        j.score = g_new(float, j.candidates[node->n_out] + 1);
        for (gsize k = 0; k < j.candidates[node->n_out]; k++)
                j.share[k] = j.score[k] = 1;
        if (j.n_choice > 0)
                find_beliefs(&j, n);
        else if (node->habits && node->n_in > 0)
                learn_without_choice(&j);
        take_found(&j, n, found);
        joint_clear(&j);
        serving_order_take(&j.habits->order, NULL, 0);
        node_habits_clear(&own);
}
