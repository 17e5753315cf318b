/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Connections of one process. A process, or a thread, has connections into the node and out
 * (processes.h), and serves a call into the node by itself. So a parent uses the connections of one
 * process. The process follows from the connection that the parent came by and from the calls that
 * it made. A parent's first call on a connection is judged by its others. Whether it uses a
 * connection again is judged as a lease (evidence-leases.c).
 *
 * Each round learns which connections are of one process, from the pairs that the assigned parents
 * use. A parent is judged by processes found from parents of other blocks, so that no error
 * confirms itself.
 */
#include "base/exact-log.h"
#include "base/fill.h"
#include "base/fixed-log.h"
#include "base/hash.h"
#include "base/numbering.h"
#include "inference/evidence/evidence-table.h"
#include "inference/evidence/lease-sequence.h"
#include "inference/evidence/processes.h"
#include "inference/model/tuning.h"
#include "inference/search/assignment.h"
#include "inference/search/beliefs.h"

enum { FOLDS = 4 }; /* parts of the parents: each is judged by the other ones */

/* A call that is its parent's first on its connection. */
typedef struct {
        guint32 parent, call;
} Use;

/* Room to work in, for one parent at a time: the connections out that it uses, or may use. */
typedef struct {
        guint32 *used, n_used; /* connections */
        guint32 *mark, latest; /* by connection: the latest number of a parent that uses it */
        double *share;         /* by connection that it may use: the chance that it does */
        double *weight;        /* by process: the likelihood that it is the parent's */
        guint32 parent, call;  /* the parent of these weights; the latest call looked up */
} Room;

typedef struct {
        Evidence evidence;
        const Joint *j;
        guint32 *callee;        /* by call: the number of its callee, whatever its label */
        LeaseSequence sequence; /* of the calls, as captured */
        guint32 n_callees;

        /* Numbers of connections, first into the node. Seldom used ones have no number. */
        guint32 *in;     /* by parent: its connection's number, or NO_PARENT */
        guint32 *out;    /* by connection of the sequence: its number, or NO_PARENT */
        guint32 n_in, n; /* connections into the node; all connections */
        guint32 *end;    /* by connection: the number of its callee + 1; 0 into the node */

        Processes processes[FOLDS];
        gboolean learned; /* in this problem */
        Room *room;

        gint32 *placed; /* the chain: by parent, the log of its family */
        struct {
                guint32 parent;
                gint32 log;
        } replaced[2];
} OfProcesses;

static inline guint32 fold_of(guint32 parent)
{
        return parent / PROCESS_BLOCK % FOLDS;
}

static inline guint32 number_out(const OfProcesses *e, const LeaseSequence *s, guint32 call)
{
        guint32 connection = s->connection[call];

        return connection == NO_PARENT ? NO_PARENT : e->out[connection];
}

static inline gsize n_pairs(const OfProcesses *e)
{
        return (gsize)e->n * (e->n - e->n_in);
}

static Evidence *processes_evidence_new(void)
{
        return (Evidence *)g_new0(OfProcesses, 1);
}

/* --- the connections of a problem --------------------------------------------------- */

static void room_free(Room *r)
{
        g_free(r->used);
        g_free(r->mark);
        g_free(r->share);
        g_free(r->weight);
        g_free(r);
}

static Room *room_new(guint32 n)
{
        Room *r = g_new0(Room, 1);

        r->used = g_new(guint32, n);
        r->mark = g_new0(guint32, n);
        r->share = g_new(double, n);
        r->weight = g_new(double, n);
        r->parent = NO_PARENT;
        return r;
}

static void processes_evidence_end(Evidence *of)
{
        OfProcesses *e = (OfProcesses *)of;

        lease_sequence_clear(&e->sequence);
        g_clear_pointer(&e->callee, g_free);
        g_clear_pointer(&e->in, g_free);
        g_clear_pointer(&e->out, g_free);
        g_clear_pointer(&e->end, g_free);
        g_clear_pointer(&e->placed, g_free);
        g_clear_pointer(&e->room, room_free);
        for (guint i = 0; i < FOLDS; i++) {
                g_clear_pointer(&e->processes[i].of, g_free);
                g_clear_pointer(&e->processes[i].share, g_free);
        }
        e->learned = FALSE;
}

