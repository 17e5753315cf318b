/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Leases of connections as evidence. A connection is leased to a parent and given back: after each
 * call, at a commit, at the parent's end, or never; to whom it then goes depends on the pool. So
 * the parent of a call depends on the parent of the call before it on its connection, and on what
 * that parent and others have used.
 *
 * The *situation* of a call is what is known of its connection before it: the call before, whether
 * its transaction is still open, and whether its parent may have made this call too. The *standing*
 * of a candidate is what it has to do with the connection: it made the call before; it used the
 * connection earlier; it used another one; it used none to this callee. For each callee and
 * situation is learned how often the parent has which standing, and how often it would have it if
 * the connections of the calls of each second were dealt again at random. The ratio of the two is
 * the factor of the candidate's likelihood. What the walks of parents know already, as how many
 * calls they make, is in both, and cancels.
 *
 * The table is learned in each round from the assignment. A callee whose table fits its calls
 * hardly better than one of connections dealt at random has none, and its connections say nothing.
 */
#include "inference/evidence-table.h"

#include <math.h>

#include "base/exact-log.h"
#include "base/fill.h"
#include "base/fixed-log.h"
#include "base/hash.h"
#include "inference/assignment.h"
#include "inference/family.h"
#include "inference/tuning.h"

/* What came before on the connection. */
typedef enum {
        OPENED,      /* nothing: it was opened for this call, or not long before */
        IDLE,        /* a call that has returned */
        TRANSACTION, /* one after whose return a transaction was open */
        OVERLAP,     /* one that has not returned */
        N_BEFORE,
        NOT_KNOWN = N_BEFORE,
} Before;

/* A situation is twice the Before, and 1 where the parent of the call before is a candidate. */
enum { N_SITUATIONS = 2 * N_BEFORE };

/* After an opening, where nobody has made the call before, parents that entered after it, that
 * did not, and those that have used another connection. */
typedef enum {
        HOLDS,
        USED, /* or: entered before the opening */
        ELSEWHERE,
        FRESH,
        N_STANDINGS
} Standing;

/* Times that the connections are dealt at random, and what the learned frequencies back off
 * with. A table must gain LEASE_GAIN nats, and LEASE_TIMES the gain of one more random deal. */
enum { LEASE_DEALS = 2, LEASE_BACKOFF = 4, LEASE_GAIN = 20, LEASE_TIMES = 4 };

enum { LEASE_SUPPOSE_ROUNDS = 4 }; /* rounds of the chain that still suppose leases */

/* The limits of a ratio. */
#define LEASE_LEAST_RATIO 1e-4
#define LEASE_MOST_RATIO  1e4

/* The least chance that a call leaves a candidate by itself. */
#define LEASE_LEAST_CHANCE 1e-4

#define SQRT2 1.4142135623730951

/* At first it is supposed that who may hold a connection does, to this part. Calls that follow each
 * other hang together where they have one parent in more than LEASE_TIED of cases. */
#define LEASE_SUPPOSED 0.97
#define LEASE_TIED     0.7

typedef double Counts[N_SITUATIONS][N_STANDINGS];

/* What is known of the connections to one callee. */
typedef struct {
        Counts seen, dealt; /* how often the parent has which standing; the latter at random */
        double ratio[N_SITUATIONS][N_STANDINGS];
        gint32 log[N_SITUATIONS][N_STANDINGS]; /* in 1/LOG_UNIT */
        double run;                            /* mean_run() */
        guint32 n_connections, n_opened;       /* in this problem; whose opening is known */
        double other[N_SITUATIONS]; /* the ratio for a parent that did not make the call before */
        guint8 ties[N_BEFORE];      /* calls that follow each other hang together */
        gboolean in_use;
} LeaseTable;

/* The calls of each connection. */
typedef struct {
        guint32 *connection; /* by call; NO_PARENT: unknown */
        guint32 *before;     /* by call: the call before it on its connection, or NO_PARENT */
        gint64 *lead;        /* by call: as CallOut.lead */
} Sequence;

typedef struct {
        guint32 call, owner;
        gint32 log;
} Replaced;

