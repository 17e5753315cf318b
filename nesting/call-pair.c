/* SPDX-License-Identifier: BSD-2-Clause */
#include "nesting/call-pair.h"

#include <string.h>

#include "tracefmt/big-memory.h"

#define RENEW(column, from, to)                                                                    \
        ((column) = big_renew(column, (from) * sizeof *(column), (to) * sizeof *(column)))

void call_pairs_make_room(CallPairs *p, guint32 i)
{
        gsize old = p->size;
        gsize size = MIN(MAX((gsize)i + 1, MAX(old * 2, 1 << 14)), NO_PARENT);

        RENEW(p->at_caller, old, size);
        if (p->both_ends)
                RENEW(p->at_callee, old, size);
        else
                p->at_callee = p->at_caller;
        RENEW(p->edge, old, size); /* new memory is zero: without an edge */
        RENEW(p->stamps, old, size);
        if (p->want_causes)
                RENEW(p->cause, old, size);
        p->size = size;
}

void call_pairs_split_ends(CallPairs *p)
{
        p->both_ends = TRUE;
        p->at_callee = big_renew(NULL, 0, p->size * sizeof *p->at_callee);
        memcpy(p->at_callee, p->at_caller, p->n * sizeof *p->at_callee);
}

void call_pairs_move(CallPairs *p, guint32 to, guint32 from)
{
        p->at_caller[to] = p->at_caller[from];
        if (p->both_ends)
                p->at_callee[to] = p->at_callee[from];
        p->edge[to] = p->edge[from];
        p->stamps[to] = p->stamps[from];
        if (p->want_causes)
                p->cause[to] = p->cause[from];
}

void call_pairs_clear(CallPairs *p)
{
        if (p->both_ends)
                big_free(p->at_callee, p->size * sizeof *p->at_callee);
        big_free(p->at_caller, p->size * sizeof *p->at_caller);
        big_free(p->edge, p->size * sizeof *p->edge);
        big_free(p->stamps, p->size * sizeof *p->stamps);
        big_free(p->cause, p->want_causes * p->size * sizeof *p->cause);
        memset(p, 0, sizeof *p);
}
