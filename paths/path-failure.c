/* SPDX-License-Identifier: BSD-2-Clause */
#include "paths/path-failure.h"

gboolean path_has_errors(const PathCall *calls, guint32 n)
{
        Outcome any = OUTCOME_OK;

        for (guint32 i = 0; i < n; i++)
                any |= calls[i].outcome;
        if (G_LIKELY(any == OUTCOME_OK))
                return FALSE;
        for (guint32 i = 0; i < n; i++)
                if (outcome_is_error(calls[i].outcome))
                        return TRUE;
        return FALSE;
}

/* Whether two siblings ask for the same. */
static gboolean asks_same(const PathCall *a, const PathCall *b)
{
        return a->label == b->label && (a->label != 0 || a->callee == b->callee) &&
               work_goes_on(a->continues) == work_goes_on(b->continues) &&
               (a->call_bytes == b->call_bytes || a->call_bytes == 0 || b->call_bytes == 0);
}

/* The sibling before i that asks for the same; NO_PARENT: none. */
static guint32 find_same_before(const PathCall *calls, guint32 i)
{
        guint32 parent = calls[i].parent;

        for (guint32 k = i; parent != NO_PARENT && k-- > parent + 1;)
                if (calls[k].parent == parent && asks_same(&calls[k], &calls[i]))
                        return k;
        return NO_PARENT;
}

guint32 path_retried(const PathCall *calls, guint32 i)
{
        guint32 before = find_same_before(calls, i);

        if (before == NO_PARENT || !outcome_is_error(calls[before].outcome) ||
            calls[before].end > calls[i].start)
                return NO_PARENT;
        return before;
}

/* For each call: whether a retry mended it. */
static gboolean *find_mended(const PathCall *calls, guint32 n)
{
        gboolean *mended = g_new0(gboolean, n);

        for (guint32 i = n; i-- > 0;) {
                guint32 retried = path_retried(calls, i);

                if (retried != NO_PARENT)
                        mended[retried] = mended[i] || !outcome_is_error(calls[i].outcome);
        }
        return mended;
}

guint32 path_culprit(const PathCall *calls, guint32 n)
{
        if (!outcome_is_failure(calls[0].outcome))
                return NO_PARENT;
        g_autofree gboolean *mended = find_mended(calls, n);
        g_autofree guint32 *below = g_new(guint32, n); /* the culprit among the calls of each, */
        g_autofree guint32 *by = g_new(guint32, n);    /* and which of these calls leads to it */

        for (guint32 i = 0; i < n; i++)
                below[i] = by[i] = NO_PARENT;
        for (guint32 i = n; i-- > 1;) {
                const PathCall *c = &calls[i];
                gboolean unseen = c->outcome == OUTCOME_OK && c->label == 0;
                guint32 found = below[i] != NO_PARENT          ? below[i]
                                : outcome_is_error(c->outcome) ? i
                                                               : NO_PARENT;

                if (found == NO_PARENT || mended[i] || work_goes_on(c->continues) ||
                    !(unseen || outcome_is_error(c->outcome)))
                        continue;
                if (by[c->parent] == NO_PARENT || c->end > calls[by[c->parent]].end) {
                        below[c->parent] = found;
                        by[c->parent] = i;
                }
        }
        return below[0] == NO_PARENT ? 0 : below[0];
}

/* A retry that ends with its last call. */
static PathRetry retry_to(const PathCall *calls, guint32 last)
{
        PathRetry r = { .first = last, .last = last };

        for (guint32 i = last; i != NO_PARENT; i = path_retried(calls, i)) {
                gboolean error = outcome_is_error(calls[i].outcome);

                r.first = i;
                r.attempts++;
                r.errors += error;
                if (error && r.outcome == OUTCOME_OK)
                        r.outcome = calls[i].outcome;
        }
        r.lost = calls[last].start - calls[r.first].start;
        return r;
}

GArray *path_retries(const PathCall *calls, guint32 n)
{
        GArray *retries = g_array_new(FALSE, FALSE, sizeof(PathRetry));
        g_autofree gboolean *tried = g_new0(gboolean, n);

        if (!path_has_errors(calls, n))
                return retries;
        for (guint32 i = 0; i < n; i++) {
                guint32 retried = path_retried(calls, i);

                if (retried != NO_PARENT)
                        tried[retried] = TRUE;
        }
        for (guint32 i = 0; i < n; i++)
                if (!tried[i] && path_retried(calls, i) != NO_PARENT) {
                        PathRetry r = retry_to(calls, i);

                        g_array_append_val(retries, r);
                }
        return retries;
}