typedef struct {
        Evidence evidence;
        LeaseTable *table;   /* by number of the callee */
        GHashTable *numbers; /* of callees, by node, from 1 */
        guint32 n_tables, n_connections;

        /* Of the present problem. */
        const Joint *j;
        guint32 *callee; /* by call: the number of its callee, whatever its label */
        Sequence actual;
        guint32 *after; /* by call: the next one on its connection, or NO_PARENT */

        /* Assignment in order of time: the calls before `absorbed` are linked. */
        guint32 absorbed;
        guint32 *last, *earlier; /* by parent: its last child; by call: the child before it */

        /* The chain. */
        guint32 *owner;     /* by call: its parent, or NO_PARENT */
        gint32 *log;        /* by call: the log of its ratio, in 1/LOG_UNIT */
        guint chain_rounds; /* of a chain that learns */
        gboolean in_chain;
        gboolean stale; /* log is not known */
        Replaced replaced[4 * MOST_CHILDREN];
        guint32 n_replaced;
} Leases;

static inline LeaseTable *table_of(const Leases *l, guint32 call)
{
        return &l->table[l->callee[call]];
}

/* --- what it learns ---------------------------------------------------------- */

static Evidence *make(const NodeModel *model G_GNUC_UNUSED)
{
        Leases *l = g_new0(Leases, 1);

        l->numbers = g_hash_table_new(NULL, NULL);
        return &l->evidence;
}

static void clear(Evidence *e)
{
        Leases *l = (Leases *)e;

        g_hash_table_unref(l->numbers);
        g_free(l->table);
}

/* --- sequences ----------------------------------------------------------------- */

static void sequence_init(Sequence *s, guint32 n)
{
        s->connection = g_new(guint32, n);
        s->before = g_new(guint32, n);
        s->lead = g_new(gint64, n);
}

static void sequence_clear(Sequence *s)
{
        g_free(s->connection);
        g_free(s->before);
        g_free(s->lead);
}

/* Finds the call before each. latest: room by connection. */
static void find_before(const Leases *l, Sequence *s, guint32 *latest)
{
        fill(latest, 0xff, l->n_connections * sizeof *latest);
        for (guint32 i = 0; i < l->j->problem->node->n_out; i++) {
                s->before[i] = NO_PARENT;
                if (s->connection[i] == NO_PARENT)
                        continue;
                s->before[i] = latest[s->connection[i]];
                latest[s->connection[i]] = i;
        }
}

/* Numbers the connections of this problem from 0. */
static void number_connections(Leases *l, Sequence *s)
{
        const NodeProblem *node = l->j->problem->node;
        g_autoptr(GHashTable) numbers = g_hash_table_new(NULL, NULL);

        l->n_connections = 0;
        for (guint32 i = 0; i < node->n_out; i++) {
                gpointer key = GUINT_TO_POINTER(node->out[i].connection), number;

                s->lead[i] = node->out[i].lead;
                s->connection[i] = NO_PARENT;
                if (!node->out[i].connection)
                        continue;
                number = g_hash_table_lookup(numbers, key);
                if (!number) {
                        number = GUINT_TO_POINTER(++l->n_connections);
                        g_hash_table_insert(numbers, key, number);
                }
                s->connection[i] = GPOINTER_TO_UINT(number) - 1;
        }
}

/* Numbers the callees; those that are new get a table. */
static void number_callees(Leases *l)
{
        const NodeProblem *node = l->j->problem->node;

        for (guint32 i = 0; i < node->n_out; i++) {
                gpointer key = GUINT_TO_POINTER(node->out[i].callee);
                gpointer number = g_hash_table_lookup(l->numbers, key);

                if (!number) {
                        l->table = g_renew(LeaseTable, l->table, l->n_tables + 1);
                        l->table[l->n_tables] = (LeaseTable){ 0 };
                        number = GUINT_TO_POINTER(++l->n_tables);
                        g_hash_table_insert(l->numbers, key, number);
                }
                l->callee[i] = GPOINTER_TO_UINT(number) - 1;
        }
}

static void end(Evidence *e)
{
        Leases *l = (Leases *)e;

        sequence_clear(&l->actual);
        g_clear_pointer(&l->callee, g_free);
        g_clear_pointer(&l->after, g_free);
        g_clear_pointer(&l->last, g_free);
        g_clear_pointer(&l->earlier, g_free);
        g_clear_pointer(&l->owner, g_free);
        g_clear_pointer(&l->log, g_free);
        l->actual = (Sequence){ 0 };
        l->j = NULL;
}

