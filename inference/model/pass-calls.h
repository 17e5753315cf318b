/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Keeps few of a node's calls in memory, if they come from big_renew_in_file(): in_files.
 */
#pragma once

#include "base/big-memory.h"
#include "inference/inference.h"

/* Frees the memory of calls that lie in files, until they are looked at again. */
static inline void node_problem_put_away(const NodeProblem *p)
{
        if (!p->in_files)
                return;
        big_put_away(p->in, p->n_in * sizeof *p->in);
        big_put_away(p->out, p->n_out * sizeof *p->out);
}

/* To be called for each call by a loop that goes through calls in about their order. */
static inline void node_problem_pass(const NodeProblem *p, guint32 i)
{
        enum { EACH = 1 << 15 };

        if (G_UNLIKELY(i % EACH == EACH - 1))
                node_problem_put_away(p);
}
