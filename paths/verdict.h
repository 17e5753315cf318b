/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What packets could not tell, as an answer carries it: the judgement over all, and the doubts
 * that made it, edge by edge (tracefmt/doubt.h). Of an answer from what is not fit no
 * probability is shown: each is about parents, and says nothing of calls that are none.
 */
#pragma once

#include "paths/path-set.h"
#include "tracefmt/doubt.h"

struct _Verdict {
        char *judgement; /* of fitness_judge() */
        gboolean fit;    /* for the method that found the answer */
        GArray *doubts;  /* of Doubt, the worst first */
        NodeId folded;   /* the node that clients were folded into; NO_NODE: none */
};

/* Takes judgement and doubts. */
Verdict *verdict_new(char *judgement, gboolean fit, GArray *doubts);
void verdict_free(Verdict *verdict);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Verdict, verdict_free)

/* Whether probabilities are shown of the answer. */
static inline gboolean path_set_shows_probability(const PathSet *set)
{
        const Verdict *v = path_set_summary(set)->verdict;

        return !v || v->fit;
}

/* The index, in the verdict, of the worst doubt that makes calls of the pattern doubtful; -1
 * where there is none. */
int path_set_find_doubt(const PathSet *set, const PathPattern *pattern);

/* "?": that there is one, where patterns are listed; and what it means, a sentence. */
#define DOUBT_MARK    "?"
#define DOUBT_MEANING "a path with an edge whose calls are doubtful"
