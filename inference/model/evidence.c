/* SPDX-License-Identifier: BSD-2-Clause */
#include "inference/model/evidence.h"

void evidence_set_make(EvidenceSet *s, const EvidenceKind *const *table, const NodeModel *model)
{
        for (s->n = 0; table[s->n]; s->n++) {
                const EvidenceKind *kind = table[s->n];

                g_assert(s->n < EVIDENCE_MOST);
                s->of[s->n] = kind->make ? kind->make(model) : g_new0(Evidence, 1);
                s->of[s->n]->kind = kind;
        }
}

void evidence_set_clear(EvidenceSet *s)
{
        for (guint i = 0; i < s->n; i++) {
                Evidence *e = s->of[i];

                if (e->kind->free)
                        e->kind->free(e);
                g_free(e);
        }
        s->n = 0;
}

void evidence_set_keep(EvidenceSet *s, gboolean half)
{
        for (guint i = 0; i < s->n; i++) {
                Evidence *e = s->of[i];

                if (e->kind->keep)
                        e->kind->keep(e, half);
        }
}

void evidence_set_bytes(EvidenceSet *s, Bytes *b)
{
        for (guint i = 0; i < s->n; i++) {
                Evidence *e = s->of[i];

                bytes_word(b, e->kind->name);
                bytes_bool(b, &e->in_use);
                bytes_bool(b, &e->refuted);
                if (e->kind->bytes)
                        e->kind->bytes(e, b);
        }
}

void evidence_narrow(EvidenceSet *s, Joint *j)
{
        for (guint i = 0; i < s->n; i++) {
                Evidence *e = s->of[i];

                if (e->kind->narrow)
                        e->kind->narrow(e, j);
        }
}

void evidence_begin(EvidenceSet *s, const Joint *j)
{
        for (guint i = 0; i < s->n; i++) {
                Evidence *e = s->of[i];

                if (e->kind->begin)
                        e->kind->begin(e, j);
        }
}

void evidence_end(EvidenceSet *s)
{
        for (guint i = 0; i < s->n; i++) {
                Evidence *e = s->of[i];

                if (e->kind->end)
                        e->kind->end(e);
        }
}

/* --- learning -------------------------------------------------------------- */

void evidence_try_first(EvidenceSet *s, Joint *j)
{
        for (guint i = 0; i < s->n; i++) {
                Evidence *e = s->of[i];

                if (e->kind->try_first)
                        e->kind->try_first(e, j);
        }
}

void evidence_round(EvidenceSet *s, Joint *j)
{
        for (guint i = 0; i < s->n; i++) {
                Evidence *e = s->of[i];

                if (e->watched && e->kind->round)
                        e->kind->round(e, j);
        }
}

void evidence_watch(EvidenceSet *s, const Joint *j)
{
        for (guint i = 0; i < s->n; i++) {
                Evidence *e = s->of[i];

                if (e->kind->watch)
                        e->kind->watch(e, j);
        }
}

gboolean evidence_try_last(EvidenceSet *s, Joint *j)
{
        gboolean kept = FALSE;

        for (guint i = 0; i < s->n; i++) {
                Evidence *e = s->of[i];

                if (e->watched && e->kind->try_last)
                        kept |= e->kind->try_last(e, j);
        }
        return kept;
}

void evidence_learn_truth(EvidenceSet *s, Joint *j)
{
        for (guint i = 0; i < s->n; i++) {
                Evidence *e = s->of[i];

                if (e->kind->learn_truth)
                        e->kind->learn_truth(e, j);
        }
}

void evidence_learn(EvidenceSet *s, Joint *j)
{
        for (guint i = 0; i < s->n; i++) {
                Evidence *e = s->of[i];

                if (evidence_counts(e) && e->kind->learn)
                        e->kind->learn(e, j);
        }
}

void evidence_refine(const EvidenceSet *s, float *chance)
{
        for (guint i = 0; i < s->n; i++) {
                Evidence *e = s->of[i];

                if (evidence_counts(e) && e->kind->refine)
                        e->kind->refine(e, chance);
        }
}

void evidence_save(const EvidenceSet *s, gpointer saved[EVIDENCE_MOST])
{
        for (guint i = 0; i < s->n; i++) {
                const Evidence *e = s->of[i];

                saved[i] = e->watched && e->kind->save ? e->kind->save(e) : NULL;
        }
}

void evidence_restore(EvidenceSet *s, const gpointer saved[EVIDENCE_MOST])
{
        for (guint i = 0; i < s->n; i++) {
                Evidence *e = s->of[i];

                if (saved[i])
                        e->kind->restore(e, saved[i]);
        }
}

