/* SPDX-License-Identifier: BSD-2-Clause */
#include <math.h>
#include <string.h>

#include "analysis/advise/proposals.h"
#include "base/compare.h"

enum { EDGE_LABELS = 256, VISIT_CALLEES = 64 };

#define REPLICA_TOGETHER 0.01 /* at most, of the visits of their caller that call either */
#define REPLICA_ALIKE    0.5  /* at least, of their operations */
#define REPLICA_SIGMAS   4    /* a difference of means that chance makes in 1 of 30,000 */

/* Own times at a callee of one caller, by operation. ns */
typedef struct {
        NodeId caller, callee;
        guint64 visits; /* of the caller, that call it */
        double n[EDGE_LABELS], sum[EDGE_LABELS], squares[EDGE_LABELS];
} ReplicaEdge;

typedef struct {
        Proposals *proposals;
        GPtrArray *edges;     /* of ReplicaEdge, by caller and callee */
        GHashTable *numbers;  /* caller << 32 | callee: its number + 1 */
        GHashTable *together; /* edge << 32 | edge: visits that call both */
} Replicas;

static guint64 *pair_new(guint32 a, guint32 b)
{
        guint64 *key = g_new(guint64, 1);

        *key = (guint64)a << 32 | b;
        return key;
}

static guint replica_edge_number(Replicas *rs, NodeId caller, NodeId callee)
{
        guint64 key = (guint64)caller << 32 | callee;
        guint found = GPOINTER_TO_UINT(g_hash_table_lookup(rs->numbers, &key));

        if (found)
                return found - 1;
        ReplicaEdge *e = g_new0(ReplicaEdge, 1);
        e->caller = caller;
        e->callee = callee;
        g_ptr_array_add(rs->edges, e);
        g_hash_table_insert(rs->numbers, pair_new(caller, callee),
                            GUINT_TO_POINTER(rs->edges->len));
        return rs->edges->len - 1;
}

static ReplicaEdge *replica_edge_at(const Replicas *rs, guint i)
{
        return rs->edges->pdata[i];
}

static double call_own(const ReplayCall *c)
{
        double own = (double)MAX(c->last, 0);

        for (guint32 i = 1; i < c->size; i += c[i].size)
                own += c[i].follows == AFTER_REPLY ? 0 : (double)MAX(c[i].gap, 0);
        return own;
}

static void count_together(Replicas *rs, const guint *edges, guint n)
{
        for (guint i = 0; i < n; i++)
                for (guint k = 0; k < n; k++) {
                        guint64 *key = pair_new(edges[i], edges[k]);
                        guint64 count =
                                GPOINTER_TO_SIZE(g_hash_table_lookup(rs->together, key)) + 1;

                        if (i == k)
                                g_free(key);
                        else
                                g_hash_table_replace(rs->together, key, GSIZE_TO_POINTER(count));
                }
}

static void replicas_take_visit(Replicas *rs, const ReplayCall *v)
{
        guint edges[VISIT_CALLEES], n = 0;

        for (guint32 i = 1; i < v->size; i += v[i].size) {
                guint number = replica_edge_number(rs, v->node, v[i].node), k = 0;
                ReplicaEdge *e = replica_edge_at(rs, number);
                double own = call_own(&v[i]);

                e->n[v[i].label]++;
                e->sum[v[i].label] += own;
                e->squares[v[i].label] += own * own;
                while (k < n && edges[k] != number)
                        k++;
                if (k < n || n == VISIT_CALLEES)
                        continue;
                e->visits++;
                edges[n++] = number;
        }
        count_together(rs, edges, n);
}

/* --- who are replicas ------------------------------------------------------ */

static double edge_calls(const ReplicaEdge *e)
{
        double calls = 0;

        for (guint l = 0; l < EDGE_LABELS; l++)
                calls += e->n[l];
        return calls;
}

/* The share of their operations that two have in common. */
static double edges_alike(const ReplicaEdge *a, const ReplicaEdge *b)
{
        double calls_a = edge_calls(a), calls_b = edge_calls(b), alike = 0;

        for (guint l = 0; l < EDGE_LABELS; l++)
                alike += MIN(a->n[l] / calls_a, b->n[l] / calls_b);
        return alike;
}

static gboolean node_calls(const Replicas *rs, NodeId caller, NodeId callee)
{
        guint64 key = (guint64)caller << 32 | callee;

        return g_hash_table_contains(rs->numbers, &key);
}

static gboolean have_same_callees(const Replicas *rs, NodeId a, NodeId b)
{
        for (guint i = 0; i < rs->edges->len; i++) {
                const ReplicaEdge *e = replica_edge_at(rs, i);

                if ((e->caller == a && !node_calls(rs, b, e->callee)) ||
                    (e->caller == b && !node_calls(rs, a, e->callee)))
                        return FALSE;
        }
        return TRUE;
}

static gboolean are_replicas(const Replicas *rs, guint a, guint b)
{
        const ReplicaEdge *x = replica_edge_at(rs, a), *y = replica_edge_at(rs, b);
        guint64 key = (guint64)a << 32 | b;
        double both = (double)GPOINTER_TO_SIZE(g_hash_table_lookup(rs->together, &key));

        return a != b && x->caller == y->caller &&
               both <= REPLICA_TOGETHER * (double)MIN(x->visits, y->visits) &&
               edges_alike(x, y) >= REPLICA_ALIKE && have_same_callees(rs, x->callee, y->callee);
}

/* --- which are slower ------------------------------------------------------ */