static void number_callees(OfProcesses *e)
{
        const NodeProblem *node = e->j->problem->node;
        g_autoptr(GHashTable) numbers = g_hash_table_new(NULL, NULL);

        e->callee = g_new(guint32, node->n_out);
        for (guint32 i = 0; i < node->n_out; i++)
                e->callee[i] = number_of(numbers, node->out[i].callee);
        e->n_callees = g_hash_table_size(numbers);
}

/* Numbers the connections into the node that enough parents came by. */
static void number_connections_in(OfProcesses *e)
{
        const NodeProblem *node = e->j->problem->node;
        g_autoptr(GHashTable) uses = g_hash_table_new(NULL, NULL);
        g_autoptr(GHashTable) numbers = g_hash_table_new(NULL, NULL);

        e->in = g_new(guint32, node->n_in);
        for (guint32 p = 0; p < node->n_in; p++) {
                gpointer key = GUINT_TO_POINTER(node->in[p].connection);

                g_hash_table_insert(
                        uses, key,
                        GUINT_TO_POINTER(GPOINTER_TO_UINT(g_hash_table_lookup(uses, key)) + 1));
        }
        for (guint32 p = 0; p < node->n_in; p++) {
                guint32 connection = node->in[p].connection;
                gpointer n = g_hash_table_lookup(uses, GUINT_TO_POINTER(connection));
                gboolean is_used = connection && GPOINTER_TO_UINT(n) >= tuning.process_uses;

                e->in[p] = is_used ? number_of(numbers, connection) : NO_PARENT;
        }
        e->n_in = g_hash_table_size(numbers);
}

/* Numbers then the connections out of the node that are used often enough. */
static void number_connections_out(OfProcesses *e)
{
        const NodeProblem *node = e->j->problem->node;
        guint32 n = e->sequence.n_connections;
        g_autofree guint32 *uses = g_new0(guint32, n);

        e->n = e->n_in;
        e->out = g_new(guint32, n);
        e->end = g_new0(guint32, e->n_in + n);
        fill(e->out, 0xff, n * sizeof *e->out);
        for (guint32 i = 0; i < node->n_out; i++)
                if (e->sequence.connection[i] != NO_PARENT)
                        uses[e->sequence.connection[i]]++;
        for (guint32 i = 0; i < node->n_out; i++) {
                guint32 connection = e->sequence.connection[i];

                if (connection != NO_PARENT && e->out[connection] == NO_PARENT &&
                    uses[connection] >= tuning.process_uses) {
                        e->end[e->n] = e->callee[i] + 1;
                        e->out[connection] = e->n++;
                }
        }
}

static void processes_evidence_begin(Evidence *of, const Joint *j)
{
        OfProcesses *e = (OfProcesses *)of;

        processes_evidence_end(of);
        of->watched = FALSE;
        e->j = j;
        lease_sequence_init(&e->sequence, j->problem->node);
        if (e->sequence.n_connections < 2)
                return;
        number_callees(e);
        number_connections_in(e);
        number_connections_out(e);
        if (e->n - e->n_in < 2 || n_pairs(e) > PROCESS_PAIRS)
                return;
        of->watched = TRUE;
        for (guint i = 0; i < FOLDS; i++) {
                e->processes[i].n = 0;
                e->processes[i].of = g_new(guint32, e->n);
                e->processes[i].share = g_new(float, e->n);
        }
        e->room = room_new(e->n);
        e->placed = g_new0(gint32, j->problem->node->n_in);
}

/* --- learning ---------------------------------------------------------------------- */

/* Begins another parent: no connection is marked. */
static void begin_parent(Room *r)
{
        r->latest++;
        r->n_used = 0;
        r->parent = NO_PARENT;
}

