/* SPDX-License-Identifier: BSD-2-Clause */
#include "inference/model/call-numbers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "inference/model/tuning.h"

/* --- the numbers ---------------------------------------------------------------- */

void call_numbers_init(CallNumbers *n, guint32 n_kinds, guint32 n_callees)
{
        *n = (CallNumbers){ .n_kinds = n_kinds, .n_callees = n_callees };
}

void call_numbers_clear(CallNumbers *n)
{
        g_free(n->member);
        g_free(n->number);
        *n = (CallNumbers){ 0 };
}

static void add_set(CallNumbers *n, const guint8 *member, const guint8 *number)
{
        gsize set = n->n_sets++;

        n->member = g_renew(guint8, n->member, (set + 1) * n->n_callees);
        n->number = g_renew(guint8, n->number, (set + 1) * n->n_kinds);
        memcpy(n->member + set * n->n_callees, member, n->n_callees);
        memcpy(n->number + set * n->n_kinds, number, n->n_kinds);
}

void call_numbers_bytes(CallNumbers *n, Bytes *b)
{
        if (bytes_reads(b))
                *n = (CallNumbers){ 0 };
        bytes_u32(b, &n->n_kinds);
        bytes_u32(b, &n->n_callees);
        bytes_expect(b, n->n_kinds <= NUMBERS_KINDS && n->n_callees <= NUMBERS_KINDS,
                     "numbers of few kinds of calls");
        bytes_count(b, &n->n_sets, MAX((gsize)n->n_kinds + n->n_callees, 1));
        bytes_u8s(b, &n->member, (gsize)n->n_sets * n->n_callees);
        bytes_u8s(b, &n->number, (gsize)n->n_sets * n->n_kinds);
        if (!bytes_good(b))
                n->n_sets = 0;
}

/* The number of a set for a kind of parent. n_made: how many calls of the set were made. */
static guint32 number_of(const CallNumbers *n, guint32 set, guint32 kind, const guint32 *made,
                         guint32 *n_made)
{
        const guint8 *member = n->member + (gsize)set * n->n_callees;
        guint32 number = n->number[(gsize)set * n->n_kinds + kind];

        *n_made = 0;
        if (number != NO_NUMBER)
                for (guint32 i = 0; i < n->n_callees; i++)
                        *n_made += member[i] ? made[i] : 0;
        return number;
}

gboolean call_numbers_break_by_call(const CallNumbers *n, guint32 kind, const guint32 *made,
                                    guint32 callee)
{
        guint32 n_made;

        if (kind >= n->n_kinds || callee >= n->n_callees)
                return FALSE;
        for (guint32 set = 0; set < n->n_sets; set++)
                if (n->member[(gsize)set * n->n_callees + callee] &&
                    number_of(n, set, kind, made, &n_made) <= n_made)
                        return TRUE;
        return FALSE;
}

gboolean call_numbers_break_by_reply(const CallNumbers *n, guint32 kind, const guint32 *made)
{
        guint32 n_made, number;

        if (kind >= n->n_kinds)
                return FALSE;
        for (guint32 set = 0; set < n->n_sets; set++) {
                number = number_of(n, set, kind, made, &n_made);
                if (number != NO_NUMBER && n_made < number)
                        return TRUE;
        }
        return FALSE;
}

/* --- curves --------------------------------------------------------------------- */

/* Events of a node. Events at one moment are in this order. */
typedef enum { PAUSE, ENTERS, CALLS, REPLIES } What;

typedef struct {
        gint64 time;
        guint32 kind; /* of a parent */
        guint8 what;
        guint8 counts; /* whether the curve must be in the band then */
} Happening;

struct CallCurve {
        const NodeProblem *node;
        const guint32 *callee;
        guint32 n_kinds, n_stretches;
        Happening *parents; /* what happens but for calls, in order */
        gsize n_parents;
        Happening *all; /* and with the calls of a set */
        gsize n_all;
        guint32 n_calls; /* of the set */
        guint64 work;    /* happenings that were looked at, of all sets */
};

COMPARISON(compare_happenings, Happening,
           COMPARE(a->time, b->time) ?: COMPARE(a->what, b->what) ?: COMPARE(a->kind, b->kind))

