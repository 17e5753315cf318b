/* SPDX-License-Identifier: BSD-2-Clause */
#include "inference/model/evidence.h"

#include "inference/model/problem.h"

/* --- the objects ----------------------------------------------------------- */

void evidence_set_make(EvidenceSet *s, const EvidenceKind *const *table, guint32 n_callees)
{
        *s = (EvidenceSet){ 0 };
        serving_order_init_for(&s->order, n_callees);
        for (; table[s->n]; s->n++) {
                const EvidenceKind *kind = table[s->n];

                g_assert(s->n < EVIDENCE_MOST);
                s->of[s->n] = kind->make ? kind->make() : g_new0(Evidence, 1);
                s->of[s->n]->kind = kind;
        }
}

void evidence_set_clear(EvidenceSet *s)
{
        for (guint i = 0; i < s->n; i++) {
                if (s->of[i]->kind->free)
                        s->of[i]->kind->free(s->of[i]);
                g_free(s->of[i]);
        }
        workers_end(&s->workers);
        serving_order_clear(&s->order);
        *s = (EvidenceSet){ 0 };
}

/* An empty row of a kind that is learned before (sizes, numbers) and has nothing to keep. */
static void empty_row_bytes(const char *name, Bytes *b)
{
        gboolean no = FALSE;

        bytes_word(b, name);
        bytes_bool(b, &no);
        bytes_bool(b, &no);
}

static void row_bytes(Evidence *e, Bytes *b)
{
        bytes_word(b, e->kind->name);
        bytes_bool(b, &e->in_use);
        bytes_bool(b, &e->rejected);
        if (e->kind->bytes)
                e->kind->bytes(e, b);
}

void evidence_set_bytes(EvidenceSet *s, Bytes *b)
{
        empty_row_bytes("sizes", b);
        empty_row_bytes("numbers", b);
        bytes_word(b, "workers");
        workers_bytes(&s->workers, b);
        for (guint i = 0; i < s->n; i++)
                row_bytes(s->of[i], b);
        bytes_word(b, "order");
        serving_order_bytes(&s->order, b);
}

void evidence_begin(EvidenceSet *s, const Joint *j)
{
        workers_suppose(&s->workers, j->problem->node, s->workers.n);
        serving_order_begin(&s->order, j->problem->node, j->problem->output);
        for (guint i = 0; i < s->n; i++)
                if (s->of[i]->kind->begin)
                        s->of[i]->kind->begin(s->of[i], j);
}

void evidence_end(EvidenceSet *s)
{
        workers_end(&s->workers);
        serving_order_take(&s->order, NULL, 0);
        for (guint i = 0; i < s->n; i++)
                if (s->of[i]->kind->end)
                        s->of[i]->kind->end(s->of[i]);
}

void evidence_unwatch(EvidenceSet *s)
{
        s->order.watched = FALSE;
        for (guint i = 0; i < s->n; i++)
                s->of[i]->watched = FALSE;
}

void evidence_watch_used(EvidenceSet *s)
{
        s->order.watched = s->order.in_use;
        for (guint i = 0; i < s->n; i++)
                s->of[i]->watched = s->of[i]->in_use;
}

void evidence_unwatch_unused(EvidenceSet *s)
{
        s->order.watched &= s->order.in_use;
        for (guint i = 0; i < s->n; i++)
                s->of[i]->watched &= s->of[i]->in_use;
}

/* --- learning -------------------------------------------------------------- */

void evidence_learn(const EvidenceSet *s, Joint *j, EvidenceStage stage)
{
        for (guint i = 0; i < s->n; i++)
                if (s->of[i]->watched && s->of[i]->kind->learn)
                        s->of[i]->kind->learn(s->of[i], j, stage);
}

SavedEvidence evidence_save(const EvidenceSet *s)
{
        SavedEvidence saved = { .order = s->order.watched ? serving_order_save(&s->order) : NULL };

        for (guint i = 0; i < s->n; i++)
                if (s->of[i]->watched && s->of[i]->kind->save)
                        saved.of[i] = s->of[i]->kind->save(s->of[i]);
        return saved;
}

void evidence_restore(EvidenceSet *s, const SavedEvidence *saved)
{
        if (saved->order)
                serving_order_restore(&s->order, saved->order);
        for (guint i = 0; i < s->n; i++)
                if (saved->of[i])
                        s->of[i]->kind->restore(s->of[i], saved->of[i]);
}

void saved_evidence_clear(SavedEvidence *saved)
{
        g_free(saved->order);
        for (guint i = 0; i < EVIDENCE_MOST; i++)
                g_free(saved->of[i]);
}

/* --- the likelihood ---------------------------------------------------------- */

double evidence_call(const EvidenceSet *s, const Joint *j, guint32 parent, guint32 call,
                     EvidenceBasis basis, gboolean chain)
{
        double ratio = 1;

        for (guint i = 0; i < s->n; i++) {
                const Evidence *e = s->of[i];

                if (evidence_counts(e) && e->kind->call && !(chain && e->kind->swap))
                        ratio *= e->kind->call(e, j, parent, call, basis);
        }
        return ratio;
}

void evidence_refine(const EvidenceSet *s, float *chance)
{
        for (guint i = 0; i < s->n; i++)
                if (evidence_counts(s->of[i]) && s->of[i]->kind->refine)
                        s->of[i]->kind->refine(s->of[i], chance);
}

gboolean evidence_has_calls(const EvidenceSet *s)
{
        gboolean any = FALSE;

        for (guint i = 0; i < s->n; i++)
                any |= evidence_counts(s->of[i]) && s->of[i]->kind->call;
        return any;
}

gboolean evidence_refines(const EvidenceSet *s)
{
        gboolean any = FALSE;

        for (guint i = 0; i < s->n; i++)
                any |= evidence_counts(s->of[i]) && s->of[i]->kind->refine;
        return any;
}

gboolean evidence_blocks(const EvidenceSet *s)
{
        gboolean any = FALSE;

        for (guint i = 0; i < s->n; i++)
                any |= evidence_counts(s->of[i]) && s->of[i]->kind->block;
        return any;
}

void evidence_reject_blocks(EvidenceSet *s, gboolean rejected)
{
        for (guint i = 0; i < s->n; i++) {
                Evidence *e = s->of[i];

                if (e->kind->block)
                        e->rejected = rejected;
                if (e->kind->reject && e->kind->reject(e, rejected))
                        e->rejected = FALSE;
        }
}