/* TRUE if the connection was not marked before. */
static gboolean mark(Room *r, guint32 connection)
{
        if (r->mark[connection] == r->latest)
                return FALSE;
        r->mark[connection] = r->latest;
        r->used[r->n_used++] = connection;
        return TRUE;
}

/* Lists the uses of the assigned parents, parent by parent. */
static GArray *list_uses(const OfProcesses *e)
{
        const Joint *j = e->j;
        GArray *uses = g_array_new(FALSE, FALSE, sizeof(Use));

        for (guint32 p = 0; p < j->problem->node->n_in; p++) {
                if (!is_training_parent(j->problem, p))
                        continue;
                begin_parent(e->room);
                for (guint32 k = j->assignment->first[p]; k != NO_PARENT;
                     k = j->assignment->next[k]) {
                        guint32 connection = number_out(e, &e->sequence, k);
                        Use use = { p, k };

                        if (connection != NO_PARENT && mark(e->room, connection))
                                g_array_append_val(uses, use);
                }
        }
        return uses;
}

static void count_pair(const OfProcesses *e, float *pairs, guint32 one, guint32 other)
{
        guint32 n_out = e->n - e->n_in;

        pairs[(gsize)one * n_out + other - e->n_in]++;
        if (one >= e->n_in)
                pairs[(gsize)other * n_out + one - e->n_in]++;
}

/* Counts the pairs of connections of each parent, by fold. Parallel calls use two connections to
 * one callee, so such pairs do not count. */
static void count_pairs(const OfProcesses *e, const GArray *uses, const LeaseSequence *s,
                        float *pairs)
{
        for (guint i = 0; i < uses->len; i++) {
                const Use *use = &g_array_index(uses, Use, i);
                guint32 connection = number_out(e, s, use->call), in = e->in[use->parent];
                float *of = pairs + fold_of(use->parent) * n_pairs(e);

                if (connection == NO_PARENT)
                        continue;
                if (in != NO_PARENT)
                        count_pair(e, of, in, connection);
                for (guint k = i; k-- > 0;) {
                        const Use *before = &g_array_index(uses, Use, k);
                        guint32 other = number_out(e, s, before->call);

                        if (before->parent != use->parent)
                                break;
                        if (other != NO_PARENT && e->callee[before->call] != e->callee[use->call])
                                count_pair(e, of, other, connection);
                }
        }
}

/* Begins to deal the connections of the uses again. */
static LeaseSequence begin_dealing(const OfProcesses *e, const GArray *uses)
{
        guint32 n_out = e->j->problem->node->n_out;
        g_autofree gboolean *is_use = g_new0(gboolean, n_out);
        LeaseSequence dealt = lease_sequence_copy(&e->sequence, n_out);

        for (guint i = 0; i < uses->len; i++)
                is_use[g_array_index(uses, Use, i).call] = TRUE;
        for (guint32 k = 0; k < n_out; k++)
                if (!is_use[k])
                        dealt.connection[k] = NO_PARENT;
        return dealt;
}

/* Finds the processes of each fold, by the pairs of the other ones. */
static void find_processes(OfProcesses *e, const float *seen, const float *dealt)
{
        gsize n = n_pairs(e);
        g_autofree float *seen_of = g_new(float, n), *dealt_of = g_new(float, n);

        for (guint32 fold = 0; fold < FOLDS; fold++) {
                ConnectionPairs pairs = { e->n_in, e->n,     e->n_callees + 1, e->end,
                                          seen_of, dealt_of, seen + fold * n,  dealt + fold * n };

                fill(seen_of, 0, n * sizeof *seen_of);
                fill(dealt_of, 0, n * sizeof *dealt_of);
                for (guint32 other = 0; other < FOLDS; other++)
                        for (gsize i = 0; other != fold && i < n; i++) {
                                seen_of[i] += seen[other * n + i];
                                dealt_of[i] += dealt[other * n + i];
                        }
                processes_find(&e->processes[fold], &pairs);
        }
}

/* The likelihood of the marked connections as a ratio to chance, for a parent that uses one
 * process's. strange: how often it uses connections of others, relative to chance. */
