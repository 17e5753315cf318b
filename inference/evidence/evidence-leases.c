/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Leases of connections as evidence. A connection is leased to a parent. It is returned after each
 * call, at a commit, at the parent's end, or never. The pool decides who gets it next. So the
 * parent of a call depends on the parent of the call before it on its connection. It also depends
 * on what that parent and others have used (leases.h). What walks know already, as the number of
 * calls, is in the frequencies both as seen and at random. So it cancels.
 *
 * The tables are learned in each round from the assignment.
 */
#include "base/fill.h"
#include "inference/evidence/evidence-table.h"
#include "inference/evidence/lease-chain.h"
#include "inference/evidence/lease-chances.h"
#include "inference/evidence/leases.h"
#include "inference/model/tuning.h"

typedef struct {
        Evidence evidence;
        Leases leases;

        /* Assignment in order of time: the calls before `absorbed` are linked. */
        guint32 absorbed;
        guint32 *last, *earlier; /* by parent: its last child; by call: the child before it */

        LeaseChain chain;
        guint chain_rounds; /* of a chain that learns */
        gboolean in_chain;
} EvidenceLeases;

static Evidence *leases_evidence_new(void)
{
        EvidenceLeases *e = g_new0(EvidenceLeases, 1);

        e->leases.numbers = g_hash_table_new(NULL, NULL);
        e->evidence.ties = TRUE;
        return &e->evidence;
}

static void leases_evidence_clear(Evidence *of)
{
        EvidenceLeases *e = (EvidenceLeases *)of;

        g_hash_table_unref(e->leases.numbers);
        g_free(e->leases.table);
}

static void leases_evidence_end(Evidence *of)
{
        EvidenceLeases *e = (EvidenceLeases *)of;

        leases_end(&e->leases);
        lease_chain_clear(&e->chain);
        g_clear_pointer(&e->last, g_free);
        g_clear_pointer(&e->earlier, g_free);
}

static void leases_evidence_begin(Evidence *of, const Joint *j)
{
        EvidenceLeases *e = (EvidenceLeases *)of;
        const NodeProblem *node = j->problem->node;

        leases_evidence_end(of);
        of->watched = leases_begin(&e->leases, j);
        if (!of->watched)
                return;
        e->last = g_new(guint32, node->n_in);
        e->earlier = g_new(guint32, node->n_out);
        e->absorbed = G_MAXUINT32;
        lease_chain_init(&e->chain, node->n_out);
}

void evidence_leases_narrow(const EvidenceSet *s, Joint *j)
{
        for (guint i = 0; i < s->n; i++)
                if (s->of[i]->kind == &evidence_leases)
                        leases_narrow(&((EvidenceLeases *)s->of[i])->leases, j);
}

/* --- learning ---------------------------------------------------------------------- */

static void learn_from_assignment(EvidenceLeases *e)
{
        e->evidence.in_use =
                leases_learn(&e->leases, e->chain_rounds < tuning.lease_suppose_rounds);
}

static void leases_evidence_learn(Evidence *of, Joint *j G_GNUC_UNUSED, EvidenceStage stage)
{
        EvidenceLeases *e = (EvidenceLeases *)of;

        if (stage == NEAR_BELIEFS)
                return;
        if (stage == CHAIN_PARENTS) {
                e->in_chain = TRUE;
                lease_chain_begin(&e->chain, &e->leases);
                return;
        }
        if (stage == TRUE_PARENTS)
                e->chain_rounds = tuning.lease_suppose_rounds;
        else if (stage == ROUND_PARENTS)
                e->chain_rounds += e->in_chain;
        learn_from_assignment(e);
}

static gboolean leases_evidence_reject(Evidence *of, gboolean rejected)
{
        Leases *l = &((EvidenceLeases *)of)->leases;
        gboolean known = FALSE;

        for (guint32 k = 0; k < l->n_tables; k++) {
                lease_table_reject(&l->table[k], rejected);
                known |= l->table[k].leased != LEASED_NO;
        }
        return known;
}

/* --- to bytes -------------------------------------------------------------------- */

/* The callee of each table. */
static guint32 *list_callees(const Leases *l)
{
        guint32 *callee = g_new(guint32, l->n_tables + 1);
        GHashTableIter each;
        gpointer key, number;

        g_hash_table_iter_init(&each, l->numbers);
        while (g_hash_table_iter_next(&each, &key, &number))
                callee[GPOINTER_TO_UINT(number) - 1] = GPOINTER_TO_UINT(key);
        return callee;
}

static void leases_evidence_bytes(Evidence *of, Bytes *b)
{
        Leases *l = &((EvidenceLeases *)of)->leases;
        g_autofree guint32 *callee = bytes_reads(b) ? NULL : list_callees(l);
        gboolean in_use = FALSE;

        bytes_count(b, &l->n_tables, LEASE_TABLE_BYTES + 4);
        l->n_tables =
                bytes_room(b, &l->table, l->n_tables, sizeof *l->table, LEASE_TABLE_BYTES + 4);
        for (guint32 k = 0; k < l->n_tables; k++) {
                guint32 node = callee ? callee[k] : 0;

                bytes_u32(b, &node);
                if (bytes_reads(b))
                        bytes_expect(b,
                                     g_hash_table_insert(l->numbers, GUINT_TO_POINTER(node),
                                                         GUINT_TO_POINTER(k + 1)),
                                     "another callee");
                lease_table_bytes(&l->table[k], b);
                in_use |= l->table[k].in_use;
        }
        l->are_told |= l->n_tables > 0;
        bytes_expect(b, of->in_use == in_use, "leases where they are in use");
}