void evidence_find(EvidenceSet *s, Joint *j)
{
        for (guint i = 0; i < s->n; i++) {
                Evidence *e = s->of[i];

                if (evidence_counts(e) && e->kind->find)
                        e->kind->find(e, j);
        }
}

void evidence_forget(EvidenceSet *s)
{
        for (guint i = 0; i < s->n; i++) {
                Evidence *e = s->of[i];

                if (e->kind->forget)
                        e->kind->forget(e);
        }
}

void evidence_unwatch(EvidenceSet *s)
{
        for (guint i = 0; i < s->n; i++) {
                Evidence *e = s->of[i];

                e->watched = FALSE;
        }
}

void evidence_watch_used(EvidenceSet *s)
{
        for (guint i = 0; i < s->n; i++) {
                Evidence *e = s->of[i];

                e->watched = e->in_use;
        }
}

void evidence_unwatch_unused(EvidenceSet *s)
{
        for (guint i = 0; i < s->n; i++) {
                Evidence *e = s->of[i];

                e->watched &= e->in_use;
        }
}

/* --- the likelihood ---------------------------------------------------------- */

guint32 evidence_n_workers(const EvidenceSet *s)
{
        for (guint i = 0; i < s->n; i++) {
                const Evidence *e = s->of[i];

                if (e->in_use && e->kind->n_workers)
                        return e->kind->n_workers(e);
        }
        return 0;
}

gboolean evidence_borne_out(const EvidenceSet *s, Joint *j)
{
        for (guint i = 0; i < s->n; i++) {
                const Evidence *e = s->of[i];

                if (evidence_counts(e) && e->kind->borne_out && !e->kind->borne_out(e, j))
                        return FALSE;
        }
        return TRUE;
}

gboolean evidence_is_refuted(const EvidenceSet *s)
{
        for (guint i = 0; i < s->n; i++)
                if (s->of[i]->kind->borne_out && s->of[i]->refuted)
                        return TRUE;
        return FALSE;
}

gint64 evidence_start(const EvidenceSet *s, const Joint *j, guint32 parent, gint64 enter)
{
        for (guint i = 0; i < s->n; i++) {
                const Evidence *e = s->of[i];

                if (evidence_counts(e) && e->kind->start)
                        enter = MAX(enter, e->kind->start(e, j, parent));
        }
        return enter;
}

double evidence_call(const EvidenceSet *s, const Joint *j, guint32 parent, guint32 call,
                     EvidenceBasis basis, gboolean chain)
{
        double ratio = 1;

        for (guint i = 0; i < s->n; i++) {
                const Evidence *e = s->of[i];

                if (evidence_counts(e) && e->kind->call && !(chain && e->kind->put))
                        ratio *= e->kind->call(e, j, parent, call, basis);
        }
        return ratio;
}

gboolean evidence_has_calls(const EvidenceSet *s)
{
        for (guint i = 0; i < s->n; i++) {
                const Evidence *e = s->of[i];

                if (evidence_counts(e) && e->kind->call)
                        return TRUE;
        }
        return FALSE;
}

gboolean evidence_has_outputs(const EvidenceSet *s)
{
        for (guint i = 0; i < s->n; i++) {
                const Evidence *e = s->of[i];

                if (evidence_counts(e) && e->kind->output)
                        return TRUE;
        }
        return FALSE;
}

gboolean evidence_refines(const EvidenceSet *s)
{
        for (guint i = 0; i < s->n; i++) {
                const Evidence *e = s->of[i];

                if (evidence_counts(e) && e->kind->refine)
                        return TRUE;
        }
        return FALSE;
}

gboolean evidence_by_chain(const EvidenceSet *s)
{
        for (guint i = 0; i < s->n; i++)
                if (evidence_counts(s->of[i]) && s->of[i]->by_chain)
                        return TRUE;
        return FALSE;
}

gboolean evidence_blocks(const EvidenceSet *s)
{
        for (guint i = 0; i < s->n; i++)
                if (evidence_counts(s->of[i]) && s->of[i]->kind->block)
                        return TRUE;
        return FALSE;
}

void evidence_refute_blocks(EvidenceSet *s, gboolean refuted)
{
        for (guint i = 0; i < s->n; i++) {
                Evidence *e = s->of[i];

                if (!e->kind->block)
                        continue;
                e->refuted = refuted;
                if (e->kind->doubt && e->kind->doubt(e, refuted))
                        e->refuted = FALSE;
        }
}

gboolean evidence_ties(const EvidenceSet *s)
{
        for (guint i = 0; i < s->n; i++) {
                const Evidence *e = s->of[i];

                if (evidence_counts(e) && e->kind->put)
                        return TRUE;
        }
        return FALSE;
}