static double ratio_of_marked(const OfProcesses *e, guint32 parent, double strange)
{
        const Processes *p = &e->processes[fold_of(parent)];
        const Room *r = e->room;
        double before = 0, after = 0;

        for (guint32 k = 0; k < p->n; k++) {
                double weight = p->share[k];

                if (e->in[parent] != NO_PARENT)
                        weight *= process_ratio(p, k, e->in[parent], strange);
                before += weight;
                for (guint32 i = 0; i < r->n_used; i++)
                        weight *= process_ratio(p, k, r->used[i], strange);
                after += weight;
        }
        return p->n == 0 ? 1 : after / before;
}

/* The gain of the uses by processes, in nats, by how parents were seen to keep to them. */
static double gain_of_uses(const OfProcesses *e, const GArray *uses, const LeaseSequence *s)
{
        double gain = 0;

        for (guint i = 0; i < uses->len;) {
                guint32 parent = g_array_index(uses, Use, i).parent;

                begin_parent(e->room);
                for (; i < uses->len && g_array_index(uses, Use, i).parent == parent; i++) {
                        guint32 connection = number_out(e, s, g_array_index(uses, Use, i).call);

                        if (connection != NO_PARENT)
                                mark(e->room, connection);
                }
                gain += exact_log(
                        ratio_of_marked(e, parent, e->processes[fold_of(parent)].strange));
        }
        return gain;
}

static void learn_from_assignment(OfProcesses *e)
{
        const NodeProblem *node = e->j->problem->node;
        guint64 random = HASH_SEED;
        g_autofree float *seen = g_new0(float, FOLDS *n_pairs(e));
        g_autofree float *deals = g_new0(float, FOLDS *n_pairs(e));
        g_autoptr(GArray) uses = list_uses(e);
        LeaseSequence dealt = begin_dealing(e, uses);
        double gain, by_chance;

        count_pairs(e, uses, &e->sequence, seen);
        for (guint i = 0; i < tuning.process_deals; i++) {
                lease_sequence_deal(&dealt, node, e->callee, e->n_callees, &random);
                count_pairs(e, uses, &dealt, deals);
        }
        for (gsize i = 0; i < FOLDS * n_pairs(e); i++)
                deals[i] /= tuning.process_deals;
        find_processes(e, seen, deals);
        lease_sequence_deal(&dealt, node, e->callee, e->n_callees, &random);
        gain = gain_of_uses(e, uses, &e->sequence);
        by_chance = gain_of_uses(e, uses, &dealt);
        lease_sequence_clear(&dealt);
        e->evidence.in_use =
                gain > tuning.evidence_gain + tuning.evidence_times * MAX(by_chance, 0);
        e->evidence.ties = e->evidence.in_use;
        e->learned = TRUE;
        begin_parent(e->room);
}

/* A part of a problem may have learned nothing so far. Then it learns from the assignment that the
 * chain begins with. */
static void processes_evidence_learn(Evidence *of, Joint *j G_GNUC_UNUSED, EvidenceStage stage)
{
        OfProcesses *e = (OfProcesses *)of;

        if (stage == ROUND_PARENTS || stage == TRUE_PARENTS) {
                learn_from_assignment(e);
        } else if (stage == CHAIN_PARENTS && evidence_counts(of) && !e->learned) {
                learn_from_assignment(e);
                of->in_use = TRUE;
        }
}

/* --- going back ------------------------------------------------------------------- */

typedef struct {
        gboolean in_use, ties, learned;
        struct {
                guint32 n;
                float strange;
        } of[FOLDS];
        guint32 tables[];
} SavedProcesses;

