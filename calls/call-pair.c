/* SPDX-License-Identifier: BSD-2-Clause */
#include "calls/call-pair.h"

#include <string.h>

#include "base/big-memory.h"

/* Each column that is there from the start or wanted, but at_callee. DO takes its name and the flag
 * that wants it, 0: always. */
#define FOR_COLUMNS(DO)                                                                            \
        DO(at_caller, 0)                                                                           \
        DO(edge, 0)                                                                                \
        DO(stamps, 0)                                                                              \
        DO(tree, WANT_TREES)                                                                       \
        DO(cause, WANT_CAUSES)                                                                     \
        DO(candidates, WANT_CANDIDATES)                                                            \
        DO(place, WANT_PLACES)                                                                     \
        DO(id_at, WANT_IDS)                                                                        \
        DO(progress, WANT_PROGRESS)                                                                \
        DO(family, WANT_FAMILIES)

#define RENEW(column, from, to)                                                                    \
        ((column) = big_renew_in_file(column, (from) * sizeof *(column), (to) * sizeof *(column)))

void call_pairs_make_room(CallPairs *p, guint32 i)
{
        gsize old = p->size;
        gsize size = MIN(MAX((gsize)i + 1, MAX(old * 2, 1 << 14)), NO_PARENT);

        /* New memory is zero: without an edge. */
#define RENEW_WANTED(column, flag)                                                                 \
        if (!(flag) || (p->wanted & (flag)))                                                       \
                RENEW(p->column, old, size);
        FOR_COLUMNS(RENEW_WANTED)
        if (p->both_ends)
                RENEW(p->at_callee, old, size);
        else
                p->at_callee = p->at_caller;
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

void call_pairs_put_away(const CallPairs *p)
{
#define PUT_AWAY(column, flag) big_put_away(p->column, p->size * sizeof *p->column);
        FOR_COLUMNS(PUT_AWAY)
        if (p->both_ends)
                PUT_AWAY(at_callee, 0)
}

void call_pairs_move(CallPairs *p, guint32 to, guint32 from, guint32 n)
{
#define MOVE(column, flag)                                                                         \
        if (p->column)                                                                             \
                memmove(p->column + to, p->column + from, n * sizeof *p->column);
        FOR_COLUMNS(MOVE)
        if (p->both_ends)
                MOVE(at_callee, 0)
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
#define FREE(column, flag) big_free(p->column, p->size * sizeof *p->column);
        if (p->both_ends)
                FREE(at_callee, 0)
        FOR_COLUMNS(FREE)
        memset(p, 0, sizeof *p);
}
