/* SPDX-License-Identifier: BSD-2-Clause */
#include "inference/evidence/leases.h"

#include "base/fill.h"
#include "base/hash.h"
#include "inference/evidence/lease-spans.h"
#include "inference/model/tuning.h"

/* Numbers the callees. New ones get a table. */
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

void leases_end(Leases *l)
{
        lease_sequence_clear(&l->actual);
        g_clear_pointer(&l->callee, g_free);
        g_clear_pointer(&l->after, g_free);
        l->j = NULL;
}

/* Counts the connections to each callee, and the known openings. */
static void count_connections(Leases *l)
{
        for (guint32 k = 0; k < l->n_tables; k++)
                l->table[k].n_connections = l->table[k].n_opened = 0;
        for (guint32 i = 0; i < l->j->problem->node->n_out; i++) {
                LeaseTable *t = table_of(l, i);

                t->n_connections +=
                        l->actual.connection[i] != NO_PARENT && l->actual.before[i] == NO_PARENT;
                t->n_opened += l->actual.lead[i] > 0;
        }
}

gboolean leases_begin(Leases *l, const Joint *j)
{
        guint32 n_out = j->problem->node->n_out;

        leases_end(l); /* another part may have begun before */
        l->j = j;
        lease_sequence_init(&l->actual, j->problem->node);
        if (l->actual.n_connections == 0)
                return FALSE;
        l->callee = g_new(guint32, n_out);
        number_callees(l);
        count_connections(l);
        l->after = g_new(guint32, n_out);
        fill(l->after, 0xff, n_out * sizeof *l->after);
        for (guint32 i = 0; i < n_out; i++)
                if (l->actual.before[i] != NO_PARENT)
                        l->after[l->actual.before[i]] = i;
        return TRUE;
}

/* Counts the leases if connections are leased so: as captured, and dealt at random. */
static void count_spans(const Leases *l, Leased leased, SpanCount *seen, SpanCount *dealt)
{
        guint64 random = HASH_SEED;
        LeaseSequence deal = lease_sequence_copy(&l->actual, l->j->problem->node->n_out);

        memset(seen, 0, l->n_tables * sizeof *seen);
        memset(dealt, 0, l->n_tables * sizeof *dealt);
        lease_spans_count(l->j, &l->actual, l->callee, leased, seen);
        for (guint i = 0; i < tuning.lease_deals; i++) {
                lease_sequence_deal(&deal, l->j->problem->node, l->callee, l->n_tables, &random);
                lease_spans_count(l->j, &deal, l->callee, leased, dealt);
        }
        lease_sequence_clear(&deal);
}

static void find_leased(Leases *l)
{
        g_autofree SpanCount *seen = g_new(SpanCount, l->n_tables);
        g_autofree SpanCount *dealt = g_new(SpanCount, l->n_tables);

        for (guint32 k = 0; k < l->n_tables; k++)
                l->table[k].leased = LEASED_NO;
        for (guint as = LEASED_NO + 1; as < N_LEASED; as++) {
                count_spans(l, as, seen, dealt);
                for (guint32 k = 0; k < l->n_tables; k++)
                        if (lease_spans_tell(as, seen[k], dealt[k]))
                                l->table[k].leased = as;
        }
        l->are_told = TRUE;
}

/* Lists the leases by number of the callee; NULL: nothing is leased. */
static Leased *list_leased(const Leases *l)
{
        Leased *leased = g_new(Leased, l->n_tables);
        gboolean any = FALSE;

        for (guint32 k = 0; k < l->n_tables; k++)
                any |= (leased[k] = l->table[k].leased) != LEASED_NO;
        if (!any)
                g_clear_pointer(&leased, g_free);
        return leased;
}

void leases_narrow(Leases *l, Joint *j)
{
        g_autofree Leased *leased = NULL;
        g_autofree guint8 *spans = NULL;

        if (leases_begin(l, j)) {
                if (!l->are_told)
                        find_leased(l);
                leased = list_leased(l);
        }
        if (leased) {
                spans = lease_spans_find(j, &l->actual, l->callee, leased);
                problem_keep_candidates(j->problem, spans);
        }
        leases_end(l);
}

static inline gboolean is_learned_from(const Joint *j, guint32 call)
{
        return j->assignment->parent[call] != NO_PARENT &&
               is_training_parent(j->problem, j->assignment->parent[call]);
}

/* Counts the standings of the assigned parents. */
static void count(const Leases *l, const LeaseSequence *s, LeaseCounts *counts)
{
        const Joint *j = l->j;

        for (guint32 i = 0; i < j->problem->node->n_out; i++) {
                Before before = lease_before(j->problem->node, s, i);
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

/* Counts the standings with the connections dealt once more. */
static void count_dealt(const Leases *l, LeaseSequence *dealt, LeaseCounts *counts, guint64 *random)
{
        lease_sequence_deal(dealt, l->j->problem->node, l->callee, l->n_tables, random);
        count(l, dealt, counts);
}

gboolean leases_learn(Leases *l, gboolean supposes)
{
        guint64 random = HASH_SEED;
        g_autofree LeaseCounts *seen = g_new0(LeaseCounts, l->n_tables);
        g_autofree LeaseCounts *random_deals = g_new0(LeaseCounts, l->n_tables);
        g_autofree LeaseCounts *more = g_new0(LeaseCounts, l->n_tables);
        LeaseSequence dealt = lease_sequence_copy(&l->actual, l->j->problem->node->n_out);
        gboolean in_use = FALSE;

        count(l, &l->actual, seen);
        for (guint i = 0; i < tuning.lease_deals; i++)
                count_dealt(l, &dealt, random_deals, &random);
        count_dealt(l, &dealt, more, &random);
        lease_sequence_clear(&dealt);
        for (guint32 k = 0; k < l->n_tables; k++) {
                memcpy(l->table[k].seen, seen[k], sizeof *seen);
                memcpy(l->table[k].dealt, random_deals[k], sizeof *random_deals);
                lease_table_learn(&l->table[k], &more[k], supposes);
                in_use |= l->table[k].in_use;
        }
        return in_use;
}
