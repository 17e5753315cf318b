/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Identifiers as evidence. A call may carry a value that a call into the node carries, too, and may
 * have been made for it. The weight of that depends on the value and on the callee. A value in many
 * calls into the node weighs little, and a value in all of them nothing. Some callees get what the
 * parent had, others never do.
 *
 * A candidate has a *match* with a call. It is whether they share none, some, or all of the call's
 * values that came into the node. It also has the rarity of the shared values among the calls into
 * the node, in bits. Learning counts for each callee how often the parent has which match, and how
 * often other candidates of the parent's kind have it. The ratio of the two is the factor of the
 * candidate's likelihood. So a value that is passed on always counts against candidates without it.
 * A value shared by chance is in both counts and cancels. Two values that always go together count
 * as often as they were seen to. As only parents of one kind are compared, what labels show already
 * is in both counts, too.
 *
 * The ratios are first learned from parents found without them, if they tell these parents from the
 * other candidates. Else they come from a guess, if it tells one candidate of each call from the
 * rest. The gain must also clearly exceed that of candidates, or of values, at random. Then the
 * ratios are learned from beliefs, and from the assignments of the chain.
 */
#include "inference/evidence/evidence-table.h"

#include "base/exact-log.h"
#include "base/hash.h"
#include "inference/model/kinds.h"
#include "inference/model/tuning.h"
#include "inference/search/assignment.h"
#include "inference/search/beliefs.h"
#include "inference/search/family.h"

enum {
        MATCH_UNKNOWN, /* no value of the call came in */
        MATCH_NONE,
        MATCH_SOME, /* the first of N_RARITIES classes */
        N_RARITIES = 9,
        MATCH_ALL = MATCH_SOME + N_RARITIES, /* likewise */
        N_MATCHES = MATCH_ALL + N_RARITIES
};

/* Rarity is counted in eighths of a bit, of one value up to MOST_RARITY. */
enum { BIT = 8, MOST_RARITY = 12 * BIT };

/* The table of the calls to one callee, with one label or with any. */
typedef struct {
        double parents[N_MATCHES], others[N_MATCHES];
        double ratio[N_MATCHES];
        gboolean in_use;
} MatchTable;

typedef struct {
        Evidence evidence;
        MatchTable *table; /* by kind of callee, whatever it is called for */
        guint32 n_tables;

        /* The present problem. */
        const Joint *j;
        guint8 *match;        /* by candidate */
        GHashTable *rarities; /* of values, by number */
        gboolean in_chain;
} Identifiers;

static inline MatchTable *table_of(const Identifiers *s, guint32 call)
{
        const Joint *j = s->j;

        return &s->table[j->kinds->calls[call].callee];
}

/* --- matches --------------------------------------------------------------- */

/* How rare each value is among the calls into the node, by its number. */
static GHashTable *find_rarities(const NodeProblem *node)
{
        GHashTable *rarities = g_hash_table_new(NULL, NULL);
        GHashTableIter each;
        gpointer key, count;

        for (guint32 p = 0; p < node->n_in; p++) {
                const guint32 *list = &node->identifiers[node->in[p].identifiers];

                for (guint32 i = 1; i <= list[0]; i++) {
                        key = GUINT_TO_POINTER(list[i]);
                        count = g_hash_table_lookup(rarities, key);
                        g_hash_table_insert(rarities, key,
                                            GUINT_TO_POINTER(GPOINTER_TO_UINT(count) + 1));
                }
        }
        g_hash_table_iter_init(&each, rarities);
        while (g_hash_table_iter_next(&each, &key, &count)) {
                double share = (double)GPOINTER_TO_UINT(count) / node->n_in;
                double bits = -exact_log(share) / 0.69314718055994531;

                /* One more, since 0 is for values that no call into the node has. */
                g_hash_table_iter_replace(
                        &each, GUINT_TO_POINTER(1 + MIN((guint)(bits * BIT), MOST_RARITY)));
        }
        return rarities;
}