CallCurve *call_curve_new(const NodeProblem *node, const guint32 *kind, guint32 n_kinds,
                          const guint32 *callee, guint32 stretch)
{
        CallCurve *c = g_new(CallCurve, 1);
        guint32 n_pauses = stretch ? node->n_in / stretch : 0;
        gsize room = 2 * (gsize)node->n_in + n_pauses;

        *c = (CallCurve){ .node = node, .callee = callee, .n_kinds = n_kinds, .n_stretches = 1 };
        c->parents = g_new(Happening, MAX(room, 1));
        c->all = g_new(Happening, MAX(room + node->n_out, 1));
        for (guint32 i = 0; i < node->n_in; i++) {
                const CallIn *in = &node->in[i];

                if (stretch && i > 0 && i % stretch == 0) {
                        c->parents[c->n_parents++] =
                                (Happening){ .time = in->enter, .what = PAUSE };
                        c->n_stretches++;
                }
                c->parents[c->n_parents++] =
                        (Happening){ .time = in->enter, .kind = kind[i], .what = ENTERS };
                c->parents[c->n_parents++] =
                        (Happening){ .time = in->reply, .kind = kind[i], .what = REPLIES };
        }
        qsort(c->parents, c->n_parents, sizeof *c->parents, compare_happenings);
        return c;
}

void call_curve_free(CallCurve *c)
{
        g_free(c->parents);
        g_free(c->all);
        g_free(c);
}

/* Leaves out the ends of each stretch. Parents that were open before a stretch or after it are not
 * known, nor are their calls. So events soon after its beginning or shortly before its end do not
 * count. */
static void leave_out_ends(Happening *at, gsize n)
{
        for (gsize first = 0, end; first < n; first = end + 1) {
                gsize margin;

                for (end = first; end < n && at[end].what != PAUSE;)
                        end++;
                margin = MIN((end - first) / 8, tuning.numbers_end);
                for (gsize i = first; i < end; i++)
                        at[i].counts = i - first >= margin && end - i > margin;
        }
}

/* Merges the calls of a set with what happens to parents. */
static void take_set(CallCurve *c, const guint8 *member)
{
        gsize p = 0;

        c->n_all = c->n_calls = 0;
        c->work += c->n_parents + c->node->n_out;
        for (guint32 i = 0; i < c->node->n_out; i++) {
                const Happening call = { .time = c->node->out[i].start, .what = CALLS };

                if (!member[c->callee[i]])
                        continue;
                while (p < c->n_parents && compare_happenings(&c->parents[p], &call) < 0)
                        c->all[c->n_all++] = c->parents[p++];
                c->all[c->n_all++] = call;
                c->n_calls++;
        }
        memcpy(c->all + c->n_all, c->parents + p, (c->n_parents - p) * sizeof *c->all);
        c->n_all += c->n_parents - p;
        leave_out_ends(c->all, c->n_all);
}

/* The number of calls by which the curve leaves the band of these numbers, by kind; 0: it never
 * does. In each stretch both begin anywhere. width: the mean width of the band; or NULL. */
static gint64 find_excess(CallCurve *c, const gint32 *number, double *width)
{
        gint64 must = 0, can = 0, most = G_MININT64, least = G_MAXINT64, excess = 0;
        double sum = 0;
        gsize n = 0;

        c->work += c->n_all;
        for (gsize i = 0; i <= c->n_all; i++) {
                const Happening *at = &c->all[i];

                if (i == c->n_all || at->what == PAUSE) {
                        if (most > least)
                                excess += most - least;
                        most = G_MININT64;
                        least = G_MAXINT64;
                        continue;
                }
                if (at->what == CALLS) {
                        must--;
                        can--;
                } else if (at->what == ENTERS) {
                        can += number[at->kind];
                } else {
                        must += number[at->kind];
                }
                if (!at->counts)
                        continue;
                most = MAX(most, must);
                least = MIN(least, can);
                sum += (double)(can - must);
                n++;
        }
        if (width)
                *width = n > 0 ? sum / (double)n : 0;
        return excess;
}

/* --- their numbers -------------------------------------------------------------- */

enum { MOST_BLOCKS = 200, LEAST_BLOCKS = 8 };

/* Blocks of time: the parents of each kind that enter and reply, and calls beyond the numbers. */
typedef struct {
        guint n;
        float *parents; /* by kind and block; each counts half at its entry and at its reply */
        float *rest;
} Blocks;

static Blocks divide(const CallCurve *c)
{
        Blocks b = { .n = CLAMP(c->node->n_in / 10, LEAST_BLOCKS, MOST_BLOCKS) };

        b.parents = g_new0(float, (gsize)c->n_kinds *b.n);
        b.rest = g_new0(float, b.n);
        for (gsize i = 0; i < c->n_all; i++) {
                const Happening *at = &c->all[i];
                guint block = (guint)(i * b.n / c->n_all);

                if (at->what == CALLS)
                        b.rest[block]++;
                else if (at->what != PAUSE)
                        b.parents[(gsize)at->kind * b.n + block] += 0.5F;
        }
        return b;
}