static void begin(Evidence *e, const Joint *j)
{
        Leases *l = (Leases *)e;
        guint32 n_out = j->problem->node->n_out;
        g_autofree guint32 *latest = NULL;

        end(e);
        l->j = j;
        sequence_init(&l->actual, n_out);
        number_connections(l, &l->actual);
        e->watched = l->n_connections > 0;
        if (!e->watched)
                return;
        l->callee = g_new(guint32, n_out);
        number_callees(l);
        latest = g_new(guint32, l->n_connections);
        find_before(l, &l->actual, latest);
        for (guint32 k = 0; k < l->n_tables; k++)
                l->table[k].n_connections = l->table[k].n_opened = 0;
        for (guint32 i = 0; i < n_out; i++) {
                LeaseTable *t = table_of(l, i);

                t->n_connections +=
                        l->actual.connection[i] != NO_PARENT && l->actual.before[i] == NO_PARENT;
                t->n_opened += l->actual.lead[i] > 0;
        }
        l->after = g_new(guint32, n_out);
        fill(l->after, 0xff, n_out * sizeof *l->after);
        for (guint32 i = 0; i < n_out; i++)
                if (l->actual.before[i] != NO_PARENT)
                        l->after[l->actual.before[i]] = i;
        l->last = g_new(guint32, j->problem->node->n_in);
        l->earlier = g_new(guint32, n_out);
        l->absorbed = G_MAXUINT32;
        l->owner = g_new(guint32, n_out);
        l->log = g_new0(gint32, n_out);
}

/* --- situations and standings ---------------------------------------------------- */

static Before before_of(const Leases *l, const Sequence *s, guint32 call)
{
        const NodeProblem *node = l->j->problem->node;
        guint32 before = s->before[call];

        if (s->connection[call] == NO_PARENT || (before == NO_PARENT && s->lead[call] == 0))
                return NOT_KNOWN;
        if (before == NO_PARENT)
                return OPENED;
        if (node->out[before].end > node->out[call].start)
                return OVERLAP;
        return node->out[before].flags & OUT_TRANSACTION ? TRANSACTION : IDLE;
}

/* Whether a parent that has made an earlier call may have made this one too. */
static inline gboolean may_make(const Joint *j, guint32 parent, guint32 call)
{
        return problem_find_candidate(j->problem, call, parent) != G_MAXSIZE;
}

static inline guint situation(Before before, gboolean open)
{
        return 2 * before + (open != FALSE);
}

/* The standing of a parent that did not make the call before, by what one of its earlier children
 * has used. */
static inline Standing standing_with(const Leases *l, const Sequence *s, guint32 call,
                                     guint32 child, Standing so_far)
{
        if (so_far == USED || l->callee[child] != l->callee[call])
                return so_far;
        return s->connection[child] == s->connection[call] ? USED : ELSEWHERE;
}

/* After an opening. */
static Standing standing_at_opening(const Leases *l, const Sequence *s, guint32 call,
                                    guint32 parent, Standing used)
{
        const CallOut *out = &l->j->problem->node->out[call];

        if (l->j->problem->node->in[parent].enter > out->start - s->lead[call])
                return used == FRESH ? USED : HOLDS;
        return used;
}

/* The standing of a parent by the assignment, of which all of its children are linked. */
static Standing standing_assigned(const Leases *l, const Sequence *s, guint32 call, guint32 parent)
{
        const Joint *j = l->j;
        Standing standing = FRESH;

        for (guint32 k = j->assignment->first[parent]; k != NO_PARENT && k < call;
             k = j->assignment->next[k])
                standing = standing_with(l, s, call, k, standing);
        return standing;
}

/* --- tables ---------------------------------------------------------------------- */

static inline gboolean is_learned_from(const Joint *j, guint32 call)
{
        return j->assignment->parent[call] != NO_PARENT &&
               is_training_parent(j->problem, j->assignment->parent[call]);
}

/* Counts the standings of the assigned parents. */
static void count(const Leases *l, const Sequence *s, Counts *counts)
{
        const Joint *j = l->j;

        for (guint32 i = 0; i < j->problem->node->n_out; i++) {
                Before before = before_of(l, s, i);
                guint32 parent = j->assignment->parent[i], of_before;
                Standing standing;
                gboolean open = FALSE;

                if (before == NOT_KNOWN || n_candidates(j->problem, i) < 2 ||
                    !is_learned_from(j, i))
                        continue;
                standing = standing_assigned(l, s, i, parent);
                if (before == OPENED) {
                        standing = standing_at_opening(l, s, i, parent, standing);
                } else {
                        if (!is_learned_from(j, s->before[i]))
                                continue;
                        of_before = j->assignment->parent[s->before[i]];
                        open = of_before == parent || may_make(j, of_before, i);
                        if (of_before == parent)
                                standing = HOLDS;
                }
                counts[l->callee[i]][situation(before, open)][standing]++;
        }
}