/* The least rarity of a class, in bits. */
static guint least_bits(guint class)
{
        static const guint8 limits[N_RARITIES] = { 0, 1, 2, 3, 4, 6, 8, 10, 12 };

        return limits[class];
}

static guint rarity_class(guint rarity)
{
        guint class = 0;

        while (class + 1 < N_RARITIES && rarity >= least_bits(class + 1) * BIT)
                class ++;
        return class;
}

static guint8 find_match(const guint32 *list, const guint *rarity, guint n_known,
                         const guint32 *of_parent)
{
        guint shared = 0, sum = 0;

        for (guint32 i = 1, k = 1; i <= list[0] && k <= of_parent[0];) {
                if (list[i] == of_parent[k]) {
                        shared++;
                        sum += rarity[i] - 1;
                }
                if (list[i] < of_parent[k])
                        i++;
                else
                        k++;
        }
        if (shared == 0)
                return MATCH_NONE;
        return (guint8)((shared == n_known ? MATCH_ALL : MATCH_SOME) + rarity_class(sum));
}

/* Finds the matches of all candidates of a call with the values of another call, or of the call
 * itself. FALSE: none of these values came in. */
static gboolean find_matches(const Identifiers *s, guint32 call, guint32 other,
                             GHashTable *rarities, guint8 *match)
{
        const Problem *p = s->j->problem;
        const guint32 *all = p->node->identifiers, *list = &all[p->node->out[other].identifiers];
        g_autofree guint *rarity = NULL;
        guint n_known = 0;

        if (list[0] == 0)
                return FALSE;
        rarity = g_new(guint, list[0] + 1);
        for (guint32 i = 1; i <= list[0]; i++) {
                rarity[i] =
                        GPOINTER_TO_UINT(g_hash_table_lookup(rarities, GUINT_TO_POINTER(list[i])));
                n_known += rarity[i] > 0;
        }
        for (gsize k = p->candidates[call]; n_known > 0 && k < p->candidates[call + 1]; k++)
                match[k] = find_match(list, rarity, n_known,
                                      &all[p->node->in[p->candidate[k]].identifiers]);
        return n_known > 0;
}

static void identifiers_evidence_end(Evidence *e)
{
        Identifiers *s = (Identifiers *)e;

        g_clear_pointer(&s->match, g_free);
        g_clear_pointer(&s->rarities, g_hash_table_unref);
        s->j = NULL;
}

/* Makes tables for new callees. */
static void make_tables(Identifiers *s)
{
        const Joint *j = s->j;
        guint32 n = s->n_tables;

        for (guint32 i = 0; i < j->problem->node->n_out; i++)
                n = MAX(n, j->kinds->calls[i].callee + 1);
        s->table = g_renew(MatchTable, s->table, n);
        for (; s->n_tables < n; s->n_tables++)
                s->table[s->n_tables] = (MatchTable){ 0 };
}

static void identifiers_evidence_begin(Evidence *e, const Joint *j)
{
        Identifiers *s = (Identifiers *)e;
        const NodeProblem *node = j->problem->node;

        identifiers_evidence_end(e);
        s->j = j;
        s->in_chain = FALSE;
        e->watched = FALSE;
        if (!node->identifiers)
                return;
        s->rarities = find_rarities(node);
        if (g_hash_table_size(s->rarities) == 0)
                return;
        s->match = g_new0(guint8, problem_n_all(j->problem));
        for (guint32 i = 0; i < node->n_out; i++)
                e->watched |= find_matches(s, i, i, s->rarities, s->match);
        make_tables(s);
}

/* --- learning -------------------------------------------------------------- */

/* The candidates of one kind. */
typedef struct {
        double sum; /* of chances */
        guint32 n;
} OfKind;

/* Counts a call for each kind of parents: the match of the parent, and the matches of the others.
 * chance: by candidate of the call. of_kind: room by kind, of zeros. */