/* Changes one number by one, so that the least squares are left over. FALSE: no step helps. */
static gboolean take_step(CallCurve *c, Blocks *b, gint32 *number)
{
        double most = 0;
        guint32 best = 0;
        int step = 0;

        c->work += (guint64)c->n_kinds * b->n;
        for (guint32 kind = 0; kind < c->n_kinds; kind++) {
                const float *mine = b->parents + (gsize)kind * b->n;
                double both = 0, square = 0;

                for (guint i = 0; i < b->n; i++) {
                        both += (double)mine[i] * b->rest[i];
                        square += (double)mine[i] * mine[i];
                }
                for (int s = number[kind] > 0 ? -1 : 1; s <= 1; s += 2) {
                        if (2 * s * both - square <= most)
                                continue;
                        most = 2 * s * both - square;
                        best = kind;
                        step = s;
                }
        }
        number[best] += step;
        for (guint i = 0; step && i < b->n; i++)
                b->rest[i] -= (float)step * b->parents[(gsize)best * b->n + i];
        return step != 0;
}

static gboolean is_too_much_work(const CallCurve *c)
{
        return c->work > NUMBERS_WORK * c->n_all;
}

/* Guesses the numbers by least squares, in steps of one from 0. With them the parents of each block
 * of time make its calls. */
static void guess_numbers(CallCurve *c, gint32 *number)
{
        Blocks b = divide(c);

        while (!is_too_much_work(c) && take_step(c, &b, number))
                ;
        g_free(b.parents);
        g_free(b.rest);
}

static gint64 with_step(CallCurve *c, gint32 *number, guint32 kind, int step)
{
        gint64 excess;

        number[kind] += step;
        excess = find_excess(c, number, NULL);
        number[kind] -= step;
        return excess;
}

/* Changes numbers in steps of one to where the excess is least. Stops once the excess is allowed,
 * or the work has become too much. */
static gint64 improve(CallCurve *c, gint32 *number, gint64 allowed)
{
        gint64 excess = find_excess(c, number, NULL);

        while (excess > allowed) {
                gint64 least = excess;
                guint32 best = 0;
                int step = 0;

                for (guint32 kind = 0; kind < c->n_kinds; kind++)
                        for (int s = number[kind] > 0 ? -1 : 1; s <= 1; s += 2) {
                                gint64 found;

                                if (is_too_much_work(c))
                                        return G_MAXINT64;
                                found = with_step(c, number, kind, s);
                                if (found >= least)
                                        continue;
                                least = found;
                                best = kind;
                                step = s;
                        }
                if (!step)
                        return excess;
                number[best] += step;
                excess = least;
        }
        return excess;
}

/* Whether the curve fits this number of a kind, and not one more or one less. */
static gboolean is_sure(CallCurve *c, gint32 *number, guint32 kind, gint64 allowed)
{
        gint64 other = allowed + tuning.numbers_sure;

        return number[kind] <= tuning.walk_count && with_step(c, number, kind, 1) >= other &&
               (number[kind] == 0 || with_step(c, number, kind, -1) >= other);
}

gboolean call_numbers_find(CallNumbers *n, CallCurve *c, const guint8 *member)
{
        g_autofree gint32 *number = g_new0(gint32, c->n_kinds);
        g_autofree guint8 *sure = NULL;
        gboolean any = FALSE;
        gint64 allowed;
        double width;

        take_set(c, member);
        if (c->n_calls < tuning.numbers_calls || c->n_kinds == 0 || is_too_much_work(c))
                return FALSE;
        allowed = (gint64)(c->n_calls * tuning.numbers_off);
        guess_numbers(c, number);
        if (improve(c, number, allowed) > allowed)
                return FALSE;
        find_excess(c, number, &width);
        if (2 * sqrt(tuning.numbers_spread * c->n_calls / c->n_stretches) < width)
                return FALSE;
        sure = g_new(guint8, c->n_kinds);
        for (guint32 kind = 0; kind < c->n_kinds; kind++) {
                sure[kind] = is_sure(c, number, kind, allowed) ? (guint8)number[kind] : NO_NUMBER;
                any |= sure[kind] != NO_NUMBER;
        }
        if (any)
                add_set(n, member, sure);
        return any;
}
