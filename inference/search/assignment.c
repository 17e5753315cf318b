/* SPDX-License-Identifier: BSD-2-Clause */
#include "inference/search/assignment.h"

#include "base/fill.h"

void assignment_init(Assignment *a, guint32 n_in, guint32 n_out)
{
        *a = (Assignment){ .n_in = n_in, .n_out = n_out, .parent = g_new(guint32, n_out) };
}

void assignment_clear(Assignment *a)
{
        g_free(a->parent);
        g_free(a->next);
        g_free(a->first);
}

void assignment_link(Assignment *a)
{
        if (!a->first && !a->next) {
                a->first = g_new(guint32, a->n_in);
                a->next = g_new(guint32, a->n_out);
        }
        fill(a->first, 0xff, a->n_in * sizeof *a->first);
        for (guint32 i = a->n_out; i-- > 0;) {
                guint32 parent = a->parent[i];

                a->next[i] = NO_PARENT;
                if (parent != NO_PARENT) {
                        a->next[i] = a->first[parent];
                        a->first[parent] = i;
                }
        }
}

void assignment_take(Assignment *a, const guint32 *parent)
{
        memcpy(a->parent, parent, a->n_out * sizeof *parent);
        assignment_link(a);
}

void assignment_take_best(Assignment *a, const Problem *p, const float *score, gboolean second)
{
        for (guint32 i = 0; i < a->n_out; i++) {
                guint32 best = NO_PARENT, next = NO_PARENT;
                float most = -1, less = -1;

                for (gsize k = p->candidates[i]; k < p->candidates[i + 1]; k++) {
                        guint32 parent = p->candidate[k];

                        if (score[k] > most) {
                                less = most;
                                next = best;
                                most = score[k];
                                best = parent;
                        } else if (score[k] > less) {
                                less = score[k];
                                next = parent;
                        }
                }
                a->parent[i] = second && next != NO_PARENT ? next : best;
        }
        assignment_link(a);
}

void assignment_take_truth(Assignment *a, const Problem *p)
{
        for (guint32 i = 0; i < a->n_out; i++) {
                a->parent[i] = NO_PARENT;
                for (gsize k = p->candidates[i]; k < p->candidates[i + 1]; k++)
                        if (p->node->in[p->candidate[k]].call == p->node->truth[i])
                                a->parent[i] = p->candidate[k];
        }
        assignment_link(a);
}

void assignment_take_part(Assignment *a, const Assignment *part, guint32 first, guint32 end,
                          guint32 at, guint32 first_in)
{
        for (guint32 i = first; i < end; i++)
                a->parent[at + i - first] =
                        part->parent[i] == NO_PARENT ? NO_PARENT : part->parent[i] + first_in;
}

void assignment_set_children(Assignment *a, guint32 parent, const guint32 *child, guint32 n)
{
        guint32 *at = &a->first[parent];

        for (guint32 i = 0; i < n; i++) {
                *at = child[i];
                a->parent[child[i]] = parent;
                at = &a->next[child[i]];
        }
        *at = NO_PARENT;
}
