/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The parents of all calls that a node makes, found together: a call's parent is more
 * likely the less it leaves the others without.
 *
 * How likely a call into the node has made just these calls, parent-walk.c says, which
 * learns it from the parents that are found; so both go in rounds. In a round the
 * assignment is changed at random, call by call, such that it becomes one of those
 * that the walks make likely, each as often as it is likely (Metropolis and others,
 * 1953), and the walks learn from what has become of it. The first rounds learn from
 * parents of calm moments, when few calls were open and there is little to mistake, and
 * start from an assignment made anew: changes one by one hardly get out of one in which
 * many calls are one parent off.
 * At last the walks stay as they are, and a call's parent is the one that it most
 * often has; how often is the probability.
 */
#include <stdlib.h>

#include "nesting/nesting.h"
#include "nesting/parent-walk.h"
#include "nesting/random.h"

enum {
        ROUNDS = 30,
        SWEEPS = 8,       /* in a round */
        FRESH_ROUNDS = 6, /* that begin with a new assignment */
        CALM_ROUNDS = 18, /* until all parents are learned from */
        SETTLE = 8,       /* sweeps after the last round */
        SAMPLES = 50,
        SWEEPS_APART = 4,   /* samples */
        BOUNDS_ROUNDS = 12, /* before the first assignment */
        MOST_WEIGHT = 255,  /* of a candidate, less 1 */
        REMEMBERED = 16,    /* earlier children that the first assignment looks at */
};

/* The children of a parent, in order of start. */
typedef struct {
        guint32 *child;
        guint32 n, room;
} Children;

typedef struct {
        const NodeCalls *node;
        gint64 window;
        ParentWalk walk;
        Random random;

        /* By call out of the node. */
        WalkCall *calls;
        guint32 *parent;   /* index of a call into the node, or NO_PARENT */
        guint32 *next;     /* child of that parent, or NO_PARENT */
        gsize *candidates; /* where they begin; those of the next one end them */
        guint32 *rank;     /* where the call is in alike; of a call with a choice */

        /* By call into the node. */
        guint32 *first; /* child, or NO_PARENT */
        gint32 *log;    /* how likely its children are */
        guint64 *crowd; /* the mean number of calls that were open while it was, times 256 */

        guint32 *candidate; /* indices of calls into the node, ascending by call */
        guint32 *weight;    /* by candidate: how often it is proposed; with those before it */
        guint8 *seen;       /* by candidate: in how many samples it was the parent */
        guint32 *choice;    /* the calls with more than one candidate, in order */
        guint32 *alike;     /* the same, by callee, then in order */
        guint32 n_choice;

        /* By callee: how long after a parent's enter it calls it, and how long before its
         * reply that returns. */
        DelayDensities bounds;
        guint32 *enter_row, *reply_row;

        Children old_p, old_q, new_p, new_q;
        WalkEvent *events;
        guint32 events_room;
} Joint;

/* --- candidates ------------------------------------------------------------ */

static void find_candidates(Nesting *n, Joint *j, Candidates *candidates)
{
        const NodeCalls *node = j->node;
        gsize n_all = 0, room = node->n_out;
        guint32 next_in = 0;

        j->candidate = g_new(guint32, room);
        for (guint32 i = 0; i < node->n_out; i++) {
                const CallOut *child = &node->out[i];
                guint32 n_found;

                for (; next_in < node->n_in && node->in[next_in].enter < child->start + j->window;
                     next_in++)
                        candidates_add(candidates, node->in[next_in].enter, node->in[next_in].reply,
                                       0, next_in);
                n_found = candidates_find(candidates, child->start, child->end);
                if (n_all + n_found > room) {
                        room = 2 * (n_all + n_found);
                        j->candidate = g_renew(guint32, j->candidate, room);
                }
                j->candidates[i] = n_all;
                for (guint32 k = 0; k < n_found; k++) {
                        guint32 parent = candidates->which[candidates->found[k]];

                        if (node->in[parent].call != child->call) /* a node that calls itself */
                                j->candidate[n_all++] = parent;
                }
                nesting_note_candidates(n, child->call, n_all - j->candidates[i]);
                j->n_choice += n_all - j->candidates[i] > 1;
        }
        j->candidates[node->n_out] = n_all;
        j->weight = g_new(guint32, MAX(n_all, 1));
        j->seen = g_new0(guint8, MAX(n_all, 1));
}

