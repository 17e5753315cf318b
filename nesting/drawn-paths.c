/* SPDX-License-Identifier: BSD-2-Clause */
#include "nesting/drawn-paths.h"

#include "base/fill.h"

void drawn_parents_clear(DrawnParents *drawn)
{
        for (guint d = 0; d < ANSWER_DRAWINGS; d++)
                g_clear_pointer(&drawn->parent[d], g_free);
}

void drawn_parents_take(DrawnParents *drawn, const NodeAnswer *answer, guint32 n_calls)
{
        for (guint d = 0; answer->drawn && d < ANSWER_DRAWINGS; d++) {
                if (!drawn->parent[d]) {
                        drawn->parent[d] = g_new(guint32, n_calls);
                        fill(drawn->parent[d], 0xff, n_calls * sizeof *drawn->parent[d]);
                }
                for (guint32 i = 0; i < answer->n_out; i++)
                        if (answer->call[i] != NO_PARENT)
                                drawn->parent[d][answer->call[i]] =
                                        answer->drawn[(gsize)i * ANSWER_DRAWINGS + d];
        }
}

/* --- trees ---------------------------------------------------------------------- */

/* The calls of one drawing as trees: a call's first child, and by child the next one. */
typedef struct {
        const KnownCalls *calls;
        guint32 *first, *next;
        GArray *path; /* of PathCall, the instance in hand */
} Trees;

static void plant(Trees *t, const guint32 *parent_of)
{
        guint32 n = t->calls->pairs.n;

        fill(t->first, 0xff, n * sizeof *t->first);
        for (guint32 i = n; i-- > 0;) {
                guint32 parent = parent_of[i];

                if (parent == NO_PARENT)
                        parent = t->calls->pairs.cause[i].parent;
                if (parent == NO_PARENT)
                        continue;
                t->next[i] = t->first[parent];
                t->first[parent] = i;
        }
}

static void add_call(Trees *t, guint32 call, guint32 parent)
{
        const EdgeRole *edge = known_calls_edge(t->calls, call);
        PathCall c = { .parent = parent,
                       .caller = edge->caller,
                       .callee = edge->callee,
                       .call = call,
                       .continues = call_links_continues(&t->calls->links, call),
                       .label = call_labels_get(&t->calls->labels, call) };

        g_array_append_val(t->path, c);
}

/* Puts the instance of a root together, in pre-order. What comes after a call is its first child,
 * or else the next child of its parent, or of that one's, and so on. */
static void gather(Trees *t, guint32 root)
{
        guint32 at = 0;

        g_array_set_size(t->path, 0);
        add_call(t, root, NO_PARENT);
        for (guint32 call = t->first[root]; call != NO_PARENT;) {
                add_call(t, call, at);
                at = t->path->len - 1;
                for (call = t->first[call]; call == NO_PARENT && at > 0;) {
                        const PathCall *done = &g_array_index(t->path, PathCall, at);

                        call = t->next[done->call];
                        at = done->parent;
                }
        }
}

void drawn_paths_count(const DrawnParents *drawn, const KnownCalls *calls, const GArray *roots,
                       PathSet *set)
{
        guint32 n = calls->pairs.n;
        g_autofree guint32 *first = g_new(guint32, n), *next = NULL;
        g_autoptr(GArray) path = g_array_new(FALSE, FALSE, sizeof(PathCall));
        Trees t = { calls, first, NULL, path };

        t.next = next = g_new(guint32, n);
        fill(next, 0xff, n * sizeof *next);
        for (guint d = 0; d < ANSWER_DRAWINGS; d++) {
                plant(&t, drawn->parent[d]);
                for (guint i = 0; i < roots->len; i++) {
                        gather(&t, g_array_index(roots, guint32, i));
                        path_set_draw(set, (const PathCall *)path->data, path->len);
                }
                path_set_end_drawing(set);
        }
}