static void count_call(const Identifiers *s, guint32 call, const float *chance, MatchTable *t,
                       OfKind *of_kind)
{
        const Joint *j = s->j;
        gsize first = j->problem->candidates[call], end = j->problem->candidates[call + 1];
        const guint32 *candidate = j->problem->candidate;

        for (gsize k = first; k < end; k++) {
                OfKind *kind = &of_kind[j->kinds->kind[candidate[k]]];

                kind->sum += chance[k];
                kind->n++;
        }
        for (gsize k = first; k < end; k++) {
                const OfKind *kind = &of_kind[j->kinds->kind[candidate[k]]];

                if (kind->n < 2)
                        continue;
                t->parents[s->match[k]] += chance[k];
                t->others[s->match[k]] += MAX(kind->sum - chance[k], 0) / (kind->n - 1);
        }
        for (gsize k = first; k < end; k++)
                of_kind[j->kinds->kind[candidate[k]]] = (OfKind){ 0 };
}

static inline gboolean counts(const Identifiers *s, guint32 call)
{
        const Joint *j = s->j;
        guint32 parent = j->assignment->parent[call];

        return n_candidates(j->problem, call) > 1 &&
               s->match[j->problem->candidates[call]] != MATCH_UNKNOWN && parent != NO_PARENT &&
               is_training_parent(j->problem, parent);
}

static guint32 n_kinds(const Joint *j)
{
        guint32 n = 0;

        for (guint32 p = 0; p < j->problem->node->n_in; p++)
                n = MAX(n, j->kinds->kind[p] + 1);
        return n;
}

/* Counts all calls by chances of their candidates; by table. */
static MatchTable *count_all(const Identifiers *s, const float *chance)
{
        MatchTable *counted = g_new0(MatchTable, s->n_tables);
        g_autofree OfKind *of_kind = g_new0(OfKind, n_kinds(s->j));

        for (guint32 i = 0; i < s->j->problem->node->n_out; i++)
                if (counts(s, i))
                        count_call(s, i, chance, &counted[table_of(s, i) - s->table], of_kind);
        return counted;
}

/* The chances of an assignment. */
static float *chances_assigned(const Joint *j)
{
        float *chance = g_new0(float, problem_n_all(j->problem));

        for (guint32 i = 0; i < j->problem->node->n_out; i++) {
                guint32 parent = j->assignment->parent[i];
                gsize k = parent == NO_PARENT ? G_MAXSIZE
                                              : problem_find_candidate(j->problem, i, parent);

                if (k != G_MAXSIZE)
                        chance[k] = 1;
        }
        return chance;
}

static double ratio_of(const MatchTable *t, guint match)
{
        return (t->parents[match] + tuning.match_backoff) /
               (t->others[match] + tuning.match_backoff);
}

/* Replaces a callee's counts and ratios by these. */
static void learn_table(MatchTable *t, const MatchTable *counted)
{
        gboolean in_use = t->in_use;

        *t = *counted;
        t->in_use = in_use;
        for (guint i = 0; i < N_MATCHES; i++)
                t->ratio[i] = ratio_of(t, i);
}

/* Learns the ratios of the callees that are in use. */
static void learn(Identifiers *s, const float *chance)
{
        g_autofree MatchTable *counted = count_all(s, chance);

        for (guint32 k = 0; k < s->n_tables; k++)
                if (s->table[k].in_use)
                        learn_table(&s->table[k], &counted[k]);
}

/* The gain of the ratios of these counts, nats: how well they tell parents from the others. */
static double gain_of(const MatchTable *t)
{
        double gain = 0;

        for (guint i = 0; i < N_MATCHES; i++)
                if (t->parents[i] > 0)
                        gain += t->parents[i] * exact_log(ratio_of(t, i));
        return gain;
}

