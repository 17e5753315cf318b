/* SPDX-License-Identifier: BSD-2-Clause */
#include "paths/path-failure.h"

#include <stdlib.h>

#include "base/compare.h"

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

/* A call, and what siblings that ask for the same have in common. A size of 0 is unknown. */
typedef struct {
        guint32 parent, node; /* node: the callee, or 0 if the operation is known */
        guint16 label;
        gboolean goes_on;
        gint64 bytes;
        guint32 call;
} Question;

static int compare_questions(const Question *a, const Question *b)
{
        return COMPARE(a->parent, b->parent) ?:
               COMPARE(a->label, b->label) ?:
               COMPARE(a->node, b->node) ?:
               COMPARE(a->goes_on, b->goes_on);
}

COMPARISON(compare_by_call, Question, compare_questions(a, b) ?: COMPARE(a->call, b->call))

COMPARISON(compare_by_size, Question,
           compare_questions(a, b) ?:
           COMPARE(a->bytes, b->bytes) ?:
           COMPARE(a->call, b->call))

/* Fills before with the last earlier call that asks for the same. An unknown size is like any. */
static void find_same_before(Question *q, guint32 n, guint32 *before)
{
        guint32 last = NO_PARENT, unsized = NO_PARENT;

        qsort(q, n, sizeof *q, compare_by_call);
        for (guint32 i = 0; i < n; i++) {
                if (i > 0 && compare_questions(&q[i - 1], &q[i]) != 0)
                        last = unsized = NO_PARENT;
                before[q[i].call] = q[i].bytes == 0 ? last : unsized;
                last = q[i].call;
                if (q[i].bytes == 0)
                        unsized = last;
        }
        qsort(q, n, sizeof *q, compare_by_size);
        for (guint32 i = 1; i < n; i++) {
                guint32 *found = &before[q[i].call];

                if (q[i].bytes == q[i - 1].bytes && compare_questions(&q[i - 1], &q[i]) == 0 &&
                    (*found == NO_PARENT || *found < q[i - 1].call))
                        *found = q[i - 1].call;
        }
}

guint32 *path_find_retried(const PathCall *calls, guint32 n)
{
        g_autofree Question *questions = g_new(Question, n);
        guint32 *retried = g_new(guint32, n);

        for (guint32 i = 0; i < n; i++) {
                const PathCall *c = &calls[i];

                questions[i] = (Question){ .parent = c->parent,
                                           .node = c->label ? 0 : c->callee,
                                           .label = c->label,
                                           .goes_on = work_goes_on(c->continues),
                                           .bytes = c->call_bytes,
                                           .call = i };
        }
        find_same_before(questions, n, retried);
        for (guint32 i = 0; i < n; i++) {
                const PathCall *before = retried[i] == NO_PARENT ? NULL : &calls[retried[i]];

                if (before && (!outcome_is_error(before->outcome) || before->end > calls[i].start))
                        retried[i] = NO_PARENT;
        }
        return retried;
}

/* For each call: whether a retry mended it. */
static gboolean *find_mended(const PathCall *calls, guint32 n)
{
        g_autofree guint32 *retried = path_find_retried(calls, n);
        gboolean *mended = g_new0(gboolean, n);

        for (guint32 i = n; i-- > 0;)
                if (retried[i] != NO_PARENT)
                        mended[retried[i]] = mended[i] || !outcome_is_error(calls[i].outcome);
        return mended;
}

/* By call, when the last of its calls that it may wait for began, ns. */
static gint64 *find_last_starts(const PathCall *calls, guint32 n)
{
        gint64 *last = g_new(gint64, n);

        for (guint32 i = 0; i < n; i++) {
                last[i] = G_MININT64;
                if (i > 0 && path_call_has_time(&calls[i]))
                        last[calls[i].parent] = MAX(last[calls[i].parent], calls[i].start);
        }
        return last;
}

/* Whether the caller of a late call failed after it had waited for that call: most of its time, if
 * it had no time to answer itself. last: when it began its last call. */
static gboolean is_time_out(const PathCall *call, const PathCall *caller, gint64 last)
{
        gint64 waited = caller->reply - call->start;

        return outcome_is_error(caller->outcome) && last - call->start < LEAST_SPAN &&
               waited >= LEAST_SPAN &&
               (!work_is_missed(caller->continues) || 2 * waited > caller->reply - caller->enter);
}

