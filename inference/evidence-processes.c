/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Connections that go together. A process, or a worker, keeps connections into the node and out of
 * it, so which connection a parent uses to a callee depends on which one it came by itself, and on
 * which ones it has used to other callees: its *companions*. A parent's first call on a connection
 * is judged by one companion, the most telling that the parent has; that it uses a connection again
 * is for leases to say (evidence-leases.c).
 *
 * For each pair of connections is counted how often parents use both, and how often they do where
 * the connections of the first calls of each second are dealt again at random; the ratio of the two
 * is the factor of a parent. A parent is judged by what parents of other blocks do, so that no
 * error bears itself out.
 */
#include "base/fill.h"
#include "base/fixed-log.h"
#include "base/hash.h"
#include "base/numbering.h"
#include "inference/assignment.h"
#include "inference/beliefs.h"
#include "inference/evidence-table.h"
#include "inference/lease-sequence.h"
#include "inference/tuning.h"

enum { FOLDS = 4 }; /* parts of the parents: each is judged by the other ones */

/* A call that is its parent's first on its connection, with one of its companions. */
typedef struct {
        guint32 call, row, fold;
} Pair;

typedef struct {
        Evidence evidence;
        const Joint *j;
        guint32 *callee;        /* by call: the number of its callee, whatever its label */
        LeaseSequence sequence; /* of the calls, as captured */
        guint32 n_callees, n_kinds;

        /* Pairs have a row by the companion, a connection into the node or then one out of it, and
         * a column by the connection out of it. Connections that are seldom used have none. */
        guint32 *row_in;                 /* by parent: its connection's row, or NO_PARENT */
        guint32 *column_of;              /* by connection out: its column, or NO_PARENT */
        guint32 *row_kind, *column_kind; /* 0: into the node; else 1 and the callee */
        guint32 n_rows_in, n_rows, n_columns;

        float *ratio;    /* by fold and pair */
        gint32 *log;     /* likewise, in 1/LOG_UNIT */
        guint32 *kinds;  /* by callee: the kinds of companions that count, the most telling first */
        guint32 *n_used; /* by callee: how many of them */
        guint32 *group;  /* by column: connections that one worker keeps have the same */
        gboolean learned; /* in this problem */

        gint32 *seated; /* the chain: by parent, the log of its family */
        struct {
                guint32 parent;
                gint32 log;
        } replaced[2];
} Processes;

static inline gsize n_pairs(const Processes *a)
{
        return (gsize)a->n_rows * a->n_columns;
}

static inline guint32 fold_of(guint32 parent)
{
        return parent / PROCESS_BLOCK % FOLDS;
}

static inline guint32 column(const Processes *a, guint32 call)
{
        guint32 connection = a->sequence.connection[call];

        return connection == NO_PARENT ? NO_PARENT : a->column_of[connection];
}

static inline gsize pair_at(const Processes *a, guint32 fold, guint32 row, guint32 column)
{
        return fold * n_pairs(a) + (gsize)row * a->n_columns + column;
}

static Evidence *make(const NodeModel *model G_GNUC_UNUSED)
{
        return (Evidence *)g_new0(Processes, 1);
}

/* --- the connections of a problem --------------------------------------------------- */

static void end(Evidence *of)
{
        Processes *a = (Processes *)of;

        lease_sequence_clear(&a->sequence);
        g_clear_pointer(&a->callee, g_free);
        g_clear_pointer(&a->row_in, g_free);
        g_clear_pointer(&a->column_of, g_free);
        g_clear_pointer(&a->row_kind, g_free);
        g_clear_pointer(&a->column_kind, g_free);
        g_clear_pointer(&a->ratio, g_free);
        g_clear_pointer(&a->log, g_free);
        g_clear_pointer(&a->kinds, g_free);
        g_clear_pointer(&a->n_used, g_free);
        g_clear_pointer(&a->group, g_free);
        g_clear_pointer(&a->seated, g_free);
        a->learned = FALSE;
}

static void number_callees(Processes *a)
{
        const NodeProblem *node = a->j->problem->node;
        g_autoptr(GHashTable) numbers = g_hash_table_new(NULL, NULL);

        a->callee = g_new(guint32, node->n_out);
        for (guint32 i = 0; i < node->n_out; i++)
                a->callee[i] = number_of(numbers, node->out[i].callee);
        a->n_callees = g_hash_table_size(numbers);
        a->n_kinds = 1 + a->n_callees;
}

