/* SPDX-License-Identifier: BSD-2-Clause */
#include "calls/call-pair.h"

#include <string.h>

#include "base/big-memory.h"

#define RENEW(column, from, to)                                                                    \
        ((column) = big_renew_in_file(column, (from) * sizeof *(column), (to) * sizeof *(column)))

void call_pairs_make_room(CallPairs *p, guint32 i)
{
        gsize old = p->size;
        gsize size = MIN(MAX((gsize)i + 1, MAX(old * 2, 1 << 14)), NO_PARENT);

        /* New memory is zero: without an edge. */
        RENEW(p->at_caller, old, size);
        if (p->both_ends)
                RENEW(p->at_callee, old, size);
        else
                p->at_callee = p->at_caller;
        RENEW(p->edge, old, size);
        RENEW(p->stamps, old, size);
        if (p->wanted & WANT_CAUSES)
                RENEW(p->cause, old, size);
        if (p->wanted & WANT_CANDIDATES)
                RENEW(p->candidates, old, size);
        if (p->wanted & WANT_PLACES)
                RENEW(p->place, old, size);
        if (p->wanted & WANT_IDS)
                RENEW(p->id_at, old, size);
        if (p->wanted & WANT_PROGRESS)
                RENEW(p->progress, old, size);
        if (p->wanted & WANT_TREES)
                RENEW(p->tree, old, size);
        if (p->wanted & WANT_FAMILIES)
                RENEW(p->family, old, size);
        p->size = size;
}

void call_pairs_split_ends(CallPairs *p)
{
        p->both_ends = TRUE;
        p->at_callee = NULL;
        RENEW(p->at_callee, 0, p->size);
        memcpy(p->at_callee, p->at_caller, p->n * sizeof *p->at_callee);
}

void call_pairs_want(CallPairs *p, guint wanted)
{
        if ((wanted & WANT_PROGRESS) && !p->progress)
                RENEW(p->progress, 0, p->size);
        if ((wanted & WANT_TREES) && !p->tree)
                RENEW(p->tree, 0, p->size);
        p->wanted |= wanted;
}

#define PUT_AWAY(column) big_put_away(column, p->size * sizeof *(column))

void call_pairs_put_away(const CallPairs *p)
{
        PUT_AWAY(p->at_caller);
        if (p->both_ends)
                PUT_AWAY(p->at_callee);
        PUT_AWAY(p->edge);
        PUT_AWAY(p->stamps);
        PUT_AWAY(p->tree);
        PUT_AWAY(p->cause);
        PUT_AWAY(p->candidates);
        PUT_AWAY(p->place);
        PUT_AWAY(p->id_at);
        PUT_AWAY(p->progress);
        PUT_AWAY(p->family);
}

#define MOVE(column, to, from, n)                                                                  \
        memmove((column) + (to), (column) + (from), (n) * sizeof *(column))

void call_pairs_move(CallPairs *p, guint32 to, guint32 from, guint32 n)
{
        MOVE(p->at_caller, to, from, n);
        if (p->both_ends)
                MOVE(p->at_callee, to, from, n);
        MOVE(p->edge, to, from, n);
        MOVE(p->stamps, to, from, n);
        if (p->tree)
                MOVE(p->tree, to, from, n);
        if (p->cause)
                MOVE(p->cause, to, from, n);
        if (p->candidates)
                MOVE(p->candidates, to, from, n);
        if (p->place)
                MOVE(p->place, to, from, n);
        if (p->id_at)
                MOVE(p->id_at, to, from, n);
        if (p->progress)
                MOVE(p->progress, to, from, n);
        if (p->family)
                MOVE(p->family, to, from, n);
}

void call_pairs_drop(CallPairs *p, guint32 n)
{
        call_pairs_move(p, 0, n, p->n - n);
        p->n -= n;
        /* What is put after them is new: without an edge until then. */
        memset(p->edge + p->n, 0, n * sizeof *p->edge);
        if (p->tree)
                memset(p->tree + p->n, 0, n * sizeof *p->tree);
        if (p->progress)
                memset(p->progress + p->n, 0, n * sizeof *p->progress);
        for (guint32 i = 0; p->cause && i < p->n; i++)
                if (p->cause[i].parent != NO_PARENT)
                        p->cause[i].parent -= n;
}

void call_pairs_clear(CallPairs *p)
{
        gsize n = p->size;

        if (p->both_ends)
                big_free(p->at_callee, n * sizeof *p->at_callee);
        big_free(p->at_caller, n * sizeof *p->at_caller);
        big_free(p->edge, n * sizeof *p->edge);
        big_free(p->stamps, n * sizeof *p->stamps);
        big_free(p->tree, n * sizeof *p->tree);
        big_free(p->cause, n * sizeof *p->cause);
        big_free(p->candidates, n * sizeof *p->candidates);
        big_free(p->place, n * sizeof *p->place);
        big_free(p->id_at, n * sizeof *p->id_at);
        big_free(p->progress, n * sizeof *p->progress);
        big_free(p->family, n * sizeof *p->family);
        memset(p, 0, sizeof *p);
}
