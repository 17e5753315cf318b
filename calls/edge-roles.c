/* SPDX-License-Identifier: BSD-2-Clause */
#include "calls/edge-roles.h"
#include "base/hash.h"

#include <string.h>

#include "tracefmt/fold-clients.h"

void edge_roles_init(EdgeRoles *r, gboolean fold, gint64 window)
{
        memset(r, 0, sizeof *r);
        r->folds = fold;
        r->window = window;
        r->numbers = g_hash_table_new_full(hash_int64, g_int64_equal, g_free, NULL);
}

void edge_roles_clear(EdgeRoles *r)
{
        for (guint i = 0; i < r->n_calling; i++)
                if (r->calling[i]) {
                        candidates_clear(&r->calling[i]->scoring);
                        candidates_clear(&r->calling[i]->open);
                        g_free(r->calling[i]);
                }
        g_free(r->calling);
        g_free(r->edge);
        g_free(r->fold);
        g_hash_table_destroy(r->numbers);
}

static void find_fold(EdgeRoles *r, NodeTable *nodes, const Edge *edges, guint n_edges)
{
        g_autofree FoldEdge *fold_edges = g_new(FoldEdge, n_edges);
        guint n_calling = 0;

        for (guint i = 0; i < n_edges; i++)
                if (edges[i].kinds || edges[i].pairs)
                        fold_edges[n_calling++] = (FoldEdge){ edges[i].caller, edges[i].callee };
        g_free(r->fold);
        r->fold = r->folds ? fold_clients(nodes, fold_edges, n_calling, &r->folded)
                           : fold_nothing(nodes);
}

/* Only nodes that are called and call have nestings. */
static void find_calling(EdgeRoles *r, guint n_nodes, const Edge *edges, guint n_edges,
                         gboolean all)
{
        g_autofree guint8 *part = g_new0(guint8, n_nodes);

        r->calling = g_renew(CallingNode *, r->calling, n_nodes);
        while (r->n_calling < n_nodes)
                r->calling[r->n_calling++] = NULL;
        for (guint i = 0; i < n_edges; i++)
                if (edges[i].pairs) {
                        part[edges[i].caller] |= 1;
                        part[edges[i].callee] |= all ? 3 : 2;
                }
        for (guint i = 0; i < n_nodes; i++)
                if (part[i] == 3 && !r->calling[i]) {
                        r->calling[i] = g_new0(CallingNode, 1);
                        candidates_init(&r->calling[i]->scoring, r->window);
                        candidates_init(&r->calling[i]->open, r->window);
                }
}

/* Clients that are folded into one have one number. */
static guint32 number_caller(EdgeRoles *r, CallingNode *at_callee, NodeId shown, NodeId callee)
{
        gint64 key = (gint64)callee << 32 | shown;
        gpointer number;

        if (!g_hash_table_lookup_extended(r->numbers, &key, NULL, &number)) {
                number = GUINT_TO_POINTER(at_callee->n_callers++);
                g_hash_table_insert(r->numbers, g_memdup2(&key, sizeof key), number);
        }
        return GPOINTER_TO_UINT(number);
}

gint64 edge_roles_find(EdgeRoles *r, NodeTable *nodes, const Edge *edges, guint n_edges,
                       gboolean all)
{
        gint64 longest = 0;

        find_fold(r, nodes, edges, n_edges);
        find_calling(r, node_table_size(nodes), edges, n_edges, all);
        r->edge = g_renew(EdgeRole, r->edge, n_edges);
        for (guint i = 0; i < n_edges; i++) {
                NodeId caller = edges[i].caller, callee = edges[i].callee;
                EdgeRole *role = &r->edge[i];

                if (i >= r->n_edges)
                        *role = (EdgeRole){ caller, callee, NO_NODE, 0, NULL, NULL };
                role->at_caller = r->calling[caller];
                role->at_callee = r->calling[callee];
                if (!role->at_callee)
                        continue;
                longest = MAX(longest, edges[i].longest_stay);
                if (role->shown == r->fold[caller])
                        continue;
                role->shown = r->fold[caller];
                role->number = number_caller(r, role->at_callee, role->shown, callee);
        }
        r->n_edges = n_edges;
        return longest;
}

void edge_roles_drop_calls(EdgeRoles *r, guint32 n)
{
        for (guint i = 0; i < r->n_calling; i++)
                for (guint32 k = 0; r->calling[i] && k < r->calling[i]->scoring.end; k++)
                        r->calling[i]->scoring.active[k].which -= n;
}
