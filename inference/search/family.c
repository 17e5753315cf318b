/* SPDX-License-Identifier: BSD-2-Clause */
#include "inference/search/family.h"

#include "inference/model/kinds.h"
#include "inference/search/assignment.h"

gboolean family_gather(const Joint *j, guint32 parent, Family *f)
{
        f->parent = parent;
        f->n = 0;
        for (guint32 k = j->assignment->first[parent]; k != NO_PARENT; k = j->assignment->next[k]) {
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

/* Adds the log ratio that other evidence gives each child by itself. */
static void add_evidence(const Joint *j, Family *f)
{
        const EvidenceSet *evidence = &j->model->evidence;

        if (!evidence_has_calls(evidence))
                return;
        for (guint32 i = 0; i < f->n; i++)
                f->log += fixed_log(
                        evidence_call(evidence, j, f->parent, f->child[i], BY_ASSIGNMENT, TRUE));
}

/* The place of a parent before its first event. Adds the log likelihood of a start after waiting.
 */
static WalkPlace begin(const Joint *j, Family *f)
{
        ParentWalk *w = &j->model->walk;
        const CallIn *in = &j->problem->node->in[f->parent];
        gint64 start = j->problem->start[f->parent];
        gint64 first = f->n > 0 ? j->kinds->calls[f->child[0]].start : in->reply;
        WalkPlace at;

        if (!problem_waited(j->problem, f->parent))
                return parent_walk_start(w, j->kinds->kind[f->parent], in->enter);
        at = parent_walk_wait(w, j->kinds->kind[f->parent], in->enter);
        if (first < start)
                return at;
        f->log += parent_walk_log(w, at.state, 2 * w->n_callees + 1)->log;
        return parent_walk_take(w, at, start);
}

void family_walk(Joint *j, Family *f)
{
        ParentWalk *w = &j->model->walk;
        const CallIn *in = &j->problem->node->in[f->parent];
        WalkPlace at;
        guint32 event = 2 * w->n_callees, under_way[MOST_CHILDREN], n = 0;

        f->log = 0;
        at = begin(j, f);
        for (guint32 i = 0; i <= f->n; i++) {
                const WalkCall *call = i < f->n ? &j->kinds->calls[f->child[i]] : NULL;
                gint64 time = call ? call->start : in->reply;
                guint32 next = call ? call->callee : 2 * w->n_callees, k;
                const WalkEntry *step;

                for (k = 0; k < n && (!call || j->kinds->calls[under_way[k]].end <= time); k++) {
                        const WalkCall *done = &j->kinds->calls[under_way[k]];

                        event = w->n_callees + done->callee;
                        step = parent_walk_log(w, at.state, event);
                        f->log += step->log;
                        at = (WalkPlace){ step->next, done->end };
                }
                n -= k;
                memmove(under_way, under_way + k, n * sizeof *under_way);
                step = parent_walk_log(w, at.state, next);
                f->log += step->log +
                          delay_densities_log(&w->delays, step->row, density_bin(time - at.latest));
                f->made[i] = (PlacedOutput){
                        .output = j->problem->output[call ? f->child[i]
                                                          : j->problem->node->n_out + f->parent],
                        .parent = f->parent,
                        .class = trellis_class(w, event, next),
                        .row = step->row,
                        .trigger = at.latest
                };
                if (!call)
                        break;
                event = next;
                at = (WalkPlace){ step->next, call->start };
                for (k = n++; k > 0 && j->kinds->calls[under_way[k - 1]].end > call->end; k--)
                        under_way[k] = under_way[k - 1];
                under_way[k] = f->child[i];
        }
        add_evidence(j, f);
}

gint64 family_log_of_delays(Joint *j, const Family *f)
{
        DelayDensities *delays = &j->model->walk.delays;
        gint64 log = 0;

        for (guint32 i = 0; i <= f->n; i++) {
                gint64 time = i < f->n ? j->kinds->calls[f->child[i]].start
                                       : j->problem->node->in[f->parent].reply;

                log += delay_densities_log(delays, f->made[i].row,
                                           density_bin(time - f->made[i].trigger));
        }
        return log;
}

gint64 family_log_of_start(Joint *j, const Family *f)
{
        ParentWalk *w = &j->model->walk;
        const WalkCall *first = f->n > 0 ? &j->kinds->calls[f->child[0]] : NULL;
        const CallIn *in = &j->problem->node->in[f->parent];
        guint32 event = first ? first->callee : 2 * w->n_callees;
        WalkPlace at;

        if (!problem_waited(j->problem, f->parent))
                return 0;
        if ((first ? first->start : in->reply) >= j->problem->start[f->parent])
                event = 2 * w->n_callees + 1;
        at = parent_walk_wait(w, j->kinds->kind[f->parent], in->enter);
        return parent_walk_log(w, at.state, event)->log;
}

/* --- by the trellis ------------------------------------------------------------ */

TrellisParent family_trellis_parent(const Joint *j, guint32 parent)
{
        const CallIn *in = &j->problem->node->in[parent];

        return (TrellisParent){ .number = parent,
                                .kind = j->kinds->kind[parent],
                                .enter = in->enter,
                                .start = j->problem->start[parent],
                                .reply = in->reply,
                                .output = j->problem->output[j->problem->node->n_out + parent] };
}

gint64 family_learn(Joint *j, guint32 parent, gboolean count)
{
        const EvidenceSet *evidence = &j->model->evidence;
        TrellisParent trellis_parent = family_trellis_parent(j, parent);
        gboolean has_calls = evidence_has_calls(evidence);
        TrellisCall *made;
        guint32 n = 0;

        for (guint32 k = j->assignment->first[parent]; k != NO_PARENT; k = j->assignment->next[k])
                n++;
        made = trellis_room(j->trellis, n);
        n = 0;
        for (guint32 k = j->assignment->first[parent]; k != NO_PARENT; k = j->assignment->next[k])
                made[n++] =
                        (TrellisCall){ .call = j->kinds->calls[k],
                                       .output = j->problem->output[k],
                                       .total = 1 / (has_calls
                                                             ? evidence_call(evidence, j, parent, k,
                                                                             BY_ASSIGNMENT, FALSE)
                                                             : 1),
                                       .taken = 1 };
        trellis_run(j->trellis, &j->model->walk, &trellis_parent, made, n, count);
        return j->trellis->log;
}

void joint_count_bounds(Joint *j, guint32 child, guint32 parent, guint32 count)
{
        const WalkCall *call = &j->kinds->calls[child];
        const CallIn *in = &j->problem->node->in[parent];

        if (call->start >= j->problem->start[parent])
                delay_densities_count(&j->model->bounds, j->model->enter_row[call->callee],
                                      density_bin(call->start - j->problem->start[parent]), count);
        delay_densities_count(&j->model->bounds, j->model->reply_row[call->callee],
                              density_bin(in->reply - call->end), count);
}

double joint_log_of_assignment(Joint *j)
{
        gint64 log = 0;

        for (guint32 p = 0; p < j->problem->node->n_in; p++)
                log += family_learn(j, p, FALSE);
        return (double)log / LOG_UNIT;
}

double joint_log_of_families(Joint *j)
{
        gint64 log = 0;
        Family f;

        for (guint32 p = 0; p < j->problem->node->n_in; p++)
                if (family_gather(j, p, &f)) {
                        family_walk(j, &f);
                        log += f.log;
                }
        return (double)log / LOG_UNIT;
}

void joint_find_starts(Joint *j)
{
        const Workers *w = &j->model->evidence.workers;

        for (guint32 p = 0; p < j->problem->node->n_in; p++) {
                gint64 enter = j->problem->node->in[p].enter;

                j->problem->start[p] = w->start ? MAX(enter, w->start[p]) : enter;
        }
}