/* Deals the connections of the calls to each callee in each second again. */
static void deal(const Leases *l, Sequence *s, guint64 *random)
{
        const NodeProblem *node = l->j->problem->node;
        guint32 n_out = node->n_out;
        g_autofree guint32 *order = g_new(guint32, n_out), *first = NULL, *latest = NULL;
        guint32 n = 0;

        /* By callee, in order of time. */
        first = g_new0(guint32, l->n_tables + 1);
        for (guint32 i = 0; i < n_out; i++)
                first[l->callee[i] + 1] += s->connection[i] != NO_PARENT;
        for (guint32 k = 0; k < l->n_tables; k++)
                first[k + 1] += first[k];
        n = first[l->n_tables];
        for (guint32 i = 0; i < n_out; i++)
                if (s->connection[i] != NO_PARENT)
                        order[first[l->callee[i]]++] = i;
        for (guint32 from = 0, to; from < n; from = to) {
                guint32 callee = l->callee[order[from]];
                gint64 second = node->out[order[from]].start / 1000000000;

                for (to = from; to < n && l->callee[order[to]] == callee &&
                                node->out[order[to]].start / 1000000000 == second;
                     to++)
                        ;
                for (guint32 k = to - from; k > 1; k--) {
                        guint32 a, b, connection;
                        gint64 lead;

                        *random ^= *random << 13;
                        *random ^= *random >> 7;
                        *random ^= *random << 17;
                        a = order[from + k - 1];
                        b = order[from + ((*random >> 32) * k >> 32)];
                        connection = s->connection[a];
                        lead = s->lead[a];
                        s->connection[a] = s->connection[b];
                        s->lead[a] = s->lead[b];
                        s->connection[b] = connection;
                        s->lead[b] = lead;
                }
        }
        latest = g_new(guint32, l->n_connections);
        find_before(l, s, latest);
}

static double sum_of(const double *counts)
{
        double sum = 0;

        for (guint i = 0; i < N_STANDINGS; i++)
                sum += counts[i];
        return sum;
}

/* The ratio of frequencies for a standing. */
static double ratio_of(const double *seen, const double *dealt, guint standing)
{
        double n = sum_of(seen), n_dealt = sum_of(dealt);
        double chance = (dealt[standing] + 0.5) / (n_dealt + 0.5 * N_STANDINGS);

        return CLAMP((seen[standing] + LEASE_BACKOFF * chance) / ((n + LEASE_BACKOFF) * chance),
                     LEASE_LEAST_RATIO, LEASE_MOST_RATIO);
}

/* The ratio of frequencies for all parents that do not hold the connection. */
static double ratio_of_others(const double *seen, const double *dealt)
{
        const double others[N_STANDINGS] = { seen[HOLDS], sum_of(seen) - seen[HOLDS] };
        const double dealt_others[N_STANDINGS] = { dealt[HOLDS], sum_of(dealt) - dealt[HOLDS] };

        return ratio_of(others, dealt_others, USED);
}

/* By how many nats the counts are likelier by their frequencies than by those at random. */
static double gain_of(const double *seen, const double *dealt)
{
        double gain = 0;

        for (guint i = 0; i < N_STANDINGS; i++)
                if (seen[i] > 0)
                        gain += seen[i] * exact_log(ratio_of(seen, dealt, i));
        return gain;
}

/* Supposes that a parent that may hold the connection does, if that is more frequent than at
 * random. */
static void suppose(double *seen, const double *dealt, double gain, double by_chance)
{
        double n = sum_of(seen);

        if (gain <= LEASE_GAIN + LEASE_TIMES * MAX(by_chance, 0) ||
            ratio_of(seen, dealt, HOLDS) <= 1)
                return;
        for (guint k = 0; k < N_STANDINGS; k++)
                seen[k] *= (1 - LEASE_SUPPOSED) * n / MAX(n - seen[HOLDS], 1);
        seen[HOLDS] = MAX(seen[HOLDS], LEASE_SUPPOSED * n);
}

/* How many calls follow each other on a connection with one parent, in the mean. */
static double mean_run(const LeaseTable *t)
{
        double all = 0, held = 0;

        for (guint i = 0; i < N_SITUATIONS; i++) {
                all += sum_of(t->seen[i]);
                held += i % 2 ? t->seen[i][HOLDS] : 0;
        }
        return all / MAX(all - held, 1);
}