/* The chances of a random assignment: each call gets any candidate of its parent's kind. */
static float *chances_at_random(const Joint *j, guint64 *random)
{
        float *chance = g_new0(float, problem_n_all(j->problem));

        for (guint32 i = 0; i < j->problem->node->n_out; i++) {
                guint32 parent = j->assignment->parent[i], n = 0;
                gsize any = G_MAXSIZE;

                for (gsize k = j->problem->candidates[i];
                     parent != NO_PARENT && k < j->problem->candidates[i + 1]; k++) {
                        guint32 p = j->problem->candidate[k];

                        if (j->kinds->kind[p] != j->kinds->kind[parent])
                                continue;
                        *random = hash_word(*random, i);
                        if ((*random >> 32) * ++n >> 32 == 0)
                                any = k;
                }
                if (any != G_MAXSIZE)
                        chance[any] = 1;
        }
        return chance;
}

/* Decides for which callees identifiers are in use, by an assignment that was made without them. */
static void try_assigned(Identifiers *s)
{
        guint64 seed = HASH_SEED;
        g_autofree float *chance = chances_assigned(s->j);
        g_autofree float *random = chances_at_random(s->j, &seed);
        g_autofree MatchTable *counted = count_all(s, chance), *dealt = count_all(s, random);

        for (guint32 k = 0; k < s->n_tables; k++) {
                MatchTable *t = &s->table[k];

                if (t->in_use || gain_of(&counted[k]) <=
                                         tuning.evidence_gain +
                                                 tuning.evidence_times * MAX(gain_of(&dealt[k]), 0))
                        continue;
                t->in_use = s->evidence.in_use = TRUE;
                learn_table(t, &counted[k]);
        }
}

/* --- a guess ----------------------------------------------------------------- */

/* Where calls are very crowded, parents found by delays are hardly better than chance. Then the
 * matches are a mixture: exactly one candidate is drawn as parents are, and the others as others
 * are. Expectation maximisation fits the two. */
typedef struct {
        double parents[N_MATCHES], others[N_MATCHES], ratio[N_MATCHES];
        double gain; /* nats, over candidates that are all drawn alike */
} Guess;

static gboolean may_guess(const Identifiers *s, const guint8 *match, guint32 call)
{
        return n_candidates(s->j->problem, call) > 1 &&
               match[s->j->problem->candidates[call]] != MATCH_UNKNOWN;
}

static double sum_of(const double *counts)
{
        double sum = 0;

        for (guint i = 0; i < N_MATCHES; i++)
                sum += counts[i];
        return sum;
}

/* The sum of ratios of a call's candidates. */
static double sum_ratios(const Identifiers *s, const guint8 *match, guint32 call, const Guess *g)
{
        double sum = 0;

        for (gsize k = s->j->problem->candidates[call]; k < s->j->problem->candidates[call + 1];
             k++)
                sum += g->ratio[match[k]];
        return sum;
}

/* One round: counts by the ratios, and then the ratios by the counts. */
static void guess_round(const Identifiers *s, const guint8 *match, Guess *guess)
{
        const Problem *p = s->j->problem;

        for (guint32 t = 0; t < s->n_tables; t++)
                for (guint i = 0; i < N_MATCHES; i++)
                        guess[t].parents[i] = guess[t].others[i] = 0;
        for (guint32 i = 0; i < p->node->n_out; i++) {
                Guess *g = &guess[table_of(s, i) - s->table];
                double sum;

                if (!may_guess(s, match, i))
                        continue;
                sum = sum_ratios(s, match, i, g);
                for (gsize k = p->candidates[i]; k < p->candidates[i + 1]; k++) {
                        double chance = g->ratio[match[k]] / sum;

                        g->parents[match[k]] += chance;
                        g->others[match[k]] += 1 - chance;
                }
        }
        for (guint32 t = 0; t < s->n_tables; t++) {
                Guess *g = &guess[t];
                double n = sum_of(g->parents) + 1, n_others = sum_of(g->others) + 1;

                for (guint i = 0; i < N_MATCHES; i++)
                        g->ratio[i] = (g->parents[i] + tuning.match_backoff) / n /
                                      ((g->others[i] + tuning.match_backoff) / n_others);
        }
}