/* The rows of connections into the node that enough parents came by. */
static void find_rows(Processes *a)
{
        const NodeProblem *node = a->j->problem->node;
        g_autoptr(GHashTable) uses = g_hash_table_new(NULL, NULL);
        g_autoptr(GHashTable) rows = g_hash_table_new(NULL, NULL);

        a->row_in = g_new(guint32, node->n_in);
        for (guint32 p = 0; p < node->n_in; p++) {
                gpointer key = GUINT_TO_POINTER(node->in[p].connection);

                g_hash_table_insert(
                        uses, key,
                        GUINT_TO_POINTER(GPOINTER_TO_UINT(g_hash_table_lookup(uses, key)) + 1));
        }
        for (guint32 p = 0; p < node->n_in; p++) {
                guint32 connection = node->in[p].connection;
                gpointer n = g_hash_table_lookup(uses, GUINT_TO_POINTER(connection));
                gboolean is_used = connection && GPOINTER_TO_UINT(n) >= PROCESS_USES;

                a->row_in[p] = is_used ? number_of(rows, connection) : NO_PARENT;
        }
        a->n_rows_in = g_hash_table_size(rows);
}

/* The columns of connections out of the node that are used often enough. */
static void find_columns(Processes *a)
{
        const NodeProblem *node = a->j->problem->node;
        guint32 n = a->sequence.n_connections;
        g_autofree guint32 *uses = g_new0(guint32, n);

        a->n_columns = 0;
        a->column_of = g_new(guint32, n);
        fill(a->column_of, 0xff, n * sizeof *a->column_of);
        a->column_kind = g_new(guint32, n);
        for (guint32 i = 0; i < node->n_out; i++)
                if (a->sequence.connection[i] != NO_PARENT)
                        uses[a->sequence.connection[i]]++;
        for (guint32 i = 0; i < node->n_out; i++) {
                guint32 connection = a->sequence.connection[i];

                if (connection == NO_PARENT || a->column_of[connection] != NO_PARENT ||
                    uses[connection] < PROCESS_USES)
                        continue;
                a->column_kind[a->n_columns] = 1 + a->callee[i];
                a->column_of[connection] = a->n_columns++;
        }
        a->n_rows = a->n_rows_in + a->n_columns;
        a->row_kind = g_new0(guint32, a->n_rows + 1);
        for (guint32 k = 0; k < a->n_columns; k++)
                a->row_kind[a->n_rows_in + k] = a->column_kind[k];
}

static void begin(Evidence *of, const Joint *j)
{
        Processes *a = (Processes *)of;

        end(of);
        of->watched = FALSE;
        a->j = j;
        lease_sequence_init(&a->sequence, j->problem->node);
        if (a->sequence.n_connections < 2)
                return;
        number_callees(a);
        find_rows(a);
        find_columns(a);
        if (n_pairs(a) == 0 || n_pairs(a) > PROCESS_PAIRS ||
            (gsize)a->n_callees * a->n_kinds > PROCESS_PAIRS)
                return;
        of->watched = TRUE;
        a->ratio = g_new(float, FOLDS *n_pairs(a));
        a->log = g_new(gint32, FOLDS * n_pairs(a));
        a->kinds = g_new0(guint32, (gsize)a->n_callees * a->n_kinds);
        a->n_used = g_new0(guint32, a->n_callees);
        a->group = g_new0(guint32, a->n_columns);
        a->seated = g_new0(gint32, j->problem->node->n_in);
}

/* --- learning ---------------------------------------------------------------------- */

/* Lists the pairs of the assigned parents. first: by call, whether it is its parent's first on its
 * connection. */