/* Whether to suppose leases in a situation: of a transaction; and else where there are
 * transactions, or connections are opened as they are needed, as a parent then opens its own. Other
 * pools may deal connections last in, first out, which looks like leases at first; what is true of
 * it is learned. */
static gboolean is_supposed(const LeaseTable *t, guint i)
{
        const double *transaction = t->seen[situation(TRANSACTION, TRUE)];

        return i == situation(TRANSACTION, TRUE) ||
               (i == situation(IDLE, TRUE) &&
                (2 * t->n_opened > t->n_connections || sum_of(transaction) > 0));
}

static void learn_table(LeaseTable *t, Counts *more, gboolean supposes)
{
        double gain = 0, by_chance = 0;

        for (guint i = 0; i < N_SITUATIONS; i++) {
                double of_this = gain_of(t->seen[i], t->dealt[i]);
                double of_chance = gain_of((*more)[i], t->dealt[i]);

                gain += of_this;
                by_chance += of_chance;
                if (supposes && is_supposed(t, i))
                        suppose(t->seen[i], t->dealt[i], of_this, of_chance);
                if (i % 2)
                        t->ties[i / 2] = t->seen[i][HOLDS] > LEASE_TIED * sum_of(t->seen[i]);
                for (guint k = 0; k < N_STANDINGS; k++) {
                        t->ratio[i][k] = ratio_of(t->seen[i], t->dealt[i], k);
                        t->log[i][k] = fixed_log(t->ratio[i][k]);
                }
                t->other[i] = i % 2 ? ratio_of_others(t->seen[i], t->dealt[i]) : 1;
        }
        t->run = mean_run(t);
        t->in_use = gain > LEASE_GAIN + LEASE_TIMES * MAX(by_chance, 0);
}

/* Learns from the assignment. */
static void learn_from_assignment(Evidence *e)
{
        Leases *l = (Leases *)e;
        guint32 n_out = l->j->problem->node->n_out;
        guint64 random = HASH_SEED;
        g_autofree Counts *counts = g_new0(Counts, l->n_tables);
        Sequence dealt;

        sequence_init(&dealt, n_out);
        memcpy(dealt.connection, l->actual.connection, n_out * sizeof *dealt.connection);
        memcpy(dealt.lead, l->actual.lead, n_out * sizeof *dealt.lead);
        count(l, &l->actual, counts);
        for (guint32 k = 0; k < l->n_tables; k++)
                memcpy(l->table[k].seen, counts[k], sizeof *counts);
        memset(counts, 0, l->n_tables * sizeof *counts);
        for (guint i = 0; i < LEASE_DEALS; i++) {
                deal(l, &dealt, &random);
                count(l, &dealt, counts);
        }
        for (guint32 k = 0; k < l->n_tables; k++)
                memcpy(l->table[k].dealt, counts[k], sizeof *counts);
        memset(counts, 0, l->n_tables * sizeof *counts);
        deal(l, &dealt, &random);
        count(l, &dealt, counts);
        e->in_use = FALSE;
        for (guint32 k = 0; k < l->n_tables; k++) {
                learn_table(&l->table[k], &counts[k], l->chain_rounds < LEASE_SUPPOSE_ROUNDS);
                e->in_use |= l->table[k].in_use;
        }
        sequence_clear(&dealt);
}

static void try_first(Evidence *e, Joint *j G_GNUC_UNUSED)
{
        if (e->watched)
                learn_from_assignment(e);
}

static void learn_round(Evidence *e, Joint *j G_GNUC_UNUSED)
{
        Leases *l = (Leases *)e;

        l->chain_rounds += l->in_chain;
        if (e->watched)
                learn_from_assignment(e);
}

static void learn_truth(Evidence *e, Joint *j)
{
        ((Leases *)e)->chain_rounds = LEASE_SUPPOSE_ROUNDS;
        learn_round(e, j);
}

/* --- going back ------------------------------------------------------------------- */

typedef struct {
        guint chain_rounds;
        gboolean in_chain, in_use;
        LeaseTable table[];
} SavedLeases;

static gpointer save(const Evidence *e)
{
        const Leases *l = (const Leases *)e;
        SavedLeases *saved = g_malloc(sizeof *saved + l->n_tables * sizeof *l->table);

        saved->chain_rounds = l->chain_rounds;
        saved->in_chain = l->in_chain;
        saved->in_use = e->in_use;
        memcpy(saved->table, l->table, l->n_tables * sizeof *l->table);
        return saved;
}