static inline guint32 n_candidates(const Joint *j, guint32 child)
{
        return j->candidates[child + 1] - j->candidates[child];
}

/* Whether parent is a candidate of child. */
static inline gboolean may_be(const Joint *j, guint32 child, guint32 parent)
{
        const CallOut *c = &j->node->out[child];
        const CallIn *p = &j->node->in[parent];

        return p->enter < c->start + j->window && p->reply >= MAX(c->start, c->end) - j->window &&
               p->call != c->call;
}

/* --- bounds: since a parent's enter, until its reply ------------------------ */

static void count_bounds(Joint *j, guint32 child, guint32 parent, guint32 count)
{
        const WalkCall *call = &j->calls[child];
        const CallIn *in = &j->node->in[parent];

        delay_densities_count(&j->bounds, j->enter_row[call->callee],
                              density_bin(call->start - in->enter), count);
        delay_densities_count(&j->bounds, j->reply_row[call->callee],
                              density_bin(in->reply - call->end), count);
}

/* Weighs the candidates of each call by how usual its delays are since their enter and until
 * their reply: from 1 to MOST_WEIGHT + 1, the latter the best one's. */
static void weigh_candidates(Joint *j)
{
        double power[128] = { MOST_WEIGHT };

        for (guint i = 1; i < G_N_ELEMENTS(power); i++)
                power[i] = power[i - 1] * 0.939413062813476; /* e^(-1/16) */
        for (guint32 i = 0; i < j->n_choice; i++) {
                guint32 child = j->choice[i], sum = 0;
                const WalkCall *call = &j->calls[child];
                const gint16 *since = j->bounds.log[j->enter_row[call->callee]];
                const gint16 *until = j->bounds.log[j->reply_row[call->callee]];
                gsize first = j->candidates[child], end = j->candidates[child + 1];
                gint32 best = G_MININT32;

                for (gsize k = first; k < end; k++) {
                        const CallIn *in = &j->node->in[j->candidate[k]];
                        gint32 log = since[density_bin(call->start - in->enter)] +
                                     until[density_bin(in->reply - call->end)];

                        j->weight[k] = (guint32)log;
                        best = MAX(best, log);
                }
                for (gsize k = first; k < end; k++) {
                        guint32 below = (guint32)(best - (gint32)j->weight[k]) / (LOG_UNIT / 16);

                        sum += 1 + (guint32)power[MIN(below, G_N_ELEMENTS(power) - 1)];
                        j->weight[k] = sum;
                }
        }
}

static inline guint32 weight_of(const Joint *j, guint32 child, gsize k)
{
        return j->weight[k] - (k > j->candidates[child] ? j->weight[k - 1] : 0);
}

/* --- the first assignment --------------------------------------------------- */

/* Learns bounds where nothing is known of parents, by expectation maximisation: each call counts
 * for all its candidates, first alike, then as their weights are. */