/* What a search for the culprit knows. */
typedef struct {
        const PathCall *calls;
        const gint64 *last_starts;
        const gboolean *mended;
        guint32 *below; /* by call, the culprit among its calls, */
        guint32 *by;    /* and which of its calls leads to that */
} Search;

/* The culprit that call i leads to; NO_PARENT: none. */
static guint32 culprit_from(const Search *s, guint32 i)
{
        const PathCall *c = &s->calls[i];
        gboolean unseen = c->outcome == OUTCOME_OK && c->label == 0;
        gboolean failed = outcome_is_error(c->outcome);

        if (s->mended[i] || work_goes_on(c->continues))
                return NO_PARENT;
        if (c->continues == WORK_LATE) {
                if (!is_time_out(c, &s->calls[c->parent], s->last_starts[c->parent]))
                        return NO_PARENT;
                return s->below[i] != NO_PARENT && (failed || unseen) ? s->below[i] : i;
        }
        return s->below[i] != NO_PARENT && (failed || unseen) ? s->below[i]
               : failed                                       ? i
                                                              : NO_PARENT;
}

/* Whether call i leads on rather than the one that does so far: that was called later. */
static gboolean is_better(const Search *s, guint32 i)
{
        guint32 so_far = s->by[s->calls[i].parent];

        if (so_far == NO_PARENT)
                return TRUE;
        if (s->calls[i].continues == WORK_LATE)
                return FALSE;
        return s->calls[so_far].continues == WORK_LATE || s->calls[i].end > s->calls[so_far].end;
}

guint32 path_culprit(const PathCall *calls, guint32 n)
{
        if (!outcome_is_failure(calls[0].outcome))
                return NO_PARENT;
        g_autofree gboolean *mended = find_mended(calls, n);
        g_autofree gint64 *last_starts = find_last_starts(calls, n);
        g_autofree guint32 *below = g_new(guint32, n);
        g_autofree guint32 *by = g_new(guint32, n);
        Search s = { calls, last_starts, mended, below, by };

        for (guint32 i = 0; i < n; i++)
                below[i] = by[i] = NO_PARENT;
        for (guint32 i = n; i-- > 1;) {
                guint32 found = culprit_from(&s, i);

                if (found != NO_PARENT && is_better(&s, i)) {
                        below[calls[i].parent] = found;
                        by[calls[i].parent] = i;
                }
        }
        return below[0] == NO_PARENT ? 0 : below[0];
}

Outcome path_outcome_of_culprit(const PathCall *culprit)
{
        return culprit->continues == WORK_LATE ? outcome_named("NO_ANSWER") : culprit->outcome;
}

/* The retry that ends with a call. before: the one that ends with the call that it tries again;
 * NULL: it is the first attempt. */
static PathRetry retry_to(const PathCall *calls, guint32 call, const PathRetry *before)
{
        PathRetry r = before ? *before : (PathRetry){ .first = call };

        r.last = call;
        r.attempts++;
        if (outcome_is_error(calls[call].outcome)) {
                r.errors++;
                r.outcome = calls[call].outcome;
        }
        r.lost = calls[call].start - calls[r.first].start;
        return r;
}

GArray *path_retries(const PathCall *calls, guint32 n)
{
        GArray *retries = g_array_new(FALSE, FALSE, sizeof(PathRetry));

        if (!path_has_errors(calls, n))
                return retries;
        g_autofree guint32 *retried = path_find_retried(calls, n);
        g_autofree PathRetry *to = g_new(PathRetry, n);
        g_autofree gboolean *tried = g_new0(gboolean, n);
        for (guint32 i = 0; i < n; i++) {
                to[i] = retry_to(calls, i, retried[i] == NO_PARENT ? NULL : &to[retried[i]]);
                if (retried[i] != NO_PARENT)
                        tried[retried[i]] = TRUE;
        }
        for (guint32 i = 0; i < n; i++)
                if (!tried[i] && retried[i] != NO_PARENT)
                        g_array_append_val(retries, to[i]);
        return retries;
}