static GArray *list_pairs(const Processes *a, gboolean *first)
{
        const Joint *j = a->j;
        GArray *pairs = g_array_new(FALSE, FALSE, sizeof(Pair));
        g_autofree guint32 *used_by = g_new(guint32, a->n_columns);
        g_autofree guint32 *latest = g_new(guint32, a->n_kinds);

        fill(used_by, 0xff, a->n_columns * sizeof *used_by);
        for (guint32 p = 0; p < j->problem->node->n_in; p++) {
                if (!is_training_parent(j->problem, p))
                        continue;
                fill(latest, 0xff, a->n_kinds * sizeof *latest);
                latest[0] = a->row_in[p];
                for (guint32 k = j->assignment->first[p]; k != NO_PARENT;
                     k = j->assignment->next[k]) {
                        guint32 at = column(a, k);

                        if (at == NO_PARENT)
                                continue;
                        first[k] = used_by[at] != p;
                        used_by[at] = p;
                        for (guint32 kind = 0; first[k] && kind < a->n_kinds; kind++) {
                                Pair pair = { k, latest[kind], fold_of(p) };

                                if (kind != 1 + a->callee[k] && pair.row != NO_PARENT)
                                        g_array_append_val(pairs, pair);
                        }
                        latest[1 + a->callee[k]] = a->n_rows_in + at;
                }
        }
        return pairs;
}

/* Counts pairs by fold. */
static void count(const Processes *a, const GArray *pairs, const LeaseSequence *s, float *counts)
{
        for (guint i = 0; i < pairs->len; i++) {
                const Pair *pair = &g_array_index(pairs, Pair, i);
                guint32 at = a->column_of[s->connection[pair->call]];

                if (at != NO_PARENT)
                        counts[pair_at(a, pair->fold, pair->row, at)]++;
        }
}

/* The ratios of each fold, by the counts of the other ones. */
static void find_ratios(Processes *a, const float *seen, const float *dealt)
{
        gsize n = n_pairs(a);

        for (gsize i = 0; i < n; i++) {
                double all = 0, all_dealt = 0;

                for (guint32 fold = 0; fold < FOLDS; fold++) {
                        all += seen[fold * n + i];
                        all_dealt += dealt[fold * n + i];
                }
                if (all == 0 && all_dealt == 0) { /* most pairs */
                        for (guint32 fold = 0; fold < FOLDS; fold++) {
                                a->ratio[fold * n + i] = 1;
                                a->log[fold * n + i] = 0;
                        }
                        continue;
                }
                for (guint32 fold = 0; fold < FOLDS; fold++) {
                        gsize at = fold * n + i;

                        a->ratio[at] = (float)((all - seen[at] + PROCESS_BACKOFF) /
                                               ((all_dealt - dealt[at]) / PROCESS_DEALS +
                                                PROCESS_BACKOFF));
                        a->log[at] = fixed_log(a->ratio[at]);
                }
        }
}

/* What companions of one kind say of the connections to one callee. */
typedef struct {
        double n;               /* pairs */
        double gain, by_chance; /* 1/LOG_UNIT; the latter of one more random deal */
} Telling;

/* Which kinds of companions count for a callee, the most telling first. */
static void rank_kinds(Processes *a, guint32 callee, const Telling *telling)
{
        guint32 *kinds = a->kinds + (gsize)callee * a->n_kinds, n = 0;

        for (guint32 kind = 0; kind < a->n_kinds; kind++) {
                const Telling *t = &telling[kind];
                guint32 at;

                if (t->gain <= PROCESS_GAIN * LOG_UNIT + PROCESS_TIMES * MAX(t->by_chance, 0) ||
                    t->gain <= PROCESS_GAIN_EACH * LOG_UNIT * t->n)
                        continue;
                for (at = n++; at > 0; at--) {
                        const Telling *other = &telling[kinds[at - 1]];

                        if (other->gain * t->n >= t->gain * other->n)
                                break;
                        kinds[at] = kinds[at - 1];
                }
                kinds[at] = kind;
        }
        a->n_used[callee] = n;
}

/* Finds which kinds of companions count. TRUE if any does. */
static gboolean find_kinds(Processes *a, const float *seen, const float *more)
{
        g_autofree Telling *telling = g_new0(Telling, (gsize)a->n_callees * a->n_kinds);
        gboolean any = FALSE;

        for (guint32 fold = 0; fold < FOLDS; fold++)
                for (guint32 row = 0; row < a->n_rows; row++)
                        for (guint32 at = 0; at < a->n_columns; at++) {
                                gsize k = pair_at(a, fold, row, at);
                                Telling *t;

                                if (seen[k] == 0 && more[k] == 0)
                                        continue;
                                t = &telling[(gsize)(a->column_kind[at] - 1) * a->n_kinds +
                                             a->row_kind[row]];

                                t->n += seen[k];
                                t->gain += seen[k] * a->log[k];
                                t->by_chance += more[k] * a->log[k];
                        }
        for (guint32 k = 0; k < a->n_callees; k++) {
                rank_kinds(a, k, telling + (gsize)k * a->n_kinds);
                any |= a->n_used[k] > 0;
        }
        return any;
}