static void restore(Evidence *e, gconstpointer of)
{
        const SavedLeases *saved = of;
        Leases *l = (Leases *)e;

        l->chain_rounds = saved->chain_rounds;
        l->in_chain = saved->in_chain;
        e->in_use = saved->in_use;
        memcpy(l->table, saved->table, l->n_tables * sizeof *l->table);
}

/* --- ratios ---------------------------------------------------------------------- */

/* Links the calls before one, by the assignment. */
static void absorb(Leases *l, guint32 call)
{
        const Joint *j = l->j;

        if (l->absorbed > call) {
                fill(l->last, 0xff, j->problem->node->n_in * sizeof *l->last);
                l->absorbed = 0;
        }
        for (; l->absorbed < call; l->absorbed++) {
                guint32 parent = j->assignment->parent[l->absorbed];

                if (parent == NO_PARENT)
                        continue;
                l->earlier[l->absorbed] = l->last[parent];
                l->last[parent] = l->absorbed;
        }
}

static Standing standing_earlier(Leases *l, guint32 call, guint32 parent)
{
        Standing standing = FRESH;

        absorb(l, call);
        for (guint32 k = l->last[parent]; k != NO_PARENT; k = l->earlier[k])
                standing = standing_with(l, &l->actual, call, k, standing);
        return standing;
}

/* The ratio by an assignment of the call before and what else the parent has used. */
static double ratio_assigned(const Leases *l, guint32 call, guint32 parent, Standing standing)
{
        const LeaseTable *t = table_of(l, call);
        Before before = before_of(l, &l->actual, call);
        guint32 of_before;

        if (before == OPENED)
                return t->ratio[situation(before, FALSE)]
                               [standing_at_opening(l, &l->actual, call, parent, standing)];
        of_before = l->j->assignment->parent[l->actual.before[call]];
        if (of_before == NO_PARENT)
                return 1;
        if (of_before == parent)
                return t->ratio[situation(before, TRUE)][HOLDS];
        return t->ratio[situation(before, may_make(l->j, of_before, call))][standing];
}

static double ratio(const Evidence *e, const Joint *j G_GNUC_UNUSED, guint32 parent, guint32 call,
                    EvidenceBasis basis)
{
        Leases *l = (Leases *)e;

        if (basis != BY_EARLIER_CALLS || !table_of(l, call)->in_use)
                return 1;
        if (before_of(l, &l->actual, call) == NOT_KNOWN)
                return 1;
        return ratio_assigned(l, call, parent, standing_earlier(l, call, parent));
}

/* --- chances along a connection ----------------------------------------------------- */

/* The chances of the candidates of the calls of one connection go by what each call says and by
 * who is supposed to have made the one before: a hidden Markov model, whose states are candidates
 * (forward and backward, Baum and others, 1970). */

/* The ratio of the next call, if its parent is another, by whether the first may have made it. */
static double ratio_of_other(const LeaseTable *t, Before before, gboolean open)
{
        return t->other[situation(before, open)];
}

/* By candidate of the next call, the sum over the candidates of this one of weight and ratio. */
static void step_forward(const Leases *l, guint32 call, guint32 next, const float *weight,
                         double *out)
{
        const Joint *j = l->j;
        const LeaseTable *t = table_of(l, next);
        Before before = before_of(l, &l->actual, next);
        gsize n = j->problem->candidates[next + 1], first = j->problem->candidates[next];
        double all = 0, open = 0;

        for (gsize k = first; k < n; k++)
                out[k - first] = 0;
        for (gsize k = j->problem->candidates[call]; k < j->problem->candidates[call + 1]; k++) {
                gsize same = problem_find_candidate(j->problem, next, j->problem->candidate[k]);

                all += weight[k];
                if (same == G_MAXSIZE)
                        continue;
                open += weight[k];
                out[same - first] = weight[k] * (t->ratio[situation(before, TRUE)][HOLDS] -
                                                 ratio_of_other(t, before, TRUE));
        }
        for (gsize k = first; k < n; k++)
                out[k - first] += open * ratio_of_other(t, before, TRUE) +
                                  MAX(all - open, 0) * ratio_of_other(t, before, FALSE);
}