static Guess *guess_matches(const Identifiers *s, const guint8 *match)
{
        const Problem *p = s->j->problem;
        Guess *guess = g_new0(Guess, s->n_tables);

        for (guint32 t = 0; t < s->n_tables; t++)
                for (guint i = 0; i < N_MATCHES; i++)
                        guess[t].ratio[i] =
                                i < MATCH_SOME ? 1 : 1 << least_bits((i - MATCH_SOME) % N_RARITIES);
        guess_round(s, match, guess);
        for (guint32 i = 0; i < p->node->n_out; i++)
                if (may_guess(s, match, i)) {
                        Guess *g = &guess[table_of(s, i) - s->table];

                        g->gain += exact_log(sum_ratios(s, match, i, g) / n_candidates(p, i));
                }
        for (guint32 t = 0; t < s->n_tables; t++) {
                Guess *g = &guess[t];
                double n_others = sum_of(g->others), n = n_others + sum_of(g->parents);

                for (guint i = 0; i < N_MATCHES; i++) {
                        double all = g->parents[i] + g->others[i];

                        if (all > 0)
                                g->gain += all *
                                           exact_log(MAX(g->others[i], 1e-9) / n_others * n / all);
                }
        }
        return guess;
}

/* The matches of candidates with the values of a later call to the callee, which has other ones. */
static guint8 *deal_matches(const Identifiers *s)
{
        const Problem *p = s->j->problem;
        guint8 *match = g_new0(guint8, problem_n_all(p));
        g_autofree guint32 *later = g_new0(guint32, s->n_tables);

        for (guint32 i = 0; i < p->node->n_out; i++) {
                guint32 *to = &later[table_of(s, i) - s->table];

                if (!may_guess(s, s->match, i))
                        continue;
                *to = MAX(*to, i + 1);
                while (*to < p->node->n_out &&
                       (table_of(s, *to) != table_of(s, i) || !may_guess(s, s->match, *to) ||
                        p->candidate[p->candidates[*to]] <= p->candidate[p->candidates[i + 1] - 1]))
                        ++*to;
                if (*to < p->node->n_out)
                        find_matches(s, i, *to, s->rarities, match);
        }
        return match;
}

/* The chances of candidates by a guess. */
static float *chances_guessed(const Identifiers *s, const Guess *guess)
{
        const Problem *p = s->j->problem;
        float *chance = g_new0(float, problem_n_all(p));

        for (guint32 i = 0; i < p->node->n_out; i++) {
                const Guess *g = &guess[table_of(s, i) - s->table];
                double sum = sum_ratios(s, s->match, i, g);

                for (gsize k = p->candidates[i]; k < p->candidates[i + 1]; k++)
                        chance[k] = (float)(g->ratio[s->match[k]] / sum);
        }
        return chance;
}

/* Decides by a guess. It must gain more than one by the values of calls with other candidates. */
static void try_guess(Identifiers *s)
{
        g_autofree guint8 *dealt = deal_matches(s);
        g_autofree Guess *guess = guess_matches(s, s->match), *by_chance = guess_matches(s, dealt);
        g_autofree float *chance = chances_guessed(s, guess);
        g_autofree MatchTable *counted = count_all(s, chance);

        for (guint32 k = 0; k < s->n_tables; k++) {
                MatchTable *t = &s->table[k];
                if (t->in_use ||
                    guess[k].gain <= tuning.evidence_gain +
                                             tuning.evidence_times * MAX(by_chance[k].gain, 0))
                        continue;
                t->in_use = s->evidence.in_use = TRUE;
                learn_table(t, &counted[k]);
        }
}

static void learn_from_assignment(Identifiers *s)
{
        g_autofree float *chance = chances_assigned(s->j);

        learn(s, chance);
}

static void learn_from_beliefs(Identifiers *s)
{
        g_autofree float *share = g_new(float, problem_n_all(s->j->problem));

        joint_get_shares(s->j, share);
        learn(s, share);
}

/* Assignments in order of time take the likeliest parent, and would make every ratio larger. The
 * assignments of a chain take each parent as often as it is likely. A model that goes on has no
 * beliefs yet, and keeps its ratios. */