static gpointer processes_evidence_save(const Evidence *of)
{
        const OfProcesses *e = (const OfProcesses *)of;
        gsize n = of->watched ? e->n : 0;
        SavedProcesses *saved = g_malloc(sizeof *saved + FOLDS * 2 * n * sizeof(guint32));

        saved->in_use = of->in_use;
        saved->ties = of->ties;
        saved->learned = e->learned;
        for (guint i = 0; i < FOLDS && n > 0; i++) {
                const Processes *p = &e->processes[i];

                saved->of[i].n = p->n;
                saved->of[i].strange = p->strange;
                memcpy(saved->tables + 2 * i * n, p->of, n * sizeof *p->of);
                memcpy(saved->tables + (2 * i + 1) * n, p->share, n * sizeof *p->share);
        }
        return saved;
}

static void processes_evidence_restore(Evidence *of, gconstpointer from)
{
        OfProcesses *e = (OfProcesses *)of;
        const SavedProcesses *saved = from;
        gsize n = of->watched ? e->n : 0;

        of->in_use = saved->in_use;
        of->ties = saved->ties;
        e->learned = saved->learned;
        for (guint i = 0; i < FOLDS && n > 0; i++) {
                Processes *p = &e->processes[i];

                p->n = saved->of[i].n;
                p->strange = saved->of[i].strange;
                memcpy(p->of, saved->tables + 2 * i * n, n * sizeof *p->of);
                memcpy(p->share, saved->tables + (2 * i + 1) * n, n * sizeof *p->share);
        }
        if (e->room)
                begin_parent(e->room);
}

/* --- ratios ---------------------------------------------------------------------- */

/* How often parents are supposed to use another process's connections. By that, a connection of
 * their own process is tuning.process_ratio times as likely. */
static inline double supposed(const Processes *p)
{
        return p->n / (tuning.process_ratio - 1 + p->n);
}

/* The chance that a belief's parent made its call. */
static double share_of(const Joint *j, const Belief *belief)
{
        if (n_candidates(j->problem, belief->child) == 1)
                return 1;
        return belief->rate / j->beliefs->total[belief->child];
}

static inline double ratio_of_share(double share, double ratio)
{
        return 1 - share + share * ratio;
}

/* Finds the likelihood that a parent is of each process, by all calls that it may have made. */
static void weigh(const OfProcesses *e, guint32 parent)
{
        const Joint *j = e->j;
        const Processes *p = &e->processes[fold_of(parent)];
        Room *r = e->room;

        begin_parent(r);
        for (gsize i = j->beliefs->first_belief[parent]; i < j->beliefs->first_belief[parent + 1];
             i++) {
                const Belief *b = &j->beliefs->beliefs[i];
                guint32 connection = number_out(e, &e->sequence, b->child);

                if (connection == NO_PARENT || p->of[connection] == NO_PARENT)
                        continue;
                if (mark(r, connection))
                        r->share[connection] = 0;
                r->share[connection] = 1 - (1 - r->share[connection]) * (1 - share_of(j, b));
        }
        for (guint32 k = 0; k < p->n; k++) {
                r->weight[k] = p->share[k];
                if (e->in[parent] != NO_PARENT)
                        r->weight[k] *= process_ratio(p, k, e->in[parent], supposed(p));
                for (guint32 i = 0; i < r->n_used; i++)
                        r->weight[k] *= ratio_of_share(
                                r->share[r->used[i]], process_ratio(p, k, r->used[i], supposed(p)));
        }
        r->parent = parent;
}

/* The chance that a parent has not used the connection of a call before. */
static double chance_of_first(const OfProcesses *e, guint32 parent, guint32 call)
{
        const Joint *j = e->j;
        double chance = 1;

        for (gsize i = j->beliefs->first_belief[parent];
             i < j->beliefs->first_belief[parent + 1] && j->beliefs->beliefs[i].child < call; i++) {
                const Belief *b = &j->beliefs->beliefs[i];

                if (e->sequence.connection[b->child] == e->sequence.connection[call])
                        chance *= 1 - share_of(j, b);
        }
        return chance;
}