static void learn_bounds(Joint *j)
{
        for (guint32 i = 0; i < j->node->n_out; i++)
                for (gsize k = j->candidates[i]; k < j->candidates[i + 1]; k++)
                        j->weight[k] = 1 + k - j->candidates[i];
        for (guint round = 0; round < BOUNDS_ROUNDS; round++) {
                delay_densities_fade(&j->bounds);
                for (guint32 i = 0; i < j->node->n_out; i++) {
                        gsize end = j->candidates[i + 1];

                        for (gsize k = j->candidates[i]; k < end; k++)
                                count_bounds(j, i, j->candidate[k],
                                             weight_of(j, i, k) * DENSITY_COUNT /
                                                     j->weight[end - 1]);
                }
                delay_densities_learn(&j->bounds);
                weigh_candidates(j);
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

        learn_bounds(j);
        memset(last, 0xff, n_in * sizeof *last);
        memset(j->first, 0xff, n_in * sizeof *j->first);
        for (guint32 i = 0; i < n_out; i++) {
                guint32 parent = NO_PARENT;
                double best = 0;

                for (gsize k = j->candidates[i]; k < j->candidates[i + 1]; k++) {
                        guint32 against = count_against(j, i, j->candidate[k], last, before);
                        double score = weight_of(j, i, k) / (1.0 + 4 * against);

                        if (score > best) {
                                best = score;
                                parent = j->candidate[k];
                        }
                }
                j->parent[i] = parent;
                j->next[i] = NO_PARENT;
                if (parent == NO_PARENT)
                        continue;
                before[i] = last[parent];
                last[parent] = i;
                if (before[i] == NO_PARENT)
                        j->first[parent] = i;
                else
                        j->next[before[i]] = i;
        }
}

/* --- walks of parents ------------------------------------------------------ */

static inline void add_child(Children *c, guint32 child)
{
        if (c->n == c->room) {
                c->room = MAX(16, 2 * c->room);
                c->child = g_renew(guint32, c->child, c->room);
        }
        c->child[c->n++] = child;
}

static void get_children(const Joint *j, guint32 parent, Children *c)
{
        c->n = 0;
        for (guint32 k = j->first[parent]; k != NO_PARENT; k = j->next[k])
                add_child(c, k);
}

static void set_children(Joint *j, guint32 parent, const Children *c)
{
        guint32 next = NO_PARENT;

        for (guint32 i = c->n; i-- > 0; next = c->child[i]) {
                j->next[c->child[i]] = next;
                j->parent[c->child[i]] = parent;
        }
        j->first[parent] = next;
}

/* The steps of parent with these children; they are in events. */
static inline guint32 run(Joint *j, guint32 parent, const Children *c)
{
        const CallIn *in = &j->node->in[parent];

        if (2 * c->n + 1 > j->events_room) {
                j->events_room = 4 * c->n + 64;
                j->events = g_renew(WalkEvent, j->events, j->events_room);
        }
        return parent_walk_run(&j->walk, in->caller, in->enter, in->reply, j->calls, c->child, c->n,
                               j->events);
}

static gint32 log_of(Joint *j, guint32 parent, const Children *c)
{
        guint32 n = run(j, parent, c);

        return parent_walk_log(&j->walk, j->events, n);
}

static void measure_all(Joint *j)
{
        for (guint32 p = 0; p < j->node->n_in; p++) {
                get_children(j, p, &j->old_p);
                j->log[p] = log_of(j, p, &j->old_p);
        }
}

/* --- assignment in the order of time --------------------------------------- */

/* A parent on its way. */
typedef struct {
        WalkPlace at;
        guint32 last; /* child */
        guint32 open; /* the child that returns next, or NO_PARENT */
} Way;

/* Takes p over the returns up to time; later links children that are under way. */
static void advance(Joint *j, Way *p, const guint32 *later, gint64 time)
{
        for (; p->open != NO_PARENT && j->calls[p->open].end <= time; p->open = later[p->open])
                p->at = parent_walk_return(&j->walk, p->at, j->calls[p->open].callee,
                                           j->calls[p->open].end);
}

/* Each call, in order, to the candidate that is most likely to make it now, as far as that
 * has come by what it was given before, and to reply so long after its return. */
static void assign_in_time(Joint *j)
{
        guint32 n_in = j->node->n_in, n_out = j->node->n_out;
        g_autofree guint32 *later = g_new(guint32, n_out);
        g_autofree Way *ways = g_new(Way, n_in);

        parent_walk_learn_patience(&j->walk);
        for (guint32 p = 0; p < n_in; p++) {
                const CallIn *in = &j->node->in[p];

                ways[p] = (Way){ parent_walk_start(&j->walk, in->caller, in->enter), NO_PARENT,
                                 NO_PARENT };
                j->first[p] = NO_PARENT;
        }
        for (guint32 i = 0; i < n_out; i++) {
                const WalkCall *call = &j->calls[i];
                const gint16 *rest = j->bounds.log[j->reply_row[call->callee]];
                gint32 best = G_MININT32;
                guint32 parent = NO_PARENT, *open;
                Way *way;

                for (gsize k = j->candidates[i]; k < j->candidates[i + 1]; k++) {
                        guint32 p = j->candidate[k];
                        gint32 log;

                        advance(j, &ways[p], later, call->start);
                        log = parent_walk_urge(&j->walk, ways[p].at, call->callee, call->start) +
                              rest[density_bin(j->node->in[p].reply - call->end)];
                        if (log > best) {
                                best = log;
                                parent = p;
                        }
                }
                j->parent[i] = parent;
                j->next[i] = NO_PARENT;
                if (parent == NO_PARENT)
                        continue;
                way = &ways[parent];
                if (way->last == NO_PARENT)
                        j->first[parent] = i;
                else
                        j->next[way->last] = i;
                way->last = i;
                way->at = parent_walk_call(&j->walk, way->at, call->callee, call->start);
                for (open = &way->open; *open != NO_PARENT && j->calls[*open].end <= call->end;)
                        open = &later[*open];
                later[i] = *open;
                *open = i;
        }
}

/* --- calm ------------------------------------------------------------------ */

static int compare_times(const void *a, const void *b)
{
        gint64 x = *(const gint64 *)a, y = *(const gint64 *)b;

        return (x > y) - (x < y);
}

static int compare_crowds(const void *a, const void *b)
{
        guint64 x = *(const guint64 *)a, y = *(const guint64 *)b;

        return (x > y) - (x < y);
}

/* Moments in order, and the sum of those before each, modulo 2^64. */
typedef struct {
        gint64 *time;
        guint64 *sum;
        guint32 n;
} Moments;

static void sum_moments(Moments *m)
{
        qsort(m->time, m->n, sizeof *m->time, compare_times);
        m->sum[0] = 0;
        for (guint32 i = 0; i < m->n; i++)
                m->sum[i + 1] = m->sum[i] + (guint64)m->time[i];
}

/* How long it is since each of the moments before time, all together, modulo 2^64. */
static guint64 time_since(const Moments *m, gint64 time)
{
        guint32 low = 0, high = m->n;

        while (low < high) {
                guint32 middle = low + (high - low) / 2;

                if (m->time[middle] < time)
                        low = middle + 1;
                else
                        high = middle;
        }
        return (guint64)time * low - m->sum[low];
}

/* How many calls were open in the mean while each was: what is open at a time, summed up to
 * the reply, less that up to the call. */
static void find_crowds(Joint *j)
{
        guint32 n = j->node->n_in;
        g_autofree gint64 *enters = g_new(gint64, n), *replies = g_new(gint64, n);
        g_autofree guint64 *enter_sums = g_new(guint64, n + 1), *reply_sums = g_new(guint64, n + 1);
        Moments enter = { enters, enter_sums, n }, reply = { replies, reply_sums, n };

        for (guint32 p = 0; p < n; p++) {
                enters[p] = j->node->in[p].enter;
                replies[p] = MAX(j->node->in[p].reply, enters[p]);
        }
        sum_moments(&enter);
        sum_moments(&reply);
        for (guint32 p = 0; p < n; p++) {
                gint64 from = j->node->in[p].enter, to = MAX(j->node->in[p].reply, from + 1);
                guint64 open = time_since(&enter, to) - time_since(&reply, to) -
                               time_since(&enter, from) + time_since(&reply, from);

                j->crowd[p] = (double)open / (double)(to - from) * 256;
        }
}

/* --- learning -------------------------------------------------------------- */

/* The crowd at which parents are no longer calm enough for a round. */
static guint64 calm_until(const guint64 *crowds, guint32 n, guint round)
{
        if (round >= CALM_ROUNDS)
                return G_MAXUINT64;
        return crowds[(guint64)(n - 1) * (CALM_ROUNDS + 9 * round) / (10 * CALM_ROUNDS)];
}

static void learn(Joint *j, guint64 calm)
{
        parent_walk_fade(&j->walk);
        delay_densities_fade(&j->bounds);
        for (guint32 p = 0; p < j->node->n_in; p++) {
                guint32 n;

                if (j->crowd[p] > calm)
                        continue;
                get_children(j, p, &j->old_p);
                n = run(j, p, &j->old_p); /* may move the events */
                parent_walk_count(&j->walk, j->events, n);
                for (guint32 i = 0; i < j->old_p.n; i++)
                        count_bounds(j, j->old_p.child[i], p, DENSITY_COUNT);
        }
        parent_walk_learn(&j->walk);
        delay_densities_learn(&j->bounds);
}

/* --- sampling -------------------------------------------------------------- */

/* Where in candidate the parent of child is. */
static gsize find_parent(const Joint *j, guint32 child)
{
        gsize low = j->candidates[child], high = j->candidates[child + 1];

        while (high - low > 1) {
                gsize middle = (low + high) / 2;

                if (j->candidate[middle] <= j->parent[child])
                        low = middle;
                else
                        high = middle;
        }
        return low;
}

/* Draws a candidate of child by weight; FALSE if it is its parent. gain is the logarithm of how
 * much more often the parent is drawn than that. */
static gboolean draw_candidate(Joint *j, guint32 child, guint32 *candidate, gint32 *gain)
{
        gsize low = j->candidates[child], high = j->candidates[child + 1] - 1, now;
        guint32 draw = random_below(&j->random, j->weight[high]);

        while (low < high) {
                gsize middle = (low + high) / 2;

                if (j->weight[middle] <= draw)
                        low = middle + 1;
                else
                        high = middle;
        }
        *candidate = j->candidate[low];
        if (*candidate == j->parent[child])
                return FALSE;
        now = find_parent(j, child);
        *gain = fixed_log((double)weight_of(j, child, now) / weight_of(j, child, low));
        return TRUE;
}

/* Gives p and q the children new_p and new_q, or not, as likely as that makes them; gain is
 * the logarithm of how much more often the change back is proposed. */
static void decide(Joint *j, guint32 p, guint32 q, gint32 gain)
{
        gint32 log_p = log_of(j, p, &j->new_p), log_q = log_of(j, q, &j->new_q);

        gain += log_p + log_q - j->log[p] - j->log[q];
        if (gain < 0 && gain < fixed_log((random_next(&j->random) + 0.5) / 4294967296.0))
                return;
        set_children(j, p, &j->new_p);
        set_children(j, q, &j->new_q);
        j->log[p] = log_p;
        j->log[q] = log_q;
}

/* Copies children, without one, with another in its place in the order; or NO_PARENT. */
static void exchange(Children *to, const Children *from, guint32 without, guint32 with)
{
        to->n = 0;
        for (guint32 i = 0; i < from->n; i++) {
                if (with < from->child[i]) {
                        add_child(to, with);
                        with = NO_PARENT;
                }
                if (from->child[i] != without)
                        add_child(to, from->child[i]);
        }
        if (with != NO_PARENT)
                add_child(to, with);
}

/* One child goes to another parent. */
static void try_move(Joint *j, guint32 child)
{
        guint32 p = j->parent[child], q;
        gint32 gain;

        if (!draw_candidate(j, child, &q, &gain))
                return;
        get_children(j, p, &j->old_p);
        get_children(j, q, &j->old_q);
        exchange(&j->new_p, &j->old_p, child, NO_PARENT);
        exchange(&j->new_q, &j->old_q, NO_PARENT, child);
        decide(j, p, q, gain);
}

/* Two children of the same callee, not far apart, exchange their parents. */
static void try_swap(Joint *j, guint32 child)
{
        guint32 reach = MIN(n_candidates(j, child), j->n_choice - 1);
        guint32 step = 1 + random_below(&j->random, 2 * reach), other, p, q;
        gint64 rank = j->rank[child];

        rank = step <= reach ? rank + step : rank - (step - reach);
        if (rank < 0 || rank >= j->n_choice)
                return;
        other = j->alike[rank];
        p = j->parent[child];
        q = j->parent[other];
        if (p == q || j->calls[other].callee != j->calls[child].callee || !may_be(j, child, q) ||
            !may_be(j, other, p))
                return;
        get_children(j, p, &j->old_p);
        get_children(j, q, &j->old_q);
        exchange(&j->new_p, &j->old_p, child, other);
        exchange(&j->new_q, &j->old_q, other, child);
        decide(j, p, q, 0);
}

/* Copies to the end of to the children that begin before child does, or those that do not; FALSE if
 * it gets one that parent cannot have. */
static gboolean add_part(const Joint *j, Children *to, const Children *from, guint32 child,
                         gboolean before, guint32 parent)
{
        for (guint32 i = 0; i < from->n; i++) {
                if ((from->child[i] < child) != before)
                        continue;
                if (!before && !may_be(j, from->child[i], parent))
                        return FALSE;
                add_child(to, from->child[i]);
        }
        return TRUE;
}

/* From child on, two parents exchange all their children. */
static void try_cross(Joint *j, guint32 child)
{
        guint32 p = j->parent[child], q;
        gint32 gain;

        if (!draw_candidate(j, child, &q, &gain))
                return;
        get_children(j, p, &j->old_p);
        get_children(j, q, &j->old_q);
        j->new_p.n = j->new_q.n = 0;
        add_part(j, &j->new_p, &j->old_p, child, TRUE, p);
        add_part(j, &j->new_q, &j->old_q, child, TRUE, q);
        if (add_part(j, &j->new_p, &j->old_q, child, FALSE, p) &&
            add_part(j, &j->new_q, &j->old_p, child, FALSE, q))
                decide(j, p, q, gain);
}

static void sweep(Joint *j, guint times)
{
        for (guint t = 0; t < times; t++)
                for (guint32 i = 0; i < j->n_choice; i++) {
                        guint32 child = j->choice[i];

                        switch (random_below(&j->random, 3)) {
                        case 0:
                                try_move(j, child);
                                break;
                        case 1:
                                try_swap(j, child);
                                break;
                        default:
                                try_cross(j, child);
                        }
                }
}

static void note_sample(Joint *j)
{
        for (guint32 i = 0; i < j->n_choice; i++)
                j->seen[find_parent(j, j->choice[i])]++;
}

/* --- all of it ------------------------------------------------------------- */

static int compare_alike(const void *a, const void *b, void *data)
{
        const WalkCall *calls = data;
        guint32 i = *(const guint32 *)a, k = *(const guint32 *)b;

        if (calls[i].callee != calls[k].callee)
                return calls[i].callee < calls[k].callee ? -1 : 1;
        return (i > k) - (i < k);
}

static void list_choices(Joint *j)
{
        guint32 n = 0;

        j->choice = g_new(guint32, j->n_choice);
        j->alike = g_new(guint32, j->n_choice);
        for (guint32 i = 0; i < j->node->n_out; i++)
                if (n_candidates(j, i) > 1)
                        j->choice[n] = j->alike[n] = i, n++;
        qsort_r(j->alike, n, sizeof *j->alike, compare_alike, j->calls);
        for (guint32 i = 0; i < n; i++)
                j->rank[j->alike[i]] = i;
}

static void sample(Joint *j)
{
        g_autofree guint64 *crowds = NULL;

        list_choices(j);
        assign_first(j);
        find_crowds(j);
        crowds = g_memdup2(j->crowd, j->node->n_in * sizeof *crowds);
        qsort(crowds, j->node->n_in, sizeof *crowds, compare_crowds);
        parent_walk_init(&j->walk, j->node->n_callers, j->node->n_callees);
        for (guint round = 0; round < ROUNDS; round++) {
                learn(j, calm_until(crowds, j->node->n_in, round));
                if (round < FRESH_ROUNDS)
                        assign_in_time(j);
                measure_all(j);
                weigh_candidates(j);
                sweep(j, SWEEPS);
        }
        learn(j, G_MAXUINT64);
        measure_all(j);
        weigh_candidates(j);
        sweep(j, SETTLE);
        for (guint i = 0; i < SAMPLES; i++) {
                sweep(j, SWEEPS_APART);
                note_sample(j);
        }
}

/* Each call's most frequent parent, of equally frequent ones the earliest. */
static void set_causes(Nesting *n, const Joint *j, gboolean cycles)
{
        for (guint32 i = 0; i < j->node->n_out; i++) {
                guint32 call = j->node->out[i].call;
                gboolean choice = n_candidates(j, i) > 1;
                Cause best = { NO_PARENT, -1 };

                for (gsize k = j->candidates[i]; k < j->candidates[i + 1]; k++) {
                        float share = choice ? (float)j->seen[k] / SAMPLES : 1;
                        guint32 parent = j->node->in[j->candidate[k]].call;

                        if (share > best.probability &&
                            !(cycles && nesting_is_within(n, parent, call)))
                                best = (Cause){ parent, share };
                }
                if (best.parent != NO_PARENT)
                        n->calls.cause[call] = best;
        }
}

static void joint_init(Joint *j)
{
        guint32 n_in = j->node->n_in, n_out = j->node->n_out;

        j->calls = g_new(WalkCall, n_out);
        j->parent = g_new(guint32, n_out);
        j->next = g_new(guint32, n_out);
        j->rank = g_new(guint32, n_out);
        j->enter_row = g_new(guint32, j->node->n_callees);
        j->reply_row = g_new(guint32, j->node->n_callees);
        delay_densities_init(&j->bounds);
        for (guint32 i = 0; i < j->node->n_callees; i++) {
                j->enter_row[i] = delay_densities_add_row(&j->bounds, 0);
                j->reply_row[i] = delay_densities_add_row(&j->bounds, 0);
        }
        j->candidates = g_new(gsize, n_out + 1);
        j->first = g_new(guint32, n_in);
        j->log = g_new(gint32, n_in);
        j->crowd = g_new(guint64, n_in);
        for (guint32 i = 0; i < n_out; i++)
                j->calls[i] = (WalkCall){ j->node->out[i].start, j->node->out[i].end,
                                          j->node->out[i].callee };
}

static void joint_clear(Joint *j)
{
        parent_walk_clear(&j->walk);
        delay_densities_clear(&j->bounds);
        g_free(j->enter_row);
        g_free(j->reply_row);
        g_free(j->calls);
        g_free(j->parent);
        g_free(j->next);
        g_free(j->rank);
        g_free(j->candidates);
        g_free(j->first);
        g_free(j->log);
        g_free(j->crowd);
        g_free(j->candidate);
        g_free(j->weight);
        g_free(j->seen);
        g_free(j->choice);
        g_free(j->alike);
        g_free(j->old_p.child);
        g_free(j->old_q.child);
        g_free(j->new_p.child);
        g_free(j->new_q.child);
        g_free(j->events);
}

void find_parents_jointly(Nesting *n, const NodeCalls *node, Candidates *candidates)
{
        Joint j = { .node = node, .window = n->options.window, .random = { 1 } };

        joint_init(&j);
        find_candidates(n, &j, candidates);
        if (j.n_choice > 0)
                sample(&j);
        set_causes(n, &j, n->cycles);
        joint_clear(&j);
}