/* Own time of a replica less what the others would need for the same operations; its variance. */
static void compare_replica(const ReplicaEdge *e, const ReplicaEdge *others, double *own,
                            double *usual, double *variance)
{
        *own = *usual = *variance = 0;
        for (guint l = 0; l < EDGE_LABELS; l++) {
                double n = e->n[l], m = others->n[l];

                if (n < 2 || m < 2)
                        continue;
                double spread = (e->squares[l] - e->sum[l] * e->sum[l] / n) / (n - 1);
                double other = (others->squares[l] - others->sum[l] * others->sum[l] / m) / (m - 1);
                *own += e->sum[l];
                *usual += n * others->sum[l] / m;
                *variance += n * spread + n * n * other / m;
        }
}

/* Sums up the other replicas, and returns their nodes. */
static GArray *other_replicas(const Replicas *rs, guint number, ReplicaEdge *others)
{
        GArray *nodes = g_array_new(FALSE, FALSE, sizeof(NodeId));

        for (guint i = 0; i < rs->edges->len; i++) {
                const ReplicaEdge *o = replica_edge_at(rs, i);

                if (!are_replicas(rs, number, i))
                        continue;
                g_array_append_val(nodes, o->callee);
                for (guint l = 0; l < EDGE_LABELS; l++) {
                        others->n[l] += o->n[l];
                        others->sum[l] += o->sum[l];
                        others->squares[l] += o->squares[l];
                }
        }
        g_array_sort(nodes, compare_uint32s);
        return nodes;
}

/* NULL: it was proposed for another caller. */
static Proposal *replica_propose(Replicas *rs, const ReplicaEdge *e, AdviceKind kind, GArray *nodes)
{
        Proposal *c = proposals_get(rs->proposals, g_strdup_printf("y%u %u", kind, e->callee), kind,
                                    e->callee, NO_NODE);

        if (c->callees)
                return NULL;
        c->callees = g_array_ref(nodes);
        c->calls = (guint64)edge_calls(e);
        return c;
}

static void judge_own(Replicas *rs, const ReplicaEdge *e, const ReplicaEdge *others, GArray *nodes)
{
        double own, usual, variance, calls = edge_calls(e);
        Proposal *c;

        compare_replica(e, others, &own, &usual, &variance);
        if (own - usual <= REPLICA_SIGMAS * sqrt(variance) || own <= usual ||
            !(c = replica_propose(rs, e, ADVICE_REPLICA, nodes)))
                return;
        c->own = own / calls;
        c->usual = usual / calls;
}

/* --- which get more -------------------------------------------------------- */

/* Moves calls, evenly over time, to whoever is furthest below an even share. */
static void move_calls(Replicas *rs, const ReplicaEdge *e, Proposal *c, double calls)
{
        g_autofree double *missing = g_new(double, c->callees->len);
        double moved = 0;

        for (guint i = 0; i < c->callees->len; i++) {
                guint number =
                        replica_edge_number(rs, e->caller, g_array_index(c->callees, NodeId, i));
                missing[i] = calls * c->usual - edge_calls(replica_edge_at(rs, number));
        }
        for (guint32 i = 0; i < rs->proposals->requests->calls->len; i++) {
                const ReplayCall *call = replay_call_at(rs->proposals->requests, i);
                guint most = 0;

                if (call->node != e->callee || call->up == 0 ||
                    call[-(gint64)call->up].node != e->caller)
                        continue;
                moved += 1 - c->usual / c->own;
                if (moved < 1)
                        continue;
                moved -= 1;
                for (guint k = 1; k < c->callees->len; k++)
                        most = missing[k] > missing[most] ? k : most;
                missing[most] -= 1;
                AdviceEdit edit = { i, g_array_index(c->callees, NodeId, most), 0 };
                g_array_append_val(c->edits, edit);
        }
}

static void judge_share(Replicas *rs, const ReplicaEdge *e, const ReplicaEdge *others,
                        GArray *nodes)
{
        guint32 workers = rs->proposals->requests->workers[e->callee];
        double calls = edge_calls(e) + edge_calls(others), even = 1.0 / (nodes->len + 1);
        double chance = REPLICA_SIGMAS * sqrt(calls * even * (1 - even));
        Proposal *c;

        if (workers == 0 || edge_calls(e) - calls * even <= chance ||
            !(c = replica_propose(rs, e, ADVICE_SHARE, nodes)))
                return;
        c->workers = workers;
        c->own = edge_calls(e) / calls;
        c->usual = even;
        move_calls(rs, e, c, calls);
}

static void judge_replica(Replicas *rs, guint number)
{
        const ReplicaEdge *e = replica_edge_at(rs, number);
        g_autofree ReplicaEdge *others = g_new0(ReplicaEdge, 1);
        g_autoptr(GArray) nodes = other_replicas(rs, number, others);

        if (nodes->len == 0)
                return;
        judge_own(rs, e, others, nodes);
        judge_share(rs, e, others, nodes);
}

void proposals_find_replicas(Proposals *ps)
{
        Replicas rs = { ps, g_ptr_array_new_with_free_func(g_free),
                        g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL),
                        g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL) };

        for (guint32 i = 0; i < ps->requests->calls->len; i++)
                if (replay_call_at(ps->requests, i)->size > 1)
                        replicas_take_visit(&rs, replay_call_at(ps->requests, i));
        for (guint i = 0; i < rs.edges->len; i++)
                judge_replica(&rs, i);
        g_ptr_array_unref(rs.edges);
        g_hash_table_unref(rs.numbers);
        g_hash_table_unref(rs.together);
}