static double processes_evidence_ratio(const Evidence *of, const Joint *j G_GNUC_UNUSED,
                                       guint32 parent, guint32 call, EvidenceBasis basis)
{
        const OfProcesses *e = (const OfProcesses *)of;
        const Processes *p = &e->processes[fold_of(parent)];
        guint32 connection = number_out(e, &e->sequence, call);
        Room *r = e->room;
        double without = 0, with = 0, share, chance;

        if (basis != BY_BELIEFS || !e->learned || connection == NO_PARENT || p->n == 0 ||
            p->of[connection] == NO_PARENT)
                return 1;
        if (r->parent != parent || call <= r->call) /* another run of the trellis */
                weigh(e, parent);
        r->call = call;
        share = r->mark[connection] == r->latest ? r->share[connection] : 0;
        for (guint32 k = 0; k < p->n; k++) { /* by its other connections */
                double of_call = process_ratio(p, k, connection, supposed(p));
                double weight = r->weight[k] / ratio_of_share(share, of_call);

                without += weight;
                with += weight * of_call;
        }
        chance = share > 0 ? chance_of_first(e, parent, call) : 1;
        return 1 - chance + chance * with / without;
}

/* --- the chain --------------------------------------------------------------------- */

/* The log of the ratio of a family. */
static gint32 log_of_family(const OfProcesses *e, const Family *f)
{
        const Processes *p = &e->processes[fold_of(f->parent)];

        begin_parent(e->room);
        for (guint32 i = 0; i < f->n; i++) {
                guint32 connection = number_out(e, &e->sequence, f->child[i]);

                if (connection != NO_PARENT && p->of[connection] != NO_PARENT)
                        mark(e->room, connection);
        }
        return e->room->n_used ? fixed_log(ratio_of_marked(e, f->parent, supposed(p))) : 0;
}

static void processes_evidence_place(Evidence *of, const Family *f)
{
        OfProcesses *e = (OfProcesses *)of;

        e->placed[f->parent] = e->learned ? log_of_family(e, f) : 0;
}

static gint64 processes_evidence_swap(Evidence *of, const Family f[2])
{
        OfProcesses *e = (OfProcesses *)of;
        gint64 log = 0;

        for (guint m = 0; m < 2; m++) {
                guint32 parent = f[m].parent;

                e->replaced[m].parent = parent;
                e->replaced[m].log = e->placed[parent];
                log -= e->placed[parent];
                log += e->placed[parent] = log_of_family(e, &f[m]);
        }
        return log;
}

static void processes_evidence_undo(Evidence *of)
{
        OfProcesses *e = (OfProcesses *)of;

        for (guint m = 0; m < 2; m++)
                e->placed[e->replaced[m].parent] = e->replaced[m].log;
}

/* Lists the calls of two parents on the connections of one process. */
static guint32 processes_evidence_block(Evidence *of, guint32 call, guint32 parent, guint32 other,
                                        guint32 *calls)
{
        const OfProcesses *e = (const OfProcesses *)of;
        const Processes *p = &e->processes[0]; /* the same for both parents */
        const Assignment *assigned = e->j->assignment;
        guint32 connection = number_out(e, &e->sequence, call), n = 0;
        guint32 k[2] = { assigned->first[parent], assigned->first[other] };

        if (p->n == 0 || connection == NO_PARENT || p->of[connection] == NO_PARENT) {
                calls[0] = call;
                return 1;
        }
        while (k[0] != k[1]) {
                guint32 *next = &k[k[1] < k[0]]; /* NO_PARENT is the greatest */
                guint32 of_next = number_out(e, &e->sequence, *next);

                if (of_next != NO_PARENT && p->of[of_next] == p->of[connection])
                        calls[n++] = *next;
                *next = assigned->next[*next];
        }
        return n;
}

const EvidenceKind evidence_processes = {
        .name = "processes",
        .make = processes_evidence_new,
        .begin = processes_evidence_begin,
        .end = processes_evidence_end,
        .learn = processes_evidence_learn,
        .save = processes_evidence_save,
        .restore = processes_evidence_restore,
        .call = processes_evidence_ratio,
        .place = processes_evidence_place,
        .swap = processes_evidence_swap,
        .undo = processes_evidence_undo,
        .block = processes_evidence_block,
};
