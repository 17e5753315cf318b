/* SPDX-License-Identifier: BSD-2-Clause */
#include "nesting/call-pair.h"

#include <string.h>

#include "tracefmt/big-memory.h"

#define RENEW(column, from, to) \
        ((column) = big_renew(column, (from) * sizeof *(column), (to) * sizeof *(column)))
#define FREE(column, n) big_free(column, (n) * sizeof *(column))

static void resize(CallPairs *p, gsize size)
{
        gsize old = p->size;

        RENEW(p->start, old, size);
        RENEW(p->end, old, size);
        if (p->both_ends) {
                RENEW(p->enter, old, size);
                RENEW(p->reply, old, size);
        } else {
                p->enter = p->start;
                p->reply = p->end;
        }
        RENEW(p->caller, old, size);
        RENEW(p->callee, old, size);
        RENEW(p->parent, old, size);
        RENEW(p->probability, old, size);
        RENEW(p->stamps, old, size);
        memset(p->callee + old, 0xff, (size - old) * sizeof *p->callee);
        memset(p->parent + old, 0xff, (size - old) * sizeof *p->parent);
        p->size = size;
}

static void split_ends(CallPairs *p)
{
        p->both_ends = TRUE;
        p->enter = big_renew(NULL, 0, p->size * sizeof *p->enter);
        p->reply = big_renew(NULL, 0, p->size * sizeof *p->reply);
        memcpy(p->enter, p->start, p->n * sizeof *p->enter);
        memcpy(p->reply, p->end, p->n * sizeof *p->reply);
}

void call_pairs_put(CallPairs *p, guint32 i, const CallPair *c)
{
        if (G_UNLIKELY(i >= p->size))
                resize(p, MIN(MAX((gsize)i + 1, MAX((gsize)p->size * 2, 1 << 14)), NO_PARENT));
        p->n = MAX(p->n, i + 1);
        if (G_UNLIKELY(!p->both_ends && (c->enter != c->start || c->reply != c->end)))
                split_ends(p);
        p->start[i] = c->start;
        p->end[i] = c->end;
        if (p->both_ends) {
                p->enter[i] = c->enter;
                p->reply[i] = c->reply;
        }
        p->caller[i] = c->caller;
        p->callee[i] = c->callee;
        p->stamps[i] = c->stamps;
}

void call_pairs_clear(CallPairs *p)
{
        if (p->both_ends) {
                FREE(p->enter, p->size);
                FREE(p->reply, p->size);
        }
        FREE(p->start, p->size);
        FREE(p->end, p->size);
        FREE(p->caller, p->size);
        FREE(p->callee, p->size);
        FREE(p->parent, p->size);
        FREE(p->probability, p->size);
        FREE(p->stamps, p->size);
        memset(p, 0, sizeof *p);
}
