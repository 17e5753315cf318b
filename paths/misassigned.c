/* SPDX-License-Identifier: BSD-2-Clause */
#include "paths/misassigned.h"

#include "paths/verdict.h"

/* Few paths are also at most one in 50 of all. */
#define RARE_SHARE    50
/* A pattern of few paths is probably an error if it is as improbable as this; */
#define IMPROBABLE    0.1
/* or as this where the mean probability of all paths is less than that. Chosen on 13 captures,
 * where of 1,141 such patterns 1,056 were false; of 1,272 on 13 others 1,197 (docs/evaluation.md).
 */
#define LESS_PROBABLE 0.7
#define SURE_PATHS    0.9

gboolean *misassigned_find(const PathSet *set)
{
        g_autofree gboolean *is = g_new0(gboolean, path_set_size(set) + (gsize)1);
        double limit;
        gboolean any = FALSE;

        if (path_set_graph(set) || !path_set_shows_probability(set))
                return NULL;
        limit = path_set_probability(set) < SURE_PATHS ? LESS_PROBABLE : IMPROBABLE;
        for (guint32 i = 0; i < path_set_size(set); i++) {
                const PathPattern *p = path_set_outline(set, i);

                is[i] = p->count <= MISASSIGNED_PATHS &&
                        p->count <= path_set_instances(set) / RARE_SHARE &&
                        p->probability < limit && p->drawn <= MISASSIGNED_PATHS;
                any |= is[i];
        }
        return any ? g_steal_pointer(&is) : NULL;
}
