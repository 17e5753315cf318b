/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The connections out of a node. Each callee has a table, which stays from problem to problem. For
 * the present problem there is the order of calls on each connection.
 */
#pragma once

#include "inference/evidence/lease-sequence.h"
#include "inference/evidence/lease-table.h"
#include "inference/model/evidence.h"
#include "inference/model/problem.h"
#include "inference/search/assignment.h"

typedef struct {
        LeaseTable *table;   /* by number of the callee */
        GHashTable *numbers; /* of callees, by node, from 1 */
        guint32 n_tables;
        gboolean are_told; /* the leases of tables are known */

        /* The present problem. */
        const Joint *j;
        guint32 *callee; /* by call: the number of its callee, whatever its label */
        LeaseSequence actual;
        guint32 *after; /* by call: the next one on its connection, or NO_PARENT */
} Leases;

/* Begins a problem. FALSE if no connection of its calls is known. */
gboolean leases_begin(Leases *l, const Joint *j);
void leases_end(Leases *l);

/* Leaves out candidates that cannot hold a leased connection, before leases_begin(). Where the
 * tables are new, it first finds the leases. */
void leases_narrow(Leases *l, Joint *j);

/* Learns the tables from the assignment. TRUE if one of them is in use. */
gboolean leases_learn(Leases *l, gboolean supposes);

static inline LeaseTable *table_of(const Leases *l, guint32 call)
{
        return &l->table[l->callee[call]];
}

/* What came before a call on its connection. */
static inline Before before_of(const Leases *l, guint32 call)
{
        return lease_before(l->j->problem->node, &l->actual, call);
}

/* Whether a parent that has made an earlier call may have made this one too. */
static inline gboolean may_make(const Joint *j, guint32 parent, guint32 call)
{
        return problem_find_candidate(j->problem, call, parent) != G_MAXSIZE;
}

/* The standing of a parent that did not make the call before, by what one of its earlier children
 * has used. */
static inline Standing standing_with(const Leases *l, const LeaseSequence *s, guint32 call,
                                     guint32 child, Standing so_far)
{
        if (so_far == USED || l->callee[child] != l->callee[call])
                return so_far;
        return s->connection[child] == s->connection[call] ? USED : ELSEWHERE;
}

/* The standing of a parent after an opening; used: its standing without that. */
static inline Standing standing_at_opening(const Leases *l, const LeaseSequence *s, guint32 call,
                                           guint32 parent, Standing used)
{
        const CallOut *out = &l->j->problem->node->out[call];

        if (l->j->problem->node->in[parent].enter > out->start - s->lead[call])
                return used == FRESH ? USED : HOLDS;
        return used;
}

/* The standing of a parent by the assignment, of which all of its children are linked. */
static inline Standing standing_assigned(const Leases *l, const LeaseSequence *s, guint32 call,
                                         guint32 parent)
{
        const Joint *j = l->j;
        Standing standing = FRESH;

        for (guint32 k = j->assignment->first[parent]; k != NO_PARENT && k < call;
             k = j->assignment->next[k])
                standing = standing_with(l, s, call, k, standing);
        return standing;
}
