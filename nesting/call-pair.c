/* SPDX-License-Identifier: BSD-2-Clause */
#include "nesting/call-pair.h"

#include <string.h>

#include "tracefmt/big-memory.h"

#define RENEW(column, from, to)                                                                    \
        ((column) = big_renew(column, (from) * sizeof *(column), (to) * sizeof *(column)))

static void resize(CallPairs *p, gsize size)
{
        gsize old = p->size;

        RENEW(p->at_caller, old, size);
        if (p->both_ends)
                RENEW(p->at_callee, old, size);
        else
                p->at_callee = p->at_caller;
        RENEW(p->nodes, old, size);
        RENEW(p->cause, old, size);
        RENEW(p->stamps, old, size);
        memset(p->nodes + old, 0xff, (size - old) * sizeof *p->nodes);
        p->size = size;
}

static void split_ends(CallPairs *p)
{
        p->both_ends = TRUE;
        p->at_callee = big_renew(NULL, 0, p->size * sizeof *p->at_callee);
        memcpy(p->at_callee, p->at_caller, p->n * sizeof *p->at_callee);
}

void call_pairs_put(CallPairs *p, guint32 i, const CallPair *c)
{
        if (G_UNLIKELY(i >= p->size))
                resize(p, MIN(MAX((gsize)i + 1, MAX((gsize)p->size * 2, 1 << 14)), NO_PARENT));
        p->n = MAX(p->n, i + 1);
        if (G_UNLIKELY(!p->both_ends && (c->enter != c->start || c->reply != c->end)))
                split_ends(p);
        p->at_caller[i] = (Span){ c->start, c->end };
        if (G_UNLIKELY(p->both_ends))
                p->at_callee[i] = (Span){ c->enter, c->reply };
        p->nodes[i].caller = c->caller;
        p->nodes[i].callee = c->callee;
        p->cause[i].parent = NO_PARENT;
        p->stamps[i] = c->stamps;
}

void call_pairs_clear(CallPairs *p)
{
        if (p->both_ends)
                big_free(p->at_callee, p->size * sizeof *p->at_callee);
        big_free(p->at_caller, p->size * sizeof *p->at_caller);
        big_free(p->nodes, p->size * sizeof *p->nodes);
        big_free(p->cause, p->size * sizeof *p->cause);
        big_free(p->stamps, p->size * sizeof *p->stamps);
        memset(p, 0, sizeof *p);
}