/* By candidate of a call, the sum over the candidates of the next one of weight and ratio. */
static void step_backward(const Leases *l, guint32 call, guint32 next, const float *weight,
                          double *out)
{
        const Joint *j = l->j;
        const LeaseTable *t = table_of(l, next);
        Before before = before_of(l, &l->actual, next);
        double all = 0;

        for (gsize k = j->problem->candidates[next]; k < j->problem->candidates[next + 1]; k++)
                all += weight[k];
        for (gsize k = j->problem->candidates[call]; k < j->problem->candidates[call + 1]; k++) {
                gsize same = problem_find_candidate(j->problem, next, j->problem->candidate[k]);

                out[k - j->problem->candidates[call]] =
                        same == G_MAXSIZE
                                ? all * ratio_of_other(t, before, FALSE)
                                : weight[same] * t->ratio[situation(before, TRUE)][HOLDS] +
                                          MAX(all - weight[same], 0) *
                                                  ratio_of_other(t, before, TRUE);
        }
}

/* Scales weights of the candidates of a call to a sum of 1. FALSE if they are 0. */
static gboolean scale(const Joint *j, guint32 call, float *weight)
{
        double sum = 0;

        for (gsize k = j->problem->candidates[call]; k < j->problem->candidates[call + 1]; k++)
                sum += weight[k];
        for (gsize k = j->problem->candidates[call];
             sum > 0 && k < j->problem->candidates[call + 1]; k++)
                weight[k] /= sum;
        return sum > 0;
}

static gboolean is_linked(const Leases *l, guint32 call)
{
        return l->actual.before[call] != NO_PARENT && table_of(l, call)->in_use;
}

/* What each call says by itself: its chances, and of the first one those by the opening. The calls
 * of a run say the same again, as each of them was judged by the others: of a run of about 2^n
 * calls the root is taken n times, so that all of them together count as one. */
static void take_chances(const Leases *l, guint32 call, float *chance)
{
        const Joint *j = l->j;
        const LeaseTable *t = table_of(l, call);
        gboolean opened = before_of(l, &l->actual, call) == OPENED;

        for (gsize k = j->problem->candidates[call]; k < j->problem->candidates[call + 1]; k++) {
                double root = MAX(chance[k], LEASE_LEAST_CHANCE);

                for (double n = t->run; n > SQRT2; n /= 2)
                        root = sqrt(root);
                chance[k] = (float)root;
                if (opened)
                        chance[k] *= t->ratio[situation(OPENED, FALSE)][standing_at_opening(
                                l, &l->actual, call, j->problem->candidate[k], FRESH)];
        }
        scale(j, call, chance);
}

static void refine(Evidence *e, float *chance)
{
        const Leases *l = (const Leases *)e;
        const Joint *j = l->j;
        guint32 n_out = j->problem->node->n_out, most = 1;
        g_autofree float *backward = NULL;
        g_autofree double *sum = NULL;

        for (guint32 i = 0; i < n_out; i++) {
                most = MAX(most, n_candidates(j->problem, i));
                if (table_of(l, i)->in_use)
                        take_chances(l, i, chance);
        }
        backward = g_memdup2(chance, j->problem->candidates[n_out] * sizeof *chance);
        sum = g_new(double, most);
        for (guint32 i = 0; i < n_out; i++) {
                if (!is_linked(l, i))
                        continue;
                step_forward(l, l->actual.before[i], i, chance, sum);
                for (gsize k = j->problem->candidates[i]; k < j->problem->candidates[i + 1]; k++)
                        chance[k] *= sum[k - j->problem->candidates[i]];
                scale(j, i, chance);
        }
        for (guint32 i = n_out; i-- > 0;) {
                guint32 next = l->after[i];

                if (next == NO_PARENT || !is_linked(l, next))
                        continue;
                step_backward(l, i, next, backward, sum);
                for (gsize k = j->problem->candidates[i]; k < j->problem->candidates[i + 1]; k++) {
                        backward[k] *= sum[k - j->problem->candidates[i]];
                        chance[k] *= sum[k - j->problem->candidates[i]];
                }
                scale(j, i, backward);
                scale(j, i, chance);
        }
}

/* --- the chain --------------------------------------------------------------------- */

static void begin_chain(Evidence *e)
{
        Leases *l = (Leases *)e;

        if (!e->watched)
                return;
        l->in_chain = TRUE;
        fill(l->owner, 0xff, l->j->problem->node->n_out * sizeof *l->owner);
        l->stale = TRUE;
}

static void seat(Evidence *e, const Family *f)
{
        Leases *l = (Leases *)e;

        for (guint32 i = 0; i < f->n; i++)
                l->owner[f->child[i]] = f->parent;
}

