/* SPDX-License-Identifier: BSD-2-Clause */
#include "nesting/drawn-paths.h"

#include "base/big-memory.h"
#include "base/fill.h"

/* By call: the number of another call, at first NO_PARENT. The array lies in a file if possible.
 * Calls are visited almost in their order, so only a small part of the array must be in memory. */
static guint32 *numbers_new(guint32 n)
{
        guint32 *numbers = big_renew_in_file(NULL, 0, n * sizeof *numbers);

        fill(numbers, 0xff, n * sizeof *numbers); /* NO_PARENT */
        big_put_away(numbers, n * sizeof *numbers);
        return numbers;
}

static void numbers_free(guint32 *numbers, guint32 n)
{
        big_free(numbers, n * sizeof *numbers);
}

/* Must be called for each call that is visited. */
static inline void numbers_pass(const guint32 *numbers, guint32 n, guint32 i)
{
        enum { EACH = 1 << 16 };

        if (G_UNLIKELY(i % EACH == 0))
                big_put_away(numbers, n * sizeof *numbers);
}

void drawn_parents_clear(DrawnParents *drawn)
{
        for (guint d = 0; d < ANSWER_DRAWINGS; d++) {
                numbers_free(drawn->parent[d], drawn->n_calls);
                drawn->parent[d] = NULL;
        }
}

void drawn_parents_take(DrawnParents *drawn, const NodeAnswer *answer, guint32 n_calls)
{
        for (guint d = 0; answer->drawn && d < ANSWER_DRAWINGS; d++) {
                guint32 *parent = drawn->parent[d];

                if (!parent)
                        parent = drawn->parent[d] = numbers_new(n_calls);
                drawn->n_calls = n_calls;
                for (guint32 i = 0; i < answer->n_out; i++) {
                        numbers_pass(parent, n_calls, i);
                        if (answer->call[i] != NO_PARENT)
                                parent[answer->call[i]] =
                                        answer->drawn[(gsize)i * ANSWER_DRAWINGS + d];
                }
                big_put_away(parent, n_calls * sizeof *parent);
        }
}

/* --- trees ---------------------------------------------------------------------- */

/* The calls of one drawing as trees: each call's first child, and the next child of the same
 * parent. */
typedef struct {
        const CallPaths *paths;
        const KnownCalls *calls;
        guint32 *first, *next;
        GArray *path; /* of PathCall, the instance in hand */
} Trees;

static inline void trees_pass(const Trees *t, guint32 i)
{
        numbers_pass(t->first, t->calls->pairs.n, i);
        numbers_pass(t->next, t->calls->pairs.n, i);
}

static void plant_trees(Trees *t, const guint32 *parent_of)
{
        guint32 n = t->calls->pairs.n;

        fill(t->first, 0xff, n * sizeof *t->first);
        for (guint32 i = n; i-- > 0;) {
                guint32 parent = parent_of[i];

                known_calls_pass(t->calls, i);
                numbers_pass(parent_of, n, i);
                trees_pass(t, i);
                if (parent == NO_PARENT)
                        parent = t->calls->pairs.cause[i].parent;
                if (parent == NO_PARENT)
                        continue;
                t->next[i] = t->first[parent];
                t->first[parent] = i;
        }
}

static void add_path_call(Trees *t, guint32 call, guint32 parent)
{
        const EdgeRole *edge = known_calls_edge(t->calls, call);
        guint32 by =
                parent == NO_PARENT ? NO_PARENT : g_array_index(t->path, PathCall, parent).call;
        PathCall c = { .parent = parent,
                       .caller = edge->caller,
                       .callee = edge->callee,
                       .call = call,
                       .continues = (guint8)call_paths_continues(t->paths, call, by),
                       .label = call_labels_get(&t->calls->labels, call) };

        g_array_append_val(t->path, c);
}

/* Puts the instance of a root together, in pre-order. After a call comes its first child, or else
 * the next sibling of the call or of its nearest ancestor that has one. */
static void gather_drawn_path(Trees *t, guint32 root)
{
        guint32 at = 0;

        g_array_set_size(t->path, 0);
        add_path_call(t, root, NO_PARENT);
        for (guint32 call = t->first[root]; call != NO_PARENT;) {
                add_path_call(t, call, at);
                at = t->path->len - 1;
                for (call = t->first[call]; call == NO_PARENT && at > 0;) {
                        const PathCall *done = &g_array_index(t->path, PathCall, at);

                        call = t->next[done->call];
                        at = done->parent;
                }
        }
}

void drawn_paths_count(const DrawnParents *drawn, const CallPaths *paths, PathSet *set)
{
        const KnownCalls *calls = paths->calls;
        const GArray *roots = paths->roots;
        guint32 n = calls->pairs.n;
        g_autoptr(GArray) path = g_array_new(FALSE, FALSE, sizeof(PathCall));
        Trees t = { paths, calls, numbers_new(n), numbers_new(n), path };

        for (guint d = 0; d < ANSWER_DRAWINGS; d++) {
                plant_trees(&t, drawn->parent[d]);
                for (guint i = 0; i < roots->len; i++) {
                        trees_pass(&t, i);
                        known_calls_pass(calls, i);
                        gather_drawn_path(&t, g_array_index(roots, guint32, i));
                        path_set_draw(set, (const PathCall *)path->data, path->len);
                }
                path_set_end_drawing(set);
        }
        numbers_free(t.first, n);
        numbers_free(t.next, n);
}
