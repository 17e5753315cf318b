/* SPDX-License-Identifier: BSD-2-Clause */
#include "inference/contexts.h"

#include "base/hash.h"
#include "inference/assignment.h"
#include "inference/pass-calls.h"

/* The bit of a call's callee in a set of nodes. Beyond 64 nodes some share a bit. */
static inline guint64 bit_of(const Joint *j, guint32 call)
{
        return (guint64)1 << j->problem->node->out[call].callee % 64;
}

/* A child, and the set of nodes that its parent calls before it. */
typedef struct {
        guint32 call;
        guint64 before;
} Child;

static guint32 hash_context(guint64 before, guint64 after, guint32 parent)
{
        guint64 h = hash_word(hash_word(hash_word(HASH_SEED, before), after), parent);

        return (guint32)MAX(h >> 32, 1);
}

void joint_set_contexts(const Joint *j, guint32 *context)
{
        g_autoptr(GArray) children = g_array_new(FALSE, FALSE, sizeof(Child));

        for (guint32 p = 0; p < j->problem->node->n_in; p++) {
                guint64 nodes = 0;

                node_problem_pass(j->problem->node, p);
                g_array_set_size(children, 0);
                for (guint32 k = j->assignment->first[p]; k != NO_PARENT;
                     k = j->assignment->next[k]) {
                        Child child = { k, nodes };

                        g_array_append_val(children, child);
                        nodes |= bit_of(j, k);
                }
                nodes = 0;
                for (guint i = children->len; i-- > 0;) {
                        const Child *child = &g_array_index(children, Child, i);

                        context[child->call] =
                                hash_context(child->before, nodes, j->problem->node->in[p].context);
                        nodes |= bit_of(j, child->call);
                }
        }
}
