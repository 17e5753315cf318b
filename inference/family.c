/* SPDX-License-Identifier: BSD-2-Clause */
#include "inference/family.h"

#include "inference/joint.h"

gboolean family_gather(const Joint *j, guint32 parent, Family *f)
{
        f->parent = parent;
        f->n = 0;
        for (guint32 k = j->first[parent]; k != NO_PARENT; k = j->next[k]) {
                if (f->n == MOST_CHILDREN)
                        return FALSE;
                f->child[f->n++] = k;
        }
        return TRUE;
}

void family_take_out(Family *f, guint32 call)
{
        guint32 kept = 0;

        for (guint32 i = 0; i < f->n; i++)
                if (f->child[i] != call)
                        f->child[kept++] = f->child[i];
        f->n = kept;
}

void family_put_in(Family *f, guint32 call)
{
        guint32 i = f->n++;

        for (; i > 0 && f->child[i - 1] > call; i--)
                f->child[i] = f->child[i - 1];
        f->child[i] = call;
}

/* Adds what other evidence says of each child by itself. */
static void add_evidence(const Joint *j, Family *f)
{
        const EvidenceSet *evidence = &j->model->evidence;

        if (!evidence_has_calls(evidence))
                return;
        for (guint32 i = 0; i < f->n; i++)
                f->log += fixed_log(
                        evidence_call(evidence, j, f->parent, f->child[i], BY_ASSIGNMENT, TRUE));
}

/* The place of a parent before its first event, and what led there. */
static WalkPlace begin(const Joint *j, Family *f)
{
        ParentWalk *w = &j->model->walk;
        gint64 enter = j->node->in[f->parent].enter, start = j->start[f->parent];
        gint64 first = f->n > 0 ? j->calls[f->child[0]].start : j->node->in[f->parent].reply;
        WalkPlace at;

        if (!joint_waited(j, f->parent))
                return parent_walk_start(w, j->kind[f->parent], enter);
        at = parent_walk_wait(w, j->kind[f->parent], enter);
        if (first < start)
                return at;
        f->log += w->steps[parent_walk_step(w, at.state, 2 * w->n_callees + 1)].log;
        return parent_walk_take(w, at, start);
}

void family_walk(Joint *j, Family *f)
{
        ParentWalk *w = &j->model->walk;
        const CallIn *in = &j->node->in[f->parent];
        WalkPlace at;
        guint32 event = 2 * w->n_callees, under_way[MOST_CHILDREN], n = 0;

        f->log = 0;
        at = begin(j, f);
        for (guint32 i = 0; i <= f->n; i++) {
                const WalkCall *call = i < f->n ? &j->calls[f->child[i]] : NULL;
                gint64 time = call ? call->start : in->reply;
                guint32 next = call ? call->callee : 2 * w->n_callees, k, step;

                for (k = 0; k < n && (!call || j->calls[under_way[k]].end <= time); k++) {
                        const WalkCall *done = &j->calls[under_way[k]];

                        event = w->n_callees + done->callee;
                        step = parent_walk_step(w, at.state, event);
                        f->log += w->steps[step].log;
                        at = (WalkPlace){ w->steps[step].next, done->end };
                }
                n -= k;
                memmove(under_way, under_way + k, n * sizeof *under_way);
                step = parent_walk_step(w, at.state, next);
                f->log += w->steps[step].log +
                          w->delays.log[w->steps[step].row][density_bin(time - at.latest)];
                f->made[i] = (PlacedOutput){
                        .output = j->output[call ? f->child[i] : j->node->n_out + f->parent],
                        .parent = f->parent,
                        .class = trellis_class(&j->trellis, w, event, next),
                        .row = w->steps[step].row,
                        .trigger = at.latest
                };
                if (!call)
                        break;
                event = next;
                at = (WalkPlace){ w->steps[step].next, call->start };
                for (k = n++; k > 0 && j->calls[under_way[k - 1]].end > call->end; k--)
                        under_way[k] = under_way[k - 1];
                under_way[k] = f->child[i];
        }
        add_evidence(j, f);
}