static void identifiers_evidence_learn(Evidence *e, Joint *j, EvidenceStage stage)
{
        Identifiers *s = (Identifiers *)e;

        if (stage == FIRST_PARENTS || stage == TRUE_PARENTS ||
            (stage == ROUND_PARENTS && !s->in_chain))
                try_assigned(s);
        if (stage == FIRST_PARENTS)
                try_guess(s);
        if (stage == TRUE_PARENTS || (stage == ROUND_PARENTS && s->in_chain))
                learn_from_assignment(s);
        if (stage == NEAR_BELIEFS && evidence_counts(e) && j->problem->from == G_MININT64)
                learn_from_beliefs(s);
        s->in_chain |= stage == CHAIN_PARENTS;
}

/* --- going back ------------------------------------------------------------ */

typedef struct {
        gboolean in_chain, in_use;
        MatchTable table[];
} SavedIdentifiers;

static gpointer identifiers_evidence_save(const Evidence *e)
{
        const Identifiers *s = (const Identifiers *)e;
        SavedIdentifiers *saved = g_malloc(sizeof *saved + s->n_tables * sizeof *s->table);

        saved->in_chain = s->in_chain;
        saved->in_use = e->in_use;
        memcpy(saved->table, s->table, s->n_tables * sizeof *s->table);
        return saved;
}

static void identifiers_evidence_restore(Evidence *e, gconstpointer of)
{
        const SavedIdentifiers *saved = of;
        Identifiers *s = (Identifiers *)e;

        s->in_chain = saved->in_chain;
        e->in_use = saved->in_use;
        memcpy(s->table, saved->table, s->n_tables * sizeof *s->table);
}

/* --- the object ------------------------------------------------------------ */

static Evidence *identifiers_evidence_new(void)
{
        Identifiers *s = g_new0(Identifiers, 1);

        return &s->evidence;
}

static void identifiers_evidence_clear(Evidence *e)
{
        identifiers_evidence_end(e);
        g_free(((Identifiers *)e)->table);
}

static void identifiers_evidence_bytes(Evidence *e, Bytes *b)
{
        Identifiers *s = (Identifiers *)e;
        gboolean in_use = FALSE;

        bytes_count(b, &s->n_tables, 2 * N_MATCHES * sizeof(double));
        s->n_tables = bytes_room(b, &s->table, s->n_tables, sizeof *s->table,
                                 2 * N_MATCHES * sizeof(double));
        for (guint32 k = 0; k < s->n_tables && bytes_good(b); k++) {
                MatchTable *t = &s->table[k];

                bytes_bool(b, &t->in_use);
                in_use |= t->in_use;
                for (guint i = 0; i < N_MATCHES; i++) {
                        bytes_double(b, &t->parents[i]);
                        bytes_double(b, &t->others[i]);
                        bytes_expect(b, t->parents[i] >= 0 && t->others[i] >= 0, "counts");
                        t->ratio[i] = bytes_good(b) ? ratio_of(t, i) : 1;
                }
        }
        bytes_expect(b, e->in_use == in_use, "identifiers where they are in use");
}

static double identifiers_evidence_ratio(const Evidence *e, const Joint *j, guint32 parent,
                                         guint32 call, EvidenceBasis basis G_GNUC_UNUSED)
{
        const Identifiers *s = (const Identifiers *)e;
        const MatchTable *t = table_of(s, call);
        gsize k;

        if (!t->in_use || s->match[j->problem->candidates[call]] == MATCH_UNKNOWN)
                return 1;
        k = problem_find_candidate(j->problem, call, parent);
        return k == G_MAXSIZE ? 1 : t->ratio[s->match[k]];
}

const EvidenceKind evidence_identifiers = {
        .name = "identifiers",
        .make = identifiers_evidence_new,
        .free = identifiers_evidence_clear,
        .bytes = identifiers_evidence_bytes,
        .begin = identifiers_evidence_begin,
        .end = identifiers_evidence_end,
        .learn = identifiers_evidence_learn,
        .save = identifiers_evidence_save,
        .restore = identifiers_evidence_restore,
        .call = identifiers_evidence_ratio,
};
