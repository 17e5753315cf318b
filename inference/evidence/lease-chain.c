/* SPDX-License-Identifier: BSD-2-Clause */
#include "inference/evidence/lease-chain.h"

#include "base/fill.h"

void lease_chain_init(LeaseChain *c, guint32 n_out)
{
        c->owner = g_new(guint32, n_out);
        c->log = g_new0(gint32, n_out);
}

void lease_chain_clear(LeaseChain *c)
{
        g_clear_pointer(&c->owner, g_free);
        g_clear_pointer(&c->log, g_free);
}

void lease_chain_begin(LeaseChain *c, const Leases *l)
{
        fill(c->owner, 0xff, l->j->problem->node->n_out * sizeof *c->owner);
        c->stale = TRUE;
}

void lease_chain_place(LeaseChain *c, const Family *f)
{
        for (guint32 i = 0; i < f->n; i++)
                c->owner[f->child[i]] = f->parent;
}

/* The log of the ratio of a call. f: two families that are not in the assignment yet, or NULL. */
static gint32 log_of_call(const LeaseChain *c, const Leases *l, const Family *f, guint32 call)
{
        const LeaseTable *t = table_of(l, call);
        guint32 parent = c->owner[call], of_before;
        Before before;
        Standing standing = FRESH;

        if (!t->in_use || parent == NO_PARENT)
                return 0;
        before = before_of(l, call);
        if (before == NOT_KNOWN)
                return 0;
        of_before = before == OPENED ? NO_PARENT : c->owner[l->actual.before[call]];
        if (before != OPENED) {
                if (of_before == NO_PARENT)
                        return 0;
                if (of_before == parent)
                        return t->log[situation(before, TRUE)][HOLDS];
        }
        if (f && (f[0].parent == parent || f[1].parent == parent)) {
                const Family *of = &f[f[1].parent == parent];

                for (guint32 i = 0; i < of->n && of->child[i] < call; i++)
                        standing = standing_with(l, &l->actual, call, of->child[i], standing);
        } else {
                standing = standing_assigned(l, &l->actual, call, parent);
        }
        if (before == OPENED)
                return t->log[situation(before, FALSE)]
                             [standing_at_opening(l, &l->actual, call, parent, standing)];
        return t->log[situation(before, may_make(l->j, of_before, call))][standing];
}

static void refresh(LeaseChain *c, const Leases *l)
{
        for (guint32 i = 0; i < l->j->problem->node->n_out; i++)
                c->log[i] = log_of_call(c, l, NULL, i);
        c->stale = FALSE;
}

static void replace(LeaseChain *c, guint32 call, guint32 owner)
{
        c->replaced[c->n_replaced++] = (LeaseReplaced){ call, c->owner[call], c->log[call] };
        c->owner[call] = owner;
}

gint64 lease_chain_swap(LeaseChain *c, const Leases *l, const Family f[2])
{
        guint32 n;
        gint64 log = 0;

        if (c->stale)
                refresh(c, l);
        c->n_replaced = 0;
        for (guint m = 0; m < 2; m++)
                for (guint32 i = 0; i < f[m].n; i++)
                        replace(c, f[m].child[i], f[m].parent);
        n = c->n_replaced;
        for (guint32 i = 0; i < n; i++) {
                guint32 next = l->after[c->replaced[i].call];

                if (next == NO_PARENT || c->owner[c->replaced[i].call] == c->replaced[i].owner ||
                    c->owner[next] == f[0].parent || c->owner[next] == f[1].parent)
                        continue;
                replace(c, next, c->owner[next]);
        }
        for (guint32 i = 0; i < c->n_replaced; i++) {
                guint32 call = c->replaced[i].call;

                log -= c->log[call];
                log += c->log[call] = log_of_call(c, l, f, call);
        }
        return log;
}

void lease_chain_undo(LeaseChain *c)
{
        while (c->n_replaced > 0) {
                const LeaseReplaced *r = &c->replaced[--c->n_replaced];

                c->owner[r->call] = r->owner;
                c->log[r->call] = r->log;
        }
}

/* Whether two calls that follow each other on a connection hang together. */
static gboolean is_tied(const Leases *l, guint32 call)
{
        Before before = before_of(l, call);

        return before != OPENED && before != NOT_KNOWN && table_of(l, call)->ties[before];
}

static inline gboolean is_owned(const LeaseChain *c, guint32 call, guint32 parent, guint32 other)
{
        return c->owner[call] == parent || c->owner[call] == other;
}

guint32 lease_chain_block(const LeaseChain *c, const Leases *l, guint32 call, guint32 parent,
                          guint32 other, guint32 *calls)
{
        guint32 n = 0;

        while (is_tied(l, call) && is_owned(c, l->actual.before[call], parent, other))
                call = l->actual.before[call];
        do
                calls[n++] = call;
        while (n < 2 * MOST_CHILDREN && (call = l->after[call]) != NO_PARENT && is_tied(l, call) &&
               is_owned(c, call, parent, other));
        return n;
}