/* Of the pairs of a connection with those of another kind, the most frequent, if it is nearly all.
 */
static guint32 find_mate(const Processes *a, const float *pairs, guint32 of, guint32 kind)
{
        double sum = 0, most = 0;
        guint32 mate = NO_PARENT;

        for (guint32 k = 0; k < a->n_columns; k++) {
                double n = pairs[(gsize)of * a->n_columns + k];

                if (a->column_kind[k] != kind)
                        continue;
                sum += n;
                if (n > most) {
                        most = n;
                        mate = k;
                }
        }
        return most >= PROCESS_USES && most > PROCESS_TIED * sum ? mate : NO_PARENT;
}

/* Pairs of connections out of the node, whichever was used first, in all folds. */
static float *sum_pairs(const Processes *a, const float *seen)
{
        guint32 n = a->n_columns;
        float *pairs = g_new0(float, (gsize)n *n);

        for (guint32 fold = 0; fold < FOLDS; fold++)
                for (guint32 row = 0; row < n; row++)
                        for (guint32 k = 0; k < n; k++) {
                                float of = seen[pair_at(a, fold, a->n_rows_in + row, k)];

                                pairs[(gsize)row * n + k] += of;
                                pairs[(gsize)k * n + row] += of;
                        }
        return pairs;
}

/* Finds connections to different callees that are nearly always used together. */
static void find_groups(Processes *a, const float *seen)
{
        g_autofree float *pairs = sum_pairs(a, seen);

        a->evidence.ties = FALSE;
        for (guint32 k = 0; k < a->n_columns; k++)
                a->group[k] = k;
        for (guint32 k = 0; k < a->n_columns; k++)
                for (guint32 kind = 1; kind < a->column_kind[k]; kind++) {
                        guint32 mate = find_mate(a, pairs, k, kind);

                        if (mate == NO_PARENT || find_mate(a, pairs, mate, a->column_kind[k]) != k)
                                continue;
                        a->evidence.ties = TRUE;
                        for (guint32 m = 0, old = a->group[k]; m < a->n_columns; m++)
                                if (a->group[m] == old)
                                        a->group[m] = a->group[mate];
                }
}

static void learn_from_assignment(Processes *a)
{
        const NodeProblem *node = a->j->problem->node;
        gsize n = FOLDS * n_pairs(a);
        guint64 random = HASH_SEED;
        g_autofree float *seen = g_new0(float, n), *deals = g_new0(float, n),
                         *more = g_new0(float, n);
        g_autofree gboolean *first = g_new0(gboolean, node->n_out);
        g_autoptr(GArray) pairs = list_pairs(a, first);
        LeaseSequence dealt = lease_sequence_copy(&a->sequence, node->n_out);

        count(a, pairs, &a->sequence, seen);
        for (guint32 i = 0; i < node->n_out; i++)
                if (!first[i])
                        dealt.connection[i] = NO_PARENT;
        for (guint i = 0; i <= PROCESS_DEALS; i++) {
                lease_sequence_deal(&dealt, node, a->callee, a->n_callees, &random);
                count(a, pairs, &dealt, i < PROCESS_DEALS ? deals : more);
        }
        lease_sequence_clear(&dealt);
        find_ratios(a, seen, deals);
        find_groups(a, seen);
        a->evidence.in_use = find_kinds(a, seen, more);
        a->learned = TRUE;
}

static void learn_round(Evidence *of, Joint *j G_GNUC_UNUSED)
{
        if (of->watched)
                learn_from_assignment((Processes *)of);
}

/* --- going back ------------------------------------------------------------------- */

typedef struct {
        gboolean in_use, ties, learned;
        guint8 tables[];
} SavedAffinity;

/* Copies tables from the kind to bytes, or back. */
static void copy_tables(const Processes *a, guint8 *bytes, gboolean back)
{
        const struct {
                gpointer of;
                gsize size;
        } tables[] = { { a->ratio, FOLDS * n_pairs(a) * sizeof *a->ratio },
                       { a->log, FOLDS * n_pairs(a) * sizeof *a->log },
                       { a->kinds, (gsize)a->n_callees * a->n_kinds * sizeof *a->kinds },
                       { a->n_used, a->n_callees * sizeof *a->n_used },
                       { a->group, a->n_columns * sizeof *a->group } };

        for (guint i = 0; i < G_N_ELEMENTS(tables); bytes += tables[i++].size)
                memcpy(back ? tables[i].of : bytes, back ? bytes : tables[i].of, tables[i].size);
}

