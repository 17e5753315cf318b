/* SPDX-License-Identifier: BSD-2-Clause */
#include "inference/search/moves.h"

#include "inference/search/assignment.h"
#include "inference/search/family.h"

gboolean move_alone(Family f[2], guint32 call)
{
        if (f[1].n == MOST_CHILDREN)
                return FALSE;
        family_take_out(&f[0], call);
        family_put_in(&f[1], call);
        return TRUE;
}

void move_exchange(Family f[2], guint32 call, guint32 other)
{
        family_take_out(&f[0], call);
        family_take_out(&f[1], other);
        family_put_in(&f[0], other);
        family_put_in(&f[1], call);
}

gboolean move_rest(const Joint *j, Family f[2], guint32 call)
{
        Family *from = &f[0], *to = &f[1];
        guint32 rest[MOST_CHILDREN], i = 0, k = 0, n = 0;

        while (from->child[i] != call)
                i++;
        while (k < to->n && to->child[k] < call)
                k++;
        if (i + to->n - k > MOST_CHILDREN || k + from->n - i > MOST_CHILDREN)
                return FALSE;
        for (guint32 m = i; m < from->n; m++)
                if (!move_may(j, to->parent, from->child[m]))
                        return FALSE;
        for (guint32 m = k; m < to->n; m++, n++) {
                if (!move_may(j, from->parent, to->child[m]))
                        return FALSE;
                rest[n] = to->child[m];
        }
        memcpy(to->child + k, from->child + i, (from->n - i) * sizeof *rest);
        memcpy(from->child + i, rest, n * sizeof *rest);
        to->n = k + from->n - i;
        from->n = i + n;
        return TRUE;
}

void block_find(const Joint *j, Evidence *e, const Family f[2], guint32 call, Block *b)
{
        b->n = e->kind->block(e, call, f[0].parent, f[1].parent, b->call);
        b->n_first = 0;
        for (guint32 i = 0; i < b->n; i++)
                b->n_first += b->first[i] = j->assignment->parent[b->call[i]] == f[0].parent;
}

gboolean move_block(const Joint *j, Family f[2], const Block *b)
{
        for (guint32 i = 0; i < b->n; i++)
                if (!move_may(j, f[b->first[i]].parent, b->call[i]))
                        return FALSE;
        for (guint32 i = 0; i < b->n; i++)
                family_take_out(&f[!b->first[i]], b->call[i]);
        if (f[0].n + b->n - b->n_first > MOST_CHILDREN || f[1].n + b->n_first > MOST_CHILDREN)
                return FALSE;
        for (guint32 i = 0; i < b->n; i++)
                family_put_in(&f[b->first[i]], b->call[i]);
        return TRUE;
}