/* The log of the ratio of a call. f: two families that are not in the assignment yet, or NULL. */
static gint32 log_of_call(const Leases *l, const Family *f, guint32 call)
{
        const LeaseTable *t = table_of(l, call);
        guint32 parent = l->owner[call], of_before;
        Before before;
        Standing standing = FRESH;

        if (!t->in_use || parent == NO_PARENT)
                return 0;
        before = before_of(l, &l->actual, call);
        if (before == NOT_KNOWN)
                return 0;
        of_before = before == OPENED ? NO_PARENT : l->owner[l->actual.before[call]];
        if (before != OPENED) {
                if (of_before == NO_PARENT)
                        return 0;
                if (of_before == parent)
                        return t->log[situation(before, TRUE)][HOLDS];
        }
        if (f && (f[0].parent == parent || f[1].parent == parent)) {
                const Family *of = &f[f[1].parent == parent];

                for (guint32 i = 0; i < of->n && of->child[i] < call; i++)
                        standing = standing_with(l, &l->actual, call, of->child[i], standing);
        } else {
                standing = standing_assigned(l, &l->actual, call, parent);
        }
        if (before == OPENED)
                return t->log[situation(before, FALSE)]
                             [standing_at_opening(l, &l->actual, call, parent, standing)];
        return t->log[situation(before, may_make(l->j, of_before, call))][standing];
}

static void refresh(Leases *l)
{
        for (guint32 i = 0; i < l->j->problem->node->n_out; i++)
                l->log[i] = log_of_call(l, NULL, i);
        l->stale = FALSE;
}

static void replace(Leases *l, guint32 call, guint32 owner)
{
        l->replaced[l->n_replaced++] = (Replaced){ call, l->owner[call], l->log[call] };
        l->owner[call] = owner;
}

static gint64 put(Evidence *e, const Family f[2])
{
        Leases *l = (Leases *)e;
        guint32 n;
        gint64 log = 0;

        if (l->stale)
                refresh(l);
        l->n_replaced = 0;
        for (guint m = 0; m < 2; m++)
                for (guint32 i = 0; i < f[m].n; i++)
                        replace(l, f[m].child[i], f[m].parent);
        n = l->n_replaced;
        for (guint32 i = 0; i < n; i++) {
                guint32 next = l->after[l->replaced[i].call];

                if (next == NO_PARENT || l->owner[l->replaced[i].call] == l->replaced[i].owner ||
                    l->owner[next] == f[0].parent || l->owner[next] == f[1].parent)
                        continue;
                replace(l, next, l->owner[next]);
        }
        for (guint32 i = 0; i < l->n_replaced; i++) {
                guint32 call = l->replaced[i].call;

                log -= l->log[call];
                log += l->log[call] = log_of_call(l, f, call);
        }
        return log;
}

static void back(Evidence *e)
{
        Leases *l = (Leases *)e;

        while (l->n_replaced > 0) {
                const Replaced *r = &l->replaced[--l->n_replaced];

                l->owner[r->call] = r->owner;
                l->log[r->call] = r->log;
        }
}

/* Whether two calls that follow each other on a connection hang together. */
static gboolean is_tied(const Leases *l, guint32 call)
{
        Before before = before_of(l, &l->actual, call);

        return before != OPENED && before != NOT_KNOWN && table_of(l, call)->ties[before];
}

static inline gboolean is_owned(const Leases *l, guint32 call, guint32 parent, guint32 other)
{
        return l->owner[call] == parent || l->owner[call] == other;
}

static guint32 block(Evidence *e, guint32 call, guint32 parent, guint32 other, guint32 *calls)
{
        const Leases *l = (const Leases *)e;
        guint32 n = 0;

        while (is_tied(l, call) && is_owned(l, l->actual.before[call], parent, other))
                call = l->actual.before[call];
        do
                calls[n++] = call;
        while (n < 2 * MOST_CHILDREN && (call = l->after[call]) != NO_PARENT && is_tied(l, call) &&
               is_owned(l, call, parent, other));
        return n;
}

const EvidenceKind evidence_leases = {
        .name = "leases",
        .make = make,
        .free = clear,
        .begin = begin,
        .end = end,
        .try_first = try_first,
        .round = learn_round,
        .learn_truth = learn_truth,
        .save = save,
        .restore = restore,
        .call = ratio,
        .begin_chain = begin_chain,
        .seat = seat,
        .put = put,
        .back = back,
        .refine = refine,
        .block = block,
};