static gsize size_of_tables(const Processes *a)
{
        return FOLDS * n_pairs(a) * (sizeof *a->ratio + sizeof *a->log) +
               a->n_callees * (a->n_kinds * sizeof *a->kinds + sizeof *a->n_used) +
               a->n_columns * sizeof *a->group;
}

static gpointer save(const Evidence *of)
{
        const Processes *a = (const Processes *)of;
        SavedAffinity *saved = g_malloc(sizeof *saved + (a->ratio ? size_of_tables(a) : 0));

        saved->in_use = of->in_use;
        saved->ties = of->ties;
        saved->learned = a->learned;
        if (a->ratio)
                copy_tables(a, saved->tables, FALSE);
        return saved;
}

static void restore(Evidence *of, gconstpointer from)
{
        Processes *a = (Processes *)of;
        SavedAffinity *saved = (SavedAffinity *)from;

        of->in_use = saved->in_use;
        of->ties = saved->ties;
        a->learned = saved->learned;
        if (a->ratio)
                copy_tables(a, saved->tables, TRUE);
}

/* --- ratios ---------------------------------------------------------------------- */

/* The chance that a belief's parent made its call. */
static double share_of(const Joint *j, const Belief *belief)
{
        if (n_candidates(j->problem, belief->child) == 1)
                return 1;
        return belief->rate / j->beliefs->total[belief->child];
}

/* The mean ratio by the latest calls that a parent may have made to a callee. Of those chances that
 * it made none, the rest is left. belief: that on the call; first: the parent's first one. */
static double mean_by_callee(const Processes *a, const Belief *first, const Belief *belief,
                             guint32 callee, guint32 fold, guint32 at, double *rest)
{
        double sum = 0;

        for (const Belief *b = belief; b > first && belief - b < PROCESS_LOOK_BACK;) {
                guint32 companion = column(a, (--b)->child);
                double share;

                if (a->callee[b->child] != callee || companion == NO_PARENT)
                        continue;
                share = share_of(a->j, b);
                sum += *rest * share * a->ratio[pair_at(a, fold, a->n_rows_in + companion, at)];
                *rest *= 1 - share;
        }
        return sum;
}

/* The chance that a parent has not used the connection of a call before. */
static double chance_of_first(const Processes *a, const Belief *first, const Belief *belief)
{
        guint32 connection = a->sequence.connection[belief->child];
        double chance = 1;

        for (const Belief *b = belief; b > first && belief - b < PROCESS_LOOK_BACK;)
                if (a->sequence.connection[(--b)->child] == connection)
                        chance *= 1 - share_of(a->j, b);
        return chance;
}

static const Belief *find_belief(const Joint *j, guint32 parent, guint32 call)
{
        gsize from = j->beliefs->first_belief[parent], to = j->beliefs->first_belief[parent + 1];

        while (from < to) {
                gsize middle = from + (to - from) / 2;

                if (j->beliefs->beliefs[middle].child < call)
                        from = middle + 1;
                else
                        to = middle;
        }
        return &j->beliefs->beliefs[from];
}

static double ratio(const Evidence *of, const Joint *j, guint32 parent, guint32 call,
                    EvidenceBasis basis)
{
        const Processes *a = (const Processes *)of;
        guint32 at = column(a, call), fold = fold_of(parent);
        const guint32 *kinds = a->kinds + (gsize)a->callee[call] * a->n_kinds;
        const Belief *first, *belief;
        double sum = 0, rest = 1, chance;

        if (basis != BY_BELIEFS || !a->learned || at == NO_PARENT ||
            a->n_used[a->callee[call]] == 0)
                return 1;
        first = &j->beliefs->beliefs[j->beliefs->first_belief[parent]];
        belief = find_belief(j, parent, call);
        for (guint32 i = 0; i < a->n_used[a->callee[call]] && rest > 0; i++) {
                if (kinds[i] > 0) {
                        sum += mean_by_callee(a, first, belief, kinds[i] - 1, fold, at, &rest);
                } else if (a->row_in[parent] != NO_PARENT) {
                        sum += rest * a->ratio[pair_at(a, fold, a->row_in[parent], at)];
                        rest = 0;
                }
        }
        chance = chance_of_first(a, first, belief);
        return 1 - chance + chance * (sum + rest);
}

