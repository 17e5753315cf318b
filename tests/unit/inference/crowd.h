/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A crowd: a node whose parents overlap, and how many of their calls get the right parent.
 */
#pragma once

#include "inference/inference.h"

enum { PARENTS = 400, EACH = 3, MANY = PARENTS * EACH };

#define MS G_GINT64_CONSTANT(1000000)

typedef struct {
        CallIn in[MANY];
        CallOut out[MANY];
        NodeProblem node;
        guint32 made_by[MANY]; /* by call out, less PARENTS: its parent */
        guint32 lists[1 + 4 * MANY], n_lists;
} Crowd;

/* With RAVEL_LONG, more seeds and more hostile bytes. */
static inline gboolean is_long(void)
{
        return g_getenv("RAVEL_LONG") != NULL;
}

static inline int compare_outs(const void *a, const void *b)
{
        const CallOut *x = a, *y = b;

        return (x->start > y->start) - (x->start < y->start);
}

/* Parents that overlap, from two callers; each makes two or three calls, one of which takes long or
 * not. */
static inline void make_crowd(Crowd *p, GRand *rand, gint64 begin, gint64 gap)
{
        guint32 n = 0;

        memset(p, 0, sizeof *p);
        for (guint32 i = 0; i < PARENTS; i++) {
                gint64 at = begin + i * gap;
                guint kind = g_rand_int_range(rand, 0, 2);

                p->in[i] = (CallIn){ .enter = at, .call = i, .caller = kind, .label = i % 2 };
                for (guint k = 0; k < EACH - kind; k++) {
                        gint64 start = at + g_rand_int_range(rand, 500000, 1500000);

                        at = start + (k == 1 && i % 3 ? 4 : 1) * MS +
                             g_rand_int_range(rand, 0, 100000);
                        p->out[n] = (CallOut){ .start = start,
                                               .end = at,
                                               .call = PARENTS + n,
                                               .callee = k == 1 ? 1 : 2,
                                               .parent = NO_PARENT,
                                               .connection = n % 7 };
                        p->made_by[n] = i;
                        n++;
                }
                p->in[i].reply = at + 300000;
        }
        qsort(p->out, n, sizeof *p->out, compare_outs);
        p->node = (NodeProblem){ .in = p->in,
                                 .out = p->out,
                                 .n_in = PARENTS,
                                 .n_out = n,
                                 .from = begin,
                                 .decide = begin + PARENTS * 10 * MS };
}

static inline void make_problem(Crowd *p, GRand *rand, gint64 begin)
{
        make_crowd(p, rand, begin, 3 * MS);
}

typedef enum { OWN, RANDOM, COUNTED, SHARED } Values;

/* A list of one value that only few calls have, and of one that half of them have. */
static inline guint32 add_list(Crowd *p, guint32 value)
{
        guint32 at = p->n_lists;

        p->lists[at] = 2;
        p->lists[at + 1] = 1 + value % 2;
        p->lists[at + 2] = 3 + value;
        p->n_lists += 3;
        return at;
}

/* Gives all calls identifiers: the parent's to its children; at random; numbers of calls, in and
 * out apart; or one for all. */
static inline void add_identifiers(Crowd *p, GRand *rand, Values values)
{
        p->n_lists = 1;
        p->lists[0] = 0;
        for (guint32 i = 0; i < p->node.n_in; i++)
                p->in[i].identifiers =
                        add_list(p, values == RANDOM   ? (guint32)g_rand_int_range(rand, 0, 50)
                                    : values == SHARED ? 7
                                                       : i);
        for (guint32 i = 0; i < p->node.n_out; i++)
                p->out[i].identifiers =
                        add_list(p, values == RANDOM    ? (guint32)g_rand_int_range(rand, 0, 50)
                                    : values == SHARED  ? 7
                                    : values == COUNTED ? i
                                                        : p->made_by[p->out[i].call - PARENTS]);
        p->node.identifiers = p->lists;
}

/* Finds parents; *bytes are those of the answer, if not NULL. */
static inline guint find_right(Crowd *p, GBytes **bytes)
{
        NodeAnswer answer;
        guint right = 0;

        find_parents_jointly(&p->node, NULL, &answer);
        if (bytes)
                *bytes = node_answer_to_bytes(&answer);
        for (guint32 i = 0; i < answer.n_out; i++) {
                gsize best = answer.first[i];

                for (gsize k = best; k < answer.first[i + 1]; k++)
                        if (answer.score[k] > answer.score[best])
                                best = k;
                right += answer.first[i + 1] > best &&
                         answer.parent[best] == p->made_by[answer.call[i] - PARENTS];
        }
        node_answer_clear(&answer);
        return right;
}

static inline guint count_right(Crowd *p)
{
        return find_right(p, NULL);
}

/* Three operations: those of parents, which their children share. */
static inline void add_sizes(Crowd *p, GRand *rand)
{
        guint8 size[PARENTS];

        for (guint32 i = 0; i < p->node.n_in; i++)
                p->in[i].size[0] = size[i] = 20 + g_rand_int_range(rand, 0, 3);
        for (guint32 i = 0; i < p->node.n_out; i++)
                p->out[i].size[0] = size[p->made_by[p->out[i].call - PARENTS]];
}