/* --- going back ------------------------------------------------------------------- */

typedef struct {
        guint chain_rounds;
        gboolean in_chain, in_use;
        LeaseTable table[];
} SavedLeases;

static gpointer leases_evidence_save(const Evidence *of)
{
        const EvidenceLeases *e = (const EvidenceLeases *)of;
        const Leases *l = &e->leases;
        SavedLeases *saved = g_malloc(sizeof *saved + l->n_tables * sizeof *l->table);

        saved->chain_rounds = e->chain_rounds;
        saved->in_chain = e->in_chain;
        saved->in_use = of->in_use;
        memcpy(saved->table, l->table, l->n_tables * sizeof *l->table);
        return saved;
}

static void leases_evidence_restore(Evidence *of, gconstpointer from)
{
        const SavedLeases *saved = from;
        EvidenceLeases *e = (EvidenceLeases *)of;

        e->chain_rounds = saved->chain_rounds;
        e->in_chain = saved->in_chain;
        of->in_use = saved->in_use;
        memcpy(e->leases.table, saved->table, e->leases.n_tables * sizeof *saved->table);
}

/* --- ratios ---------------------------------------------------------------------- */

/* Links each call before this one to its parent's previous call, by the assignment. */
static void absorb(EvidenceLeases *e, guint32 call)
{
        const Joint *j = e->leases.j;

        if (e->absorbed > call) {
                fill(e->last, 0xff, j->problem->node->n_in * sizeof *e->last);
                e->absorbed = 0;
        }
        for (; e->absorbed < call; e->absorbed++) {
                guint32 parent = j->assignment->parent[e->absorbed];

                if (parent == NO_PARENT)
                        continue;
                e->earlier[e->absorbed] = e->last[parent];
                e->last[parent] = e->absorbed;
        }
}

static Standing standing_earlier(EvidenceLeases *e, guint32 call, guint32 parent)
{
        Standing standing = FRESH;

        absorb(e, call);
        for (guint32 k = e->last[parent]; k != NO_PARENT; k = e->earlier[k])
                standing = standing_with(&e->leases, &e->leases.actual, call, k, standing);
        return standing;
}

/* The ratio by the assigned parent of the call before, and by what else the parent has used. */
static double ratio_assigned(const Leases *l, guint32 call, guint32 parent, Standing standing)
{
        const LeaseTable *t = table_of(l, call);
        Before before = before_of(l, call);
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

static double leases_evidence_ratio(const Evidence *of, const Joint *j G_GNUC_UNUSED,
                                    guint32 parent, guint32 call, EvidenceBasis basis)
{
        EvidenceLeases *e = (EvidenceLeases *)of;
        const Leases *l = &e->leases;

        if (basis != BY_EARLIER_CALLS || !table_of(l, call)->in_use)
                return 1;
        if (before_of(l, call) == NOT_KNOWN)
                return 1;
        return ratio_assigned(l, call, parent, standing_earlier(e, call, parent));
}

static void leases_evidence_refine(Evidence *of, float *chance)
{
        leases_refine(&((const EvidenceLeases *)of)->leases, chance);
}

/* --- the chain --------------------------------------------------------------------- */

static void leases_evidence_place(Evidence *of, const Family *f)
{
        lease_chain_place(&((EvidenceLeases *)of)->chain, f);
}

static gint64 leases_evidence_swap(Evidence *of, const Family f[2])
{
        EvidenceLeases *e = (EvidenceLeases *)of;

        return lease_chain_swap(&e->chain, &e->leases, f);
}

static void leases_evidence_undo(Evidence *of)
{
        lease_chain_undo(&((EvidenceLeases *)of)->chain);
}

static guint32 leases_evidence_block(Evidence *of, guint32 call, guint32 parent, guint32 other,
                                     guint32 *calls)
{
        const EvidenceLeases *e = (const EvidenceLeases *)of;

        return lease_chain_block(&e->chain, &e->leases, call, parent, other, calls);
}

const EvidenceKind evidence_leases = {
        .name = "leases",
        .make = leases_evidence_new,
        .free = leases_evidence_clear,
        .bytes = leases_evidence_bytes,
        .begin = leases_evidence_begin,
        .end = leases_evidence_end,
        .learn = leases_evidence_learn,
        .save = leases_evidence_save,
        .restore = leases_evidence_restore,
        .call = leases_evidence_ratio,
        .refine = leases_evidence_refine,
        .place = leases_evidence_place,
        .swap = leases_evidence_swap,
        .undo = leases_evidence_undo,
        .block = leases_evidence_block,
        .reject = leases_evidence_reject,
};