/* --- the chain --------------------------------------------------------------------- */

/* The row of the latest companion of a kind that a family has before one of its children. */
static guint32 companion_before(const Processes *a, const Family *f, guint32 i, guint32 kind)
{
        if (kind == 0)
                return a->row_in[f->parent];
        for (guint32 last = i; i > 0 && last - i < PROCESS_LOOK_BACK;) {
                guint32 at = column(a, f->child[--i]);

                if (1 + a->callee[f->child[i]] == kind && at != NO_PARENT)
                        return a->n_rows_in + at;
        }
        return NO_PARENT;
}

static gboolean is_first(const Processes *a, const Family *f, guint32 i)
{
        guint32 connection = a->sequence.connection[f->child[i]];

        for (guint32 last = i; i > 0 && last - i < PROCESS_LOOK_BACK;)
                if (a->sequence.connection[f->child[--i]] == connection)
                        return FALSE;
        return TRUE;
}

/* The log of the ratio of a family. */
static gint32 log_of_family(const Processes *a, const Family *f)
{
        guint32 fold = fold_of(f->parent);
        gint32 log = 0;

        for (guint32 i = 0; i < f->n; i++) {
                guint32 at = column(a, f->child[i]), callee = a->callee[f->child[i]];
                guint32 row = NO_PARENT;

                if (at == NO_PARENT || a->n_used[callee] == 0 || !is_first(a, f, i))
                        continue;
                for (guint32 k = 0; k < a->n_used[callee] && row == NO_PARENT; k++)
                        row = companion_before(a, f, i, a->kinds[(gsize)callee * a->n_kinds + k]);
                if (row != NO_PARENT)
                        log += a->log[pair_at(a, fold, row, at)];
        }
        return log;
}

/* Where nothing was learned in this problem, as in a part of one, it is learned from the assignment
 * that the chain begins with. */
static void begin_chain(Evidence *of)
{
        Processes *a = (Processes *)of;

        if (evidence_counts(of) && !a->learned) {
                learn_from_assignment(a);
                of->in_use = TRUE;
        }
}

static void seat(Evidence *of, const Family *f)
{
        Processes *a = (Processes *)of;

        a->seated[f->parent] = a->learned ? log_of_family(a, f) : 0;
}

static gint64 put(Evidence *of, const Family f[2])
{
        Processes *a = (Processes *)of;
        gint64 log = 0;

        for (guint m = 0; m < 2; m++) {
                guint32 parent = f[m].parent;

                a->replaced[m].parent = parent;
                a->replaced[m].log = a->seated[parent];
                log -= a->seated[parent];
                log += a->seated[parent] = log_of_family(a, &f[m]);
        }
        return log;
}

static void back(Evidence *of)
{
        Processes *a = (Processes *)of;

        for (guint m = 0; m < 2; m++)
                a->seated[a->replaced[m].parent] = a->replaced[m].log;
}

/* The calls of two parents on the connections of one worker. */
static guint32 block(Evidence *of, guint32 call, guint32 parent, guint32 other, guint32 *calls)
{
        const Processes *a = (const Processes *)of;
        const Assignment *assigned = a->j->assignment;
        guint32 at = column(a, call), n = 0;
        guint32 k[2] = { assigned->first[parent], assigned->first[other] };

        if (at == NO_PARENT) {
                calls[0] = call;
                return 1;
        }
        while (k[0] != k[1]) {
                guint32 *next = &k[k[1] < k[0]]; /* NO_PARENT is the greatest */
                guint32 of_next = column(a, *next);

                if (of_next != NO_PARENT && a->group[of_next] == a->group[at])
                        calls[n++] = *next;
                *next = assigned->next[*next];
        }
        return n;
}

const EvidenceKind evidence_processes = {
        .name = "processes",
        .make = make,
        .begin = begin,
        .end = end,
        .round = learn_round,
        .learn_truth = learn_round,
        .save = save,
        .restore = restore,
        .call = ratio,
        .begin_chain = begin_chain,
        .seat = seat,
        .put = put,
        .back = back,
        .block = block,
};
